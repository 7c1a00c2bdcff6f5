"""The pieces that lie beside the board show what the set looks like: a large ring is large beside a small one.

The recogniser that reads the squares finds them, too: what it takes for a piece in a window of the table, and in the
windows around that one, is a piece, and lies in their middle. What kind it is is not asked; its embedding stands beside
those of the squares when they are judged (`companion.vision.context`), as that of a piece on another square would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import cv2
import numpy as np

from companion.vision.rectify import PATCH, SQUARE, margin_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from companion.rules import Layout
    from companion.vision.pieces import Tone

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

BESIDE = 144
"""A margin of top views that shows the pieces beside the board, if their middles lie within 2.7 squares of its edge."""
_PITCH = 12
"""From one window to the next, in pixels of the top view."""
_CLEAR = 12
"""So far from the board's edge the middle of a piece beside it is at least."""
_APART = 26
"""Two pieces do not lie nearer to each other than this."""
_SURELY = 0.95
_LEAST_AROUND = 3.0
"""So many of the nine windows around a piece show it."""
_AT_ONCE = 64
_MIDDLE = slice((PATCH - SQUARE) // 2, (PATCH + SQUARE) // 2)
_PLAIN = 6.0
"""Where colours vary by less than this, in grey levels, there is no piece."""
_UNSEEN = 0.15
"""A window of which the picture does not show so much is left out."""
_PIECES = slice(1, -1)
"""The columns of pieces among a recogniser's probabilities."""


class Judging(Protocol):
    """What tells pieces from what is none; see `companion.vision.reader.Recogniser`."""

    def embed(self, patches: Image, tone: Tone) -> Floats:
        """An embedding for each patch."""
        ...

    def judge(self, embeddings: Floats) -> Floats:
        """Probabilities from embeddings: empty first, covered last."""
        ...


def find_spares(judging: Judging, top_view: Image, layout: Layout, away: int, tone: Tone, squares: Floats) -> Floats:
    """The embeddings `(n, length)` of the pieces beside the board, of which there may be none.

    They are searched for as far as `top_view` goes (see `BESIDE`). `away` is as for `companion.vision.rectify.patches`,
    and `squares` are the embeddings of the board's squares.
    """
    unseen = np.asarray(top_view.max(axis=2) == 0)
    windows = [
        spot
        for spot in _windows(top_view, layout)
        if _cut(unseen, spot).mean() <= _UNSEEN and _may_show_a_piece(_cut(top_view, spot))
    ]
    if not windows:
        return squares[:0]
    shares = of_a_piece(judging, embedded(judging, top_view, windows, away, tone), squares)
    middles = _middles(np.array(windows), shares)
    if not middles:
        return squares[:0]
    found = embedded(judging, top_view, middles, away, tone)
    return found[of_a_piece(judging, found, squares) > _SURELY]


def _windows(top_view: Image, layout: Layout) -> Iterator[tuple[int, int]]:
    """The left upper corners, x and y, of patches all over the table, but for those whose middle is on the board."""
    height, width = top_view.shape[:2]
    board = np.array([layout.columns, layout.rows]) * SQUARE
    margin = margin_of(top_view, layout)
    for y in range(0, height - PATCH + 1, _PITCH):
        for x in range(0, width - PATCH + 1, _PITCH):
            middle = np.array([x, y]) + PATCH / 2 - margin
            if (middle <= -_CLEAR).any() or (middle >= board + _CLEAR).any():
                yield x, y


def _may_show_a_piece(window: Image) -> bool:
    """Whether it is more than a plain stretch of the table."""
    _, spread = cv2.meanStdDev(window[_MIDDLE, _MIDDLE])
    return bool(spread.mean() >= _PLAIN)


def _cut(top_view: NDArray[Any], spot: tuple[int, int]) -> NDArray[Any]:
    x, y = spot
    return top_view[y : y + PATCH, x : x + PATCH]


def embedded(judging: Judging, top_view: Image, spots: list[tuple[int, int]], away: int, tone: Tone) -> Floats:
    """The embeddings `(n, length)` of patches anywhere in a top view; `spots` are their left upper corners, x and y."""
    cut = [np.rot90(_cut(top_view, spot), away) for spot in spots]
    parts = [np.stack(cut[i : i + _AT_ONCE]) for i in range(0, len(cut), _AT_ONCE)]
    return np.concatenate([judging.embed(np.ascontiguousarray(part), tone) for part in parts])


def of_a_piece(judging: Judging, windows: Floats, squares: Floats) -> Floats:
    """How surely each window shows a piece, `(n,)`, judged with some others beside the squares."""
    parts = [windows[i : i + _AT_ONCE] for i in range(0, len(windows), _AT_ONCE)]
    judged = np.concatenate([judging.judge(np.concatenate([squares, part]))[len(squares) :] for part in parts])
    return np.asarray(judged[:, _PIECES].sum(axis=1), np.float32)


def _middles(windows: NDArray[np.int64], shares: Floats) -> list[tuple[int, int]]:
    """The left upper corners of patches with a piece in their middle: where most of the windows around show one."""
    around = np.abs(windows[:, None] - windows[None]).max(axis=2) <= _PITCH
    together = (around * shares).sum(axis=1)
    found: list[NDArray[np.float64]] = []
    for i in np.argsort(-together, kind="stable"):
        if together[i] < _LEAST_AROUND:
            break
        weights = around[i] * shares
        middle = (windows * weights[:, None]).sum(axis=0) / weights.sum()
        if all(np.abs(middle - other).max() >= _APART for other in found):
            found.append(middle)
    return [(int(x), int(y)) for x, y in np.round(found)]
