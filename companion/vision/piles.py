"""Watches the two card piles beside the board in a video, and reads a pile when it has changed.

A pile's strip of table is compared with the frame before, in small: while something moves there, such as a hand,
nothing is said of it. When it has come to rest it is read a few times, and then again only if it has changed, or now
and then.

A card that lies just as it did before others were laid on it was hardly laid now: those were taken off. What they
showed is told with it, so that nobody takes it for a card that has come since.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.rules import Colour
from companion.vision.motion import difference
from companion.vision.sheets import beside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.rules import Kind, Layout
    from companion.vision.cards import CardReader, SeenCard
    from companion.vision.pose import BoardPose
    from companion.vision.sheets import Strip

    Image = NDArray[np.uint8]
    Small = NDArray[np.int16]

_PITCH: Final = 16
"""Pixels to a square in which a strip is watched, before they are averaged by two and two."""
_MOVING_SHARE = 0.008
"""A strip is moving when this share of it has changed since the last frame."""
_CHANGED_SHARE = 0.004
"""It has changed when this share is not as it was when it was last read."""
_LOOKS = 3
"""So many times a pile is read that has changed, `_AGAIN_S` apart: one odd frame shall not decide."""
_AGAIN_S = 0.12
_REFRESH_S = 2.0
_DEEPEST = 8
"""So many cards are remembered beneath the one on top: a player has no more."""


@dataclass(slots=True)
class _Lying:
    """A card on a pile."""

    card: SeenCard
    taken: frozenset[Kind] = frozenset()
    """The kinds of those that were taken off it."""


@dataclass(slots=True)
class _Pile:
    """What is known of one pile."""

    strip: Strip
    last: Small | None = None
    read: Small | None = None
    """The strip as it was when it was last read."""
    looks: int = 0
    """How often it was read since it changed."""
    looked_at: float = field(default=float("-inf"))
    kinds: frozenset[Kind] | None = None
    lain: list[_Lying] = field(default_factory=list)
    """The cards that were seen to lie there, each on the one before it."""

    def shows(self, card: SeenCard) -> frozenset[Kind]:
        """What it may show where this is its top card."""
        below = next((i for i in reversed(range(len(self.lain))) if card.lies_as(self.lain[i].card)), None)
        if below is None:
            self.lain = [*self.lain[-_DEEPEST:], _Lying(card)]
            return card.kinds
        lying, taken = self.lain[below], self.lain[below + 1 :]
        del self.lain[below + 1 :]
        showed = [kinds for each in taken for kinds in (each.card.kinds, each.taken)]
        lying.taken |= frozenset().union(*(kinds for kinds in showed if kinds.isdisjoint(card.kinds)))
        return card.kinds | lying.taken


class PileWatcher:
    """Reads the frames of one camera, in order, for the cards beside the board."""

    def __init__(self, cards: CardReader, layout: Layout) -> None:
        self._cards, self._layout = cards, layout
        self._piles = dict(zip((Colour.LIGHT, Colour.DARK), map(_Pile, beside(layout)), strict=True))

    def see(self, time: float, image: Image, pose: BoardPose) -> dict[Colour, frozenset[Kind]]:
        """What the piles may show in the frame taken at `time` (source seconds); none that moves or is not there."""
        seen = {colour: self._look(pile, time, image, pose) for colour, pile in self._piles.items()}
        return {colour: kinds for colour, kinds in seen.items() if kinds is not None}

    def _look(self, pile: _Pile, time: float, image: Image, pose: BoardPose) -> frozenset[Kind] | None:
        lay = pile.strip.to_picture(pose.points(), self._layout, _PITCH)
        small = _small(self._cards.optics.view(image, lay, pile.strip.size(_PITCH)))
        moving = pile.last is None or _differ(small, pile.last) > _MOVING_SHARE
        pile.last = small
        if pile.read is None or _differ(small, pile.read) > _CHANGED_SHARE:
            pile.looks, pile.kinds = 0, None
        if moving:
            return None
        wait_s = _AGAIN_S if pile.looks < _LOOKS else _REFRESH_S
        if pile.looks == 0 or time - pile.looked_at >= wait_s:
            card = self._cards.read(image, pose, self._layout, pile.strip)
            pile.kinds = pile.shows(card) if card else None
            pile.read, pile.looked_at = small, time
            pile.looks += 1
        return pile.kinds


def _small(view: Image) -> Small:
    """A strip in grey, coarse and smooth."""
    half = cv2.resize(cv2.cvtColor(view, cv2.COLOR_BGR2GRAY), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(half, (0, 0), 1.0).astype(np.int16)


def _differ(one: Small, other: Small) -> float:
    """The share of pixels that differ."""
    size, least = difference(one, other)
    return float((size > least).mean())
