"""The referee is the umpire whom people may overrule: the one state machine of a game at a table.

By itself it does what `companion.referee.umpire` does. What a person decides comes in through the methods here:
another match, a position to join in, what lies on a square, a ruling, a correction, an answer. Each answers with
events, as seeing does, and where that may solve something looks at the board once more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from companion import events
from companion.readings import ANYTHING, EMPTY, contents_of, possible
from companion.referee.record import Record
from companion.referee.sight import Sight
from companion.referee.umpire import Umpire
from companion.rules import Game, Move, Position, RulesError, parse_moves
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Iterable

    from companion.events import Event
    from companion.rules import Colour, Content, Piece, Square


class Referee(Umpire):
    """One game in play, against what is seen of it and what people decide."""

    @property
    def cleared(self) -> bool:
        """Whether the match is over and its board was cleared since: what is laid there now begins the next one."""
        return self.over and self._clearing.done

    def new_match(self, time: float, game: Game) -> list[Event]:
        """Begin another match; the one in play is left as it is.

        What lies on the board now has to leave it first, lest it be taken for moves of this match. On another layout
        the board is looked at afresh, and it is asked about what lies there if anything did before.
        """
        never_seen, afresh = not self._sight.started, game.layout != self.game.layout
        lying = {square for square in self.game.layout if not self._sight.contents(square) & EMPTY}
        lying |= {move.square for move in self.game.moves if self._sight.contents(move.square) != EMPTY}
        if afresh:
            self._sight = Sight(game.layout, self._patience)
        told = self._start_match(time, game)
        self._keep_the_cards()
        if not afresh:
            self._losses.dismiss(lying)
        self._may_be_left_over = never_seen or (afresh and bool(lying))
        return told

    @property
    def _nothing_lies_in_it(self) -> bool:
        """Whether the game has no piece on the board."""
        return not any(self.game.contents)

    def _keep_the_cards(self) -> None:
        """What lies on the piles now tells no cube that is still to come."""
        if self._sight.snapshot is not None:
            self._cards.begin(self._sight.snapshot.cards)

    def take_up(self, undone: Iterable[Move], told: Iterable[Piece] = ()) -> None:
        """The match goes on after the program was started again, and nothing of the board was seen since.

        What still lies where moves are `undone` has to leave the board first; where that looks like another piece, it
        is asked what lies there: that may have been laid meanwhile. Where nothing was played, what lies there may be
        left of the match before, and is asked about. Cards of all that was ever `told` may lie on the piles.
        """
        for move in undone:
            self._losses.dismiss([move.square], ANYTHING if self._by_card else contents_of([move.piece]))
            self._cards.taken_back(move.piece, [other.piece for other in self.game.moves])
        for piece in told:
            self._cards.begin({piece.colour: frozenset({piece.kind})})
        self._may_be_left_over = self._nothing_lies_in_it

    def join(self, time: float, *, to_move: Colour, last: Square | None) -> list[Event]:
        """Take the board as it lies for the position of a game in progress.

        Raises:
            RulesError: if the match is over (begin a new one, then join), a square is hidden or unclear, or `last` does
                not hold the opponent's piece.
        """
        self._refuse_when_over()
        self._refuse_hidden()
        lies = {square: self._content_now(square) for square in self.game.layout}
        pieces = {square: piece for square, piece in lies.items() if piece is not None}
        position = Position(tuple(sorted(pieces.items())), to_move, last)
        joined = self.game.joined_at(position)
        before, said = tuple(map(str, self.game.history)), self._said
        self._begin(Record.of(joined))
        self._said = said
        self._keep_the_cards()
        after = tuple(map(str, joined.history))
        told = position.write(joined.layout)
        corrected = events.Corrected(**self._sheet.here(time, 1), before=before, after=after, position=told)
        return [corrected, *self._sheet.the_end(time)]

    def answer(self, time: float, square: Square, content: Content) -> list[Event]:
        """Say what `square` holds; it counts until something else is seen there.

        That nothing lies on a square that is out of sight counts for what was played until now.

        Raises:
            RulesError: if it should be a piece other than the game's own, and the square is seen to be empty, or was
                when it was last in sight.
        """
        seen = self._sight.contents(square)
        own = content is not None and content == self.game.content(square)
        if seen == EMPTY and content is not None and not own:
            raise RulesError(Saying("no piece is seen on %(square)s; lay it there, in sight", square=str(square)))
        if content is None:
            self._sight.was_empty_at(square, time)
        if seen != EMPTY or own:
            self._said.say(square, content, seen)
        self._problems.settle(square)
        return self._look_again(time)

    def accept(self, time: float, square: Square, piece: Piece | None = None) -> list[Event]:
        """Rule that the piece on `square` counts, though the rules refuse it.

        Args:
            piece: what it is; by default what is read there, of the player to move if both colours are possible.

        Raises:
            IllegalMoveError: if the square is taken.
            RulesError: if the match is over, or `piece` is not given and no piece, or more than one, may lie there.
        """
        self._refuse_when_over()
        piece = piece or self._piece_now(square)
        told = self._play(time, [Move(square, piece.kind, piece.colour, ruled=True)], ruled=True)
        self._problems.settle_all()
        self._say_if_seen(square, piece)
        return [*told, *self._look_again(time)]

    def _say_if_seen(self, square: Square, piece: Piece) -> None:
        """A person's word of a move counts for the square as well, if anything is seen or was said there."""
        if (seen := self._sight.contents(square)) != EMPTY or square in self._said.squares:
            self._said.say(square, piece, seen)

    def undo(self, time: float) -> list[Event]:
        """Take the last move back; its piece has to leave the board before the game goes on.

        Where a player has resigned, that is taken back instead, and the game goes on as it stood.

        Raises:
            RulesError: if there is no move to take back.
        """
        if self.resigned is not None:
            self._take_up_again()
            return [self._sheet.unresign(time), *self._sheet.the_end(time), *self._look_again(time)]
        square = self._sheet.record.last_move.square
        self._take_up_again()
        self._undo_on(square)
        return self._take_back(time, 1)

    def _take_up_again(self) -> None:
        """What was asked or done when the match was over, or stood otherwise, is of no account any more."""
        self._question.drop()
        self._clearing.call_off()

    def _undo_on(self, square: Square, *, unless: Square | None = None) -> None:
        """What lies on `square` counts no more: it has to leave before the game goes on."""
        if square != unless:
            self._said.forget_unseen({square})
        if square != unless and self._sight.contents(square) != EMPTY:
            self._losses.dismiss([square])

    def correct(self, time: float, ply: int, text: str, *, rule_later: bool = False) -> list[Event]:
        """Replace the move at `ply` (1-based) by `text`; later moves stay.

        So does a resignation, unless with this move the game was at its end before: then the moves decide.
        If a later move is illegal then, nothing changes and a `ChoiceNeeded` lists it; with `rule_later` it is accepted
        as a ruling. The game goes on meanwhile. To say again what stands there is no correction, but counts as seen.

        Raises:
            NotationError: if `text` is no move.
            RulesError: if there is no move at that ply, or `text` is not possible there.
        """
        record, refused = self._sheet.record.corrected(ply, text)
        if refused and not rule_later:
            self._question.leave_correction()
            return self._question.ask(self._here(time), "correct", ("resume",), illegal=refused)
        before = tuple(map(str, self.game.history[ply - 1 :]))
        after = tuple(map(str, record.game.history[ply - 1 :]))
        old, new = self.game.history[ply - 1], record.game.history[ply - 1]
        moot = self.resigned is not None and record.game.outcome is not None
        told = [self._sheet.unresign(time)] if moot else []
        self._sheet.record = record
        self._question.leave_correction()
        self._problems.settle_all()
        if isinstance(old, Move) and isinstance(new, Move):
            self._say_if_seen(new.square, new.piece)
            self._undo_on(old.square, unless=new.square)
            newest = [move for move in self.game.moves if move.colour is new.colour][-1:] == [new]
            self._cards.corrected(new.piece, newest=newest)
        if before == after:
            return self._look_again(time)
        corrected = events.Corrected(**self._sheet.here(time, ply), before=before, after=after)
        return [*told, corrected, *self._sheet.the_end(time), *self._look_again(time)]

    def resign(self, time: float, colour: Colour) -> list[Event]:
        """End the match by a player giving up, and a pause with it.

        Raises:
            RulesError: if the match is over already.
        """
        self._refuse_when_over()
        self._question.drop()
        self._problems.settle_all()
        return [*self.pause(time, paused=False), *self._sheet.resign(time, colour)]

    def pause(self, time: float, *, paused: bool) -> list[Event]:
        """Let what lies on the board decide nothing, or go on; nothing happens where that is so already."""
        if paused == self.paused:
            return []
        self.paused = paused
        return [events.Paused(**self._here(time), paused=paused)]

    def _refuse_when_over(self) -> None:
        if self.over:
            raise RulesError(Saying("the match is over already"))

    def choose(self, time: float, choice: str) -> list[Event]:
        """Answer the question that is open.

        ``resume`` keeps the game and shows what differs; ``new`` begins a match with what lies there; an order of moves
        plays it. What a correction would make illegal is ruled by `correct` itself; ``resume`` leaves all as it was.

        Raises:
            RulesError: if nothing is asked, or `choice` is not offered; ``join`` needs `join`.
        """
        question = self.question
        if question is None:
            raise RulesError(Saying("nothing is asked right now"))
        if choice == "join" and choice in question.choices:
            raise RulesError(
                Saying("'join' needs whose turn it is, and the square of the last piece; use `join` to say so")
            )
        if choice not in question.choices:
            offers = ", ".join(question.choices)
            raise RulesError(
                Saying(
                    "%(choice)s does not answer the question; offered are: %(offers)s",
                    choice=repr(choice),
                    offers=offers,
                )
            )
        left_over = set(self._question.resumed) if self.over else set()
        count = self._question.takes_back(choice)
        self._question.answer(choice)
        told: list[Event] = []
        if question.question == "order":
            told = self._take_back(time, count)
            plies = [ply for ply in parse_moves(choice) if isinstance(ply, Move)]
            told += self._play(time, [move for move in plies if self.game.content(move.square) is None])
        elif choice == "new":
            to_leave = self._losses.to_leave | left_over
            told = self._start_match(time, self._clearing.following)
            self._keep_the_cards()
            self._losses.dismiss(to_leave)
        elif question.question == "start" and self._nothing_lies_in_it:
            self._losses.dismiss(question.squares)
        if question.question in ("start", "new"):
            self._may_be_left_over = False
        return [*told, *self._look_again(time)]

    def _refuse_hidden(self) -> None:
        """Under a hand there may lie what was not seen; what a person has said is known all the same."""
        if unknown := sorted(self._sight.hidden - self._said.squares - self._sight.called_empty):
            raise RulesError(
                Saying(
                    "%(squares)s cannot be seen; take away what lies there, then join again",
                    squares=", ".join(map(str, unknown)),
                )
            )

    def _piece_now(self, square: Square) -> Piece:
        pieces = [found for found in self._possible_on(square) if found is not None]
        pieces = [found for found in pieces if found.colour is self.game.to_move] or pieces
        if not pieces:
            raise RulesError(Saying("no piece is seen on %(square)s; say which piece it is", square=str(square)))
        if len(pieces) > 1:
            raise RulesError(Saying("what lies on %(square)s is not clear; say which piece it is", square=str(square)))
        return pieces[0]

    def _look_again(self, time: float) -> list[Event]:
        snapshot = self._sight.snapshot
        return [] if snapshot is None else self.see(replace(snapshot, time=time))

    def _content_now(self, square: Square) -> Content:
        found = self._possible_on(square)
        if len(found) != 1:
            raise RulesError(
                Saying("what lies on %(square)s is not clear; say what it is, then join again", square=str(square))
            )
        return found[0]

    def _possible_on(self, square: Square) -> tuple[Content, ...]:
        return possible(self._said.heeded(square, self._sight.contents(square)))
