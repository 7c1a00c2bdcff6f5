"""The lens target held before a drawn camera."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from calibration.lens import target, target_picture
from companion import mat
from companion.profile import LensModel
from tests.vision.drawn_lens import photograph, thrown

PER_MM = 8 / 1.5
MIDDLE = np.array([n * mat.LENS_SQUARE_MM / 2 for n in mat.LENS_SQUARES])
VIEWS = (
    # tilt about the picture's x and y axes and turn, in degrees; place of the target's middle and distance, in mm
    (25, 5, 0, -60, 0, 330),
    (-25, 10, 90, 60, 10, 320),
    (5, 30, 90, 0, -10, 300),
    (10, -32, 90, -20, 10, 310),
    (-28, -20, 45, 140, 50, 380),
    (20, 24, 30, -150, -40, 380),
    (0, 3, 90, 10, 0, 255),
    (30, -15, 80, 160, -70, 400),
    (-20, 25, 100, -160, 70, 390),
    (-35, 0, 0, 0, 0, 340),
)


def held(view: tuple[float, ...], model: LensModel, *, noise: float = 2.0) -> np.ndarray:
    """A picture of the target, held like this."""
    to_pixels = np.array([[PER_MM, 0, -0.5], [0, PER_MM, -0.5], [0, 0, 1]])
    grey = photograph(_paper(), to_pixels @ np.linalg.inv(_to_rays(view)), model, paper=110)
    grey = cv2.GaussianBlur(grey, (0, 0), 0.6).astype(float)
    static = np.random.default_rng(int(view[5] + 7 * abs(view[0]))).normal(0, noise, grey.shape)
    return cv2.cvtColor((40 + 0.7 * grey + static).clip(0, 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)


def seen(view: tuple[float, ...], model: LensModel) -> np.ndarray:
    """Where all corners of the target are in that picture, in or out of it, by number."""
    return thrown(rays_to_corners(view), model)


def rays_to_corners(view: tuple[float, ...]) -> np.ndarray:
    """The rays, as tangents, on which all corners of the target lie that is held like this."""
    corners = np.asarray(target().getChessboardCorners(), float)[:, :2]
    return cv2.perspectiveTransform(corners[:, None], _to_rays(view)).reshape(-1, 2)


def _to_rays(view: tuple[float, ...]) -> np.ndarray:
    """The homography from the target, in mm, to rays."""
    about_x, about_y, turn = np.radians(view[:3])
    rotation = np.eye(3)
    for axis, angle in (((0, 0, 1), turn), ((0, 1, 0), about_y), ((1, 0, 0), about_x)):
        rotation = cv2.Rodrigues(np.array(axis, float) * float(angle))[0] @ rotation
    place = np.array(view[3:], float) - rotation[:, :2] @ MIDDLE
    return np.column_stack([rotation[:, 0], rotation[:, 1], place])


@cache
def _paper() -> np.ndarray:
    return cv2.GaussianBlur(target_picture(PER_MM), (0, 0), 1.5)
