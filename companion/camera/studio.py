"""The drawn table: board, pieces, hands, lamp and lens put together into the picture of one moment.

Nothing but the hand and what it holds is painted anew for a frame; all that lies still is kept as one picture.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.camera.hand import PLAYERS, PaintedHand
from companion.camera.painting import Prism, Sprite, View, as_levels, paint, rounded
from companion.camera.woods import BIRCH_BOARD, OAK_TABLE, PIECES, grown, mark
from companion.rules import Colour, Kind, Piece, Square

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from companion.camera.play import Hand, Lying, Moment
    from companion.rules import Layout

    Floats = NDArray[np.floating[Any]]
    Image = NDArray[np.uint8]

WIDTH, HEIGHT = 1280, 720
_MOST_SCALE = 126.0
_PIECE_HALF = 0.385
_PIECE_HEIGHT = 0.15
PLATE_HEIGHT = 0.11
_PLATE_GAP = 0.012
_FACE = 160
"""Pixels of a face's own picture for a square."""
_ARM = 9.0
"""From the fingertips to where a player sits, in squares."""
_NOISE = 2.0
_STATIC = 96
"""How far the noise can be shifted, in pixels, so that no two frames have the same."""
_SEED = 7


class Studio:
    """The drawn table, its lamp and its lens."""

    def __init__(self, layout: Layout, spares: tuple[Lying, ...]) -> None:
        rng = np.random.default_rng(_SEED)
        self._view = _view_of(layout, spares)
        self._empty = _table(self._view, rng)
        for plate in self._plates(layout, rng):
            _put(self._empty, paint(self._view, plate, -PLATE_HEIGHT, 0.045))
        self._faces = _faces(rng)
        self._sprites: dict[Lying, Sprite | None] = {}
        self._still: tuple[tuple[Lying, ...], Image] = ((), self._empty)
        scale = float(np.linalg.norm(np.diff(self._view.project(np.array([[0.0, 0, 0], [1, 0, 0]])), axis=0)))
        self._hands = {
            colour: PaintedHand(PLAYERS[colour], scale, from_far_side=colour is Colour.DARK) for colour in Colour
        }
        self._middle = layout.columns / 2
        noise = rng.standard_normal((HEIGHT + _STATIC, WIDTH + _STATIC, 3), np.float32)
        self._noise = as_levels(noise * _NOISE + 3 * _NOISE)
        outer = np.array([[0, 0, 0], [layout.columns, 0, 0], [layout.columns, layout.rows, 0], [0, layout.rows, 0]])
        self.corners = tuple((float(x), float(y)) for x, y in self._view.project(outer.astype(np.float64)))

    def picture(self, moment: Moment, number: int) -> Image:
        """The table at one moment, with the noise of frame `number`; `(HEIGHT, WIDTH, 3)` BGR."""
        picture = self._at_rest(moment.lying).copy()
        if moment.held is not None:
            _put(picture, paint(self._view, self._prism(moment.held), 0.0, 0.05 + 0.12 * moment.held.z))
        if moment.hand is not None:
            self._put_hand(picture, moment.hand)
        x, y = (number * 37) % _STATIC, (number * 59) % _STATIC
        return np.asarray(cv2.add(picture, self._noise[y : y + HEIGHT, x : x + WIDTH]), np.uint8)

    def _at_rest(self, lying: tuple[Lying, ...]) -> Image:
        if self._still[0] != lying:
            picture = self._empty.copy()
            for piece in sorted(lying, key=self._order):
                if piece not in self._sprites:
                    ground = 0.0 if self._on_board(piece) else -PLATE_HEIGHT
                    self._sprites[piece] = paint(self._view, self._prism(piece), ground, 0.05)
                _put(picture, self._sprites[piece])
            self._still = (lying, picture)
        return self._still[1]

    def _plates(self, layout: Layout, rng: Generator) -> list[Prism]:
        """What the board is made of, the far parts first."""
        return _plates(layout, rng)

    def _order(self, lying: Lying) -> float:
        """In which order what lies there is painted, so that what is nearer hides what is behind it."""
        return -lying.y

    def _prism(self, lying: Lying) -> Prism:
        cosine, sine = math.cos(lying.turn), math.sin(lying.turn)
        turn, middle = np.array([[cosine, sine], [-sine, cosine]]), (lying.x, lying.y)
        bottom = lying.z if lying.z or self._on_board(lying) else -PLATE_HEIGHT
        return Prism(
            outline=rounded(_PIECE_HALF, 0.05) @ turn + middle,
            bottom=bottom,
            top=bottom + _PIECE_HEIGHT,
            face=self._faces[_piece(lying)],
            frame=np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * _PIECE_HALF @ turn + middle,
            edge=PIECES[lying.piece.colour].edge,
        )

    def _on_board(self, lying: Lying) -> bool:
        return 0 < lying.x < 2 * self._middle

    def _put_hand(self, picture: Image, hand: Hand) -> None:
        point = np.array([[hand.x, hand.y, hand.z + _PIECE_HEIGHT]])
        x, y = self._view.project(point)[0]
        aside = hand.x - self._middle
        lean = math.atan2(aside if hand.colour is Colour.LIGHT else -aside, _ARM)
        self._hands[hand.colour].put_into(picture, (float(x), float(y)), lean, hand.z)


