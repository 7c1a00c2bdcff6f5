"""The log as a table in play writes to it: what cannot be written now is kept, and written in order when it can be."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion.errors import ConflictError, StoreError
from companion.events import GameOver, MatchStarted
from companion.rules import Layout
from companion.store.records import Opening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.events import Event
    from companion.store.log import MatchLog
    from companion.store.records import Match


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Begun:
    opening: Opening
    started: str


@dataclass(frozen=True, slots=True)
class _Happened:
    events: tuple[Event, ...]
    evidence: bytes


class Recorder:
    """Writes one table's matches, one after the other, whatever becomes of the disk.

    A full disk or a locked file must not stop a game: `record` keeps what it could not write, and the next call writes
    it first. Until then `behind` is not zero, which people must be told. Belongs to one thread.

    What can never be written, as another program has gone on with the match, is given up when the next match begins;
    `lost` tells that from then on.

    A `MatchStarted` begins a match in the log, and tells how it opens as far as it knows; `opening` tells the rest.
    Only the first one after `resume` belongs to the match that goes on; one that has ended does not go on, but may be
    taken up again by an event that undoes its end.
    """

    def __init__(self, log: MatchLog, opening: Opening | None = None, *, resume: Match | None = None) -> None:
        """Write to `log`; go on with the match `resume` where there is one (`MatchLog.latest`)."""
        self._log = log
        self._waiting: deque[_Begun | _Happened] = deque()
        self._resumes = resume is not None and not resume.finished
        self._begun = resume is not None
        self._length = resume.length if resume else 0
        self.opening = opening or (resume.opening if resume else Opening())
        """The next match's players, sets and tags; the event tells its table, layout, variant and first move."""
        self.match = resume.id if resume else None
        """The number of the match that is being written; None until one is on disk."""
        self.filed = self._filed(resume) if resume else None
        """The number and the final hash of the match, once it has ended and is on disk, where it stays."""
        self.trouble: StoreError | None = None
        """Why it is behind; None when it is not."""
        self.lost: StoreError | None = None
        """Why something that was recorded will never be on disk; None while everything may be."""

    @property
    def behind(self) -> int:
        """How many events, and beginnings of matches, are not on disk."""
        return sum(len(waiting.events) if isinstance(waiting, _Happened) else 1 for waiting in self._waiting)

    def record(self, told: Sequence[Event], evidence: bytes = b"") -> None:
        """Write events, in order, with what was seen when they were decided.

        Raises:
            RulesError: if the next match's `opening` makes no sense.

        """
        together: list[Event] = []
        for event in told:
            if self._begins_match(event):
                self._wait(together, evidence)
                together = []
                self._begin(event)
            together.append(event)
        self._wait(together, evidence)
        self.flush()

    def flush(self) -> bool:
        """Try to write what is waiting, in order. Whether all is on disk."""
        self.trouble = None
        while self._waiting:
            try:
                self._write(self._waiting[0])
            except StoreError as error:
                self.trouble = error
                if not (isinstance(error, ConflictError) and self._give_up(error)):
                    return False
                self.trouble = None
            else:
                self._waiting.popleft()
        return True

    def _give_up(self, why: ConflictError) -> bool:
        """Forget what waits for a match that cannot go on, if the next one has begun. Whether it has."""
        begun = next((place for place, waiting in enumerate(self._waiting) if isinstance(waiting, _Begun)), None)
        if begun is None:
            return False
        behind = self.behind
        for _ in range(begun):
            self._waiting.popleft()
        lost = behind - self.behind
        self.lost = why
        logger.warning("events of match %s that are not recorded, and never will be: %d; %s", self.match, lost, why)
        return True

    def _begins_match(self, event: Event) -> bool:
        if not isinstance(event, MatchStarted):
            return not self._begun
        goes_on, self._resumes = self._resumes, False
        return not goes_on

    def _begin(self, event: Event) -> None:
        opening = replace(self.opening, table=event.table)
        if isinstance(event, MatchStarted):
            sets = opening.sets if Layout.parse(event.layout) == Layout.parse(opening.layout) else None
            opening = replace(opening, first=event.first, layout=event.layout, sets=sets, variant=event.variant)
        self._waiting.append(_Begun(opening.settled(), self._log.now()))
        self._begun = True

    def _wait(self, events: list[Event], evidence: bytes) -> None:
        if events:
            self._waiting.append(_Happened(tuple(events), evidence))

    def _write(self, waiting: _Begun | _Happened) -> None:
        if isinstance(waiting, _Begun):
            self.match, self._length = self._log.begin(waiting.opening, started=waiting.started), 0
            self.filed = None
            return
        assert self.match is not None  # begun, or waiting behind what begins it
        length = self._log.append(self.match, waiting.events, waiting.evidence, after=self._length)
        if self.filed or any(isinstance(event, GameOver) for event in waiting.events):
            self.filed = self._filed(self._log.match(self.match))
        self._length = length

    def _filed(self, match: Match) -> tuple[int, str] | None:
        return (match.id, match.digest) if match.finished and self._log.kept else None
