"""Two senses, one game: the snapshots of a camera and of a tile board become one.

Each source settles its own readings; what they have settled is intersected, square by square. A source that sees a
square changing or covered, or that has not been heard for a while, has no vote on it, so a hand before the camera does
not hold up what the tiles feel, and when one source dies the other goes on alone. Nor has one that can rule nothing
out, as a tile with a dirty contact, while another will see the square again: the hand hides it from both.

When two sources contradict each other, one of them may only be slower: the square counts as unsettled, and what lies
elsewhere waits for it, for that may have come later. If they still do after `patience_s`, it is a disagreement, and the
square may hold what either says, so that nothing is committed on the word of one against the other and a person is
asked. Meanwhile a source that does not see the square for a while still says what it said last: a hand before the
camera does not prove the tiles right. But a look from before the others saw the change contradicts nothing then.

When a piece came is told by those who know that it was not there before, not by a source that never could tell. Where
only such a source is left, it may have come at any time since it was known that nothing lay there.

All sources must use the same clock, which live sources do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from companion.readings import ANYTHING, EMPTY, SettledSquare, Snapshot, is_picture, possible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.readings import Contents
    from companion.rules import Content, Layout, Square

PATIENCE_S = 1.5
"""How long two sources may contradict each other before that is said."""
STALE_S = 2.0
"""A source that has said nothing for so long has no vote."""

_FEW = 3
"""So many contents are named one by one."""
_Votes = dict[str, SettledSquare]
"""What sources say of one square, by their names."""
_NEVER = SettledSquare(ANYTHING, float("-inf"), float("-inf"))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two sources that contradict each other about a square."""

    square: Square
    said: tuple[tuple[str, Contents], ...]
    """What each source says, by its name."""

    @property
    def contents(self) -> tuple[Content, ...]:
        """What lies there by the word of one or the other."""
        return possible(reduce(or_, (contents for _, contents in self.said)))

    def __str__(self) -> str:
        """What each source says, in words."""
        return "; ".join(f"{source} says {_named(contents)}" for source, contents in self.said)


