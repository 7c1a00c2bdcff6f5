"""A picture in, a reading of the board out: find or follow the board, rectify, see what moves, recognise.

The parts that look at pixels come in through the constructor, so that each can be replaced: a `Locator` finds the
board in one picture, a `Follower` knows where it is from frame to frame, a `Recogniser` says what each patch may show.
What is done here is what needs time: a square in which something moves is hidden, and what has not changed since it was
last recognised is not recognised again, but once a second. Recognising is what costs most, so when much has changed at
once it is spread over a few frames, what has changed most first. Until a square's turn has come it is told as it was
last seen, for less time than anybody takes to believe it (`companion.settling`). A second look, in the mirror, comes
when all that has changed was looked at straight. Where that is not enough the pieces beside the board are looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import cv2
import numpy as np

from companion.readings import ANYTHING, BoardReading, colours_only, kinds_only, of_colour
from companion.rules import Colour, Kind
from companion.vision.board import BoardNotFound, BoardPose
from companion.vision.lens import PINHOLE
from companion.vision.motion import Motion
from companion.vision.pieces import Tone, both, mirrored
from companion.vision.rectify import FINEST, MARGIN, away_side, patches, rectify
from companion.vision.spares import BESIDE, find_spares
from companion.vision.supply import within_supply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.rules import Layout
    from companion.vision.cards import CardReader
    from companion.vision.lens import Optics
    from companion.vision.piles import PileWatcher

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

COVERED = -1
"""The column of a recogniser's probabilities that says that a hand or another thing covers the square."""
_CHANGED_SHARE = 0.01
"""A square has changed when this share of its patch is not as it was when it was last recognised."""
_REFRESH_S = 1.0
_SWEEP_S = 0.25
"""All squares of the board are recognised within this time, which is less than they take to settle."""
_AT_ONCE = 3
"""So many squares in a frame in any case; half as many if they are not new."""
_AROUND_S = 5.0
"""While a square is unclear the pieces beside the board are looked at so often: it takes as long as some ten frames."""
_KINDS = of_colour(Colour.LIGHT)
"""Stands for the kinds, where colours do not count."""
_MOSTLY = 0.5


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

    def contents(self, probabilities: Floats, *, twice: bool = False) -> tuple[Contents, ...]:
        """For each patch the contents that cannot be ruled out; `twice` if each was looked at in the mirror as well."""
        ...


class Locator(Protocol):
    """What finds the board in a picture; see `companion.vision.board.locate`."""

    def __call__(self, image: Image, layout: Layout, /) -> BoardPose | BoardNotFound:
        """Where the board is in an upright picture, in straight pixels, or why it is not found."""
        ...


class Follower(Protocol):
    """What knows where the board is in every frame of a video; see `companion.vision.follow.BoardFollower`."""

    def follow(self, image: Image, time: float) -> BoardPose | BoardNotFound:
        """Where the board is at `time` (source seconds), in straight pixels, or why that cannot be told now."""
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

    def read(self, image: Image) -> StillReading | BoardNotFound:
        """Find the board in `image` (BGR, `(height, width, 3)`) and read its squares."""
        pose = self.locate(image, self.layout)
        if isinstance(pose, BoardNotFound):
            return pose
        corners = pose.points()
        seen = rectify(image, corners, self.layout, optics=self.optics)
        probabilities = photographed(self.recogniser, seen, self.layout, away_side(corners, self.layout))
        judged = self.judged(probabilities, np.ones(len(probabilities), np.bool_))
        return StillReading(self.upright(pose, image), *judged, card=self._card(image, pose))

    def upright(self, pose: BoardPose, image: Image) -> BoardPose:
        """A straight pose in pixels of the upright picture."""
        return pose.moved(self.optics.bent(pose.points(), (image.shape[1], image.shape[0])))

    def _card(self, image: Image, pose: BoardPose) -> Kind | None:
        kinds = self.cards.read_around(image, pose, self.layout) if self.cards else None
        return next(iter(kinds)) if kinds and len(kinds) == 1 else None

    def judged(self, probabilities: Floats, twice: NDArray[np.bool_]) -> tuple[tuple[Contents, ...], int]:
        """What each square may hold, and the mask of the covered ones; `twice` tells which were looked at twice."""
        hidden = _mask(probabilities[:, COVERED] > _MOSTLY)
        once_seen = iter(self.recogniser.contents(probabilities[~twice]))
        twice_seen = iter(self.recogniser.contents(probabilities[twice], twice=True))
        contents = tuple(next(twice_seen if looks else once_seen) for looks in twice)
        if self.cubes:
            contents = tuple(map(colours_only, contents))
        return tuple(ANYTHING if hidden >> i & 1 else seen for i, seen in enumerate(contents)), hidden


