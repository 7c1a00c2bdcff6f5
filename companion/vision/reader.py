"""A photograph in, a reading of the board out: find the board, rectify, recognise.

The parts that look at pixels come in through the constructor, so that each can be replaced: a `Locator` finds the
board in one picture, a `Recogniser` says what each patch may show. For what needs time see `companion.vision.video`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from companion.readings import ANYTHING, colours_only
from companion.vision.legible import blurred, burnt_out, but_for
from companion.vision.lens import PINHOLE
from companion.vision.pieces import Looked, mean_look
from companion.vision.pose import BoardNotFound, BoardPose
from companion.vision.rectify import FINEST, MARGIN, away_side, evened, patches, rectify
from companion.vision.supply import within_supply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.rules import Kind, Layout
    from companion.vision.cards import CardReader
    from companion.vision.lens import Optics
    from companion.vision.pieces import Tone

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

COVERED = -1
"""The column of a recogniser's probabilities that says that a hand or another thing covers the square."""
_MOSTLY = 0.5
_EVENED_OVER = (40.0, 20.0)
"""Light is evened out over so many pixels of the top view: a square, for shadows, and half of one, for glare."""

_SHIFTS = ((0, 2), (0, -2), (2, 0), (-2, 0))
"""Pixels of the top view, down and to the right, by which each look at a photograph is off: a twentieth of a square."""


class Recogniser(Protocol):
    """What says what patches show; see `companion.vision.pieces` for the one that ships."""

    @property
    def sides(self) -> int:
        """How many ways there are to look at a patch: 2 if its mirror image shows the same mark, else 1."""
        ...

    @property
    def asks_spares(self) -> bool:
        """Whether it helps to judge the squares together with the pieces that lie beside the board."""
        ...

    @property
    def looks_beside(self) -> bool:
        """Whether a photograph shall be looked at from places that are a little off."""
        ...

    @property
    def evens_light(self) -> bool:
        """Whether a photograph shall be looked at with the light evened out, too."""
        ...

    def recognise(self, patches: Image, *, mirror_too: bool = False) -> Floats:
        """Probabilities `(n, 10)`: `ALL_CONTENTS`, then covered; for patches `(n, PATCH, PATCH, 3)` of one board.

        With `mirror_too` each patch is looked at in the mirror as well.
        """
        ...

    def embed(self, patches: Image, tone: Tone) -> Floats:
        """An embedding for each patch of a board that has this tone: some of its squares, or all."""
        ...

    def judge(self, embeddings: Floats) -> Floats:
        """The probabilities that `recognise` gives, from the embeddings of all squares; spare pieces may follow."""
        ...

    def contents(self, probabilities: Floats, look: Looked = Looked.ONCE) -> tuple[Contents, ...]:
        """For each patch that was looked at in this way the contents that cannot be ruled out."""
        ...


class Locator(Protocol):
    """What finds the board in a picture; see `companion.vision.board.locate`."""

    def __call__(self, image: Image, layout: Layout, /) -> BoardPose | BoardNotFound:
        """Where the board is in an upright picture, in straight pixels, or why it is not found."""
        ...


@dataclass(frozen=True, slots=True)
class StillReading:
    """What one photograph shows."""

    pose: BoardPose
    squares: tuple[Contents, ...]
    """In the order of `Layout.squares`."""
    hidden: int
    """Covered squares, as bits of the layout; they may hold anything."""
    card: Kind | None = None
    """What the card beside the board shows, if all cards that lie there surely show one kind."""
    blurred: bool = False
    """The picture is too blurred to tell anything but where the board is."""


