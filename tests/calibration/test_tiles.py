"""Accept windows made of the codes that were seen."""

from itertools import pairwise

import pytest
from click.testing import CliRunner

from calibration import tiles as workshop
from calibration.tiles import KINDS, TRIES, Seen, TilesError, empty_sighting, fit_windows, sighting, store, table
from companion.commands.tiles import tiles as command
from companion.errors import SourceError
from companion.rules import Layout
from companion.tiles.link import TileBoard
from companion.tiles.virtual import DEFAULT_BANDS, VirtualBoard, VirtualPort, nominal_code
from companion.tiles.wire import BAND_LETTERS

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
    assert sighting("dark pusher", [(1023, 740, 1022, 748), (1021, 742, 1023, 746)]) == Seen("dark pusher", 740, 748)


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ([(1023, 1022)], "no square feels a dark pusher"),
        ([(1023, 740), (1023, 800)], r"anything from 740 to 800; clean the contacts of that square \(2 in"),
    ],
)
def test_a_contact_that_is_missing_or_moves_is_said(samples, why):
    with pytest.raises(TilesError, match=why):
        sighting("dark pusher", samples)


def test_a_square_that_is_not_empty_is_named():
    assert empty_sighting([(1023, 1019), (1022, 1020)]) == Seen("empty", 1019, 1023)
    with pytest.raises(TilesError, match=r"square 2 .* reads 300"):
        empty_sighting([(1023, 300)])


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
