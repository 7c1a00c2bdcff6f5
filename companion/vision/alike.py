"""Whether the squares of a place look like each other, or like what lies around them.

Lines alone do not tell a board from a part of a larger one, or from a board together with the pieces beside it. The
ground tells: a piece seldom covers a square up to its sides, so what is seen there is the board, and it is not what is
seen around the board and in its holes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from companion.vision.lattice import BORDER, PITCH, flatten_board, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.vision.mesh import Mesh

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

_FROM, _TO = 2, 5
"""The ground that is looked at: this far from a square's sides, in pixels of the flattened picture."""
_ALIKE = 3
"""A square, or a place around, is compared with so many others that look most like it."""
_HARDLY = 1.0
"""A difference of colour that is none, in 8-bit Lab."""


def mixed_up(levels: list[Picture], corners: Floats, mesh: Mesh) -> float:
    """How far squares and surroundings are mixed up at a place, from 0 to 2.

    `levels` is the `lattice.pyramid` of a picture in Lab, `corners` `(4, 2)` are in its pixels. Added up are the share
    of squares that look as much like the surroundings as like other squares, and the share of places around, as large
    as a square, that look as much like squares as like each other; 0 if too little is seen around.
    """
    flat = flatten_board(levels, corners, mesh)
    seen = shown(levels[0].shape[:2], corners, flat.shape, mesh) > 0
    squares: list[Floats] = []
    around: list[Floats] = []
    for row, column in np.ndindex(mesh.rows + 2, mesh.columns + 2):
        top, left = BORDER + (row - 1) * PITCH, BORDER + (column - 1) * PITCH
        if seen[top : top + PITCH, left : left + PITCH].all():
            inside = 0 < row <= mesh.rows and 0 < column <= mesh.columns and mesh.cells[row - 1, column - 1]
            (squares if inside else around).append(_ground(flat[top : top + PITCH, left : left + PITCH]))
    if min(len(squares), len(around)) <= _ALIKE:
        return 0.0
    return _strangers(np.array(squares), np.array(around)) + _strangers(np.array(around), np.array(squares))


def _ground(square: Picture) -> Floats:
    """The colour near the sides of a square."""
    near = np.zeros(square.shape[:2], np.bool_)
    near[_FROM:-_FROM, _FROM:-_FROM] = True
    near[_TO:-_TO, _TO:-_TO] = False
    return np.asarray(np.median(square[near], axis=0), np.float64)


def _strangers(these: Floats, others: Floats) -> float:
    """The share of these colours `(n, 3)` that are about as near to the others as to their own, or nearer."""
    own = np.sort(np.linalg.norm(these[:, None] - these, axis=2), axis=1)[:, _ALIKE]
    foreign = np.sort(np.linalg.norm(these[:, None] - others, axis=2), axis=1)[:, _ALIKE - 1]
    return float((foreign < own + _HARDLY).mean())
