"""The bands that roll over a picture whose rows are taken one after the other, under a lamp that flickers.

Lamps on the mains go bright and dark a hundred times a second or more, and a camera that lights its rows for less long
sees that as bright and dark bands across the picture, elsewhere in every frame. Each row is lit alike, so what all of a
row differs by from how it usually is, and the other rows do not, is that, and is taken away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.vision.levels import darkest, middle

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
_LOGARITHMS = np.log(np.arange(256) + _BLACKEST).astype(np.float32)
_BURNT = 250
"""From this level on a pixel may have been brighter than it shows."""
_OUTSIDE = np.array([np.inf, -np.inf], np.float32)
"""What tells nothing is put above the median and below it, by turns."""
_LEAST = 0.02
"""Bands by which most rows differ by less than this part disturb nobody."""
_MOST = 0.7
"""No band is this much brighter or darker, as a logarithm: half as bright."""
_LEFT = 0.5
"""There are bands if without them no more is left than this part of what most pixels differ by."""
_USUAL_S = 2.0
"""In this time what is usual follows what is seen."""
_LASTING_S = 1.0
"""A lamp does not flicker for a moment only: in most of the frames of so long there were bands, or none is there."""
_LONGEST_S = 0.5
"""Pictures that lie further apart tell no more than those that lie so far apart."""


class Bands:
    """Takes the bands away that roll over the pictures of one camera, which follow each other."""

    def __init__(self) -> None:
        self._usual: Floats | None = None
        """What every row usually shows, `(rows, columns)`, as logarithms."""
        self._time = 0.0
        self._frames = 1
        self._lasting = 0.0
        """In what share of the frames before there were bands, the last ones most."""

    def without(self, image: Image, time: float) -> Image:
        """The BGR picture `image`, taken at `time` (source seconds), as it would be without them.

        It is the picture itself unless bands have rolled over the pictures before. The rows of a picture that is higher
        than wide are taken to be its columns, as its camera is on its side.
        """
        lying = image if image.shape[1] >= image.shape[0] else image.transpose(1, 0, 2)
        levels = darkest(lying[::_ROWS, :: max(1, lying.shape[1] // _COLUMNS)])
        seen = _LOGARITHMS[levels]
        since, self._time = min(time - self._time, _LONGEST_S), time
        if self._usual is None or self._usual.shape != seen.shape:
            self._usual, self._frames, self._lasting = seen, 1, 0.0
            return image
        self._frames += 1
        differs = seen - self._usual
        self._usual += np.float32(-np.expm1(-since / _USUAL_S)) * differs
        bands = _bands(differs, levels >= _BURNT)
        self._lasting += ((bands is not None) - self._lasting) * max(-np.expm1(-since / _LASTING_S), 1 / self._frames)
        if bands is None or self._lasting < 1 / 2:
            return image
        evened = np.empty(lying.shape, np.uint8)
        for i, gain in enumerate(np.exp(-bands).tolist()):
            rows = slice(i * _ROWS, (i + 1) * _ROWS)
            cv2.convertScaleAbs(lying[rows], evened[rows], gain, _BLACKEST * (gain - 1))
        return evened if lying is image else np.ascontiguousarray(evened.transpose(1, 0, 2))


def _bands(differs: Floats, burnt: NDArray[np.bool_]) -> Floats | None:
    """By how much each row is brighter, as a logarithm, `(rows,)`; nothing if all do alike, or their pixels do not.

    Pixels that are burnt out tell nothing, and a row of such pixels is as the rows beside it are.
    """
    if burnt.any():
        differs = np.where(burnt, np.resize(_OUTSIDE, differs.shape), differs)
    rows = middle(differs, axis=1)
    known = np.flatnonzero(np.isfinite(rows))
    if not known.size:
        return None
    rows = np.interp(np.arange(len(rows)), known, rows[known])
    overall = middle(rows, axis=0)
    unlike = np.abs(rows - overall)
    if middle(unlike, axis=0) < _LEAST or unlike.max() > _MOST:
        return None
    left = middle(np.abs(differs - rows[:, None]))
    return rows if left < _LEFT * middle(np.abs(differs - overall)) else None
