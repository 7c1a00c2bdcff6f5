"""The geometry of one scene: from squares to pixels of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import cv2
import numpy as np

from calibration.training.scene import SIDE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from calibration.training.scene import Camera, Placed, SetLook
    from calibration.training.things import Thing

    Points = NDArray[np.float64]


class _Somewhere(Protocol):
    """What has a place, in squares."""

    @property
    def x(self) -> float: ...
    @property
    def y(self) -> float: ...


Lying = TypeVar("Lying", bound=_Somewhere)

BORDER = 0.8
"""How much of the table around the board the picture shows, in squares."""
LARGEST = 640


class View:
    """A pinhole camera over the board.

    The picture is cropped to the board and its surroundings; with `frame`, a width and a height in pixels, it is all
    that the camera sees, its axis through the middle.
    """

    def __init__(self, camera: Camera, frame: tuple[int, int] | None = None) -> None:
        self.position = self._position(camera)
        self._projection = self._pose(camera)
        if frame is not None:
            self.width, self.height = frame
            self._projection = np.array([[1, 0, frame[0] / 2], [0, 1, frame[1] / 2], [0, 0, 1]]) @ self._projection
            return
        ground = np.array([[-BORDER, -BORDER], [SIDE + BORDER, -BORDER], [SIDE + BORDER] * 2, [-BORDER, SIDE + BORDER]])
        seen = self.project(ground, 0.0)
        low, high = seen.min(axis=0), seen.max(axis=0)
        shrink = min(1.0, LARGEST / float((high - low).max()))
        crop = np.array([[shrink, 0, -low[0] * shrink], [0, shrink, -low[1] * shrink], [0, 0, 1]])
        self._projection = crop @ self._projection
        self.width, self.height = (int(size) + 1 for size in (high - low) * shrink)

    @staticmethod
    def _position(camera: Camera) -> Points:
        side = np.sin(camera.tilt) * camera.distance
        centre = SIDE / 2
        return np.array([centre + side * np.cos(camera.turn), centre + side * np.sin(camera.turn),
                         np.cos(camera.tilt) * camera.distance])  # fmt: skip

    def _pose(self, camera: Camera) -> Points:
        forward = np.array([*camera.aim, 0.0]) - self.position
        forward /= np.linalg.norm(forward)
        up = np.array([np.cos(camera.turn + np.pi + camera.roll), np.sin(camera.turn + np.pi + camera.roll), 0.3])
        right = np.cross(forward, up)
        right /= np.linalg.norm(right)
        down = np.cross(forward, right)
        rotation = np.stack([right, down, forward])
        depth = float(forward @ (np.array([SIDE / 2, SIDE / 2, 0.0]) - self.position))
        focal = camera.scale * depth
        pose = np.column_stack([rotation, -rotation @ self.position])
        return np.asarray(np.diag([focal, focal, 1.0]) @ pose, np.float64)

    def project(self, points: Points, z: float | Points) -> Points:
        """Pixels `(n, 2)` of the points `(n, 2)` at height `z`, in squares."""
        height = np.broadcast_to(np.asarray(z, np.float64), (len(points),))
        seen = np.column_stack([points, height, np.ones(len(points))]) @ self._projection.T
        return np.asarray(seen[:, :2] / seen[:, 2:], np.float64)

    def lens(self) -> tuple[Points, float, Points]:
        """The camera's rotation `(3, 3)` (right, down, forward), its focal length and its middle, in pixels."""
        across, upper = np.linalg.qr(np.linalg.inv(self._projection[:, :3]))
        focal, turned = np.linalg.inv(upper), across.T
        signs = np.diag(np.sign(np.diag(focal)))
        focal, turned = focal @ signs, signs @ turned
        focal = focal / focal[2, 2]
        return turned * np.sign(np.linalg.det(turned)), float(focal[0, 0]), focal[:2, 2]

    def plane(self, z: float) -> Points:
        """The homography from squares at height `z` to pixels."""
        columns = self._projection
        return np.column_stack([columns[:, 0], columns[:, 1], columns[:, 2] * z + columns[:, 3]])

    def far_to_near(self, lying: Sequence[Lying]) -> list[Lying]:
        """Painter's order."""
        return sorted(lying, key=lambda one: -float(np.hypot(one.x - self.position[0], one.y - self.position[1])))


def outline(pieces: SetLook, piece: Placed, grow: float = 0.0) -> Points:
    """The corner points of a piece's face, counter-clockwise, `(n, 2)` in squares."""
    half = pieces.half + grow
    local = _disc(half) if pieces.round else rounded(half, half, pieces.corner)
    return local @ turn(piece.turn).T + (piece.x, piece.y)


def thing_outline(thing: Thing) -> Points:
    """The same of the upper side of a thing that is no piece."""
    local = _disc(thing.half) if thing.round else rounded(thing.half, thing.half, 0.0)
    return local @ turn(thing.turn).T + (thing.x, thing.y)


def _disc(half: float) -> Points:
    angle = np.linspace(0, 2 * np.pi, 28, endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle)]) * half


def rounded(half_x: float, half_y: float, corner: float) -> Points:
    """A rectangle with rounded corners around the origin, counter-clockwise."""
    corner = min(corner, half_x * 0.9, half_y * 0.9)
    points = []
    for i, (sx, sy) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        for step in (0.0, 0.5, 1.0):
            angle = (i + step) * np.pi / 2
            points.append(
                (sx * (half_x - corner) + corner * np.cos(angle), sy * (half_y - corner) + corner * np.sin(angle))
            )
    return np.array(points)


def square_outline(half: float, square: int) -> Points:
    """A square of half-width `half` in the middle of a square of the board."""
    row, column = divmod(square, SIDE)
    return np.asarray(np.add(rounded(half, half, 0.0), (column + 0.5, row + 0.5)), np.float64)


def turn(angle: float) -> Points:
    """The rotation matrix of `angle` radians."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def hull(points: Points) -> Points:
    """The convex hull of `points`, `(m, 2)`."""
    return np.asarray(cv2.convexHull(points.astype(np.float32)).reshape(-1, 2), np.float64)
