"""Where the tops of the sixteen pieces are in the enrolment picture: discs or squares, all of one size.

A circle or a square of each size is laid on every piece's picture where its outline best follows edges that the empty
board does not have; the shape and size on which all pieces together agree is theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

_HALVES = tuple(np.arange(0.30, 0.47, 0.025).tolist())
_TURNS = tuple(np.radians((-15, -10, -5, 0, 5, 10, 15)).tolist())
_REACH = 0.25
_STEP = 0.04
_POINTS = 32
_LARGER = 1.2
"""Of two outlines that fit, the larger one is more likely the piece's and the smaller one a mark's."""
_STRAIGHT = 0.8
"""The share of a square's side that is straight for sure."""
_SHORTER = 0.3
"""How dear a place far from the middle is, in shares of an outline for each square of squared distance."""


@dataclass(frozen=True, slots=True)
class Top:
    """The top of a piece in its picture."""

    middle: tuple[float, float]
    turn: float
    """Radians; 0 for a disc."""
    half: float
    """Half its width in squares."""
    round: bool

    def outline(self, square: int) -> Floats:
        """Points around it, `(n, 2)`, with `square` pixels to a square."""
        points, _ = _contour(self.half, self.turn, round_=self.round, whole=True)
        return points * square + self.middle


def find_tops(looks: Sequence[Floats], grounds: Sequence[Floats], square: int) -> list[Top]:
    """The top in each of `looks`, given the same pictures without the pieces, and the pixels to a square."""
    slopes = [_slopes(look - ground) for look, ground in zip(looks, grounds, strict=True)]
    best: tuple[float, list[Top]] = (-1.0, [])
    for round_ in (True, False):
        for half in _HALVES:
            found = [_best(slope, half, square, round_=round_) for slope in slopes]
            total = sum(score for score, _ in found) * (1 + _LARGER * half)
            if total > best[0]:
                best = (total, [top for _, top in found])
    return best[1]


def _slopes(picture: Floats) -> Floats:
    """The steepest channel's gradient at each pixel, `(height, width, 2)`, about 1 on clear edges."""
    soft = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 1.5)
    across, down = cv2.Sobel(soft, cv2.CV_32F, 1, 0), cv2.Sobel(soft, cv2.CV_32F, 0, 1)
    steepest = (across**2 + down**2).argmax(axis=2)[..., None]
    slope = np.concatenate([np.take_along_axis(one, steepest, 2) for one in (across, down)], axis=2)
    return np.asarray(slope / max(float(np.quantile(np.linalg.norm(slope, axis=2), 0.85)), 1e-3))


def _best(slope: Floats, half: float, square: int, *, round_: bool) -> tuple[float, Top]:
    middle = (slope.shape[0] - 1) / 2
    steps = np.arange(-_REACH, _REACH + _STEP / 2, _STEP)
    shifts = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 1, 2)
    dear = _SHORTER * (shifts[:, 0] ** 2).sum(axis=1)
    best = (-1.0, Top((middle, middle), 0.0, half, round_))
    for turn in (0.0,) if round_ else _TURNS:
        points, normals = _contour(half, turn, round_=round_)
        at = np.rint((points + shifts) * square + middle).astype(int).clip(0, slope.shape[0] - 1)
        along = np.abs((slope[at[..., 1], at[..., 0]] * normals).sum(axis=-1))
        scores = np.minimum(along, 1).mean(axis=1) - dear
        i = int(scores.argmax())
        if scores[i] > best[0]:
            x, y = (shifts[i, 0] * square + middle).tolist()
            best = (float(scores[i]), Top((x, y), turn, half, round_))
    return best


def _contour(half: float, turn: float, *, round_: bool, whole: bool = False) -> tuple[Floats, Floats]:
    """Points on the outline around the origin and their normals, in squares."""
    if round_:
        angle = np.arange(_POINTS) * 2 * np.pi / _POINTS
        normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return normals * half, normals
    along = np.linspace(-1, 1, _POINTS // 4) * (1.0 if whole else _STRAIGHT)
    ones = np.ones_like(along)
    sides = [(along, -ones), (ones, along), (-along, ones), (-ones, -along)]
    points = np.concatenate([np.stack(side, axis=1) for side in sides]) * half
    normals = np.repeat(np.array([[0.0, -1], [1, 0], [0, 1], [-1, 0]]), len(along), axis=0)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return points @ spin, normals @ spin
