"""The clearing up after a match: when its pieces have left the board, what is laid there begins the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from companion.referee.comparison import Comparison
    from companion.rules import Game, Square


class Clearing:
    """What has left the board since the match was over."""

    def __init__(self) -> None:
        self.done = False
        """The board has been bare."""
        self._left: set[Square] = set()
        """The squares that each piece of the match has left, for a while at least."""

    def look(self, board: Comparison) -> None:
        """The match is over, and the board lies so now."""
        self.done = self.done or board.empty
        self._left |= board.lost.keys()

    def call_off(self) -> None:
        """The match goes on: what has left the board was no clearing up."""
        self.done, self._left = False, set()

    def all_left(self, game: Game) -> bool:
        """Whether every piece of the game has left its square."""
        return self._left >= {square for square in game.layout if game.content(square) is not None}
