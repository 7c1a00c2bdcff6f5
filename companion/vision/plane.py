"""How the table lies in a picture: camera tilts that make the picture's straight lines stand at right angles.

Theory: boards, planks, checks and cards lie on one plane, and most of their edges belong to one or more pairs of
directions at right angles. A camera of ordinary opening angle, its axis through the middle of the picture, is
described by two angles against that plane; undo the right tilt, and the angles of the line segments, taken modulo a
quarter turn, pile up. So all tilts of a coarse sphere are tried on the segments (a few thousand angles, one
histogram each), and those tilts are kept, each with the turn of its pair of directions, whose piles are highest. The
weight of a pair is the geometric mean of its two directions: stripes and planks alone, however strong, are no pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

FOCAL_LENGTH = 0.9
"""In longer picture sides: 58 degrees, between telephones (about 70) and most webcams (about 55)."""
_TILTS = (0, 12, 24, 34, 43, 51, 58, 64)
"""Degrees off the vertical; steps shrink where perspective grows."""
_SHORTEST_SEGMENT = 0.012
_LONGEST_COUNTED = 0.25
"""Of the longer picture side: a table's edge shall not outvote a board."""
_BEYOND = 0.2
"""Points whose depth is less than this fraction of the centre's are near the horizon and say nothing."""
_SAME_VIEW = 0.06
_ROUNDS = (0.5, 0.25, 0.25)
"""Shares of the views that are looked for in each round."""
_ALONG = 4.0
"""Degrees within which a line runs along a direction."""
_SMOOTHED = {-2: 0.3, -1: 0.8, 0: 1.0, 1: 0.8, 2: 0.3}
"""How much lines count that run so many degrees beside a direction."""
_TRIED = 4000
_BEFORE = [3, 0, 1, 2]
"""The corner before each of four."""


@dataclass(frozen=True, slots=True)
class View:
    """One way the table may lie: `tilt` off the vertical towards `direction`, grid directions turned by `turn`.

    All in radians. `weight` says how much line length, in pixels, stands at right angles under this view.
    """

    tilt: float
    direction: float
    turn: float
    weight: float = 0.0

    def flatten(self, size: tuple[int, int]) -> Floats:
        """The homography from a picture of `size` (width, height) to the table from above, grid lines upright."""
        cos, sin = np.cos(self.turn), np.sin(self.turn)
        turned = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        return turned @ untilt(self.tilt, self.direction, size)


def untilt(tilt: float, direction: float, size: tuple[int, int]) -> Floats:
    """The homography that turns the camera straight down, the middle of the picture being the pivot."""
    width, height = size
    focal = FOCAL_LENGTH * max(size)
    camera = np.array([[focal, 0.0, width / 2], [0.0, focal, height / 2], [0.0, 0.0, 1.0]])
    axis = tilt * np.array([np.cos(direction), np.sin(direction), 0.0])
    return np.asarray(camera @ cv2.Rodrigues(axis)[0] @ np.linalg.inv(camera))


def project(homography: Floats, points: Floats) -> Floats:
    """`points` (..., 2) through a homography; not finite for those on its horizon."""
    moved = points @ homography[:, :2].T + homography[:, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(moved[..., :2] / moved[..., 2:])


def side_lengths(corners: Floats) -> Floats:
    """The lengths (..., 4) of the four sides of what has these corners (..., 4, 2), each from the corner before."""
    return np.asarray(np.linalg.norm(corners - corners[..., _BEFORE, :], axis=-1))


def goes_round(corners: Floats) -> bool:
    """Whether four corners (4, 2) go round something, either way: they turn the same way at each of them."""
    return bool(go_round(corners))


def go_round(corners: Floats) -> NDArray[np.bool_]:
    """The same of any number of four corners (..., 4, 2)."""
    steps = corners - corners[..., _BEFORE, :]
    turns = crossed(steps[..., _BEFORE, :], steps)
    return np.asarray((turns > 0).all(axis=-1) | (turns < 0).all(axis=-1))


def crossed(one: Floats, other: Floats) -> Floats:
    """The cross products (...) of steps (..., 2): how far, and which way, the other one turns off the first."""
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])


def depths(homography: Floats, points: Floats) -> Floats:
    """The homogeneous scale of each point: small or negative at and behind the horizon."""
    return np.asarray(points @ homography[2, :2] + homography[2, 2])


def segments(lab: NDArray[np.uint8]) -> Floats:
    """Straight segments (N, 4) as x0, y0, x1, y1 in the pixels of a Lab picture, in any of its channels."""
    detector = cv2.createLineSegmentDetector()
    channels = [lab[..., 0], *(cv2.convertScaleAbs(lab[..., i], alpha=2, beta=-128) for i in (1, 2))]
    found = [
        lines.reshape(-1, 4) for lines in (detector.detect(channel)[0] for channel in channels) if lines is not None
    ]
    lines = np.concatenate([np.zeros((0, 4), np.float32), *found]).astype(np.float64)
    return np.asarray(lines[_lengths(lines) > _SHORTEST_SEGMENT * max(lab.shape)])


