"""The board seen from straight above: one flat top view, cut into one patch for each square.

Everything that looks at squares looks at these pixels, so that distance, angle and rotation are dealt with once.
The top view has the far row on top and a1 in the lower left; around the board it keeps a margin, because pieces
have thickness and, seen from the side, lean over the edge of their square and of the board.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.errors import VisionError
from companion.vision.lens import PINHOLE
from companion.vision.plane import goes_round, side_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.rules import Layout
    from companion.vision.lens import Optics

SQUARE = 40
"""Side of one square in the top view, in its pixels."""
MARGIN = 20
"""Width of what is kept around the board, in pixels of the top view."""
PATCH = 72
"""Side of one square's patch, in pixels of the top view: 1.8 squares, so that neighbours and shadows are seen."""
FINEST = 4
"""A top view is averaged down from one up to so many times as large."""
_SMALLEST_SIDE = 2.0
BLACKEST = 4.0
"""Grey levels that are added, so that what is all but black is not made grey."""


def rectify(
    image: NDArray[np.uint8],
    corners: NDArray[np.floating],
    layout: Layout,
    *,
    margin: int = MARGIN,
    finest: int = FINEST,
    optics: Optics = PINHOLE,
) -> NDArray[np.uint8]:
    """The top view of the board, `(rows * SQUARE + 2 * margin, columns * SQUARE + 2 * margin, 3)`, far row on top.

    `image` is BGR, `(height, width, 3)`. `corners` are the board's outer corners at a1, d1, d4, a4 (for another layout:
    of its bounding rectangle, in that order) in straight pixels of `image` (see `companion.vision.lens`; without a
    measured lens, simply in its pixels), `(4, 2)`; they may lie outside the picture.
    What the picture does not show is black. Large pictures are averaged down, so that thin marks do not flicker: from a
    top view up to `finest` times as large. With 1 it is quick, and rough.

    Raises:
        VisionError: for an image or corners of another shape, or corners that span no area.

    """
    _check(image, corners)
    finer = min(finest, _finer(corners, layout))
    width, height = (layout.columns * SQUARE + 2 * margin, layout.rows * SQUARE + 2 * margin)
    outline = (board_outline(layout) + margin - MARGIN) * finer + (finer - 1) / 2
    to_picture = np.asarray(
        cv2.getPerspectiveTransform(outline.astype(np.float32), corners.astype(np.float32)), np.float64
    )
    top = optics.view(image, to_picture, (width * finer, height * finer))
    return np.asarray(cv2.resize(top, (width, height), interpolation=cv2.INTER_AREA), np.uint8) if finer > 1 else top


def patches(top_view: NDArray[np.uint8], layout: Layout, away: int = 0) -> NDArray[np.uint8]:
    """One patch for each square, `(squares, PATCH, PATCH, 3)`, in the order of `layout.squares`.

    With `away`, from `away_side`, the side that is farthest from the camera is on top of every patch.
    """
    cut = np.empty((len(layout), PATCH, PATCH, 3), np.uint8)
    for i, (x, y) in enumerate(patch_corners(layout, margin_of(top_view, layout))):
        cut[i] = top_view[y : y + PATCH, x : x + PATCH]
    return np.ascontiguousarray(np.rot90(cut, away, axes=(1, 2))) if away else cut


def patch_corners(layout: Layout, margin: int) -> NDArray[np.intp]:
    """The left upper corners `(squares, 2)`, x and y, of the squares' patches in a top view with this margin."""
    at = np.array([(square.column, layout.rows - 1 - square.row) for square in layout.squares], np.intp)
    return at * SQUARE + margin - (PATCH - SQUARE) // 2


def evened(view: NDArray[np.uint8], reach: float, share: float) -> NDArray[np.uint8]:
    """The view with dark parts brightened and bright ones darkened, as a camera with local tones does.

    What is brighter than the mean within some `reach` pixels is made darker by this `share` of it, in logarithms: with
    1 a shadow that is wider than that is gone, and so is what tells a dark board from a bright table.
    """
    around = cv2.GaussianBlur(view.astype(np.float32), (0, 0), reach).mean(axis=2, keepdims=True) + BLACKEST
    return np.asarray(np.clip(view * (around.mean() / around) ** share, 0, 255), np.uint8)


def margin_of(top_view: NDArray[np.uint8], layout: Layout) -> int:
    """The margin that a top view was made with."""
    return (int(top_view.shape[1]) - layout.columns * SQUARE) // 2


def away_side(corners: NDArray[np.floating], layout: Layout) -> int:
    """Which side of the top view is farthest from the camera: 0 far side, 1 right, 2 Light's side, 3 left.

    Seen at an angle, the tops of thick pieces appear shifted away from the camera, up to over half a square. In patches
    that have this side on top they are shifted up, always, which tells them from tops of neighbours. `corners` as in
    `rectify`. From straight above, any side is as good as the others, and nothing is shifted.
    """
    board = np.array([[0, 0], [layout.columns, 0], [layout.columns, layout.rows], [0, layout.rows]], np.float32)
    to_picture = cv2.getPerspectiveTransform(board, corners.astype(np.float32))
    right, far = to_picture[2, :2] / (to_picture[2] @ (layout.columns / 2, layout.rows / 2, 1))
    if abs(far) >= abs(right):
        return 0 if far >= 0 else 2
    return 1 if right > 0 else 3


def board_outline(layout: Layout) -> NDArray[np.float32]:
    """The corners a1, d1, d4, a4 of the board in the top view, `(4, 2)` x and y in its pixels."""
    left, top = MARGIN - 0.5, MARGIN - 0.5
    right, bottom = left + layout.columns * SQUARE, top + layout.rows * SQUARE
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top]], np.float32)


def pixels_per_square(corners: NDArray[np.floating], layout: Layout) -> float:
    """How many pixels of the picture the side of an average square spans."""
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    across, along = layout.columns, layout.rows
    return float(max(sides[0] + sides[2], 1e-9) / (2 * across) + max(sides[1] + sides[3], 1e-9) / (2 * along)) / 2


def _finer(corners: NDArray[np.floating], layout: Layout) -> int:
    return max(1, min(FINEST, math.ceil(pixels_per_square(corners, layout) / SQUARE - 0.25)))


def _check(image: NDArray[np.uint8], corners: NDArray[np.floating]) -> None:
    if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:  # noqa: PLR2004
        raise VisionError(f"the picture has shape {image.shape}; a colour picture (height, width, 3) is needed")
    if corners.shape != (4, 2) or not np.isfinite(corners).all():
        raise VisionError(f"corners {corners.tolist()} are not four points x,y for a1, d1, d4, a4")
    if side_lengths(corners).min() < _SMALLEST_SIDE or not goes_round(corners):
        raise VisionError(
            f"corners {np.round(corners, 1).tolist()} do not go around a board; "
            "give the outer corners at a1, d1, d4, a4, in this order"
        )
