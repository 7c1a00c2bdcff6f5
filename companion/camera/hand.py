"""A player's hand, as seen from above: modelled as a relief of rounded limbs, lit, and moved as a flat picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.camera.painting import LAMP, as_levels, shaded
from companion.rules import Colour

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.camera.woods import Tint

    Floats = NDArray[np.floating[Any]]
    Image = NDArray[np.uint8]

_LEFT, _RIGHT, _ABOVE, _BELOW = 1.5, 2.7, 0.9, 8.6
"""How far the relief reaches from the point between the fingertips, in squares."""
_LIMBS = (
    # from: x, y, z, radius; to: the same. y runs towards the fingertips, z up; in squares
    ((0.62, -2.15, 0.42, 0.62), (0.55, -1.55, 0.50, 0.50)),  # back of the hand
    ((0.95, -2.25, 0.36, 0.52), (1.00, -1.65, 0.40, 0.42)),
    ((0.66, -3.20, 0.40, 0.50), (0.70, -2.30, 0.42, 0.58)),  # wrist
    ((0.64, -8.60, 0.45, 0.80), (0.66, -3.20, 0.40, 0.52)),  # forearm
    ((0.30, -1.50, 0.62, 0.27), (0.26, -0.72, 0.74, 0.205)),  # index finger
    ((0.26, -0.72, 0.74, 0.205), (0.10, -0.02, 0.36, 0.15)),
    ((0.62, -1.45, 0.66, 0.27), (0.58, -0.66, 0.78, 0.21)),  # middle finger
    ((0.58, -0.66, 0.78, 0.21), (0.36, 0.02, 0.36, 0.155)),
    ((0.95, -1.50, 0.58, 0.26), (0.96, -0.86, 0.66, 0.20)),  # ring finger, bent away
    ((0.96, -0.86, 0.66, 0.20), (0.76, -0.42, 0.40, 0.155)),
    ((1.24, -1.68, 0.46, 0.22), (1.30, -1.18, 0.50, 0.17)),  # little finger
    ((1.30, -1.18, 0.50, 0.17), (1.12, -0.80, 0.34, 0.135)),
    ((0.20, -2.20, 0.40, 0.40), (-0.16, -1.35, 0.50, 0.27)),  # thumb
    ((-0.16, -1.35, 0.50, 0.27), (-0.34, -0.72, 0.46, 0.21)),
    ((-0.34, -0.72, 0.46, 0.21), (-0.24, -0.22, 0.30, 0.165)),
)
_SLEEVE = ((0.60, -8.60, 0.60, 1.18), (0.66, -3.75, 0.50, 0.80))
_CUFF = ((0.66, -4.02, 0.52, 0.87), (0.66, -3.72, 0.52, 0.84))
_CUFF_Y, _CUFF_HALF = -3.87, 0.2
_NAILS = ((0.13, 0.02, 0.085, 0.11), (0.385, 0.06, 0.09, 0.11), (-0.225, -0.20, 0.09, 0.12))
_LAMP = LAMP / np.linalg.norm(LAMP)
_KNIT = 0.16


@dataclass(frozen=True, slots=True)
class Skin:
    """What a hand and its sleeve look like; colours are BGR."""

    skin: Tint
    nail: Tint
    sleeve: Tint


PLAYERS = {
    Colour.LIGHT: Skin((134, 164, 208), (158, 182, 222), (98, 82, 52)),
    Colour.DARK: Skin((76, 98, 136), (116, 140, 174), (50, 70, 140)),
}


class PaintedHand:
    """One player's hand, ready to be put into pictures.

    Args:
        look: what it looks like.
        scale: pixels for a square.
        from_far_side: the player sits on the far side, so that the arm comes from above.
    """

    def __init__(self, look: Skin, scale: float, *, from_far_side: bool) -> None:
        self._scale = scale
        relief, cloth, nails = _relief(scale / 2)
        if from_far_side:
            relief, cloth, nails = (np.ascontiguousarray(layer[::-1, ::-1]) for layer in (relief, cloth, nails))
        cover = cv2.GaussianBlur(np.clip(relief * 9, 0, 1), (0, 0), 0.9)
        colour = _lit(look, relief, cloth, nails, scale / 2)
        layers = np.dstack([colour * cover[..., None], cover * 255])
        self._layers = as_levels(cv2.resize(layers, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC))
        shadow = cv2.GaussianBlur(cover, (0, 0), 0.11 * scale)
        self._shadow = as_levels(shadow * 255)
        across, along = _LEFT + _RIGHT, _ABOVE + _BELOW
        tip = np.array([_LEFT, _ABOVE]) * scale
        self._tip = np.array([across, along]) * scale - tip if from_far_side else tip

    def put_into(self, picture: Image, tip: tuple[float, float], lean: float, height: float) -> None:
        """Paint the hand and its shadow.

        Args:
            picture: BGR, changed in place.
            tip: where the point between the fingertips is, in pixels.
            lean: how far the arm leans, clockwise as seen, in radians.
            height: how high above the table it is, in squares.
        """
        move = self._placed(np.array(tip), lean)
        box = self._box(move, picture.shape[1], picture.shape[0], height)
        if box is None:
            return
        x, y, width, height_px = box
        part = picture[y : y + height_px, x : x + width]
        drift = np.array([-LAMP[0], LAMP[1]]) * (0.25 + height) * self._scale
        fallen = move.copy()
        fallen[:, 2] += drift - (x, y)
        fallen[:, :2] *= 2  # the shadow is kept at half the size
        shade = cv2.warpAffine(self._shadow, fallen, (width, height_px), flags=cv2.INTER_LINEAR)
        cv2.multiply(part, shaded(np.asarray(shade, np.uint8)), dst=part, scale=1 / 255)
        move[:, 2] -= (x, y)
        limb = cv2.warpAffine(self._layers, move, (width, height_px), flags=cv2.INTER_LINEAR)
        cover = 255 - limb[..., 3]
        cv2.multiply(part, cv2.merge([cover, cover, cover]), dst=part, scale=1 / 255)
        cv2.add(part, np.ascontiguousarray(limb[..., :3]), dst=part)

    def _placed(self, tip: Floats, lean: float) -> Floats:
        """The affine map from the hand's own pixels to the picture's, `(2, 3)`."""
        cosine, sine = math.cos(lean), math.sin(lean)
        turn = np.array([[cosine, -sine], [sine, cosine]])
        return np.column_stack([turn, tip - turn @ self._tip])

    def _box(self, move: Floats, width: int, height: int, above: float) -> tuple[int, int, int, int] | None:
        """The part of the picture that hand and shadow may touch: x, y, width, height."""
        rows, columns = self._layers.shape[:2]
        corners = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]]) @ move[:, :2].T + move[:, 2]
        reach = (0.25 + above + 0.4) * self._scale * 0.6
        low = np.clip(np.floor(corners.min(axis=0)), 0, (width, height)).astype(int)
        high = np.clip(np.ceil(corners.max(axis=0) + reach), 0, (width, height)).astype(int)
        if (high - low).min() < 2:  # noqa: PLR2004
            return None
        return int(low[0]), int(low[1]), int(high[0] - low[0]), int(high[1] - low[1])


def _relief(scale: float) -> tuple[Floats, Floats, Floats]:
    """Heights in squares, where the sleeve is, and where nails are, with `scale` pixels for a square."""
    x = (np.arange(round((_LEFT + _RIGHT) * scale), dtype=np.float32) / scale - _LEFT)[None]
    y = (_ABOVE - np.arange(round((_ABOVE + _BELOW) * scale), dtype=np.float32) / scale)[:, None]
    hand = _joined(x, y, _LIMBS, 0.07)
    sleeve = np.maximum(_limb(x, y, *_SLEEVE), _limb(x, y, *_CUFF) * (np.abs(y - _CUFF_Y) < _CUFF_HALF))
    folds = 0.035 * np.sin(5.1 * y + 2.2 * np.sin(1.7 * x + y)) * np.clip(sleeve * 3, 0, 1)
    cloth = cv2.dilate((sleeve > hand).astype(np.float32), np.ones((5, 5), np.uint8))
    nails = np.zeros_like(hand)
    for nail_x, nail_y, half, long in _NAILS:
        distance = ((x - nail_x) / half) ** 2 + ((y - nail_y) / long) ** 2
        nails = np.maximum(nails, np.clip((1 - distance) * 3, 0, 1))
    return np.maximum(hand, sleeve + folds), np.asarray(cloth, np.float32), nails * (hand > 0)


def _joined(x: Floats, y: Floats, limbs: tuple[Any, ...], smooth: float) -> Floats:
    """The height of limbs that grow into each other: a soft maximum; 0 beside them."""
    total = np.zeros((y.shape[0], x.shape[1]), np.float32)
    for start, end in limbs:
        total += np.exp(_limb(x, y, start, end) / smooth) - 1
    return np.asarray(smooth * np.log1p(total), np.float32)


def _limb(x: Floats, y: Floats, start: tuple[float, ...], end: tuple[float, ...]) -> Floats:
    """The upper side of a round limb that tapers from start to end (x, y, z, radius each); 0 beside it."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = np.clip(((x - start[0]) * dx + (y - start[1]) * dy) / (dx * dx + dy * dy), 0, 1)
    radius = start[3] + (end[3] - start[3]) * share
    middle = start[2] + (end[2] - start[2]) * share
    off = (x - start[0] - dx * share) ** 2 + (y - start[1] - dy * share) ** 2
    inside = np.maximum(radius * radius - off, 0)
    return np.asarray(np.where(inside > 0, np.maximum(middle - radius, 0) * 0.6 + np.sqrt(inside), 0), np.float32)


