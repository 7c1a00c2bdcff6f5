"""A game told beforehand, as a source of readings: what a perfect eye would make of hands and pieces.

It takes the place of camera and tiles where neither is there, or where what they see has to be exactly known.

>>> from companion.script import ScriptedSource, moves_by_hand
>>> from companion.rules import Layout
>>> board = Layout.parse("4x4")
>>> source = ScriptedSource("script:example", moves_by_hand(["a1+", "a3><"], board))
>>> source.read(0).time
0.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from companion.errors import EndOfSource, RulesError
from companion.readings import ANYTHING, BoardReading, contents_of
from companion.rules import Game, Move, Piece, Square, parse_moves
from companion.settling import SETTLE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from companion.readings import Contents
    from companion.rules import Layout

READING_S = 1 / 12
"""Readings come as often as from a slow camera."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How quickly the hands of a told game play, in seconds."""

    first_s: float = 1.5
    """The empty board lies there for so long."""
    reach_s: float = 0.5
    """A hand covers the square before the piece lies there."""
    leave_s: float = 0.3
    """And after."""
    rest_s: float = 1.7
    """Until the next hand comes."""
    last_s: float = 2.0
    """The last position lies there for so long."""


class ScriptedSource:
    """Any readings, one after the other, as a file has them: unpaced, with an end."""

    live = False
    settle_s = SETTLE_S
    may_turn = True
    trouble = ""

    def __init__(self, name: str, readings: Iterable[BoardReading]) -> None:
        self.name = name
        self._readings = iter(readings)

    def read(self, timeout_s: float) -> BoardReading:  # noqa: ARG002 (a script never keeps one waiting)
        """The next reading. Raises `EndOfSource` after the last."""
        for reading in self._readings:
            return reading
        raise EndOfSource(f"{self.name} has ended")

    def lay_out(self, layout: Layout, sets: int) -> None:  # noqa: ARG002 (it is refused anyway)
        """Refuse: a script tells of one board."""
        raise RulesError(f"{self.name} is written for its own board and cannot show {layout}")

    def close(self) -> None:
        """Forget the rest."""
        self._readings = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Scene:
    """A board over time: pieces put down and lifted, hands that cover squares; `hold` tells what is seen meanwhile."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.time = 0.0
        self.pieces: dict[Square, Piece] = {}
        self.covered: set[Square] = set()
        self.misread: dict[Square, Contents] = {}
        """What is read on a square in place of what lies there."""

    def hold(self, seconds: float) -> Iterator[BoardReading]:
        """The readings of the next `seconds`, with everything as it is."""
        for _ in range(max(1, round(seconds / READING_S))):
            yield self.reading()
            self.time += READING_S

    def reading(self) -> BoardReading:
        """What is seen now."""
        squares = tuple(self._seen(square) for square in self.layout)
        return BoardReading(self.time, squares, hidden=self.layout.mask(self.covered))

    def play(self, square: Square, piece: Piece, pace: Pace) -> Iterator[BoardReading]:
        """A hand comes, puts a piece down, and goes."""
        self.covered = {square}
        yield from self.hold(pace.reach_s)
        self.pieces[square] = piece
        yield from self.hold(pace.leave_s)
        self.covered = set()
        yield from self.hold(pace.rest_s)

    def _seen(self, square: Square) -> Contents:
        if square in self.covered:
            return ANYTHING
        return self.misread.get(square, contents_of([self.pieces.get(square)]))


def moves_by_hand(moves: Iterable[str] | str, layout: Layout, *, pace: Pace | None = None) -> Iterator[BoardReading]:
    """The readings of a legal game, from the empty board to its last position.

    Args:
        moves: texts as in `Game.history`, or all of them in one; passes may be left out.
        pace: how quickly it is played.
    """
    pace = pace or Pace()
    scene = Scene(layout)
    yield from scene.hold(pace.first_s)
    for square, piece in _placements(moves, layout):
        yield from scene.play(square, piece, pace)
    yield from scene.hold(pace.last_s)


def _placements(moves: Iterable[str] | str, layout: Layout) -> list[tuple[Square, Piece]]:
    game = Game.start("anywhere", layout=layout)
    for ply in parse_moves(moves if isinstance(moves, str) else " ".join(moves)):
        if isinstance(ply, Move):
            game = game.play(ply)
    return [(move.square, move.piece) for move in game.moves]