@dataclass(frozen=True, slots=True)
class BoardReader:
    """Reads single photographs of one kind of board."""

    layout: Layout
    recogniser: Recogniser
    locate: Locator
    optics: Optics = PINHOLE
    """The lens; what finds and follows the board has to know the same."""
    cards: CardReader | None = None
    """Reads the cards that lie beside the board."""
    cubes: bool = False
    """The pieces are plain cubes: whatever looks like a mark on them is none."""
    sets: int | None = None
    """So many sets of pieces are in play; None stands for as many as the board needs."""

    def read(self, image: Image) -> StillReading | BoardNotFound:
        """Find the board in `image` (BGR, `(height, width, 3)`) and read its squares."""
        pose = self.locate(image, self.layout)
        if isinstance(pose, BoardNotFound):
            return pose
        seen, away = self.top_view(image, pose), away_side(pose.points(), self.layout)
        soft = blurred(seen, self.layout)
        if soft.all():
            return StillReading(self.upright(pose, image), (ANYTHING,) * len(self.layout), 0, blurred=True)
        squares, hidden, _ = self._told(seen, away)
        if self.recogniser.evens_light:
            squares = self._in_other_light(squares, seen, away)
        squares = but_for(soft | burnt_out(patches(seen, self.layout)), squares)
        return StillReading(self.upright(pose, image), squares, hidden, card=self._card(image, pose))

    def _in_other_light(self, told: tuple[Contents, ...], top_view: Image, away: int) -> tuple[Contents, ...]:
        """What was told of each square; and, if with the light evened out something else is likeliest, that as well.

        What lies in a shadow whose edge runs across the board looks dark, and what lies in glare looks bare.
        """
        for reach in _EVENED_OVER:
            also, _, likeliest = self._told(evened(top_view, reach, 1.0), away, at_once=True)
            each = zip(told, also, likeliest.tolist(), strict=True)
            told = tuple(seen if seen >> i & 1 else seen | otherwise for seen, otherwise, i in each)
        return told

    def _told(
        self, top_view: Image, away: int, *, at_once: bool = False
    ) -> tuple[tuple[Contents, ...], int, NDArray[np.intp]]:
        """What each square may hold, the mask of the covered ones, and the number of what is likeliest on each."""
        probabilities, look = photographed(
            self.recogniser, top_view, self.layout, away, self.sets_in_play, at_once=at_once
        )
        contents, hidden = self.judged(probabilities, [look] * len(probabilities))
        return contents, hidden, probabilities[:, :COVERED].argmax(axis=1)

    @property
    def sets_in_play(self) -> int:
        """How many of a kind and colour there may be: two for each."""
        return self.sets or self.layout.default_sets

    @property
    def asks_spares(self) -> bool:
        """Whether the pieces beside the board tell anything: cubes bear no marks to compare."""
        return self.recogniser.asks_spares and not self.cubes

    def top_view(self, image: Image, pose: BoardPose, *, margin: int = MARGIN, finest: int = FINEST) -> Image:
        """The board as `rectify` gives it, in `image` where it has this straight pose."""
        return rectify(image, pose.points(), self.layout, margin=margin, finest=finest, optics=self.optics)

    def upright(self, pose: BoardPose, image: Image) -> BoardPose:
        """A straight pose in pixels of the upright picture."""
        size = (image.shape[1], image.shape[0])
        seen = pose.moved(self.optics.bent(pose.points(), size))
        if pose.another is None:
            return seen
        another = pose.moved(self.optics.bent(np.array(pose.another, np.float64), size))
        return replace(seen, another=another.corners)

    def _card(self, image: Image, pose: BoardPose) -> Kind | None:
        kinds = self.cards.read_around(image, pose, self.layout) if self.cards else None
        return next(iter(kinds)) if kinds and len(kinds) == 1 else None

    def judged(self, probabilities: Floats, looks: Sequence[Looked]) -> tuple[tuple[Contents, ...], int]:
        """What each square may hold, and the mask of the covered ones; `looks` tells how each was looked at."""
        hidden = mask_of(probabilities[:, COVERED] > _MOSTLY)
        told = {
            look: iter(self.recogniser.contents(probabilities[[each is look for each in looks]], look))
            for look in set(looks)
        }
        contents = tuple(next(told[look]) for look in looks)
        if self.cubes:
            contents = tuple(map(colours_only, contents))
        return tuple(ANYTHING if hidden >> i & 1 else seen for i, seen in enumerate(contents)), hidden


def photographed(
    recogniser: Recogniser, top_view: Image, layout: Layout, away: int, sets: int, *, at_once: bool = False
) -> tuple[Floats, Looked]:
    """Probabilities `(n, 10)` for a photograph, for which there is more time than for a frame of a video.

    Every patch is looked at in the mirror as well, and no more pieces lie there than so many `sets` have: where more
    seem to, some were misread, and nobody knows which. If that tells nothing, because there are too many sets or
    pieces, the squares were only looked at twice.

    Corners that were found are never quite right, and doubts hang on a few hundredths of a square: who `looks_beside`
    does so from places that are a little off, unless `at_once`, and the mean counts.
    """
    off = _SHIFTS if recogniser.looks_beside and not at_once else ((0, 0),)
    views = (np.roll(top_view, shift, axis=(0, 1)) for shift in off)
    looks = [recogniser.recognise(patches(view, layout, away), mirror_too=True) for view in views]
    twice = np.asarray(mean_look(*looks), np.float32)
    together = within_supply(twice, sets, doubting=True)
    return together, Looked.TWICE if together is twice else Looked.PHOTOGRAPH


def mask_of(flags: Iterable[object]) -> int:
    """The numbers of the flags that are set, as bits."""
    return sum(1 << i for i, flag in enumerate(flags) if flag)
