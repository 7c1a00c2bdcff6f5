"""Where the board is in a picture: found without markers, or given by hand, or honestly not found.

The way of one picture: places where the board may be come from a small network that points at corners (`pointer`) and,
where that is not enough, from the lines in the picture (`suggestions`). Another network mends and judges each of them
(`judge`), the best are fitted to their lines (`lattice.fit`), judged again and weighed (`lattice.weigh`, `rule`), and
the best of these is the board, if it is good enough. A board found where there is none spoils a game, a board not found
costs a moment: so what is not clearly a board is refused, with the reason.

The networks know the board of four by four squares only. Other layouts are found by their lines alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import cv2
import numpy as np

from companion.errors import VisionError
from companion.saying import Saying
from companion.vision import lattice
from companion.vision.alike import mixed_up
from companion.vision.judge import SQUARES, Judge, Verdict
from companion.vision.markers import mat_corners
from companion.vision.mesh import Mesh
from companion.vision.plane import goes_round, misfit, project, side_lengths
from companion.vision.pointer import Pointer
from companion.vision.rule import FinderRule
from companion.vision.suggestions import MISFIT, LinesSeen, in_lab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.rules import Layout
    from companion.vision.pointer import Sight

    Floats = NDArray[np.floating[Any]]

Point = tuple[float, float]

SMALLEST_PICTURE = 64
"""No board is searched for in a picture with a side shorter than this, in pixels."""
FITTED = 1280
"""Longer side of the picture in which places are fitted and judged."""
_BEST = 4
"""So many places are fitted."""
_ALIKE = 0.05
"""Places whose corners are closer than this, in squares, are not both looked at from all sides."""
_NEAR = 0.3
"""Places whose corners are closer than this, in squares, are the same place."""
_EDGE = 0.1
"""Places that share less of their area than this lie beside each other."""
_ENOUGH = 0.85
"""From this likeness on, lines alone make a board of another layout."""
_MIXED_UP = 0.5
"""But not where squares and surroundings are mixed up more than this."""
_CLEARLY_MIXED_UP = 0.55
"""Nor is it the board of four by four where they are mixed up more than this, and the networks are not quite sure."""
_GOES_ON = 0.7
"""Nor where the pointer sees one a square farther on, too, by so large a share of what it sees here: in a longer grid,
as of a bar of chocolate."""
_JUDGED_SURELY = 0.9
"""Unless the judge is so sure of it."""
_BEYOND_DOUBT = 0.95
_SMALLEST_SQUARE = 10.0
_COVERED = 0.5
_CUT_OFF = 0.1
"""What reaches beyond the edge of the picture by more than this, in squares, is not seen whole."""
_ASIDE = 0.4
_OUTSIDE = 0.25
_ELSEWHERE = 0.4
"""The board does not lie where somebody says it does if its corners are farther away than this, in squares."""


@dataclass(frozen=True, slots=True)
class BoardPose:
    """Where the board lies in a picture."""

    corners: tuple[Point, Point, Point, Point]
    """The outer corners of the board's top at a1, d1, d4, a4 (for another layout: of its bounding rectangle, in that
    order), in pixels of the upright picture, x to the right, y down; within the eye, of the straight one (see
    `companion.vision.lens`). They may lie a little outside the picture."""
    score: float
    """How sure this is, from 0 to 1; 1 if a person gave the corners."""
    another: tuple[Point, Point, Point, Point] | None = None
    """The corners of another place, clear of this one, that was found to be as surely a board; in the same pixels."""

    def points(self) -> NDArray[np.float64]:
        """The corners as an array (4, 2)."""
        return np.array(self.corners, np.float64)

    def moved(self, points: Floats) -> BoardPose:
        """The same board with its corners at other points (4, 2), and no word of another."""
        return BoardPose(_points(points), self.score)


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


@dataclass(frozen=True, slots=True)
class BoardNotFound:
    """No board, or none that is sure enough: a fact about the picture, for a person to read; never an exception."""

    why: str


_NO_BOARD = BoardNotFound(Saying("no board here: nothing in the picture is clearly a board of four by four squares"))
_CUT_OFF_SAID = Saying(
    "%(why)s, or give its corners",
    why=Saying("what may be a board reaches beyond the edge of the picture; show the whole of it"),
)


class Place(NamedTuple):
    """A place that may be the board."""

    score: float
    """How sure it is, 0 to 1."""
    corners: Floats
    """Corners (4, 2), in pixels of the fitted picture, going round from any of them."""
    likely: float
    """The judge's own score."""
    support: float
    """The pointer's."""
    weight: lattice.Weight
    covered: Floats
    """How likely something hides each of the corners (4,), 0 to 1."""
    farther: float = 0.0
    """The pointer's support of the same place moved on by a square, where that is greatest; 0 where that decides
    nothing."""
    tried: Sequence[Floats] = ()
    """The corners of all places that were tried from the same guesses, this one's and others'."""