def _piece(lying: Lying) -> Piece:
    assert isinstance(lying.piece, Piece)
    return lying.piece


def _view_of(layout: Layout, spares: tuple[Lying, ...]) -> View:
    """As near as it can be with everything in the picture."""
    left = min([0.0, *(piece.x for piece in spares)]) - 0.9
    right = max([float(layout.columns), *(piece.x for piece in spares)]) + 0.9
    scale = min(_MOST_SCALE, WIDTH / (right - left), HEIGHT / (layout.rows + 1.3))
    return View.over(WIDTH, HEIGHT, (layout.columns / 2, layout.rows / 2), scale)


def _table(view: View, rng: Generator) -> Image:
    """The bare table in the lamp's light, as far as the lens sees."""
    corners = np.array([[0, 0, 1], [view.width, 0, 1], [view.width, view.height, 1], [0, view.height, 1]], np.float64)
    seen = corners @ np.linalg.inv(view.plane(-PLATE_HEIGHT)).T
    points = seen[:, :2] / seen[:, 2:]
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = 1400, 1000
    face = as_levels(grown(OAK_TABLE, width, height, 90.0, rng))
    box = np.array([[0, height], [width, height], [width, 0], [0, 0]], np.float32)
    world = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]], np.float32)
    lay = view.plane(-PLATE_HEIGHT) @ cv2.getPerspectiveTransform(box, world)
    table = cv2.warpPerspective(face, lay, (view.width, view.height), borderMode=cv2.BORDER_REPLICATE)
    return as_levels(table * _lamplight(view)[..., None])


def _plates(layout: Layout, rng: Generator) -> list[Prism]:
    """The 2x2 boards that tile the layout, pushed together by hand, the far ones first."""
    left, plates = set(layout.squares), []
    for square in layout.squares:
        if square in left:
            left -= {Square(square.row + up, square.column + along) for up in (0, 1) for along in (0, 1)}
            plates.append(_plate((square.column + 1.0, square.row + 1.0), rng))
    return sorted(plates, key=lambda plate: -float(plate.frame[0, 1]))


def _plate(middle: tuple[float, float], rng: Generator) -> Prism:
    size, turn = 2 * _FACE, float(rng.normal(0, 0.004))
    face = grown(BIRCH_BOARD, size, size, 60.0, rng)
    _burn(face)
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    half = 1 - _PLATE_GAP
    return Prism(
        outline=rounded(half, 0.05) @ rotation + middle,
        bottom=-PLATE_HEIGHT,
        top=0.0,
        face=as_levels(face),
        frame=np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ rotation + middle,
        edge=BIRCH_BOARD.edge,
    )


def _burn(face: Floats) -> None:
    """The cross that divides a plate into squares, and its browned edge."""
    size = face.shape[0]
    line = np.zeros((size, size), np.uint8)
    cv2.line(line, (size // 2, 0), (size // 2, size), 255, 3, cv2.LINE_AA)
    cv2.line(line, (0, size // 2), (size, size // 2), 255, 3, cv2.LINE_AA)
    cv2.rectangle(line, (0, 0), (size - 1, size - 1), 204, 5, cv2.LINE_AA)
    share = np.asarray(cv2.GaussianBlur(line, (0, 0), 0.8), np.float32)[..., None] / 255
    face += (np.array(BIRCH_BOARD.ink, np.float32) - face) * share


def _faces(rng: Generator) -> dict[Piece, Image]:
    """The top of each piece."""
    size = round(2 * _PIECE_HALF * _FACE)
    return {piece: _face(piece, size, rng) for piece in (Piece(colour, kind) for colour in Colour for kind in Kind)}


def _face(piece: Piece, size: int, rng: Generator) -> Image:
    wood = PIECES[piece.colour]
    face = grown(wood, size, size, 34.0, rng)
    ink = mark(piece.kind, size)[..., None]
    face += (np.array(wood.ink, np.float32) - face) * (0.93 * ink)
    rim = np.zeros((size, size), np.float32)
    cv2.rectangle(rim, (0, 0), (size - 1, size - 1), 1.0, 3)
    towards_lamp = np.linspace(1, -1, size, dtype=np.float32)
    bevel = 0.5 * (towards_lamp[None] + towards_lamp[:, None]) * cv2.GaussianBlur(rim, (0, 0), 1.2)
    return as_levels(face * (1 + 0.35 * bevel[..., None]))


def _lamplight(view: View) -> Floats:
    """How much of the lamp's light each pixel gets, about 1."""
    x = np.linspace(-1, 1, view.width, dtype=np.float32)[None]
    y = np.linspace(-0.6, 0.6, view.height, dtype=np.float32)[:, None]
    away = (x + 0.35) ** 2 + (y + 0.3) ** 2
    return np.asarray(1.09 - 0.25 * away, np.float32)


def _put(picture: Image, sprite: Sprite | None) -> None:
    if sprite is not None:
        sprite.put_into(picture)
