"""The sheets that a scene is painted on, and how flat things get onto them.

Far things are painted first. There is one sheet for what surfaces are made of (albedo), one each for how much
lamp light, room light and mirrored lamp reaches them, and one for what lies where (`owner`): the truth is read off it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from calibration.training.scene import SIDE
from calibration.training.view import View

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Fabrics
    from calibration.training.scene import Scene

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]
    Points = NDArray[np.float64]

OVER = 255
"""Owner of what a visitor covers. Squares' pieces own by their index."""
TABLE = 254
BOARD = 253
SHIFT = 4
"""Fraction bits of the points handed to OpenCV's drawing."""
_AROUND = 1.5
_SPAN = SIDE + 2 * _AROUND
_FINEST = 100


class Canvas:
    """The sheets of one picture, `(height, width)`, and the flat sheet of the board's plane, `(side, side)`.

    Things in the board's plane are drawn flat first, `fine` pixels a square, and then laid into the picture.
    """

    def __init__(self, rng: Generator, scene: Scene, fabrics: Fabrics, view: View | None = None) -> None:
        self.rng, self.scene, self.fabrics = rng, scene, fabrics
        self.view = view or View(scene.camera)
        shape = (self.view.height, self.view.width)
        self.albedo: Bytes = np.zeros((*shape, 3), np.uint8)
        self.lamp: Floats = np.ones(shape, np.float32)
        self.room: Floats = np.ones(shape, np.float32)
        self.mirror: Floats = np.zeros(shape, np.float32)
        self.owner: Bytes = np.full(shape, TABLE, np.uint8)
        self.fine = float(np.clip(scene.camera.scale * 1.1, 24, _FINEST))
        self.side = round(self.fine * _SPAN)
        towards = np.array(scene.light.lamp) - (SIDE / 2, SIDE / 2, 0)
        self.towards: Points = towards / np.linalg.norm(towards)
        """The direction to the lamp."""
        self.shift: Points = -self.towards[:2] / max(float(self.towards[2]), 0.2)
        """How far a shadow falls for every square of height."""

    def plane_grid(self, steps: int) -> tuple[Floats, Floats]:
        """Coarse coordinates x and y, in squares, over the flat sheet; for things that change slowly."""
        down, along = np.mgrid[0:steps, 0:steps].astype(np.float32) / (steps - 1) * _SPAN
        return along - _AROUND, SIDE + _AROUND - down

    def spread(self, coarse: Floats) -> Floats:
        """A coarse grid stretched over the flat sheet."""
        return np.asarray(cv2.resize(coarse.astype(np.float32), (self.side, self.side)), np.float32)

    def flat(self, points: Points) -> NDArray[np.int32]:
        """Points on the flat sheet, with `SHIFT` fraction bits, from squares."""
        x = (points[:, 0] + _AROUND) * self.fine - 0.5
        y = (SIDE + _AROUND - points[:, 1]) * self.fine - 0.5
        return np.round(np.column_stack([x, y]) * (1 << SHIFT)).astype(np.int32)

    def fill(self, sheet: Bytes, points: Points, value: float) -> None:
        """Fill a convex shape, in squares, on a flat sheet."""
        cv2.fillConvexPoly(sheet, self.flat(points), value, cv2.LINE_AA, SHIFT)

    def sheet_to_picture(self, z: float) -> Points:
        """The homography from pixels of the flat sheet, at height `z`, to pixels of the picture."""
        flat_to_squares = np.array(
            [
                [1 / self.fine, 0, 0.5 / self.fine - _AROUND],
                [0, -1 / self.fine, SIDE + _AROUND - 0.5 / self.fine],
                [0, 0, 1],
            ]
        )
        return np.asarray(self.view.plane(z) @ flat_to_squares, np.float64)

    def lay(self, albedo: Bytes, light: Floats, mask: Bytes | None, z: float) -> None:
        """Lay a flat sheet at height `z` into the picture; `light` has lamp, room and mirror."""
        to_picture = self.sheet_to_picture(z)
        size = (self.view.width, self.view.height)
        seen = cv2.warpPerspective(albedo, to_picture, size, borderMode=cv2.BORDER_REPLICATE)
        lit = cv2.warpPerspective(light, to_picture, size, borderMode=cv2.BORDER_REPLICATE)
        alpha = np.ones(size[::-1], np.float32)
        if mask is not None:
            alpha = cv2.warpPerspective(mask, to_picture, size).astype(np.float32) / 255
            self.owner[alpha > 0.5] = BOARD
        self.blend((slice(None), slice(None)), np.asarray(seen, np.float32), alpha, np.asarray(lit, np.float32))

    def blend(self, area: tuple[slice, slice], seen: Floats, alpha: Floats, lit: Floats) -> None:
        """Mix a surface and its light (lamp, room, mirror on the last axis) into an area of the sheets."""
        patch = self.albedo[area]
        patch[:] = (patch + alpha[..., None] * (seen - patch)).astype(np.uint8)
        for i, sheet in enumerate((self.lamp, self.room, self.mirror)):
            sheet[area] += alpha * (lit[..., i] - sheet[area])

    def walls(self, face: Points, bottom: float, top: float, colour: tuple[float, float, float], owner: int) -> None:
        """The walls of a prism that the camera sees, each lit by its own direction; `face` is its outline."""
        low, high = self.view.project(face, bottom), self.view.project(face, top)
        following = np.roll(face, -1, axis=0)
        normals = np.column_stack([following[:, 1] - face[:, 1], face[:, 0] - following[:, 0]])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-9
        for i in np.flatnonzero((normals * (self.view.position[:2] - face)).sum(axis=1) > 0):
            j = (i + 1) % len(face)
            wall = np.round(np.array([low[i], low[j], high[j], high[i]]) * (1 << SHIFT)).astype(np.int32)
            lamp = max(0.0, float(normals[i] @ self.towards[:2])) / max(float(self.towards[2]), 0.25)
            cv2.fillConvexPoly(self.albedo, wall, colour, cv2.LINE_AA, SHIFT)
            for sheet, value in ((self.lamp, lamp), (self.room, 0.6), (self.mirror, 0.0), (self.owner, owner)):
                _fill_hard(sheet, wall, value)

    def lamp_at(self, x: float, y: float) -> float:
        """How much of the lamp reaches a point, in squares; 1 in the middle of the board."""
        return float(self.field(np.full((1, 1), x, np.float32), np.full((1, 1), y, np.float32))[0, 0])

    def field(self, x: Floats, y: Floats) -> Floats:
        """The lamp's light over the plane: nearer is brighter, and a shade may lie across."""
        px, py, pz = self.scene.light.lamp
        middle = ((SIDE / 2 - px) ** 2 + (SIDE / 2 - py) ** 2 + pz**2) ** -1.5
        field = ((x - px) ** 2 + (y - py) ** 2 + pz**2) ** -1.5 / middle
        if self.scene.light.shade:
            angle, offset, soft, depth = self.scene.light.shade
            across = (x - SIDE / 2) * np.cos(angle) + (y - SIDE / 2) * np.sin(angle) - offset
            field = field * (1 - depth / (1 + np.exp(-np.clip(across / soft * 4, -50, 50))))
        return np.asarray(field, np.float32)

    def glare(self, x: Floats, y: Floats) -> Floats:
        """How strongly a lamp is mirrored in a varnished plane."""
        if self.scene.light.glare is None:
            return np.zeros_like(x)
        x0, y0, radius, strength = self.scene.light.glare
        return np.asarray(strength * np.exp(-((x - x0) ** 2 + (y - y0) ** 2) / (2 * radius**2)), np.float32)

    def light(self) -> Floats:
        """The light that reaches the lens, linear, `(height, width, 3)`."""
        lamp, room = (np.array(c, np.float32) for c in (self.scene.light.lamp_colour, self.scene.light.room_colour))
        albedo = self.albedo.astype(np.float32) / 255
        light = albedo * albedo * (self.lamp[..., None] * lamp + self.room[..., None] * room)
        if self.mirror.any():
            light += self.mirror[..., None] * (lamp + room) * np.float32(0.8)
        return np.asarray(light, np.float32)


def _fill_hard(sheet: NDArray[Any], polygon: NDArray[np.int32], value: float) -> None:
    cv2.fillConvexPoly(sheet, polygon, value, cv2.LINE_8, SHIFT)


def blur(mask: Bytes, sigma: float) -> Bytes:
    """A Gaussian blur; wide ones are done small."""
    shrink = max(1, int(sigma / 2))
    if shrink == 1:
        return np.asarray(cv2.GaussianBlur(mask, (0, 0), sigma), np.uint8)
    height, width = mask.shape
    small = cv2.resize(mask, (width // shrink + 1, height // shrink + 1), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(cv2.GaussianBlur(small, (0, 0), sigma / shrink), (width, height)), np.uint8)
