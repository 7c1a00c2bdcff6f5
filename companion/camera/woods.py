"""Wood, ink and cloth for drawn tables: textures and marks, made from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.rules import Colour, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Tint = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Wood:
    """A kind of wood; colours are BGR, 0 to 255, as a camera would code them."""

    colour: Tint
    edge: Tint
    """Of its sides, as the saw or the laser left them."""
    ink: Tint
    """Of a mark on it."""
    rings: float
    """How strong the year rings show, as a share of the colour."""
    fibre: float
    """The same for its fibres."""


BIRCH_BOARD = Wood((148, 190, 218), (78, 112, 146), (62, 92, 122), 0.045, 0.03)
PIECES = {
    Colour.LIGHT: Wood((176, 212, 234), (96, 138, 172), (40, 52, 68), 0.04, 0.025),
    Colour.DARK: Wood((46, 62, 88), (28, 38, 56), (176, 212, 232), 0.10, 0.07),
}
OAK_TABLE = Wood((50, 72, 100), (40, 56, 78), (0, 0, 0), 0.085, 0.07)


def grown(wood: Wood, width: int, height: int, ring: float, rng: np.random.Generator) -> Floats:
    """A sawn face of `wood`, `(height, width, 3)`, its grain from left to right; `ring` is how wide its rings are."""
    across = np.linspace(0, height / ring, height, dtype=np.float32)[:, None] + rng.uniform(0, 10)
    bend = _cloud(rng, width, height, (max(2, width // 160), max(2, height // 70))) * 2.2
    phase = across + bend
    rings = 0.6 * np.sin(2 * np.pi * phase) + 0.4 * np.sin(4.7 * np.pi * phase + 1)
    late = np.clip(rings, -0.3, 1)  # late wood is a narrow dark line, early wood broad and pale
    fibre = _cloud(rng, width, height, (max(2, width // 40), max(2, height // 2)))
    fleck = _cloud(rng, width, height, (max(2, width // 12), max(2, height)))
    shade = 1 - wood.rings * late + wood.fibre * (0.7 * fibre + 0.5 * fleck)
    broad = _cloud(rng, width, height, (2, 3)) * 0.035
    tone = shade + broad
    warm = np.stack([tone**1.25, tone, tone**0.85], axis=2)
    return np.asarray(np.clip(warm * np.array(wood.colour, np.float32), 0, 255), np.float32)


def _cloud(rng: np.random.Generator, width: int, height: int, cells: tuple[int, int]) -> Floats:
    """Smooth noise of about unit spread, with so many cells across and down."""
    coarse = rng.normal(0, 1, (cells[1] + 1, cells[0] + 1)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def mark(kind: Kind, size: int) -> Floats:
    """The diagram's mark, 1 where the ink is, `(size, size)`: a plus, an X, a large circle, a small circle."""
    fine = 4 * size
    mask = np.zeros((fine, fine), np.uint8)
    middle, stroke = fine // 2, round(0.085 * fine)
    if kind in (Kind.STRAIGHT, Kind.DIAGONAL):
        reach = 0.31 * fine if kind is Kind.STRAIGHT else 0.25 * fine
        for dx, dy in ((1, 0), (0, 1)) if kind is Kind.STRAIGHT else ((1, 1), (1, -1)):
            start = (round(middle - reach * dx), round(middle - reach * dy))
            end = (round(middle + reach * dx), round(middle + reach * dy))
            cv2.line(mask, start, end, 255, stroke)
    else:
        cv2.circle(mask, (middle, middle), round((0.31 if kind is Kind.PUSHER else 0.13) * fine), 255, stroke)
    return np.asarray(cv2.resize(mask, (size, size), interpolation=cv2.INTER_AREA), np.float32) / 255