_Judged = TypeVar("_Judged", Place, Verdict)


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

    def __call__(self, image: NDArray[np.uint8], layout: Layout) -> BoardPose | BoardNotFound:
        """Find the board in a BGR picture (height, width, 3).

        The markers of a printed mat are believed first, and say which corner is a1. Without markers nothing tells a
        symmetrical board's sides apart: of the corners that may be a1 it is the one with the greatest y - x (lower
        left), the others follow counter-clockwise as seen.
        """
        if image.ndim != 3 or image.shape[2] != 3 or min(image.shape[:2]) < SMALLEST_PICTURE:  # noqa: PLR2004
            return BoardNotFound(
                Saying("the picture is too small: %(size)s pixels", size=" x ".join(map(str, image.shape[1::-1])))
            )
        standard = _is_standard(layout)
        on_mat = mat_corners(image) if standard else None
        if on_mat is not None:
            return BoardPose(_points(on_mat), 1.0)
        lab, scale = in_lab(image, FITTED)
        levels = lattice.pyramid(lab)
        if not standard:
            return _told(image, levels, scale, layout)
        mesh = Mesh.turned(layout)[0]
        return self._answer(self.places(image, levels, scale, mesh), levels, scale, mesh)

    def elsewhere(self, image: NDArray[np.uint8], layout: Layout, given: BoardPose) -> BoardPose | None:
        """Where the board surely is instead of at a `given` pose, where nothing like a board is seen; else None.

        Its corners are named so that they are as near the given ones as can be.
        """
        found, said = self(image, layout), given.points()
        if not isinstance(found, BoardPose) or found.score < self.rule.sure:
            return None
        turned = [np.roll(found.points(), turn, axis=0) for turn in range(4)]
        nearest, apart = min(
            ((corners, float(np.linalg.norm(corners - said, axis=1).mean())) for corners in turned),
            key=lambda each: each[1],
        )
        return found.moved(nearest) if apart > _ELSEWHERE * _square_side(found.points()) else None

    def sees(self, image: NDArray[np.uint8], layout: Layout, given: BoardPose) -> bool:
        """Whether there is anything like a board at a `given` pose, as far as can be told.

        Only the board of four by four is known well enough to tell; any other, or a tiny one, is believed to be there.
        """
        if not _is_standard(layout) or min(image.shape[:2]) < SMALLEST_PICTURE:
            return True
        lab, scale = in_lab(image, FITTED)
        levels, mesh, corners = lattice.pyramid(lab), Mesh.turned(layout)[0], [given.points() * scale]
        judged = self._judge.judge_from_all_sides(levels, corners)
        (place,) = self._weighed(levels, scale, self._pointer.see(image), judged, mesh)
        return place.score >= self.rule.perhaps

    def places(
        self, image: NDArray[np.uint8], levels: list[NDArray[np.uint8]], scale: float, mesh: Mesh
    ) -> list[Place]:
        """The places that may be the board of four by four, in pixels of `levels`, likeliest first.

        `levels` is the `lattice.pyramid` of the picture in Lab, made smaller by `scale`. What the lines suggest costs
        most of the time, and is asked only if what the pointer sees is not surely a board.
        """
        sight = self._pointer.see(image)
        places = self._near(levels, scale, sight, [place.corners for place in sight.places], mesh)
        if not any(place.score >= self.rule.sure for place in places):
            places += self._near(levels, scale, sight, LinesSeen(image).suggest(mesh), mesh)
        return sorted(places, key=lambda place: -place.score)

    def _near(
        self, levels: list[NDArray[np.uint8]], scale: float, sight: Sight, guesses: list[Floats], mesh: Mesh
    ) -> list[Place]:
        """The likeliest places near these guesses, which are in pixels of the picture itself.

        Those that do best at one look are looked at from all sides, and mended once more.
        """
        tried = self._tried(levels, [corners * scale for corners in guesses], mesh)
        best = _different(self._weighed(levels, scale, sight, self._judge.judge(levels, tried), mesh))
        judged = self._judge.judge_from_all_sides(levels, [place.corners for place in best])
        mended = [verdict.mended for verdict in judged if _may_be_board(verdict.mended, levels[0])]
        judged += self._judge.judge_from_all_sides(levels, mended)
        return [place._replace(tried=tried) for place in self._weighed(levels, scale, sight, judged, mesh)]

    def _tried(self, levels: list[NDArray[np.uint8]], guesses: list[Floats], mesh: Mesh) -> list[Floats]:
        """Places near these guesses: each is mended, and the best ones are fitted to their lines."""
        first = self._judge.judge(levels, [corners for corners in guesses if _possible(corners)])
        mended = [verdict.mended for verdict in first if _possible(verdict.mended)]
        second = self._judge.judge(levels, mended)
        best = _different(second)
        tried = [verdict.corners for verdict in best] + [verdict.mended for verdict in best]
        tried += [lattice.fit(levels, verdict.mended, mesh) for verdict in best]
        return [corners for corners in tried if _may_be_board(corners, levels[0])]

    def _weighed(
        self, levels: list[NDArray[np.uint8]], scale: float, sight: Sight, judged: list[Verdict], mesh: Mesh
    ) -> list[Place]:
        weighed = []
        for verdict in judged:
            corners = verdict.corners
            support, weight = sight.support(corners / scale), lattice.weigh(levels, corners, mesh)
            score = self.rule.score(verdict.score, support, weight)
            open_yet = score >= self.rule.accept and verdict.score < _JUDGED_SURELY
            farther = max(sight.support(moved / scale) for moved in _farther(corners)) if open_yet else 0.0
            weighed.append(Place(score, corners, verdict.score, support, weight, verdict.covered, farther))
        return weighed

    def _answer(
        self, found: list[Place], levels: list[NDArray[np.uint8]], scale: float, mesh: Mesh
    ) -> BoardPose | BoardNotFound:
        if not found:
            return BoardNotFound(Saying("no board here: nothing in the picture has the board's lines"))
        best, size = found[0], (levels[0].shape[1], levels[0].shape[0])
        sure_enough = best.score >= self.rule.accept
        if sure_enough and best.score < _BEYOND_DOUBT and mixed_up(levels, best.corners, mesh) > _CLEARLY_MIXED_UP:
            return _another_board(Saying("four by four squares"))
        if best.farther > _GOES_ON * best.support:
            return BoardNotFound(_CUT_OFF_SAID) if _is_cut_off(best, size) else _NO_BOARD
        if not sure_enough:
            return BoardNotFound(_unsure(best, size)) if best.score >= self.rule.perhaps else _NO_BOARD
        pose = _pose(agreed(best) / scale, best.score, 4 * [True], SQUARES)
        others = [place for place in found if place.score >= self.rule.sure and _clear_of(place.corners, best.corners)]
        another = self._answer(others, levels, scale, mesh)
        if isinstance(pose, BoardNotFound) or isinstance(another, BoardNotFound):
            return pose
        return replace(pose, another=another.corners)


