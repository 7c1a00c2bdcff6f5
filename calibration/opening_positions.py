"""The positions of the opening, and which of them the opening book has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from companion.analysis.board import ALL, FULL_HAND, KINDS, LAYOUT, REACH, SQUARES, SYMMETRIES, Position
from companion.analysis.book import RULING_LAYERS, rank, unrank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.rules import FirstMove


class Placed(NamedTuple):
    """A position of the opening, told by the opponent's last piece; in the order of `rank`'s arguments."""

    own: int
    opponent: int
    square: int
    kind: int
    own_hand: int
    opponent_hand: int

    @property
    def replies(self) -> int:
        """The squares where the player to move may go."""
        return REACH[self.square][self.kind] & ALL & ~(self.own | self.opponent)

    @property
    def position(self) -> Position:
        """The position of who moves next: the opponent's of this one, if the player to move has to pass."""
        if self.replies:
            return Position(self.own, self.opponent, self.replies, self.own_hand, self.opponent_hand)
        empty = ALL & ~(self.own | self.opponent)
        return Position(self.opponent, self.own, empty, self.opponent_hand, self.own_hand)

    def successors(self) -> Iterator[Placed]:
        """The positions after each move."""
        for square in _squares(self.replies):
            for kind in range(len(KINDS)):
                if self.own_hand >> 2 * kind & 3:
                    hand = self.own_hand - (1 << 2 * kind)
                    yield Placed(self.opponent, self.own | 1 << square, square, kind, self.opponent_hand, hand)

    def canonical(self) -> Placed:
        """The same for all eight ways to look at the board."""
        return min(self._turned(symmetry) for symmetry in SYMMETRIES)

    def _turned(self, symmetry: tuple[int, ...]) -> Placed:
        own, opponent = _turned(self.own, symmetry), _turned(self.opponent, symmetry)
        return Placed(own, opponent, symmetry[self.square], self.kind, self.own_hand, self.opponent_hand)


def opening_positions(first: FirstMove, placement: int) -> set[Placed]:
    """What 1 to 4 pieces lead to, up to the eight symmetries; two may differ in a last piece that asks for the same."""
    allowed = LAYOUT.geometry.outside if first == "outside" else ALL
    positions = {
        Placed(0, 1 << square, square, kind, FULL_HAND, FULL_HAND - (1 << 2 * kind)).canonical()
        for square in _squares(allowed)
        for kind in range(len(KINDS))
    }
    for _ in range(placement - 1):
        positions = {after.canonical() for position in positions for after in position.successors()}
    return positions


def book_ranks() -> Iterator[int]:
    """The ranks that the book has values for, the most wanted first."""
    ranks = {rank(*position) for position in opening_positions("anywhere", 4)}
    yield from sorted(number for number in ranks if number is not None)
    for layer in RULING_LAYERS:
        yield from (number for number in range(layer.start, layer.stop) if unrank(number))


def _squares(mask: int) -> Iterator[int]:
    return (square for square in range(SQUARES) if mask >> square & 1)


def _turned(mask: int, symmetry: tuple[int, ...]) -> int:
    return sum(1 << symmetry[square] for square in _squares(mask))
