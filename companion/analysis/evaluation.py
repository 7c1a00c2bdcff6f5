"""What a game is worth with best play by both, and which moves keep that: exact on 4x4, an estimate elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.analysis.board import covers
from companion.analysis.estimate import look_ahead
from companion.analysis.perfect import PerfectPlay
from companion.rules import Colour, Kind, Move

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.rules import Game

_KINDS = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a game is worth as it stands."""

    margin: int
    """Light's points minus Dark's at the end, with best play by both."""
    best: tuple[Move, ...]
    """Every move that keeps this margin, by square and kind; empty when the game is over."""
    exact: bool
    """Whether this is proven. If not, it is what a search made of it in a limited time."""

    @property
    def winner(self) -> Colour | None:
        """Who wins with best play by both; None for a draw."""
        if not self.margin:
            return None
        return Colour.LIGHT if self.margin > 0 else Colour.DARK


class Analyst:
    """Evaluates games, and remembers what it has worked out from one question to the next.

    One analyst for a whole match is far quicker than one for each of its positions. It keeps at most some 130 MB, and
    serves one thread at a time.

    >>> from companion.rules import Game
    >>> game = Game.replay("a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x -".split())
    >>> evaluation = Analyst().evaluate(game)
    >>> evaluation.margin, " ".join(map(str, evaluation.best)), evaluation.exact
    (3, 'b3<>', True)
    """

    def __init__(self, *, stop: Callable[[], bool] | None = None, book: memoryview | None = None) -> None:
        """Start with nothing worked out.

        Args:
            stop: asked now and then, where the answer will not be exact, whether the time is up; without it such a
                search ends after a fixed number of positions, so that it gives the same answer everywhere.
            book: values of openings other than those that are shipped.

        Raises:
            BookError: if the shipped book is missing or damaged.

        """
        self._stop = stop
        self._perfect = PerfectPlay(book)

    def evaluate(self, game: Game) -> Evaluation:
        """The value of `game` as it stands, and all best moves.

        Exact for every game on the 4x4 board with one set of pieces, rulings included.
        """
        return self.moves_within(game, 0)

    def moves_within(self, game: Game, points: int) -> Evaluation:
        """As `evaluate`, but `best` has every move that gives away at most `points`."""
        if game.to_move is None:
            return Evaluation(game.score.light - game.score.dark, (), exact=True)
        if covers(game):
            value, moves = self._perfect.judge(game, points)
            exact = True
        else:
            value, moves, exact = look_ahead(game, points, self._stop)
        squares, mover = game.layout.squares, game.to_move
        best = tuple(Move(squares[square], _KINDS[kind], mover) for square, kind in moves)
        return Evaluation(value if mover is Colour.LIGHT else -value, best, exact)


def evaluate(game: Game) -> Evaluation:
    """The value of `game` with best play by both, and all best moves, by an `Analyst` of its own.

    Exact for every game on the 4x4 board with one set of pieces; else an estimate, which `Evaluation.exact` tells.

    Raises:
        BookError: if the shipped book of openings is missing or damaged.

    """
    return Analyst().evaluate(game)
