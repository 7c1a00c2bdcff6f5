"""The umpire compares what lies on the board with the game, and decides by itself what is beyond doubt.

Theory of operation. `Umpire.see` takes a `Snapshot` and answers with the events it decides. The squares on which
snapshot and game disagree are either *arrivals* (a piece where the game has none) or *losses* (a piece of the game is
gone, or another lies in its place). They are explained, the least surprising way first:

1. the arrivals are legal moves in the one order that the rules and the times allow: they are played;
2. exactly the last placements are lost and the arrivals are a different legal play: those moves were taken back,
   unless they may go on the game as well, and the pieces have only been lifted, which is asked; taken back are also
   all from a piece on whose colour did not show when it was played, and turns out to be the other one;
3. an arrival that no legal move explains is an `IllegalPlacement`, or, where an unclear square would explain it, a
   question about that square. While it stands nothing later is committed; it is all looked at afresh at every snapshot,
   so what was held back is played, in order, as soon as the reason is gone;
4. a loss is `BoardDisturbed` until the same content is back; where the last piece was lifted, and what lies there now
   may be another kind than was seen before, that is asked: it may have been exchanged.

Nothing is judged while a hand covers a square of the board, unless it stays there for longer than patience lasts; nor
while a piece that is not played yet is out of sight: without it, what lies in the open could mean something else; nor
what moves would explain that may have been played where nothing was seen for seconds. A wrong silent commit is the
worst thing this program can do: where two explanations are left, it asks (`companion.referee.asking`).

What people decide against it, or in its place, is the referee's. Every method takes the time it happens at; nothing
here asks a clock.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from companion import events
from companion.referee import doubts
from companion.referee.asking import Asking
from companion.referee.cards import CardPiles
from companion.referee.clearing import Clearing
from companion.referee.comparison import Comparison, Sayings, compare
from companion.referee.explanation import explain
from companion.referee.instead import Instead, may_be_instead, played_instead, unclear_instead
from companion.referee.lifted import Lifted
from companion.referee.losses import Losses
from companion.referee.patience import Patience
from companion.referee.problems import Problem, Problems
from companion.referee.question import Question
from companion.referee.record import Record
from companion.referee.scoresheet import Scoresheet
from companion.referee.sight import Sight
from companion.referee.turning import quarter_turns
from companion.rules import Colour, Game, Move

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from companion.events import Event
    from companion.readings import Snapshot
    from companion.referee.explanation import Arrival, Explanation
    from companion.rules import Square, Variant

_FEW_PIECES = 2
"""So few pieces may be played before the program looks."""
_PILES_TELL_S = 0.5
"""So long after the first look at the board a card may be seen for the first time that lay there before."""


class Umpire:
    """One game in play, against what is seen of it."""

    def __init__(
        self,
        game: Game,
        *,
        table: str = "1",
        variant: Variant = "standard",
        patience: Patience | None = None,
    ) -> None:
        self.table = table
        self.variant = variant
        self.paused = False
        """While paused, what lies on the board decides nothing."""
        self.match = uuid4().hex
        """Which match this is: another name for every one, and when the program was started again."""
        self._patience = patience or Patience()
        self._sight = Sight(game.layout, self._patience)
        self._begin(Record.of(game))

    def _begin(self, record: Record, following: Game | None = None) -> None:
        """Another match; one that is recalled comes with the game `following` it."""
        game = record.game
        self._recalled = following is not None
        following = following or Game.start(game.first, layout=game.layout, sets=game.sets)
        self._sheet = Scoresheet(self.table, record)
        self._question = Question()
        self._problems = Problems(by_card=self._by_card)
        self._lifted = Lifted()
        self._losses = Losses()
        self._clearing = Clearing(following, still_s=self._patience.clearing_s, by_card=self._by_card)
        self._said = Sayings()
        lying = (piece for piece in game.beginning.contents if piece is not None)
        self._cards = CardPiles.of((move.piece for move in game.moves), lying)
        self._asking = Asking(
            self._sheet, self._question, self._problems, self._cards if self._by_card else None, self._patience
        )
        self._may_be_left_over = False
        """At the first look pieces may lie there that were never played in this match."""

    # What is going on, for views ----------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The game as far as it is committed."""
        return self._sheet.game

    @property
    def question(self) -> events.ChoiceNeeded | None:
        """What a person is asked right now."""
        return self._question.open

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The pieces that hold up the game now."""
        return tuple(self._problems)

    @property
    def disturbed(self) -> frozenset[Square]:
        """The squares of the game whose piece is not there now, and has to be put back."""
        return frozenset() if self.over else frozenset(self._losses.disturbed)

    @property
    def to_lift(self) -> frozenset[Square]:
        """The squares whose piece has to leave the board before the game goes on, or the next one begins.

        Not those of which it is asked what lies there.
        """
        if self.over and not self.problems and self.question is None:
            return frozenset(self._losses.to_leave | self._clearing.in_the_way)
        return frozenset(self._losses.to_leave - self._problems.squares)

    @property
    def said(self) -> frozenset[Square]:
        """The squares that hold what a person said, until something else is seen there."""
        return self._said.squares

    @property
    def unseen(self) -> frozenset[Square]:
        """The covered squares that were never seen, if they stay so: before all were seen once nothing is decided."""
        return self._sight.unseen(self._said.squares)

    @property
    def unread(self) -> frozenset[Square]:
        """The squares in the open of which nothing could be told yet, if they stay so."""
        return self._sight.unread(self._said.squares)

    @property
    def out_of_sight(self) -> frozenset[Square]:
        """The squares that were not seen at rest for long, in mid-game; what is played there is not told yet."""
        return frozenset() if self.over else self._sight.long_lost

    @property
    def over(self) -> bool:
        """Whether the match has ended, by the rules or by resigning."""
        return self._sheet.over

    @property
    def resigned(self) -> Colour | None:
        """Who has given the match up."""
        return self._sheet.resigned

    @property
    def recalls(self) -> bool:
        """Whether a match that has ended is shown only until the first look at the board."""
        return self._recalled and not self._sight.started and self.over

    @property
    def _by_card(self) -> bool:
        """Whether the kind is on the player's card, and not on the piece."""
        return self.variant == "green-box"

    # Seeing -------------------------------------------------------------------------------------------------------

    def recall(self, ended: Game, resigned: Colour | None = None) -> None:
        """Show a match on this board that ended before the program was started, in case its pieces still lie there.

        Call it before `start`. While they do, removing them is clearing up, and the next match begins as ever. On any
        other board its own game begins at the first look.
        """
        self._begin(Record.of(ended), self.game)
        self._sheet.resigned = resigned

    def lies_turned(self, snapshot: Snapshot) -> int:
        """By how many quarter turns, clockwise, the board surely lies turned; 0 if it does not.

        Where cards lie beside it that is not told: whose pile is whose would depend on who was turned.
        """
        return 0 if self._by_card else quarter_turns(self.game, snapshot)

    def start(self, time: float) -> list[Event]:
        """Announce the match; call it once, before the first snapshot. A match that has ended is not announced."""
        if self.over:
            return []
        pause = [events.Paused(**self._here(time), paused=True)] if self.paused else []
        return [self._sheet.begin(time, self.variant), *pause]

    def see(self, snapshot: Snapshot) -> list[Event]:
        """Compare a snapshot with the game; the events that this decides, in order."""
        self._sight.look(snapshot)
        if self.paused or self._sight.unknown(self._said.squares):
            return []
        board = self._compared(snapshot)
        if self.recalls and not board.is_left_of_game:
            return [*self._start_match(board.time, self._clearing.following), *self.see(snapshot)]
        first_look = not self._sight.started
        self._sight.start()
        self._look_at_cards(snapshot, first=first_look)
        if first_look and self.over and self._recalled and self._clearing.may_have_begun(board):
            return self._question.ask(self._here(board.time), "start", ("resume", "new"), tuple(sorted(board.kept)))
        if self.over:
            return self._after_the_end(board)
        if first_look and self._does_not_fit(board):
            return self._question.ask(self._here(board.time), "start", ("resume", "join", "new"), board.strange)
        return [*self._restored(board), *self._decide(board)]

    def finish(self, time: float) -> list[Event]:
        """The source has ended: name the pieces that were never committed; after the end, those not of the match.

        Squares in the open of which nothing could be told from the start are named as well: a piece may lie there.
        Nobody clears the board any more, so what lies there instead of the last piece was played instead.
        """
        snapshot = self._sight.snapshot
        if snapshot is None:
            return []
        if self.over and self._clearing.done:
            return self._unresolved(time, {arrival.square for arrival in self._clearing.lying(snapshot)})
        if self.resigned is not None:
            return []
        board = self._compared(snapshot)
        if self.over and not self.paused and not snapshot.restless and (told := self._played_otherwise(board)):
            return [*told, *self.finish(time)]
        strange = {arrival.square for arrival in (*board.arrivals, *(board.replaced if self.over else ()))}
        strange |= {square for square in board.held_back if self.game.content(square) is None}
        strange |= {maybe.square for maybe in doubts.maybe_played(self.game, board, self._said.squares)}
        long_unseen = [] if self.over else board.unseen
        strange |= {unseen.square for unseen in long_unseen if board.time - unseen.since >= self._patience.blind_s}
        untold = self._sight.unknown(self._said.squares) - self._sight.hidden
        return self._unresolved(time, strange | self._problems.squares | untold)

    def _unresolved(self, time: float, squares: AbstractSet[Square]) -> list[Event]:
        return [events.Unresolved(**self._here(time), squares=tuple(sorted(squares)))] if squares else []

    def _compared(self, snapshot: Snapshot) -> Comparison:
        known = self._losses.disturbed | self._problems.squares
        board = compare(self.game, snapshot, self._said, known=known)
        self._losses.look(board, self.game, self._said.squares)
        arrivals = board.arrivals
        if self._by_card:
            lifted = board.lifted(self.game)
            stirred = board.held_back | self._sight.stirred
            arrivals = self._cards.narrow(self.game, arrivals, snapshot.cards, snapshot.time, lifted, stirred)
        return replace(board, arrivals=arrivals, unseen=self._sight.anything_on(board.free))

    def _look_at_cards(self, snapshot: Snapshot, *, first: bool) -> None:
        """Piles are read a little later than squares, so cards count as lying there from the start for a while."""
        early = snapshot.time < self._sight.started_s + _PILES_TELL_S
        if first or (early and not self._cards.waited_for):
            self._cards.begin(snapshot.cards)
        self._cards.see(snapshot.cards, snapshot.time)

    # Deciding -----------------------------------------------------------------------------------------------------

    def _decide(self, board: Comparison) -> list[Event]:
        self._clearing.call_off()
        if not self._losses.to_leave:
            self._lifted.look(board)
        self._forget_solved_problems(board)
        self._question.look(board)
        # By what has been lifted, and what is still asked, as of this look.
        arrivals = [self._question.as_asked(arrival) for arrival in self._lifted.as_they_were(board.arrivals)]
        board = replace(board, arrivals=arrivals)
        if self._sight.hand_in_the_way or self._question.waits_for_a_person or board.held_back:
            return []
        if board.more_may_come(self._patience.rest_s) or self._question.shown(board):
            return []
        goes_on_bare = self._question.goes_on_bare(board)
        if board.is_swept(self.game) and not goes_on_bare:
            return self._question.ask(self._here(board.time), "new", ("new", "resume"))
        if self._losses.to_leave:
            other = self._losses.may_be_another(board)
            return [*self._note_losses(board), *(self._asking.about_after_a_while(board, other) if other else ())]
        doubtful = self._doubtful(board)
        if doubtful is not None:
            return [*self._note_losses(board), *self._asking.about_after_a_while(board, doubtful)]
        told = self._of_the_other_colour(board) or self._taken_back(board)
        return told or [*self._note_losses(board), *self._go_on(board)]

    def _go_on(self, board: Comparison) -> list[Event]:
        if may_be_instead(self._sheet.record, board):
            return self._asking.before_taking_back(board, self._instead(board))
        if not board.arrivals:
            return self._asking.about_maybes(board, doubts.maybe_played(self.game, board, self._said.squares))
        return self._explain(board)

    def _explain(self, board: Comparison) -> list[Event]:
        found = explain(self.game, board.arrivals)
        unseen = doubts.played_unseen(self.game, board.arrivals, board, found, self._patience.unseen_s)
        for other in board.unseen:
            if other is not unseen:
                self._problems.settle_out_of_sight(other.square)
        if unseen is not None:
            return self._asking.what_lies_out_of_sight(board, unseen, board.arrivals)
        others_open = self._problems.squares - {move.square for move in found.certain}
        if not found.certain or (others_open and not found.complete):
            return self._asking.what_is_wrong(board, found)
        doubtful = doubts.first(self.game, board, found, self._said.squares)
        if doubtful is not None:
            return self._asking.which_kind(board, doubtful)
        moves = self._beyond_doubt(board, found)
        told = self._play(board.time, moves)
        played = {move.square for move in moves}
        left = [arrival for arrival in board.arrivals if arrival.square not in played]
        if not left or self.over or moves != found.certain:
            return told
        return [*told, *self._go_on(replace(board, arrivals=left))]

    def _beyond_doubt(self, board: Comparison, found: Explanation) -> tuple[Move, ...]:
        """The moves that were found, as far as nothing out of sight, or just lifted, may have come between."""
        if doubts.between(self.game, replace(board, maybes=self._lifted.missing(board)), found):
            return ()
        return doubts.played_in_sight(self.game, board.arrivals, board, found, self._patience.unseen_s)

    def _forget_solved_problems(self, board: Comparison) -> None:
        if not self._problems.squares:
            return
        doubtful = self._doubtful(board)
        unseen = board.unseen if board.arrivals or board.replaced else ()
        open_ = [*board.arrivals, *board.maybes, *board.hardly_replaced, *unseen, *([doubtful] if doubtful else [])]
        there = {arrival.square for arrival in open_}
        self._problems.keep_to(there)

    # Playing ------------------------------------------------------------------------------------------------------

    def _here(self, time: float) -> dict[str, Any]:
        return self._sheet.here(time)

    def _play(self, time: float, moves: Iterable[Move], *, ruled: bool = False) -> list[Event]:
        told: list[Event] = []
        for move in moves:
            told += self._sheet.play(time, move, ruled=ruled)
            if self._sight.snapshot is not None:
                self._cards.played(self._sheet.record.last_move.piece)
                if not ruled and move.square not in self._said.squares:
                    self._losses.played(move.square, self._sight.contents(move.square))
            self._problems.settle(move.square)
            self._lifted.forget()
            self._question.drop()
        return told

    # Losses, taking back ------------------------------------------------------------------------------------------

    def _restored(self, board: Comparison) -> list[Event]:
        back = self._losses.restored(board, self.game)
        if self.game.last_square in back:  # then nothing was played in its place
            for maybe in board.maybes:
                self._problems.settle(maybe.square)
        return [events.BoardRestored(**self._here(board.time), squares=back)] if back else []

    def _doubtful(self, board: Comparison) -> Arrival | None:
        """What lies there for the last piece, if that is to be asked before anything follows it."""
        return (
            self._losses.may_be_swapped(board, self.game)
            or unclear_instead(self._sheet.record, board, self._instead(board))
            or self._may_be_misread(board)
            or self._may_be_of_another_card(board)
        )

    def _may_be_of_another_card(self, board: Comparison) -> Arrival | None:
        if not self._by_card or self.game.last_square not in board.kept.keys() - self._said.squares:
            return None
        return self._cards.may_be_exchanged(self.game, board.arrivals)

    def _may_be_misread(self, board: Comparison) -> Arrival | None:
        return self._losses.may_be_misread(board, self.game, self._said.squares)

    def _note_losses(self, board: Comparison) -> list[Event]:
        new = self._losses.newly_disturbed(board)
        return [events.BoardDisturbed(**self._here(board.time), squares=new)] if new else []

    def _taken_back(self, board: Comparison) -> list[Event]:
        """The last placements are gone and another legal play lies there instead."""
        played = self._played_instead(board)
        if played is None or played.doubtful or played.unseen or played.goes_on:
            return []
        return [*self._take_back(board.time, played.count), *self._play(board.time, played.moves)]

    def _played_instead(self, board: Comparison) -> Instead | None:
        arrivals = self._instead(board)
        return played_instead(self._sheet.record, board, arrivals, unseen_s=self._patience.unseen_s)

    def _instead(self, board: Comparison) -> list[Arrival]:
        """What may lie there in place of the last placements."""
        found = [*board.arrivals, *board.replaced]
        if not self._by_card:
            return found
        return self._cards.narrow_moved(self.game, found, board.snapshot.cards, board.time, board.lifted(self.game))

    def _take_back(self, time: float, count: int) -> list[Event]:
        told: list[Event] = []
        self._problems.settle_all()
        self._question.drop()
        for _ in range(count):
            move, event = self._sheet.take_back(time)
            self._losses.disturbed.discard(move.square)
            self._cards.taken_back(move.piece, [other.piece for other in self.game.moves])
            told.append(event)
        return told

    def _of_the_other_colour(self, board: Comparison) -> list[Event]:
        """All moves are taken back from the first piece on that was not its player's, as is seen now.

        Before pieces of both colours lie there it may not show which of them a piece has.
        """
        mistaken = self._losses.of_the_other_colour(board)
        squares = [move.square for move in self.game.moves]
        return self._take_back(board.time, len(squares) - min(map(squares.index, mistaken))) if mistaken else []

    # Beginnings and ends ------------------------------------------------------------------------------------------

    def _does_not_fit(self, board: Comparison) -> bool:
        """Whether the first look at the board can be neither the game nor a move or two after it."""
        if board.lost or len(board.arrivals) > _FEW_PIECES or (self._may_be_left_over and board.arrivals):
            return True
        return bool(board.arrivals) and not explain(self.game, board.arrivals).complete

    def _after_the_end(self, board: Comparison) -> list[Event]:
        """Removals are clearing up, unless just the last move is played otherwise."""
        self._said.forget_unseen(self._said.unseen)
        self._forget_solved_problems(board)
        self._clearing.look(board)
        self._question.look_after_the_end(board, cleared=self._clearing.done)
        if self._sight.hand_in_the_way or self._question.waits_for_a_person:
            return []
        begun = self._next_match(board)
        if begun or self._clearing.done or self.resigned is not None:
            return begun
        if board.lost.keys() == {self.game.last_square}:
            return self._without_the_last_piece(board)
        for maybe in (*board.maybes, *board.hardly_replaced, *board.replaced):
            self._problems.settle(maybe.square)
        if board.lost:
            return []
        return self._problems.illegal(self._here(board.time), self.game, board.arrivals) if board.arrivals else []

    def _without_the_last_piece(self, board: Comparison) -> list[Event]:
        """Just the piece that ended the match has left: another move was played and left there, or may have been."""
        if board.held_back or self._losses.to_leave:
            return []
        if board.time - board.changed_s(self._instead(board)) < self._patience.clearing_s:
            return []
        misread = self._may_be_misread(board)
        if misread is not None:
            return self._asking.about(board, misread)
        return self._taken_back(board) or self._asking.before_taking_back(board, self._instead(board))

    def _played_otherwise(self, board: Comparison) -> list[Event]:
        """The move that ended the match was taken back, and another one played."""
        if len(board.lost) > 1 or board.held_back or self._losses.to_leave or self._may_be_misread(board):
            return []
        return self._taken_back(board)

    def _next_match(self, board: Comparison) -> list[Event]:
        left_over = frozenset(self._question.resumed)
        doubtful = self._clearing.begun(board, self.game, resigned=self.resigned is not None, left_over=left_over)
        if doubtful is None:
            return []
        if doubtful:
            return self._question.ask(self._here(board.time), "start", ("resume", "new"), doubtful)
        begun = self._start_match(board.time, self._clearing.following)
        self._losses.dismiss(left_over)
        return [*begun, *self._decide(self._compared(board.snapshot))]

    def _start_match(self, time: float, game: Game) -> list[Event]:
        cards = self._cards
        self._begin(Record.of(game))
        self.match = uuid4().hex
        self._cards.follow(cards)
        return self.start(time)
