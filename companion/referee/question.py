"""What people are asked about the board as a whole: how it came to lie so, or what it shall count for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from companion.events import ChoiceNeeded
from companion.referee.patience import LIFTED_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.events import Event, QuestionKind
    from companion.referee.comparison import Comparison
    from companion.referee.explanation import Arrival
    from companion.rules import Square


class Question:
    """The one that is open, if any. The board may answer it, too; what a person answered is not asked again at once."""

    def __init__(self) -> None:
        self.open: ChoiceNeeded | None = None
        self._beneath: ChoiceNeeded | None = None
        """What waits for a person meanwhile, if what is open is about a correction only."""
        self._asked: dict[Square, Arrival] = {}
        """The pieces whose order is asked, as they were first seen."""
        self._taken_back: Mapping[str, int] = {}
        """So many moves an order takes back first."""
        self.resumed: tuple[Square, ...] = ()
        """What does not fit the game and did not when a person said that it goes on as it stood."""
        self._goes_on = False
        """A person has said so, and no piece of the game was seen where it belongs since."""

    def ask(
        self,
        here: Mapping[str, Any],
        question: QuestionKind,
        choices: tuple[str, ...],
        squares: tuple[Square, ...] = (),
        *,
        illegal: tuple[str, ...] = (),
        arrivals: Sequence[Arrival] = (),
        taken_back: Mapping[str, int] | None = None,
    ) -> list[Event]:
        """Ask, unless just this is asked, with these choices: an event, which begins as all do `here`.

        Args:
            illegal: the moves that a correction would make illegal.
            arrivals: the pieces whose order is asked.
            taken_back: how many moves each order takes back first, if any does.
        """
        event = ChoiceNeeded(**here, question=question, choices=choices, squares=squares, illegal=illegal)
        self._taken_back = taken_back or {}
        if arrivals:
            self._asked = {arrival.square: arrival for arrival in arrivals}
        if self.open is not None and replace(event, time=self.open.time) == self.open:
            return []
        if event.question == "correct" and self.open is not None and _waits(self.open):
            self._beneath = self.open
        self.open = event
        return [event]

    def takes_back(self, order: str) -> int:
        """How many moves are to be taken back before this order, which is a choice, is played."""
        return self._taken_back.get(order, 0)

    def drop(self) -> None:
        """Nothing is asked any more."""
        self.open = self._beneath = None

    def answer(self, choice: str) -> None:
        """A person answers what is open; that the game goes on as it stood is kept in mind."""
        if self.open is not None and _waits(self.open):
            self._goes_on = choice == "resume"
            self.resumed = tuple(sorted({*self.resumed, *self.open.squares})) if self._goes_on else ()
        self._close()

    def _close(self) -> None:
        """What is open is asked no more; what waits beneath it is open again."""
        self.open, self._beneath = self._beneath, None

    def leave_correction(self) -> None:
        """What was asked about a correction, or hung on the moves before it, is asked no more; what waits, still is."""
        if self.open is not None and not _waits(self.open):
            self._close()

    @property
    def waits_for_a_person(self) -> bool:
        """Whether nothing is decided before it is answered."""
        return self._beneath is not None or (self.open is not None and _waits(self.open))

    @property
    def about_order(self) -> bool:
        """Whether it is asked in which order pieces were played."""
        return self.open is not None and self.open.question == "order"

    def look(self, board: Comparison) -> None:
        """Drop a question that the board itself has answered: it fits the game, and nothing is covered that did not.

        That the game was resumed as it stood counts as long as nothing of that fits.
        """
        self.resumed = self.resumed if set(self.resumed) <= set(board.strange) else ()
        if self.open is None:
            return
        answered = not board.strange and not board.held_back
        if self.open.question == "correct":
            self._beneath = None if answered else self._beneath
            return
        if self.about_order:
            bare = [board.bare[square] for square in self.shown(board) if square in board.bare]
            now = [(arrival, self._asked.get(arrival.square)) for arrival in board.arrivals]
            is_another = any(asked and not asked.contents & seen.contents for seen, asked in now)
            answered = is_another or any(board.time - seen.since >= LIFTED_S for seen in bare)
        if answered:
            self.drop()

    def look_after_the_end(self, board: Comparison, *, cleared: bool) -> None:
        """The match is over: nothing is asked once the board was `cleared`, or all that it was asked about has left.

        Nor is a piece left over that has left its square since a person said so.
        """
        self.resumed = tuple(square for square in self.resumed if square in board.kept)
        asked = set() if self.open is None else set(self.open.squares)
        if cleared or (asked and board.bare.keys() >= asked):
            self.drop()

    def goes_on_bare(self, board: Comparison) -> bool:
        """Whether a person has said that the game goes on, and none of its pieces was laid back on the board since."""
        self._goes_on = self._goes_on and not board.kept
        return self._goes_on

    def shown(self, board: Comparison) -> set[Square]:
        """The squares whose piece people have lifted to show in which order they played."""
        if self.open is None or not self.about_order:
            return set()
        return set(self.open.squares) - {arrival.square for arrival in (*board.arrivals, *board.maybes)}

    def as_asked(self, arrival: Arrival) -> Arrival:
        """One whose order is asked is as old as it was then: to lift it and to put it back is no answer."""
        asked = self._asked.get(arrival.square) if self.about_order else None
        return arrival if asked is None else replace(arrival, since=asked.since, after=asked.after)


def _waits(question: ChoiceNeeded) -> bool:
    return question.question not in ("order", "correct")
