"""Sets whose marks nobody trained on: letters, runes, suns, pictures; and cubes. Drawn empty, enrolled and in play.

What enrolment is measured on. A set is drawn once, from its seed: board, pieces and cloth stay the same, each piece
with its own wood; lamp, camera, lens and the way the pieces lie are drawn anew for every picture of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.enrolment import ARRANGEMENT
from calibration.hands import draw_hand, draw_thing
from calibration.textures import Fabrics, any_colour, vary
from calibration.training.canvas import OVER, Canvas
from calibration.training.chance import (
    draw_askew,
    draw_board,
    draw_camera,
    draw_lens,
    draw_light,
    draw_placed,
    draw_set,
    placed_of_one_set,
)
from calibration.training.ground import paint_ground
from calibration.training.marks import MASK
from calibration.training.photograph import take
from calibration.training.prisms import bare_face, paint_piece
from calibration.training.scene import SIDE, Body, Family, Placed, Scene, luminance, plain
from calibration.training.truth import truth
from companion.readings import ALL_CONTENTS
from companion.rules import Colour, Kind, Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.training.canvas import Bytes, Floats
    from calibration.training.scene import BoardLook, Camera, Lens, Light, SetLook

    Points = list[tuple[float, float]]

_CORNERS = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], np.float64)
_FONTS = (cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX, cv2.FONT_HERSHEY_TRIPLEX)
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWYZ234567&?abdefghkmnrty"
_LEAST_UNLIKE = 0.42
"""Marks of one set differ in at least this share of their ink, however they are turned."""
_LEAST_CONTRAST = 1.8
"""Of a mark against its piece, as a ratio of luminances."""
_LEAST_STEP = 75
"""The same, in levels of its strongest channel."""
_MIDDLE_GREY = 0.15
_TRIES = 400


@dataclass(frozen=True, slots=True)
class ArtSet:
    """One set and its board, as it lies on one table."""

    seed: int
    board: BoardLook
    pieces: SetLook
    marks: dict[Kind, Floats]
    bodies: dict[Piece, Body]
    askew: list[tuple[float, float, float]]


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture of a set with what is known about it."""

    image: NDArray[np.uint8]
    """BGR, `(height, width, 3)`."""
    corners: NDArray[np.float64]
    """The board's outer corners at a1, d1, d4, a4 in pixels, `(4, 2)`."""
    contents: tuple[int, ...]
    """The bit of each square's content, in the order of the squares."""
    weights: NDArray[np.float32]
    """How far each square counts; see `calibration.training.truth.truth`."""
    covered: NDArray[np.bool_]
    """Squares under a hand or a thing."""


def draw_art_set(seed: int) -> ArtSet:
    """The set with this number."""
    rng = np.random.default_rng((77, seed))
    family = Family.HOPWOOD if rng.random() < 0.3 else Family.DIAGRAM
    board = draw_board(rng, family)
    pieces = draw_set(rng, family, board)
    pieces = replace(pieces, height=min(pieces.height, 0.3))
    marks = draw_marks(rng)
    return ArtSet(seed, board, pieces, marks, _bodies(rng, pieces), [draw_askew(rng) for _ in range(board.plates**2)])


def draw_cube_set(seed: int) -> ArtSet:
    """The set of cubes with this number: the light ones are often the darker ones."""
    rng = np.random.default_rng((82, seed))
    board = draw_board(rng, Family.CUBES)
    pieces = draw_set(rng, Family.CUBES, board)
    light, dark = rng.permutation(2).tolist()
    drawn = list(pieces.bodies.values())
    pieces = replace(pieces, bodies={Colour.LIGHT: drawn[light], Colour.DARK: drawn[dark]}, telling=True)
    marks = dict.fromkeys(Kind, np.zeros((MASK, MASK), np.float32))
    bodies = {Piece(colour, kind): body for colour, body in pieces.bodies.items() for kind in Kind}
    return ArtSet(seed, board, pieces, marks, bodies, [draw_askew(rng) for _ in range(board.plates**2)])


def _bodies(rng: Generator, pieces: SetLook) -> dict[Piece, Body]:
    """Each piece's body: often the set's two woods, else two paints; often an ink of its own for every kind."""
    bodies = {colour: _legible(body) for colour, body in pieces.bodies.items()}
    if rng.random() < 0.4:
        bodies = _painted(rng, bodies)
    own_ink = rng.random() < 0.35
    inks = {kind: any_colour(rng) for kind in Kind}
    found = {}
    for colour, body in bodies.items():
        for kind, ink in inks.items():
            own = own_ink and _tells(ink, body.colour)
            found[Piece(colour, kind)] = replace(body, ink=ink, ink_strength=0.9) if own else body
    return found


