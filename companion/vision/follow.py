"""The board through a video: found once, then followed for next to nothing, found again when it was moved.

Around every crossing of the board's lines a small patch of the flattened board is remembered (none of the table between
the plates of a board that has gaps: that stays when the board is pushed). In each frame the
patches are looked for near their places in the board as flattened by the last pose:

- most are where they were: nothing happened (this is the steady frame, and all it costs);
- those that are seen agree on a shift: the board or the camera moved, and the pose moves along. Patches are compared
  with remembered ones, never with the frame before, so errors do not add up;
- some are not seen: a hand, or a piece that came or went. A patch that stays unlike what was remembered while the
  others are in place is remembered anew;
- hardly any is seen: the board is covered, or was moved far in one jerk. The last pose is kept but not handed out,
  since what is read there may be wrong. Once the picture is still, the whole flattened board is looked for in its
  place and nearby, and then the board in the whole picture; what is found must be found twice. A board that stood
  there already while this one was in its place is another one, of the next table perhaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.saying import Saying
from companion.vision import lattice
from companion.vision.board import locate
from companion.vision.lens import PINHOLE
from companion.vision.plane import project, side_lengths
from companion.vision.pose import BoardNotFound, BoardPose

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from companion.rules import Layout
    from companion.vision.lens import Optics

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

_PITCH = 24
"""Side of a square in the flattened board, in its pixels."""
_REACH = 6
"""How far a patch is looked for, in the same pixels: a quarter of a square."""
_HALF = 8
"""Half the side of a patch."""
_BORDER = _HALF + _REACH + 2
_WIDE_BORDER = _BORDER + 2 * _PITCH
_ALIKE = 0.7
"""Normalised correlation from which a patch is the remembered one."""
_TEXTURED = 3.5
"""Standard deviation, in grey levels, below which a patch is too plain to be recognised."""
_STILL_SHIFT = 0.5
"""Shifts below this, in flattened pixels, are noise: a fiftieth of a square."""
_MOVING_SHIFT, _MOVING_MOST = 0.12, 0.3
"""But while board or camera go on moving, as one that is held does, they would look like motion on the board: then most
patches have to be in place but for the first, and nearly all of them but for the second."""
_MOVING_S = 1.0
"""They go on moving for so long after they have last moved by what is no noise."""
_OVER_THE_EDGE = 2
"""How much of the table, in flattened pixels, a patch at the board's edge shows: the edge itself must be in it."""
_ROUGHLY_ALIKE, _MORE_ALIKE = 0.4, 0.1
_WHOLE_ALIKE = 0.85
_HARDLY_SEEN = 0.2
_AGREE, _AGREE_WITHIN = 0.7, 1.0
"""So many patches have to agree on a shift, to within so many flattened pixels."""
_SHOW_TILT, _MOST_TILTED = 0.6, 2.0
"""So large a share of all patches tells of a tilt: fewer say too little of the rest of the board. From frame to frame
it moves the board's corners by no more than so many flattened pixels."""
_AROUND_CORNER, _IN_DOUBT = 1.6 * _PITCH, 0.3
"""Where the patches so near a corner do not all tell of it, as around a new piece, so much of a tilt is believed at a
time: what is left shows again, but for what was noise."""
_FEWEST = 5
_OUT_OF_SHAPE = 1.06
"""How much more the flattened board may grow one way than the other, from one frame to the next."""
_GROWN = 1.2
_ROUNDS = 3
_NEARLY_ALL = 80
"""Per cent of the patches that a pose which was mended has to bring to their places."""
_REMEMBER_ANEW_S = 1.0
_STILL_CHANGE = 2.5
"""Mean change of the thumbnail, in grey levels, below which the picture is still."""
_THUMBNAIL = (64, 36)
_LOOK_AGAIN_S = 0.25
_LOOK_LATER_S = 4.0
_SAME_PLACE = 0.15
"""Two finds closer than this, in squares, are the same place."""
_BESIDE = 0.7
"""Two boards whose middles are farther apart than this, in lengths of a board, may lie beside each other."""


