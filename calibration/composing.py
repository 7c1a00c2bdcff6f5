"""Boards put together from two pictures of a set: what enrolment learns from.

From the picture of the sixteen pieces, pieces are cut out and laid anew on the empty board, cubes drawn anew in their
colours: on any squares, turned, shifted, under another lamp, with another exposure, blurred, noisy, under hands.
Everything happens in the flattened board, `FINE` times as fine as `companion.vision.rectify` makes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import cv2
import numpy as np

from calibration.hands import draw_hand, draw_thing
from calibration.shapes import Top, find_tops
from calibration.textures import any_colour
from companion.readings import ALL_CONTENTS
from companion.vision.faces import FACE
from companion.vision.rectify import MARGIN, SQUARE, away_side, board_outline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from companion.rules import Layout, Piece
    from companion.vision.pose import BoardPose

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]
    Vector = NDArray[np.float64]
    LocatedPicture = tuple[Bytes, BoardPose]
    """A straight picture, and where the board is in it."""

FINE = 2
"""Pixels of these views for each pixel of the top view."""
COVERED = len(ALL_CONTENTS)
"""The class after all contents: something lies or hovers over the square."""
HALF_COVERED = -1
COVERED_FROM, UNTOUCHED_TO = 0.4, 0.06
"""A square is covered from this share of it on, and not at all up to that; between them nothing is learnt of it."""
_SIDE = SQUARE * FINE
_EDGE = MARGIN * FINE
_CUT = round(1.2 * _SIDE)
"""Side of what is cut out around a square."""
_CUT_MIDDLE = (_CUT - 1) / 2
_HAND = 0.75
_DARKEST = 4.0
_CUBE_HALVES = (0.15, 0.36)
"""Half the width of a cube, in squares."""
_STEEPEST = np.radians(50)
_UNIT_SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
_SMOOTH, _NEAR, _AS_LARGE = 1.5, 0.25, 0.12
"""A cube is looked for in what is so much blurred, in fine pixels, about so near its square's middle, in squares, and
in such a share of the picture."""
_SHADES, _CLEARLY_NEW, _MOST_NEW = (0.35, 1.0), 10.0, 6.0
"""The ground may lie in such a shade. What differs from it by so many grey levels is twice as likely to be the cube,
and nothing is more than so many times as likely."""
_AS_NEW, _MOSTLY, _OF_THAT = 0.5, 0.8, 0.15
"""Of that share the cube is what is at least half as new as nearly all of it, if that is enough to measure."""
_EDGE_OF_PAINT = 3
"""The soft edge of what is painted reaches less far, in fine pixels."""
_GAMMA, _BURNT, _WHITE = 2.2, 240.0, 255.0


def fine_view(image: Bytes, corners: NDArray[np.floating], layout: Layout) -> Bytes:
    """The flattened board as `rectify` makes it, `FINE` times as large."""
    finest = FINE * 2
    outline = (board_outline(layout) * finest + (finest - 1) / 2).astype(np.float32)
    width, height = ((n * SQUARE + 2 * MARGIN) for n in (layout.columns, layout.rows))
    to_picture = cv2.getPerspectiveTransform(outline, corners.astype(np.float32))
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    view = cv2.warpPerspective(image, to_picture, (width * finest, height * finest), flags=flags)
    return np.asarray(cv2.resize(view, (width * FINE, height * FINE), interpolation=cv2.INTER_AREA), np.uint8)


@dataclass(frozen=True, slots=True)
class Cutout:
    """A piece cut out of the enrolment picture."""

    content: int
    """Index into `ALL_CONTENTS`."""
    look: Floats
    """`(_CUT, _CUT, 3)`, the piece's top in the middle."""
    mask: Floats
    """Where the top is, from 0 to 1."""
    aside: tuple[float, float]
    """How far the top was from the middle of its square, in fine pixels."""

    def face(self) -> Bytes:
        """The picture that `companion.vision.faces.Face` keeps."""
        motion = np.array([[1 / FINE, 0, 0], [0, 1 / FINE, 0]], np.float64)
        motion[:, 2] = (FACE - 1) / 2 - _CUT_MIDDLE / FINE
        soft = cv2.GaussianBlur(self.look, (0, 0), 0.4 * FINE)
        return np.asarray(cv2.warpAffine(soft, motion, (FACE, FACE)).clip(0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class Composed:
    """One board put together."""

    view: Bytes
    """As `rectify` makes it."""
    contents: NDArray[np.int64]
    """Index into `ALL_CONTENTS` for each square; `COVERED`, or `HALF_COVERED` where nothing should be learnt."""
    sources: NDArray[np.int64]
    """Index of the enrolled piece that lies on each square; -1 for none."""


class Composer(ABC):
    """Puts boards together from the fine views of the empty board and of the sixteen pieces.

    `contents` holds an index into `ALL_CONTENTS` for each square of the second; `away` is the side that is away from
    the camera, see `companion.vision.rectify.away_side`.
    """

    def __init__(self, empty: Bytes, pieces: Bytes, contents: Sequence[int], layout: Layout, away: int) -> None:
        self.layout, self.away = layout, away
        self._contents = np.array([*contents, 0])
        self._empty = _evened(empty.astype(np.float32), pieces.astype(np.float32), layout)
        self._of_kind = [np.flatnonzero(self._contents[:-1] == kind) for kind in sorted(set(contents))]

    @classmethod
    def of(cls, empty: LocatedPicture, pieces: LocatedPicture, arrangement: Sequence[Piece], layout: Layout) -> Self:
        """From the two pictures, and the piece that lies on each square."""
        views = [fine_view(image, pose.points(), layout) for image, pose in (empty, pieces)]
        contents = [ALL_CONTENTS.index(piece) for piece in arrangement]
        return cls(views[0], views[1], contents, layout, away_side(pieces[1].points(), layout))

    def compose(self, rng: Generator) -> Composed:
        """A board by chance."""
        view = self._ground(rng)
        sources = self._placed(rng)
        self._lay(rng, view, sources)
        over = _visit(rng, view)
        view = _shaken(rng, self._lit(rng, view))
        return Composed(_taken(rng, view), self._hidden(self._contents[sources], over), sources)

    @abstractmethod
    def _lay(self, rng: Generator, view: Floats, sources: NDArray[np.int64]) -> None:
        """Lay these pieces on the squares of a view, with their shadows."""

    def _lit(self, rng: Generator, view: Floats) -> Floats:
        """Another lamp, another exposure, another white."""
        return _lit(rng, view)

    def _middle(self, square: int) -> tuple[float, float]:
        at = self.layout.squares[square]
        return _EDGE + (at.column + 0.5) * _SIDE - 0.5, _EDGE + (self.layout.rows - 0.5 - at.row) * _SIDE - 0.5

    def _placed(self, rng: Generator) -> NDArray[np.int64]:
        fill = rng.choice((rng.uniform(0, 0.3), rng.uniform(0.2, 1.0)))
        sources = np.full(len(self.layout), -1, np.int64)
        for square in np.flatnonzero(rng.random(len(sources)) < fill):
            choice = self._of_kind[rng.integers(len(self._of_kind))]
            sources[square] = choice[rng.integers(len(choice))]
        return sources

    def _away(self, rng: Generator) -> Vector:
        """The direction away from the camera, more or less, `(2,)`."""
        angle = rng.uniform(-np.pi / 4, np.pi / 4) + self.away * np.pi / 2
        return np.asarray([np.sin(angle), -np.cos(angle)], np.float64)

    def _ground(self, rng: Generator) -> Floats:
        """The empty board, often on another cloth."""
        view = self._empty.copy()
        if rng.random() < 0.6:  # noqa: PLR2004 (a share)
            inner = view[_EDGE:-_EDGE, _EDGE:-_EDGE].copy()
            view += np.float32(rng.uniform(0.5, 1)) * (np.array(any_colour(rng), np.float32) - view)
            view[_EDGE:-_EDGE, _EDGE:-_EDGE] = inner
        return view

    def _hidden(self, contents: NDArray[np.int64], over: Bytes) -> NDArray[np.int64]:
        contents, half = contents.copy(), round(0.42 * _SIDE)
        for square in range(len(contents)):
            x, y = (round(c) for c in self._middle(square))
            share = float((over[y - half : y + half, x - half : x + half] > 127).mean())  # noqa: PLR2004
            if share >= COVERED_FROM:
                contents[square] = COVERED
            elif share > UNTOUCHED_TO:
                contents[square] = HALF_COVERED
        return contents


class PieceComposer(Composer):
    """Lays pieces that were cut out of their picture."""

    def __init__(self, empty: Bytes, pieces: Bytes, contents: Sequence[int], layout: Layout, away: int) -> None:
        super().__init__(empty, pieces, contents, layout, away)
        self.cutouts = self._cut(pieces, contents)

    def _cut(self, pieces: Bytes, contents: Sequence[int]) -> list[Cutout]:
        ground = self._empty.clip(0, 255).astype(np.uint8)
        middles = [self._middle(square) for square in range(len(contents))]
        looks, grounds = (
            [cv2.getRectSubPix(view, (_CUT, _CUT), middle).astype(np.float32) for middle in middles]
            for view in (pieces, ground)
        )
        places = np.array(middles) - np.mean([self._middle(square) for square in range(len(self.layout))], axis=0)
        tops = find_tops(looks, grounds, _SIDE, places / _SIDE)
        return [_cutout(pieces, *one) for one in zip(contents, middles, tops, strict=True)]

    def _lay(self, rng: Generator, view: Floats, sources: NDArray[np.int64]) -> None:
        lean = self._lean(rng)
        laid = [
            (self.cutouts[source], self._motion(rng, square, self.cutouts[source], lean))
            for square, source in enumerate(sources)
            if source >= 0
        ]
        _cast_shadows(rng, view, laid)
        for cutout, motion in laid:
            alpha = _laid(cutout.mask, motion, view)[..., None]
            view += alpha * (_laid(cutout.look, motion, view) * np.float32(rng.normal(1, 0.05)) - view)

    def _lean(self, rng: Generator) -> Vector:
        """How far tops are shifted away from the camera beyond what they were, in fine pixels."""
        return np.asarray(self._away(rng) * rng.choice((0.0, rng.uniform(-0.12, 0.2))) * _SIDE, np.float64)

    def _motion(self, rng: Generator, square: int, cutout: Cutout, lean: Vector) -> Vector:
        turn = np.clip(rng.normal(0, 7), -20, 20) + 90 * rng.integers(4)
        motion = cv2.getRotationMatrix2D((_CUT_MIDDLE, _CUT_MIDDLE), float(turn), rng.uniform(0.93, 1.07))
        wander = rng.normal(0, 0.05, 2).clip(-0.12, 0.12) * _SIDE
        motion[:, 2] += np.array(self._middle(square)) - _CUT_MIDDLE + cutout.aside + wander + lean
        return np.asarray(motion, np.float64)


class CubeComposer(Composer):
    """Draws cubes of any size in the two colours that the picture of the pieces shows."""

    def __init__(self, empty: Bytes, pieces: Bytes, contents: Sequence[int], layout: Layout, away: int) -> None:
        super().__init__(empty, pieces, contents, layout, away)
        self.colours = np.array([self._colour(pieces, square) for square in range(len(contents))])
        """Of each cube, `(n, 3)` BGR."""

    def _colour(self, pieces: Bytes, square: int) -> Vector:
        """Of the cube on a square: of the brighter half of what is near its middle, and no ground in whatever shade.

        A cube that looks like the ground is all of what is near.
        """
        look, ground = (
            cv2.getRectSubPix(view, (_CUT, _CUT), self._middle(square)).astype(np.float32)
            for view in (pieces.astype(np.float32), self._empty)
        )
        shade = (look * ground).sum(axis=2) / np.maximum((ground * ground).sum(axis=2), 1)
        new = np.linalg.norm(look - shade.clip(*_SHADES)[..., None] * ground, axis=2)
        new = cv2.GaussianBlur(new, (0, 0), _SMOOTH)
        along = (np.arange(_CUT) - _CUT_MIDDLE) / _SIDE
        worth = np.exp(-(along[:, None] ** 2 + along**2) / (2 * _NEAR**2)) * (1 + new / _CLEARLY_NEW).clip(1, _MOST_NEW)
        near = worth >= np.quantile(worth, 1 - _AS_LARGE)
        clearly = max(_CLEARLY_NEW, _AS_NEW * float(np.quantile(new[near], _MOSTLY)))
        cube = near & (new >= clearly)
        colours = look[cube if cube.sum() >= _OF_THAT * near.sum() else near]
        grey = colours.mean(axis=1)
        return np.asarray(np.median(colours[grey >= np.median(grey)], axis=0), np.float64)

    def _lay(self, rng: Generator, view: Floats, sources: NDArray[np.int64]) -> None:
        half, away, lamp = rng.uniform(*_CUBE_HALVES), self._away(rng), rng.uniform(0, 2 * np.pi)
        height = 2 * half * rng.uniform(0.75, 1.1) * _SIDE
        lean = away * height * np.tan(rng.uniform(0, _STEEPEST))
        towards_lamp = np.array([np.cos(lamp), np.sin(lamp)])
        cast = -towards_lamp * height * rng.uniform(0, 1.2) * rng.random()
        cubes = [
            (self._foot(rng, square, half), self.colours[source])
            for square, source in enumerate(sources)
            if source >= 0
        ]
        _darken(rng, view, _filled(view.shape, [_hull(foot, foot + cast) for foot, _ in cubes]))
        shade, slope = rng.uniform(0.45, 1), rng.uniform(0, 0.45)
        for foot, usual in sorted(cubes, key=lambda cube: -float(cube[0].mean(axis=0) @ away)):
            colour = usual * rng.normal(1, 0.04)
            for side, outwards in _sides(foot, lean):
                if outwards @ lean < 0:
                    _fill(view, side, colour * (shade + slope * (outwards @ towards_lamp)))
            _fill(view, foot + lean, colour)

    def _foot(self, rng: Generator, square: int, half: float) -> Vector:
        """The corners of where a cube stands on a square, `(4, 2)` in fine pixels."""
        turn = rng.normal(0, 0.15) if rng.random() < 0.5 else rng.uniform(0, np.pi / 2)  # noqa: PLR2004 (a share)
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        wander = rng.uniform(-1, 1, 2) * max(0.05, min(0.2, 0.5 - half))
        return np.asarray((_UNIT_SQUARE * half @ spin + wander) * _SIDE + self._middle(square), np.float64)

    def _lit(self, rng: Generator, view: Floats) -> Floats:
        """In another light, and in paler or stronger colours, as cameras mix them: before levels are coded.

        What is burnt out was brighter than it shows.
        """
        linear = (view.clip(0, _WHITE) / _WHITE) ** _GAMMA
        linear *= 1 + np.float32(np.expm1(abs(rng.normal(0, 0.7)))) * ((view - _BURNT) / (_WHITE - _BURNT)).clip(0, 1)
        grey = linear.mean(axis=2, keepdims=True)
        linear = grey + (linear - grey) * np.float32(rng.uniform(0.55, 1.3))
        linear = (linear * np.float32(np.exp(rng.normal(-0.15, 0.4)))).clip(0, 1)
        return super()._lit(rng, np.asarray(linear ** (1 / _GAMMA) * _WHITE, np.float32))


def _hull(one: Vector, other: Vector) -> Vector:
    return np.asarray(cv2.convexHull(np.concatenate([one, other]).astype(np.float32))[:, 0], np.float64)


def _sides(foot: Vector, lean: Vector) -> Iterator[tuple[Vector, Vector]]:
    """The outline of each side of a cube, `(4, 2)`, and the direction that it faces, `(2,)`."""
    for one, other in zip(foot, np.roll(foot, -1, axis=0), strict=True):
        along = (other - one) / np.linalg.norm(other - one)
        yield np.array([one, other, other + lean, one + lean]), np.array([along[1], -along[0]])


def _fill(view: Floats, outline: Vector, colour: Vector) -> None:
    """Paint a polygon, its outline `(n, 2)` in pixels of the view."""
    corners = np.rint([outline.min(axis=0) - _EDGE_OF_PAINT, outline.max(axis=0) + _EDGE_OF_PAINT]).astype(int)
    (left, top), (right, bottom) = np.maximum(corners, 0).tolist()
    part = view[top:bottom, left:right]
    if part.size:
        part += _filled(part.shape, [outline - (left, top)])[..., None] * (colour.astype(np.float32) - part)


def _filled(shape: tuple[int, ...], outlines: Sequence[Vector]) -> Floats:
    """Where these polygons are in a picture of this shape, from 0 to 1."""
    mask = np.zeros(shape[:2], np.uint8)
    for outline in outlines:
        cv2.fillConvexPoly(mask, np.rint(outline).astype(np.int32), 255, cv2.LINE_AA)
    return np.asarray(mask.astype(np.float32) / 255, np.float32)


def _cutout(pieces: Bytes, content: int, middle: tuple[float, float], top: Top) -> Cutout:
    aside = (top.middle[0] - _CUT_MIDDLE, top.middle[1] - _CUT_MIDDLE)
    look = cv2.getRectSubPix(pieces, (_CUT, _CUT), (middle[0] + aside[0], middle[1] + aside[1]))
    mask = np.zeros((_CUT, _CUT), np.uint8)
    outline = top.outline(_SIDE) - aside
    cv2.fillConvexPoly(mask, np.rint(outline).astype(np.int32), 255, cv2.LINE_AA)
    soft = cv2.GaussianBlur(mask, (0, 0), 0.8).astype(np.float32) / 255
    return Cutout(content, look.astype(np.float32), np.asarray(soft, np.float32), aside)


def _evened(empty: Floats, pieces: Floats, layout: Layout) -> Floats:
    """The empty board as bright as in the other picture, by what is seen of it between the pieces."""
    between, reach = np.zeros(empty.shape[:2], bool), round(0.07 * _SIDE)
    for row in range(layout.rows + 1):
        for column in range(layout.columns + 1):
            y, x = _EDGE + row * _SIDE, _EDGE + column * _SIDE
            between[y - reach : y + reach, x - reach : x + reach] = True
    gain = np.median((pieces[between] + _DARKEST) / (empty[between] + _DARKEST), axis=0)
    return np.asarray((empty + _DARKEST) * gain - _DARKEST, np.float32)


def _laid(sheet: Floats, motion: Vector, view: Floats) -> Floats:
    return np.asarray(cv2.warpAffine(sheet, motion, view.shape[1::-1], flags=cv2.INTER_LINEAR), np.float32)


def _cast_shadows(rng: Generator, view: Floats, laid: list[tuple[Cutout, Vector]]) -> None:
    angle, length = rng.uniform(0, 2 * np.pi), rng.uniform(0, 0.35) * rng.random() * _SIDE
    shade = np.zeros(view.shape[:2], np.float32)
    for cutout, motion in laid:
        cast = motion.copy()
        cast[:, 2] += np.array([np.cos(angle), np.sin(angle)]) * length
        np.maximum(shade, _laid(cutout.mask, cast, view), out=shade)
    _darken(rng, view, shade)


def _darken(rng: Generator, view: Floats, shade: Floats) -> None:
    view *= 1 - (rng.uniform(0.2, 0.8) * cv2.GaussianBlur(shade, (0, 0), rng.uniform(1, 8)))[..., None]


def _visit(rng: Generator, view: Floats) -> Bytes:
    """Now and then a hand or a thing is over the board; gives what it covers, 0 or 255."""
    if rng.random() > 0.3:  # noqa: PLR2004 (a share)
        return np.zeros(view.shape[:2], np.uint8)
    sheet = view.clip(0, 255).astype(np.uint8)
    x, y = (rng.uniform(0, 1, 2) * view.shape[1::-1]).tolist()
    over = (draw_hand if rng.random() < _HAND else draw_thing)(rng, sheet, (x, y), _SIDE)
    view += (over.astype(np.float32) / 255)[..., None] * (sheet - view)
    return over


def _lit(rng: Generator, view: Floats) -> Floats:
    """Another lamp, another exposure, another white."""
    down, along = (np.linspace(-0.5, 0.5, n, dtype=np.float32) for n in view.shape[:2])
    x, y = np.meshgrid(along, down)
    slope = rng.normal(0, 0.3, 2)
    light = np.clip(1 + slope[0] * x + slope[1] * y, 0.4, 1.8)
    if rng.random() < 0.15:  # noqa: PLR2004 (a share)
        angle, offset = rng.uniform(0, 7), rng.uniform(-0.4, 0.4)
        across = (x * np.cos(angle) + y * np.sin(angle) - offset) / rng.uniform(0.01, 0.2)
        light *= 1 - rng.uniform(0.2, 0.6) / (1 + np.exp(-np.clip(across * 4, -50, 50)))
    seen = np.clip(view / 255, 0, 1) * light[..., None]
    cast = np.exp(rng.normal(0, 0.08, 3) + rng.normal(0, 0.2))
    seen = np.clip(seen * cast, 0, 1) ** np.exp(rng.normal(0, 0.2))
    grey = seen.mean(axis=2, keepdims=True)
    seen = grey + (seen - grey) * rng.uniform(0.6, 1.3)
    if rng.random() < 0.1:  # noqa: PLR2004 (a share)
        x0, y0 = rng.uniform(-0.5, 0.5, 2)
        spot = np.exp(-((x - x0) ** 2 + (y - y0) ** 2) / (2 * rng.uniform(0.1, 0.4) ** 2))
        seen = seen + rng.uniform(0, 0.4) * spot[..., None]
    return np.asarray(np.clip(seen, 0, 1) * 255, np.float32)


def _shaken(rng: Generator, view: Floats) -> Floats:
    """As if the corners had been found a little beside where they are."""
    height, width = view.shape[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    moved = corners + rng.normal(0, rng.choice((0.0, 0.02, 0.04)) * _SIDE, (4, 2))
    motion = cv2.getPerspectiveTransform(corners, moved.astype(np.float32))
    return np.asarray(cv2.warpPerspective(view, motion, (width, height), borderMode=cv2.BORDER_REPLICATE), np.float32)


def _taken(rng: Generator, view: Floats) -> Bytes:
    """The picture that a camera takes of it, as large as `rectify` makes it."""
    if rng.random() < 0.15:  # noqa: PLR2004 (a share)
        scale = rng.uniform(0.4, 0.8)
        small = cv2.resize(view, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        view = np.asarray(cv2.resize(small, view.shape[1::-1], interpolation=cv2.INTER_LINEAR), np.float32)
    blurred = cv2.GaussianBlur(view, (0, 0), rng.uniform(0.3, 2.2))
    seen = cv2.resize(blurred, None, fx=1 / FINE, fy=1 / FINE, interpolation=cv2.INTER_AREA)
    noise = rng.standard_normal(seen.shape, np.float32) * np.float32(rng.random() ** 2 * 8)
    return np.asarray(np.clip(seen + noise, 0, 255), np.uint8)
