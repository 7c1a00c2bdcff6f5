"""Finding the board in a picture, without markers, or saying honestly that it is not found.

The way of one picture: places where the board may be come from a small network that points at corners (`pointer`) and,
where that is not enough, from the lines in the picture (`suggestions`). Another network mends and judges each of them
(`judge`), the best are fitted to their lines (`lattice.fit`), judged again and weighed (`lattice.weigh`, `rule`), and
the best of these is the board, if it is good enough. A board found where there is none spoils a game, a board not found
costs a moment: so what is not clearly a board is refused, with the reason. Before, it is looked for in other tones.

The networks know the board of four by four squares only. Other layouts are found by their lines alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property, reduce
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from companion.saying import Saying
from companion.vision import lattice
from companion.vision.alike import mixed_up
from companion.vision.bordered import clearness, find_border
from companion.vision.judge import SQUARES, Judge, Verdict
from companion.vision.markers import mat_corners
from companion.vision.mesh import Mesh
from companion.vision.places import (
    JUDGED_SURELY,
    Place,
    agreed,
    are_strained,
    clear_of,
    different,
    farther,
    is_cut_off,
    larger,
    may_be_board,
    off_by,
    possible,
)
from companion.vision.plane import side_lengths
from companion.vision.pointer import LITTLE, Pointer
from companion.vision.pose import BoardNotFound, BoardPose, turning
from companion.vision.rule import FinderRule
from companion.vision.suggestions import FEW_VIEWS, FittedPicture, LinesSeen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.rules import Layout

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

SMALLEST_PICTURE = 64
"""No board is searched for in a picture with a side shorter than this, in pixels."""
_ENOUGH = 0.85
"""From this likeness on, lines alone make a board of another layout."""
_MIXED_UP = 0.5
"""But not where squares and surroundings are mixed up more than this."""
_CLEARLY_MIXED_UP, _FOR_ITSELF = 0.55, 0.93
"""Nor is it the board of four by four where they are mixed up more than this, and the networks are not quite sure, nor
the judge by itself as sure as this."""
_ANOTHER = 0.85
"""What may be a board is told as another one where they are mixed up more than this; under hands they were by 0.7."""
_PART, _SURELY_WHOLE = 0.2, 0.99
"""What is less sure than the second is a part of a board whose squares are twice as large if every other line is
clearer than those between by more than the first, see `lattice.Weight`. So were seven of ten plates, of one or two,
that were taken for a board; and of 1,200 boards two, one of them all white, that show no more lines than a plate."""
_GOES_ON = ((0.8, 0.66), (JUDGED_SURELY, 0.9))
"""Nor, if the judge's score is less than the first, where the pointer sees one a square farther on, too, by more than
the second of what it sees here: in a longer grid, as of a bar of chocolate."""
_PROMISING = 0.05
"""What has a lower score than this at one look is not looked at from all sides: of 205 times that all places near some
guesses had, none came to more than 0.10."""
_LEAST_JUDGED = 0.3
"""Nor what the judge takes for none, however much of it the others see."""
_FAR_BEYOND = 0.25
"""Nor one that reaches beyond the edge of the picture by more than this, in squares: they cannot be read; nor, if it is
in doubt, one that is cut off at all."""
_BRIGHTER, _DARKER = 0.3, 2.0
"""Where no board is surely found, levels from 0 to 1 are raised to these powers."""
_MUCH = 0.05
"""Most shows where a larger share of the picture than this is all but black, or all but white."""
_ALL_BUT_BLACK, _ALL_BUT_WHITE = 32, 240
"""That is where the brightest of a pixel's levels is less, or more, than this."""
_TONED_SURELY, _TONED_MORE_SURELY = 0.9, 0.93
"""What shows in another tone has to be as sure as this there, and elsewhere: more is made of cloths and tables then."""
_GLIMPSED = 0.45
"""Nor is it looked for there if the pointer at a glance supports no place by as much as this. The 16 boards that were
found so in drawn pictures had 0.63 or more; where there is none, nine pictures of ten have less than 0.4."""
_HINTED = 0.15
"""Nor does the pointer look closer there if its first look supports no place by as much as this: of those that came to
anything each had 0.24 or more, of pictures without a board five of six have less."""
_TRIED_TONED = 4
"""So many of the places that might have been one are tried again then."""
_TRIED_BORDERED = 3
"""So many of the places may be the edge of what the board lies on, if none of them is the board."""
_NOTHING = 0.01
"""But if all places have a lower score than this, there is nothing."""
_LARGER = (1.1, 1.2, 1.3, 1.4)
"""That edge is looked for around the likeliest as well, where a board is so many times as large."""
_BEYOND_DOUBT = 0.95
_CUT_OUT_SURELY = 0.99
"""What could only be a board in a picture that is cut out of another has to be as sure as this. Such boards had 0.997
and more; of 900 tables seven had what is none, hidden edges mostly, with up to 0.98."""
_SMALLEST_SQUARE = 10.0
"""A board whose squares are smaller than this, in pixels of the picture, cannot be read."""
_COVERED = 0.5
_ASIDE = 0.4
_ELSEWHERE = 0.4
"""The board does not lie where somebody says it does if its corners are farther away, in the mean, in squares."""
_FITS = 0.6
"""Nor is it quite there if the judge gives these corners less: of 500 true ones 485 had more, of 125 that were a fifth
of a square off about a tenth."""
_CORNERS = {
    (-1, 0): Saying("upper corner"),
    (1, 0): Saying("lower corner"),
    (0, -1): Saying("left corner"),
    (0, 1): Saying("right corner"),
    (-1, -1): Saying("upper left corner"),
    (-1, 1): Saying("upper right corner"),
    (1, -1): Saying("lower left corner"),
    (1, 1): Saying("lower right corner"),
}
"""By where they are in the picture, down and to the right."""
_NO_BOARD = BoardNotFound(Saying("no board here: nothing in the picture is clearly a board of four by four squares"))
_FOUR_BY_FOUR = Saying("four by four squares")
_A_PART = BoardNotFound(
    Saying(
        "%(why)s, or give its corners",
        why=Saying("what is here may be a part of a board: it has every other line only; lay out the whole board"),
    )
)
_CUT_OFF_SAID = Saying(
    "%(why)s, or give its corners",
    why=Saying("what may be a board reaches beyond the edge of the picture; show the whole of it"),
)
_MESH = Mesh(np.ones((SQUARES, SQUARES), np.bool_))
"""Of the board that the networks know."""


