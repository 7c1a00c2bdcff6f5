"""Pictures of a stressed table: what lies still is painted once, hands and light are added frame by frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.training.cards import draw_face
from calibration.training.marks import mark
from calibration.training.scene import Grid
from calibration.training.symbols import draw_symbol
from companion.camera.hand import PaintedHand, Skin
from companion.camera.painting import Prism, View, paint, rounded
from companion.camera.play import CARD_THICKNESS, Card, Lying
from companion.camera.woods import Wood, grown
from companion.rules import Colour, Kind, Piece, Square
from tests.bench.cameras import banded
from tests.bench.stress.look import Look

_FACE = 120
"""Pixels of a face's own picture for a square."""
_SHIFTED = 96
_COARSE = 8
_SHARP = 0.3
"""A picture that is less blurred, in pixels, is as sharp as its pixels are."""
_TABLE = 0.1
"""How far below the board's top what lies beside it stands, in squares."""
SKINS = (
    Skin((134, 164, 208), (158, 182, 222), (98, 82, 52)),
    Skin((76, 98, 136), (116, 140, 174), (50, 70, 140)),
    Skin((110, 140, 185), (140, 165, 205), (40, 40, 44)),
    Skin((120, 150, 196), (150, 172, 212), (205, 205, 200)),
)


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand by the point between its fingertips, and the shoulder it hangs from."""

    x: float
    y: float
    z: float
    shoulder: tuple[float, float]
    skin: int


@dataclass(frozen=True, slots=True)
class Thing:
    """Something round beside the board: a cup."""

    x: float
    y: float
    radius: float
    height: float
    colour: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Slide:
    """How the board lies on the table: shifted, and turned about its middle."""

    x: float = 0.0
    y: float = 0.0
    turn: float = 0.0

    def of(self, points: np.ndarray, middle: tuple[float, float]) -> np.ndarray:
        """Where points of the board at its first place, which has its middle there, are now."""
        cosine, sine = math.cos(self.turn), math.sin(self.turn)
        return (points - middle) @ np.array([[cosine, sine], [-sine, cosine]]) + middle + (self.x, self.y)


@dataclass(frozen=True, slots=True)
class Moment:
    """The table at one moment."""

    lying: tuple[Lying, ...] = ()
    held: tuple[Lying, ...] = ()
    hands: tuple[Hand, ...] = ()
    things: tuple[Thing, ...] = ()
    slide: Slide = Slide()


@dataclass(frozen=True, slots=True)
class Leaves:
    """Shadows with an edge."""

    spots: tuple[tuple[float, float, float, float, float], ...]
    """Middle x and y and both half axes in shares of the picture's width, and degrees."""
    left: float
    """So much of the light is left in them."""
    softness: float
    """Of the edge, in pixels."""


@dataclass(frozen=True, slots=True)
class Light:
    """How the moment is lit and seen."""

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Of each channel."""
    shades: tuple[tuple[float, float, float, float], ...] = ()
    """Shadows of people: x and y in shares of the picture, radius in shares of its width, depth."""
    leaves: Leaves | None = None
    shift: tuple[float, float] = (0.0, 0.0)
    """Of the camera, in pixels."""
    turned: float = 0.0
    """The camera about its axis, in degrees."""
    blur: float = 0.0
    """Of the camera out of focus, as a standard deviation in shares of the picture's width."""
    bands: tuple[float, float, float] | None = None
    """Of a lamp that flickers: by what part light differs, how many are in the picture, and the phase of the first."""


