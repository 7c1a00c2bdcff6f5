"""The drawn table of the Green Box: loose tiles, plain cubes, and two piles of cards with plain symbols."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.camera.painting import Prism, as_levels, rounded
from companion.camera.play import CARD, CARD_THICKNESS, Card
from companion.camera.studio import PLATE_HEIGHT, Studio
from companion.camera.woods import Wood, grown
from companion.rules import Colour, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    from companion.camera.play import Lying
    from companion.rules import Layout

    Floats = NDArray[np.floating[Any]]
    Image = NDArray[np.uint8]

_TILE = Wood((74, 66, 58), (52, 46, 40), (0, 0, 0), 0.02, 0.02)
_TILE_HALF = 0.455
_CUBES = {
    Colour.LIGHT: Wood((214, 224, 230), (170, 182, 190), (0, 0, 0), 0.01, 0.01),
    Colour.DARK: Wood((38, 36, 36), (26, 25, 25), (0, 0, 0), 0.02, 0.02),
}
_CUBE_HALF = 0.25
_PAPER, _INK = (222, 232, 238), (44, 34, 60)
_FACE = 120
"""Pixels of a tile's or card's own picture to a square."""
_FINE = 4


class GreenBoxStudio(Studio):
    """The drawn table, its lamp and its lens; with other art on the cards, BGR pictures of any size, if it is given."""

    def __init__(
        self, layout: Layout, spares: tuple[Lying, ...], card_faces: Mapping[Kind, Image] | None = None
    ) -> None:
        super().__init__(layout, spares)
        self._cards = card_faces or {kind: card_face(kind) for kind in Kind}
        rng = np.random.default_rng(0)
        size = round(2 * _CUBE_HALF * _FACE)
        self._cubes = {colour: as_levels(grown(wood, size, size, 40.0, rng)) for colour, wood in _CUBES.items()}

    def _plates(self, layout: Layout, rng: Generator) -> list[Prism]:
        """Sixteen loose tiles, laid out by hand."""
        tiles = []
        for square in sorted(layout.squares, key=lambda square: -square.row):
            middle = np.array([square.column + 0.5, square.row + 0.5]) + rng.normal(0, 0.008, 2)
            size = round(2 * _TILE_HALF * _FACE)
            face = as_levels(grown(_TILE, size, size, 45.0, rng))
            tiles.append(_block(middle, _TILE_HALF, float(rng.normal(0, 0.008)), (-PLATE_HEIGHT, 0.0), face, _TILE))
        return tiles

    def _order(self, lying: Lying) -> float:
        """Cards lie under everything, each on the ones before it."""
        return lying.z - 1e3 if isinstance(lying.piece, Card) else -lying.y

    def _prism(self, lying: Lying) -> Prism:
        if isinstance(lying.piece, Card):
            return self._card(lying, lying.piece)
        bottom = lying.z if lying.z or self._on_board(lying) else -PLATE_HEIGHT
        wood, face = _CUBES[lying.piece.colour], self._cubes[lying.piece.colour]
        heights = (bottom, bottom + 2 * _CUBE_HALF)
        return _block(np.array([lying.x, lying.y]), _CUBE_HALF, lying.turn * 3, heights, face, wood)

    def _card(self, lying: Lying, card: Card) -> Prism:
        turn, middle = _turn(lying.turn), (lying.x, lying.y)
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (CARD[0] / 2, CARD[1] / 2) @ turn + middle
        bottom = lying.z - PLATE_HEIGHT
        return Prism(corners, bottom, bottom + CARD_THICKNESS, self._cards[card.kind], corners, (190, 198, 204))


def _block(middle: Floats, half: float, turn: float, heights: tuple[float, float], face: Image, wood: Wood) -> Prism:
    """A square block, from its bottom to its top."""
    rotation = _turn(turn)
    frame = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half @ rotation + middle
    return Prism(rounded(half, 0.03) @ rotation + middle, *heights, face, frame, wood.edge)


def _turn(angle: float) -> Floats:
    return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])


def card_face(kind: Kind) -> Image:
    """A card of the Green Box: an arrow, hammers, three circles or bricks, with a thin line around it."""
    width, height = (round(side * _FACE) for side in CARD)
    ink = np.zeros((height * _FINE, width * _FINE), np.uint8)
    inset = round(0.06 * width * _FINE)
    cv2.rectangle(
        ink, (inset, inset), (width * _FINE - inset, height * _FINE - inset), 255, round(0.02 * width * _FINE)
    )
    _DRAWINGS[kind](ink)
    share = np.asarray(cv2.resize(ink, (width, height), interpolation=cv2.INTER_AREA), np.float32)[..., None] / 255
    paper = np.array(_PAPER, np.float32)
    return as_levels(paper + (np.array(_INK, np.float32) - paper) * share)


def _points(ink: Image, points: Any, turn: float = 0.0) -> NDArray[np.int32]:
    """Points around the middle, in thirds of the card's width, y upwards, as pixels."""
    height, width = ink.shape
    turned = np.asarray(points, np.float64) @ _turn(turn) * (1, -1)
    return np.asarray(np.round(turned * width / 3 + (width / 2, height / 2)), np.int32)


def _arrow(ink: Image) -> None:
    outline = [(-0.25, -1), (0.25, -1), (0.25, 0.1), (0.65, 0.1), (0, 1), (-0.65, 0.1), (-0.25, 0.1)]
    cv2.fillPoly(ink, [_points(ink, outline)], 255, cv2.LINE_AA)


def _hammers(ink: Image) -> None:
    for turn in (-0.75, 0.75):
        handle = [(-0.07, -1), (0.07, -1), (0.07, 0.75), (-0.07, 0.75)]
        head = [(-0.4, 0.6), (0.4, 0.6), (0.4, 0.98), (-0.4, 0.98)]
        for part in (handle, head):
            cv2.fillPoly(ink, [_points(ink, part, turn)], 255, cv2.LINE_AA)


def _three_circles(ink: Image) -> None:
    for middle in _points(ink, [(-0.52, -0.4), (0.52, -0.4), (0, 0.5)]).tolist():
        cv2.circle(ink, middle, round(0.13 * ink.shape[1]), 255, round(0.045 * ink.shape[1]), cv2.LINE_AA)


def _bricks(ink: Image) -> None:
    for course in range(5):
        low = -0.9 + 0.36 * course
        for left in (-1.0, 0.0) if course % 2 else (-1.5, -0.5, 0.5):
            start, end = max(left, -1.0) + 0.05, min(left + 1.0, 1.0) - 0.05
            brick = [(start, low), (end, low), (end, low + 0.28), (start, low + 0.28)]
            cv2.fillPoly(ink, [_points(ink, brick)], 255, cv2.LINE_AA)


_DRAWINGS = {
    Kind.STRAIGHT: _arrow,
    Kind.DIAGONAL: _hammers,
    Kind.PUSHER: _three_circles,
    Kind.PULLER: _bricks,
}
