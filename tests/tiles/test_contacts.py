"""What a tile board tells of a piece that nobody touches, while its contacts get worse."""

from __future__ import annotations

from companion import events
from companion.lamp import TileLamp
from companion.referee import Referee
from companion.rules import Game, Layout, Square
from companion.table import Table
from companion.tiles.link import TileBoard
from companion.tiles.virtual import VirtualBoard, VirtualPort
from tests.ledger import Ledger
from tests.stories import told

BOARD = Layout.parse("4x4")


class Tiles:
    """A virtual tile board with its table; time passes when it is told to."""

    def __init__(self) -> None:
        self.time_s = 0.0
        self.board = VirtualBoard(len(BOARD), lambda: self.time_s)
        source = TileBoard(
            "tiles:x", lambda: VirtualPort(self.board, self.wait), BOARD, clock=lambda: self.time_s, wait=self.wait
        )
        self.table = Table(source, Referee(Game.start()), Ledger(), clock=lambda: self.time_s, lamps=[TileLamp(source)])
        self.table.start()
        self.look(1)

    def wait(self, seconds: float) -> None:
        self.time_s += seconds

    def look(self, seconds: float) -> list[str]:
        until_s, heard = self.time_s + seconds, []
        while self.time_s < until_s:
            heard += self.table.step(0.05)
            self.time_s += 0.01
        return [told(event) for event in heard if not isinstance(event, events.MatchStarted)]

    def reads(self, square: str, letter: str, seconds: float) -> list[str]:
        """What is told while the square reads so."""
        self.board.put(BOARD.index(Square.parse(square)), letter)
        return self.look(seconds)


def with_three_moves() -> Tiles:
    tiles = Tiles()
    played = [tiles.reads(square, letter, 2) for square, letter in (("c4", "U"), ("d4", "p"), ("a4", "S"))]
    assert played == [["light c4><"], ["dark d4<>"], ["light a4+"]]
    return tiles


def test_a_piece_that_lies_still_and_reads_as_another_is_asked_about():
    """Before, the move was taken back for one that nobody had played."""
    tiles = with_three_moves()
    assert tiles.look(20) == []
    assert tiles.reads("a4", "D", 3) == ["disturbed a4", "unclear a4"]
    assert tiles.reads("a4", "S", 1) == ["restored a4"]
    assert tiles.reads("a4", "?", 3) == []
    assert tiles.reads("a4", "D", 3) == ["disturbed a4", "unclear a4"]
    assert list(map(str, tiles.table.view.game.history)) == ["c4><", "d4<>", "a4+"]


def test_a_piece_that_was_exchanged_is_another_move_and_so_is_one_that_has_just_come_to_rest():
    tiles = with_three_moves()
    assert tiles.look(20) == []
    assert tiles.reads("a4", ".", 0.3) == ["disturbed a4"]
    assert tiles.reads("a4", "D", 1) == ["taken back a4+", "light a4x"]
    assert tiles.reads("b3", "s", 0.3) == ["dark b3+"]
    assert tiles.reads("b3", "p", 1) == ["taken back b3+", "dark b3<>"]


def test_pieces_that_are_laid_back_the_other_way_round_are_no_board_that_lies_turned():
    """Before, the game went on as if it did, and the lamps lit the squares of the board as it lay."""
    tiles = with_three_moves()
    assert [tiles.reads(square, ".", 1) for square in ("c4", "d4", "a4")][-1] == ["asks new"]
    for square, letter in (("b1", "U"), ("a1", "p"), ("d1", "S")):
        assert tiles.reads(square, letter, 1) == []
    assert tiles.table.view.question.question == "new"
    assert sorted(map(str, tiles.table.view.disturbed)) == ["c4", "d4"]