def _legible(body: Body) -> Body:
    """The body with a mark that its maker can read at arm's length."""
    if _tells(body.ink, body.colour):
        return replace(body, ink_strength=max(body.ink_strength, 0.8))
    ink = (20.0, 22.0, 25.0) if luminance(body.colour) > _MIDDLE_GREY else (225.0, 228.0, 230.0)
    return replace(body, ink=ink, ink_strength=0.9)


def _painted(rng: Generator, bodies: dict[Colour, Body]) -> dict[Colour, Body]:
    while True:
        colours = {colour: any_colour(rng) for colour in Colour}
        if np.abs(np.subtract(colours[Colour.LIGHT], colours[Colour.DARK])).max() > 70:
            break
    return {
        colour: _legible(replace(bodies[colour], colour=paint, edge=vary(rng, paint, 8)))
        for colour, paint in colours.items()
    }


def _tells(ink: Sequence[float], colour: Sequence[float]) -> bool:
    step = np.abs(np.subtract(ink, colour)).max()
    return bool(_ratio(ink, colour) >= _LEAST_CONTRAST and step >= _LEAST_STEP)


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    a, b = (luminance((c[0], c[1], c[2])) + 0.004 for c in (one, other))
    return max(a, b) / min(a, b)


# --- marks


def draw_marks(rng: Generator) -> dict[Kind, Floats]:
    """Four marks by one hand, that nobody takes for each other, whichever way they are turned."""
    drawer = (_letter, _rune, _sun, _picture, _dots, _any)[rng.integers(6)]
    weight = float(rng.uniform(0.035, 0.1))
    chosen: list[Floats] = []
    for _ in range(_TRIES):
        if len(chosen) == len(Kind):
            break
        mark = _sized(drawer(rng, weight), float(rng.uniform(0.6, 0.85)))
        if 0.02 < float(mark.mean()) < 0.5 and all(unlike(mark, other) > _LEAST_UNLIKE for other in chosen):
            chosen.append(mark)
    else:
        return draw_marks(rng)
    return dict(zip(Kind, chosen, strict=True))


def unlike(one: Floats, other: Floats) -> float:
    """The share of their ink in which two marks differ at least, over quarter turns, a little softened."""
    soft, still = (cv2.GaussianBlur(mark, (0, 0), MASK / 40) for mark in (one, other))
    return min(
        float(np.abs(soft - np.rot90(still, turns)).sum() / (soft.sum() + still.sum() + 1e-6)) for turns in range(4)
    )