class Scene:
    """A picture in which the board of four by four is looked for; it is worked out what it shows when that is asked."""

    def __init__(self, image: Picture, pointer: Pointer, hint: float = 0.0) -> None:
        """Where the `pointer` has no `hint` of a board at its first look, it does not look closer."""
        self.image = image
        self.sight = pointer.see(image, hint)
        """What the pointer sees in it."""

    @cached_property
    def fitted(self) -> FittedPicture:
        """The picture in which places are fitted and judged."""
        return FittedPicture.of(self.image)


class Elsewhere(NamedTuple):
    """The board does not lie where somebody says it does."""

    pose: BoardPose
    """Where it surely lies."""


class BoardFinder:
    """Finds the board in a picture. Not for sharing between threads: OpenCV's networks keep their buffers."""

    def __init__(self, pointer: Pointer, judge: Judge, rule: FinderRule) -> None:
        self._pointer, self._judge = pointer, judge
        self.rule = rule

    @classmethod
    def bundled(cls) -> BoardFinder:
        """The finder that comes with the program: trained on drawn boards only, see `models/locator.json`."""
        models = resources.files("companion.vision") / "models"
        card = json.loads((models / "locator.json").read_text(encoding="utf-8"))
        pointer, judge = ((models / name).read_bytes() for name in ("pointer.onnx", "judge.onnx"))
        return cls(Pointer(pointer), Judge(judge), FinderRule.of_card(card))

    def __call__(self, image: Picture, layout: Layout) -> BoardPose | BoardNotFound:
        """Find the board in a BGR picture (height, width, 3).

        The markers of a printed mat are believed first, and say which corner is a1. Without markers nothing tells a
        symmetrical board's sides apart: of the corners that may be a1 it is the one with the greatest y - x (lower
        left), the others follow counter-clockwise as seen.
        """
        if image.ndim != 3 or image.shape[2] != 3 or min(image.shape[:2]) < SMALLEST_PICTURE:  # noqa: PLR2004
            return BoardNotFound(
                Saying("the picture is too small: %(size)s pixels", size=" x ".join(map(str, image.shape[1::-1])))
            )
        if not _is_standard(layout):
            return _told(image, layout)
        return self._find(self.look(image))

    def sees(self, image: Picture, layout: Layout, given: BoardPose) -> bool:
        """Whether there is anything like a board at a `given` pose, as far as can be told.

        Only the board of four by four is known well enough to tell; any other, or a tiny one, is believed to be there.
        """
        return not _can_tell(image, layout) or self._given(self.look(image), given).score >= self.rule.perhaps

    def _given(self, scene: Scene, given: BoardPose) -> Place:
        """The place at a given pose."""
        judged = self._judge.judge_from_all_sides(scene.fitted.levels, [given.points() * scene.fitted.scale])
        (place,) = self._weighed(scene, judged)
        return place

    def check(self, image: Picture, layout: Layout, given: BoardPose) -> BoardPose | Elsewhere | None:
        """Where the board is that somebody says is at a `given` pose, if it `sees` anything like one there.

        That is the given pose itself; or the board's own, if the given one is a little off it, and it surely is one.
        Else where the board surely is instead; or None. Corners are named so that they are nearest the given ones.
        """
        if not _can_tell(image, layout):
            return given
        scene = self.look(image)
        there = self._given(scene, given)
        shows = there.score >= self.rule.perhaps
        if shows and there.likely >= _FITS:
            return given
        near = max(self._near(scene, [there.corners]), key=_likely, default=there)
        mended, off = _named_as(given, agreed(near) / scene.fitted.scale, near.score)
        if near.score >= self.rule.sure and near.likely >= _BEYOND_DOUBT and off <= _ELSEWHERE:
            return mended
        if shows:
            return given
        found = self._find(scene)
        if not isinstance(found, BoardPose) or found.score < self.rule.sure:
            return None
        seen, off = _named_as(given, found.points(), found.score)
        return Elsewhere(seen) if off > _ELSEWHERE else seen

    def look(self, image: Picture) -> Scene:
        """What there is to see in a BGR picture (height, width, 3)."""
        return Scene(image, self._pointer)

    def _find(self, scene: Scene) -> BoardPose | BoardNotFound:
        on_mat = mat_corners(scene.image)
        if on_mat is not None:
            return BoardPose.at(on_mat, 1.0)
        places = self.places(scene)
        found = self._answer(places, scene.fitted)
        found = self._within_border(scene, places, found)
        best = places[0].score if places else 0.0
        if best >= (self.rule.accept if isinstance(found, BoardNotFound) else self.rule.sure):
            return found
        likeliest = [place.corners / scene.fitted.scale for place in places[:_TRIED_TONED]]
        toned = self._find_toned(scene.image, likeliest)
        either = [pose for pose in (found, toned) if isinstance(pose, BoardPose)]
        return max(either, key=lambda pose: pose.score, default=found)

    def _within_border(
        self, scene: Scene, places: list[Place], found: BoardPose | BoardNotFound
    ) -> BoardPose | BoardNotFound:
        """The board, if what was `found` is the sheet or the frame that it lies in; else what was found.

        With a border around it no network is sure of it: so it is looked at without.
        """
        if not places or places[0].score < _NOTHING:
            return found
        levels = scene.fitted.levels
        likeliest = [agreed(place) for place in places[: 1 if isinstance(found, BoardPose) else _TRIED_BORDERED]]
        if isinstance(found, BoardNotFound):
            likeliest += [larger(corners, by) for corners in likeliest[:1] for by in _LARGER]
        borders = [find_border(levels, corners, _MESH) for corners in likeliest]
        clearest = max(filter(None, borders), key=lambda border: border.clear, default=None)
        if clearest is None:
            return found
        bordered = clearest.scaled(1 / scene.fitted.scale)
        if isinstance(found, BoardPose):
            if clearest.clear < clearness(levels, likeliest[0], _MESH):
                return found
            named, _ = _named_as(found, bordered.board, found.score)
            return replace(named, another=found.another)
        without = Scene(bordered.without(scene.image), self._pointer)
        seen = self._answer(_best_first(self._near(without, [bordered.edge])), without.fitted)
        if isinstance(seen, BoardPose):
            named, off = _named_as(seen, bordered.edge, seen.score)
            if off <= _ELSEWHERE:
                return named.moved(bordered.back(named.points()))
        return found

    def _find_toned(self, image: Picture, likeliest: list[Floats]) -> BoardPose | None:
        """The board, if it surely shows when what is dark in the picture is made brighter, or what is bright darker.

        The lines of a black board are all but black, and those of a white one white. It is looked for where the pointer
        sees it then, and near what was `likeliest` before, in pixels of the picture.
        """
        for exponent, surely in _tones(image):
            scene = Scene(np.asarray(cv2.LUT(image, _curve(exponent)), np.uint8), self._pointer, _HINTED)
            if scene.sight.at_a_glance < _GLIMPSED:
                continue
            places = self._near(scene, [*(place.corners for place in scene.sight.places), *likeliest])
            found = self._answer(_best_first(places), scene.fitted)
            if isinstance(found, BoardPose) and found.score >= surely:
                return found
        return None

    def places(self, scene: Scene) -> list[Place]:
        """The places that may be the board of four by four, likeliest first.

        What the lines suggest costs most of the time, and is asked only if what the pointer sees is not surely a board.
        Where that is next to nothing, both are tried at once, and of the lines the most telling only.
        """
        guesses = [place.corners for place in scene.sight.places]
        if scene.sight.at_a_glance < LITTLE:
            return _best_first(self._near(scene, guesses + LinesSeen(scene.image).suggest(_MESH, FEW_VIEWS)))
        places = self._near(scene, guesses)
        if not any(place.score >= self.rule.sure for place in places):
            places += self._near(scene, LinesSeen(scene.image).suggest(_MESH))
        return _best_first(places)

    def _near(self, scene: Scene, guesses: list[Floats]) -> list[Place]:
        """The likeliest places near these guesses, which are in pixels of the picture itself.

        Those that do best at one look are looked at from all sides, and mended once more, if there is anything in them.
        """
        levels = scene.fitted.levels
        tried = self._tried(scene.fitted, [corners * scene.fitted.scale for corners in guesses])
        best = different(self._weighed_found(scene, self._judge.judge(levels, tried)))
        promising = [place.corners for place in best if place.score >= _PROMISING]
        if not promising:
            return best
        judged = self._judge.judge_from_all_sides(levels, promising)
        mended = [verdict.mended for verdict in judged if may_be_board(verdict.mended, scene.fitted.size, cut_out=True)]
        judged += self._judge.judge_from_all_sides(levels, mended)
        usual = [corners for corners in tried if may_be_board(corners, scene.fitted.size)]
        return [
            place._replace(tried=usual if may_be_board(place.corners, scene.fitted.size) else tried)
            for place in self._weighed_found(scene, judged)
        ]

    def _tried(self, picture: FittedPicture, guesses: list[Floats]) -> list[Floats]:
        """Places near these guesses: each is mended, and the best ones are fitted to their lines."""
        first = self._judge.judge(picture.levels, [corners for corners in guesses if possible(corners)])
        mended = [verdict.mended for verdict in first if possible(verdict.mended)]
        best = different(self._judge.judge(picture.levels, mended))
        tried = [verdict.corners for verdict in best] + [verdict.mended for verdict in best]
        tried += [lattice.fit(picture.levels, verdict.mended, _MESH) for verdict in best]
        return [corners for corners in tried if may_be_board(corners, picture.size, cut_out=True)]

    def _weighed_found(self, scene: Scene, judged: list[Verdict]) -> list[Place]:
        """As `_weighed`, without what could only be a board in a picture that is cut out of another and is not sure."""
        weighed, size = self._weighed(scene, judged), scene.fitted.size
        return [place for place in weighed if place.score >= _CUT_OUT_SURELY or may_be_board(place.corners, size)]

    def _weighed(self, scene: Scene, judged: list[Verdict]) -> list[Place]:
        weighed, sight, scale = [], scene.sight, scene.fitted.scale
        for verdict in judged:
            corners = verdict.corners
            support, weight = sight.support(corners / scale), lattice.weigh(scene.fitted.levels, corners, _MESH)
            score = self.rule.score(verdict.score, support, weight)
            open_yet = score >= self.rule.accept and verdict.score < JUDGED_SURELY
            beyond = max(sight.support(moved / scale) for moved in farther(corners)) if open_yet else 0.0
            weighed.append(Place(score, corners, verdict.score, support, weight, verdict.covered, beyond))
        return weighed

    def _answer(self, found: list[Place], picture: FittedPicture) -> BoardPose | BoardNotFound:
        if not found:
            return BoardNotFound(Saying("no board here: nothing in the picture has the board's lines"))
        best = found[0]
        if best.score < self.rule.perhaps:
            return _NO_BOARD
        if _is_part(best):
            elsewhere = self._answer([place for place in found if clear_of(place.corners, best.corners)], picture)
            return elsewhere if isinstance(elsewhere, BoardPose) else _A_PART
        if best.score < self.rule.accept:
            return _unsure(best, picture)
        pose = _refused(best, picture) or _pose(agreed(best) / picture.scale, best.score, 4 * [True], SQUARES)
        others = [place for place in found if place.score >= self.rule.sure and clear_of(place.corners, best.corners)]
        another = self._answer(others, picture)
        if isinstance(pose, BoardNotFound) or isinstance(another, BoardNotFound):
            return pose
        return replace(pose, another=another.corners)