def views(lines: Floats, size: tuple[int, int], count: int) -> list[View]:
    """Up to `count` likely views of a picture of `size`, no two alike.

    A checked cloth outvotes the board that lies on it, so they are looked for in rounds: first among all lines, then
    among those that no view of the rounds before explains.
    """
    kept: list[View] = []
    shapes: list[Floats] = []
    untilted = np.array([untilt(tilt, direction, size) for tilt, direction in _SPHERE])
    for share in _ROUNDS:
        weights = _right_angles(lines, untilted, size)
        best = _best_views(weights, size, shapes, round(count * share))
        kept += best
        if best:
            lines = lines[~_explained(lines, best[0], size)]
    return kept


def _best_views(weights: Floats, size: tuple[int, int], shapes: list[Floats], count: int) -> list[View]:
    """The `count` views with most line length, unlike the `shapes` seen before; theirs are added to these.

    `weights` is `(tilts, 90)`: of each tilt of the `_SPHERE`, and of each turn in degrees.
    """
    kept: list[View] = []
    for flat_index in np.argsort(weights, axis=None)[: -_TRIED - 1 : -1]:
        which, degrees = divmod(int(flat_index), 90)
        view = View(*_SPHERE[which], math.radians(degrees + 0.5), float(weights[which, degrees]))
        shape = _square_seen(view, size)
        if view.weight > 0 and all(_apart(shape, other) > _SAME_VIEW for other in shapes):
            kept.append(view)
            shapes.append(shape)
            if len(kept) == count:
                break
    return kept


def _explained(lines: Floats, view: View, size: tuple[int, int]) -> NDArray[np.bool_]:
    """Which lines run along one of the two directions of `view`."""
    ends = lines.reshape(-1, 2, 2)
    homography = view.flatten(size)
    flat = project(homography, ends)
    step = flat[:, 1] - flat[:, 0]
    off = np.degrees(np.arctan2(step[:, 1], step[:, 0])) % 90
    return np.asarray((np.minimum(off, 90 - off) < _ALONG) & (depths(homography, ends) > _BEYOND).all(axis=1))


def _lengths(lines: Floats) -> Floats:
    return np.asarray(np.hypot(lines[:, 2] - lines[:, 0], lines[:, 3] - lines[:, 1]))


def _sphere() -> Iterator[tuple[float, float]]:
    for degrees in _TILTS:
        steps = 1 if degrees == 0 else 8 if degrees < 20 else 12 if degrees < 40 else 18  # noqa: PLR2004
        for step in range(steps):
            yield float(np.radians(degrees)), 2 * np.pi * step / steps


_SPHERE = tuple(_sphere())
"""Tilts and directions, in radians."""


def _right_angles(lines: Floats, homographies: Floats, size: tuple[int, int]) -> Floats:
    """Under each of these (n, 3, 3), for turns of 0 to 89 degrees: how much line length runs along both directions."""
    ends = np.concatenate([lines.reshape(-1, 2), np.ones((2 * len(lines), 1))], axis=1)
    flat = (ends @ homographies.swapaxes(1, 2)).reshape(len(homographies), len(lines), 2, 3)
    along, down, depth = np.moveaxis(flat, -1, 0)
    which, line = np.nonzero((depth > _BEYOND).all(axis=-1))
    x, y = along[which, line] / depth[which, line], down[which, line] / depth[which, line]
    degrees = np.floor(np.degrees(np.arctan2(y[:, 1] - y[:, 0], x[:, 1] - x[:, 0]))).astype(int) % 180
    weight = np.minimum(_lengths(lines), _LONGEST_COUNTED * max(size))[line]
    piles = np.bincount(180 * which + degrees, weights=weight, minlength=180 * len(homographies)).reshape(-1, 180)
    smooth = np.sum([share * np.roll(piles, by, axis=1) for by, share in _SMOOTHED.items()], axis=0)
    return np.asarray(np.sqrt(smooth[:, :90] * smooth[:, 90:]))


def _square_seen(view: View, size: tuple[int, int]) -> Floats:
    """How a square of unit area in the middle of the picture looks under `view`: what tells two views apart."""
    angles = view.turn + np.pi / 2 * np.arange(4)
    reach = min(size) / 4
    square = np.array(size) / 2 + reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    seen = project(np.linalg.inv(untilt(view.tilt, view.direction, size)), square)
    seen = seen - seen.mean(axis=0)
    area = abs(cv2.contourArea(seen.astype(np.float32)))
    return np.asarray(seen / np.sqrt(area + 1e-6))


def _apart(shape: Floats, other: Floats) -> float:
    return min(float(np.abs(np.roll(shape, turn, axis=0) - other).max()) for turn in range(4))
