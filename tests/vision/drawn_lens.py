"""What a lens that bends lines makes of things drawn flat: pictures whose truth is known exactly."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from companion.profile import LensModel

SIZE = (640, 360)
STRONG = LensModel(
    size=SIZE, focal=(450.0, 452.5), centre=(326.0, 174.0), distortion=(-0.3, 0.08, 0.001, -0.0008, 0.0), error=0.0
)
"""A webcam of 71 degrees across that pulls the corners of its picture in by a fifteenth of its width."""
FINER = 2
"""Pictures are drawn so many times as large, and averaged down."""


def camera_matrix(model: LensModel) -> np.ndarray:
    (fx, fy), (cx, cy) = model.focal, model.centre
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])


def photograph(source: np.ndarray, to_source: np.ndarray, model: LensModel, paper: float = 127) -> np.ndarray:
    """`source` as the lens shows it; the homography `to_source` takes rays (tangents, 1) to its pixels."""
    rays = _rays_of_pixels(model)
    at = cv2.perspectiveTransform(rays, to_source).astype(np.float32)
    big = cv2.remap(source, at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=[paper] * 4)
    return cv2.resize(big, model.size, interpolation=cv2.INTER_AREA)


@cache
def _rays_of_pixels(model: LensModel) -> np.ndarray:
    """Exact at every eighth pixel of the large drawing, and all but exact in between."""
    width, height = (side * FINER for side in model.size)
    along, down = (np.arange(-8, side + 16, 8) + 3.5 for side in (width, height))
    points = (np.stack(np.meshgrid(along, down), axis=-1) + 0.5) / FINER - 0.5
    rays = rays_of(points.reshape(-1, 2), model).reshape(points.shape)
    return cv2.resize(rays, (8 * len(along), 8 * len(down)), interpolation=cv2.INTER_LINEAR)[
        8 : 8 + height, 8 : 8 + width
    ]


def rays_of(points: np.ndarray, model: LensModel) -> np.ndarray:
    """The rays that the lens throws on these points, found by going the remaining way again and again."""
    k1, k2, p1, p2, k3 = model.distortion
    thrown = (points - model.centre) / model.focal
    rays = thrown.copy()
    for _ in range(25):
        x, y = rays.T
        r2 = x * x + y * y
        radial = 1 + r2 * (k1 + r2 * (k2 + r2 * k3))
        aside = np.stack([2 * p1 * x * y + p2 * (r2 + 2 * x * x), p1 * (r2 + 2 * y * y) + 2 * p2 * x * y], axis=1)
        rays = rays + (thrown - (rays * radial[:, None] + aside))
    return rays


def thrown(rays: np.ndarray, model: LensModel) -> np.ndarray:
    """Where the lens throws rays (tangents)."""
    there = np.column_stack([rays, np.ones(len(rays))])
    seen, _ = cv2.projectPoints(there, np.zeros(3), np.zeros(3), camera_matrix(model), np.array(model.distortion))
    return seen.reshape(-1, 2)