def _named_as(given: BoardPose, corners: Floats, score: float) -> tuple[BoardPose, float]:
    """The board at these corners, named as those given that are nearest, and how far these are off, in squares."""
    alike = corners if turning(corners) * turning(given.points()) > 0 else corners[::-1]
    named = [np.roll(alike, turn, axis=0) for turn in range(len(alike))]
    off = [off_by(each, given.points()) for each in named]
    return BoardPose.at(named[int(np.argmin(off))], score), min(off)


def _can_tell(image: Picture, layout: Layout) -> bool:
    """Whether the networks can tell if a given place is a board in this picture."""
    return _is_standard(layout) and min(image.shape[:2]) >= SMALLEST_PICTURE


def _is_standard(layout: Layout) -> bool:
    """Whether it is the board of four by four, which the networks know."""
    return (layout.rows, layout.columns, len(layout)) == (SQUARES, SQUARES, SQUARES**2)


def _refused(place: Place, picture: FittedPicture) -> BoardNotFound | None:
    """Why what is sure enough is not taken for the board all the same, if it is not."""
    in_doubt = place.score < _BEYOND_DOUBT
    for_itself = not in_doubt or place.likely >= _FOR_ITSELF
    if not for_itself and mixed_up(picture.levels, place.corners, _MESH) > _CLEARLY_MIXED_UP:
        return _another_board(_FOUR_BY_FOUR)
    if is_cut_off(place, picture.size, _FAR_BEYOND) or (in_doubt and is_cut_off(place, picture.size)):
        return BoardNotFound(_CUT_OFF_SAID)
    if in_doubt and are_strained(place.corners, picture.size):
        return _unsure(place, picture)
    shares = [share for judged, share in _GOES_ON if place.likely < judged]
    if place.likely < _LEAST_JUDGED or any(place.farther > share * place.support for share in shares):
        return BoardNotFound(_CUT_OFF_SAID) if is_cut_off(place, picture.size) else _NO_BOARD
    return None


