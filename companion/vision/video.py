"""The frames of a video in, readings of the board out: follow the board, see what moves, recognise what has changed.

Bands of light that roll over the picture are taken away first. A `Follower` knows where the board is from frame to
frame. A square in which something moves is hidden, and what has not changed since it was last recognised is not
recognised again, but once a second. Recognising is what costs most, so when much has changed at once it is spread over
a few frames, what has changed most first. Until a square's turn has come it is told as it was last seen, and as stale,
for less time than anybody takes to believe it (`companion.settling`). A second look, in the mirror, comes when all
that has changed was looked at straight. Where that is not enough the pieces beside the board are looked at: they show
what the set looks like, and as all of them are of one set, what is left for the squares.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import cv2
import numpy as np

from companion.readings import ANYTHING, BoardReading, kinds_only, of_colour
from companion.rules import Colour
from companion.vision.astride import Astride
from companion.vision.bands import Bands
from companion.vision.legible import BLURRED, blurred, burnt_out, but_for
from companion.vision.motion import Motion
from companion.vision.pieces import Looked, Tone, mean_look, mirrored
from companion.vision.pose import BoardNotFound, BoardPose
from companion.vision.reader import mask_of
from companion.vision.rectify import away_side, patches
from companion.vision.spares import BESIDE, find_spares
from companion.vision.supply import within_supply

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.vision.piles import PileWatcher
    from companion.vision.reader import BoardReader

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

_CHANGED_SHARE = 0.01
"""A square has changed when this share of its patch is not as it was when it was last recognised."""
_REFRESH_S = 1.0
_SWEEP_S = 0.25
"""All squares of the board are recognised within this time of the first, which is less than they take to settle."""
_AT_ONCE = 3
"""So many squares in a frame in any case; half as many if they are not new."""
_LINES_AT_ONCE = 2
"""So many of the lines between bare squares are looked at in a frame in any case, if anything is."""
_FINEST = 2
"""What is looked at is averaged down from a view at most so many times as large: in a photograph, which is read once,
from up to four times, which shows marks hardly better and takes four times as long."""
_AROUND_S = 5.0
"""While a square is unclear the pieces beside the board are looked at so often: that takes half a second."""
_AROUND_AT_ONCE_S = 1.0
"""After this time already, if another square is unclear than was when they were last looked at."""
_TIME_SLACK_S = 1e-6
_KINDS = of_colour(Colour.LIGHT)
"""Stands for the kinds, where colours do not count."""


class Follower(Protocol):
    """What knows where the board is in every frame of a video; see `companion.vision.follow.BoardFollower`."""

    def follow(self, image: Image, time: float) -> BoardPose | BoardNotFound:
        """Where the board is at `time` (source seconds), in straight pixels, or why that cannot be told now."""
        ...


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
        self._bands = Bands()
        self._motion = Motion(reader.layout)
        self._embeddings: Floats | None = None
        """Of each square's sides: straight, then in the mirror; `(sides, n, length)`."""
        self._looked = np.full((reader.recogniser.sides, len(reader.layout)), -np.inf)
        """When each side was last looked at."""
        self._known = np.zeros(self._looked.shape, np.bool_)
        """Whether the square has not changed since."""
        self._burnt = np.zeros(len(reader.layout), np.bool_)
        """Which squares glare had burnt out when they were last looked at."""
        self._soft = np.zeros(len(reader.layout), np.bool_)
        """Which squares were too blurred when anything was looked at last."""
        self._astride = Astride(reader.layout)
        self._spares: Floats | None = None
        """Of the pieces beside the board, from the look around that showed most of them."""
        self._looked_around = -np.inf
        self._left = [ANYTHING] * len(reader.layout)
        """What the last look around left possible on each square, until it changes."""
        self._looked_around_for = np.zeros(len(reader.layout), np.bool_)
        """Which squares have not changed since they were unclear when the pieces beside the board were looked at."""
        self._time = -np.inf
        self._seen_at: float | None = None
        """When the board was last seen."""
        self._seen: tuple[tuple[Contents, ...], int] = ((), 0)
        self._evidence = b""

    @property
    def unseen_s(self) -> float:
        """For how many source seconds the board has not been seen; infinite if it never was."""
        return math.inf if self._seen_at is None else self._time - self._seen_at

    def expect(self, sets: int) -> None:
        """So many sets of pieces are in play from now on."""
        self._reader = replace(self._reader, sets=sets)

    def read(self, time: float, image: Image) -> BoardReading:
        """Read one frame, taken at `time` (source seconds); BGR, `(height, width, 3)`.

        While the board is not found, or the picture too blurred, everything is hidden.
        """
        since, self._time = time - self._time, time
        image = self._bands.without(image, time)
        pose = self._follower.follow(image, time)
        if isinstance(pose, BoardNotFound):
            self._looked[:], self._looked_around, self._spares = -np.inf, -np.inf, None
            self._motion.forget()
            return self._nothing_seen(pose.why)
        self.pose = self._reader.upright(pose, image)
        moves, changes = self._motion.see(time, self._reader.top_view(image, pose, finest=1))
        moving = mask_of(moves)
        self._changed(changes > _CHANGED_SHARE)
        chosen = self._worth_a_look(moving, changes, since)
        lines = self._lines_worth_a_look(moving, chosen, since)
        if chosen or lines:
            top_view = self._reader.top_view(image, pose, finest=_FINEST)
            soft_before, self._soft = self._soft, blurred(top_view, self.layout)
            self._changed(soft_before & ~self._soft)
            if self._soft.all():
                return self._nothing_seen(BLURRED)
            if chosen:
                self._recognise(image, pose, top_view, chosen)
            if lines:
                self._look_between(pose, top_view, lines)
        self.why_not = ""
        seen_before, self._seen_at = self._seen_at, time
        squares, covered = self._seen
        hidden = moving | covered | mask_of(self._soft | self._astride.halves(squares))
        return BoardReading(
            time,
            tuple(ANYTHING if hidden >> i & 1 else contents for i, contents in enumerate(squares)),
            hidden=hidden,
            held=sum(1 << i for i in self._motion.held),
            stale=mask_of(~self._known[0]) & ~hidden,
            still_since=seen_before,
            cards=self._piles.see(time, image, pose) if self._piles else {},
            evidence=self._evidence,
        )

    def _nothing_seen(self, why: str) -> BoardReading:
        """The reading of a frame that shows nothing of the board, and why it does not."""
        self.why_not = why
        self._changed(np.ones(len(self.layout), np.bool_))
        return BoardReading(self._time, (ANYTHING,) * len(self.layout), hidden=self.layout.all)

    def _changed(self, squares: NDArray[np.bool_]) -> None:
        """Forget what was concluded of the squares that these flags name."""
        self._known[:, squares] = False
        self._astride.changed(squares)
        self._looked_around_for[squares] = False
        self._left = [ANYTHING if new else left for new, left in zip(squares, self._left, strict=True)]

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
        frames = 1 + _SWEEP_S // max(since - _TIME_SLACK_S, _TIME_SLACK_S)
        most = max(_AT_ONCE, math.ceil(squares / frames))
        return [*new[:most], *[*mirror, *old][: max(0, math.ceil(most / 2) - len(new))]]

    def _lines_worth_a_look(self, moving: int, chosen: list[tuple[int, int]], since: float) -> list[int]:
        """The lines between bare squares to look at now: none while there is a square itself that is new."""
        if any(not self._known[0, i] for _, i in chosen):
            return []
        seen = self._known[0] & ~self._burnt & [not moving >> i & 1 for i in range(len(self.layout))]
        due = self._astride.due(seen, self._seen[0])
        return due[: max(_LINES_AT_ONCE, math.ceil(len(due) * since / _REFRESH_S))]

    def _recognise(self, image: Image, pose: BoardPose, top_view: Image, chosen: list[tuple[int, int]]) -> None:
        """Look at these sides anew, and judge them beside what is known of the others."""
        away, recogniser = away_side(pose.points(), self.layout), self._reader.recogniser
        cut = patches(top_view, self.layout, away)
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
        self._burnt[squares] = burnt_out(cut[squares])
        self._seen = self._judged(embeddings)
        if self._worth_a_look_around():
            self._look_around(image, pose, tone, embeddings)
        self._evidence = _jpeg(top_view)
        self._motion.keep([i for side, i in chosen if side == 0])

    def _look_between(self, pose: BoardPose, top_view: Image, lines: list[int]) -> None:
        """Look whether a piece lies across these lines; see `Astride`."""
        if self._embeddings is not None:
            away = away_side(pose.points(), self.layout)
            tone = Tone.of(patches(top_view, self.layout, away))
            self._astride.look(lines, self._reader.recogniser, top_view, away, tone, self._embeddings[0])

    def _worth_a_look_around(self) -> bool:
        """Whether a mark stays unclear that was looked at in every way."""
        since = self._time - self._looked_around
        if not self._reader.asks_spares or since < _AROUND_AT_ONCE_S:
            return False
        unclear = self._unclear()
        return bool((unclear & ~self._looked_around_for).any() or (since >= _AROUND_S and unclear.any()))

    def _unclear(self) -> NDArray[np.bool_]:
        """Which squares bear a mark that stays unclear though it was looked at in every way."""
        return np.array(list(map(_unclear, self._seen[0]))) & self._known.all(axis=0)

    def _look_around(self, image: Image, pose: BoardPose, tone: Tone, sides: Floats) -> None:
        """Find the pieces beside the board, and what they leave possible on the unclear squares."""
        self._looked_around, self._looked_around_for = self._time, self._looked_around_for | self._unclear()
        around = self._reader.top_view(image, pose, margin=BESIDE)
        away = away_side(pose.points(), self.layout)
        found = find_spares(self._reader.recogniser, around, self.layout, away, tone, sides[0])
        if self._spares is None or len(found) >= len(self._spares):
            self._spares = found
        left = self._judged_beside(sides, found, self._reader.sets_in_play)
        for i in np.flatnonzero(self._looked_around_for):
            self._left[i] = self._left[i] & left[i] or left[i]
        self._seen = self._judged(sides)

    def _judged(self, sides: Floats) -> tuple[tuple[Contents, ...], int]:
        """What each square may hold, and the mask of the covered ones, from the embeddings of its sides.

        Of an unclear mark those kinds are ruled out that it cannot be beside the spare pieces. They do not say which
        colour a piece has: what lies in another light may look like the other colour.
        """
        alone, covered = self._reader.judged(self._together(sides, sides[0, :0]), self._looks())
        narrowed = tuple(map(_narrowed, alone, self._left))
        if self._spares is not None and len(self._spares) and any(map(_unclear, narrowed)):
            narrowed = tuple(map(_narrowed, narrowed, self._judged_beside(sides, self._spares)))
        return but_for(self._burnt, narrowed), covered

    def _judged_beside(self, sides: Floats, spares: Floats, sets: int | None = None) -> tuple[Contents, ...]:
        """What each square may hold, judged together with these spare pieces; see `_together`."""
        return self._reader.judged(self._together(sides, spares, sets), self._looks())[0]

    def _looks(self) -> list[Looked]:
        """How each square was looked at since it last changed."""
        return [Looked.TWICE if all(sides) else Looked.ONCE for sides in self._known.T]

    def _together(self, sides: Floats, spares: Floats, sets: int | None = None) -> Floats:
        """Probabilities `(n, 10)` of the squares, judged together with spare pieces.

        `sides` are the embeddings of the squares' sides, straight and in the mirror, `(sides, n, length)`; both count
        where both were looked at. `spares` are embeddings, `(m, length)`. If the pieces, spare ones and others, lie
        there at the same time, and are all of `sets` sets, no more of them are of a kind and colour than these have.
        """
        twice = np.asarray(self._known.all(axis=0), np.bool_)
        straight, judge = sides[0], self._reader.recogniser.judge
        probabilities = judge(np.concatenate([straight, spares]))
        if len(sides) > 1 and twice.any():
            turned = judge(np.concatenate([np.where(twice[:, None], sides[1], straight), spares]))
            both_sides = np.concatenate([twice, np.zeros(len(spares), np.bool_)])[:, None]
            probabilities = np.where(both_sides, mean_look(probabilities, turned), probabilities)
        if sets is not None:
            probabilities = within_supply(np.asarray(probabilities, np.float32), sets)
        return probabilities[: len(straight)]


def _unclear(contents: Contents) -> bool:
    """Whether a piece is seen, but not which kind: not what is covered."""
    return contents != ANYTHING and (kinds_only(contents) & _KINDS).bit_count() > 1


def _narrowed(alone: Contents, among: Contents) -> Contents:
    """What a square may hold, of the kinds that it may be among spare pieces."""
    return (alone & kinds_only(among) or alone) if _unclear(alone) else alone


def _jpeg(image: Image) -> bytes:
    done, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return encoded.tobytes() if done else b""
