"""What moves in a picture, and what is not as it was: noise, a lamp and a cloud are no motion.

A hand that holds a piece over a square may lie still and hide nothing of the board, when it comes from close by. It is
seen beside the board (`Rim`), where it was not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.rules import Square
from companion.vision.rectify import MARGIN, PATCH, SQUARE

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_END = 6
"""Pixels at the near and at the far end of what is looked at beside a square."""
_MOSTLY = 0.5
_VISITED_SHARE = 0.3
"""Something lies across the edge beside a square where so much of this edge has it."""
_KEEP_S = 0.5
"""What lies still is taken for known so often."""
_HOLDS_FROM_S, _HOLDS_TO_S = 0.2, 2.5
"""What lies still for so long is no hand in passing, or none that holds a piece: one has been put aside."""


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
        self._rim = Rim(layout)
        self._squares = [_region(layout, i, -_BLUR_REACH) for i in range(len(layout))]
        self._patches = [_region(layout, i, (PATCH - SQUARE) // 2) for i in range(len(layout))]
        self._last: Grey | None = None
        self._kept: list[Grey] = []
        """Each square's patch as it was when it was last recognised."""

    def see(self, time: float, top_view: NDArray[np.uint8]) -> tuple[list[bool], Floats, int]:
        """Which squares move, how much of each has changed since `keep`, from 0 to 1, and what is held; see `Rim`.

        `time` is in source seconds.
        """
        grey = cv2.GaussianBlur(cv2.cvtColor(top_view, cv2.COLOR_BGR2GRAY), (0, 0), 1.5).astype(np.int16)
        moves, changes, least = [False] * len(self._squares), np.ones(len(self._patches)), _LEAST_CHANGE
        held = 0
        if self._last is not None:
            size, least = difference(grey, self._last, every=_SPARSE)
            moves = [bool((size[region] > least).mean() > _MOVING_SHARE) for region in self._squares]
            held = self._rim.see(time, grey, size > least, least)
        if self._kept:
            pairs = zip(self._patches, self._kept, strict=True)
            changes = np.array([(np.abs(grey[region] - kept) > least).mean() for region, kept in pairs])
        self._last = grey
        return moves, changes, held

    def keep(self, squares: list[int]) -> None:
        """Take what was seen last of these squares for what is known."""
        if self._last is None:
            return
        self._kept = self._kept or [self._last[region] for region in self._patches]
        for i in squares:
            self._kept[i] = self._last[self._patches[i]]


class Rim:
    """What has come to lie across the edge of the board: a hand that holds what is over a square beside it."""

    def __init__(self, layout: Layout) -> None:
        self._touching = layout.geometry.touching
        self._cells = list(_across_the_edge(layout))
        self._known: list[tuple[Floats, ...]] = [()] * len(self._cells)
        """Each cell as it lay still for long, in parts of the picture's level: now, and before that."""
        self._kept, self._moved = np.full((2, len(self._cells)), -np.inf)
        """When each cell was last taken for known, and when it last moved."""

    def see(self, time: float, grey: Grey, moving: NDArray[np.bool_], least: float) -> int:
        """The squares, as bits, that a hand may hold something over; `moving` are the pixels that move.

        These are the neighbours of where it lies. What leans or throws its shadow across the edge is the square's own
        piece.
        """
        moves = [bool(moving[cell].mean() > _MOVING_SHARE) for _, cell, _ in self._cells]
        held, level = 0, max(1.0, float(np.median(grey[::_SPARSE, ::_SPARSE])))
        if sum(moves) > len(moves) / 2:  # it is the camera, or a lamp
            self._known, self._kept[:], self._moved[:] = [()] * len(self._cells), -np.inf, -np.inf
            return held
        for i, (square, cell, outwards) in enumerate(self._cells):
            if moves[i]:
                self._moved[i] = time
                continue
            still_s = time - self._moved[i]
            put_aside = still_s > _HOLDS_TO_S or not self._known[i]
            if still_s < _HOLDS_FROM_S or (put_aside and time - self._kept[i] < _KEEP_S):
                continue
            now = grey[cell] / np.float32(level)
            new = [_lies_across(np.abs(now - known) * level > 2 * least, outwards) for known in self._known[i]]
            if put_aside:
                self._known[i], self._kept[i] = (now, *self._known[i][bool(new and not new[0]) :])[:2], time
            elif all(new):
                held |= self._touching[square] & ~(1 << square)
        return held


def _lies_across(changed: NDArray[np.bool_], outwards: int) -> bool:
    """Whether something new lies in a cell from the board's edge to as far out as is looked."""
    along = np.rot90(changed, outwards)
    ends = along[:_END].mean(axis=0), along[-_END:].mean(axis=0)
    return bool((np.minimum(*ends) > _MOSTLY).mean() > _VISITED_SHARE)


def _across_the_edge(layout: Layout) -> Iterator[tuple[int, tuple[slice, slice], int]]:
    """Squares at the edge of the board, the pixels beside them, and the quarter turns that put what is far on top."""
    for i, square in enumerate(layout.squares):
        rows, columns = _region(layout, i, 0)
        top, bottom, left, right = rows.start, rows.stop, columns.start, columns.stop
        for up, along, cell, outwards in (
            (1, 0, (slice(top - MARGIN, top), columns), 0),
            (0, 1, (rows, slice(right, right + MARGIN)), 1),
            (-1, 0, (slice(bottom, bottom + MARGIN), columns), 2),
            (0, -1, (rows, slice(left - MARGIN, left)), 3),
        ):
            if Square(square.row + up, square.column + along) not in layout:
                yield i, cell, outwards


def _region(layout: Layout, index: int, around: int) -> tuple[slice, slice]:
    """The pixels of one square in the top view, and so many around it."""
    square = layout.squares[index]
    x = MARGIN + square.column * SQUARE
    y = MARGIN + (layout.rows - 1 - square.row) * SQUARE
    return slice(y - around, y + SQUARE + around), slice(x - around, x + SQUARE + around)
