"""The tile board as a source: the same stories with a virtual board and with the firmware on a simulated chip."""

import pytest

from companion.errors import SourceError
from companion.readings import ANYTHING, EMPTY, possible
from companion.rules import Layout, Piece
from companion.tiles import wire
from companion.tiles.link import RETRY_S, TileBoard, contents_of_letter
from companion.tiles.virtual import VirtualBoard, VirtualPort
from tests.firmware.simulated import SimulatedPort

LAYOUT = Layout.parse("4x4")


class VirtualRig:
    """A virtual board, and a clock that moves when somebody waits."""

    def __init__(self, squares=16):
        self.now = 0.0
        self.board = VirtualBoard(squares, self.clock)
        self.put = self.board.put
        self.port = None

    def clock(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds

    def connect(self):
        self.port = VirtualPort(self.board, self.wait)
        return self.port

    def pull(self):
        self.port.close()

    def reset(self):
        self.board.reset("W")

    def lights(self):
        return [letter != "." for letter in self.board.lights]

    def close(self):
        pass


class SimulatedRig:
    """The firmware on a simulated chip; waiting lets its time pass."""

    def __init__(self, board):
        self.board = board
        self.clock = board.clock
        self.wait = board.run
        self.put = board.put
        self.reset = board.reset
        self.port = None

    def connect(self):
        self.port = SimulatedPort(self.board)
        return self.port

    def pull(self):
        self.port.close()

    def lights(self):
        return [any(pixel) for pixel in self.board.leds().pixels]

    def close(self):
        self.board.close()


@pytest.fixture(params=["virtual", "simulated"])
def rig(request):
    made = VirtualRig() if request.param == "virtual" else SimulatedRig(request.getfixturevalue("simulator")())
    yield made
    made.close()


@pytest.fixture
def tiles(rig):
    with TileBoard("tiles:test", rig.connect, LAYOUT, clock=rig.clock, wait=rig.wait) as board:
        assert first_reading(board).squares == (EMPTY,) * 16
        yield board


def first_reading(board):
    for _ in range(100):
        if reading := board.read(0.1):
            return reading
    raise AssertionError("no reading in 10 s")


def readings(board, seconds, rig):
    """Every reading within some seconds of the board's time, a lost board being skipped."""
    end = rig.clock() + seconds
    told = []
    while rig.clock() < end:
        try:
            reading = board.read(0.1)
        except SourceError:
            continue
        if reading is not None:
            told.append(reading)
    return told


def read_often(board):
    for _ in range(20):
        board.read(0.1)


def letters(reading):
    return reading.evidence.decode()


def test_a_piece_that_is_laid_is_read_at_once(rig, tiles):
    laid_s = rig.clock()
    rig.put(6, "p")
    told = readings(tiles, 0.3, rig)
    first = next(reading for reading in told if reading.squares[6] != EMPTY)
    assert possible(first.squares[6]) == (Piece.parse("dark pusher"),)
    assert first.time - laid_s <= 0.08
    assert {reading.squares[6] for reading in told[told.index(first) :]} == {first.squares[6]}


@pytest.mark.parametrize("letter", wire.STATE_LETTERS)
def test_a_letter_is_what_a_square_may_hold(letter):
    contents = contents_of_letter(letter)
    expected = {".": EMPTY, "!": ANYTHING, "?": ANYTHING}
    assert contents == expected.get(letter, contents)
    assert (contents.bit_count() == 1) == (letter not in "!?")


def test_readings_keep_coming_while_nothing_changes(rig, tiles):
    assert 8 <= len(readings(tiles, 1.0, rig)) <= 11


def test_the_host_is_heard_so_the_lights_stay_on(rig, tiles):
    tiles.show("L" * 16)
    readings(tiles, 7.0, rig)
    assert all(rig.lights())


def test_a_board_that_is_reset_in_mid_game_loses_nothing(rig, tiles):
    rig.put(1, "S")
    tiles.show("M" + "." * 15)
    readings(tiles, 0.3, rig)
    rig.reset()
    rig.put(2, "d")
    told = readings(tiles, 1.5, rig)
    assert letters(told[-1]) == ".Sd............."
    assert {letters(reading) for reading in told} <= {".S..............", ".Sd............."}
    assert tiles.session.counters.resets == 1
    assert rig.lights() == [True] + [False] * 15


def test_a_board_whose_hello_is_lost_in_a_reset_is_lit_again(rig, tiles):
    tiles.show("M" + "." * 15)
    readings(tiles, 0.3, rig)
    rig.reset()
    while b"$S," not in rig.port.receive():  # and HELLO with it is thrown away
        pass
    readings(tiles, 1.5, rig)
    assert rig.lights() == [True] + [False] * 15


def test_a_board_that_went_dark_because_the_program_was_busy_is_lit_again(rig, tiles):
    tiles.show("M" + "." * 15)
    readings(tiles, 0.3, rig)
    rig.port.give_back(rig.wait(5.5) or b"")
    rig.port.give_back(rig.port.receive())
    assert not any(rig.lights())
    readings(tiles, 0.5, rig)
    assert rig.lights() == [True] + [False] * 15


def test_garbage_on_the_cable_loses_nothing(rig, tiles):
    for square, noise in enumerate([b"\x00\xff" * 40, b"$E,3,", b"$" * 30, b"$S,1,2,SSSS*0000\n", b"*\n*\n"]):
        rig.put(square, "U")
        rig.port.give_back(noise)
        told = readings(tiles, 1.4 if noise.startswith(b"$E") else 0.3, rig)
        assert letters(told[-1]) == "U" * (square + 1) + "." * (15 - square)


def test_a_line_that_is_lost_is_made_good_by_asking(rig, tiles):
    rig.put(4, "s")
    while b"$E," not in rig.port.receive():  # and what it was is thrown away
        pass
    assert letters(readings(tiles, 1.4, rig)[-1]) == "....s..........."
    assert tiles.session.counters.gaps >= 1


def test_a_pulled_cable_is_said_once_and_the_board_comes_back_by_itself(rig, tiles):
    rig.put(3, "D")
    readings(tiles, 0.2, rig)
    rig.pull()
    with pytest.raises(SourceError, match=r"tiles:test: .*(closed|pulled)"):
        read_often(tiles)
    rig.put(5, "u")
    told = readings(tiles, RETRY_S + 3.0, rig)
    assert letters(told[-1]) == "...D.u.........."
    assert tiles.connected


def test_a_board_that_cannot_be_had_back_is_complained_about_once_and_waited_for(rig, tiles):
    working = rig.connect
    tiles._connect = refuse_to_connect
    rig.pull()
    complaints = []
    for _ in range(60):
        try:
            assert tiles.read(0.1) is None
        except SourceError as error:
            complaints.append(str(error))
    assert [complaint for complaint in complaints if complaint == "no board to be seen"] == ["no board to be seen"]
    assert len(complaints) == 2
    tiles._connect = working
    assert readings(tiles, 3.0, rig)


def refuse_to_connect():
    raise SourceError("no board to be seen")


def test_a_square_that_cannot_be_read_is_named(rig, tiles):
    assert tiles.trouble == ""
    rig.put(9, "!")
    readings(tiles, 0.5, rig)
    assert tiles.trouble == "the board cannot tell what lies on b3; clean the contacts, or calibrate"


def test_a_board_of_another_size_is_refused_with_what_to_do(rig):
    layout = Layout.parse("####/####/####/####/####/####/####/####")
    board = TileBoard("tiles:test", rig.connect, layout, clock=rig.clock, wait=rig.wait)
    with pytest.raises(SourceError, match=r"this board has 16 squares and the layout .* has 32; choose the layout"):
        read_often(board)


def test_another_protocol_is_refused_with_what_to_do():
    rig = VirtualRig()
    board = TileBoard("tiles:test", rig.connect, LAYOUT, clock=rig.clock, wait=rig.wait)
    rig.port.receive = lambda: wire.frame("HELLO,0,0,mijnlieff-board,2,2.0.0,nano-1,16,P,1,0")
    with pytest.raises(SourceError, match="protocol 2 and this program protocol 1; flash the firmware"):
        board.read(0.1)


def test_the_lights_go_out_when_nobody_reads_any_more(rig, tiles):
    tiles.show("L" * 16)
    readings(tiles, 1.0, rig)
    rig.wait(5.2)
    rig.port.receive()
    assert not any(rig.lights())
