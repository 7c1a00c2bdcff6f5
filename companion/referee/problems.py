"""The pieces that hold up the game, and what people were told of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion import events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from companion.events import Event
    from companion.readings import Contents, SettledSquare
    from companion.referee.explanation import Arrival
    from companion.rules import Square


@dataclass(frozen=True, slots=True)
class Problem:
    """A piece on the board that holds up the game, and the event that told people of it."""

    arrival: Arrival
    event: Event

    @property
    def square(self) -> Square:
        """Where it lies."""
        return self.arrival.square

    @property
    def contents(self) -> Contents:
        """What it may be."""
        return self.arrival.contents


class Problems:
    """All of them, judged by the game as it is: after another past, or an end, they are judged afresh.

    A piece that was told to be illegal and is lifted is not forgotten before the next move: put back where it may lie,
    it is as old as it was.
    """

    def __init__(self) -> None:
        self._told: dict[Square, Problem] = {}
        self._lifted: list[tuple[Arrival, float]] = []
        """What lay where it might not and was lifted, since the last move, and when it was last seen there."""

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._told.values())

    @property
    def squares(self) -> AbstractSet[Square]:
        """Where they lie."""
        return self._told.keys()

    def note(self, arrival: Arrival, event: Event) -> list[Event]:
        """People have to be told of a piece in the way: by this event, unless they have just been told the same."""
        known = self._told.get(arrival.square)
        self._told[arrival.square] = Problem(arrival, event)
        return [] if known is not None and _says_the_same(known.event, event) else [event]

    def knows(self, arrival: Arrival) -> bool:
        """Whether people know of it, as it is read now."""
        problem = self._told.get(arrival.square)
        return problem is not None and problem.contents == arrival.contents

    def read_otherwise(self, arrivals: Iterable[Arrival]) -> bool:
        """Whether a problem is read otherwise than when people were told of it."""
        now = {arrival.square: arrival.contents for arrival in arrivals}
        return any(now.get(square, told.contents) != told.contents for square, told in self._told.items())

    def settle(self, square: Square) -> None:
        """What lies on `square` is no problem any more."""
        self._told.pop(square, None)

    def settle_all(self) -> None:
        """None is one any more."""
        self._told = {}

    def forget_lifted(self) -> None:
        """A move was played: what was lifted before is of no account."""
        self._lifted = []

    def keep_to(self, there: AbstractSet[Square], seen: Mapping[Square, SettledSquare]) -> None:
        """Only on these squares something still lies that the game has not; `seen` tells when it was last there."""
        for problem in [each for each in self if each.square not in there]:
            del self._told[problem.square]
            if isinstance(problem.event, events.IllegalPlacement):
                self._lifted.append((problem.arrival, seen[problem.square].after))

    def as_repaired(self, arrival: Arrival) -> Arrival:
        """An arrival that may be a lifted one, set right: it does not come after what was played meanwhile."""
        before = [
            lifted.after
            for lifted, last_there in self._lifted
            if lifted.contents & arrival.contents and arrival.since > last_there
        ]
        return replace(arrival, after=min([arrival.after, *before]))


def _says_the_same(known: Event, event: Event) -> bool:
    """Whether two events differ in their time at most."""
    return replace(event, time=known.time) == known
