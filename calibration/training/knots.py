"""Knots in the wood of a board: dark eyes, some of them where a mark would be, which are no pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.training.canvas import SHIFT
from calibration.training.scene import SIDE, Knot
from calibration.training.view import turn

if TYPE_CHECKING:
    from numpy.random import Generator

    from calibration.training.canvas import Bytes, Canvas

_MOST = 6
_AT_THE_MIDDLE = 0.5
"""How often a knot lies where a piece's mark would."""
_REACH = 4.0
"""How far its rings are seen, as a multiple of its radius."""
_SOFT = 0.08
"""How wide its edge is, as a share of its radius."""


def draw_knots(rng: Generator) -> tuple[Knot, ...]:
    """Some knots of one board, their wood's grain along its rows or its columns."""
    along = float(rng.integers(2)) * np.pi / 2
    return tuple(_draw_knot(rng, along) for _ in range(rng.integers(1, _MOST + 1)))


def _draw_knot(rng: Generator, along: float) -> Knot:
    within = rng.normal(0.5, 0.12, 2) if rng.random() < _AT_THE_MIDDLE else rng.uniform(0, 1, 2)
    x, y = (rng.integers(0, SIDE, 2) + within).tolist()
    return Knot(
        x,
        y,
        radius=float(np.exp(rng.uniform(np.log(0.04), np.log(0.3)))),
        squash=float(rng.uniform(0.45, 1.0)),
        turn=along + float(rng.normal(0, 0.15)),
        dark=float(rng.uniform(0.25, 0.8)),
        rings=float(rng.uniform(0, 0.4)),
        seed=int(rng.integers(1 << 31)),
    )


def paint_knot(canvas: Canvas, face: Bytes, knot: Knot) -> None:
    """A knot on a board's face, in place."""
    rng, radius = np.random.default_rng(knot.seed), knot.radius * canvas.fine
    middle = canvas.flat(np.array([[knot.x, knot.y]]))[0] / (1 << SHIFT)
    low = np.maximum((middle - _REACH * radius).astype(int), 0)
    high = np.maximum((middle + _REACH * radius).astype(int) + 1, 0)
    part = face[low[1] : high[1], low[0] : high[0]]
    if not part.size:
        return
    rows, columns = part.shape[:2]
    away = (np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1) + low - middle) @ turn(knot.turn)
    uneven = cv2.resize(rng.standard_normal((9, 9)), (columns, rows), interpolation=cv2.INTER_CUBIC)
    distance = np.hypot(away[..., 0], away[..., 1] / knot.squash) / radius + 0.12 * uneven
    eye = np.clip((1 - distance) / max(_SOFT, 1 / radius) + 0.5, 0, 1)
    heart = 1 + 0.35 * rng.uniform(-0.5, 1.0) * (1 - np.clip(distance, 0, 1))
    inside = knot.dark * heart * (1 + 0.1 * np.cos(20 * distance))
    around = 1 - knot.rings * np.exp(-np.maximum(distance - 1, 0) / 0.6) * (0.5 + 0.5 * np.cos(8 * distance))
    part[:] = np.clip(part * (eye * inside + (1 - eye) * around)[..., None], 2, 250).astype(np.uint8)
