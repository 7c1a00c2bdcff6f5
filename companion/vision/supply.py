"""What a set of pieces allows: two of each kind and colour, so that a third dark pusher must be something else.

In one photograph this says much: with both dark pullers seen elsewhere, a dark ring that may be either is a pusher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from companion.readings import ALL_CONTENTS
from companion.rules import PIECES_PER_KIND_AND_SET

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Table = NDArray[np.float64]
    """One number for each way to have used up the supply: an axis a piece, from none to all of them."""

_CONTENTS: Final = len(ALL_CONTENTS)
_MOST_STATES: Final = 10_000
"""A larger table is not begun: nothing is concluded then."""
_NOTHING: Final = np.eye(1, _CONTENTS)
"""The shares of what uses nothing up."""
_HARDLY: Final = 1e-9
_MOSTLY: Final = 0.5
_DOUBTS: Final = (2, 4, 8, 16)
"""The odds between pieces are taken to the power of 1 by these, one after the other, until what was told may be."""
_POSSIBLE: Final = 1e-4
"""So likely has to be what keeps to the supply then. Sixteen pieces of which nothing is known are hardly more so."""
_NOTHING_IS_SURER: Final = 1e-12


def within_supply(probabilities: Floats, sets: int, *, doubting: bool = False) -> Floats:
    """Probabilities of each square's contents, given that the pieces are from `sets` sets.

    `probabilities` is `(n, contents)` in the order of `ALL_CONTENTS`, each square judged by itself; further columns
    are left as they are. The very array comes back if hardly any arrangement keeps to the supply, or more pieces are
    seen than there are: then other pieces lie there than was said; or if there are too many sets to count with. What
    is mostly covered says nothing of the others: what there may be besides is too little to use anything up.

    When `doubting`, hardly any arrangement means that some pieces were misread, and which piece each one is is believed
    less: as little less as lets some arrangement be.
    """
    most = PIECES_PER_KIND_AND_SET * sets
    if (most + 1) ** (_CONTENTS - 1) > _MOST_STATES:
        return probabilities
    judged = probabilities[:, :_CONTENTS].astype(np.float64)
    if (judged[:, 1:].sum(axis=1) > _MOSTLY).sum() > most * (_CONTENTS - 1):
        return probabilities
    whole = np.maximum(judged.sum(axis=1, keepdims=True), _HARDLY)
    shares = judged / whole
    shares[shares.sum(axis=1) < _MOSTLY, 0] = 1  # what is covered, and nothing else, uses nothing up
    together = _together(shares, most)
    covered = probabilities[:, _CONTENTS:].sum(axis=1) > whole[:, 0]
    if together[0].sum() < _HARDLY:
        if not doubting:
            return probabilities
        together = _together_in_doubt(shares, most)
    elif covered.any():
        together = _together(np.where(covered[:, None], _NOTHING, shares), most)
        together[covered] = shares[covered]
    result = probabilities.copy()
    result[:, :_CONTENTS] = together / together.sum(axis=1, keepdims=True) * whole
    return result


def _together_in_doubt(shares: Table, most: int) -> Table:
    """The same as `_together`, when what the shares say about pieces is doubted enough."""
    pieces = shares[:, 1:].sum(axis=1, keepdims=True)
    for doubt in _DOUBTS:
        doubted = np.maximum(shares[:, 1:], _NOTHING_IS_SURER) ** (1 / doubt)
        among = pieces * doubted / doubted.sum(axis=1, keepdims=True)
        together = _together(np.column_stack([shares[:, 0], among]), most)
        if together[0].sum() >= _POSSIBLE:
            break
    return together


def _together(shares: Table, most: int) -> Table:
    """The likelihood `(n, contents)` of all arrangements within the supply that have this content on this square."""
    used: Table = np.zeros((most + 1,) * (_CONTENTS - 1))
    used[(0,) * used.ndim] = 1
    rests = [np.ones_like(used)]
    for row in shares[:0:-1]:
        rests.append(sum((share * _later(rests[-1], i) for i, share in enumerate(row)), np.zeros_like(used)))
    likelihoods = np.empty_like(shares)
    for square, (row, rest) in enumerate(zip(shares, reversed(rests), strict=True)):
        likelihoods[square] = [share * float((used * _later(rest, i)).sum()) for i, share in enumerate(row)]
        used = sum((share * _earlier(used, i) for i, share in enumerate(row)), np.zeros_like(used))
    return likelihoods


def _later(table: Table, content: int) -> Table:
    """The table as it is after one more `content` (0 is none) has been used; 0 where there is no more."""
    moved = np.zeros_like(table) if content else table
    if content:
        np.moveaxis(moved, content - 1, 0)[:-1] = np.moveaxis(table, content - 1, 0)[1:]
    return moved


def _earlier(table: Table, content: int) -> Table:
    """The table with one more `content` used; what was used up before is dropped."""
    moved = np.zeros_like(table) if content else table
    if content:
        np.moveaxis(moved, content - 1, 0)[1:] = np.moveaxis(table, content - 1, 0)[:-1]
    return moved
