"""The sources of one table: each is read in turn and settled on its own, and what they say together is one snapshot.

A source that is lost, or has come to its end, has no say; the others go on alone. Only when none is left is there
nothing to see. With one source, what it says is the snapshot. A source before which the board lies turned is told
which square is which.
"""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.errors import EndOfSource, RulesError, SourceError
from companion.fusion import Fusion
from companion.saying import Saying, joined
from companion.settling import Settler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from companion.fusion import Disagreement
    from companion.readings import BoardReading, Snapshot, Source
    from companion.rules import Layout


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What one look at the sources has brought."""

    source: str
    """Who brought it."""
    snapshot: Snapshot | None = None
    """What lies on the board now; None if the source brought word of its loss."""
    lost: str = ""
    """Why the source has just been lost, or is lost now; empty for a reason that was told since it delivered last."""
    back: bool = False
    """The source was lost, and delivers again."""
    disagreements: tuple[Disagreement, ...] = ()
    """What the sources have just begun to disagree about."""


class _Sense:
    """One source, and what has been heard of it."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.source = source
        self.lost = ""
        self.reasons: set[str] = set()
        """Why it was lost since it delivered last."""
        self.ended = False
        self.forget(layout)

    def forget(self, layout: Layout) -> None:
        """What was seen before counts no more: it is a board of this layout now, which lies as the source says."""
        self.places: tuple[int, ...] | None = None
        """Where the source sees each square, if the board lies turned."""
        self._look_afresh(layout)

    def turn(self, layout: Layout, quarters: int) -> None:
        """The board lies turned so much, against what was said until now; what was seen has to be seen anew."""
        turned = layout.turned(quarters)
        assert turned is not None
        self.places = turned if self.places is None else tuple(self.places[place] for place in turned)
        self._look_afresh(layout)

    def feed(self, reading: BoardReading) -> Snapshot:
        """What lies there, as far as this source tells."""
        return self.settler.feed(reading if self.places is None else reading.moved(self.places))

    def _look_afresh(self, layout: Layout) -> None:
        self.settler = Settler(layout, settle_s=self.source.settle_s)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def excuse(self) -> str:
        """Why it is of no use now; empty if it is."""
        return self.lost or (Saying("it has come to its end") if self.ended else self.source.trouble)


class Senses:
    """All sources of a table, which have to go by the same clock. One thread at a time looks.

    `lies_turned` tells by how many quarter turns, clockwise, the board lies turned in a snapshot.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        layout: Layout,
        *,
        sets: int | None = None,
        lies_turned: Callable[[Snapshot], int] = lambda snapshot: 0,  # noqa: ARG005 (a board that nobody knows)
    ) -> None:
        """They look at a board of this layout, with so many `sets` of pieces; by default as many as it needs."""
        self._lies_turned = lies_turned
        self._senses = tuple(_Sense(source, layout) for source in sources)
        self._turns = deque(self._senses)
        self._layout, self._sets = layout, layout.default_sets if sets is None else sets
        self._fusion = self._fusing()
        self.name = " + ".join(sense.name for sense in self._senses)
        """The texts that the sources were opened by."""

    @property
    def recorded(self) -> bool:
        """Whether what they show is only played back: nobody can touch that board."""
        return not any(sense.source.live for sense in self._senses)

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """What the sources disagree about now."""
        return self._fusion.disagreements if self._fusion else ()

    @property
    def lost(self) -> str:
        """Why no source delivers anything; empty while one does."""
        return joined([sense.lost for sense in self._left]) if all(sense.lost for sense in self._left) else ""

    @property
    def trouble(self) -> str:
        """Why nothing can be read though a source delivers; empty while one can be read."""
        troubles = [sense.source.trouble for sense in self._left if not sense.lost]
        return joined(troubles) if all(troubles) else ""

    @property
    def absent(self) -> tuple[tuple[str, str], ...]:
        """The sources that are of no use while another is, each with the reason."""
        useless = tuple((sense.name, sense.excuse) for sense in self._senses if sense.excuse)
        return useless if len(useless) < len(self._senses) else ()

    def look(self, timeout_s: float) -> Glimpse | None:
        """Read the sources until one of them brings something; None if none does within `timeout_s`.

        Raises:
            EndOfSource: after the last source has come to its end.
        """
        waits_s = (0.0, timeout_s / len(self._turns)) if self._fusion else (timeout_s,)
        for wait_s in waits_s:
            for _ in range(len(self._turns)):
                self._turns.rotate(-1)
                glimpse = self._read(self._turns[-1], wait_s)
                if glimpse is not None:
                    return glimpse
        return None

    def lay_out(self, layout: Layout, sets: int) -> None:
        """Look at a board of this layout from now on, and at nothing that was seen of the one before.

        So many `sets` of pieces are in play.

        Raises:
            RulesError: if a source cannot; then all go on with the old board.
        """
        told: list[_Sense] = []
        try:
            for sense in self._senses:
                sense.source.lay_out(layout, sets)
                told.append(sense)
        except RulesError:
            for sense in told:
                with contextlib.suppress(RulesError):  # each of them, and the reason is the first one's
                    sense.source.lay_out(self._layout, self._sets)
            raise
        self._layout, self._sets = layout, sets
        for sense in self._senses:
            sense.forget(layout)
        self._fusion = self._fusing()

    def close(self) -> None:
        """Close every source."""
        for sense in self._senses:
            sense.source.close()

    @property
    def _left(self) -> Sequence[_Sense]:
        """The sources that have not come to their end; all of them when all have."""
        return [sense for sense in self._senses if not sense.ended] or self._senses

    def _fusing(self) -> Fusion | None:
        return Fusion(self._layout) if len(self._senses) > 1 else None

    def _read(self, sense: _Sense, timeout_s: float) -> Glimpse | None:
        try:
            reading = None if sense.ended else sense.source.read(timeout_s)
        except EndOfSource:
            self._end(sense)
            return None
        except SourceError as error:
            return self._lose(sense, error.saying)
        return None if reading is None else self._take(sense, reading)

    def _end(self, sense: _Sense) -> None:
        sense.ended = True
        if all(other.ended for other in self._senses):
            raise EndOfSource(f"{self.name} has ended")
        self._silence(sense)

    def _lose(self, sense: _Sense, why: str) -> Glimpse | None:
        if sense.lost == why:
            return None
        if not sense.lost:
            self._silence(sense)
        known = why in sense.reasons
        sense.lost = why
        sense.reasons.add(why)
        return Glimpse(sense.name, lost="" if known else why)

    def _silence(self, sense: _Sense) -> None:
        if self._fusion:
            self._fusion.lose(sense.name)

    def _take(self, sense: _Sense, reading: BoardReading) -> Glimpse:
        back, sense.lost = bool(sense.lost), ""
        sense.reasons.clear()
        snapshot = sense.feed(reading)
        if sense.source.may_turn and (quarters := self._lies_turned(snapshot)):
            sense.turn(self._layout, quarters)
            self._silence(sense)
            snapshot = sense.feed(reading)
        if self._fusion is None:
            return Glimpse(sense.name, snapshot, back=back)
        known = {told.square for told in self._fusion.disagreements}
        fused = self._fusion.feed(sense.name, snapshot)
        fresh = tuple(told for told in self._fusion.disagreements if told.square not in known)
        return Glimpse(sense.name, fused, back=back, disagreements=fresh)