@dataclass(slots=True)
class _Patch:
    """What the board looks like around one crossing."""

    x: int
    y: int
    look: NDArray[np.uint8]
    textured: bool
    unlike_since: float | None = None

    def remember(self, flat: Picture) -> None:
        self.look = flat[self.y - _HALF : self.y + _HALF, self.x - _HALF : self.x + _HALF].copy()
        self.textured = float(self.look.std()) > _TEXTURED
        self.unlike_since = None


@dataclass(frozen=True, slots=True)
class _Match:
    shift: tuple[float, float]
    likeness: float


class BoardFollower:
    """Where the board is in each frame of one camera.

    `find` is what looks for the board in a whole picture; `pose`, if given, is where it is in the first frame. All
    poses are in straight pixels of the same `optics` (see `companion.vision.lens`).
    Frames must all have the same size, and times (seconds of the source) must not run back.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        pose: BoardPose | None = None,
        find: Callable[[Picture, Layout], BoardPose | BoardNotFound] = locate,
        optics: Optics = PINHOLE,
    ) -> None:
        self._layout = layout
        self._find = find
        self._optics = optics
        self._pose = pose
        self._patches: list[_Patch] = []
        self._reference: Picture | None = None
        self._in_place: Picture | None = None
        """The last picture in which the board was where it is known to be."""
        self._thumbnail: Floats | None = None
        self._moved = -np.inf
        """When the board or the camera last moved by what is no noise."""
        self._moved_to: Floats | None = None
        """The corners then."""
        self._next_look = -np.inf
        self._look_pause = _LOOK_AGAIN_S
        self._looked: float | None = None
        """When the last picture was searched, until the next frame comes."""
        self._candidate: BoardPose | None = None
        self._not_found = BoardNotFound(Saying("looking for the board"))
        """Why it was not found at the last look, before it ever was."""

    @property
    def pose(self) -> BoardPose | None:
        """The last pose that was sure, also while the board is covered."""
        return self._pose

    def follow(self, image: Picture, time: float) -> BoardPose | BoardNotFound:
        """The pose of the board in the BGR picture `image`, taken at `time`; why not, while it cannot be told."""
        grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)
        still = self._is_still(grey)
        self._breathe_after_look(time)
        if self._pose is None:
            return self._first(image, grey, time)
        if not self._patches:
            self._settle_on(self._pose, grey)
        elif self._track(grey, time, still=still):
            self._next_look, self._look_pause = time + _LOOK_AGAIN_S, _LOOK_AGAIN_S
            self._candidate, self._in_place = None, grey
        elif not (still and time >= self._next_look and self._look_around(image, grey, time)):
            return BoardNotFound(Saying("the board is covered or out of focus, or has just been moved"))
        return self._sure

    @property
    def _sure(self) -> BoardPose:
        assert self._pose is not None
        return self._pose

    def _breathe_after_look(self, time: float) -> None:
        """Count the pause after a look from the next frame on: on a slow machine a look takes longer than the pause."""
        if self._looked is not None:
            self._next_look += time - self._looked
            self._looked = None

    def _first(self, image: Picture, grey: Picture, time: float) -> BoardPose | BoardNotFound:
        if time < self._next_look:
            return self._not_found
        self._looked = time
        found = self._find(image, self._layout)
        if isinstance(found, BoardNotFound):
            self._not_found = found
            self._next_look = time + self._look_pause
            self._look_pause = min(2 * self._look_pause, _LOOK_LATER_S)
            return found
        self._settle_on(found, grey)
        return found

    def _settle_on(self, pose: BoardPose, grey: Picture) -> None:
        self._pose = pose
        self._look_pause = _LOOK_AGAIN_S
        self._candidate, self._in_place = None, grey
        flat = self._flatten(grey, pose.points(), _BORDER)
        self._reference = flat
        if not self._patches:
            empty = np.zeros((0, 0), np.uint8)
            self._patches = [_Patch(x, y, empty, textured=False) for x, y in _crossings(self._layout)]
        for patch in self._patches:
            patch.remember(flat)

    # --- the steady frame

    def _track(self, grey: Picture, time: float, *, still: bool) -> bool:
        """Follow the patches; False if hardly any is seen, or if those seen do not agree."""
        moving = time - self._moved <= _MOVING_S
        for mended in range(_ROUNDS):
            flat = self._flatten(grey, self._sure.points(), _BORDER)
            matches = [_match(patch, flat) for patch in self._patches]
            textured = sum(match is not None for match in matches)
            seen = {i: match.shift for i, match in enumerate(matches) if match is not None and match.likeness > _ALIKE}
            if len(seen) < max(_FEWEST, _HARDLY_SEEN * textured):
                return False
            shifts = np.array(list(seen.values()))
            nearly_all = _MOVING_MOST if moving else _STILL_SHIFT if mended else np.inf
            if _in_place(shifts, _MOVING_SHIFT if moving else _STILL_SHIFT, nearly_all):
                break
            shift = self._agreed_shift(seen)
            if shift is None:
                return False
            self._mend(self._shifted(shift), time)
        else:
            return True
        if still and len(seen) > textured / 2:
            self._remember_changes(flat, set(seen), time)
            self._reference = flat
        return True

    def _mend(self, pose: BoardPose, time: float) -> None:
        """Take this pose, and know whether the board has moved: in noise it seems to, but does not get on."""
        if self._moved_to is None:
            self._moved_to = self._sure.points()
        way = np.linalg.norm(pose.points() - self._moved_to, axis=1).mean()
        if way * _PITCH >= _STILL_SHIFT * self._side(pose):
            self._moved, self._moved_to = time, pose.points()
        self._pose = pose

    def _agreed_shift(self, seen: dict[int, tuple[float, float]]) -> Floats | None:
        """The homography of the flattened board that most patches seen agree on, if they do.

        A board that is pushed keeps its shape. That a camera was moved changes it a little; what changes it much was
        fitted to patches that were taken for others, or that say nothing of the rest of the board.
        """
        places = np.array([(self._patches[i].x, self._patches[i].y) for i in seen], np.float64)
        shifts, best, most = np.array(list(seen.values())), None, max(_FEWEST, _AGREE * len(seen)) - 1
        for fit in (cv2.estimateAffinePartial2D, cv2.estimateAffine2D):
            found, inliers = fit(places, places + shifts, method=cv2.RANSAC, ransacReprojThreshold=_AGREE_WITHIN)
            if found is not None and int(inliers.sum()) > most and _keeps_shape(found):
                best, most = np.vstack([found, [0.0, 0.0, 1.0]]), int(inliers.sum())
        return best if best is None else self._with_perspective(best, places, places + shifts)

    def _with_perspective(self, shift: Floats, places: Floats, shifted: Floats) -> Floats:
        """The same, but for what a camera that is tilted adds, if enough patches show it, and it is little."""
        agree = np.linalg.norm(project(shift, places) - shifted, axis=1) < _AGREE_WITHIN
        if agree.sum() < _SHOW_TILT * len(self._patches):
            return shift
        tilted, _ = cv2.findHomography(places[agree], shifted[agree])
        if tilted is None:
            return shift
        outline = self._outline(_BORDER)
        straight = project(shift, outline)
        beyond = project(tilted, outline) - straight
        if np.abs(beyond).max() > _MOST_TILTED:
            return shift
        every = np.array([(patch.x, patch.y) for patch in self._patches], np.float64)
        seen, there = (
            np.linalg.norm(outline[:, None] - some, axis=2) < _AROUND_CORNER for some in (places[agree], every)
        )
        share = 1.0 if np.array_equal(seen.sum(axis=1), there.sum(axis=1)) else _IN_DOUBT
        return lattice.homography(outline, straight + share * beyond)

    def _shifted(self, shift: Floats) -> BoardPose:
        outline = self._outline(_BORDER)
        corners = project(lattice.homography(outline, self._sure.points()), project(shift, outline))
        return BoardPose.at(corners, self._sure.score)

    def _remember_changes(self, flat: Picture, seen: set[int], time: float) -> None:
        for i, patch in enumerate(self._patches):
            if i in seen:
                patch.unlike_since = None
            elif patch.unlike_since is None:
                patch.unlike_since = time
            elif time - patch.unlike_since >= _REMEMBER_ANEW_S:
                patch.remember(flat)

    # --- covered, or moved far

    def _look_around(self, image: Picture, grey: Picture, time: float) -> bool:
        """Look for the board nearby, then anywhere. A pose whose patches are known again, or found twice, is taken."""
        self._next_look = time + self._look_pause
        self._look_pause = min(2 * self._look_pause, _LOOK_LATER_S)
        if self._still_there(grey):
            self._settle_on(self._sure, grey)
            return True
        nearby = self._nearby(grey)
        if nearby is not None and self._recognised(nearby, grey, time):
            return True
        self._looked = time
        found = self._find(image, self._layout)
        if isinstance(found, BoardNotFound) or self._is_another(found, grey):
            self._candidate = None
            return False
        pose = self._turned_alike(found, grey)
        if self._recognised(pose, grey, time):
            return True
        if self._candidate is not None and self._same_place(pose, self._candidate):
            self._settle_on(pose, grey)
            return True
        self._candidate, self._look_pause = pose, _LOOK_AGAIN_S
        self._next_look = time + _LOOK_AGAIN_S
        return False

    def _recognised(self, pose: BoardPose, grey: Picture, time: float) -> bool:
        """Take `pose` if the remembered patches are seen there."""
        before = self._pose, self._moved, self._moved_to
        self._pose = pose
        if self._track(grey, time, still=False):
            self._moved, self._moved_to = time, self._sure.points()
            return True
        self._pose, self._moved, self._moved_to = before
        return False

    def _still_there(self, grey: Picture) -> bool:
        """Whether the board as a whole looks as it last did in its place: too noisy for patches, but not moved."""
        assert self._reference is not None
        flat = self._flatten(grey, self._sure.points(), _BORDER)
        alike = cv2.matchTemplate(flat, self._reference, cv2.TM_CCOEFF_NORMED)
        return float(alike[0, 0]) > _WHOLE_ALIKE

    def _nearby(self, grey: Picture) -> BoardPose | None:
        """The pose moved, without a turn, to where the whole flattened board is best seen again."""
        assert self._reference is not None
        wide = self._flatten(grey, self._sure.points(), _WIDE_BORDER)
        inner = self._reference[_BORDER:-_BORDER, _BORDER:-_BORDER]
        _, best, _, place = cv2.minMaxLoc(cv2.matchTemplate(wide, inner, cv2.TM_CCOEFF_NORMED))
        if best < _ROUGHLY_ALIKE:
            return None
        shift = np.array([[1.0, 0.0, place[0] - _WIDE_BORDER], [0.0, 1.0, place[1] - _WIDE_BORDER], [0.0, 0.0, 1.0]])
        return self._shifted(shift)

    def _turned_alike(self, found: BoardPose, grey: Picture) -> BoardPose:
        """`found` with its corners named so that the board looks as remembered; if unclear, as near as possible."""
        assert self._reference is not None
        turns = [np.roll(found.points(), turn, axis=0) for turn in range(4)]
        if self._layout.rows != self._layout.columns:
            turns = turns[::2]
        likeness = [
            float(cv2.matchTemplate(self._flatten(grey, turn, _BORDER), self._reference, cv2.TM_CCOEFF_NORMED)[0, 0])
            for turn in turns
        ]
        order = np.argsort(likeness)[::-1]
        if likeness[order[0]] > max(_ROUGHLY_ALIKE, likeness[order[1]] + _MORE_ALIKE):
            return BoardPose.at(turns[order[0]], found.score)
        nearest = min(turns, key=lambda turn: float(np.linalg.norm(turn - self._sure.points(), axis=1).sum()))
        return BoardPose.at(nearest, found.score)

    def _is_another(self, found: BoardPose, grey: Picture) -> bool:
        """Whether it lies beside where the board last was, and did so already then."""
        assert self._in_place is not None
        corners, place = found.points(), self._sure.points()
        length = side_lengths(place).mean()
        if np.linalg.norm(corners.mean(axis=0) - place.mean(axis=0)) < _BESIDE * length:
            return False
        now, then = (self._flatten(picture, corners, _BORDER) for picture in (grey, self._in_place))
        return float(cv2.matchTemplate(now, then, cv2.TM_CCOEFF_NORMED)[0, 0]) > _ALIKE

    def _same_place(self, pose: BoardPose, other: BoardPose) -> bool:
        apart = np.linalg.norm(pose.points() - other.points(), axis=1).max()
        return bool(apart < _SAME_PLACE * self._side(pose))

    def _side(self, pose: BoardPose) -> float:
        """A square's, along the board's first side, in pixels of the picture."""
        a1, d1, *_ = pose.points()
        return float(np.linalg.norm(d1 - a1)) / self._layout.columns

    # --- pixels

    def _is_still(self, grey: Picture) -> bool:
        small = cv2.resize(grey, _THUMBNAIL, interpolation=cv2.INTER_AREA)  # noise is no motion
        thumbnail = small.astype(np.float32)
        before, self._thumbnail = self._thumbnail, thumbnail
        return before is not None and float(np.abs(thumbnail - before).mean()) < _STILL_CHANGE

    def _outline(self, border: int) -> Floats:
        right, bottom = border + self._layout.columns * _PITCH, border + self._layout.rows * _PITCH
        return np.array([[border, bottom], [right, bottom], [right, border], [border, border]], np.float64)

    def _flatten(self, grey: Picture, corners: Floats, border: int) -> Picture:
        """The board from above, far side on top, smoothed by taking it twice as large."""
        size = (self._layout.columns * _PITCH + 2 * border, self._layout.rows * _PITCH + 2 * border)
        half = lattice.homography(self._outline(border), corners) @ np.diag([0.5, 0.5, 1.0])
        flat = self._optics.view(grey, half, (2 * size[0], 2 * size[1]), cv2.BORDER_REPLICATE)
        return np.asarray(cv2.resize(flat, size, interpolation=cv2.INTER_AREA), np.uint8)


def _crossings(layout: Layout) -> list[tuple[int, int]]:
    """Where patches are centred: where lines cross, drawn in from the board's edges, so as not to see the table."""
    inside = _HALF - _OVER_THE_EDGE
    beside: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for square in layout:
        column, row = square.column, layout.rows - 1 - square.row
        for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
            beside.setdefault((row + down, column + right), []).append((1 - 2 * right, 1 - 2 * down))
    centres = []
    for (row, column), sides in sorted(beside.items()):
        inwards = [side.pop() if len(side) == 1 else 0 for side in map(set, zip(*sides, strict=True))]
        centres.append((_BORDER + column * _PITCH + inside * inwards[0], _BORDER + row * _PITCH + inside * inwards[1]))
    return centres