class Studio:
    """One table, drawn as its look says."""

    def __init__(self, look: Look, rng: np.random.Generator) -> None:
        self.look = look
        self.view = _view(look)
        self._towards_far = np.array([-math.sin(look.turn), math.cos(look.turn)])
        self._cloth = self._bare_table(rng)
        self._plate_faces = _plate_faces(look, rng)
        self._faces = {Piece(c, k): _face(look, Piece(c, k), rng) for c in Colour for k in Kind}
        self._cards = {k: draw_face(rng, look.cards, draw_symbol(rng, k))[0] for k in Kind} if look.cards else {}
        self._board: tuple[Slide | None, np.ndarray] = (None, self._cloth)
        self._still: tuple[object, np.ndarray] = (None, self._cloth)
        self._sprites: dict[object, object] = {}
        self.scale = look.fill * look.size[1] / look.layout.rows
        order = rng.permutation(len(SKINS))
        self._hands = {
            (far, skin): PaintedHand(SKINS[order[skin]], self.scale, from_far_side=far)
            for far in (False, True)
            for skin in range(2)
        }
        width, height = look.size
        noise = rng.standard_normal((height + _SHIFTED, width + _SHIFTED, 3), np.float32) * look.noise
        self._noise = np.clip(noise + 3 * look.noise + 0.5, 0, 255).astype(np.uint8)

    def corners(self, slide: Slide = Slide()) -> np.ndarray:
        """The outer corners of the board's top at a1, d1, d4, a4, `(4, 2)`."""
        columns, rows = self.look.layout.columns, self.look.layout.rows
        return self._seen(np.array([[0.0, 0], [columns, 0], [columns, rows], [0, rows]]), slide)

    def _seen(self, points: np.ndarray, slide: Slide) -> np.ndarray:
        """Where points of the board's top are in the picture."""
        moved = slide.of(points, self.look.middle)
        return self.view.project(np.column_stack([moved, np.zeros(len(moved))]))

    def picture(self, moment: Moment, light: Light, number: int) -> tuple[np.ndarray, bool]:
        """The frame, `(height, width, 3)` BGR, and whether a hand is seen over the board."""
        picture = self._at_rest(moment).copy()
        on_board = False
        for held in moment.held:
            self._put(picture, paint(self.view, self._prism(held), 0.0, 0.05 + 0.12 * held.z))
        for hand in moment.hands:
            on_board |= self._put_hand(picture, hand, moment.slide)
        picture = _lit(picture, light, self.look)
        x, y = (number * 37) % _SHIFTED, (number * 59) % _SHIFTED
        width, height = self.look.size
        picture = cv2.add(picture, self._noise[y : y + height, x : x + width])
        return cv2.subtract(picture, (3 * self.look.noise,) * 4), on_board

    def _at_rest(self, moment: Moment) -> np.ndarray:
        key = (moment.slide, moment.lying, moment.things)
        if self._still[0] == key:
            return self._still[1]
        if self._board[0] != moment.slide:
            self._board = (moment.slide, self._with_board(moment.slide))
        picture = self._board[1].copy()
        for solid in sorted((*moment.lying, *moment.things), key=self._order):
            if solid not in self._sprites:
                ground = 0.0 if isinstance(solid, Lying) and self._near_board(solid) else -_TABLE
                prism = self._prism(solid) if isinstance(solid, Lying) else _cup(solid)
                self._sprites[solid] = paint(self.view, prism, ground, 0.05)
            self._put(picture, self._sprites[solid])
        if self.look.blur > 0.25:
            picture = cv2.GaussianBlur(picture, (0, 0), self.look.blur)
        self._still = (key, picture)
        return picture

    def _order(self, solid: Lying | Thing) -> float:
        """What is drawn first: cards, each on the ones before it, then what is farther away."""
        if isinstance(solid, Lying) and isinstance(solid.piece, Card):
            return solid.z - 1e3
        return -float(np.array([solid.x, solid.y]) @ self._towards_far)

    def _near_board(self, lying: Lying) -> bool:
        layout = self.look.layout
        return -0.2 < lying.x < layout.columns + 0.2 and -0.2 < lying.y < layout.rows + 0.2

    def _bare_table(self, rng: np.random.Generator) -> np.ndarray:
        width, height = self.look.size
        cloth = Wood(
            self.look.cloth, self.look.cloth, (0, 0, 0), float(rng.uniform(0, 0.08)), float(rng.uniform(0, 0.06))
        )
        return np.clip(grown(cloth, width, height, float(rng.uniform(40, 120)), rng), 0, 255).astype(np.uint8)

    def _with_board(self, slide: Slide) -> np.ndarray:
        picture, look = self._cloth.copy(), self.look.board
        size = 4 / look.plates
        half = size / 2 - look.gap * (0.5 if look.plates == 4 else 0.35 if look.plates > 1 else 0)
        prisms = []
        for (x, y), (face, askew) in self._plate_faces.items():
            middle = np.array([x + size / 2, y + size / 2])
            turned = np.array([[math.cos(askew), math.sin(askew)], [-math.sin(askew), math.cos(askew)]])
            outline = slide.of(rounded(half, max(look.corner, 0.02)) @ turned + middle, self.look.middle)
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ turned + middle
            frame = slide.of(corners, self.look.middle)
            prisms.append(Prism(outline, -look.thickness, 0.0, face, frame, look.edge))
        for prism in sorted(prisms, key=lambda p: -float(p.frame.mean(axis=0) @ self._towards_far)):
            self._put(picture, paint(self.view, prism, -look.thickness, 0.04))
        return picture

    def _prism(self, lying: Lying) -> Prism:
        pieces, middle = self.look.pieces, (lying.x, lying.y)
        cosine, sine = math.cos(lying.turn), math.sin(lying.turn)
        turn = np.array([[cosine, sine], [-sine, cosine]])
        if isinstance(lying.piece, Card):
            half = (self.look.cards.width / 2, self.look.cards.height / 2)
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ turn + middle
            bottom, face = lying.z - _TABLE, self._cards[lying.piece.kind]
            return Prism(corners, bottom, bottom + CARD_THICKNESS, face, corners, self.look.cards.paper)
        around = np.linspace(0, 2 * np.pi, 40, endpoint=False)
        if pieces.round:
            outline = np.column_stack([np.cos(around), np.sin(around)]) * pieces.half
        else:
            outline = rounded(pieces.half, max(pieces.corner, 0.02))
        return Prism(
            outline=outline @ turn + middle,
            bottom=lying.z,
            top=lying.z + pieces.height,
            face=self._faces[lying.piece],
            frame=np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * pieces.half @ turn + middle,
            edge=pieces.bodies[lying.piece.colour].edge,
        )

    def _put_hand(self, picture: np.ndarray, hand: Hand, slide: Slide) -> bool:
        x, y = self.view.project(np.array([[hand.x, hand.y, hand.z + self.look.pieces.height]]))[0]
        towards = np.array([[hand.shoulder[0], hand.shoulder[1], 0.0], [hand.x, hand.y, 0.0]])
        shoulder, tip = self.view.project(towards)
        dx, dy = shoulder - tip
        far = dy < 0
        lean = math.atan2(dx, -dy) if far else math.atan2(-dx, dy)
        painted = self._hands[far, hand.skin]
        painted.put_into(picture, (float(x), float(y)), lean, hand.z)
        return self._covers(painted, (float(x), float(y)), lean, slide)

    def _covers(self, painted: PaintedHand, tip: tuple[float, float], lean: float, slide: Slide) -> bool:
        """Whether the hand is seen over the board."""
        move = painted._placed(np.array(tip), lean) / _COARSE
        size = (self.look.size[0] // _COARSE, self.look.size[1] // _COARSE)
        limb = cv2.warpAffine(painted._layers[..., 3], move, size, flags=cv2.INTER_NEAREST)
        board = np.zeros(size[::-1], np.uint8)
        for x, y in _plates(self.look):
            side = 4 / self.look.board.plates
            plate = np.array([[x, y], [x + side, y], [x + side, y + side], [x, y + side]], float)
            cv2.fillConvexPoly(board, np.round(self._seen(plate, slide) / _COARSE).astype(np.int32), 255)
        return bool(cv2.countNonZero(cv2.bitwise_and(limb, board)))

    @staticmethod
    def _put(picture: np.ndarray, sprite) -> None:
        if sprite is not None:
            sprite.put_into(picture)


def _view(look: Look) -> View:
    """A pinhole that looks at the middle of the board, with room for it in the picture."""
    width, height = look.size
    sine, cosine = math.sin(look.tilt), math.cos(look.tilt)
    forward = np.array([-sine * math.sin(look.turn), sine * math.cos(look.turn), -cosine])
    right = np.array([math.cos(look.turn), math.sin(look.turn), 0.0])
    turn = np.stack([right, np.cross(forward, right), forward])
    eye = np.array([*look.middle, 0.0]) - forward * look.distance
    columns, rows = look.layout.columns, look.layout.rows
    left, right = (
        (-0.2, columns + 0.2) if look.cards is None else (-look.cards.width - 1, columns + look.cards.width + 1)
    )
    room = np.array([[left, -0.2, 0], [right, -0.2, 0], [right, rows + 0.2, 0], [left, rows + 0.2, 0]])
    view = None
    for focal in np.linspace(1.6, 0.3, 53) * look.fill * height / rows * look.distance:
        lens = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
        view = View(width, height, lens @ np.hstack([turn, -(turn @ eye)[:, None]]))
        outer = view.project(room)
        if outer.min() >= 0 and outer[:, 0].max() < width and np.ptp(outer[:, 1]) <= (look.fill + 0.1) * height:
            break
    return view


def _plates(look: Look) -> list[tuple[int, int]]:
    """The plates of the board by their lower left corners, x and y in squares, row by row."""
    size = 4 // look.board.plates
    left, found = set(look.layout.squares), []
    for square in look.layout.squares:
        if square in left:
            left -= {Square(square.row + up, square.column + along) for up in range(size) for along in range(size)}
            found.append((square.column, square.row))
    return found


def _plate_faces(look: Look, rng: np.random.Generator):
    """The face of each plate, and how it lies askew, by its lower left corner."""
    board, faces = look.board, {}
    squares = 4 // board.plates
    side = squares * _FACE
    for x, y in _plates(look):
        colour = board.colours[(x + y) // squares % 2]
        wood = Wood(colour, board.edge, board.line_colour, board.grain * 0.5, board.grain * 0.4)
        face = grown(wood, side, side, float(rng.uniform(25, 70)), rng)
        _draw_lines(face, board, squares)
        askew = float(rng.normal(0, 0.006)) if board.plates > 1 else 0.0
        faces[x, y] = (np.clip(face, 0, 255).astype(np.uint8), askew)
    return faces


def _draw_lines(face: np.ndarray, board, squares: int) -> None:
    side, width = face.shape[0], max(1, round(board.line * _FACE))
    if board.grid is Grid.FRAMES:
        inset = round(0.08 * _FACE)
        for i in range(squares):
            for j in range(squares):
                low, high = (i * _FACE + inset, j * _FACE + inset), ((i + 1) * _FACE - inset, (j + 1) * _FACE - inset)
                cv2.rectangle(face, low, high, board.line_colour, width, cv2.LINE_AA)
    elif board.grid is not Grid.NONE:
        for i in range(1, squares):
            cv2.line(face, (i * _FACE, 0), (i * _FACE, side), board.line_colour, width, cv2.LINE_AA)
            cv2.line(face, (0, i * _FACE), (side, i * _FACE), board.line_colour, width, cv2.LINE_AA)
    if board.edge_line:
        cv2.rectangle(face, (0, 0), (side - 1, side - 1), board.edge, max(1, round(board.edge_line * _FACE)))


def _face(look: Look, piece: Piece, rng: np.random.Generator) -> np.ndarray:
    body = look.pieces.bodies[piece.colour]
    size = round(2 * look.pieces.half * _FACE)
    face = grown(Wood(body.colour, body.edge, body.ink, body.grain * 0.4, body.grain * 0.3), size, size, 30.0, rng)
    if look.pieces.blank:
        return np.clip(face, 0, 255).astype(np.uint8)
    ink = cv2.resize(mark(look.pieces.style, piece.kind), (size, size), interpolation=cv2.INTER_AREA)[..., None]
    face += (np.array(body.ink, np.float32) - face) * (body.ink_strength * ink)
    return np.clip(face, 0, 255).astype(np.uint8)


def _cup(thing: Thing) -> Prism:
    around = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    outline = np.column_stack([np.cos(around), np.sin(around)]) * thing.radius + (thing.x, thing.y)
    face = np.full((80, 80, 3), thing.colour, np.uint8)
    cv2.circle(face, (40, 40), 33, tuple(0.35 * c for c in thing.colour), -1, cv2.LINE_AA)
    frame = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * thing.radius + (thing.x, thing.y)
    return Prism(outline, -_TABLE, thing.height, face, frame, thing.colour)


def _lit(picture: np.ndarray, light: Light, look: Look) -> np.ndarray:
    height, width = picture.shape[:2]
    if light.shift != (0.0, 0.0) or light.turned:
        move = cv2.getRotationMatrix2D((width / 2, height / 2), light.turned, 1.0)
        move[:, 2] += light.shift
        picture = cv2.warpAffine(picture, move, (width, height), borderMode=cv2.BORDER_REPLICATE)
    if light.blur * width > _SHARP:
        picture = cv2.GaussianBlur(picture, (0, 0), light.blur * width)
    for x, y, radius, depth in light.shades:
        picture = _shaded(picture, x, y, radius, depth)
    if light.leaves:
        picture = _under(picture, light.leaves)
    if light.bands:
        picture = banded(picture, *light.bands)
    gains = np.array(light.gain) * look.tint * look.exposure
    if np.abs(gains - 1).max() > 1e-3:
        levels = np.arange(256, dtype=np.float32)[:, None] * gains.astype(np.float32)
        curve = np.where(levels < 215, levels, 215 + 40 * np.tanh((levels - 215) / 40))  # highlights roll off
        picture = cv2.LUT(picture, np.clip(curve + 0.5, 0, 255).astype(np.uint8)[None])
    return picture


def _shaded(picture: np.ndarray, x: float, y: float, radius: float, depth: float) -> np.ndarray:
    height, width = picture.shape[:2]
    across, down = np.meshgrid(np.arange(40, dtype=np.float32) / 40, np.arange(24, dtype=np.float32) / 24)
    away = np.hypot(across - x, (down - y) * height / width) / radius
    dark = depth * np.clip((1.25 - away) / 0.5, 0, 1)
    left = cv2.resize(np.uint8(255 * (1 - dark)), (width, height), interpolation=cv2.INTER_LINEAR)
    return cv2.multiply(picture, cv2.merge([left, left, left]), scale=1 / 255)


def _under(picture: np.ndarray, leaves: Leaves) -> np.ndarray:
    height, width = picture.shape[:2]
    shadow = np.zeros((height, width), np.uint8)
    for x, y, long, short, degrees in leaves.spots:
        middle = (round(16 * x * width), round(16 * y * width))
        axes = (round(16 * long * width), round(16 * short * width))
        cv2.ellipse(shadow, middle, axes, degrees, 0, 360, 255, -1, cv2.LINE_8, 4)
    left = 255 - (1 - leaves.left) * cv2.GaussianBlur(shadow, (0, 0), leaves.softness)
    return cv2.multiply(picture, cv2.merge([np.uint8(left)] * 3), scale=1 / 255)
