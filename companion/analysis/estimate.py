"""Boards that are too large to be known: a search that looks ahead for a limited time and does not claim to be exact.

It looks one move deeper each time round until it is told to stop, and answers with the last round that it finished. A
game that goes on beyond the horizon counts as what is on the board there. Only where every line of play was followed to
its end is the answer exact.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from companion.rules import Colour, Constraint, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from companion.rules import Game, Layout

_KINDS = tuple(Kind)
_POSITIONS = 20_000
"""How many positions are looked at where there is no one to say when to stop; a second or so."""
_ASK_EVERY = 256
_FAR = 1_000
"""More than any margin."""

Hand = tuple[int, ...]
"""How many pieces of each kind are left."""


class _State(NamedTuple):
    """A position as the player to move sees it, on any board."""

    own: int
    opponent: int
    legal: int
    own_hand: Hand
    opponent_hand: Hand
    own_left: int
    opponent_left: int
    margin: int
    """The points of the player to move less the opponent's, as they lie."""


class _Board(NamedTuple):
    """What a layout's squares reach and how they score, by square."""

    all: int
    reach: tuple[tuple[int, ...], ...]
    """The squares that each kind on a square asks for."""
    threes: tuple[tuple[int, ...], ...]
    """The threes that a square is part of, without it."""


class _StopSearch(Exception):  # noqa: N818 - it is not an error
    """The time is up."""


def look_ahead(game: Game, within: int, stop: Callable[[], bool] | None) -> tuple[int, list[tuple[int, int]], bool]:
    """The margin of the player to move, the moves that give away at most `within`, and whether this is exact.

    Args:
        game: any game that is not over.
        within: in points; 0 for the best moves alone.
        stop: asked every few hundred positions whether the time is up; without it the search ends after a fixed number
            of positions, so that it gives the same answer everywhere.

    Returns:
        The margin, moves as square index and kind index in order, and whether every line was followed to its end.

    """
    search, state, depth = _LookAhead(_board(game.layout), stop), _state(game), 1
    judged = search.judge(state, depth, within)
    try:
        while not judged[2]:
            depth += 1
            judged = search.judge(state, depth, within)
    except _StopSearch:
        pass
    return judged


class _LookAhead:
    def __init__(self, board: _Board, stop: Callable[[], bool] | None) -> None:
        self._board = board
        self._stop = stop
        self._seen = 0
        self._cut = False
        """Whether the horizon cut a line short."""
        self._may_stop = False

    def judge(self, state: _State, depth: int, within: int) -> tuple[int, list[tuple[int, int]], bool]:
        """Look `depth` moves ahead. The first round always ends, so that there is an answer."""
        self._cut, self._may_stop = False, depth > 1
        low, high, value = -_FAR, _FAR, state.margin
        while low < high:
            target = value + 1 if value == low else value
            value = self._bound(state, depth, target)
            low, high = (low, value) if value < target else (value, high)
        target = value - within
        moves = [
            (square, kind)
            for square, kind, after, sign in self._moves(state)
            if self._after(after, sign, depth, target) >= target
        ]
        return value, sorted(moves), not self._cut

    def _bound(self, state: _State, depth: int, target: int) -> int:
        """A bound on the value at this depth: from below if it is `target` or more, else from above."""
        self._seen += 1
        self._ask_whether_to_stop()
        if not depth:
            self._cut = True
            return state.margin
        best = -_FAR
        for _, _, after, sign in self._moves(state):
            best = max(best, self._after(after, sign, depth, target))
            if best >= target:
                break
        return best

    def _after(self, state: _State, sign: int, depth: int, target: int) -> int:
        """The bound that a move to `state` gives the one who made it; `sign` 0 says that it ends the game."""
        if not sign:
            return state.margin
        return sign * self._bound(state, depth - 1, target if sign > 0 else 1 - target)

    def _ask_whether_to_stop(self) -> None:
        if not self._may_stop or self._seen % _ASK_EVERY:
            return
        if self._stop() if self._stop else self._seen >= _POSITIONS:
            raise _StopSearch

    def _moves(self, state: _State) -> list[tuple[int, int, _State, int]]:
        """Every move with what follows, best first: points, then few replies."""
        ordered = []
        for square in _bits(state.legal):
            bit = 1 << square
            gain = sum(1 for three in self._board.threes[square] if three & state.own == three)
            empty = self._board.all & ~(state.own | state.opponent | bit)
            for kind, count in enumerate(state.own_hand):
                if count:
                    replies = self._board.reach[square][kind] & empty
                    after, sign = _successor(state, bit, kind, gain, replies, empty)
                    ordered.append((replies.bit_count() - 4 * gain, square, kind, after, sign))
        ordered.sort(key=lambda move: move[:3])
        return [move[1:] for move in ordered]


def _successor(state: _State, bit: int, kind: int, gain: int, replies: int, empty: int) -> tuple[_State, int]:
    """What follows a move, as who moves next sees it; that is the mover (1), the other (-1) or no one (0)."""
    own, opponent, _, hand, opponent_hand, left, opponent_left, margin = state
    hand = (*hand[:kind], hand[kind] - 1, *hand[kind + 1 :])
    left, margin = left - 1, margin + gain
    if replies and opponent_left:
        return _State(opponent, own | bit, replies, opponent_hand, hand, opponent_left, left, -margin), -1
    goes_on = left and opponent_left and empty
    return _State(own | bit, opponent, empty, hand, opponent_hand, left, opponent_left, margin), 1 if goes_on else 0


def _state(game: Game) -> _State:
    mover = game.to_move
    assert mover is not None
    own, opponent = (game.light, game.dark) if mover is Colour.LIGHT else (game.dark, game.light)
    return _State(
        own,
        opponent,
        game.legal_mask(),
        _hand(game, mover),
        _hand(game, mover.other),
        game.pieces_left(mover),
        game.pieces_left(mover.other),
        game.score.of(mover) - game.score.of(mover.other),
    )


def _hand(game: Game, colour: Colour) -> Hand:
    return tuple(game.in_hand(colour).values())


@lru_cache(maxsize=16)
def _board(layout: Layout) -> _Board:
    threes = [
        sum(1 << square for square in line[i : i + 3]) for line in layout.geometry.lines for i in range(len(line) - 2)
    ]
    squares = range(len(layout))
    return _Board(
        layout.all,
        tuple(tuple(Constraint(square, kind).mask(layout) for kind in _KINDS) for square in layout.squares),
        tuple(tuple(three ^ 1 << square for three in threes if three >> square & 1) for square in squares),
    )


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
