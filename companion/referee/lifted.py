"""The pieces that lay there unplayed, and were lifted: people adjust them, show them, or put them right.

Put back where it may lie, such a piece is as old as it was: it does not come after what was played meanwhile. For a
while it may come back, so nothing is believed that it would put in another order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion.referee.patience import LIFTED_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.referee.comparison import Comparison
    from companion.referee.explanation import Arrival
    from companion.rules import Square


@dataclass(frozen=True, slots=True)
class _Gone:
    piece: Arrival
    last_there: float
    """When it was last seen there."""
    since: float
    """When its square was first seen bare."""

    def may_be(self, arrival: Arrival) -> bool:
        """Whether it may be the arrival, laid anew."""
        return bool(self.piece.contents & arrival.contents) and arrival.since > self.last_there

    def laid_again(self, arrivals: Sequence[Arrival]) -> Sequence[Arrival]:
        """The arrivals that may be it: the first that it may be, and those that may have come before that."""
        found = [arrival for arrival in arrivals if self.may_be(arrival)]
        return [one for one in found if not any(other.surely_before(one) for other in found)]


class Lifted:
    """Those that were lifted since the last move."""

    def __init__(self) -> None:
        self._lying: dict[Square, Arrival] = {}
        self._gone: list[_Gone] = []

    def look(self, board: Comparison) -> None:
        """Learn from the board what lies there and what is gone."""
        for square in self._lying.keys() & board.bare.keys():
            piece, bare = self._lying.pop(square), board.bare[square]
            if bare.since > piece.since:  # else a person has said that nothing lay there
                self._gone.append(_Gone(piece, bare.after, bare.since))
        self._lying |= {arrival.square: arrival for arrival in board.arrivals}

    def forget(self) -> None:
        """A move was played: what was lifted before is of no account."""
        self._lying, self._gone = {}, []

    def as_they_were(self, arrivals: Sequence[Arrival]) -> Sequence[Arrival]:
        """The arrivals, each as old as the oldest of the lifted pieces that it may be."""
        laid_again = [(gone.piece.after, gone.laid_again(arrivals)) for gone in self._gone]

        def as_it_was(arrival: Arrival) -> Arrival:
            before = [after for after, found in laid_again if arrival in found]
            return replace(arrival, after=min([arrival.after, *before]))

        return [as_it_was(arrival) for arrival in arrivals]

    def missing(self, board: Comparison) -> Sequence[Arrival]:
        """Those that have just been lifted, and may come back."""
        return [
            gone.piece
            for gone in self._gone
            if board.time - gone.since < LIFTED_S and not any(gone.may_be(arrival) for arrival in board.arrivals)
        ]
