"""What has been played in a match, as it is written down, and the events that tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from companion import events
from companion.rules import Colour, Move, Pass

if TYPE_CHECKING:
    from companion.events import Event
    from companion.referee.record import Record
    from companion.rules import Game, Ply, Variant


class Scoresheet:
    """The moves of one match, and who has resigned it; what is written or crossed out is told in events."""

    def __init__(self, table: str, record: Record) -> None:
        self.table = table
        self.record = record
        self.resigned: Colour | None = None

    @property
    def game(self) -> Game:
        """The game as far as it is played."""
        return self.record.game

    @property
    def over(self) -> bool:
        """Whether the match has ended, by the rules or by resigning."""
        return self.game.outcome is not None or self.resigned is not None

    def here(self, time: float, ply: int | None = None) -> dict[str, Any]:
        """What every event begins with; `ply` is the one awaited unless it is given."""
        return {"time": time, "table": self.table, "ply": ply or len(self.game.history) + 1}

    def begin(self, time: float, variant: Variant) -> Event:
        """Tell that the match begins."""
        game = self.game
        return events.MatchStarted(**self.here(time), first=game.first, layout=str(game.layout), variant=variant)

    def play(self, time: float, move: Move, *, ruled: bool = False) -> list[Event]:
        """Write a move down, with the passes that it forces. Raises `IllegalMoveError`."""
        self.record = self.record.play(move, ruled=ruled)
        return [*(self._entry(time, ply, entry) for ply, entry in self.record.newest), *self.the_end(time)]

    def take_back(self, time: float) -> tuple[Move, Event]:
        """Cross out the last move; it is given back. Raises `RulesError` if there is none."""
        move, self.record = self.record.last_move, self.record.take_back()
        return move, events.MoveTakenBack(**self.here(time), move=move.plain)

    def resign(self, time: float, colour: Colour) -> list[Event]:
        """Write down that a player gives up."""
        self.resigned = colour
        return [events.Resigned(**self.here(time), colour=colour), *self.the_end(time)]

    def unresign(self, time: float) -> Event:
        """Cross a resignation out."""
        self.resigned = None
        return events.Corrected(**self.here(time), before=(), after=())

    def the_end(self, time: float) -> list[Event]:
        """Tell that the match is over, or nearly so; nothing while it is neither."""
        game = self.game
        if self.resigned is not None:
            return [self._game_over(time, self.resigned.other)]
        if game.outcome is not None:
            return [self._game_over(time, game.outcome.winner)]
        if game.last_chance and game.to_move is not None:
            legal = tuple(sorted(game.legal_squares()))
            return [events.LastChance(**self.here(time), colour=game.to_move, legal=legal)]
        return []

    def _entry(self, time: float, ply: int, entry: Ply) -> Event:
        here, colour = self.here(time, ply), entry.colour or Colour.LIGHT
        if isinstance(entry, Pass):
            return events.PassForced(**here, colour=colour)
        return events.MovePlayed(
            **here, colour=colour, move=entry.plain, score=self.game.score.plain, ruled=entry.ruled
        )

    def _game_over(self, time: float, winner: Colour | None) -> Event:
        history = self.game.history
        moves = tuple(map(str, history))
        return events.GameOver(**self.here(time, len(history)), moves=moves, score=self.game.score.plain, winner=winner)
