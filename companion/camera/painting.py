"""The table as a lens sees it: a view, and sprites of what stands on the board, with their shadows.

Everything solid here is a prism, an outline with a top and sides: plates of the board and pieces alike. A prism is
painted once, three times as fine as the picture, and kept as a `Sprite`; putting a sprite into a picture is one
multiplication and one addition of its few pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.camera.woods import Tint

    Floats = NDArray[np.floating[Any]]
    Image = NDArray[np.uint8]

_FINE = 3
_TILT = math.radians(23)
_DISTANCE = 15.0
LAMP = np.array([-0.42, 0.5, 1.0])
"""Towards the lamp, in squares: it hangs behind the board, to the left."""
_SHADOW = (0.48, 0.54, 0.58)
"""How much light a full shadow takes away, BGR: the room's light, which remains, is cooler than the lamp's."""
_LEFT = np.stack([255 - np.arange(256) * share for share in _SHADOW], axis=1).astype(np.uint8)[None]
_AMBIENT = 0.62


@dataclass(frozen=True, slots=True)
class View:
    """A pinhole camera on Light's side that looks down at the middle of the board.

    World points are `(n, 3)`: x, y, z in squares; picture points `(n, 2)` in pixels.
    """

    width: int
    height: int
    matrix: NDArray[np.float64]
    """`(3, 4)`, from homogeneous world to homogeneous picture points."""

    @classmethod
    def over(cls, width: int, height: int, middle: tuple[float, float], scale: float) -> Self:
        """A view with `scale` pixels for a square in the middle of the picture."""
        sine, cosine = math.sin(_TILT), math.cos(_TILT)
        turn = np.array([[1, 0, 0], [0, -cosine, -sine], [0, sine, -cosine]])
        eye = np.array([middle[0], middle[1] - _DISTANCE * sine, _DISTANCE * cosine])
        focal = scale * _DISTANCE
        lens = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
        return cls(width, height, lens @ np.hstack([turn, -(turn @ eye)[:, None]]))

    def project(self, points: Floats) -> Floats:
        """Where world points appear."""
        seen = points @ self.matrix[:, :3].T + self.matrix[:, 3]
        return np.asarray(seen[:, :2] / seen[:, 2:], np.float64)

    def plane(self, z: float) -> Floats:
        """The homography from points `(x, y)` at height `z` to the picture, `(3, 3)`."""
        return np.column_stack([self.matrix[:, 0], self.matrix[:, 1], self.matrix[:, 2] * z + self.matrix[:, 3]])


@dataclass(frozen=True, slots=True)
class Sprite:
    """A cut-out with its shadow: what it leaves of the picture under it, and what it adds."""

    x: int
    y: int
    """Its upper left pixel in the picture."""
    keep: Image
    """`(height, width, 3)`, 255 where all of the picture stays."""
    add: Image

    def put_into(self, picture: Image) -> None:
        """Paint it; all of it has to lie within the picture."""
        height, width = self.keep.shape[:2]
        under = picture[self.y : self.y + height, self.x : self.x + width]
        cv2.multiply(under, self.keep, dst=under, scale=1 / 255)
        cv2.add(under, self.add, dst=under)


@dataclass(frozen=True, slots=True)
class Prism:
    """Something flat with straight sides."""

    outline: Floats
    """World x and y, counter-clockwise, `(n, 2)`."""
    bottom: float
    top: float
    face: Image
    """The picture on its top, `(height, width, 3)`, laid over `frame`."""
    frame: Floats
    """World x and y of the corners of `face`: lower left, lower right, upper right, upper left; `(4, 2)`."""
    edge: Tint


def shaded(shade: Image) -> Image:
    """What is left, `(height, width, 3)`, of a light that is hidden by `shade` (255: wholly), `(height, width)`."""
    return np.asarray(cv2.LUT(cv2.merge([shade, shade, shade]), _LEFT), np.uint8)


def rounded(half: float, radius: float) -> Floats:
    """The outline of a square with round corners around the origin, counter-clockwise, `(n, 2)`."""
    angles = np.linspace(0, np.pi / 2, 7)
    arc = np.column_stack([np.cos(angles), np.sin(angles)]) * radius + (half - radius)
    quarters = [arc @ np.linalg.matrix_power(np.array([[0, 1], [-1, 0]]), quarter) for quarter in range(4)]
    return np.concatenate(quarters)


def paint(view: View, prism: Prism, ground: float, softness: float) -> Sprite | None:
    """The sprite of a prism whose shadow falls on the height `ground`; None if it is out of the picture.

    `softness` is how wide the shadow's edge is, in squares.
    """
    shadow = _shadow_outline(prism, ground)
    corners = np.concatenate([view.project(_at(prism.outline, z)) for z in (prism.bottom, prism.top)])
    spread = view.project(_at(shadow, ground))
    margin = 4 + 3 * softness * _scale(view)
    low = np.minimum(corners.min(axis=0), spread.min(axis=0) - margin)
    high = np.maximum(corners.max(axis=0), spread.max(axis=0) + margin)
    x, y = (max(0, math.floor(v)) for v in low)
    right, below = min(view.width, math.ceil(high[0]) + 1), min(view.height, math.ceil(high[1]) + 1)
    if right - x < 2 or below - y < 2:  # noqa: PLR2004
        return None
    add, cover = _solid(view, prism, (x, y, right - x, below - y))
    left = shaded(_shade(spread - (x, y), (right - x, below - y), softness * _scale(view)))
    uncovered = cv2.bitwise_not(cover)
    keep = cv2.multiply(left, cv2.merge([uncovered, uncovered, uncovered]), scale=1 / 255)
    return Sprite(x, y, np.asarray(keep, np.uint8), add)


def _solid(view: View, prism: Prism, box: tuple[int, int, int, int]) -> tuple[Image, Image]:
    """What sides and top add, and how much they cover (255 is all), in `box` (x, y, width, height) of the picture."""
    x, y, width, height = box
    finer = np.array([[_FINE, 0, -x * _FINE + (_FINE - 1) / 2], [0, _FINE, -y * _FINE + (_FINE - 1) / 2], [0, 0, 1]])
    size = (width * _FINE, height * _FINE)
    to_face = np.asarray(prism.face.shape[1::-1], np.float64)
    corners = np.array([[0, 1], [1, 1], [1, 0], [0, 0]]) * to_face - 0.5
    top = (view.project(_at(prism.frame, prism.top)) @ finer[:2, :2].T + finer[:2, 2]).astype(np.float32)
    lay = cv2.getPerspectiveTransform(corners.astype(np.float32), top)
    laid = cv2.warpPerspective(prism.face, lay, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    upper, lower = (
        view.project(_at(prism.outline, z)) @ finer[:2, :2].T + finer[:2, 2] for z in (prism.top, prism.bottom)
    )
    colour, cover = np.zeros((*size[::-1], 3), np.uint8), np.zeros(size[::-1], np.uint8)
    _paint_sides(colour, cover, prism, upper, lower)
    lid = cv2.fillPoly(np.zeros_like(cover), [_fixed(upper)], 255, cv2.LINE_8, 4)
    cv2.bitwise_or(cover, lid, dst=cover)
    cv2.copyTo(laid, lid, colour)
    add, covered = (cv2.resize(fine, (width, height), interpolation=cv2.INTER_AREA) for fine in (colour, cover))
    return np.asarray(add, np.uint8), np.asarray(covered, np.uint8)


def _paint_sides(canvas: Image, cover: Image, prism: Prism, upper: Floats, lower: Floats) -> None:
    """Every side that faces the lens, brighter towards the lamp."""
    following = np.roll(prism.outline, -1, axis=0) - prism.outline
    for i, (dx, dy) in enumerate(following):
        quad = np.array([lower[i], lower[(i + 1) % len(lower)], upper[(i + 1) % len(upper)], upper[i]])
        if cv2.contourArea(quad.astype(np.float32), oriented=True) >= 0:
            continue
        outwards = np.array([dy, -dx, 0]) / max(math.hypot(dx, dy), 1e-9)
        light = _AMBIENT + 0.55 * max(0.0, float(outwards @ LAMP) / float(np.linalg.norm(LAMP)))
        cv2.fillPoly(canvas, [_fixed(quad)], tuple(light * channel for channel in prism.edge), cv2.LINE_8, 4)
        cv2.fillPoly(cover, [_fixed(quad)], 255, cv2.LINE_8, 4)


def _shadow_outline(prism: Prism, ground: float) -> Floats:
    drift = LAMP[:2] / LAMP[2]
    thrown = [prism.outline - drift * (z - ground) for z in (prism.bottom, prism.top)]
    return np.asarray(cv2.convexHull(np.concatenate(thrown).astype(np.float32))[:, 0], np.float64)


def _shade(outline: Floats, size: tuple[int, int], blur: float) -> Image:
    """How much of the lamp is hidden, up to 255, with a soft edge; `(height, width)`."""
    mask = np.zeros(size[::-1], np.uint8)
    cv2.fillPoly(mask, [_fixed(outline)], 255, cv2.LINE_AA, 4)
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), max(blur, 0.6)), np.uint8)


def _at(points: Floats, z: float) -> Floats:
    return np.column_stack([points, np.full(len(points), z)])


def _scale(view: View) -> float:
    return float(view.matrix[0, 0]) / _DISTANCE


def _fixed(points: Floats) -> NDArray[np.int32]:
    """Pixels as OpenCV's drawing wants them, with four bits behind the point."""
    return np.asarray(np.round(points * 16), np.int32)


def as_levels(values: Any) -> Image:
    """The nearest levels, from 0 to 255, of such values."""
    return np.asarray(np.clip(values + 0.5, 0, 255), np.uint8)
