"""What a picture shows too badly to be read, however sure the recogniser is: it never learnt from such pictures.

Blurred by a twelfth of a square, light pieces pass for bare wood; in glare, marks are gone. So both are found first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from companion.readings import ANYTHING
from companion.saying import Saying
from companion.vision.levels import BURNT, darkest, ranked
from companion.vision.rectify import PATCH, SQUARE, margin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.rules import Layout

    Floats = NDArray[np.floating[Any]]

BLURRED = Saying("the picture is too blurred to tell pieces; focus the camera, clean its lens, and keep it still")
_LEAST_SHARPNESS = 0.14
"""Below this too much is told wrongly: steps are soft by about a fourteenth of a square, as a standard deviation."""
_MOST_BURNT = 0.6
"""A square of which more is burnt out may hold anything."""
_REACH = 15
"""How wide a step may be, in pixels."""
_AROUND = _REACH // 2 + 1
"""So much around the board is looked at, too."""
_MUCH_LOWER = 0.3
"""Steps that are lower than so much of those elsewhere on the board tell nothing."""
_HIGHEST = 0.9
"""The share of the places that are passed over, as there are higher steps."""
_HALF = 0.5
_LEAST_STEP = 4.0
"""Lower steps, in grey levels, are noise."""
_NOISE = 0.7
_SPARSE = 2
"""Every so many rows are looked at, and columns."""
_GLARE = 235
"""From this level of the darkest channel on a place is in glare, which shades off softly however sharp the picture."""
_SHADES_OFF = 0.6
"""So far, in squares."""
_MANY = 0.75
_SURELY_SHARP = 0.4
"""Beside a glare more than a quarter of what tells has to be as sharp as this: so sharp is hardly what is blurred."""


def blurred(top_view: NDArray[np.uint8], layout: Layout) -> NDArray[np.bool_]:
    """Of which squares `(n,)` too little can be told on a top view, as `rectify` gives it, as it is blurred or shaken.

    Of all, if the board is; else of those in blocks of two by two that are. A block with low steps only tells nothing.
    What seems soft is looked at again without what may be a glare.
    """
    steps = _steps(top_view, layout)
    soft = _soft_squares(steps, layout)
    if not soft.any():
        return soft
    dark = np.asarray(darkest(_board(top_view, layout)) < _GLARE, np.uint8)
    glare = cv2.distanceTransform(dark, cv2.DIST_L2, cv2.DIST_MASK_3) < _SHADES_OFF * SQUARE
    across, up = (each._replace(glare=_where_steps_are(way)) for each, way in zip(steps, _ways(glare), strict=True))
    return _soft_squares((across, up), layout)


def _soft_squares(steps: tuple[_Steps, _Steps], layout: Layout) -> NDArray[np.bool_]:
    if any(map(_is_soft, steps)):
        return np.ones(len(layout), np.bool_)
    blocks = np.zeros(((layout.rows + 1) // 2, (layout.columns + 1) // 2), np.bool_)
    for each, view in zip(steps, (blocks, blocks.T), strict=True):
        parts = [[each.block(down, right) for right in range(view.shape[1])] for down in range(len(view))]
        high_enough = _MUCH_LOWER * max(_judged(part)[1] for row in parts for part in row)
        view |= [[_is_soft(part, high_enough) for part in row] for row in parts]
    return np.array([blocks[(layout.rows - 1 - square.row) // 2, square.column // 2] for square in layout.squares])


def shows_nothing(top_view: NDArray[np.uint8], layout: Layout) -> bool:
    """Whether a top view is blurred everywhere, or plainer than any board."""
    steps = _steps(top_view, layout)
    return _sharpness(steps) < _LEAST_SHARPNESS or all(_judged(each)[1] <= _LEAST_STEP for each in steps)


def sharpness(top_view: NDArray[np.uint8], layout: Layout) -> float:
    """How much of a step is climbed from one pixel to the next, where the steps on the board are highest.

    The median, from 0 to 1, less half of what the board rises by anywhere; of steps across and steps up the less, as
    what is shaken is blurred in one direction. 1 if there are no steps that could tell.
    """
    return _sharpness(_steps(top_view, layout))


class _Steps(NamedTuple):
    """What rises from left to right, and a little around the board also above and below it."""

    height: Floats
    """Of the highest step around every second pixel of every second row."""
    rise: Floats
    """The most of it that is climbed from one pixel to the next."""
    glare: NDArray[np.bool_]
    """Where it may be that of a glare, which is soft; nowhere, as long as nobody has looked."""

    def beyond_glare(self) -> _Steps:
        """Those that are none of a glare."""
        clear = ~self.glare
        return _Steps(self.height[clear], self.rise[clear], self.glare[clear])

    def block(self, down: int, right: int) -> _Steps:
        """Those of so manieth two squares by two."""
        side = 2 * SQUARE
        rows = slice(down * side // _SPARSE, ((down + 1) * side + 2 * _AROUND) // _SPARSE)
        columns = slice(right * side // _SPARSE, (right + 1) * side // _SPARSE)
        return _Steps(self.height[rows, columns], self.rise[rows, columns], self.glare[rows, columns])


def _steps(top_view: NDArray[np.uint8], layout: Layout) -> tuple[_Steps, _Steps]:
    """Across; and up, on its side."""
    grey = np.asarray(cv2.cvtColor(_board(top_view, layout), cv2.COLOR_BGR2GRAY), np.float32)
    across, up = _ways(np.asarray(cv2.GaussianBlur(grey, (0, 0), _NOISE), np.float32))
    return _steps_across(across), _steps_across(up)


def _board(top_view: NDArray[np.uint8], layout: Layout) -> NDArray[np.uint8]:
    """The part of a top view that is looked at."""
    board = slice((without := margin_of(top_view, layout) - _AROUND), -without)
    return top_view[board, board]


def _ways(plane: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows of a plane that are looked at; and its columns, on their side."""
    return plane[::_SPARSE], np.ascontiguousarray(plane[:, ::_SPARSE].T)


