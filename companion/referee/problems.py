"""The pieces that hold up the game, and what people were told of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from companion import events
from companion.readings import EMPTY, possible
from companion.referee.explanation import first_to_blame, kind_not_seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from companion.events import Event
    from companion.readings import Contents
    from companion.referee.explanation import Arrival
    from companion.rules import Game, Square


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

    What is told of one is an event, which begins as all do `here`; it is told once for what is read there.
    """

    def __init__(self, *, by_card: bool) -> None:
        """With `by_card` the kinds are on cards."""
        self._by_card = by_card
        self._told: dict[Square, Problem] = {}

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._told.values())

    @property
    def squares(self) -> AbstractSet[Square]:
        """Where they lie."""
        return self._told.keys()

    def unclear(self, here: Mapping[str, Any], game: Game, arrival: Arrival, *, or_nothing: bool) -> list[Event]:
        """`PieceUnclear` or `KindNeeded`: it may be several pieces, or nothing at all."""
        contents = possible(arrival.contents | (EMPTY if or_nothing else 0))
        event: Event
        if kind_not_seen(game, arrival, by_card=self._by_card) and not or_nothing:
            event = events.KindNeeded(**here, square=arrival.square, contents=contents)
        else:
            event = events.PieceUnclear(**here, square=arrival.square, contents=contents)
        return self._note(arrival, event)

    def out_of_sight(self, here: Mapping[str, Any], unseen: Arrival) -> list[Event]:
        """`PieceUnclear`: whether nothing lies there; what does shows when it is seen."""
        event = events.PieceUnclear(**here, square=unseen.square, contents=(None,))
        return self._note(replace(unseen, contents=EMPTY), event)

    def illegal(self, here: Mapping[str, Any], game: Game, arrivals: Sequence[Arrival]) -> list[Event]:
        """`IllegalPlacement` of the first to blame.

        Nothing where it is legal by itself: then an earlier piece is to blame, and it is held back.
        """
        arrival = first_to_blame(game, arrivals)
        piece = next((p for p in arrival.pieces if p.colour is game.to_move), arrival.pieces[0])
        refusal = game.refusal(arrival.square, piece)
        if refusal is None:
            return []
        event = events.IllegalPlacement(
            **here,
            square=arrival.square,
            content=piece,
            reason=refusal.reason,
            legal=tuple(sorted(refusal.legal)),
            words=str(refusal),
        )
        return self._note(arrival, event)

    def _note(self, arrival: Arrival, event: Event) -> list[Event]:
        """People have to be told of a piece in the way, unless they know of it or have just been told the same."""
        if self._is_known(arrival):
            return []
        known = self._told.get(arrival.square)
        self._told[arrival.square] = Problem(arrival, event)
        return [] if known is not None and _says_the_same(known.event, event) else [event]

    def _is_known(self, arrival: Arrival) -> bool:
        """Whether people were told of it as it is read now."""
        problem = self._told.get(arrival.square)
        return problem is not None and problem.contents == arrival.contents

    def read_otherwise(self, arrivals: Iterable[Arrival]) -> bool:
        """Whether a problem is read otherwise than when people were told of it."""
        now = {arrival.square: arrival.contents for arrival in arrivals}
        return any(now.get(square, told.contents) != told.contents for square, told in self._told.items())

    def settle(self, square: Square) -> None:
        """What lies on `square` is no problem any more."""
        self._told.pop(square, None)

    def settle_out_of_sight(self, square: Square) -> None:
        """Whether nothing lies on `square` is of no account any more."""
        problem = self._told.get(square)
        if problem is not None and problem.contents == EMPTY:
            self.settle(square)

    def settle_all(self) -> None:
        """None is one any more."""
        self._told = {}

    def keep_to(self, there: AbstractSet[Square]) -> None:
        """Only on these squares something still lies that the game has not."""
        for square in self._told.keys() - there:
            del self._told[square]


def _says_the_same(known: Event, event: Event) -> bool:
    """Whether two events differ in their time at most."""
    return replace(event, time=known.time) == known