def _sized(mark: NDArray[np.uint8], size: float) -> Floats:
    """The drawing's inked part, centred, its longer side `size` of the face."""
    x, y, width, height = cv2.boundingRect(mark)
    if min(width, height) == 0:
        return np.zeros((MASK, MASK), np.float32)
    scale = size * MASK / max(width, height)
    part = cv2.resize(mark[y : y + height, x : x + width], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    face = np.zeros((MASK, MASK), np.float32)
    top, left = (MASK - part.shape[0]) // 2, (MASK - part.shape[1]) // 2
    face[top : top + part.shape[0], left : left + part.shape[1]] = part / np.float32(255)
    return face


def _sheet() -> NDArray[np.uint8]:
    return np.zeros((2 * MASK, 2 * MASK), np.uint8)


def _stroke(weight: float) -> int:
    return max(2, round(weight * MASK * 1.6))


def _letter(rng: Generator, weight: float) -> NDArray[np.uint8]:
    sheet, letter = _sheet(), _LETTERS[rng.integers(len(_LETTERS))]
    cv2.putText(
        sheet, letter, (MASK // 2, MASK * 3 // 2), _FONTS[rng.integers(len(_FONTS))], 8, 255, _stroke(weight), 16
    )
    return sheet


def _rune(rng: Generator, weight: float) -> NDArray[np.uint8]:
    sheet, posts = _sheet(), rng.integers(0, 4, (int(rng.integers(3, 6)), 2, 2))
    for start, end in (posts * (MASK // 3) + MASK // 2).tolist():
        cv2.line(sheet, start, end, 255, _stroke(weight), cv2.LINE_AA)
    return sheet


def _sun(rng: Generator, weight: float) -> NDArray[np.uint8]:
    """A star, sun, flower, crescent or polygon, filled or not."""
    sheet, tips = _sheet(), int(rng.integers(3, 10))
    inner = float(rng.uniform(0.25, 1.0))
    angle = np.arange(2 * tips) * np.pi / tips
    radius = np.where(np.arange(2 * tips) % 2, inner, 1.0) * 0.8 * MASK
    points = np.column_stack([np.sin(angle), -np.cos(angle)]) * radius[:, None] + MASK
    if rng.random() < 0.5:
        cv2.fillPoly(sheet, [points.astype(np.int32)], 255, cv2.LINE_AA)
    else:
        cv2.polylines(sheet, [points.astype(np.int32)], True, 255, _stroke(weight), cv2.LINE_AA)
    if rng.random() < 0.6:
        at = np.round(rng.normal(MASK, rng.choice((0, 0.3 * MASK)), 2)).astype(int).tolist()
        value = 0 if rng.random() < 0.6 else 255
        cv2.circle(sheet, at, round(rng.uniform(0.2, 0.5) * MASK), value, -1, cv2.LINE_AA)
    return sheet


def _picture(rng: Generator, weight: float) -> NDArray[np.uint8]:
    """Blobs, bars and holes: a fish, a house, a mask, if one likes."""
    sheet = _sheet()
    for i in range(int(rng.integers(3, 7))):
        x, y = rng.uniform(0.6, 1.4, 2) * MASK
        size = rng.uniform(0.15, 0.6, 2) * MASK
        value = 0 if i > 1 and rng.random() < 0.35 else 255
        filled = -1 if rng.random() < 0.6 else _stroke(weight)
        if rng.random() < 0.5:
            axes, turn = (round(size[0]), round(size[1])), float(rng.uniform(0, 180))
            cv2.ellipse(sheet, (round(x), round(y)), axes, turn, 0, float(rng.choice((180, 360))), value, filled, 16)
        else:
            low, high = (
                np.round((x, y) - size / 2).astype(int).tolist(),
                np.round((x, y) + size / 2).astype(int).tolist(),
            )
            cv2.rectangle(sheet, low, high, value, filled)
    return sheet


def _dots(rng: Generator, _: float) -> NDArray[np.uint8]:
    sheet, holes = _sheet(), rng.permutation(9)[: int(rng.integers(1, 8))]
    for hole in holes.tolist():
        row, column = divmod(hole, 3)
        cv2.circle(sheet, (MASK // 2 + column * MASK // 2, MASK // 2 + row * MASK // 2), MASK // 7, 255, -1, 16)
    return sheet


def _any(rng: Generator, weight: float) -> NDArray[np.uint8]:
    drawers: tuple[Callable[[Generator, float], NDArray[np.uint8]], ...] = (_letter, _rune, _sun, _picture)
    return drawers[rng.integers(len(drawers))](rng, weight)


# --- pictures


@dataclass(frozen=True, slots=True)
class Sight:
    """From where and in what light a picture is taken."""

    camera: Camera
    light: Light
    lens: Lens


class ArtStudio:
    """Takes the pictures of one set."""

    def __init__(self, seed: int) -> None:
        self.set = self._drawn_set(seed)
        self._rng = np.random.default_rng((78, seed))
        self._fabrics = Fabrics(np.random.default_rng((79, seed)), count=6)
        self._bare = self._pieces(np.random.default_rng((81, seed)))
        self.set_up()

    def _drawn_set(self, seed: int) -> ArtSet:
        return draw_art_set(seed)

    def _pieces(self, rng: Generator) -> dict[Piece, list[Floats]]:
        """The bare faces of the pieces, two of each."""
        side = int(rng.uniform(45, 110))
        return {
            piece: [bare_face(rng, self._fabrics, body, side) for _ in range(2)]
            for piece, body in self.set.bodies.items()
        }

    def set_up(self) -> None:
        """Set the camera up somewhere, in some light."""
        self.sight = self._draw_sight(steepest=35, least=55)

    def empty(self) -> Shot:
        """The empty board, as its owner sets the camera up."""
        return self._take(self.sight, [])

    def enrolled(self) -> Shot:
        """The sixteen pieces in the standard arrangement; nothing but the pieces has moved, or hardly."""
        rng = self._rng
        placed = [self._laid(rng, piece, square, loose=0.6) for square, piece in enumerate(ARRANGEMENT)]
        return self._take(self.sight, placed)

    def game(self, *, moved: bool = True, hands: int = 0) -> Shot:
        """Some pieces as they lie in play; with `moved`, lamp, camera and lens are others than before."""
        sight = self._draw_sight(steepest=45, least=40) if moved else self.sight
        placed = draw_placed(self._rng, self._in_play())
        return self._take(sight, placed_of_one_set(self._rng.spawn(1)[0], placed), hands)

    def _in_play(self) -> SetLook:
        """The set as it is played with: none lies as loosely as cubes do."""
        return replace(self.set.pieces, family=Family.DIAGRAM)

    def _draw_sight(self, steepest: float, least: float) -> Sight:
        """Ordinary light, a good enough camera, no more than `steepest` degrees from above."""
        rng = self._rng
        while True:
            camera = draw_camera(rng, Family.DIAGRAM)
            if camera.tilt > np.radians(steepest) or camera.scale < least:
                continue
            sight = Sight(camera, draw_light(rng), draw_lens(rng, camera.scale))
            if plain(self._scene(sight, [])):
                return sight

    def _scene(self, sight: Sight, placed: list[Placed]) -> Scene:
        known = self.set
        return Scene(
            known.board, known.pieces, placed, sight.camera, sight.light, sight.lens, 0, 0.0, askew=known.askew
        )

    def _laid(self, rng: Generator, piece: Piece, square: int, *, loose: float) -> Placed:
        row, column = divmod(square, SIDE)
        dx, dy = np.clip(rng.normal(0, 0.055 * loose, 2), -0.12, 0.12).tolist()
        turn = float(np.clip(rng.normal(0, np.radians(6) * loose), -0.26, 0.26) + rng.integers(4) * np.pi / 2)
        return Placed(column + 0.5 + dx, row + 0.5 + dy, 0.0, turn, piece.colour, piece.kind, square)

    def _take(self, sight: Sight, placed: list[Placed], hands: int = 0) -> Shot:
        known, scene = self.set, self._scene(sight, placed)
        canvas = Canvas(np.random.default_rng((80, known.seed)), scene, self._fabrics)
        paint_ground(canvas)
        canvas.rng = self._rng
        left = {piece: [faces[i] for i in self._rng.permutation(2)] for piece, faces in self._bare.items()}
        for one in canvas.view.far_to_near(placed):
            piece = Piece(one.colour, one.kind)
            canvas.scene = replace(scene, pieces=replace(known.pieces, bodies={one.colour: known.bodies[piece]}))
            paint_piece(canvas, one, known.marks[one.kind], bare=left[piece].pop())
        canvas.scene = scene
        for _ in range(hands):
            _visit(canvas)
        static = self._fabrics.static(self._rng, canvas.view.height, canvas.view.width)
        picture = take(canvas.light(), static, sight.lens)
        targets, weights = truth(canvas, picture, known.marks)
        standing = {one.square: ALL_CONTENTS.index(Piece(one.colour, one.kind)) for one in placed}
        contents = tuple(1 << standing.get(square, 0) for square in range(SIDE * SIDE))
        corners = canvas.view.project(_CORNERS, 0.0)
        return Shot(picture, corners, contents, weights, targets[:, -1] > 0)


class CubeStudio(ArtStudio):
    """Takes the pictures of one set of cubes."""

    def _drawn_set(self, seed: int) -> ArtSet:
        return draw_cube_set(seed)

    def _in_play(self) -> SetLook:
        return self.set.pieces


def _visit(canvas: Canvas) -> None:
    """A hand or a thing over the board."""
    rng, scale = canvas.rng, canvas.scene.camera.scale
    spot = rng.uniform(-0.2, SIDE + 0.2, (1, 2))
    x, y = canvas.view.project(spot, 0.4)[0].tolist()
    layer: Bytes = canvas.albedo.copy()
    mask = (draw_hand if rng.random() < 0.8 else draw_thing)(rng, layer, (x, y), scale)
    alpha = np.asarray(cv2.GaussianBlur(mask, (0, 0), 0.7).astype(np.float32) / 255, np.float32)
    canvas.blend((slice(None), slice(None)), layer.astype(np.float32), alpha, np.array([[[1, 1, 0]]], np.float32))
    canvas.owner[mask > 127] = OVER
