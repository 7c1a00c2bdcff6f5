"""Where everything of a table lies on the page's board, in the units of its SVG.

Board space: x to the right, y down, one square is `SQUARE` wide, the tray's upper left corner is the origin. Seen from
Light's side a1 is at the lower left; from Dark's it is at the upper right, as it is for the players themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.events import IllegalPlacement
from companion.readings import possible
from companion.rules import Colour, Square

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.referee import Problem
    from companion.rules import Layout, Line, Piece
    from companion.table import TableView

SQUARE = 100
RIM = 44
"""The tray's edge, which carries the names of rows and columns."""
PLATE = 2
"""A board is laid of plates of 2x2 squares."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One square as it is drawn. `x` and `y` are its upper left corner."""

    name: str
    x: int
    y: int
    piece: Piece | None
    """What the game has there."""
    legal: bool
    last: bool
    """The piece there was played last."""
    missing: bool
    """The game has a piece there, and the board does not."""
    stray: Piece | None
    """A piece that the game does not have: what is seen there, as far as it is known."""
    doubtful: bool
    """Something lies there, and what it is has to be said."""


@dataclass(frozen=True, slots=True)
class Run:
    """A scoring line: a bar from its first to its last piece, which lies under them, turned about its middle."""

    colour: Colour
    name: str
    points: int
    middle_x: float
    middle_y: float
    length: float
    angle: float
    """Degrees, clockwise."""


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a row or a column on the tray's edge."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """The whole board."""

    width: int
    height: int
    plates: tuple[tuple[int, int], ...]
    spots: tuple[Spot, ...]
    """Far row first, as they are read."""
    runs: tuple[Run, ...]
    labels: tuple[Label, ...]


def draw(view: TableView, side: Colour = Colour.LIGHT) -> Drawing:
    """The board of `view`, seen from one player's side."""
    layout = view.game.layout
    eye = _Eye(layout, side)
    squares = layout.squares if side is Colour.DARK else tuple(reversed(layout.squares))
    spots = sorted((_spot(view, eye, square) for square in squares), key=lambda spot: (spot.y, spot.x))
    return Drawing(
        width=layout.columns * SQUARE + 2 * RIM,
        height=layout.rows * SQUARE + 2 * RIM,
        plates=tuple(eye.plate(corner) for corner in _plates(layout)),
        spots=tuple(spots),
        runs=tuple(eye.run(line) for line in view.game.score.lines),
        labels=tuple(eye.labels()),
    )


@dataclass(frozen=True, slots=True)
class _Eye:
    """From where the board is seen."""

    layout: Layout
    side: Colour

    def corner(self, square: Square) -> tuple[int, int]:
        """The upper left corner of a square."""
        if self.side is Colour.LIGHT:
            column, row = square.column, self.layout.rows - 1 - square.row
        else:
            column, row = self.layout.columns - 1 - square.column, square.row
        return RIM + column * SQUARE, RIM + row * SQUARE

    def plate(self, corner: Square) -> tuple[int, int]:
        """The upper left corner of the plate whose square nearest to a1 is `corner`."""
        ends = (self.corner(corner), self.corner(Square(corner.row + PLATE - 1, corner.column + PLATE - 1)))
        return min(x for x, _ in ends), min(y for _, y in ends)

    def run(self, line: Line) -> Run:
        """The outline around a scoring line."""
        (x1, y1), (x2, y2) = (self.corner(square) for square in (line.squares[0], line.squares[-1]))
        return Run(
            colour=line.colour,
            name=str(line),
            points=line.points,
            middle_x=(x1 + x2 + SQUARE) / 2,
            middle_y=(y1 + y2 + SQUARE) / 2,
            length=round(math.hypot(x2 - x1, y2 - y1), 1),
            angle=round(math.degrees(math.atan2(y2 - y1, x2 - x1)), 2),
        )

    def labels(self) -> Iterator[Label]:
        """Rows on the left edge, columns on the near one."""
        near = RIM * 1.5 + self.layout.rows * SQUARE
        for column in range(self.layout.columns):
            name = str(Square(0, column))[0]
            yield Label(name, self.corner(Square(0, column))[0] + SQUARE / 2, near)
        for row in range(self.layout.rows):
            yield Label(str(row + 1), RIM / 2, self.corner(Square(row, 0))[1] + SQUARE / 2)


def emblem(layout: Layout) -> str:
    """The squares of a board as an SVG path, each 10 units wide, for a picture of the board alone."""
    corners = ((square.column * 10 + 1, (layout.rows - 1 - square.row) * 10 + 1) for square in layout)
    return "".join(f"M{x} {y}h8v8h-8z" for x, y in corners)


def _plates(layout: Layout) -> Iterator[Square]:
    """The corner nearest to a1 of every 2x2 board; laying them row by row is the only way."""
    left = set(layout.squares)
    for square in layout.squares:
        if square in left:
            left -= {Square(square.row + dr, square.column + dc) for dr in range(PLATE) for dc in range(PLATE)}
            yield square


def _spot(view: TableView, eye: _Eye, square: Square) -> Spot:
    game = view.game
    x, y = eye.corner(square)
    problem = next((problem for problem in view.problems if problem.square == square), None)
    return Spot(
        name=str(square),
        x=x,
        y=y,
        piece=game.content(square),
        legal=not view.over and not view.paused and square in game.legal_squares(),
        last=square == view.game.last_square,
        missing=square in view.disturbed,
        stray=_stray(problem),
        doubtful=problem is not None and _stray(problem) is None,
    )


def _stray(problem: Problem | None) -> Piece | None:
    if problem is None or not isinstance(problem.event, IllegalPlacement):
        return None
    seen = [piece for piece in possible(problem.contents) if piece is not None]
    return seen[0] if len(seen) == 1 else None
