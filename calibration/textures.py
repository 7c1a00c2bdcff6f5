"""Surfaces drawn from noise: woods, cloths, stone, felt; what boards, pieces and tables are made of.

Every texture is an albedo, `(side, side, 3)` uint8 BGR. Albedos are coded as square roots (``linear = (v / 255) **
2``), so that light can be multiplied on after one squaring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Grain = NDArray[np.float32]
    Texture = NDArray[np.uint8]

SIDE = 512
Number = TypeVar("Number", np.uint8, np.float32)

LIGHT_WOODS = ((150, 195, 222), (120, 170, 205), (105, 160, 200), (165, 205, 225), (95, 150, 190), (130, 190, 225))
"""Birch, maple, pine, ash, oak, lemon wood; BGR."""
MIDDLE_WOODS = ((70, 115, 165), (60, 100, 150), (80, 130, 175), (55, 80, 140), (60, 85, 165), (75, 105, 135))
"""Oak, cherry, teak, mahogany, padauk, old pine."""
DARK_WOODS = ((40, 60, 90), (35, 45, 65), (30, 35, 75), (45, 55, 75), (30, 32, 38), (50, 70, 105))
"""Walnut, wenge, rosewood, smoked oak, ebony, light walnut."""


def noise(rng: Generator, rows: float, columns: float, side: int = SIDE) -> Grain:
    """Smooth noise of unit variance with about `rows` by `columns` blobs, `(side, side)`."""
    coarse = rng.standard_normal((max(2, int(rows)), max(2, int(columns)))).astype(np.float32)
    smooth = cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC)
    return np.asarray(smooth / (smooth.std() + 1e-6), np.float32)


def wood_grain(rng: Generator) -> Grain:
    """The figure of one plank, around 0: fibres, growth rings and now and then a knot.

    Sawn along the trunk, rings are nearly straight lines; peeled off it, as for plywood, they wander in closed curves.
    """
    fibre = noise(rng, rng.uniform(80, 220), rng.uniform(3, 14)) * 0.5 + noise(rng, 512, rng.uniform(20, 60)) * 0.3
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32) / SIDE
    bend = noise(rng, rng.uniform(2, 6), rng.uniform(2, 4)) * rng.uniform(0.02, 0.12)
    rings = np.sin((y + bend + 0.1 * x) * rng.uniform(20, 110)).astype(np.float32)
    if rng.random() < 0.45:
        hills = noise(rng, rng.uniform(3, 9), rng.uniform(2, 6)) + noise(rng, 24, 16) * rng.uniform(0, 0.08)
        rings = np.sin(hills * rng.uniform(6, 26)).astype(np.float32)
    figure = fibre * rng.uniform(0.3, 1.0) + rings * rng.uniform(0.0, 0.9) + noise(rng, 4, 3) * 0.5
    for _ in range(rng.integers(0, 3)):
        cx, cy, width = rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.01, 0.04)
        distance = np.sqrt((x - cx) ** 2 + (2 * (y - cy)) ** 2)
        figure -= np.exp(-((distance / width) ** 2)) * rng.uniform(0.5, 3.0)
    return np.asarray(figure, np.float32)


def coloured(rng: Generator, grain: Grain, colour: tuple[float, float, float], strength: float) -> Texture:
    """A surface of `colour` whose brightness follows `grain`; `strength` in fractions of the colour."""
    base = np.array(colour, np.float32)
    hue = rng.uniform(-0.05, 0.05, 3).astype(np.float32)
    surface = base * (1 + grain[..., None] * strength * (1 + hue * 4))
    return np.clip(surface, 2, 250).astype(np.uint8)


def wood(rng: Generator, colours: tuple[tuple[int, int, int], ...] | None = None) -> Texture:
    """A plank of one of `colours`, or of any wood."""
    colours = colours or (LIGHT_WOODS, MIDDLE_WOODS, DARK_WOODS)[rng.integers(3)]
    return coloured(rng, wood_grain(rng), vary(rng, colours[rng.integers(len(colours))], 12), rng.uniform(0.02, 0.16))


def vary(rng: Generator, colour: tuple[float, ...], spread: float) -> tuple[float, float, float]:
    """A colour near `colour`: brightness and hue moved by about `spread` levels."""
    moved = np.clip(np.array(colour) + rng.normal(0, spread) + rng.normal(0, spread / 3, 3), 6, 248)
    return float(moved[0]), float(moved[1]), float(moved[2])


def any_colour(rng: Generator) -> tuple[float, float, float]:
    """Any paint or dye."""
    hsv = np.array([[[rng.uniform(0, 180), rng.uniform(10, 240), rng.uniform(20, 240)]]], np.uint8)
    blue, green, red = cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0].tolist()
    return float(blue), float(green), float(red)


def felt(rng: Generator) -> Texture:
    """Felt, leather, paper, stone, a painted table: one colour, little or much mottling."""
    grain = noise(rng, *rng.uniform(100, 512, 2)) * 0.6 + noise(rng, *rng.uniform(3, 60, 2)) * rng.uniform(0, 1)
    return coloured(rng, grain, any_colour(rng), rng.uniform(0.0, 0.15))


def striped(rng: Generator) -> Texture:
    """A striped or checked cloth, or gingham."""
    weights = _stripes(rng, rng.uniform(4, 24))
    pattern: NDArray[np.floating] = np.broadcast_to(weights[:, None], (SIDE, SIDE))
    if rng.random() < 0.5:
        pattern = (pattern + weights[None, :]) / 2
    first, second = np.array(any_colour(rng)), np.array(any_colour(rng))
    cloth = first + (second - first) * pattern[..., None]
    cloth = cloth * (1 + noise(rng, 512, 512)[..., None] * rng.uniform(0, 0.05))
    return np.asarray(np.clip(cloth, 2, 250), np.uint8)


def _stripes(rng: Generator, count: float) -> Grain:
    phase = np.arange(SIDE) / SIDE * count + rng.random()
    weights = (phase % 1 < rng.uniform(0.2, 0.8)).astype(np.float32)
    if rng.random() < 0.5:
        weights = np.maximum(weights, (phase % 1 > rng.uniform(0.85, 0.95)).astype(np.float32))
    return np.asarray(weights, np.float32)


def printed(rng: Generator) -> Texture:
    """A cloth printed with flowers, rings, crosses, dots: the very marks that must not be taken for pieces."""
    cloth = felt(rng)
    for _ in range(rng.integers(20, 90)):
        x, y = rng.integers(0, SIDE, 2).tolist()
        radius, colour, thick = int(rng.integers(3, 26)), any_colour(rng), int(rng.integers(1, 5))
        if rng.random() < 0.5:
            cv2.circle(cloth, (x, y), radius, colour, thick if rng.random() < 0.7 else -1, cv2.LINE_AA)
        else:
            dx, dy = int(radius * np.cos(a := rng.uniform(0, 7))), int(radius * np.sin(a))
            cv2.line(cloth, (x - dx, y - dy), (x + dx, y + dy), colour, thick, cv2.LINE_AA)
            cv2.line(cloth, (x - dy, y + dx), (x + dy, y - dx), colour, thick, cv2.LINE_AA)
    return cloth


def planks(rng: Generator) -> Texture:
    """A table of planks with dark joints."""
    table, count = wood(rng), int(rng.integers(2, 7))
    for i in range(count):
        y = int((i + rng.uniform(-0.1, 0.1)) * SIDE / count)
        cv2.line(table, (0, y), (SIDE, y), (15, 20, 25), int(rng.integers(1, 4)), cv2.LINE_AA)
    return table


class Fabrics:
    """A stock of textures, drawn once from a seed and cut from again and again."""

    def __init__(self, rng: Generator, count: int = 24) -> None:
        self._grains = [wood_grain(rng) for _ in range(count)]
        drawers = (felt, felt, striped, printed, planks, wood)
        self._tables = [drawers[i % len(drawers)](rng) for i in range(2 * count)]
        self._static = _static(rng)

    def table(self, rng: Generator, side: int) -> Texture:
        """A `side` by `side` piece of what the board lies on."""
        return cut(rng, self._tables[rng.integers(len(self._tables))], side)

    def grain(self, rng: Generator, side: int) -> Grain:
        """A `side` by `side` piece of the figure of some plank, around 0, along rows or columns."""
        return cut(rng, self._grains[rng.integers(len(self._grains))], side)

    def static(self, rng: Generator, height: int, width: int) -> Grain:
        """Sensor noise of unit variance, partly coloured and partly blotchy, `(height, width, 3)`."""
        y, x = (int(rng.integers(0, 2 * SIDE - size + 1)) for size in (height, width))
        return self._static[y : y + height, x : x + width][:: rng.choice((-1, 1)), :: rng.choice((-1, 1))]

    def wide_static(self, rng: Generator, height: int, width: int) -> Grain:
        """Sensor noise as `static` gives it, for pictures that are larger than the stock: repeated in the mirror."""
        y, x = rng.integers(0, SIDE, 2).tolist()
        below, beside = max(0, y + height - 2 * SIDE), max(0, x + width - 2 * SIDE)
        piece = self._static[y : y + height, x : x + width]
        return np.asarray(cv2.copyMakeBorder(piece, 0, below, 0, beside, cv2.BORDER_REFLECT), np.float32)


def _static(rng: Generator) -> Grain:
    fine = rng.standard_normal((2 * SIDE, 2 * SIDE, 1), np.float32) * 0.75
    blotches = cv2.resize(rng.standard_normal((SIDE, SIDE, 3), np.float32), (2 * SIDE, 2 * SIDE))
    return np.asarray(fine + blotches * 0.9, np.float32)


def cut(rng: Generator, texture: NDArray[Number], side: int) -> NDArray[Number]:
    """A random `side` by `side` piece of a texture, in any quarter turn and mirrored or not."""
    if side >= SIDE:
        piece = np.asarray(cv2.resize(texture, (side, side)), texture.dtype)
    else:
        x, y = rng.integers(0, SIDE - side + 1, 2).tolist()
        piece = texture[y : y + side, x : x + side]
    return np.ascontiguousarray(np.rot90(piece, int(rng.integers(4)))[:: rng.choice((-1, 1))])