def _is_standard(layout: Layout) -> bool:
    """Whether it is the board of four by four, which the networks know."""
    return (layout.rows, layout.columns, len(layout)) == (SQUARES, SQUARES, SQUARES**2)


def _farther(corners: Floats) -> list[Floats]:
    """The corners (4, 2) of a board moved by one of its squares, each way."""
    board = SQUARES * np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64)
    seen = lattice.homography(board, corners)
    return [project(seen, board + by) for by in ((1, 0), (-1, 0), (0, 1), (0, -1))]


def _unsure(place: Place, size: tuple[int, int]) -> str:
    """Why what may be a board is not taken for one, in the fitted picture of this size (width, height)."""
    if _is_cut_off(place, size):
        return _CUT_OFF_SAID
    worst = int(np.argmax(place.covered))
    if place.covered[worst] < _COVERED:
        badly = Saying("what may be a board is seen badly, or hidden in part; move closer, make more light")
        return Saying("%(why)s, or give its corners", why=badly)
    corner = _side(place.corners, worst)
    covered = Saying("a hand or something else covers the board's %(corner)s; take it away", corner=corner)
    return Saying("%(why)s, or give the board's corners", why=covered)


def _is_cut_off(place: Place, size: tuple[int, int]) -> bool:
    """Whether it reaches beyond the edge of the fitted picture, of this size (width, height)."""
    beyond = np.maximum(-place.corners, place.corners - size).max()
    return bool(beyond > _CUT_OFF * _square_side(place.corners))


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


