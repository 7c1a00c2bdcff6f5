"""The exact value of a position, fast: the search that makes the opening book, compiled by numba.

It is a zero-window alpha-beta search over `companion.analysis.board` positions, written apart from the one that the
program itself uses (`companion.analysis.search`, plain Python) so that each checks the other. One question is asked of
every position: can the player to move reach a margin of `target`? What cuts the tree down, most first:

- moves that leave the opponent few replies, few of them scoring, or none (a free play) are tried first, then those that
  score or take squares from the opponent's open lines;
- a table remembers, of positions met before, the bounds found for their value and the move that was best;
- the points that are still possible bound the margin from both sides.

Needs ``requirements/training.txt``. What is compiled keeps to ints and arrays, and to few arguments that are objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from companion.analysis.board import ALL, KINDS, PIECES, POINTS, REACH, SQUARES, THREATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.analysis.board import Position

_COUNT: Any = np.array([mask.bit_count() for mask in range(ALL + 1)], np.int64)
_POINTS: Any = POINTS.astype(np.int64)
_THREATS: Any = THREATS.astype(np.int64)
_REACH: Any = np.array(REACH, np.int64)
_KINDS = len(KINDS)
_LAST = PIECES - 1
_MOST_MOVES = SQUARES * _KINDS
_HIGHEST, _LOWEST = 15, -16
"""What five bits hold. With eight pieces a player no margin comes near."""
_KEY_BITS = np.uint64((1 << 48) - 1)
_VALUE_SHIFT = np.uint64(48)


def _compiled(*signature: str) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with the compiled code kept on disk."""
    jit: Any = numba.njit
    return jit(*signature, cache=True)  # type: ignore[no-any-return]


@_compiled()
def _spread(bits: int) -> int:
    """Move bit i of 16 to bit 2i."""
    bits = (bits | (bits << 8)) & 0x00FF00FF
    bits = (bits | (bits << 4)) & 0x0F0F0F0F
    bits = (bits | (bits << 2)) & 0x33333333
    return (bits | (bits << 1)) & 0x55555555


@_compiled()
def _most_points(held: int, empty: int) -> int:
    """At least what `held` can be worth at the end, from the empty squares and the pieces left."""
    left = PIECES - _COUNT[held]
    if left <= 0:
        return _POINTS[held]
    if left == 1:
        return _best_addition(held, empty)
    if left == 2:  # noqa: PLR2004 - a three with no piece on it yet needs one more than that
        return _POINTS[held | empty] - _POINTS[empty]
    return _POINTS[held | empty]


@_compiled()
def _best_addition(held: int, squares: int) -> int:
    """The points of `held` with the best one of `squares` added, or as it is."""
    best = _POINTS[held]
    scoring = squares & _THREATS[held]
    while scoring:
        bit = scoring & -scoring
        scoring ^= bit
        best = max(best, _POINTS[held | bit])
    return best


@_compiled()
def _ordered_moves(own: int, opponent: int, legal: int, hand: int, moves: np.ndarray[Any, Any]) -> int:
    """Fill `moves` with square * 4 + kind in the low byte, best first by the number above it; give their count."""
    empty = ALL & ~(own | opponent)
    threats = _THREATS[opponent]
    count = 0
    while legal:
        bit = legal & -legal
        legal ^= bit
        square = _COUNT[bit - 1]
        left = empty ^ bit
        worth = 2048 + 8 * (_POINTS[own | bit] - _POINTS[own]) - 2 * _POINTS[opponent | left]
        for kind in range(_KINDS):
            if (hand >> (2 * kind)) & 3:
                replies = _REACH[square, kind] & left
                merit = worth - 4 * _COUNT[replies] - _COUNT[replies & threats]
                if replies == 0:
                    merit += 8
                elif replies & threats == 0:
                    merit += 2
                entry = (merit << 8) | (square * _KINDS + kind)
                place = count
                while place > 0 and moves[place - 1] < entry:
                    moves[place] = moves[place - 1]
                    place -= 1
                moves[place] = entry
                count += 1
    return count


