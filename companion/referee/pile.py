"""One player's pile of cards (Green Box): what it shows, and what may lie beneath that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from companion.rules import Kind

_PICKED_UP_S = 3.0
"""Before a player's first cube a pile that was not seen for so long, and then shows another card, was picked up."""

_TAKEN_UP_S = 2.0
"""A card that is taken up to look at it is back on its pile before that, and what lay beneath it hidden again."""


@dataclass(slots=True)
class Pile:
    """What is known of the cards of one player."""

    before: frozenset[Kind] = frozenset()
    """What lies on top, or did when the last cube was committed: these cards belong to no cube that is to come."""
    ever: frozenset[Kind] = frozenset()
    """Every card that was played, or lay there before."""
    beneath: frozenset[Kind] = frozenset()
    """What may show when the card on top is taken up."""
    seen: float = float("-inf")
    """When it was last seen."""
    several: float = float("-inf")
    """Until when more than one cube waited for a card: one that was laid before may be any one's of these."""
    is_untouched: bool = True
    """No cube of its owner has been played in this match."""
    last: Kind | None = None
    """The card that the last cube was committed as, until a cube is taken back."""
    shown: tuple[frozenset[Kind], float] = (frozenset(), 0.0)
    """What was last seen to show, as surely as it was, and since when, in source seconds."""
    new: tuple[frozenset[Kind], ...] = ()
    """Every card that was seen to show since the last cube was committed and may have been laid since, as surely as it
    was read. The first may belong to the next cube, and another to the one after that; or one was laid by mistake."""
    instead: tuple[frozenset[Kind], float] | None = None
    """What showed in place of the card of the last cube, which was seen before, and since when."""

    def showing(self, kinds: frozenset[Kind], time: float) -> tuple[frozenset[Kind], float]:
        """What it shows that is seen so now, and since when: one that is only read less surely is as it was."""
        shown, since = self.shown
        return (shown, since) if shown and shown <= kinds else (kinds, time)

    def see(self, kinds: frozenset[Kind] | None, time: float) -> None:
        """It shows one of these `kinds`, or is not seen."""
        if kinds is not None:
            if self.is_untouched and self.shown[0] and time - self.seen >= _PICKED_UP_S:
                self.before &= self.shown[0]
            self.shown, self.seen = self.showing(kinds, time), time
            self._note_new(self.shown[0])
        if self.last is None:
            return
        if kinds == frozenset({self.last}):
            self.before = frozenset({self.last})
        shown, _ = self.shown
        if not shown or self.last in shown or self.before != {self.last}:
            self.instead = None
            return
        so_far, since = self.instead or (shown, time)
        self.instead = (so_far | shown, since)

    def _note_new(self, shown: frozenset[Kind]) -> None:
        if not self.may_be_new(shown):
            return
        is_read_better = bool(self.new) and shown <= self.new[-1]
        self.new = (*(self.new[:-1] if is_read_better else self.new), shown)

    def played(self, kind: Kind) -> None:
        """A cube was committed as this kind.

        Its card lies there, or one that lay there before, for its own may still be on the way: more is not learnt from
        a pile that may show its kind among others. One that cannot show it may show what is still to come.
        """
        shown, _ = self.shown
        lies = frozenset({kind})
        is_laid = shown == lies and kind not in self.before
        self.beneath = self.before | (frozenset() if is_laid else self.beneath)
        if shown != lies:
            lies |= self.before
        if kind not in shown:
            lies |= shown
        self.before, self.last, self.instead, self.is_untouched, self.new = lies, kind, None, False, ()
        self.ever |= lies

    def may_be_new(self, kinds: frozenset[Kind]) -> bool:
        """Whether a card that shows so can have been laid since the last cube was committed only."""
        return kinds.isdisjoint(self.before)

    def is_new(self, kinds: frozenset[Kind], shown_s: float) -> bool:
        """Whether it surely was: a card as it may lie beneath another has to show for a while."""
        return self.may_be_new(kinds) and (kinds.isdisjoint(self.beneath) or shown_s >= _TAKEN_UP_S)

    @property
    def may_have_shown(self) -> frozenset[Kind]:
        """What the cards showed that can have been laid since the last cube was committed."""
        return frozenset().union(*filter(self.may_be_new, self.new))

    def may_be_older(self, kinds: frozenset[Kind]) -> bool:
        """Whether the card that is on top may have lain there before others."""
        return not kinds.isdisjoint(self.ever)
