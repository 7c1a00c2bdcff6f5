"""Accept windows made of the codes that were seen."""

from itertools import pairwise

import pytest
from click.testing import CliRunner

from calibration import tiles as workshop
from calibration.tiles import KINDS, TRIES, Seen, TilesError, empty_sighting, fit_windows, sighting, store, table
from companion.commands.tiles import BACK_S, Bench
from companion.commands.tiles import tiles as command
from companion.errors import SourceError
from companion.rules import Layout, Square
from companion.tiles.link import TileBoard
from companion.tiles.virtual import VirtualBoard, VirtualPort, nominal_code
from companion.tiles.wire import BAND_LETTERS, DEFAULT_BANDS

BOARD = Layout.parse("4x4")
EMPTY = Seen("empty", 1020, 1023)
NOMINAL = [nominal_code(letter) for letter in BAND_LETTERS[1:9]]


def seen(codes, spread=4):
    return [Seen(name, code - spread, code + spread) for name, code in zip(KINDS, codes, strict=True)]


def test_windows_hold_what_was_seen_and_leave_a_guard_band_between_any_two():
    windows = fit_windows(seen(NOMINAL), EMPTY)
    assert [window.name for window in windows] == [*KINDS, "empty"]
    for window in windows:
        assert window.low < window.seen.low <= window.seen.high <= window.high
    for below, above in pairwise(windows):
        assert above.low - below.high >= workshop.NARROWEST_GAP // workshop.GUARD_SHARE
    assert windows[0].low > workshop.SHORT_HIGH
    assert windows[-1].high == 1023


def test_exact_parts_give_windows_within_those_of_the_firmware_and_its_guard_bands():
    for window, (low, high) in zip(fit_windows(seen(NOMINAL), EMPTY), DEFAULT_BANDS[1:], strict=True):
        assert low - 15 <= window.low <= window.high <= high + 15


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        ([133, 140, *NOMINAL[2:]], "too close to be told apart"),
        ([133, 133, *NOMINAL[2:]], "too close to be told apart"),
        ([254, 133, *NOMINAL[2:]], "resistors swapped"),
        ([60, *NOMINAL[1:]], "short reads 0 to 69, light straight .* too close"),
        ([*NOMINAL[:7], 1015], "dark puller .* empty .* too close"),
    ],
)
def test_kinds_that_cannot_be_told_apart_are_refused_by_name(codes, why):
    with pytest.raises(TilesError, match=why):
        fit_windows(seen(codes), EMPTY)


def test_only_the_squares_that_hold_something_are_looked_at():
    assert sighting("dark pusher", [(1023, 740, 1022, 748), (1021, 742, 1023, 746)], BOARD) == Seen(
        "dark pusher", 740, 748, (Square.parse("b1"), Square.parse("d1"))
    )


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ([(1023, 1022)], "no square feels a dark pusher"),
        ([(1023, 740), (1023, 800)], "on b1 reads anything from 740 to 800; clean the contacts of that square"),
        ([(1023, 740, 843)], "dark pusher reads 740 on b1 and 843 on c1, too far apart for one kind; is a wrong piece"),
    ],
)
def test_a_contact_that_is_missing_or_moves_and_a_wrong_piece_is_said(samples, why):
    with pytest.raises(TilesError, match=why):
        sighting("dark pusher", samples, BOARD)


@pytest.mark.parametrize(
    ("squares", "says"),
    [
        ("c2", "felt 1 piece, on c2, reading 133 to 139"),
        ("a1 b2", "felt 2 pieces, on a1 and b2, reading 133 to 139"),
        ("a1 b2 d4", "felt 3 pieces, on a1, b2 and d4, reading 133 to 139"),
    ],
)
def test_what_was_felt_is_told_with_its_squares(squares, says):
    assert str(Seen("light straight", 133, 139, tuple(map(Square.parse, squares.split())))) == says


def test_a_square_that_is_not_empty_is_named():
    assert empty_sighting([(1023, 1019), (1022, 1020)], BOARD) == Seen("empty", 1019, 1023)
    with pytest.raises(TilesError, match="b1 reads 300 though"):
        empty_sighting([(1023, 300)], BOARD)


def test_the_table_shows_every_kind_with_its_margins():
    lines = table(fit_windows(seen(NOMINAL), EMPTY)).splitlines()
    assert [line[:15].strip() for line in lines] == ["kind", *KINDS, "empty"]
    assert lines[1].split()[-2:] == ["60", "113"]