def agreed(place: Place) -> Floats:
    """Corners (4, 2) on which those agree that were tried near a place.

    Each was fitted from another start or in another way, so their mean is nearer the truth than any of them, and than
    the likeliest.
    """
    reach = _NEAR * _square_side(place.corners)
    near = [_in_order(corners, place.corners) for corners in place.tried]
    together = [corners for corners in near if np.linalg.norm(corners - place.corners, axis=1).max() < reach]
    return np.asarray(np.mean(together or [place.corners], axis=0))


def _different(judged: list[_Judged]) -> list[_Judged]:
    """The best of them that are not all but the same place; and the best that is clear of these, if it is a board."""
    chosen: list[_Judged] = []
    for each in sorted(judged, key=lambda each: -each.score):
        if all(_apart(each.corners, other.corners) > _ALIKE * _square_side(other.corners) for other in chosen):
            chosen.append(each)
    for one in chosen[_BEST:]:
        if one.score >= _JUDGED_SURELY and all(_clear_of(one.corners, other.corners) for other in chosen[:_BEST]):
            return chosen[:_BEST] + [one]  # noqa: RUF005 (mypy takes what is unpacked for a list)
    return chosen[:_BEST]


def _clear_of(corners: Floats, other: Floats) -> bool:
    """Whether two places share no more than a little of their edge."""
    first, second = corners.astype(np.float32), other.astype(np.float32)
    shared, _ = cv2.intersectConvexConvex(first, second)
    return bool(shared < _EDGE * min(cv2.contourArea(first), cv2.contourArea(second)))


def _apart(corners: Floats, other: Floats) -> float:
    """How far the corners are from the other ones, named so that it is least."""
    return float(np.abs(_in_order(corners, other) - other).max())


def _in_order(corners: Floats, order: Floats) -> Floats:
    """The corners named, and going round, as those of `order` do."""
    ways = [np.roll(way, turn, axis=0) for way in (corners, corners[::-1]) for turn in range(4)]
    return min(ways, key=lambda way: float(np.abs(way - order).max()))


def locate(image: NDArray[np.uint8], layout: Layout) -> BoardPose | BoardNotFound:
    """Find the board in one BGR picture, with a `BoardFinder` of its own; see there."""
    return BoardFinder.bundled()(image, layout)


