"""Readings become a snapshot: what has lain still for long enough to be believed.

Each square is on its own. Its visible readings of the last moments vote: a content that more than one reading in four
rules out is ruled out, so one odd frame among many changes nothing, and readings that agree narrow what the square may
hold. When a whole `settle_s` of votes leaves something, that is settled; when it leaves nothing, the square is changing
and keeps its last settled contents until it has come to rest. What the newest reading does not rule out, nor one in
four of the others, stays possible beside it; and what was settled before until hardly a reading is left that thinks so.
A piece that could not be told for long is believed as slowly: what it was held possible to be stays possible until it
has been ruled out for as long, also after a hand. A clear look in a passing shadow, one among many that were unclear,
is the likeliest to be wrong.

A reading that rules nothing out is no proof that a square is empty: where nothing else is read of one that was, it may
hold anything. A source that does the waiting itself may tell of a piece late, so nothing is put in order by that.

A reading of before, told once more because nobody has looked since something changed, votes like another, but puts
nothing in order: what is there now may have come in the meantime.

A hidden square contradicts nothing. Nor does one that touches a hidden square, or over which a hand may be: a piece
that is still held is not yet played. Only beside a hand that has rested for long what is seen counts. After a hand has
been there, what was known of a square counts no more than what is seen now; and what has not moved since the reading
before was there then, so its time begins with that reading.

A card on a pile does not vote: it has to be seen for all of `settle_s`, and may be whatever it may have been meanwhile.

All gates are seconds of the source's clock, never frames.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from companion.readings import ALL_CONTENTS, ANYTHING, EMPTY, SettledSquare, Snapshot

if TYPE_CHECKING:
    from companion.readings import BoardReading, Contents
    from companion.rules import Colour, Kind, Layout

SETTLE_S = 0.4
"""How long a square has to be seen at rest by a camera, in seconds."""
_ODD_SHARE = 4
"""One reading in this many may be wrong."""
_BRIEF_SHARE = 0.25
"""Something that covers a square for less than this share of the settling time is an odd frame, not a hand."""
_GAP_SHARE = 0.5
"""That nothing moved between two readings is believed of no more than this share of the settling time."""
_LASTING_S = 1.5
"""What a piece was held possible to be for so long does not go in a moment."""
_LONGEST_S = 5.0
"""But if it was ruled out for so long, without fail."""
_RESTING_S = 5.0
"""A hand that has covered a square for so long rests there, and holds nothing beside it."""
_LATE_S = 1.0
"""A source that waits by itself for a piece to come to rest (`settle_s` 0) tells of it so much later at most: the
contacts of a tile bounce."""
_TIME_SLACK_S = 1e-6


_NOTHING_KNOWN = SettledSquare(ANYTHING, float("-inf"), float("-inf"))


class Settler:
    """Feed it every reading of one source, in order; it answers with the snapshot at that moment."""

    def __init__(self, layout: Layout, *, settle_s: float = SETTLE_S) -> None:
        self._touching = layout.geometry.touching
        self._squares = [_SquareVotes(settle_s) for _ in layout.squares]
        self._settle_s = settle_s
        self._covered_since: dict[int, float] = {}
        """Since when each square is hidden that is."""
        self._piles: dict[Colour, list[tuple[float, frozenset[Kind]]]] = {}

    def feed(self, reading: BoardReading) -> Snapshot:
        """Take one reading.

        Raises:
            ValueError: if the reading does not have as many squares as the layout.
        """
        unsettled = restless = held_up = 0
        settled = []
        begin, moving = self._still_since(reading), self._newly_hidden(reading)
        for i, (square, contents) in enumerate(zip(self._squares, reading.squares, strict=True)):
            hidden = bool(reading.hidden >> i & 1)
            near = bool(moving & self._touching[i])
            held, fresh = bool(reading.held >> i & 1), not reading.stale >> i & 1
            if hidden or near:
                square.visit(reading.time)
                unsettled |= 1 << i
            elif not square.take(reading.time, contents, begin, held=held, fresh=fresh):
                unsettled |= 1 << i
            if not square.at_rest:
                restless |= 1 << i
            if square.held_up:
                held_up |= 1 << i
            settled.append(square.settled)
        return Snapshot(
            time=reading.time,
            squares=tuple(settled),
            unsettled=unsettled,
            hidden=reading.hidden,
            restless=restless,
            held=held_up,
            cards=self._cards(reading),
            evidence=reading.evidence,
        )

    def _newly_hidden(self, reading: BoardReading) -> int:
        """The hidden squares on which no hand rests."""
        hidden = [i for i in range(len(self._squares)) if reading.hidden >> i & 1]
        self._covered_since = {i: self._covered_since.get(i, reading.time) for i in hidden}
        return sum(1 << i for i, since in self._covered_since.items() if reading.time - since < _RESTING_S)

    def _still_since(self, reading: BoardReading) -> float:
        """When what is in view in this reading was there already, as far as that is believed."""
        since = reading.time if reading.still_since is None else reading.still_since
        return since if reading.time - since <= self._settle_s * _GAP_SHARE + _TIME_SLACK_S else reading.time

    def _cards(self, reading: BoardReading) -> dict[Colour, frozenset[Kind]]:
        """What the cards may be that have lain in sight for long enough."""
        seen_now = reading.cards.items()
        self._piles = {colour: [*self._piles.get(colour, ()), (reading.time, kinds)] for colour, kinds in seen_now}
        start, nothing = reading.time - self._settle_s + _TIME_SLACK_S, frozenset["Kind"]()
        settled: dict[Colour, frozenset[Kind]] = {}
        for colour, seen in self._piles.items():
            while len(seen) > 1 and seen[1][0] <= start:
                del seen[0]
            if seen[0][0] <= start:
                settled[colour] = nothing.union(*(kinds for _, kinds in seen))
        return settled


@dataclass(slots=True)
class _Doubts:
    """What the piece on a square may be by its readings, and for how long they have said so."""

    lasting: Contents = 0
    """What was held possible for long, and has not been ruled out for as long since."""
    _seconds: dict[int, float] = field(default_factory=dict)

    def weigh(self, seen: Contents, *, among: Contents, seconds: float) -> None:
        """Count a reading that stands for so many seconds of a square that holds one of `among`."""
        if among & EMPTY or not among & (among - 1):  # no piece, or one that is known
            self.lasting, self._seconds = 0, {}
            return
        bits = [1 << i for i in range(len(ALL_CONTENTS)) if among >> i & 1]
        counted = {bit: self._seconds.get(bit, 0.0) + (seconds if seen & bit else -seconds) for bit in bits}
        self._seconds = {bit: min(max(so_far, 0.0), _LONGEST_S) for bit, so_far in counted.items()}
        self.lasting = sum(
            bit for bit, so_far in self._seconds.items() if so_far >= _LASTING_S or (so_far and self.lasting & bit)
        )


@dataclass(slots=True)
class _SquareVotes:
    """The recent readings of one square, and what they have settled on."""

    settle_s: float
    settled: SettledSquare = _NOTHING_KNOWN
    _votes: deque[tuple[float, Contents]] = field(default_factory=deque)
    _last_fit: float = float("-inf")
    """When nothing but the settled contents was last seen to be possible."""
    _was_visited: bool = True
    """A hand has been over the square, or next to it, since what it is settled on was seen."""
    _visit_began: float | None = None
    _visited: float = float("-inf")
    """When a hand was last there."""
    _late_s: float = field(init=False)
    _doubts: _Doubts = field(default_factory=_Doubts)
    at_rest: bool = False
    """It has settled since it was last covered, or changed."""
    held_up: bool = False
    """It would have settled on something new, but a hand may hold that."""

    def __post_init__(self) -> None:
        self._late_s = 0.0 if self.settle_s else _LATE_S

    def take(self, time: float, contents: Contents, still_since: float, *, held: bool, fresh: bool) -> bool:
        """Count one reading of the square in full view, alike since `still_since`; whether it is at rest.

        Only a `fresh` one shows that what is settled was still there at this time.
        """
        self._visit_began, self.held_up = None, False
        if fresh and not self._was_visited:
            self._fit(time, contents)
        self._votes.append((time if self._votes else still_since, contents))
        self._forget_before(time - self.settle_s)
        self._doubts.weigh(contents, among=self.settled.contents, seconds=self._seconds_since_vote())
        if self._votes[0][0] > time - self.settle_s + _TIME_SLACK_S:
            return False
        agreed = self._agreed(contents)
        if agreed & self.settled.contents:
            agreed |= self._doubts.lasting
        self.at_rest = bool(agreed)
        known = self.settled.contents
        new = not agreed & known or (known & EMPTY and not agreed & EMPTY)
        self.held_up = held and bool(agreed and new)
        if not agreed or self.held_up:
            return False
        self._settle(agreed)
        if self.settled.late_s != self._late_s:
            self.settled = replace(self.settled, late_s=self._late_s)
        if fresh:
            self._fit(time, contents)
        return bool(contents & self.settled.contents)

    def visit(self, time: float) -> None:
        """A hand is here: what was seen before it came no longer shows that the square is at rest."""
        self._was_visited, self.at_rest, self.held_up = True, False, False
        self._visited = time
        if self._visit_began is None:
            self._visit_began = time
        if time - self._visit_began > self.settle_s * _BRIEF_SHARE:
            self._votes.clear()

    def _seconds_since_vote(self) -> float:
        return self._votes[-1][0] - self._votes[-2][0] if len(self._votes) > 1 else 0.0

    def _forget_before(self, start: float) -> None:
        """Drop what is too old, but for the one reading that shows the whole time span is covered."""
        votes = self._votes
        while len(votes) > 1 and votes[1][0] <= start + _TIME_SLACK_S:
            votes.popleft()

    def _agreed(self, latest: Contents) -> Contents:
        """The contents that at most one reading in `_ODD_SHARE` rules out, and those that may still prove true.

        If there are any of the first kind, those stay that were settled, or that the `latest` reading holds possible,
        and that more than one reading in `_ODD_SHARE` does: a few looks may have ruled out too much.
        """
        counted = Counter(contents for _, contents in self._votes)
        if len(counted) == 1:
            return latest
        odd = len(self._votes) // _ODD_SHARE
        agreed = doubtful = 0
        for bit in (1 << i for i in range(len(ALL_CONTENTS))):
            times = sum(times for contents, times in counted.items() if contents & bit)
            if times >= len(self._votes) - odd:
                agreed |= bit
            elif times > odd:
                doubtful |= bit
        settled = 0 if self._was_visited else self.settled.contents
        return agreed | doubtful & (latest | settled) if agreed else 0

    def _settle(self, agreed: Contents) -> None:
        known = self.settled
        if self._was_visited:
            if agreed != known.contents:
                may_be_the_same = agreed & known.contents & ~EMPTY
                after = known.after if may_be_the_same else self._last_fit
                self.settled = SettledSquare(agreed, self._first_seen(agreed), after)
        elif known.contents == EMPTY and all(seen == ANYTHING for _, seen in self._votes):
            self.settled = SettledSquare(ANYTHING, self._votes[0][0], self._last_fit)
        elif agreed & known.contents:
            narrowed, since = agreed & known.contents, known.since
            if known.contents & EMPTY and not narrowed & EMPTY:  # only now it is known that a piece is there
                since = next((time for time, seen in self._votes if not seen & EMPTY), since)
            self.settled = SettledSquare(narrowed, since, known.after)
        else:
            self.settled = SettledSquare(agreed, self._first_seen(agreed), self._last_fit)
        self._was_visited = self._votes[0][0] < self._visited

    def _fit(self, time: float, seen: Contents) -> None:
        """Note that this reading allows nothing but what is settled, if it does.

        After one that ruled that out it may be the odd one, so then it says nothing.
        """
        known = self.settled.contents
        if not seen & ~known and all(before & known for _, before in self._votes):
            self._last_fit = time - self._late_s

    def _first_seen(self, contents: Contents) -> float:
        return next(time for time, seen in self._votes if seen & contents)
