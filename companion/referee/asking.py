"""What people are asked about pieces that the umpire does not decide by itself, and how long it waits before that.

Much of what is in doubt shows by itself: a hand leaves, a card is laid, a piece is put back. So most is asked
only when it has lain there for its time (`Patience`), and nothing again while people know of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from companion.readings import contents_of
from companion.referee import doubts
from companion.referee.explanation import are_too_many, legal_moves
from companion.referee.instead import lacking_instead, played_instead
from companion.rules import Game

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.events import Event
    from companion.referee.cards import CardPiles
    from companion.referee.comparison import Comparison
    from companion.referee.explanation import Arrival, Explanation
    from companion.referee.instead import Instead
    from companion.referee.patience import Patience
    from companion.referee.problems import Problems
    from companion.referee.question import Question
    from companion.referee.scoresheet import Scoresheet

_MOST_ORDERS = 8
"""Nobody can choose among more orders than this."""


class Asking:
    """The questions of one match. Every method answers with the events that ask, or none while it is too soon."""

    def __init__(
        self, sheet: Scoresheet, question: Question, problems: Problems, cards: CardPiles | None, patience: Patience
    ) -> None:
        """With `cards` the kinds are on them."""
        self._sheet = sheet
        self._question = question
        self._problems = problems
        self._cards = cards
        self._patience = patience

    @property
    def _game(self) -> Game:
        return self._sheet.game

    def _here(self, board: Comparison) -> dict[str, Any]:
        return self._sheet.here(board.time)

    # One square ---------------------------------------------------------------------------------------------------

    def about(self, board: Comparison, arrival: Arrival) -> list[Event]:
        """What lies on a square: asked at once."""
        or_nothing = arrival.square in {maybe.square for maybe in (*board.maybes, *board.hardly_replaced)}
        return self._problems.unclear(self._here(board), self._game, arrival, or_nothing=or_nothing)

    def about_after_a_while(self, board: Comparison, arrival: Arrival) -> list[Event]:
        """What lies on a square, unless it shows soon."""
        waited = board.time - arrival.since >= self._patience.unclear_s
        return self.about(board, arrival) if waited else []

    def which_kind(self, board: Comparison, arrival: Arrival) -> list[Event]:
        """Of which kind a piece is, unless it shows soon: by itself, or by its card."""
        return self.about(board, arrival) if self._has_waited(board, arrival) else []

    def about_maybes(self, board: Comparison, maybes: Sequence[Arrival]) -> list[Event]:
        """Whether the first of these squares that has been so for a while holds a piece."""
        for maybe in maybes:
            if board.time - maybe.since >= self._patience.maybe_s:
                return self.about(board, maybe)
        return []

    def what_lies_out_of_sight(self, board: Comparison, unseen: Arrival, arrivals: Sequence[Arrival]) -> list[Event]:
        """Whether nothing does, before the arrivals are believed; what lies there shows when it is seen."""
        if board.time - min(arrival.since for arrival in arrivals) < self._patience.covered_s:
            return []
        return self._problems.out_of_sight(self._here(board), unseen)

    def _has_waited(self, board: Comparison, arrival: Arrival) -> bool:
        """Whether it has lain there for so long that its kind will not show by itself."""
        wait_s = self._patience.unclear_s
        if self._cards is not None:
            wait_s = self._patience.card_s * (2 if self._cards.may_tell(arrival) else 1)
        return board.time - arrival.since >= wait_s

    # What came there ----------------------------------------------------------------------------------------------

    def what_is_wrong(self, board: Comparison, found: Explanation) -> list[Event]:
        """What is in the way: moves that may be meant in two ways, an unclear square, or an illegal piece."""
        if any(found.orders) and doubts.of_orders(self._game, board, found) is None:
            return self._what_is_meant(board, found)
        if are_too_many(board.arrivals):
            return self._one_by_one(board)
        if self._known(board):
            return []
        lacking = doubts.of_orders(self._game, board, found)
        if lacking is not None:
            return self.about(board, lacking)
        return self._problems.illegal(self._here(board), self._game, board.arrivals)

    def _known(self, board: Comparison) -> bool:
        """Whether people know of what holds the game up, as it is read now."""
        return bool(self._problems.squares) and not self._problems.read_otherwise(board.arrivals)

    def _what_is_meant(self, board: Comparison, found: Explanation) -> list[Event]:
        square = found.next_square
        if square is None and len(found.orders) > _MOST_ORDERS:
            return [] if self._known(board) else self._one_by_one(board)
        if square is None:
            return self._in_which_order(board, [" ".join(map(str, order)) for order in found.orders], board.arrivals)
        arrival = next(arrival for arrival in board.arrivals if arrival.square == square)
        if not self._has_waited(board, arrival):
            return []
        then = reduce(Game.play, found.certain, self._game)
        meant = contents_of(move.piece for move in legal_moves(then, arrival))
        return self.about(board, replace(arrival, contents=meant))

    def _one_by_one(self, board: Comparison) -> list[Event]:
        """Too much is possible to choose from: what the first unclear piece is; if none is unclear, how it stands."""
        unclear = [arrival for arrival in board.arrivals if len(arrival.pieces) > 1]
        if not unclear:
            return self._how_it_stands(board)
        if self._question.about_order:
            self._question.drop()
        return self.which_kind(board, unclear[0])

    def _how_it_stands(self, board: Comparison) -> list[Event]:
        """More has been played than can be put in order; the game may go on as it stood all the same."""
        lain_s = board.time - max(arrival.since for arrival in board.arrivals)
        if board.strange == self._question.resumed or lain_s < self._patience.clearing_s:
            return []
        return self._question.ask(self._here(board), "start", ("resume", "join", "new"), board.strange)

    def _in_which_order(
        self,
        board: Comparison,
        choices: Sequence[str],
        arrivals: Sequence[Arrival],
        taken_back: Mapping[str, int] | None = None,
    ) -> list[Event]:
        squares = tuple(sorted(arrival.square for arrival in arrivals))
        return self._question.ask(
            self._here(board), "order", tuple(choices), squares, arrivals=arrivals, taken_back=taken_back
        )

    # What came instead --------------------------------------------------------------------------------------------

    def before_taking_back(self, board: Comparison, arrivals: Sequence[Arrival]) -> list[Event]:
        """What keeps the `arrivals` from being taken for a legal play in place of the last placements."""
        played = played_instead(self._sheet.record, board, arrivals, unseen_s=self._patience.unseen_s)
        if played is None:
            return self._what_may_lie_instead(board, arrivals)
        if played.unseen is not None:
            return self.what_lies_out_of_sight(board, played.unseen, arrivals)
        if played.doubtful is not None:
            return self.about_after_a_while(board, played.doubtful)
        return self._whether_lifted(board, played)

    def _whether_lifted(self, board: Comparison, played: Instead) -> list[Event]:
        """Whether the last pieces were only lifted, and belong back, or what lies there was played in their place.

        Laid back they answer that themselves.
        """
        if board.time - board.changed_s(played.arrivals) < self._patience.clearing_s:
            return []
        choices = played.choices(self._game)
        if len(choices) > _MOST_ORDERS:
            unclear = [new for new in played.arrivals if len(new.pieces) > 1]
            return self.about_after_a_while(board, unclear[0]) if unclear else self._how_it_stands(board)
        return self._in_which_order(board, list(choices), played.arrivals, choices)

    def _what_may_lie_instead(self, board: Comparison, arrivals: Sequence[Arrival]) -> list[Event]:
        lacking = lacking_instead(self._sheet.record, board, arrivals)
        if lacking is None:
            return []
        waits_s = self._patience.unclear_s if arrivals else self._patience.maybe_s
        if board.time - board.changed_s([lacking, *arrivals]) < waits_s:
            return []
        return self.about(board, lacking)