class Fusion:
    """The snapshots of several sources of one table, as one."""

    def __init__(self, layout: Layout, *, patience_s: float = PATIENCE_S, stale_s: float = STALE_S) -> None:
        self._layout = layout
        self._patience_s = patience_s
        self._stale_s = stale_s
        self._now = float("-inf")
        self._latest: dict[str, Snapshot] = {}
        self._agreed = [_NEVER] * len(layout)
        """What they say together."""
        self._known = list(self._agreed)
        """What they said together before they contradicted each other."""
        self._bare_s = [float("-inf")] * len(layout)
        """When they knew that nothing lay there."""
        self._contradicted_s: list[float | None] = [None] * len(layout)
        self._words: list[dict[str, SettledSquare]] = [{} for _ in layout.squares]
        """What each source said last of a square about which they contradict each other."""
        self.disagreements: tuple[Disagreement, ...] = ()
        """What the sources disagree about now, for longer than patience lasts."""

    def feed(self, source: str, snapshot: Snapshot) -> Snapshot:
        """Take the snapshot of one source; what all of them say together at its time."""
        self._latest[source] = snapshot
        now = self._now = max(self._now, snapshot.time)  # a picture takes longer to read than a cable
        heard = {name: seen for name, seen in self._latest.items() if now - seen.time < self._stale_s}
        voters = heard or {source: snapshot}  # who was ahead is lost, and what comes late is all there is
        unsettled = contradicted = 0
        disagreements = []
        for i, square in enumerate(self._layout.squares):
            votes = {name: word for name, word in self._words[i].items() if name in voters}
            votes |= self._votes_now(i, voters)
            if not self._decide(i, tuple(votes.values()), now):
                unsettled |= 1 << i
                contradicted |= (self._contradicted_s[i] is not None) << i
            elif self._contradicted_s[i] is not None:
                said = tuple((name, vote.contents) for name, vote in votes.items())
                disagreements.append(Disagreement(square, said))
            self._words[i] = {} if self._contradicted_s[i] is None else self._lasting(i, votes, voters)
        self.disagreements = tuple(disagreements)
        fused = self._fused(snapshot, now, voters)
        return replace(fused, unsettled=unsettled, held=fused.held | contradicted)

    def lose(self, source: str) -> None:
        """A source is gone: it has no vote until it is fed again."""
        self._latest.pop(source, None)

    def _votes_now(self, i: int, voters: Mapping[str, Snapshot]) -> _Votes:
        """What those say who see the square; one that can rule nothing out has to wait for one that will see it."""
        seeing = {name: seen.squares[i] for name, seen in voters.items() if not seen.unsettled >> i & 1}
        if len(seeing) < len(voters) and all(vote.contents == ANYTHING for vote in seeing.values()):
            return {}
        return seeing

    def _lasting(self, i: int, votes: _Votes, voters: Mapping[str, Snapshot]) -> _Votes:
        """Those of contradicting votes that count while their source does not see the square.

        What was said before that which contradicts it was first seen does not.
        """

        def is_old(name: str) -> bool:
            others = [vote for vote in votes.values() if not vote.contents & votes[name].contents]
            return any(voters[name].time < other.since for other in others)

        return {name: vote for name, vote in votes.items() if name in self._words[i] or not is_old(name)}

    def _decide(self, i: int, votes: Sequence[SettledSquare], now: float) -> bool:
        """Settle one square by the votes on it; whether that is possible yet."""
        if not votes:
            return False
        common = _common(votes)
        if common:
            self._contradicted_s[i] = None
            self._agreed[i] = self._known[i] = self._since_bare(i, _joined(self._known[i], votes, common), votes, now)
            return True
        since = self._contradicted_s[i]
        if since is None:
            since = self._contradicted_s[i] = now
        if now - since < self._patience_s:
            return False
        self._agreed[i] = _dated(_either(votes), votes, self._known[i].contents)
        return True

    def _since_bare(self, i: int, agreed: SettledSquare, votes: Sequence[SettledSquare], now: float) -> SettledSquare:
        """What is `agreed` on; if those who knew that it was bare are gone, a piece may have come until `now`."""
        if agreed.contents == EMPTY:
            self._bare_s[i] = max((vote.since for vote in votes if vote.contents == EMPTY), default=self._bare_s[i])
        elif self._known[i].contents == EMPTY and agreed.after == float("-inf"):
            return replace(agreed, since=now, after=self._bare_s[i])
        return agreed

    def _fused(self, newest: Snapshot, now: float, voters: dict[str, Snapshot]) -> Snapshot:
        cards = next((seen.cards for seen in voters.values() if seen.cards), {})
        pictures = (seen.evidence for seen in (newest, *voters.values()) if is_picture(seen.evidence))
        untold = [_untold(seen) for seen in voters.values()]
        return Snapshot(
            time=now,
            squares=tuple(self._agreed),
            hidden=_shared([seen.hidden for seen in voters.values()], untold),
            restless=_shared([seen.restless for seen in voters.values()], untold),
            held=_shared([seen.held for seen in voters.values()], untold),
            cards=cards,
            evidence=next(pictures, newest.evidence),
        )


def _shared(masks: Sequence[int], untold: Sequence[int]) -> int:
    """The squares, as bits, that are in the mask of every source, but for those that can rule nothing out there."""
    return reduce(and_, (mask | free for mask, free in zip(masks, untold, strict=True))) & reduce(or_, masks)


def _untold(seen: Snapshot) -> int:
    """The squares, as bits, of which a source can rule nothing out."""
    return sum(1 << i for i, square in enumerate(seen.squares) if square.contents == ANYTHING)


def _common(votes: Sequence[SettledSquare]) -> Contents:
    """What none of the votes rules out."""
    return reduce(and_, (vote.contents for vote in votes))


def _named(contents: Contents) -> str:
    """The members of a set in words; many of them are only told to be some piece."""
    names = ["nothing" if content is None else str(content) for content in possible(contents)]
    return " or ".join(names) if len(names) <= _FEW else "some piece"


def _either(votes: Sequence[SettledSquare]) -> Contents:
    """What one of the votes allows."""
    return reduce(or_, (vote.contents for vote in votes))


def _joined(known: SettledSquare, votes: Sequence[SettledSquare], contents: Contents) -> SettledSquare:
    """`contents`, since they lie there: since before, if they may be what was `known`."""
    if known is _NEVER or not contents & known.contents:
        return _dated(contents, votes, known.contents)
    if known.contents & EMPTY and not contents & EMPTY:
        return replace(_dated(contents, votes, EMPTY), after=known.after)  # it may have come while nobody could tell
    if known.contents == EMPTY != contents:
        return _dated(contents, [vote for vote in votes if vote.contents != EMPTY], EMPTY)
    return replace(known, contents=contents)


def _dated(contents: Contents, votes: Sequence[SettledSquare], before: Contents) -> SettledSquare:
    """`contents`, with the time of the vote that first knew that it was not what lay there before."""
    first = min([vote for vote in votes if not vote.contents & before] or votes, key=lambda vote: vote.since)
    return replace(first, contents=contents)
