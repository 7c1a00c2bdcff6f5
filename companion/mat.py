"""The printed mat: which marker lies where around its board, and the target that a lens is measured with.

Everybody who prints, finds or draws the mat takes its measures from here. Lengths are millimetres. On the mat, x runs
from the board's corner a1 along the columns and y from a1 away from Light, so that corner d4 is at (`BOARD_MM`,
`BOARD_MM`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Point = tuple[float, float]

SQUARE_MM: Final = 34.0
SQUARES: Final = 4
BOARD_MM: Final = SQUARES * SQUARE_MM
PIECE_MM: Final = 26.0
"""Side of the pieces to cut out."""

DICTIONARY: Final = "DICT_4X4_50"
"""Of the mat's markers, as OpenCV names it."""
MODULES: Final = 6
"""Cells along a marker's side, its black border included."""
MARKER_MM: Final = 18.0
_GAP_MM: Final = 7.0
"""White between the board and the markers; a marker is not seen without white around it."""
REACH_MM: Final = _GAP_MM + MARKER_MM
"""How far the mat extends beyond the board."""

LENS_DICTIONARY: Final = "DICT_5X5_50"
"""Of the lens target: another one, so that the target is never taken for the mat."""
LENS_SQUARES: Final = (6, 8)
"""Squares of the lens target, across and down."""
LENS_SQUARE_MM: Final = 30.0
LENS_MARKER_MM: Final = 21.0


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker of the mat."""

    number: int
    """Its id in `DICTIONARY`."""
    left: float
    bottom: float

    def corners(self) -> tuple[Point, Point, Point, Point]:
        """Top left, top right, bottom right and bottom left as printed, seen from Light: OpenCV's order."""
        right, top = self.left + MARKER_MM, self.bottom + MARKER_MM
        return (self.left, top), (right, top), (right, self.bottom), (self.left, self.bottom)


def _ring() -> tuple[Marker, ...]:
    """Four markers a side, the corners counted once, clockwise from the lower left."""
    low, high = -REACH_MM, BOARD_MM + _GAP_MM
    step = (high - low) / 3
    along = [low + i * step for i in range(3)]
    places = [(low, at) for at in along]
    places += [(at, high) for at in along]
    places += [(high, high + low - at) for at in along]
    places += [(high + low - at, low) for at in along]
    return tuple(Marker(number, x, y) for number, (x, y) in enumerate(places))


MARKERS: Final = _ring()
"""All twelve markers."""
BOARD_CORNERS: Final[tuple[Point, ...]] = ((0, 0), (BOARD_MM, 0), (BOARD_MM, BOARD_MM), (0, BOARD_MM))
"""The board's outer corners at a1, d1, d4, a4."""
