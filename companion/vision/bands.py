"""The bands that roll over a picture whose rows are taken one after the other, under a lamp that flickers.

Lamps on the mains go bright and dark a hundred times a second or more, and a camera that lights its rows for less long
sees that as bright and dark bands across the picture, elsewhere in every frame. Each row is lit alike, so what all of a
row differs by from how it usually is, and the other rows do not, is that, and is taken away.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.vision.levels import BURNT, darkest, logarithms, middle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

_ROWS = 2
"""So many rows are taken for one."""
_COLUMNS = 40
"""And so many of their pixels are looked at."""
_BLACKEST = 4.0
"""Grey levels that are added, so that what is all but black does not count."""
_LEVELS = np.arange(256, dtype=np.float32)
_LOGARITHMS = logarithms(_BLACKEST)
_OUTSIDE = np.array([np.inf, -np.inf], np.float32)
"""What tells nothing is put above the median and below it, by turns."""
_LEAST = 0.02
"""Bands by which most rows differ by less than this part disturb nobody."""
_MOST = 0.7
"""No band is this much brighter or darker, as a logarithm: half as bright. Something dark may lie across such a row."""
_FEWEST = 0.5
"""So large a share of the rows has to tell."""
_MOST_BANDS = 14
"""What differs from row to row more often than so many times in a picture are the stripes of a cloth that has moved."""
_LEFT = 0.5
"""There are bands if without them no more is left than this part of what most pixels differ by."""
_USUAL_S = 2.0
"""In this time what is usual follows what is seen."""
_LASTING_S = 1.0
"""A lamp does not flicker for a moment only: in most of the frames of so long there were bands, or none is there."""
_SWAYS_S = 2.0
"""If all of the picture lay higher or lower than usual, its stripes look like bands for so long."""
_REACH = 8
"""By so many of the rows that are looked at, at most."""
_BETTER = 0.9
"""It does if it fits so much better there."""
_LONGEST_S = 1.0
"""Pictures that lie further apart do not follow each other."""


class Bands:
    """Takes the bands away that roll over the pictures of one camera, which follow each other."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] = ()
        """Of the picture before."""
        self._usual: Floats = np.empty((0, 0))
        """What every row usually shows, `(rows, columns)`, as logarithms."""
        self._time = 0.0
        self._frames = 1
        self._lasting = 0.0
        """In what share of the frames before there were bands, the last ones most."""
        self._swayed = -math.inf
        """When all of the picture last lay higher or lower than usual."""

    def without(self, image: Image, time: float) -> Image:
        """The BGR picture `image`, taken at `time` (source seconds), as it would be without them.

        It is the picture itself unless there were bands in most pictures of the last second, or of what there was of
        it. What is burnt out stays so. The rows of a picture that is higher than wide are taken to be its columns, as
        its camera is on its side.
        """
        stands = image.shape[0] > image.shape[1]
        lying = image.transpose(1, 0, 2) if stands else image
        levels = darkest(lying[::_ROWS, :: max(1, lying.shape[1] // _COLUMNS)])
        seen = _LOGARITHMS[levels]
        since, self._time = time - self._time, time
        if self._shape != image.shape or not 0 <= since <= _LONGEST_S:
            self._shape, self._usual, self._frames, self._lasting = image.shape, seen, 1, 0.0
            self._swayed = -math.inf
            return image
        if len(seen) < 4 * _REACH:
            return image
        self._frames += 1
        differs = seen - self._usual
        usual, self._usual = self._usual, self._usual + np.float32(-np.expm1(-since / _USUAL_S)) * differs
        bands = _bands(differs, levels >= BURNT)
        if bands is not None and _is_elsewhere(seen, usual):
            self._swayed = time
        if time - self._swayed < _SWAYS_S:
            bands = None
        self._lasting += ((bands is not None) - self._lasting) * max(-math.expm1(-since / _LASTING_S), 1 / self._frames)
        if bands is None or self._lasting <= 1 / 2:
            return image
        return _transposed(_evened(_transposed(image), bands)) if stands else _evened(image, bands)


def _transposed(image: Image) -> Image:
    return np.asarray(cv2.transpose(image), np.uint8)


def _evened(image: Image, bands: Floats) -> Image:
    """The picture, each of whose rows is brighter by these logarithms, one for so many of them, as if none were."""
    levels = (_LEVELS + _BLACKEST) * np.exp(-bands)[:, None] - _BLACKEST
    levels = np.where(_LEVELS >= BURNT, _LEVELS, np.clip(np.rint(levels), 0, 255)).astype(np.uint8)
    evened = np.empty(image.shape, np.uint8)
    for i, each in enumerate(levels):
        rows = slice(i * _ROWS, (i + 1) * _ROWS)
        cv2.LUT(image[rows], each, evened[rows])
    return evened


def _bands(differs: Floats, burnt: NDArray[np.bool_]) -> Floats | None:
    """By how much each row is brighter, as a logarithm, `(rows,)`; nothing if all do alike, or their pixels do not.

    Pixels that are burnt out tell nothing. A row of such pixels, or one that differs too much, is as those beside it
    are.
    """
    if burnt.any():
        differs = np.where(burnt, np.resize(_OUTSIDE, differs.shape), differs)
    rows = middle(differs, axis=1)
    overall = middle(rows)
    known = np.flatnonzero(np.abs(rows - overall) < _MOST) if np.isfinite(overall) else np.empty(0)
    if known.size < _FEWEST * len(rows):
        return None
    rows = np.interp(np.arange(len(rows)), known, rows[known])
    unlike = rows - middle(rows)
    if middle(np.abs(unlike)) < _LEAST:
        return None
    waves = np.square(np.abs(np.fft.rfft(rows - rows.mean())))
    if waves[_MOST_BANDS + 1 :].sum() > waves.sum() / 2:
        return None
    left = middle(np.abs(differs - rows[:, None]))
    return rows if left < _LEFT * middle(np.abs(differs - overall)) else None


def _is_elsewhere(seen: Floats, usual: Floats) -> bool:
    """Whether the picture lies some rows above or below where it usually does.

    That is told by what the pixels of a row differ from each other by, which no band changes.
    """
    now, before = np.diff(seen, axis=1), np.diff(usual, axis=1)[_REACH:-_REACH]
    unlike = [float(np.abs(now[by : by + len(before)] - before).mean()) for by in range(2 * _REACH + 1)]
    return min(unlike) < _BETTER * unlike[_REACH]
