"""Where the board is in a picture: found without markers, or given by hand, or honestly not found.

The way of one picture: straight segments suggest how the table lies (`plane`); on each flattened table a comb of the
board's lines is slid about (`lattice.search`); the best places are fitted (`lattice.fit`) and weighed
(`lattice.weigh`); the best of them is the board, if it is good enough. A board found where there is none spoils a
game, a board not found costs a moment: so what is not clearly a board is refused, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.errors import VisionError
from companion.vision import lattice, plane
from companion.vision.markers import mat_corners

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.rules import Layout

    Floats = NDArray[np.floating[Any]]

Point = tuple[float, float]

SMALLEST_PICTURE = 64
"""No board is searched for in a picture with a side shorter than this, in pixels."""
_SEARCHED = 960
"""Longer side of the picture in which views and candidates are looked for."""
_FITTED = 1280
"""Longer side of the picture in which they are fitted and weighed."""
_VIEWS = 8
_PER_VIEW = 12
_BEST_OF_VIEW = 2
_BEST_OF_REST = 8
_ENOUGH = 0.85
_MOST_BEYOND = 0.45
_LEAST_LINE = 0.27
_LEAST_SIDE = 0.3
_LEAST_CONTRAST = 7.0
_BRIGHT = 220.0
_MOST_GAIN = 4.0
_SMALLEST_SQUARE = 10.0
_OUTSIDE = 0.25


@dataclass(frozen=True, slots=True)
class BoardPose:
    """Where the board lies in a picture."""

    corners: tuple[Point, Point, Point, Point]
    """The outer corners of the board's top at a1, d1, d4, a4 (for another layout: of its bounding rectangle, in that
    order), in pixels of the upright picture, x to the right, y down. They may lie a little outside the picture."""
    score: float
    """How sure this is, from 0 to 1; 1 if a person gave the corners."""

    def points(self) -> NDArray[np.float64]:
        """The corners as an array (4, 2)."""
        return np.array(self.corners, np.float64)


@dataclass(frozen=True, slots=True)
class BoardNotFound:
    """No board, or none that is sure enough: a fact about the picture, for a person to read; never an exception."""

    why: str


def locate(image: NDArray[np.uint8], layout: Layout) -> BoardPose | BoardNotFound:
    """Find the board in a BGR picture (height, width, 3).

    The markers of a printed mat are believed first, and say which corner is a1. Without markers nothing tells the
    sides apart: a1 is the corner with the greatest y - x (lower left), the others follow counter-clockwise as seen.
    Only the board of four by four squares is searched for; for any other layout the corners must be given.
    """
    if (layout.rows, layout.columns, len(layout)) != (lattice.SQUARES, lattice.SQUARES, lattice.SQUARES**2):
        return BoardNotFound(f"only the 4x4 board is searched for, not the layout {layout}; give its corners")
    if image.ndim != 3 or image.shape[2] != 3 or min(image.shape[:2]) < SMALLEST_PICTURE:  # noqa: PLR2004
        return BoardNotFound(f"the picture is too small: {' x '.join(map(str, image.shape[1::-1]))} pixels")
    on_mat = mat_corners(image)
    if on_mat is not None:
        return BoardPose(_points(on_mat), 1.0)
    searched, search_scale = _lab(image, _SEARCHED)
    fitted, fit_scale = _lab(image, _FITTED)
    candidates = [corners / search_scale * fit_scale for corners in _candidates(searched)]
    return _choose(fitted, candidates, fit_scale)


def _lab(image: NDArray[np.uint8], longest: int) -> tuple[NDArray[np.uint8], float]:
    """The picture in 8-bit Lab, at most `longest` pixels long, dim ones brightened; and its scale."""
    scale = min(1.0, longest / max(image.shape[:2]))
    if scale < 1:
        image = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    bright = float(np.percentile(image[::8, ::8].max(axis=2), 98))
    gain = min(_MOST_GAIN, _BRIGHT / max(bright, 1.0))
    if gain > 1:
        image = np.asarray(cv2.convertScaleAbs(image, alpha=gain), np.uint8)
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2LAB), np.uint8), scale


def _candidates(lab: NDArray[np.uint8]) -> list[Floats]:
    """The best places under each view, lest one cloth crowd out all else; then the best of the rest."""
    lines = plane.segments(lab)
    size = (lab.shape[1], lab.shape[0])
    smooth = np.asarray(cv2.GaussianBlur(lab, (0, 0), 0.8), np.uint8)
    found = [lattice.search(smooth, view, _PER_VIEW) for view in plane.views(lines, size, _VIEWS)]
    chosen = [candidate for places in found for candidate in places[:_BEST_OF_VIEW]]
    rest = [candidate for places in found for candidate in places[_BEST_OF_VIEW:]]
    rest.sort(key=lambda candidate: -candidate.evidence)
    return [candidate.corners for candidate in chosen + rest[:_BEST_OF_REST]]


def _choose(lab: NDArray[np.uint8], candidates: list[Floats], scale: float) -> BoardPose | BoardNotFound:
    judged = []
    levels = lattice.pyramid(lab)
    for corners in candidates:
        fitted = lattice.fit(levels, corners)
        judged.append((judge(lattice.weigh(levels, fitted)), fitted))
    if not judged:
        return BoardNotFound("no board here: nothing in the picture has the board's lines")
    score, corners = max(judged, key=lambda pair: pair[0])
    if score < _ENOUGH:
        return BoardNotFound("no board here: nothing in the picture is clearly a board of four by four squares")
    if _square_side(corners) / scale < _SMALLEST_SQUARE:
        return BoardNotFound("the board is too small in the picture; move the camera closer")
    return BoardPose(_points(_named(corners / scale)), score)


def judge(weight: lattice.Weight) -> float:
    """From 0 to 1, how much a lattice of this weight is a board; from `_ENOUGH` it is believed."""
    if (
        weight.beyond > _MOST_BEYOND
        or weight.weakest_line < _LEAST_LINE
        or weight.weakest_side < _LEAST_SIDE
        or weight.weakest_contrast < _LEAST_CONTRAST
    ):
        return 0.0
    evidence = (
        2.0 * weight.lines
        + 1.5 * weight.weakest_line
        + 1.0 * weight.weakest_side
        - 3.0 * weight.beyond
        - 0.7 * weight.between
        + 0.02 * min(weight.weakest_contrast, 20)
    )
    return float(1 / (1 + np.exp(-6 * (evidence - 0.8))))


def _square_side(corners: Floats) -> float:
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    return float(sides.min()) / lattice.SQUARES


def _named(corners: Floats) -> Floats:
    """Counter-clockwise as seen, beginning with the corner of the greatest y - x."""
    if _turning(corners) > 0:
        corners = corners[::-1]
    first = int(np.argmax(corners[:, 1] - corners[:, 0]))
    return np.roll(corners, -first, axis=0)


def _turning(corners: Floats) -> float:
    """Twice the signed area: negative if the corners go round counter-clockwise as seen (y points down)."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _points(corners: Floats) -> tuple[Point, Point, Point, Point]:
    a1, d1, d4, a4 = ((float(x), float(y)) for x, y in corners)
    return a1, d1, d4, a4


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
            f"the corners {said} lie far outside the picture, which is {image_size[0]} x {image_size[1]} pixels; "
            "give pixels of the upright picture"
        )
    if _square_side(points) < _SMALLEST_SQUARE / 2:
        raise VisionError(f"the corners {said} lie too close together for a board; give its four outer corners")
    turns = _turns(points)
    if not ((turns > 0).all() or (turns < 0).all()):
        raise VisionError(f"the corners {said} do not go round a board; give them in the order a1, d1, d4, a4")
    if turns[0] > 0:
        raise VisionError(f"the corners {said} go round the wrong way, as in a mirror; the order is a1, d1, d4, a4")
    return BoardPose(_points(points), 1.0)


def _four_points(corners: Sequence[Point]) -> NDArray[np.float64]:
    try:
        points = np.array(corners, np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape != (4, 2) or not np.isfinite(points).all():
        raise VisionError("corners must be four points x,y, at a1, d1, d4 and a4, in pixels of the upright picture")
    return points


def _turns(corners: Floats) -> Floats:
    edges = np.roll(corners, -1, axis=0) - corners
    following = np.roll(edges, -1, axis=0)
    return np.asarray(edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0])