def photographed(recogniser: Recogniser, top_view: Image, layout: Layout, away: int) -> Floats:
    """Probabilities `(n, 10)` for a photograph, for which there is more time than for a frame of a video.

    Every patch is looked at in the mirror as well, and no more pieces lie there than the sets have.
    """
    seen = patches(top_view, layout, away)
    return within_supply(np.asarray(recogniser.recognise(seen, mirror_too=True), np.float32), layout.default_sets)


class VideoReader:
    """Reads the frames of one camera, in order; with `piles` also the cards beside the board."""

    def __init__(self, reader: BoardReader, follower: Follower, piles: PileWatcher | None = None) -> None:
        self.layout = reader.layout
        self.pose: BoardPose | None = None
        """Where the board was last seen, in pixels of the upright picture."""
        self.why_not = ""
        """Why it is not seen now; empty while it is."""
        self._reader = reader
        self._follower = follower
        self._piles = piles
        self._motion = Motion(reader.layout)
        self._embeddings: Floats | None = None
        """Of each square's sides: straight, then in the mirror; `(sides, n, length)`."""
        self._looked = np.full((reader.recogniser.sides, len(reader.layout)), -np.inf)
        """When each side was last looked at."""
        self._known = np.zeros(self._looked.shape, np.bool_)
        """Whether the square has not changed since."""
        self._spares: Floats | None = None
        """Of the pieces beside the board, from the look around that showed most of them."""
        self._looked_around = -np.inf
        self._time = -np.inf
        self._seen: tuple[tuple[Contents, ...], int] = ((), 0)
        self._evidence = b""

    def read(self, time: float, image: Image) -> BoardReading:
        """Read one frame, taken at `time` (source seconds); BGR, `(height, width, 3)`.

        While the board is not found, everything is hidden.
        """
        since, self._time = time - self._time, time
        pose = self._follower.follow(image, time)
        if isinstance(pose, BoardNotFound):
            self._looked[:], self._looked_around, self._spares = -np.inf, -np.inf, None
            self.why_not = pose.why
            return BoardReading(time, (ANYTHING,) * len(self.layout), hidden=self.layout.all)
        self.pose, self.why_not = self._reader.upright(pose, image), ""
        moves, changes = self._motion.see(self._top_view(image, pose, finest=1))
        moving = _mask(moves)
        self._known[:, changes > _CHANGED_SHARE] = False
        chosen = self._worth_a_look(moving, changes, since)
        if chosen:
            self._recognise(image, pose, chosen)
        squares, covered = self._seen
        hidden = moving | covered
        return BoardReading(
            time,
            tuple(ANYTHING if hidden >> i & 1 else contents for i, contents in enumerate(squares)),
            hidden=hidden,
            cards=self._piles.see(time, image, pose) if self._piles else {},
            evidence=self._evidence,
        )

    def _top_view(self, image: Image, pose: BoardPose, *, margin: int = MARGIN, finest: int = FINEST) -> Image:
        return rectify(image, pose.points(), self.layout, margin=margin, finest=finest, optics=self._reader.optics)

    def _worth_a_look(self, moving: int, changes: Floats, since: float) -> list[tuple[int, int]]:
        """The sides, and their squares, to look at now.

        What changed most and was not looked at for longest comes first, then mirror images, those of unclear squares
        before others, then what is old.
        """
        squares = len(self.layout)
        if not np.isfinite(self._looked[0]).all():
            return [(0, i) for i in range(squares)]
        unseen_s, sides = self._time - self._looked, len(self._looked)
        worth = (changes + _CHANGED_SHARE) * unseen_s[0]
        at_rest = [int(i) for i in np.argsort(-worth, kind="stable") if not moving >> i & 1]
        new = [(0, i) for i in at_rest if not self._known[0, i]]
        mirror = [(1, i) for i in at_rest if self._known[0, i] and not self._known[-1, i]]
        mirror.sort(key=lambda each: self._seen[0][each[1]].bit_count() == 1)
        old = [(side, i) for side in range(sides) for i in at_rest if self._known[side, i]]
        old = sorted((each for each in old if unseen_s[each] >= _REFRESH_S * sides), key=lambda each: -unseen_s[each])
        most = max(_AT_ONCE, math.ceil(squares * since / _SWEEP_S))
        return [*new[:most], *[*mirror, *old][: max(0, math.ceil(most / 2) - len(new))]]

    def _recognise(self, image: Image, pose: BoardPose, chosen: list[tuple[int, int]]) -> None:
        """Look at these sides anew, and judge them beside what is known of the others."""
        away, top_view = away_side(pose.points(), self.layout), self._top_view(image, pose)
        cut, recogniser = patches(top_view, self.layout, away), self._reader.recogniser
        seen = [mirrored(cut[i : i + 1]) if side else cut[i : i + 1] for side, i in chosen]
        tone = Tone.of(cut)
        fresh = recogniser.embed(np.concatenate(seen), tone)
        if self._embeddings is None:
            self._embeddings = np.zeros((*self._looked.shape, fresh.shape[1]), fresh.dtype)
        embeddings = self._embeddings
        sides, squares = np.array(chosen).T
        embeddings[sides, squares] = fresh
        self._looked[sides, squares] = self._time
        self._known[sides, squares] = True
        self._seen = self._judged(embeddings)
        if self._worth_a_look_around():
            self._looked_around = self._time
            around = self._top_view(image, pose, margin=BESIDE)
            found = find_spares(recogniser, around, self.layout, away, tone, embeddings[0])
            if self._spares is None or len(found) >= len(self._spares):
                self._spares = found
                self._seen = self._judged(embeddings)
        self._evidence = _jpeg(top_view)
        self._motion.keep([i for side, i in chosen if side == 0])

    def _judged(self, sides: Floats) -> tuple[tuple[Contents, ...], int]:
        """What each square may hold, and the mask of the covered ones, from the embeddings of its sides.

        Of an unclear mark those kinds are ruled out that it cannot be beside the spare pieces. They do not say which
        colour a piece has: what lies in another light may look like the other colour.
        """
        alone, covered = self._judged_beside(sides, sides[0, :0])
        if self._spares is None or len(self._spares) == 0 or not any(map(_unclear, alone)):
            return alone, covered
        beside, _ = self._judged_beside(sides, self._spares)
        return tuple(map(_narrowed, alone, beside)), covered

    def _judged_beside(self, sides: Floats, spares: Floats) -> tuple[tuple[Contents, ...], int]:
        """The same, of squares that are judged together with these spare pieces."""
        recogniser, straight = self._reader.recogniser, sides[0]

        def judge(squares: Floats) -> Floats:
            return recogniser.judge(np.concatenate([squares, spares]))[: len(squares)]

        twice = np.asarray(self._known.all(axis=0), np.bool_)
        probabilities = judge(straight)
        if recogniser.sides > 1 and twice.any():
            mirror = judge(np.where(twice[:, None], sides[1], straight))
            probabilities = np.where(twice[:, None], both(probabilities, mirror), probabilities)
        return self._reader.judged(probabilities, twice)

    def _worth_a_look_around(self) -> bool:
        """Whether a mark stays unclear that was looked at in every way."""
        if not self._reader.recogniser.asks_spares or self._time - self._looked_around < _AROUND_S:
            return False
        return any(_unclear(seen) for i, seen in enumerate(self._seen[0]) if self._known[:, i].all())


def _unclear(contents: Contents) -> bool:
    """Whether a mark is seen, but not which of some: not what is covered, or a cube that bears none."""
    return 1 < (kinds_only(contents) & _KINDS).bit_count() < len(Kind)


def _narrowed(alone: Contents, beside: Contents) -> Contents:
    """What a square may hold, of the kinds that it may be beside spare pieces."""
    return (alone & kinds_only(beside) or alone) if _unclear(alone) else alone


def _mask(flags: Iterable[object]) -> int:
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _jpeg(image: Image) -> bytes:
    done, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return encoded.tobytes() if done else b""
