"""Where the board lies in a picture: a pose, found or given by hand, or an honest word that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.errors import VisionError
from companion.saying import Saying
from companion.vision.plane import goes_round, side_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

Point = tuple[float, float]

SHORTEST_SIDE = 20.0
"""What has a shorter side than this, in pixels, is no board."""
_OUTSIDE = 0.25
"""Given corners may lie outside the picture by so much of its size."""


@dataclass(frozen=True, slots=True)
class BoardPose:
    """Where the board lies in a picture."""

    corners: tuple[Point, Point, Point, Point]
    """The outer corners of the board's top at a1, d1, d4, a4 (for another layout: of its bounding rectangle, in that
    order), in pixels of the upright picture, x to the right, y down; within the eye, of the straight one (see
    `companion.vision.lens`). They may lie a little outside the picture."""
    score: float
    """How sure this is, from 0 to 1; 1 if a person gave the corners."""
    another: tuple[Point, Point, Point, Point] | None = None
    """The corners of another place, clear of this one, that was found to be as surely a board; in the same pixels."""

    @classmethod
    def at(cls, points: Floats, score: float) -> BoardPose:
        """The board with its corners at these points (4, 2)."""
        a1, d1, d4, a4 = ((float(x), float(y)) for x, y in points)
        return cls((a1, d1, d4, a4), score)

    def points(self) -> NDArray[np.float64]:
        """The corners as an array (4, 2)."""
        return np.array(self.corners, np.float64)

    def moved(self, points: Floats) -> BoardPose:
        """The same board with its corners at other points (4, 2), and no word of another."""
        return BoardPose.at(points, self.score)


@dataclass(frozen=True, slots=True)
class BoardNotFound:
    """No board, or none that is sure enough: a fact about the picture, for a person to read; never an exception."""

    why: str


def locate_given(corners: Sequence[Point], image_size: tuple[int, int]) -> BoardPose:
    """The board whose outer corners at a1, d1, d4, a4 a person gave, in pixels of a picture of `image_size` (w, h).

    Raises:
        VisionError: for corners that cannot be a board's: not four, not finite, equal, too close together, far outside
            the picture, not the corners of a convex shape, or in mirrored order.

    """
    points = _four_points(corners)
    said = " ".join(f"{x:g},{y:g}" for x, y in points)
    size = np.array(image_size, np.float64)
    if (points < -_OUTSIDE * size).any() or (points > (1 + _OUTSIDE) * size).any():
        raise VisionError(
            Saying(
                "the corners %(corners)s lie far outside the picture, which is %(size)s pixels; "
                "give pixels of the upright picture",
                corners=said,
                size=f"{image_size[0]} x {image_size[1]}",
            )
        )
    if side_lengths(points).min() <= SHORTEST_SIDE:
        raise VisionError(f"the corners {said} lie too close together for a board; give its four outer corners")
    if not goes_round(points):
        raise VisionError(f"the corners {said} do not go round a board; give them in the order a1, d1, d4, a4")
    if turning(points) > 0:
        raise VisionError(f"the corners {said} go round the wrong way, as in a mirror; the order is a1, d1, d4, a4")
    return BoardPose.at(points, 1.0)


def _four_points(corners: Sequence[Point]) -> NDArray[np.float64]:
    try:
        points = np.array(corners, np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape != (4, 2) or not np.isfinite(points).all():
        raise VisionError("corners must be four points x,y, at a1, d1, d4 and a4, in pixels of the upright picture")
    return points


def turning(corners: Floats) -> float:
    """Twice the signed area: negative if the corners go round counter-clockwise as seen (y points down)."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