@_compiled()
def _key(own: int, opponent: int, legal: int, hand: int, opponent_hand: int) -> np.uint64:
    """A position in 48 bits: two a square (own, opponent, legal, other), then the hands."""
    board = _spread(own | legal) | (_spread(opponent | legal) << 1)
    return np.uint64(board | (hand << 32) | (opponent_hand << 40))


@_compiled()
def _slot(key: np.uint64, table: np.ndarray[Any, Any]) -> np.uint64:
    """Where the table keeps `key`."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(table) - 1)


@_compiled("int64(int64, int64, int64, int64, int64, int64, uint64[:], int64[:, :])")
def _bound(  # noqa: C901, PLR0912 (compiled code may recurse in one function only)
    own: int,
    opponent: int,
    legal: int,
    hand: int,
    opponent_hand: int,
    target: int,
    table: np.ndarray[Any, Any],
    moves: np.ndarray[Any, Any],
) -> int:
    """A bound on the value: from below if it is `target` or more, else from above."""
    empty = ALL & ~(own | opponent)
    if _COUNT[opponent] >= PIECES or empty & (empty - 1) == 0:  # the last chance, or the last square
        return _best_addition(own, legal) - _POINTS[opponent]
    high = _most_points(own, empty) - _POINTS[opponent]
    if high < target:
        return high
    low = _POINTS[own] - _most_points(opponent, empty)
    if low >= target:
        return low

    key = _key(own, opponent, legal, hand, opponent_hand)
    slot = _slot(key, table)
    low, high, move = _LOWEST, _HIGHEST, -1
    if table[slot] & _KEY_BITS == key:
        told: Any = np.int64(table[slot] >> _VALUE_SHIFT)  # 5 bits for each bound, 6 for the move
        low, high, move = (told & 31) + _LOWEST, ((told >> 5) & 31) + _LOWEST, told >> 10
        if low >= target:
            return low
        if high < target:
            return high

    hint, best, best_move = move, -99, 0
    ordered = moves[_COUNT[empty]]
    count, tried = -1, 0
    while best < target:
        if move < 0 or tried > 0:  # the remembered move goes first, before the others are even listed
            if count < 0:
                count, tried = _ordered_moves(own, opponent, legal, hand, ordered), 0
            if tried == count:
                break
            move = ordered[tried] & 255
            tried += 1
            if move == hint:
                continue
        else:
            tried = 1
        square, kind = move // _KINDS, move % _KINDS
        held = own | (1 << square)
        left = empty ^ (1 << square)
        replies = _REACH[square, kind] & left
        hand_left = hand - (1 << (2 * kind))
        if replies != 0:
            value = -_bound(opponent, held, replies, opponent_hand, hand_left, 1 - target, table, moves)
        elif left == 0 or _COUNT[own] >= _LAST:
            value = _POINTS[held] - _POINTS[opponent]
        else:  # the opponent passes: a free play
            value = _bound(held, opponent, left, hand_left, opponent_hand, target, table, moves)
        if value > best:
            best, best_move = value, move

    if best >= target:
        low = max(low, best)
    else:
        high = min(high, best)
    told = (low - _LOWEST) | ((high - _LOWEST) << 5) | (best_move << 10)
    table[slot] = key | (np.uint64(told) << _VALUE_SHIFT)
    return best


class FastSolver:
    """Exact values, with one table that serves all questions."""

    def __init__(self, table_bits: int = 16) -> None:
        self._table = np.zeros(1 << table_bits, np.uint64)
        self._moves = np.zeros((SQUARES + 1, _MOST_MOVES), np.int64)

    def value(self, position: Position, guess: int = 0) -> int:
        """The margin of the player to move with best play by both; quickest if `guess` is right.

        `position` must be one that eight pieces a player can lead to.
        """
        low, high = _LOWEST, _HIGHEST
        value = guess
        while low < high:
            target = value + 1 if value == low else value
            value = _bound(*position, target, self._table, self._moves)
            if value < target:
                high = value
            else:
                low = value
        return value
