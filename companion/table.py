"""One game in play: a source is read, settled, refereed and logged, in that order, by whoever steps the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from companion import events
from companion.errors import EndOfSource, SourceError
from companion.settling import Settler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.events import Event
    from companion.readings import Source
    from companion.referee import Referee


class Recorder(Protocol):
    """Where events are kept before anyone is shown them."""

    def record(self, told: Sequence[Event], evidence: bytes = b"") -> None:
        """Keep events, in order, with the picture that decided them."""
        ...


class Table:
    """A source, the referee of its game, and the log."""

    def __init__(self, source: Source, referee: Referee, recorder: Recorder) -> None:
        self.source = source
        self.referee = referee
        self.ended = False
        """The source is a file and has been read to its end."""
        self._recorder = recorder
        self._settler = Settler(referee.game.layout)
        self._time = 0.0
        self.lost = ""
        """Why the source delivers nothing, while it does not."""

    def start(self) -> list[Event]:
        """Announce the match."""
        return self._kept(self.referee.start(self._time))

    def step(self, timeout_s: float) -> list[Event]:
        """Read once, and answer with what that decides; empty when there was nothing to read."""
        try:
            reading = self.source.read(timeout_s)
        except EndOfSource:
            self.ended = True
            return self._kept(self.referee.finish(self._time))
        except SourceError as error:
            return self._kept(self._source_lost(str(error)))
        if reading is None:
            return []
        self._time = reading.time
        told = [*self._source_back(), *self.referee.see(self._settler.feed(reading))]
        return self._kept(told, reading.evidence)

    def _kept(self, told: list[Event], evidence: bytes = b"") -> list[Event]:
        if told:
            self._recorder.record(told, evidence)
        return told

    def _source_lost(self, why: str) -> list[Event]:
        if self.lost:
            return []
        self.lost = why
        return [events.SourceLost(**self._here(), source=self.source.name, why=why)]

    def _source_back(self) -> list[Event]:
        if not self.lost:
            return []
        self.lost = ""
        return [events.SourceBack(**self._here(), source=self.source.name)]

    def _here(self) -> dict[str, Any]:
        return {"time": self._time, "table": self.referee.table, "ply": len(self.referee.game.history) + 1}