class Browning(VirtualBoard):
    """A board whose supply breaks down at some of the commands about windows, before it obeys or before it answers."""

    now = 0.0

    def __init__(self, downs, *, obeys):
        super().__init__(16, self.clock)
        self.downs, self.obeys = downs, obeys
        self.told = 0

    def clock(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds
        assert self.now < 60, "nobody gives up"

    def hear(self, data):
        down = b"$CAL" in data and self.told in self.downs
        self.told += b"$CAL" in data
        if self.obeys or not down:
            super().hear(data)
        if down:
            self.reset("B")

    def keeps(self, windows):
        with TileBoard(
            "tiles:test", lambda: VirtualPort(self, self.wait), BOARD, clock=self.clock, wait=self.wait
        ) as tiles:
            while not tiles.connected:
                tiles.read(0.1)
            store(tiles, windows)


@pytest.mark.parametrize("obeys", [True, False])
@pytest.mark.parametrize("downs", [{0}, {4}, {9}, {4, 5}, {9, 18}])
def test_a_board_that_is_reset_meanwhile_keeps_all_windows_none_the_less(downs, obeys):
    board = Browning(downs, obeys=obeys)
    windows = fit_windows(seen(NOMINAL), EMPTY)
    board.keeps(windows)
    assert board.bands == (DEFAULT_BANDS[0], *((window.low, window.high) for window in windows))


def test_a_board_that_is_reset_time_and_again_is_given_up_and_keeps_what_it_had():
    board = Browning(set(range(1, 99)), obeys=False)
    with pytest.raises(SourceError, match="reset time and again"):
        board.keeps(fit_windows(seen(NOMINAL), EMPTY))
    assert (board.told, board.bands) == (1 + TRIES, DEFAULT_BANDS)


def test_a_board_that_does_not_store_because_of_its_supply_is_told_what_to_do():
    board = Browning((), obeys=True)
    board._use_bands = lambda *, keep: "supply"
    with pytest.raises(SourceError, match="tiles:test stores nothing while its supply is low; try a short"):
        board.keeps(fit_windows(seen(NOMINAL), EMPTY))


class Person:
    """Lays kinds on a pretended board, one at each question; the cable may be pulled before an answer."""

    now = 0.0

    def __init__(self, *lays, pulled_at=()):
        self.lays = [*lays]
        self.asked, self.pulled_at = 0, pulled_at
        self.board = VirtualBoard(16, self.clock)
        self.back_s = 0.0

    def clock(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds

    def connect(self):
        if self.now < self.back_s:
            raise SourceError("no such port")
        self.port = VirtualPort(self.board, self.wait)
        return self.port

    def enter(self):
        letters = self.lays[self.asked]
        self.board.letters = letters.ljust(16, ".") if letters != "b" else self.board.letters
        if self.asked in self.pulled_at:
            self.port.close()
            self.back_s = self.now + 5.0
        self.asked += 1
        return "b" if letters == "b" else ""

    def calibrates(self):
        """What the board keeps."""
        with TileBoard("tiles:test", self.connect, BOARD, clock=self.clock, wait=self.wait) as tiles:
            while not tiles.connected:
                tiles.read(0.1)
            bench = Bench(tiles, BOARD, clock=self.clock, enter=self.enter)
            bench.store(bench.measure())
        assert self.asked == len(self.lays)
        return self.board.bands[1:]


RIGHT = [letter * 2 for letter in BAND_LETTERS[1:9]]
WANTED = tuple((window.low, window.high) for window in fit_windows(seen(NOMINAL, 0), Seen("empty", 1023, 1023)))


def test_every_kind_that_was_laid_is_told_with_what_was_felt(capsys):
    assert Person("", *RIGHT).calibrates() == WANTED
    told = capsys.readouterr().err
    assert "Light straight: felt 2 pieces, on a1 and b1, reading 133 to 133.\n" in told
    assert "Dark puller: felt 2 pieces, on a1 and b1, reading 930 to 930.\n" in told


@pytest.mark.parametrize(
    ("lays", "says"),
    [
        ([*RIGHT[:3], "SS", *RIGHT[3:]], "light straight reads 133 to 133, light puller 133 to 133: too close"),
        ([*RIGHT[:3], "UD", *RIGHT[3:]], "light puller reads 254 on b1 and 512 on a1, too far apart for one kind"),
        (
            [*RIGHT[:2], "pp", "UU", "b", *RIGHT[2:]],
            "light pusher reads 844 to 844, light puller 512 to 512: they are the wrong way",
        ),
        (["uu", "DD", "b", *RIGHT], "light straight reads 930 to 930, light diagonal 254 to 254: they are the wrong"),
        (
            [".", *RIGHT],
            "no square feels a light straight; is the piece on its contacts, and the resistor soldered in?",
        ),
    ],
)
def test_a_wrong_piece_is_told_at_once_and_its_kind_alone_is_asked_for_again(lays, says, capsys):
    assert Person("", *lays).calibrates() == WANTED
    assert says in capsys.readouterr().err


def test_a_cable_that_is_pulled_meanwhile_costs_nothing_that_was_measured(capsys):
    assert Person("", *RIGHT, pulled_at=(0, 4, 8)).calibrates() == WANTED
    told = capsys.readouterr().err
    assert told.count("What was measured is kept.") == told.count("The board is back.") == 3
    assert "no such port." in told


class Leaving(Person):
    """Who goes away when asked so often, instead of laying anything."""

    def __init__(self, leaves_at, **options):
        super().__init__("", *RIGHT, **options)
        self.leaves_at = leaves_at

    def enter(self):
        if self.asked == self.leaves_at:
            raise KeyboardInterrupt
        return super().enter()


def test_the_board_tells_no_more_codes_once_everything_is_measured():
    person = Person("", *RIGHT)
    person.calibrates()
    assert not person.board._raw


@pytest.mark.parametrize(("leaves_at", "pulled_at"), [(0, ()), (1, ()), (4, ()), (6, (4,))])
def test_the_board_tells_no_more_codes_when_a_person_goes_away(leaves_at, pulled_at):
    person = Leaving(leaves_at, pulled_at=pulled_at)
    with pytest.raises(KeyboardInterrupt):
        person.calibrates()
    assert not person.board._raw


class Weak(Person):
    """Whose board has too little supply to store anything, until the person has been told so twice."""

    def enter(self):
        if self.asked == len(self.lays):
            self.told += 1
            return ""
        self.told, self.board._use_bands = 0, self.use_bands
        return super().enter()

    def use_bands(self, *, keep):
        return VirtualBoard._use_bands(self.board, keep=keep) if self.told == 2 else "supply"


def test_what_was_measured_is_stored_once_the_board_can(capsys):
    assert Weak("", *RIGHT).calibrates() == WANTED
    said = capsys.readouterr().err
    assert (
        said.count("while its supply is low; try a short, thick cable into a socket of the computer itself. What") == 2
    )
    assert "What was measured is kept: it can be stored again, until Ctrl-C." in said


class Away(Browning):
    """A board on a cable that is pulled, which people have been told of."""

    port = None

    def connect(self):
        if self.port:
            raise SourceError("no such port")
        self.port = VirtualPort(self, self.wait)
        return self.port

    def keeps(self, windows):
        with TileBoard("tiles:test", self.connect, BOARD, clock=self.clock, wait=self.wait) as tiles:
            self.port.close()
            for _ in range(2):
                with pytest.raises(SourceError):
                    tiles.read(2.0)
            store(tiles, windows)


def test_a_board_that_is_away_is_not_waited_for_while_it_should_answer():
    with pytest.raises(SourceError, match="tiles:test was lost before it answered"):
        Away((), obeys=True).keeps(fit_windows(seen(NOMINAL), EMPTY))


class Late(Person):
    """Whose cable is pulled while the board is told what to keep, and stays so longer than it is waited for."""

    def connect(self):
        port = super().connect()
        if not self.back_s:
            send = port.send
            port.send = lambda data: self.pull() if b"$CAL" in data else send(data)
        return port

    def pull(self):
        self.port.close()
        self.back_s = self.now + BACK_S + 60

    def enter(self):
        return super().enter() if self.asked < len(self.lays) else ""


def test_what_was_measured_is_stored_when_the_board_comes_back_late(capsys):
    assert Late("", *RIGHT).calibrates() == WANTED
    said = capsys.readouterr().err
    assert "has not come back within 120 s. What was measured is kept" in said


def test_a_board_that_does_not_come_back_is_given_up():
    with pytest.raises(SourceError, match="tiles:test was lost, and has not come back within 120 s"):
        Gone("", *RIGHT, pulled_at=(4,)).calibrates()


class Gone(Person):
    """Whose cable stays pulled."""

    def connect(self):
        if self.back_s:
            raise SourceError("no such port")
        return super().connect()


def test_a_port_that_is_not_there_is_one_clear_line():
    result = CliRunner().invoke(command, ["--source", "tiles:/dev/no-such-port"])
    assert "there is no such port" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--layout", "bad"], "'bad' is neither a layout's name"),
        (["--source", "camera:0"], "'camera:0' names no port of a tile board; write tiles:auto"),
        (["--source", "foo"], "'foo' names no port"),
        (["--source", "tiles:"], "'tiles:' names no port"),
    ],
)
def test_what_names_no_tile_board_or_layout_is_wrong_usage(arguments, says):
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2
    assert says in result.output


def test_the_windows_of_the_firmware_can_be_had_back():
    result = CliRunner().invoke(command, ["--source", "virtual:tiles", "--default"])
    assert (result.exit_code, result.output) == (0, "The board uses the windows of its firmware again.\n")
