"""Pieces astride the line between two squares: each of the squares shows half of one, and may look bare.

Of 56 drawn ones, 0.35 to 0.65 squares off the middle of the one square, both squares looked bare in three, and both
might have been in 23; in the others a piece was surely seen on one of them. A look at the line itself tells: a piece
lies in the middle of that patch as it does on a square. For which of the two squares it is meant nobody can tell, nor
whether a hand still holds it: so the two are hidden until it is moved. What lies there from the beginning is not told
from a board whose lines look like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from companion.readings import EMPTY
from companion.vision.rectify import margin_of, patch_corners
from companion.vision.spares import embedded, of_a_piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.rules import Layout
    from companion.vision.pieces import Tone
    from companion.vision.spares import Judging

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

_SURELY = 0.98
"""How likely it is that there is a piece. Of 56 drawn ones that lay 0.35 to 0.65 squares off 55 had more than 0.99, and
one was taken for a hand; of 562 lines between two bare squares, none of which had a piece, four had more than 0.95 and
none more than 0.99."""
_LIKE_A_PIECE = 0.5
"""If one of a board's lines looks so likely like a piece at first, as where each square has a frame, no line tells."""


class Astride:
    """Where pieces lie across a line between two squares that may be bare, as far as was looked."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        beside = ((a, b) for a, b in np.ndindex(len(layout), len(layout)) if _share_a_side(layout, a, b))
        self._pairs = np.array(list(beside), np.intp).reshape(-1, 2)
        """Each line's two squares."""
        self._new = np.ones(self._pairs.shape, np.bool_)
        """Whether they have changed since the line was looked at."""
        self._across = np.zeros(len(self._pairs), np.bool_)
        self._looked_at = self._across.copy()
        """Whether the line was looked at before."""
        self._tells = True
        """Whether bare lines of this board look bare."""

    def changed(self, squares: NDArray[np.bool_]) -> None:
        """These squares `(n,)` are not as they were; a piece that is laid across a line changes both."""
        self._new |= squares[self._pairs]

    def halves(self, seen: Sequence[Contents]) -> NDArray[np.bool_]:
        """On which squares `(n,)`, of what was `seen` there, half a piece lies that was not."""
        half = np.zeros(len(self._layout), np.bool_)
        half[self._pairs[self._across & self._between_bare(seen)]] = True
        return half

    def due(self, at_rest: NDArray[np.bool_], seen: Sequence[Contents]) -> list[int]:
        """The lines to look at: between squares at rest `(n,)` that may be bare, as `seen`, and have changed since."""
        new = self._tells & np.where(self._across, self._new.any(axis=1), self._new.all(axis=1))
        return np.flatnonzero(new & self._between_bare(seen) & at_rest[self._pairs].all(axis=1)).tolist()

    def _between_bare(self, seen: Sequence[Contents]) -> NDArray[np.bool_]:
        """Of which lines both squares may be bare."""
        bare = np.array([bool(contents & EMPTY) for contents in seen])
        return np.asarray(bare[self._pairs].all(axis=1))

    def look(self, lines: list[int], judging: Judging, top_view: Image, away: int, tone: Tone, squares: Floats) -> None:
        """Look whether pieces lie across these lines.

        `away` and `tone` are those of the squares' patches, and `squares` their embeddings, `(n, length)`.
        """
        corners = patch_corners(self._layout, margin_of(top_view, self._layout))[self._pairs[lines]].mean(axis=1)
        spots = [(int(x), int(y)) for x, y in np.round(corners)]
        seen = embedded(judging, top_view, spots, away, tone)
        likely = np.concatenate([of_a_piece(judging, line[None], squares) for line in seen])
        self._tells &= not (likely[~self._looked_at[lines]] > _LIKE_A_PIECE).any()
        self._across[lines] = (likely > _SURELY) & self._looked_at[lines] & self._tells
        self._looked_at[lines], self._new[lines] = True, False


def _share_a_side(layout: Layout, a: int, b: int) -> bool:
    """Whether square `b` lies to the right of square `a`, or above it."""
    one, other = layout.squares[a], layout.squares[b]
    return (other.row - one.row, other.column - one.column) in {(0, 1), (1, 0)}
