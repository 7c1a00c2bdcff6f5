"""What a table is at, as light: the LEDs of a tile board show what the page says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from companion.events import IllegalPlacement
from companion.tiles.light import DARK, Trouble, frame_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.rules import Square
    from companion.table import TableView


class Board(Protocol):
    """A board with an LED under each square, such as `companion.tiles.link.TileBoard`."""

    @property
    def unclear(self) -> Sequence[Square]:
        """The squares on which something lies that the board cannot tell."""
        ...

    def show(self, letters: str) -> None:
        """Light the squares: one letter of `companion.tiles.light` for each."""
        ...


class TileLamp:
    """Lights a tile board by the views of its table; see `companion.table.Lamp`.

    The board is told again by itself what to show when it was reset or plugged in anew, and goes dark when the program
    has ended.
    """

    def __init__(self, board: Board) -> None:
        self._board = board

    def show(self, view: TableView) -> None:
        """Show what `view` says."""
        self._board.show(light_of(view, self._board.unclear))


def light_of(view: TableView, unclear: Sequence[Square] = ()) -> str:
    """The palette letter of every square for what `view` says; all dark while the game is paused.

    A piece that has to leave the board is shown like an illegal one, and a square that people are asked about like
    those in `unclear`, which the board cannot read.
    """
    if view.paused:
        return DARK * len(view.game.layout)
    wrong = {problem.square for problem in view.problems if isinstance(problem.event, IllegalPlacement)} | view.to_lift
    asked = {problem.square for problem in view.problems} | {told.square for told in view.disagreements}
    trouble = Trouble(frozenset(wrong), view.disturbed, frozenset(asked - wrong).union(unclear))
    return frame_of(view.game, trouble, resigned=view.resigned)
