"""Perfect play on the 4x4 board: the opening book and the search put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from companion.analysis.board import ALL, KINDS, LAYOUT, POINTS, Position, canonical
from companion.analysis.book import UNKNOWN, rank, shipped_book
from companion.analysis.search import Table, bound, is_over, moves_of, search

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.rules import Game

_BOOK_PIECES = 3
"""The book has every position with so many pieces that could follow from one with fewer."""


class Choice(NamedTuple):
    """A move of the player to move, and what it leads to."""

    square: int
    kind: int
    margin: int | None
    """The mover's final margin, if the move ends the game."""
    after: Position
    """What follows it, as the next to move sees it."""
    sign: int
    """Whose turn it is then: -1 for the opponent's, 1 for the mover's own, the opponent having passed."""
    rank: int | None
    """Where the book tells what it is worth to the opponent, be it that they have to pass."""


class PerfectPlay:
    """Exact values of 4x4 positions. Remembers what it has worked out; some 130 MB at most."""

    def __init__(self, book: memoryview | None = None) -> None:
        """Start with the book alone.

        Args:
            book: the values of openings; those that are shipped by default.

        Raises:
            BookError: if the shipped book is missing or damaged.

        """
        self._book = shipped_book() if book is None else book
        self._table: Table = {}
        self._openings: dict[Position, int] = {}

    def judge(self, game: Game, within: int) -> tuple[int, list[tuple[int, int]]]:
        """The margin of the player to move, and the moves that give away at most `within`, as square and kind."""
        position = Position.of(game)
        value = self.value(position, _rank_of(game, position))
        moves = [choice[:2] for choice in choices(position) if self._reaches(choice, value - within)]
        return value, moves

    def value(self, position: Position, number: int | None = None) -> int:
        """The final margin of the player to move with best play by both; `number` is the rank of `position`."""
        known = self._look_up(number)
        if known is not None:
            return known
        pieces = (position.own | position.opponent).bit_count()
        if pieces > _BOOK_PIECES:
            return search(position, 0, self._table)
        key = canonical(position)
        if key not in self._openings:
            self._openings[key] = self._opening_value(position, pieces)
        return self._openings[key]

    def _opening_value(self, position: Position, pieces: int) -> int:
        moves = list(choices(position))
        if pieces == _BOOK_PIECES and any(self._look_up(move.rank) is None for move in moves):
            return search(position, 0, self._table)
        return max(self._value_after(move) for move in moves)

    def _value_after(self, choice: Choice) -> int:
        if choice.margin is not None:
            return choice.margin
        known = self._look_up(choice.rank)
        return -known if known is not None else choice.sign * self.value(choice.after)

    def _reaches(self, choice: Choice, target: int) -> bool:
        """Whether the player to move gets a margin of `target` or more with `choice`."""
        pieces = (choice.after.own | choice.after.opponent).bit_count()
        if choice.margin is not None or pieces <= _BOOK_PIECES or self._look_up(choice.rank) is not None:
            return self._value_after(choice) >= target
        if choice.sign > 0:
            return bound(*choice.after, target, self._table) >= target
        return bound(*choice.after, 1 - target, self._table) <= -target

    def _look_up(self, number: int | None) -> int | None:
        if number is None or self._book[number] == UNKNOWN:
            return None
        return self._book[number]


def choices(position: Position) -> Iterator[Choice]:
    """Every move, by square and kind."""
    opponent, opponent_hand = position.opponent, position.opponent_hand
    for square, kind, held, replies, hand in moves_of(position):
        margin = int(POINTS[held]) - int(POINTS[opponent]) if is_over(position, held, replies) else None
        if replies:
            after, sign = Position(opponent, held, replies, opponent_hand, hand), -1
        else:
            after, sign = Position(held, opponent, ALL & ~(held | opponent), hand, opponent_hand), 1
        yield Choice(square, kind, margin, after, sign, rank(opponent, held, square, kind, opponent_hand, hand))


def _rank_of(game: Game, position: Position) -> int | None:
    """Where the book has the position, if it does; after a pass it has not."""
    if game.constraint is None:
        return None
    square, kind = LAYOUT.index(game.constraint.square), KINDS.index(game.constraint.kind)
    return rank(position.own, position.opponent, square, kind, position.own_hand, position.opponent_hand)
