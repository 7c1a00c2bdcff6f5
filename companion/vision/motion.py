"""What moves in a picture, and what is not as it was: noise, a lamp and a cloud are no motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.vision.rectify import MARGIN, PATCH, SQUARE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.rules import Layout

    Grey = NDArray[np.int16]
    Floats = NDArray[np.floating[Any]]

_LEAST_CHANGE = 10.0
"""Grey levels that a pixel has to change by, at least, to count as changed."""
_NOISE_FACTOR = 9.0
"""Changes below this many times the median change of all pixels are noise."""
_MOVING_SHARE = 0.04
"""A square is moving when this share of it has changed since the last frame."""
_BLUR_REACH = 3
"""What moves next to a square is seen in so many pixels of its edge, when noise is smoothed away."""
_SPARSE = 4


def difference(now: Grey, before: Grey, *, every: int = 1) -> tuple[Grey, float]:
    """By how much each pixel differs, but for what a lamp or a cloud changes all alike, and what is more than noise.

    Both are judged by every so many pixels of every so many rows.
    """
    by = now - before
    by -= np.int16(np.median(by[::every, ::every]))
    size = np.abs(by)
    return size, max(_LEAST_CHANGE, _NOISE_FACTOR * float(np.median(size[::every, ::every])))


class Motion:
    """What moves on a board, and what is not as it was when it was last recognised; for a board seen from above."""

    def __init__(self, layout: Layout) -> None:
        self._squares = [_region(layout, i, -_BLUR_REACH) for i in range(len(layout))]
        self._patches = [_region(layout, i, (PATCH - SQUARE) // 2) for i in range(len(layout))]
        self._last: Grey | None = None
        self._kept: list[Grey] = []
        """Each square's patch as it was when it was last recognised."""

    def see(self, top_view: NDArray[np.uint8]) -> tuple[list[bool], Floats]:
        """Which squares move, and how much of each has changed since `keep`, from 0 to 1."""
        grey = cv2.GaussianBlur(cv2.cvtColor(top_view, cv2.COLOR_BGR2GRAY), (0, 0), 1.5).astype(np.int16)
        moves, changes, least = [False] * len(self._squares), np.ones(len(self._patches)), _LEAST_CHANGE
        if self._last is not None:
            size, least = difference(grey, self._last, every=_SPARSE)
            moves = [bool((size[region] > least).mean() > _MOVING_SHARE) for region in self._squares]
        if self._kept:
            pairs = zip(self._patches, self._kept, strict=True)
            changes = np.array([(np.abs(grey[region] - kept) > least).mean() for region, kept in pairs])
        self._last = grey
        return moves, changes

    def keep(self, squares: list[int]) -> None:
        """Take what was seen last of these squares for what is known."""
        if self._last is None:
            return
        self._kept = self._kept or [self._last[region] for region in self._patches]
        for i in squares:
            self._kept[i] = self._last[self._patches[i]]


def _region(layout: Layout, index: int, around: int) -> tuple[slice, slice]:
    """The pixels of one square in the top view, and so many around it."""
    square = layout.squares[index]
    x = MARGIN + square.column * SQUARE
    y = MARGIN + (layout.rows - 1 - square.row) * SQUARE
    return slice(y - around, y + SQUARE + around), slice(x - around, x + SQUARE + around)
