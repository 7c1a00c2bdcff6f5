"""Places in a picture where the board of four by four may lie, compared with each other.

Corners are four points (4, 2) in pixels of one picture. Places come from guesses, which name their corners, and go
round, as it happens; so two of them are compared in the order in which they are nearest each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import cv2
import numpy as np

from companion.vision import lattice
from companion.vision.judge import NAMINGS, SQUARES, Verdict
from companion.vision.plane import goes_round, project, side_lengths
from companion.vision.pose import SHORTEST_SIDE
from companion.vision.squareness import UNIT_SQUARE, misfit, strain
from companion.vision.suggestions import MISFIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

JUDGED_SURELY = 0.9
"""The judge is sure of a place that it gives such a score."""
_BEST = 4
"""So many places are fitted."""
_ALIKE = 0.05
"""Places whose corners are closer than this, in squares, are not both looked at from all sides."""
_NEAR = 0.3
"""Places whose corners are closer than this, in squares, are the same place."""
_EDGE = 0.1
"""Places that share less of their area than this lie beside each other."""
_LITTLE_STRAINED, _STRAINED = 0.1, 0.12
"""By less than the second, in squares, the corners of boards are off, as far as their shape tells: 1,280 of 1,282 that
were found in drawn pictures, 1,276 by less than the first. In pictures that are cut out of larger ones it may be three
times as much."""
_CUT_OFF = 0.1
"""What reaches beyond the edge of the picture by more than this, in squares, is not seen whole, if nothing else is
said."""
_BOARD = SQUARES * UNIT_SQUARE
"""The corners of a board, in squares."""


class Place(NamedTuple):
    """A place that may be the board."""

    score: float
    """How sure it is, 0 to 1."""
    corners: Floats
    """Corners (4, 2), in pixels of the `FittedPicture`, going round from any of them."""
    likely: float
    """The judge's own score."""
    support: float
    """The pointer's."""
    weight: lattice.Weight
    covered: Floats
    """How likely something hides each of the corners (4,), 0 to 1."""
    farther: float = 0.0
    """The pointer's support of the same place moved on by a square, where that is greatest; 0 where that decides
    nothing."""
    tried: Sequence[Floats] = ()
    """The corners of all places that were tried from the same guesses, this one's and others'."""


_Judged = TypeVar("_Judged", Place, Verdict)


def possible(corners: Floats) -> bool:
    """Whether corners can be a board's: they go round something that is not tiny."""
    return bool(np.isfinite(corners).all()) and goes_round(corners) and side_lengths(corners).min() > SHORTEST_SIDE


def may_be_board(corners: Floats, size: tuple[int, int], *, cut_out: bool = False) -> bool:
    """Whether they can be those of something square in a picture of this size; or in one that is `cut_out` of another.

    A board with spares beside it is not.
    """
    shape = (SQUARES, SQUARES)
    return possible(corners) and (
        misfit(corners, shape, size) < MISFIT
        or strain(corners, shape, size) < _LITTLE_STRAINED
        or (cut_out and misfit(corners, shape, size, cut_out=True) < MISFIT)
    )


def are_strained(corners: Floats, size: tuple[int, int]) -> bool:
    """Whether they have to be moved far to be those of something square; see `squareness.strain`."""
    return strain(corners, (SQUARES, SQUARES), size) > _STRAINED


def square_side(corners: Floats) -> float:
    """A square's least side, in the pixels of the corners."""
    return float(side_lengths(corners).min()) / SQUARES


def agreed(place: Place) -> Floats:
    """Corners (4, 2) on which those agree that were tried near a place.

    Each was fitted from another start or in another way, so their mean is nearer the truth than any of them, and than
    the likeliest.
    """
    reach = _NEAR * square_side(place.corners)
    near = [_in_order(corners, place.corners) for corners in place.tried]
    together = [corners for corners in near if np.linalg.norm(corners - place.corners, axis=1).max() < reach]
    return np.asarray(np.mean(together or [place.corners], axis=0))


def different(judged: list[_Judged]) -> list[_Judged]:
    """The best of them that are not all but the same place; and the best that is clear of these, if it is a board."""
    chosen: list[_Judged] = []
    for each in sorted(judged, key=lambda each: -each.score):
        if all(_apart(each.corners, other.corners) > _ALIKE * square_side(other.corners) for other in chosen):
            chosen.append(each)
    for one in chosen[_BEST:]:
        if one.score >= JUDGED_SURELY and all(clear_of(one.corners, other.corners) for other in chosen[:_BEST]):
            return chosen[:_BEST] + [one]  # noqa: RUF005 (mypy takes what is unpacked for a list)
    return chosen[:_BEST]


def clear_of(corners: Floats, other: Floats) -> bool:
    """Whether two places share no more than a little of their edge."""
    first, second = corners.astype(np.float32), other.astype(np.float32)
    shared, _ = cv2.intersectConvexConvex(first, second)
    return bool(shared < _EDGE * min(cv2.contourArea(first), cv2.contourArea(second)))


def _apart(corners: Floats, other: Floats) -> float:
    """How far the corners are from the other ones, named so that it is least."""
    return float(np.abs(_in_order(corners, other) - other).max())


def _in_order(corners: Floats, order: Floats) -> Floats:
    """The corners named, and going round, as those of `order` do."""
    ways = corners[NAMINGS]
    return np.asarray(ways[np.abs(ways - order).max(axis=(1, 2)).argmin()])


def farther(corners: Floats) -> list[Floats]:
    """The corners of a board that lies one square farther on, each way."""
    seen = lattice.homography(_BOARD, corners)
    return [project(seen, _BOARD + by) for by in ((1, 0), (-1, 0), (0, 1), (0, -1))]


def larger(corners: Floats, by: float) -> Floats:
    """The corners of a board that is so many times as large, around the same middle."""
    middle = _BOARD.mean(axis=0)
    return project(lattice.homography(_BOARD, corners), (_BOARD - middle) * by + middle)


def off_by(corners: Floats, given: Floats) -> float:
    """How far the `given` corners are from a board's own, named alike: the mean, in squares of the board."""
    off = float(np.linalg.norm(project(lattice.homography(corners, _BOARD), given) - _BOARD, axis=1).mean())
    return off if np.isfinite(off) else np.inf


def is_cut_off(place: Place, size: tuple[int, int], by: float = _CUT_OFF) -> bool:
    """Whether it reaches beyond the edge of the `FittedPicture`, which has this size, by more than so many squares."""
    beyond = np.maximum(-place.corners, place.corners - size).max()
    return bool(beyond > by * square_side(place.corners))
