"""What moves in a picture, and what is not as it was: noise, a lamp and a cloud are no motion.

Nor are shadows that sway, of leaves or of a curtain. They change the light by a share that is alike in pixels next to
each other, whatever lies there, as their edges are soft; a thing that moves has edges (`_has_an_edge`).

A hand from close by may hold a piece still over a square at the edge, and hide nothing of the board. It shows beside
the board (`Rim`): where something is that was not there before, and that has not left since the square came to rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.vision.levels import logarithms, middle, ranked
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
_SOFT = 5
"""The light differs by about as much all over so many pixels, in both directions."""
_MOST_OF_IT = 0.98
"""What the rest of a square's pixels do is noise."""
_EDGE = 0.06
"""Where a thing has moved, some pixels differ by so much more than those around them, as a logarithm."""
_FAINT_EDGE = 0.03
_FAINT_EDGE_SHARE = 0.24
"""Or by less, but by so large a share of what most has changed."""
_DARK_LEVELS = 8
"""What haze and noise add to every level: in the dark a share of the light is not to be told."""
_LIGHT_S = 1.0
"""What has shown no edge for so long is light."""
_FORGOTTEN_S = 10.0
"""If nothing has moved for so long, what moves next need not be."""
_BLUR_REACH = 3
"""What moves next to a square is seen in so many pixels of its edge, when noise is smoothed away."""
_SPARSE = 4
_HOLDS_S = 2.5
"""Nobody holds a piece still over a square for longer."""
_FIDGETS_S = 10.0
"""Nor so long while the fingers move beside it."""
_CALM_S = 1.0
"""What has lain still beside the board for so long belongs there."""
_KEEP_S = 0.5
"""How often it is looked at whether it does."""
_OTHER_SHARE = 0.1
"""What lies beside a square is not what was known when so much of it has changed."""
_VISITED_SHARE = 0.5
"""Something that does not belong there lies across a side of a square when so much of what is beyond has changed."""
_OUTER = 7
"""So wide is the edge of the view, in pixels: a third of the margin."""
_GONE_SHARE = 0.8
"""It has left when it covers less than so much of what it did when the square moved last."""
_STIRS_SHARE = 0.2
"""It has moved when so much of that has changed, however slowly."""
_SPOILT_SHARE = 0.3
"""When so much of most of what lies around the board has changed, what was known of it is worth nothing."""
_LOGARITHMS = logarithms(_DARK_LEVELS)


def difference(now: Grey, before: Grey, *, every: int = 1) -> tuple[Grey, float]:
    """By how much each pixel differs, but for what a lamp or a cloud changes all alike, and what is more than noise.

    Both are judged by every so many pixels, in every so many rows.
    """
    some = (slice(None, None, every),) * now.ndim
    by = now - before
    by -= middle(by[some])
    size = np.abs(by)
    return size, max(_LEAST_CHANGE, _NOISE_FACTOR * float(middle(size[some])))


def _share(flags: NDArray[np.bool_]) -> float:
    """Of how many it is true; many times as quick as their mean."""
    return int(np.count_nonzero(flags)) / flags.size


