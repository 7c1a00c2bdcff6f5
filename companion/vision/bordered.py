"""The board within a border: on a sheet of paper that is larger than it, or in a frame.

The edges of boards are what the networks know best, and those of a sheet or a frame look like them. But there the inner
lines are not where a board that reaches to the edge has them. So the sides are fitted to that edge, and in what is
flattened by it the board's lines are looked for, smaller and to one side, upright and level ones each by themselves:
five lines, equally far apart. If there is clearly more of them than of the five of the whole, that is the board.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from companion.vision import lattice
from companion.vision.plane import project

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.vision.mesh import Mesh

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

_PITCH = 48
"""Side of a square in the flattened picture, in its pixels: a border of a fifth of a square is ten of them wide."""
_AROUND = 30
"""Width of what is kept around, in the same pixels."""
_SIZES = np.linspace(0.7, 1.03, 67)
"""Of the board, in parts of what has the border."""
_WHOLE = 0.965
"""From this size on it is the whole: what is so narrow is no border, but the thickness of a plate, or a burnt edge."""
_ASIDE = np.linspace(-0.16, 0.16, 17)
"""How far the board may lie from the middle, in squares of the whole."""
_ENDS = 0.45
"""A line is not looked at so near to its ends, in squares of the whole: there a border goes on."""
_CLEARLY = 0.15
"""So much more there is of a board's lines within a border. Of 1,667 drawn boards that have none, in pictures that
nothing is measured on, four had as much, and their corners were off by 0.15 squares at most then: thick ones, of which
the lower edges had been taken for the sides."""

_ENDING = 0.3
"""So much more there is of the lines on the board than beyond it, or it is a part of a grid: of sheets it was 0.39."""


class Bordered(NamedTuple):
    """A board within a border; corners are (4, 2), in pixels of one picture."""

    edge: Floats
    """The corners of what it lies on."""
    board: Floats
    """Its own."""
    clear: float
    """How clearly its lines are seen there, up to 2."""

    def scaled(self, by: float) -> Bordered:
        """In pixels of a picture that is so many times as large."""
        return self._replace(edge=self.edge * by, board=self.board * by)

    def without(self, picture: Picture) -> Picture:
        """The picture as if there were no border: the board reaches to the edge, and is as much larger."""
        size = (picture.shape[1], picture.shape[0])
        larger = cv2.warpPerspective(picture, lattice.homography(self.board, self.edge), size)
        inside = cv2.fillConvexPoly(np.zeros(picture.shape[:2], np.uint8), np.round(self.edge).astype(np.int32), 1)
        return np.asarray(np.where(inside[..., None] > 0, larger, picture), np.uint8)

    def back(self, corners: Floats) -> Floats:
        """Where `corners` that are seen in the picture `without` border lie in the picture itself."""
        return project(lattice.homography(self.edge, self.board), corners)


def find_border(levels: list[Picture], corners: Floats, mesh: Mesh) -> Bordered | None:
    """The board and its border, if these corners (4, 2) are those of what it lies on; else None.

    In pixels of a Lab picture (its `lattice.pyramid`). `mesh` is of a board without holes and steps.
    """
    edge = lattice.fit(levels, corners, mesh, sides_only=True)
    across, down = _combs(levels, edge, mesh)
    seen = across.evidence + down.evidence
    smaller = _SIZES < _WHOLE
    best = int(np.where(smaller, seen, 0).argmax())
    if seen[best] < seen[~smaller].max() + _CLEARLY:
        return None
    middle = mesh.corners.mean(axis=0)
    board = (mesh.corners - middle) * _SIZES[best] + middle + (across.aside[best], down.aside[best])
    bordered = Bordered(edge, project(lattice.homography(mesh.corners, edge), board), float(seen[best]))
    weight = lattice.weigh(levels, bordered.board, mesh)
    return bordered if weight.beyond < weight.lines - _ENDING else None


def clearness(levels: list[Picture], corners: Floats, mesh: Mesh) -> float:
    """How clearly a board's lines are seen that has these corners (4, 2), up to 2; see `Bordered.clear`."""
    across, down = _combs(levels, corners, mesh)
    return float((across.evidence + down.evidence)[_SIZES >= _WHOLE].max())


class _Comb(NamedTuple):
    """Five lines, equally far apart, in each of the `_SIZES`."""

    evidence: Floats
    """How clearly they are seen where they are seen most, 0 to 1; half of it is that of the line that is seen least."""
    aside: Floats
    """How far from the middle that is, in squares."""


def _combs(levels: list[Picture], corners: Floats, mesh: Mesh) -> tuple[_Comb, _Comb]:
    """Of upright and of level lines, in what these corners (4, 2) span."""
    home = mesh.corners * _PITCH + _AROUND
    size = mesh.columns * _PITCH + 2 * _AROUND, mesh.rows * _PITCH + 2 * _AROUND
    upright, level = lattice.evidence(lattice.flattened(levels, corners, home, size), reach=9, around=31)
    return _comb(upright, mesh.columns), _comb(np.ascontiguousarray(level.T), mesh.rows)


def _comb(upright: Floats, squares: int) -> _Comb:
    near_end = round(_AROUND + _ENDS * _PITCH)
    spread = cv2.dilate(upright[near_end:-near_end], np.ones((1, 3), np.uint8))
    middle = squares / 2
    lines = middle + (np.arange(squares + 1) - middle) * _SIZES[:, None, None] + _ASIDE[:, None]
    seen = np.interp(_AROUND + lines * _PITCH - 0.5, np.arange(upright.shape[1]), spread.mean(axis=0))
    evidence = (seen.mean(axis=-1) + seen.min(axis=-1)) / 2
    return _Comb(evidence.max(axis=1), _ASIDE[evidence.argmax(axis=1)])