def _is_part(place: Place) -> bool:
    """Whether it is a part of a board rather, whose squares are twice as large."""
    return place.weight.every_other > _PART and place.score < _SURELY_WHOLE


def _unsure(place: Place, picture: FittedPicture) -> BoardNotFound:
    """Why what may be a board is not taken for one."""
    if is_cut_off(place, picture.size):
        return BoardNotFound(_CUT_OFF_SAID)
    if mixed_up(picture.levels, place.corners, _MESH) > _ANOTHER:
        return _another_board(_FOUR_BY_FOUR)
    worst = int(np.argmax(place.covered))
    if place.covered[worst] < _COVERED:
        badly = Saying("what may be a board is seen badly, or hidden in part; move closer, make more light")
        return BoardNotFound(Saying("%(why)s, or give its corners", why=badly))
    corner = _side(place.corners, worst)
    covered = Saying("a hand or something else covers the board's %(corner)s; take it away", corner=corner)
    return BoardNotFound(Saying("%(why)s, or give the board's corners", why=covered))


def _another_board(expected: str) -> BoardNotFound:
    another = Saying(
        "what is here may be another board, or a part of one: its lines are those of %(expected)s, its colours are not",
        expected=expected,
    )
    return BoardNotFound(Saying("%(why)s; give the layout that lies here, or its outer corners", why=another))


