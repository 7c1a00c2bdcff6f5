"""What a picture shows too badly to be read, however sure the recogniser is: it never learnt from such pictures.

Blurred by a twelfth of a square, light pieces pass for bare wood; in glare, marks are gone. So both are found first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.readings import ANYTHING
from companion.saying import Saying
from companion.vision.rectify import PATCH, SQUARE, margin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.rules import Layout

BLURRED = Saying("the picture is too blurred to tell pieces; focus the camera, clean its lens, and keep it still")
BURNT = 252
"""From this level on a channel may have been brighter than it shows."""
_LEAST_SHARPNESS = 0.14
"""Below this too much is told wrongly: steps are soft by about a fourteenth of a square, as a standard deviation."""
_MOST_BURNT = 0.6
"""A square of which more is burnt out may hold anything."""
_REACH = 15
"""How wide a step may be, in pixels."""
_HIGHEST = 0.9
"""The share of the places that are passed over, as there are higher steps."""
_LEAST_STEP = 4.0
"""Lower steps, in grey levels, are noise."""
_NOISE = 0.7
_SPARSE = 2
"""Every so many rows are looked at, and columns."""


def blurred(top_view: NDArray[np.uint8], layout: Layout) -> bool:
    """Whether too little can be told on a top view, as `rectify` gives it, because it is blurred or shaken."""
    return sharpness(top_view, layout) < _LEAST_SHARPNESS


def sharpness(top_view: NDArray[np.uint8], layout: Layout) -> float:
    """How much of a step is climbed from one pixel to the next, where the steps on the board are highest.

    The median, from 0 to 1, less half of what the board rises by anywhere; of steps across and steps up the less, as
    what is shaken is blurred in one direction. 1 if there are no steps that could tell.
    """
    board = slice((without := margin_of(top_view, layout) - _REACH // 2 - 1), -without)
    grey = np.asarray(cv2.cvtColor(top_view[board, board], cv2.COLOR_BGR2GRAY), np.float32)
    grey = np.asarray(cv2.GaussianBlur(grey, (0, 0), _NOISE), np.float32)
    return min(_sharpness_across(grey[::_SPARSE]), _sharpness_across(np.ascontiguousarray(grey[:, ::_SPARSE].T)))


def _sharpness_across(grey: NDArray[np.float32]) -> float:
    """The same of steps from left to right."""
    whole, within = np.ones((1, _REACH), np.uint8), np.ones((1, _REACH - 1), np.uint8)
    first, last = _REACH // 2, -(_REACH // 2) - 1
    height = (cv2.dilate(grey, whole) - cv2.erode(grey, whole))[:, first:last]
    rises = np.asarray(cv2.absdiff(grey[:, 1:], grey[:, :-1]))
    steepest = (cv2.dilate(rises, within) - np.median(rises) / 2)[:, first:][:, : height.shape[1]]
    high = height >= max(np.quantile(height, _HIGHEST), _LEAST_STEP)
    return float(np.median(steepest[high] / height[high]).clip(0)) if high.any() else 1.0


def burnt_out(patches: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which squares `(n,)` glare has burnt out, of which these are the patches, `(n, PATCH, PATCH, 3)`."""
    inside = slice((PATCH - SQUARE) // 2, (PATCH + SQUARE) // 2)
    burnt = patches[:, inside, inside].min(axis=3) >= BURNT
    return np.asarray(burnt.mean(axis=(1, 2)) > _MOST_BURNT)


def but_for(burnt: Iterable[object], squares: Sequence[Contents]) -> tuple[Contents, ...]:
    """What the squares may hold: anything, where they are burnt out."""
    return tuple(ANYTHING if gone else contents for gone, contents in zip(burnt, squares, strict=True))
