"""The referee compares what lies on the board with the game, and is the only state machine.

Theory of operation. `Referee.see` takes a `Snapshot` and answers with the events it decides. The squares on which
snapshot and game disagree are either *arrivals* (a piece where the game has none) or *losses* (a piece of the game is
gone, or another lies in its place). They are explained, the least surprising way first:

1. the arrivals are legal moves in the one order that the rules and the times allow: they are played;
2. exactly the last placements are lost and the arrivals are a different legal play: those moves were taken back;
3. an arrival that no legal move explains is an `IllegalPlacement`, or, where an unclear square would explain it, a
   question about that square. While it stands nothing later is committed; it is all looked at afresh at every snapshot,
   so what was held back is played, in order, as soon as the reason is gone;
4. a loss is `BoardDisturbed` until the same content is back.

Nothing is judged while a hand covers a square of the board, unless it stays there for longer than patience lasts. A wrong
silent commit is the worst thing this program can do: where two explanations are left, it asks.

What a person decides comes in through the other methods; each answers with events too. Every method takes the time it
happens at; the referee never asks a clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from companion import events
from companion.explanation import MOST_ARRIVALS, Arrival, explain, legal_moves
from companion.readings import (
    ANYTHING,
    EMPTY,
    SOME_PIECE,
    contents_of,
    of_colour,
    possible,
)
from companion.rules import Colour, Game, IllegalMoveError, Move, Pass, Piece, RulesError, Score, parse_move

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from companion.events import Event
    from companion.explanation import Explanation
    from companion.readings import Contents, SettledSquare, Snapshot
    from companion.rules import Content, Kind, Square


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the referee waits before it bothers people, in source seconds."""

    hand_s: float = 2.5
    """A hand that rests on the board for this long no longer holds up what lies in the open."""
    unclear_s: float = 1.0
    """A piece that cannot be told apart may become clear by itself for so long."""
    maybe_s: float = 5.0
    """A square that may or may not hold a piece is asked about after this."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A piece on the board that holds up the game, and the event that told people of it."""

    square: Square
    contents: Contents
    event: Event


@dataclass(slots=True)
class _Board:
    """One snapshot as the game sees it."""

    time: float
    arrivals: list[Arrival] = field(default_factory=list)
    maybes: list[Arrival] = field(default_factory=list)
    """Squares that may hold a piece, or be empty as the game has it."""
    lost: dict[Square, Contents] = field(default_factory=dict)
    kept: set[Square] = field(default_factory=set)
    """Squares of the game whose piece is surely or possibly there."""
    empty: bool = False
    """The whole board is in view and surely empty."""
    hand: bool = False
    """Something covers a part of the board, and has not been there for too long."""


