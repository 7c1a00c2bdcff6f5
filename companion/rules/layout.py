"""The board: which squares exist, and how play and scoring lines run over them.

A layout is any arrangement of 2x2 boards, offset by one square if one likes, connected or not (the rule book's
advanced boards). Sets of squares are ints, bit i standing for `Layout.squares[i]`; that keeps the rules fast enough
to be asked on every frame, and exact search possible.
"""

from __future__ import annotations

import re
import string
import textwrap
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from companion.errors import LayoutError, NotationError
from companion.saying import Saying, cited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORTEST_LINE = 3
SQUARES_PER_SET = 16
_COLUMNS = string.ascii_lowercase
_MOST_ROWS = 99
_SQUARE = re.compile(r"(?P<column>[A-Za-z])(?P<row>[1-9][0-9]?)")
_ORTHOGONAL = ((0, 1), (1, 0), (0, -1), (-1, 0))
_DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
_LINE_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Square(NamedTuple):
    """A square by column and row, both counted from 0 at Light's left; `str` is its name, such as ``a1``.

    A tuple and not a dataclass, because its hash and comparison run in C: legal squares are sets of these.
    """

    row: int
    column: int

    @classmethod
    def parse(cls, text: str) -> Square:
        """The square that ``"a1"`` names; `NotationError` if it is no square name."""
        name = _SQUARE.fullmatch(text)
        if name is None:
            raise NotationError(Saying("%(text)s is not a square; write column and row, such as a1", text=cited(text)))
        return cls(int(name["row"]) - 1, _COLUMNS.index(name["column"].lower()))

    def __str__(self) -> str:
        return f"{_COLUMNS[self.column]}{self.row + 1}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


@dataclass(frozen=True, slots=True, eq=False)
class _Geometry:
    """What a layout's squares can see, per square index, as bit masks."""

    straight: tuple[int, ...]
    """Same row or column, up to the first gap."""
    diagonal: tuple[int, ...]
    """Same diagonal, up to the first gap; corner contact continues it."""
    touching: tuple[int, ...]
    """The up to eight neighbours, corner contact included."""
    outside: int
    """Squares with at least one free side; holes count."""
    lines: tuple[tuple[int, ...], ...]
    """Every maximal line of three or more squares, as square indices in order."""


