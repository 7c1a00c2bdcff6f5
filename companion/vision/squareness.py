"""Whether four corners in a picture may be those of something made of squares, as an ordinary camera sees it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from companion.vision.plane import crossed, side_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

UNIT_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64)
"""The corners that `from_unit_square` takes to others."""
_ORDINARY_FOCALS = (0.6, 0.68, 0.77, 0.88, 1.0, 1.2, 1.45, 1.8, 2.2)
"""In longer picture sides: from wide-angle webcams to telephones' second lenses, and pictures cut out of larger."""
_CUT_OUT = (-0.3, -0.15, 0.0, 0.15, 0.3)
"""In longer picture sides: how far from a picture's middle the camera may have looked, if it is a part of another."""
_MOST_TILT = np.radians(66)
"""Of a board that can be read."""
_NUDGE = 0.02
"""In squares: by so much corners are moved to see what that makes of their misfit."""
_ROUND_OFF = 1e-9


def misfit(corners: Floats, shape: tuple[int, int], size: tuple[int, int], *, cut_out: bool = False) -> float:
    """How unlike a board of `shape` (columns, rows) four corners (4, 2) of a picture of `size` (width, height) are.

    They go round from a1 to d1. Seen by any ordinary camera the sides of a square stand at right angles and are equally
    long. The answer is how far they are from that, as a share, for the camera that suits the corners best; infinite if
    it looked along the table. A rectangle much longer than wide looks square only from so low that its far side is seen
    much shorter than its near one.

    A picture that is `cut_out` of another shows what the camera saw beside its middle, which bends shapes more: it may
    have looked anywhere near.
    """
    beside = np.array(list(product(_CUT_OUT, repeat=2)) if cut_out else [(0, 0)]) * max(size)
    seen, lens = _seen(corners - beside[:, None], size), _lenses(size)
    off, along, up = _off_square(seen, shape, lens)
    normal, middle = np.cross(along, up), seen @ (0.5, 0.5, 1.0) / lens
    facing = np.abs((normal * middle).sum(axis=-1)) / np.linalg.norm(middle, axis=-1)
    upright = facing > np.cos(_MOST_TILT) * np.linalg.norm(normal, axis=-1)
    return float(np.where(upright, np.hypot(*off), np.inf).min())


def strain(corners: Floats, shape: tuple[int, int], size: tuple[int, int]) -> float:
    """By how many squares four corners (4, 2) are off at least, if they are a board's and its `misfit` is due to that.

    That is how far they have to be moved, to the first order, for the camera for which it is least. Corners that are a
    little off give a small board, of which perspective changes hardly anything, a misfit that a large one only has if
    they are far off.
    """
    square = float(side_lengths(corners).sum()) / (2 * sum(shape))
    moves = np.eye(corners.size).reshape(-1, *corners.shape) * _NUDGE * square
    lens = _lenses(size)
    there, more, less = (
        _off_square(_seen(each, size), shape, lens)[0] for each in (corners, corners + moves, corners - moves)
    )
    slopes = (more - less).transpose(2, 0, 1) / (2 * _NUDGE)  # (focals, 2, 8)
    known = np.isfinite(slopes).all(axis=(1, 2))
    slopes, ways = slopes[known], slopes[known].swapaxes(1, 2)
    back = ways @ np.linalg.solve(slopes @ ways + _ROUND_OFF * np.eye(2), there[:, known].T[..., None])
    return float(np.linalg.norm(back.reshape(-1, *corners.shape), axis=-1).max(axis=-1).min(initial=np.inf))


def _lenses(size: tuple[int, int]) -> Floats:
    """What pixels from the middle of a picture are divided by to have directions, `(focals, 3)`."""
    return np.array([(focal * max(size), focal * max(size), 1.0) for focal in _ORDINARY_FOCALS])


def _seen(corners: Floats, size: tuple[int, int]) -> Floats:
    """The homographies (..., 1, 3, 3) that take the unit square to corners (..., 4, 2), from the picture's middle."""
    return from_unit_square(corners - np.array(size) / 2)[..., None, :, :]


def _off_square(seen: Floats, shape: tuple[int, int], lens: Floats) -> tuple[Floats, Floats, Floats]:
    """How far what is `seen` is from being made of squares, `(2, ..., focals)`; and its sides, `(..., focals, 3)` each.

    The first is the logarithm of how much longer its squares are than wide, and the cosine of their angles.
    """
    along, up = (seen[..., i] / (shape[i] * lens) for i in (0, 1))
    long, wide = (np.sqrt((side * side).sum(axis=-1)) for side in (along, up))
    return np.stack([np.log(long / wide), (along * up).sum(axis=-1) / (long * wide)]), along, up


def from_unit_square(corners: Floats) -> Floats:
    """The homographies (..., 3, 3) that take (0, 0), (1, 0), (1, 1) and (0, 1) to four corners (..., 4, 2).

    As in Heckbert, Fundamentals of Texture Mapping (1989): of all at once, where OpenCV's takes them one by one. Not
    finite where three corners are in line.
    """
    first, second, third, fourth = np.moveaxis(corners, -2, 0)
    along, down, rest = second - third, fourth - third, first - second + third - fourth
    homographies = np.empty((*corners.shape[:-2], 3, 3))
    with np.errstate(divide="ignore", invalid="ignore"):
        tilts = np.stack([crossed(rest, down), crossed(along, rest)], axis=-1) / crossed(along, down)[..., None]
        ends = np.stack([second, fourth], axis=-1)
        homographies[..., :2, :2] = ends - first[..., None] + tilts[..., None, :] * ends
    homographies[..., :2, 2], homographies[..., 2, :2], homographies[..., 2, 2] = first, tilts, 1
    return homographies