def _keeps_shape(shift: NDArray[Any]) -> bool:
    """Whether an affine map (2, 3) makes a board of the flattened board, though maybe one that is turned or nearer."""
    long, short = np.linalg.svd(shift[:, :2], compute_uv=False)
    return bool(long < _OUT_OF_SHAPE * short and max(long, 1 / short) < _GROWN)


def _in_place(shifts: Floats, least: float, nearly_all: float) -> bool:
    """Whether most patches are where they were, but for shifts of less, and nearly all but for some more."""
    if (np.abs(np.median(shifts, axis=0)) >= least).any() or np.median(np.abs(shifts)) >= least:
        return False
    return bool(nearly_all == np.inf or np.percentile(np.abs(shifts), _NEARLY_ALL) <= nearly_all)


def _match(patch: _Patch, flat: Picture) -> _Match | None:
    """Where the remembered patch is in `flat`; None if it is too plain to tell."""
    if not patch.textured:
        return None
    reach = _HALF + _REACH
    around = flat[patch.y - reach : patch.y + reach, patch.x - reach : patch.x + reach]
    likeness = cv2.matchTemplate(around, patch.look, cv2.TM_CCOEFF_NORMED)
    _, best, _, (x, y) = cv2.minMaxLoc(likeness)
    return _Match((_peak(likeness[y], x) - _REACH, _peak(likeness[:, x], y) - _REACH), float(best))


def _peak(values: Any, at: int) -> float:
    """The place of a maximum between samples, by the parabola through its neighbours."""
    if not 0 < at < len(values) - 1:
        return float(at)
    left, middle, right = (float(value) for value in values[at - 1 : at + 2])
    bend = left - 2 * middle + right
    return at + (0.5 * (left - right) / bend if bend < 0 else 0.0)
