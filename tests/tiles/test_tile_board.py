"""A tile board as a source: which board it is taken for."""

import pytest

from companion.errors import RulesError, SourceError
from companion.readings import EMPTY
from companion.rules import Layout
from companion.tiles.link import TileBoard, open_tiles
from companion.tiles.virtual import VirtualBoard, VirtualPort

STANDARD, RING, LONG = (Layout.parse(name) for name in ("4x4", "ring", "8x2"))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


def read(board):
    """The first reading that comes."""
    for _ in range(20):
        reading = board.read(1.0)
        if reading is not None:
            return reading
    raise AssertionError("nothing comes")


def test_a_pretended_board_becomes_whatever_board_is_asked_for():
    clock = Clock()
    with open_tiles("virtual:tiles", STANDARD, clock=clock, wait=clock.wait) as board:
        assert read(board).squares == (EMPTY,) * 16
        board.lay_out(RING, 1)
        assert read(board).squares == (EMPTY,) * len(RING)


@pytest.fixture
def real():
    """A board that has its squares and no others."""
    clock = Clock()
    board = VirtualBoard(16, clock)
    return TileBoard("tiles:COM3", lambda: VirtualPort(board, clock.wait), STANDARD, clock=clock, wait=clock.wait)


def test_a_board_may_be_laid_out_otherwise_with_as_many_squares(real):
    read(real)
    real.lay_out(LONG, 1)
    assert len(read(real).squares) == 16


def test_a_board_of_other_squares_is_refused_and_stays_what_it_is(real):
    read(real)
    with pytest.raises(RulesError, match="tiles:COM3 has 16 squares, and ring has 32"):
        real.lay_out(RING, 1)
    assert len(read(real).squares) == 16


def test_a_board_that_turns_out_to_have_other_squares_is_lost_with_the_reason(real):
    real.lay_out(RING, 1)
    with pytest.raises(SourceError, match="this board has 16 squares and the layout ring has 32"):
        read(real)


def test_a_board_of_other_squares_is_told_once_however_often_it_is_tried(real):
    real.lay_out(RING, 1)
    with pytest.raises(SourceError, match="this board has 16 squares"):
        read(real)
    assert [real.read(1.0) for _ in range(20)] == [None] * 20


def test_a_port_that_is_not_there_yet_is_waited_for_by_the_patient():
    clock, there = Clock(), []
    board = VirtualBoard(16, clock)

    def connect():
        if not there:
            raise SourceError("no such port")
        return VirtualPort(board, clock.wait)

    source = TileBoard("tiles:COM3", connect, STANDARD, clock=clock, wait=clock.wait, patient=True)
    with pytest.raises(SourceError, match="no such port"):
        source.read(1.0)
    assert source.read(5.0) is None
    there.append("now it is")
    assert len(read(source).squares) == 16


def test_what_comes_after_a_lost_line_is_told_together_with_what_that_would_have_told():
    clock = Clock()
    board = VirtualBoard(16, clock)
    port = VirtualPort(board, clock.wait)
    source = TileBoard("tiles:COM3", lambda: port, STANDARD, clock=clock, wait=clock.wait)
    read(source)
    board.put(0, "S")
    assert b"$E," in port.receive()  # lost on its way
    board.put(8, "u")
    told = [reading.evidence for reading in (source.read(0.05) for _ in range(40)) if reading is not None]
    assert next(seen for seen in told if seen != b"." * 16) == b"S.......u......."


class Cables:
    """Two boards that were started so many times, and a port that leads to the first, until cables are exchanged."""

    def __init__(self, mine, other):
        self.clock = Clock()
        self.mine, self.other = (VirtualBoard(16, self.clock) for _ in range(2))
        for board, starts in ((self.mine, mine), (self.other, other)):
            for _ in range(starts - 1):
                board.reset()
        self.board = self.mine
        self.source = TileBoard("tiles:COM3", self.connect, STANDARD, clock=self.clock, wait=self.clock.wait)

    def connect(self):
        self.board.reset()
        self.port = VirtualPort(self.board, self.clock.wait)
        return self.port

    def plug_in(self, board):
        self.board = board
        self.port.close()
        with pytest.raises(SourceError, match="the port is closed"):
            self.source.read(1.0)


@pytest.mark.parametrize(("mine", "other"), [(40, 20), (3, 400)])
def test_another_board_under_the_name_of_the_first_is_told_and_not_read(mine, other):
    cables = Cables(mine, other)
    cables.other.put(0, "S")
    read(cables.source)
    cables.plug_in(cables.other)
    with pytest.raises(SourceError, match="tiles:COM3: another tile board is plugged in than before; plug in"):
        read(cables.source)
    assert [cables.source.read(1.0) for _ in range(60)] == [None] * 60
    assert (cables.source.lost, cables.source.connected, cables.source.trouble) == (True, False, "")
    cables.plug_in(cables.mine)
    assert read(cables.source).evidence == b"." * 16
    assert not cables.source.lost


def test_a_board_of_which_nothing_was_read_is_not_the_board_of_before():
    cables = Cables(40, 20)
    cables.mine.rebuild("." * len(RING))
    with pytest.raises(SourceError, match=f"this board has {len(RING)} squares"):
        read(cables.source)
    cables.board = cables.other
    assert read(cables.source).evidence == b"." * 16


def test_a_board_that_has_lost_its_memory_and_counts_anew_is_read_on():
    cables = Cables(40, 1)
    read(cables.source)
    cables.plug_in(cables.other)
    assert read(cables.source).evidence == b"." * 16


def test_a_board_whose_cable_was_loose_for_long_is_known_again_however_often_it_was_started():
    cables = Cables(3, 1)
    read(cables.source)
    cables.plug_in(cables.mine)
    for _ in range(50):
        cables.mine.reset("B")
        cables.clock.wait(0.2)
    assert read(cables.source).evidence == b"." * 16