class Referee:
    """One game in play, against what is seen of it."""

    def __init__(
        self,
        game: Game,
        *,
        table: str = "1",
        variant: str = "standard",
        patience: Patience | None = None,
    ) -> None:
        self.game = game
        self.table = table
        self.variant = variant
        self.paused = False
        self.question: events.ChoiceNeeded | None = None
        """What a person is asked right now, if the answer decides how the game goes on."""
        self.resigned: Colour | None = None
        self._patience = patience or Patience()
        self._past: list[Game] = []
        """The games before each placement of the history, so that placements can be taken back."""
        self._problems: dict[Square, Problem] = {}
        self._disturbed: set[Square] = set()
        self._said: dict[Square, tuple[Content, Contents]] = {}
        """What a person said that a square holds, and what was read there then."""
        self._away: set[Square] = set()
        """Squares whose piece was undone by a person and has to leave before anything counts there."""
        self._cards_played: dict[Colour, frozenset[Kind]] = {}
        self._hand_since: float | None = None
        self._started = False
        """Every square has been seen once."""
        self._clearing = False
        """The game is over and pieces are being taken off."""
        self._next_first = game.first
        self._snapshot: Snapshot | None = None

    # What is going on, for views -------------------------------------------------------------------------------------

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The pieces that hold up the game now."""
        return tuple(self._problems.values())

    @property
    def disturbed(self) -> frozenset[Square]:
        """The squares of the game whose piece is not there now."""
        return frozenset(self._disturbed)

    @property
    def over(self) -> bool:
        """Whether the match has ended, by the rules or by resigning."""
        return self.game.outcome is not None or self.resigned is not None

    # Seeing ----------------------------------------------------------------------------------------------------------

    def start(self, time: float) -> list[Event]:
        """Announce the match; call it once, before the first snapshot."""
        return [
            events.MatchStarted(
                time=time,
                table=self.table,
                ply=len(self.game.history) + 1,
                first=self.game.first,
                layout=str(self.game.layout),
                variant=self.variant,
            )
        ]

    def see(self, snapshot: Snapshot) -> list[Event]:
        """Compare a snapshot with the game; the events that this decides, in order."""
        self._snapshot = snapshot
        self._hand_since = None if not snapshot.hidden else (self._hand_since or snapshot.time)
        if self.paused or not self._all_seen(snapshot):
            return []
        board = self._compare(snapshot)
        if self.over:
            return self._after_the_end(board)
        if not self._started:
            self._started = True
            if self._does_not_fit(board):
                return self._ask(board.time, "start", ("resume", "join", "new"), self._strange(board))
        return [*self._restored(board), *self._decide(board)]

    def finish(self, time: float) -> list[Event]:
        """The source has ended: name the pieces that were never committed."""
        if self._snapshot is None or self.over:
            return []
        board = self._compare(self._snapshot)
        squares = tuple(sorted({arrival.square for arrival in board.arrivals} | set(self._problems)))
        return [events.Unresolved(time=time, table=self.table, ply=self._awaited, squares=squares)] if squares else []

    def _all_seen(self, snapshot: Snapshot) -> bool:
        return self._started or all(square.contents != ANYTHING for square in snapshot.squares)

    def _compare(self, snapshot: Snapshot) -> _Board:
        board = _Board(snapshot.time, empty=not snapshot.unsettled, hand=self._hand_holds_up(snapshot.time))
        for i, (square, seen) in enumerate(zip(self.game.layout, snapshot.squares, strict=True)):
            contents = self._with_what_was_said(square, seen.contents)
            board.empty &= contents == EMPTY
            self._compare_square(
                board, square, replace(seen, contents=contents), at_rest=not snapshot.unsettled >> i & 1
            )
        self._read_cards(board, snapshot)
        return board

    def _compare_square(self, board: _Board, square: Square, seen: SettledSquare, *, at_rest: bool) -> None:
        expected = self.game.content(square)
        if seen.contents & contents_of([expected]):
            if expected is not None:
                board.kept.add(square)
            elif seen.contents != EMPTY and at_rest:
                board.maybes.append(Arrival(square, seen.contents & SOME_PIECE, seen.since, seen.after))
            if seen.contents == EMPTY:
                self._away.discard(square)
            return
        if expected is not None:
            if at_rest or square in self._disturbed:
                board.lost[square] = seen.contents
        elif at_rest or square in self._problems:
            board.arrivals.append(Arrival(square, seen.contents & SOME_PIECE, seen.since, seen.after))

    def _with_what_was_said(self, square: Square, contents: Contents) -> Contents:
        """A person's word counts until something else is read than when they gave it."""
        if square not in self._said:
            return contents
        content, read_then = self._said[square]
        if contents & read_then == 0 or (contents == EMPTY and content is not None):
            del self._said[square]
            return contents
        return contents_of([content])

    def _hand_holds_up(self, time: float) -> bool:
        return self._hand_since is not None and time - self._hand_since < self._patience.hand_s

    def _read_cards(self, board: _Board, snapshot: Snapshot) -> None:
        """Narrow a cube by its owner's card, when that pile has changed since the owner's last cube."""
        if self.variant != "green-box":
            return
        for colour, kinds in snapshot.cards.items():
            if kinds == self._cards_played.get(colour):
                continue
            allowed = contents_of(Piece(colour, kind) for kind in kinds) | of_colour(colour.other)
            board.arrivals = [
                replace(arrival, contents=arrival.contents & allowed or arrival.contents) for arrival in board.arrivals
            ]

    # Deciding --------------------------------------------------------------------------------------------------------

    def _decide(self, board: _Board) -> list[Event]:
        self._forget_solved_problems(board)
        if board.hand:
            return []
        if self._close_question(board):
            return []
        if self.question is not None and self.question.question != "order":
            return []
        if self._was_emptied(board):
            return self._ask(board.time, "new", ("new", "resume"), ())
        taken_back = self._taken_back(board)
        if taken_back:
            return taken_back
        disturbed = self._note_losses(board)
        if self._away or self._may_be_moved_piece(board) or not (board.arrivals or board.maybes):
            return disturbed
        return [*disturbed, *self._explain(board)]

    def _explain(self, board: _Board) -> list[Event]:
        if not board.arrivals:
            return self._ask_about_maybes(board)
        if len(board.arrivals) > MOST_ARRIVALS:
            return self._ask(board.time, "start", ("resume", "join", "new"), self._strange(board))
        found = explain(self.game, board.arrivals)
        if self._problems and not found.complete:
            return self._tell_next_problem(board, found)
        played = self._play(board.time, found.certain)
        done = {move.square for move in found.certain}
        left = [arrival for arrival in board.arrivals if arrival.square not in done]
        if not left:
            return played
        board.arrivals = left
        return [*played, *self._tell_next_problem(board, explain(self.game, left))]

    def _tell_next_problem(self, board: _Board, found: Explanation) -> list[Event]:
        """Say what is in the way: an order or a piece that has to be told, or an illegal piece."""
        if self.over:
            return []
        if found.orders != ((),):
            return self._ask_what_is_meant(board, found)
        if any(arrival.square in self._problems for arrival in board.arrivals) and not self._changed(board):
            return []
        unclear = self._unclear_instead(board)
        if unclear is not None:
            return self._ask_about(board.time, unclear)
        return self._tell_illegal(board.time, self._first_to_blame(board.arrivals))

    def _ask_what_is_meant(self, board: _Board, found: Explanation) -> list[Event]:
        square = found.next_square
        if square is None:
            choices = tuple(" ".join(map(str, order)) for order in found.orders)
            return self._ask(board.time, "order", choices, tuple(sorted(a.square for a in board.arrivals)))
        arrival = next(arrival for arrival in board.arrivals if arrival.square == square)
        meant = contents_of(move.piece for move in legal_moves(self.game, arrival))
        if board.time - arrival.since < self._patience.unclear_s:
            return []
        return self._ask_about(board.time, replace(arrival, contents=meant))

    def _unclear_instead(self, board: _Board) -> Arrival | None:
        """A square that may hold a piece, and with which everything would be legal."""
        for maybe in board.maybes:
            if explain(self.game, [maybe, *board.arrivals]).complete:
                return maybe
        return None

    def _ask_about_maybes(self, board: _Board) -> list[Event]:
        for maybe in board.maybes:
            waited = board.time - maybe.since >= self._patience.maybe_s
            if waited and maybe.after > float("-inf") and legal_moves(self.game, maybe):
                return self._ask_about(board.time, maybe)
        return []

    def _ask_about(self, time: float, arrival: Arrival) -> list[Event]:
        """`PieceUnclear` or `KindNeeded`, once for what is read there."""
        known = self._problems.get(arrival.square)
        if known is not None and known.contents == arrival.contents:
            return []
        contents = possible(arrival.contents)
        colours = {piece.colour for piece in arrival.pieces}
        asks_kind = len(colours) == 1 and self._kind_not_seen(arrival)
        kind = events.KindNeeded if asks_kind else events.PieceUnclear
        event = kind(time=time, table=self.table, ply=self._awaited, square=arrival.square, contents=contents)
        self._problems[arrival.square] = Problem(arrival.square, arrival.contents, event)
        return [event]

    def _kind_not_seen(self, arrival: Arrival) -> bool:
        """Whether nothing but the colour is known: every kind that its owner still has is possible."""
        colour = arrival.pieces[0].colour
        in_hand = {kind for kind, left in self.game.in_hand(colour).items() if left}
        return self.variant == "green-box" or in_hand <= {piece.kind for piece in arrival.pieces}

    def _tell_illegal(self, time: float, arrival: Arrival) -> list[Event]:
        known = self._problems.get(arrival.square)
        if known is not None and known.contents == arrival.contents:
            return []
        piece = next((p for p in arrival.pieces if p.colour is self.game.to_move), arrival.pieces[0])
        refusal = self.game.refusal(arrival.square, piece)
        if refusal is None:  # legal by itself, but not before an earlier piece that is not: held back
            return []
        event = events.IllegalPlacement(
            time=time,
            table=self.table,
            ply=self._awaited,
            square=arrival.square,
            content=piece,
            reason=refusal.reason,
            legal=tuple(sorted(refusal.legal)),
            words=str(refusal),
        )
        self._problems[arrival.square] = Problem(arrival.square, arrival.contents, event)
        return [event]

    def _first_to_blame(self, arrivals: Sequence[Arrival]) -> Arrival:
        """The earliest arrival; among those that may be the earliest, one of the player to move."""
        earliest = [a for a in arrivals if not any(other.surely_before(a) for other in arrivals if other is not a)]
        movers = [a for a in earliest if any(piece.colour is self.game.to_move for piece in a.pieces)]
        return min(movers or earliest or list(arrivals), key=lambda arrival: arrival.since)

    def _changed(self, board: _Board) -> bool:
        """Whether a problem is read otherwise than when people were told of it."""
        now = {arrival.square: arrival.contents for arrival in board.arrivals}
        return any(now.get(square, problem.contents) != problem.contents for square, problem in self._problems.items())

    def _forget_solved_problems(self, board: _Board) -> None:
        there = {arrival.square for arrival in [*board.arrivals, *board.maybes]}
        for square in [square for square in self._problems if square not in there]:
            del self._problems[square]

    def _may_be_moved_piece(self, board: _Board) -> bool:
        """Whether an arrival may be a piece of the game that was shifted from its square."""
        missing = contents_of(self.game.content(square) for square in board.lost)
        return any(arrival.contents & missing for arrival in board.arrivals)

    # Playing ---------------------------------------------------------------------------------------------------------

    @property
    def _awaited(self) -> int:
        return len(self.game.history) + 1

    def _play(self, time: float, moves: Iterable[Move]) -> list[Event]:
        told: list[Event] = []
        for move in moves:
            told += self._advance(time, self.game.play(move))
            self._problems.pop(move.square, None)
            self.question = None
        return told

    def _advance(self, time: float, after: Game) -> list[Event]:
        """Make `after`, which is one placement on, the game, and tell all that came with it."""
        before, self.game = self.game, after
        self._past.append(before)
        if self._snapshot is not None:
            self._cards_played.update(self._snapshot.cards)
        told: list[Event] = []
        for ply, entry in enumerate(after.history[len(before.history) :], start=len(before.history) + 1):
            told.append(self._told(time, ply, entry))
        if after.last_chance and after.to_move is not None:
            legal = tuple(sorted(after.legal_squares()))
            told.append(
                events.LastChance(time=time, table=self.table, ply=self._awaited, colour=after.to_move, legal=legal)
            )
        if after.outcome is not None:
            told.append(self._game_over(time, after.outcome.winner))
        return told

    def _told(self, time: float, ply: int, entry: Move | Pass) -> Event:
        colour = entry.colour or Colour.LIGHT
        if isinstance(entry, Pass):
            return events.PassForced(time=time, table=self.table, ply=ply, colour=colour)
        score = self.game.score
        return events.MovePlayed(
            time=time,
            table=self.table,
            ply=ply,
            colour=colour,
            move=entry.plain,
            score=Score(score.light, score.dark),
            ruled=entry.ruled,
        )

    def _game_over(self, time: float, winner: Colour | None) -> Event:
        score = self.game.score
        return events.GameOver(
            time=time,
            table=self.table,
            ply=len(self.game.history),
            moves=tuple(map(str, self.game.history)),
            score=Score(score.light, score.dark),
            winner=winner,
        )

    # Losses, taking back ---------------------------------------------------------------------------------------------

    def _restored(self, board: _Board) -> list[Event]:
        back = tuple(sorted(self._disturbed & board.kept))
        self._disturbed -= set(back)
        if not back:
            return []
        return [events.BoardRestored(time=board.time, table=self.table, ply=self._awaited, squares=back)]

    def _note_losses(self, board: _Board) -> list[Event]:
        new = tuple(sorted(set(board.lost) - self._disturbed))
        self._disturbed |= set(new)
        if not new:
            return []
        return [events.BoardDisturbed(time=board.time, table=self.table, ply=self._awaited, squares=new)]

    def _taken_back(self, board: _Board) -> list[Event]:
        """The last placements are gone and another legal play lies there instead."""
        count = self._last_placements(set(board.lost))
        arrivals = [*board.arrivals, *self._replacements(board)]
        if not count or not arrivals:
            return []
        found = explain(self._past[-count], arrivals)
        if not found.unique:
            return []
        return [*self._take_back(board.time, count), *self._play(board.time, found.certain)]

    def _last_placements(self, lost: set[Square]) -> int:
        """How many placements at the end of the game are just the squares in `lost`; 0 if they are not."""
        last = [ply.square for ply in self.game.history if isinstance(ply, Move)][-len(lost) :] if lost else []
        fits = set(last) == lost and len(last) == len(lost) <= len(self._past)
        return len(last) if fits else 0

    def _replacements(self, board: _Board) -> list[Arrival]:
        """Other pieces that lie where a piece of the game was."""
        if self._snapshot is None:
            return []
        seen = dict(zip(self.game.layout, self._snapshot.squares, strict=True))
        return [
            Arrival(square, contents, seen[square].since, seen[square].after)
            for square, contents in board.lost.items()
            if not contents & EMPTY
        ]

    def _take_back(self, time: float, count: int) -> list[Event]:
        told: list[Event] = []
        for _ in range(count):
            before = self._past.pop()
            last = next(ply for ply in reversed(self.game.history) if isinstance(ply, Move))
            self.game = before
            self._disturbed.discard(last.square)
            told.append(events.MoveTakenBack(time=time, table=self.table, ply=len(before.history) + 1, move=last.plain))
        return told

    # Beginnings and ends ---------------------------------------------------------------------------------------------

    def _does_not_fit(self, board: _Board) -> bool:
        """Whether the first look at the board cannot be the game, or a move or two after it."""
        if board.lost:
            return True
        return bool(board.arrivals) and not explain(self.game, board.arrivals).unique

    def _strange(self, board: _Board) -> tuple[Square, ...]:
        return tuple(sorted({arrival.square for arrival in board.arrivals} | set(board.lost)))

    def _was_emptied(self, board: _Board) -> bool:
        placed = sum(piece is not None for piece in self.game.contents)
        return board.empty and placed > 2  # noqa: PLR2004 (one or two may be taken back)

    def _ask(self, time: float, question: str, choices: tuple[str, ...], squares: tuple[Square, ...]) -> list[Event]:
        if self.question is not None and (self.question.question, self.question.squares) == (question, squares):
            return []
        self.question = events.ChoiceNeeded(
            time=time, table=self.table, ply=self._awaited, question=question, choices=choices, squares=squares
        )
        return [self.question]

    def _close_question(self, board: _Board) -> bool:
        """Drop a question that the board itself has answered; whether that ends this look."""
        if self.question is None or self.question.question == "correct":
            return False
        if self.question.question == "order":
            asked = set(self.question.squares)
            if not asked <= {arrival.square for arrival in board.arrivals}:
                self.question = None
            return False
        if not board.lost and not board.arrivals and not board.empty:
            self.question = None
        return False

    def _after_the_end(self, board: _Board) -> list[Event]:
        """Removals are clearing up; the next match begins with its first piece on the cleared board."""
        if board.empty:
            self._clearing = True
            self._problems.clear()
        if self._clearing and not board.empty:
            return self._next_match(board)
        if board.lost or board.hand or not board.arrivals:
            self._forget_solved_problems(board)
            return []
        return self._tell_illegal(board.time, self._first_to_blame(board.arrivals))

    def _next_match(self, board: _Board) -> list[Event]:
        if board.hand or self._snapshot is None:
            return []
        fresh = Game.start(self._next_first, layout=self.game.layout, sets=self.game.sets)
        seen = Referee(fresh, table=self.table, variant=self.variant)._compare(self._snapshot)
        if not seen.arrivals or not explain(fresh, seen.arrivals).unique:
            return []
        return [*self.new_match(board.time, fresh), *self._decide(seen)]

    # What people decide ----------------------------------------------------------------------------------------------

    def new_match(self, time: float, game: Game) -> list[Event]:
        """Begin another match; the one in play is left as it is."""
        self._reset(game)
        self._next_first = game.first
        return self.start(time)

    def join(self, time: float, *, to_move: Colour, last: Square | None) -> list[Event]:
        """Take the board as it lies for the position of a game in progress.

        Raises:
            RulesError: if a square is hidden or unclear, or `last` is empty.
        """
        contents: dict[Square, Piece] = {}
        for square, seen in zip(self.game.layout, self._snapshot.squares if self._snapshot else (), strict=False):
            found = possible(self._with_what_was_said(square, seen.contents))
            if len(found) != 1:
                raise RulesError(f"what lies on {square} is not clear; say what it is, then join again")
            if found[0] is not None:
                contents[square] = found[0]
        before = tuple(map(str, self.game.history))
        joined = Game.from_position(
            contents, to_move=to_move, last=last, first=self.game.first, layout=self.game.layout, sets=self.game.sets
        )
        self._reset(joined)
        return [self._corrected(time, before)]

    def answer(self, time: float, square: Square, content: Content) -> list[Event]:
        """Say what `square` holds; it counts until something else is seen there."""
        seen = self._seen(square)
        self._said[square] = (content, seen)
        self._problems.pop(square, None)
        return self._look_again(time)

    def accept(self, time: float, square: Square, piece: Piece | None = None) -> list[Event]:
        """Rule that the piece on `square` counts, though the rules refuse it.

        Args:
            piece: what it is; by default what is read there, of the player to move if both colours are possible.

        Raises:
            IllegalMoveError: if the square is taken or the game is over.
            RulesError: if nothing is read there and `piece` is not given.
        """
        if piece is None:
            pieces = Arrival(square, self._seen(square), 0, 0).pieces
            piece = next((p for p in pieces if p.colour is self.game.to_move), next(iter(pieces), None))
        if piece is None:
            raise RulesError(f"no piece is seen on {square}; say which piece it is")
        told = self._advance(time, self.game.play(Move(square, piece.kind, piece.colour, ruled=True), ruled=True))
        self._problems.pop(square, None)
        self._said[square] = (piece, self._seen(square))
        return [*told, *self._look_again(time)]

    def undo(self, time: float) -> list[Event]:
        """Take the last move back; its piece has to leave the board before the game goes on.

        Raises:
            IllegalMoveError: if there is no move to take back.
        """
        if not self._past:
            raise RulesError("there is no move to take back")
        self.resigned = None
        last = next(ply for ply in reversed(self.game.history) if isinstance(ply, Move))
        told = self._take_back(time, 1)
        if not self._seen(last.square) & EMPTY:
            self._away.add(last.square)
        return told

    def correct(self, time: float, ply: int, text: str, *, rule_later: bool = False) -> list[Event]:
        """Replace the move at `ply` (1-based) by `text`; later moves stay.

        If a later move is illegal then, nothing changes and a `ChoiceNeeded` lists it; with `rule_later` it is accepted
        as a ruling.

        Raises:
            NotationError: if `text` is no move.
            RulesError: if there is no move at that ply, or `text` is not possible there.
        """
        history = self.game.history
        if not 1 <= ply <= len(history) or not isinstance(history[ply - 1], Move):
            raise RulesError(f"ply {ply} is not a move of this game; it has {len(history)} plies")
        change = parse_move(text)
        if not isinstance(change, Move):
            raise RulesError("a move can be replaced by a move only; passes follow by themselves")
        later = [entry for entry in history[ply:] if isinstance(entry, Move)]
        past = next(game for game in self._past if len(game.history) >= ply - 1)
        games, refused = _replayed(past, replace(change, colour=history[ply - 1].colour), later, rule_later=rule_later)
        if refused:
            return self._ask(time, "correct", tuple(refused), tuple(move.square for move in later))
        before = tuple(map(str, history[ply - 1 :]))
        self._past = [*(game for game in self._past if len(game.history) < ply - 1), *games[:-1]]
        self.game = games[-1]
        self.question = None
        return [self._corrected(time, before, ply), *self._end_if_over(time), *self._look_again(time)]

    def resign(self, time: float, colour: Colour) -> list[Event]:
        """End the match by a player giving up.

        Raises:
            RulesError: if the match is over already.
        """
        if self.over:
            raise RulesError("the match is over already")
        self.resigned = colour
        return [
            events.Resigned(time=time, table=self.table, ply=self._awaited, colour=colour),
            self._game_over(time, colour.other),
        ]

    def choose(self, time: float, choice: str) -> list[Event]:
        """Answer the question that is open.

        ``resume`` keeps the game and shows what differs; ``new`` begins a match with what lies there; an order of moves
        plays it.

        Raises:
            RulesError: if nothing is asked, or `choice` is not offered; ``join`` needs `join`.
        """
        question = self.question
        if question is None:
            raise RulesError("nothing is asked right now")
        if choice not in question.choices or choice == "join":
            raise RulesError(f"{choice!r} is not one of: {', '.join(question.choices)}")
        self.question = None
        if question.question == "order":
            return [*self._play(time, _moves(choice)), *self._look_again(time)]
        if choice == "new":
            fresh = Game.start(self.game.first, layout=self.game.layout, sets=self.game.sets)
            return [*self.new_match(time, fresh), *self._look_again(time)]
        return self._look_again(time)

    def _look_again(self, time: float) -> list[Event]:
        return [] if self._snapshot is None else self.see(replace(self._snapshot, time=time))

    def _seen(self, square: Square) -> Contents:
        if self._snapshot is None:
            return ANYTHING
        return self._snapshot.squares[self.game.layout.index(square)].contents

    def _corrected(self, time: float, before: tuple[str, ...], ply: int = 1) -> Event:
        after = tuple(map(str, self.game.history[ply - 1 :]))
        return events.Corrected(time=time, table=self.table, ply=ply, before=before, after=after)

    def _end_if_over(self, time: float) -> list[Event]:
        return [self._game_over(time, self.game.outcome.winner)] if self.game.outcome else []

    def _reset(self, game: Game) -> None:
        self.game = game
        self.question = None
        self.resigned = None
        self._past = []
        self._problems.clear()
        self._disturbed.clear()
        self._said.clear()
        self._away.clear()
        self._cards_played.clear()
        self._clearing = False


def _moves(text: str) -> list[Move]:
    return [move for move in map(parse_move, text.split()) if isinstance(move, Move)]


def _replayed(game: Game, change: Move, later: Sequence[Move], *, rule_later: bool) -> tuple[list[Game], list[str]]:
    """The games before and after every move, and the later moves that the rules refuse after `change`."""
    games = [game, game.play(change)]
    refused = []
    for move in later:
        try:
            games.append(games[-1].play(move))
        except IllegalMoveError:
            refused.append(str(move))
            if games[-1].to_move is None:
                break
            games.append(games[-1].play(move, ruled=True))
    return games, [] if rule_later else refused
