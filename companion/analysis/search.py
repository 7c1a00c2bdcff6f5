"""The search: exact values of 4x4 positions by alpha-beta, in plain Python.

It asks one kind of question, the cheapest: can the player to move reach a margin of at least `target`? (A search with a
window of width zero.) The value is found by asking again next to the last answer, and all best moves by asking of each
whether it still reaches the value. What keeps the tree small, most first:

- **order**: moves that leave the opponent few replies, few of them scoring, or none at all (a free play) come first;
  then those that score or take squares from the opponent's open lines;
- a **table** of the positions met, with the bounds known for their value and the move that was best;
- the **points still possible** bound the margin from both sides.

Symmetry and the opening book come in above four pieces; see `companion.analysis.perfect`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.analysis.board import ALL, KINDS, PIECES, POINTS, REACH, SQUARES, THREATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.analysis.board import Position

_POINTS: list[int] = POINTS.tolist()
_THREATS: list[int] = THREATS.tolist()
_KINDS_HELD = tuple(
    tuple((kind, hand - (1 << 2 * kind)) for kind in range(len(KINDS)) if hand >> 2 * kind & 3) for hand in range(256)
)
"""For every hand, the kinds that can be played, each with the hand it leaves."""
_BIT_INDEX = {1 << square: square for square in range(SQUARES)}
_NEVER = 32
"""More than any margin; bounds lie between plus and minus this."""
_MOST_ENTRIES = 690_000
"""The table starts anew beyond this: some 130 MB. A few more, and the dictionary would double."""

Table = dict[int, tuple[int, int, int]]
"""What is known of the positions met, by their packed form: the lowest and highest possible value, the best move."""


def moves_of(position: Position) -> Iterator[tuple[int, int, int, int, int]]:
    """Every move as square, kind, the mask then held, the opponent's replies (0: they pass), and the hand left."""
    own, opponent, legal, hand, _ = position
    for square in range(SQUARES):
        if legal >> square & 1:
            left = ALL & ~(own | opponent | 1 << square)
            for kind, hand_left in _KINDS_HELD[hand]:
                yield square, kind, own | 1 << square, REACH[square][kind] & left, hand_left


def is_over(position: Position, held: int, replies: int) -> bool:
    """Whether the move that leaves the mover with `held` and the opponent with `replies` is the last one."""
    if position.opponent.bit_count() >= PIECES:
        return True  # it was the last chance
    nothing_left = held | position.opponent == ALL
    return not replies and (nothing_left or held.bit_count() >= PIECES)


def search(position: Position, guess: int, table: Table) -> int:
    """The exact value of `position`; quickest if `guess` is right."""
    low, high, value = -_NEVER, _NEVER, guess
    while low < high:
        target = value + 1 if value == low else value
        value = bound(*position, target, table)
        if value < target:
            high = value
        else:
            low = value
    return value


def bound(  # noqa: C901, PLR0912 (the innermost loop: a call would cost more than what it calls)
    own: int,
    opponent: int,
    legal: int,
    hand: int,
    opponent_hand: int,
    target: int,
    table: Table,
) -> int:
    """A bound on the value of a position: from below if it is `target` or more, else from above.

    The arguments before `target` are those of `Position`, spelt out for speed; so is all that follows.
    """
    empty = ALL & ~(own | opponent)
    if opponent.bit_count() >= PIECES or not empty & (empty - 1):  # the last chance, or the last square
        return _best_addition(own, legal) - _POINTS[opponent]
    high = _most_points(own, empty) - _POINTS[opponent]
    if high < target:
        return high
    low = _POINTS[own] - _most_points(opponent, empty)
    if low >= target:
        return low

    key = own | opponent << 16 | legal << 32 | hand << 48 | opponent_hand << 56
    known = table.get(key)
    if known is None:
        low, high, best_move = -_NEVER, _NEVER, -1
    else:
        low, high, best_move = known
        if low >= target:
            return low
        if high < target:
            return high

    best = -_NEVER
    for move in _ordered_moves(own, opponent, legal, hand, best_move):
        square, kind = move >> 2, move & 3
        held = own | 1 << square
        left = empty ^ 1 << square
        replies = REACH[square][kind] & left
        hand_left = hand - (1 << 2 * kind)
        if replies:
            value = -bound(opponent, held, replies, opponent_hand, hand_left, 1 - target, table)
        elif left and held.bit_count() < PIECES:  # the opponent passes: a free play
            value = bound(held, opponent, left, hand_left, opponent_hand, target, table)
        else:
            value = _POINTS[held] - _POINTS[opponent]
        if value > best:
            best, best_move = value, move
            if best >= target:
                break

    if len(table) > _MOST_ENTRIES:
        table.clear()
    table[key] = (max(low, best), high, best_move) if best >= target else (low, min(high, best), best_move)
    return best


def _ordered_moves(own: int, opponent: int, legal: int, hand: int, hint: int) -> Iterator[int]:
    """The moves, as square * 4 + kind, most promising first; `hint` before any is looked at."""
    if hint >= 0:
        yield hint
    empty = ALL & ~(own | opponent)
    threats, points = _THREATS[opponent], _POINTS[own]
    kinds = _KINDS_HELD[hand]
    moves = []
    while legal:
        bit = legal & -legal
        legal ^= bit
        square = _BIT_INDEX[bit]
        left = empty ^ bit
        worth = 2048 + 8 * (_POINTS[own | bit] - points) - 2 * _POINTS[opponent | left]
        reach = REACH[square]
        for kind, _ in kinds:
            replies = reach[kind] & left
            scoring = replies & threats
            merit = worth - 4 * replies.bit_count() - scoring.bit_count()
            if not replies:
                merit += 8
            elif not scoring:
                merit += 2
            moves.append(merit << 6 | square << 2 | kind)
    moves.sort(reverse=True)
    for entry in moves:
        move = entry & 63
        if move != hint:
            yield move


def _most_points(held: int, empty: int) -> int:
    """At least what `held` can be worth at the end, from the empty squares and the pieces left."""
    left = PIECES - held.bit_count()
    if left > 2:  # noqa: PLR2004 - a three without a piece on it takes three pieces
        return _POINTS[held | empty]
    if left == 2:  # noqa: PLR2004
        return _POINTS[held | empty] - _POINTS[empty]
    return _best_addition(held, empty if left == 1 else 0)


def _best_addition(held: int, squares: int) -> int:
    """The points of `held` with the best one of `squares` added."""
    points = _POINTS[held]
    scoring = squares & _THREATS[held]
    while scoring:
        bit = scoring & -scoring
        scoring ^= bit
        points = max(points, _POINTS[held | bit])
    return points