def _side(corners: Floats, which: int) -> str:
    """Where a corner is, as one sees the picture, such as *upper left corner*."""
    x, y = corners[which] - corners.mean(axis=0)
    across = 0 if abs(x) < _ASIDE * abs(y) else int(np.sign(x))
    down = 0 if abs(y) < _ASIDE * abs(x) else int(np.sign(y))
    return _CORNERS[down, across]


def _likely(place: Place) -> tuple[bool, float]:
    """By what the likeliest place is the greatest."""
    return place.likely >= _LEAST_JUDGED, place.score


def _best_first(places: list[Place]) -> list[Place]:
    return sorted(places, key=_likely, reverse=True)


def _tones(image: Picture) -> list[tuple[float, float]]:
    """The powers to which levels may be raised, and how sure what shows then has to be."""
    brightest = np.asarray(reduce(cv2.max, cv2.split(image)))
    tones = ((_BRIGHTER, brightest < _ALL_BUT_BLACK), (_DARKER, brightest > _ALL_BUT_WHITE))
    return [(exponent, _TONED_SURELY if such.mean() > _MUCH else _TONED_MORE_SURELY) for exponent, such in tones]


def _curve(exponent: float) -> Picture:
    """What each level becomes, `(256,)`."""
    return np.asarray(np.round(255 * (np.arange(256) / 255) ** exponent), np.uint8)