@dataclass(frozen=True)
class Layout:
    """A board, as the squares that exist in it.

    `squares` run row by row from Light's side, each row from Light's left: a1 b1 c1 d1 a2 … d4. This is also the order
    of the tile board's states. Equal layouts have equal squares; the name does not count.
    """

    squares: tuple[Square, ...]
    _index: dict[Square, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {square: i for i, square in enumerate(self.squares)})

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read rows of ``#`` and ``.`` from the far side to Light's side, joined by ``/`` or newlines, or a name.

        Empty rows and columns around the drawing are cut off, and so is an indentation that all its rows share.

        Raises:
            LayoutError: for an unknown name, another character, or squares that 2x2 boards cannot tile.

        """
        name = text.strip()
        rows = _drawing_rows(NAMED_LAYOUTS.get(name, text))
        squares = [
            Square(row, column)
            for row, line in enumerate(reversed(rows))
            for column, character in enumerate(line)
            if character == "#"
        ]
        return cls._of(squares, name)

    @classmethod
    def _of(cls, squares: list[Square], text: str) -> Layout:
        if not squares:
            raise LayoutError(
                Saying(
                    "the layout %(layout)s has no square; draw rows of # and ., such as %(standard)s",
                    layout=cited(text),
                    standard=repr(STANDARD),
                )
            )
        first_row = min(square.row for square in squares)
        first_column = min(square.column for square in squares)
        moved = sorted(Square(row - first_row, column - first_column) for row, column in squares)
        if max(square.column for square in moved) >= len(_COLUMNS):
            raise LayoutError(
                Saying("the layout is wider than %(most)s columns, so its squares have no names", most=len(_COLUMNS))
            )
        if max(square.row for square in moved) >= _MOST_ROWS:
            raise LayoutError(
                Saying("the layout has more than %(most)s rows, so its squares have no names", most=_MOST_ROWS)
            )
        _refuse_untileable(moved)
        return _interned(tuple(moved))

    def __str__(self) -> str:
        for name, drawing in NAMED_LAYOUTS.items():
            if drawing == self.drawing:
                return name
        return self.drawing

    def __len__(self) -> int:
        return len(self.squares)

    def __iter__(self) -> Iterator[Square]:
        return iter(self.squares)

    def __contains__(self, square: object) -> bool:
        return square in self._index

    @cached_property
    def drawing(self) -> str:
        """The canonical text: rows from the far side to Light's side, joined by ``/``."""
        return "/".join(
            "".join("#" if Square(row, column) in self._index else "." for column in range(self.columns))
            for row in reversed(range(self.rows))
        )

    @cached_property
    def columns(self) -> int:
        """How many columns the bounding rectangle has."""
        return max(square.column for square in self.squares) + 1

    @cached_property
    def rows(self) -> int:
        """How many rows the bounding rectangle has."""
        return max(square.row for square in self.squares) + 1

    @property
    def default_sets(self) -> int:
        """How many sets of pieces this board needs: one for every sixteen squares, rounded up."""
        return -(-len(self.squares) // SQUARES_PER_SET)

    @property
    def all(self) -> int:
        """The mask of every square."""
        return (1 << len(self.squares)) - 1

    @cached_property
    def geometry(self) -> _Geometry:
        """The masks that the rules of play and scoring are made of."""
        return _Geometry(
            straight=tuple(self._rays(square, _ORTHOGONAL) for square in self.squares),
            diagonal=tuple(self._rays(square, _DIAGONAL) for square in self.squares),
            touching=tuple(self.mask(self._neighbours(square)) for square in self.squares),
            outside=self.mask(square for square in self.squares if self._has_free_side(square)),
            lines=tuple(self._lines()),
        )

    def index(self, square: Square) -> int:
        """The position of `square` in `squares`; `KeyError` if the board does not have it."""
        return self._index[square]

    def turned(self, quarters: int) -> tuple[int, ...] | None:
        """Where each square comes to lie when the board is turned clockwise, seen from above, by so many quarters.

        Both squares by their positions in `squares`; None if the board does not cover itself then.
        """
        turned = self.squares
        for i in range(quarters % 4):
            width = self.rows if i % 2 else self.columns
            turned = tuple(Square(width - 1 - square.column, square.row) for square in turned)
        return tuple(map(self.index, turned)) if set(turned) == self._index.keys() else None

    def mask(self, squares: Iterable[Square]) -> int:
        """The bits of `squares`."""
        return sum(1 << self._index[square] for square in squares)

    def squares_in(self, mask: int) -> frozenset[Square]:
        """The squares of the bits in `mask`."""
        found = []
        squares = self.squares
        while mask:
            lowest = mask & -mask
            found.append(squares[lowest.bit_length() - 1])
            mask ^= lowest
        return frozenset(found)

    def _rays(self, square: Square, directions: tuple[tuple[int, int], ...]) -> int:
        return self.mask(seen for direction in directions for seen in self._ray(square, direction))

    def _ray(self, square: Square, direction: tuple[int, int]) -> Iterator[Square]:
        step = Square(square.row + direction[0], square.column + direction[1])
        while step in self._index:
            yield step
            step = Square(step.row + direction[0], step.column + direction[1])

    def _neighbours(self, square: Square) -> list[Square]:
        around = (Square(square.row + dr, square.column + dc) for dr, dc in _ORTHOGONAL + _DIAGONAL)
        return [neighbour for neighbour in around if neighbour in self._index]

    def _has_free_side(self, square: Square) -> bool:
        sides = (Square(square.row + dr, square.column + dc) for dr, dc in _ORTHOGONAL)
        return any(side not in self._index for side in sides)

    def _lines(self) -> Iterator[tuple[int, ...]]:
        for direction in _LINE_DIRECTIONS:
            for square in self.squares:
                if Square(square.row - direction[0], square.column - direction[1]) in self._index:
                    continue
                line = (square, *self._ray(square, direction))
                if len(line) >= SHORTEST_LINE:
                    yield tuple(self._index[member] for member in line)


@lru_cache(maxsize=256)
def _interned(squares: tuple[Square, ...]) -> Layout:
    return Layout(squares)


def _drawing_rows(text: str) -> list[str]:
    one_row_a_line = re.sub(r"\s*/\s*", "\n", textwrap.dedent(text))
    rows = [row.rstrip() for row in one_row_a_line.splitlines()]
    strange = {character for row in rows for character in row} - {"#", "."}
    if strange:
        names = ", ".join(NAMED_LAYOUTS)
        raise LayoutError(
            Saying(
                "%(text)s is neither a layout's name (%(names)s) nor a drawing: "
                "it has %(strange)s where only # and . may stand",
                text=cited(text.strip()),
                names=names,
                strange=", ".join(map(repr, sorted(strange))),
            )
        )
    return rows


def _refuse_untileable(squares: list[Square]) -> None:
    """Tile greedily, row by row: the first square left over must be the corner of a 2x2 board, so this is exact."""
    left = set(squares)
    for square in squares:
        if square not in left:
            continue
        board = {Square(square.row + dr, square.column + dc) for dr in (0, 1) for dc in (0, 1)}
        if not board <= left:
            raise LayoutError(
                Saying(
                    "2x2 boards cannot tile this layout: no board fits at %(square)s without overlap; "
                    "every square must belong to exactly one 2x2 board",
                    square=str(square),
                )
            )
        left -= board


STANDARD = "####/####/####/####"
NAMED_LAYOUTS = {
    "4x4": STANDARD,
    "8x2": "########/########",
    "8x4": "########/########/########/########",
    "ring": "######/######/##..##/##..##/######/######",
    "stairs": "..####/..####/####../####..",
    "corners": "##..##/##..##/..##../..##../##..##/##..##",
}
"""Boards that can be asked for by name; any other is drawn."""