def _lit(look: Skin, relief: Floats, cloth: Floats, nails: Floats, scale: float) -> Floats:
    smooth = cv2.GaussianBlur(relief, (0, 0), 0.03 * scale)
    slope_x = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=scale / 8)
    slope_y = -cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=scale / 8)
    light = (_LAMP[2] - slope_x * _LAMP[0] - slope_y * _LAMP[1]) / np.sqrt(1 + slope_x**2 + slope_y**2)
    hollow = np.clip(cv2.GaussianBlur(relief, (0, 0), 0.16 * scale) - relief, 0, 0.4)
    shade = (0.44 + 0.62 * np.clip(light, 0, 1) - 0.75 * hollow)[..., None]
    rosy = np.array([0.90, 0.955, 1.02], np.float32) ** (1 + 3 * hollow[..., None] + 0.8 * (1 - shade))
    skin = np.array(look.skin, np.float32) * rosy
    skin = skin + (np.array(look.nail, np.float32) - skin) * (0.7 * nails[..., None])
    rows = np.arange(relief.shape[0], dtype=np.float32)[:, None] / (scale * _KNIT)
    columns = np.arange(relief.shape[1], dtype=np.float32)[None] / (scale * _KNIT)
    knit = 1 + 0.07 * np.sin(2 * np.pi * (columns + 0.35 * np.abs((rows % 1) - 0.5)))
    sleeve = np.array(look.sleeve, np.float32) * knit[..., None]
    return np.asarray(np.clip((skin + (sleeve - skin) * cloth[..., None]) * shade * 1.12, 0, 255), np.float32)