def locate(image: Picture, layout: Layout) -> BoardPose | BoardNotFound:
    """Find the board in one BGR picture, with a `BoardFinder` of its own; see there."""
    return BoardFinder.bundled()(image, layout)


def _told(image: Picture, layout: Layout) -> BoardPose | BoardNotFound:
    """The board of any layout, by its lines alone, however it is turned."""
    turns = Mesh.turned(layout)
    seen, picture = LinesSeen(image), FittedPicture.of(image)
    found = {turn: seen.tell(picture, mesh) for turn, mesh in turns.items()}
    turn, (score, corners) = max(found.items(), key=lambda item: item[1][0])
    if score < _ENOUGH:
        nowhere = Saying(
            "no board here: nothing in the picture is clearly a board of the layout %(layout)s", layout=str(layout)
        )
        return BoardNotFound(Saying("%(why)s; if it is there, give its outer corners", why=nowhere))
    if mixed_up(picture.levels, corners, turns[turn]) > _MIXED_UP:
        return _another_board(Saying("the layout %(layout)s", layout=str(layout)))
    cells = turns[0].cells
    alike = [np.array_equal(np.rot90(cells, other), cells) for other in range(4)]
    return _pose(np.roll(corners, -turn, axis=0) / picture.scale, score, alike, max(layout.rows, layout.columns))


def _pose(corners: Floats, score: float, alike: list[bool], squares: int) -> BoardPose | BoardNotFound:
    """The pose with these corners; `alike` says after which quarter turns the board looks the same."""
    if side_lengths(corners).max() / squares < _SMALLEST_SQUARE:
        return BoardNotFound(Saying("the board is too small in the picture; move the camera closer"))
    return BoardPose.at(_named(corners, alike), score)


def _named(corners: Floats, alike: list[bool]) -> Floats:
    """Counter-clockwise as seen, beginning with that possible a1 which has the greatest y - x."""
    if turning(corners) > 0:
        corners = corners[::-1]
    low = np.where(alike, corners[:, 1] - corners[:, 0], -np.inf)
    return np.roll(corners, -int(np.argmax(low)), axis=0)