class Motion:
    """What moves on a board, and what is not as it was when it was last recognised; for a board seen from above."""

    def __init__(self, layout: Layout) -> None:
        self._squares = [_region(layout, i, -_BLUR_REACH) for i in range(len(layout))]
        self._patches = [_region(layout, i, (PATCH - SQUARE) // 2) for i in range(len(layout))]
        self._touching = layout.geometry.touching
        self._rim = Rim(layout)
        self._last: Grey | None = None
        self._swaying = [_Swaying() for _ in range(len(layout))]
        self._kept: list[Grey] = []
        """Each square's patch as it was when it was last recognised."""

    def see(self, time: float, top_view: NDArray[np.uint8]) -> tuple[list[bool], Floats]:
        """Which squares move, and how much of each has changed since `keep`, from 0 to 1; `time` is source seconds."""
        grey = cv2.GaussianBlur(cv2.cvtColor(top_view, cv2.COLOR_BGR2GRAY), (0, 0), 1.5).astype(np.int16)
        moves, changes, least = [False] * len(self._squares), np.ones(len(self._patches)), _LEAST_CHANGE
        if self._last is not None:
            size, least = difference(grey, self._last, every=_SPARSE)
            moving = size > least
            moves = [_share(moving[region]) > _MOVING_SHARE for region in self._squares]
            moves = self._but_for_light(time, grey, moves)
            self._rim.see(time, grey, moving, moves)
        if self._kept:
            pairs = zip(self._patches, self._kept, strict=True)
            changes = np.array([_share(np.abs(grey[region] - kept) > least) for region, kept in pairs])
        self._last = grey
        return moves, changes

    @property
    def held(self) -> list[int]:
        """The squares at rest over which a hand may be that holds what is seen there."""
        return self._rim.held

    def forget(self) -> None:
        """What was seen around the board is no longer where it was."""
        self._rim.forget()
        self._swaying = [_Swaying() for _ in self._swaying]

    def _but_for_light(self, time: float, grey: Grey, moves: list[bool]) -> list[bool]:
        """Which of the squares that move bear more than light that has swayed there for some time."""
        if self._last is None or not any(moves):
            return moves
        ratio = np.take(_LOGARITHMS, grey) - np.take(_LOGARITHMS, self._last)
        edges = np.abs(ratio - cv2.blur(ratio, (_SOFT, _SOFT)))
        edged = sum(1 << i for i, now in enumerate(moves) if now and _has_an_edge(ratio, edges, self._squares[i]))
        light = [
            each.see(time, moves=now, edged=bool(edged & (self._touching[i] | 1 << i)))
            for i, (each, now) in enumerate(zip(self._swaying, moves, strict=True))
        ]
        return [now and not only for now, only in zip(moves, light, strict=True)]

    def keep(self, squares: list[int]) -> None:
        """Take what was seen last of these squares for what is known."""
        if self._last is None:
            return
        self._kept = self._kept or [self._last[region] for region in self._patches]
        for i in squares:
            self._kept[i] = self._last[self._patches[i]]


def _has_an_edge(ratio: Floats, edges: Floats, square: tuple[slice, slice]) -> bool:
    """Whether what has changed a square, by the logarithms `ratio`, stands out from what is next to it by `edges`."""
    edge = ranked(edges[square], _MOST_OF_IT)
    return edge > _EDGE or edge > max(_FAINT_EDGE, _FAINT_EDGE_SHARE * ranked(np.abs(ratio[square]), _MOST_OF_IT))


@dataclass
class _Swaying:
    """What moves on a square, if it is light."""

    began: float = np.inf
    """Since when nothing with an edge has."""
    moved: float = -np.inf

    def see(self, time: float, *, moves: bool, edged: bool) -> bool:
        """Whether what moves there now, with an edge or without, is known to be light."""
        if edged or time - self.moved > _FORGOTTEN_S:
            self.began = np.inf
        if moves:
            self.moved = time
            self.began = min(self.began, time)
        return time - self.began >= _LIGHT_S


@dataclass
class _Stopped:
    """When a square moved last."""

    moved: float
    stirred: float
    """And something beside it."""
    around: Grey
    """What was around the board then."""
    strange: Floats
    """How much of each cell was strange then; see `Rim._strange`. Nothing while the square moves."""


class Rim:
    """What lies around the squares of a board, in cells: one for each place where a square's neighbour would be."""

    def __init__(self, layout: Layout) -> None:
        labels, self._beside, self._beyond = _cells_around(layout)
        self._pixels = np.argsort(labels, axis=None, kind="stable")[np.count_nonzero(labels < 0) :]
        self._cells = labels.reshape(-1)[self._pixels]
        """The cell of each pixel: cell by cell, so that a cell's pixels are counted in one go."""
        self._sizes = np.bincount(self._cells)
        self._begins = np.cumsum(self._sizes) - self._sizes
        outer = np.ones(labels.shape, np.bool_)
        outer[_OUTER:-_OUTER, _OUTER:-_OUTER] = False
        self._outer = outer.reshape(-1)[self._pixels]
        """Which pixels are at the edge of the view."""
        self._outer_sizes = self._counts(self._outer)
        self.forget()

    def forget(self) -> None:
        """Nothing is known of what lies there."""
        self.held: list[int] = []
        """The squares at rest beside which something is that does not belong there, and has not left since."""
        self._known: Grey | None = None
        """What belongs there, `(2, pixels)`: what lay still last, and what did before."""
        self._is_known = np.zeros((2, len(self._sizes)), np.bool_)
        """Of which cells that is known."""
        self._moved, self._kept = np.full(len(self._sizes), np.inf), -np.inf
        self._stopped: dict[int, _Stopped] = {}
        """The squares that have moved; not if what moved them has left."""

    def see(self, time: float, grey: Grey, moving: NDArray[np.bool_], moves: list[bool]) -> None:
        """Take the next view, in which these pixels and these squares are `moving`."""
        around = grey.reshape(-1)[self._pixels]
        if self._known is None:
            self._known = np.stack([around, around])
        moves_around = self._shares(moving.reshape(-1)[self._pixels]) > _MOVING_SHARE
        self._moved = np.where(moves_around, time, np.minimum(self._moved, time))
        self._stopped |= {
            i: _Stopped(time, time, around, np.empty(0))
            for i, moves_now in enumerate(moves)
            if moves_now and self._beside[i].size
        }
        self.held, at_rest = [], [i for i, stopped in self._stopped.items() if stopped.moved < time]
        if at_rest:
            strange = self._strange(around, self._known)
            if just_now := [self._stopped[i] for i in at_rest if not self._stopped[i].strange.size]:
                then = self._strange(just_now[0].around, self._known)  # all of them moved in the view before
                for stopped in just_now:
                    stopped.strange = then
            self.held = [i for i in at_rest if self._is_held(i, time, around, strange)]
            for i in set(at_rest) - set(self.held):
                del self._stopped[i]
        if time - self._kept >= _KEEP_S:
            self._keep(time, around, self._known)

    def _is_held(self, square: int, time: float, around: Grey, strange: Floats) -> bool:
        """Whether something `strange` lies across a side of the square, and did when the square came to rest."""
        stopped, beside = self._stopped[square], self._beside[square]
        across, then = (self._across(square, each) for each in (strange, stopped.strange))
        if across <= max(_VISITED_SHARE, _GONE_SHARE * then) or time - stopped.moved > _FIDGETS_S:
            return False
        if np.median(np.delete(strange[0], beside)) > _SPOILT_SHARE:
            return False
        if self._changes(around, stopped.around)[beside].max() > _STIRS_SHARE:
            stopped.stirred, stopped.around = time, around
        return bool(time - stopped.stirred <= _HOLDS_S)

    def _across(self, square: int, strange: Floats) -> float:
        """How much of what is beyond a side of the square is `strange`, if that comes from beyond the view.

        A tall piece leans out over the side that is away from the camera, but no farther.
        """
        whole, outer = strange
        return float(min(whole[self._beyond[square]].max(initial=0.0), outer[self._beside[square]].max(initial=0.0)))

    def _strange(self, around: Grey, known: Grey) -> Floats:
        """How much of each cell is nothing that belongs there, from 0 to 1; 0 where that is not known, `(2, cells)`.

        First of the whole cell, then of its pixels at the edge of the view; of the whole again where it has none there.
        """
        sizes, leasts = zip(*(difference(around, layer) for layer in known), strict=True)
        changes = np.array([self._wholes_and_edges(size > min(leasts)) for size in sizes])
        return np.asarray(np.where(self._is_known[:, None], changes, 1.0).min(axis=0) * self._is_known[0])

    def _wholes_and_edges(self, flags: NDArray[np.bool_]) -> Floats:
        wholes, edges = self._shares(flags), self._counts(flags & self._outer)
        return np.stack([wholes, np.divide(edges, self._outer_sizes, out=wholes.copy(), where=self._outer_sizes > 0)])

    def _keep(self, time: float, around: Grey, known: Grey) -> None:
        """Take what has lain still for long for what belongs there; beside a piece that may be held it does not.

        What is not seen now is darker or lighter by as much as the rest is.
        """
        calm = time - self._moved >= _CALM_S
        for i in self._stopped:
            calm[self._beside[i]] = False
        other = calm & (self._changes(around, known[0]) > _OTHER_SHARE)
        np.copyto(known[1], known[0], where=other[self._cells])
        known[0] += middle(around - known[0])
        np.copyto(known[0], around, where=calm[self._cells])
        self._is_known[1] |= other & self._is_known[0]
        self._is_known[0] |= calm
        self._kept = time

    def _changes(self, now: Grey, before: Grey) -> Floats:
        """How much of each cell has changed, from 0 to 1."""
        size, least = difference(now, before)
        return self._shares(size > least)

    def _shares(self, flags: NDArray[np.bool_]) -> Floats:
        return self._counts(flags) / self._sizes

    def _counts(self, flags: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Of how many of each cell's pixels it is true."""
        return np.asarray(np.add.reduceat(flags, self._begins, dtype=np.intp))


def _cells_around(layout: Layout) -> tuple[NDArray[np.intp], list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """The cell of each pixel of the top view, -1 on a square; those next to each square; those beyond its sides."""
    at = [(layout.rows - square.row, square.column + 1) for square in layout.squares]
    free = np.ones((layout.rows + 2, layout.columns + 2), np.bool_)
    free[tuple(np.transpose(at))] = False
    numbers = np.where(free, free.cumsum().reshape(free.shape) - 1, -1)
    heights, widths = ([MARGIN, *[SQUARE] * count, MARGIN] for count in (layout.rows, layout.columns))
    around = [numbers[row - 1 : row + 2, column - 1 : column + 2] for row, column in at]
    beyond = [block[(0, 1, 1, 2), (1, 0, 2, 1)] for block in around]
    beside, across = ([some[some >= 0] for some in cells] for cells in (around, beyond))
    return numbers.repeat(heights, axis=0).repeat(widths, axis=1), beside, across


def _region(layout: Layout, index: int, around: int) -> tuple[slice, slice]:
    """The pixels of one square in the top view, and so many around it."""
    square = layout.squares[index]
    x = MARGIN + square.column * SQUARE
    y = MARGIN + (layout.rows - 1 - square.row) * SQUARE
    return slice(y - around, y + SQUARE + around), slice(x - around, x + SQUARE + around)
