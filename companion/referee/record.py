"""A game together with its past, so that placements can be taken back and corrected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion.rules import Game, IllegalMoveError, Move, Pass, RulesError, parse_move
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from companion.rules import Ply, Square

_NO_MOVE = Saying("there is no move to take back")


@dataclass(frozen=True, slots=True)
class Record:
    """The game, and the game before each of its placements."""

    game: Game
    past: tuple[Game, ...] = ()

    @classmethod
    def of(cls, game: Game) -> Record:
        """The record of a game that has been going on, by playing its history again."""
        return cls(game.beginning).extend(game.history)

    def extend(self, plies: tuple[Ply, ...]) -> Record:
        """Play all the moves among `plies`; passes follow by themselves. Raises `IllegalMoveError`."""
        record = self
        for ply in plies:
            if isinstance(ply, Move):
                record = record.play(ply)
        return record

    def play(self, move: Move, *, ruled: bool = False) -> Record:
        """One placement on. Raises `IllegalMoveError`."""
        return Record(self.game.play(move, ruled=ruled), (*self.past, self.game))

    def take_back(self) -> Record:
        """One placement back; `RulesError` if there is none."""
        if not self.past:
            raise RulesError(_NO_MOVE)
        return Record(self.past[-1], self.past[:-1])

    @property
    def last_move(self) -> Move:
        """The last placement; `RulesError` if there is none."""
        if self.game.last_move is None:
            raise RulesError(_NO_MOVE)
        return self.game.last_move

    @property
    def newest(self) -> Iterator[tuple[int, Ply]]:
        """The last placement and the passes it forced, each with its 1-based ply."""
        known = len(self.past[-1].history) if self.past else 0
        return enumerate(self.game.history[known:], start=known + 1)

    def placements_on(self, squares: AbstractSet[Square]) -> int:
        """How many placements at the end of the game are just those on `squares`; 0 if they are not."""
        moves = [move.square for move in self.game.moves[-len(squares) :]] if squares else []
        return len(moves) if set(moves) == squares and len(moves) == len(squares) else 0

    def corrected(self, ply: int, text: str) -> tuple[Record, tuple[str, ...]]:
        """The record with the move at `ply` (1-based) replaced, and the later moves that are illegal then.

        Those are accepted as rulings in the record; whether they shall be is for a person to say. What was a ruling
        stays one.

        Raises:
            NotationError: if `text` is no move.
            RulesError: if there is no move at that ply, or `text` is not possible there, or ends the match before moves
                that were played.
        """
        before = self._before(ply)
        change = parse_move(text)
        if isinstance(change, Pass):
            raise RulesError(Saying("a move can be replaced by a move only; passes follow by themselves"))
        old = self.game.moves[len(before.past)]
        record = before.play(replace(change, colour=change.colour or old.colour), ruled=old.ruled)
        refused = []
        for move in (entry for entry in self.game.history[ply:] if isinstance(entry, Move)):
            try:
                record = record.play(move)
            except IllegalMoveError:
                if record.game.to_move is None:
                    told = Saying(
                        "with %(move)s the match is over before %(later)s; take that back, then correct this move",
                        move=str(change),
                        later=str(move),
                    )
                    raise RulesError(told) from None
                refused.append(str(move))
                record = record.play(move, ruled=True)
        return record, tuple(refused)

    def _before(self, ply: int) -> Record:
        history = self.game.history
        if not 1 <= ply <= len(history) or isinstance(history[ply - 1], Pass):
            told = Saying("ply %(ply)s is not a move of this game; it has %(plies)s plies", ply=ply, plies=len(history))
            raise RulesError(told)
        placements = sum(isinstance(entry, Move) for entry in history[: ply - 1])
        return Record(self.past[placements], self.past[:placements])