def _told(
    image: NDArray[np.uint8], levels: list[NDArray[np.uint8]], scale: float, layout: Layout
) -> BoardPose | BoardNotFound:
    """The board of any layout, by its lines alone, however it is turned."""
    turns = Mesh.turned(layout)
    seen = LinesSeen(image)
    found = {turn: seen.tell(levels, scale, mesh) for turn, mesh in turns.items()}
    turn, (score, corners) = max(found.items(), key=lambda item: item[1][0])
    if score < _ENOUGH:
        nowhere = Saying(
            "no board here: nothing in the picture is clearly a board of the layout %(layout)s", layout=str(layout)
        )
        return BoardNotFound(Saying("%(why)s; if it is there, give its outer corners", why=nowhere))
    if mixed_up(levels, corners, turns[turn]) > _MIXED_UP:
        return _another_board(Saying("the layout %(layout)s", layout=str(layout)))
    cells = turns[0].cells
    alike = [np.array_equal(np.rot90(cells, other), cells) for other in range(4)]
    return _pose(np.roll(corners, -turn, axis=0) / scale, score, alike, max(layout.rows, layout.columns))


def _pose(corners: Floats, score: float, alike: list[bool], squares: int) -> BoardPose | BoardNotFound:
    """The pose with these corners; `alike` says after which quarter turns the board looks the same."""
    if side_lengths(corners).max() / squares < _SMALLEST_SQUARE:
        return BoardNotFound(Saying("the board is too small in the picture; move the camera closer"))
    return BoardPose(_points(_named(corners, alike)), score)


def _possible(corners: Floats) -> bool:
    """Whether corners can be a board's: they go round something that is not tiny."""
    return bool(np.isfinite(corners).all()) and goes_round(corners) and _square_side(corners) > _SMALLEST_SQUARE / 2


def _may_be_board(corners: Floats, picture: NDArray[np.uint8]) -> bool:
    """Whether possible corners can be those of something square: a board with rows of spares beside it is not."""
    return _possible(corners) and misfit(corners, (SQUARES, SQUARES), (picture.shape[1], picture.shape[0])) < MISFIT


def _square_side(corners: Floats) -> float:
    return float(side_lengths(corners).min()) / SQUARES


def _named(corners: Floats, alike: list[bool]) -> Floats:
    """Counter-clockwise as seen, beginning with that possible a1 which has the greatest y - x."""
    if _turning(corners) > 0:
        corners = corners[::-1]
    low = np.where(alike, corners[:, 1] - corners[:, 0], -np.inf)
    return np.roll(corners, -int(np.argmax(low)), axis=0)


def _turning(corners: Floats) -> float:
    """Twice the signed area: negative if the corners go round counter-clockwise as seen (y points down)."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _points(corners: Floats) -> tuple[Point, Point, Point, Point]:
    a1, d1, d4, a4 = ((float(x), float(y)) for x, y in corners)
    return a1, d1, d4, a4


def locate_given(corners: Sequence[Point], image_size: tuple[int, int]) -> BoardPose:
    """The board whose outer corners at a1, d1, d4, a4 a person gave, in pixels of a picture of `image_size` (w, h).

    Raises:
        VisionError: for corners that cannot be a board's: not four, not finite, equal, too close together, far outside
            the picture, not the corners of a convex shape, or in mirrored order.

    """
    points = _four_points(corners)
    said = " ".join(f"{x:g},{y:g}" for x, y in points)
    size = np.array(image_size, np.float64)
    if (points < -_OUTSIDE * size).any() or (points > (1 + _OUTSIDE) * size).any():
        raise VisionError(
            Saying(
                "the corners %(corners)s lie far outside the picture, which is %(size)s pixels; "
                "give pixels of the upright picture",
                corners=said,
                size=f"{image_size[0]} x {image_size[1]}",
            )
        )
    if _square_side(points) < _SMALLEST_SQUARE / 2:
        raise VisionError(f"the corners {said} lie too close together for a board; give its four outer corners")
    if not goes_round(points):
        raise VisionError(f"the corners {said} do not go round a board; give them in the order a1, d1, d4, a4")
    if _turning(points) > 0:
        raise VisionError(f"the corners {said} go round the wrong way, as in a mirror; the order is a1, d1, d4, a4")
    return BoardPose(_points(points), 1.0)


def _four_points(corners: Sequence[Point]) -> NDArray[np.float64]:
    try:
        points = np.array(corners, np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.shape != (4, 2) or not np.isfinite(points).all():
        raise VisionError("corners must be four points x,y, at a1, d1, d4 and a4, in pixels of the upright picture")
    return points