def _steps_across(grey: Floats) -> _Steps:
    whole, within = np.ones((1, _REACH), np.uint8), np.ones((1, _REACH - 1), np.uint8)
    height = _where_steps_are(np.asarray(cv2.dilate(grey, whole) - cv2.erode(grey, whole), np.float32))
    rises = np.asarray(cv2.absdiff(grey[:, 1:], grey[:, :-1]), np.float32)
    rise = (cv2.dilate(rises, within) - ranked(rises, _HALF) / 2)[:, _REACH // 2 :: _SPARSE][:, : height.shape[1]]
    return _Steps(height, rise, np.zeros(height.shape, np.bool_))


def _where_steps_are(rows: NDArray[Any]) -> NDArray[Any]:
    """Of rows that are looked at the places around which a whole step has room, but for those that are passed over."""
    return rows[:, _REACH // 2 : -(_REACH // 2) - 1 : _SPARSE]


def _sharpness(steps: tuple[_Steps, _Steps]) -> float:
    return min(_judged(each)[0] for each in steps)


def _is_soft(steps: _Steps, high_enough: float = 0.0) -> bool:
    """Whether the highest steps are high enough to tell, and soft: beyond a glare, if that leaves any that tell."""
    sharp, high = _judged(steps)
    if sharp >= _LEAST_SHARPNESS or high < high_enough:
        return False
    beyond = steps.beyond_glare()
    telling = beyond.height >= max(_MUCH_LOWER * high, _LEAST_STEP)
    if not telling.any() or _judged(beyond)[0] < _LEAST_SHARPNESS:
        return True
    return ranked(beyond.rise[telling] / beyond.height[telling], _MANY) < _SURELY_SHARP


def _judged(steps: _Steps) -> tuple[float, float]:
    """How sharp the highest steps are, and how high."""
    least = max(ranked(steps.height, _HIGHEST), _LEAST_STEP)
    high = steps.height >= least
    return max(ranked(steps.rise[high] / steps.height[high], _HALF), 0.0) if high.any() else 1.0, least


def burnt_out(patches: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which squares `(n,)` glare has burnt out, of which these are the patches, `(n, PATCH, PATCH, 3)`."""
    inside = slice((PATCH - SQUARE) // 2, (PATCH + SQUARE) // 2)
    burnt = darkest(patches[:, inside, inside]) >= BURNT
    return np.asarray(np.count_nonzero(burnt, axis=(1, 2)) > _MOST_BURNT * SQUARE**2)


def but_for(unseen: Iterable[object], squares: Sequence[Contents]) -> tuple[Contents, ...]:
    """What the squares may hold: anything, where these flags tell that they are not seen."""
    return tuple(ANYTHING if gone else contents for gone, contents in zip(unseen, squares, strict=True))
