"""What cards of the Green Box show, in the ways people may draw it; and what other cards show.

A symbol is a mask `(MASK, MASK)` float32 from 0 to 1, 1 where the ink is. The four symbols are an arrow, hammers, three
circles and bricks; the plain marks of the notation stand for the same kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.training.artwork import draw_marks
from calibration.training.marks import MASK
from companion.rules import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    Mask = NDArray[np.float32]
    Bytes = NDArray[np.uint8]
    Points = Sequence[tuple[float, float]] | NDArray[np.float64]

_FINE = 2
_HALF = MASK * _FINE / 2
_MARKS = 0.2
"""How often a card shows the notation's mark instead of its picture."""


def draw_symbol(rng: Generator, kind: Kind) -> Mask:
    """The symbol of a kind, by some hand, upright."""
    sheet = np.zeros((MASK * _FINE, MASK * _FINE), np.uint8)
    drawing = _MARK_DRAWERS[kind] if rng.random() < _MARKS else _DRAWERS[kind]
    drawing(rng, sheet)
    return _finished(rng, sheet)


def draw_other(rng: Generator) -> Mask:
    """What is on cards of other games, and nearly what is on these; or nothing."""
    drawers: tuple[Callable[[Generator, Bytes], None], ...] = (_few_circles, _letters, _grid, _stick, _words)
    choice = int(rng.integers(len(drawers) + 6))
    if choice >= len(drawers) + 1:
        marks = draw_marks(rng)
        return marks[list(Kind)[int(rng.integers(4))]]
    sheet = np.zeros((MASK * _FINE, MASK * _FINE), np.uint8)
    if choice < len(drawers):
        drawers[choice](rng, sheet)
    return _finished(rng, sheet)


def _finished(rng: Generator, sheet: Bytes) -> Mask:
    """Drawn a little unevenly, as by hand, and made as fine as masks are."""
    if rng.random() < 0.4:
        y, x = np.mgrid[0 : sheet.shape[0], 0 : sheet.shape[1]].astype(np.float32)
        reach = float(rng.uniform(1, 5)) * _FINE
        bend = [cv2.resize(rng.normal(0, reach, (6, 6)).astype(np.float32), sheet.shape[::-1]) for _ in range(2)]
        sheet = np.asarray(cv2.remap(sheet, x + bend[0], y + bend[1], cv2.INTER_LINEAR), np.uint8)
    small = cv2.resize(sheet, (MASK, MASK), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.float32) / np.float32(255)


def _pixels(points: Points) -> NDArray[np.int32]:
    """Points from -1 to 1, y upwards, as pixels."""
    return np.round((np.asarray(points) * (1, -1) * 0.98 + 1) * _HALF).astype(np.int32)


def _turned(points: Points, angle: float) -> NDArray[np.float64]:
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.asarray(points) @ np.array([[cosine, sine], [-sine, cosine]])


def _polygon(sheet: Bytes, points: Points, line: float = 0.0, value: int = 255) -> None:
    """Filled, or as an outline of this width."""
    if line:
        cv2.polylines(sheet, [_pixels(points)], True, value, max(1, round(line * _HALF)), cv2.LINE_AA)
    else:
        cv2.fillPoly(sheet, [_pixels(points)], value, cv2.LINE_AA)


def _line(sheet: Bytes, ends: Points, width: float) -> None:
    first, last = _pixels(ends).tolist()
    cv2.line(sheet, first, last, 255, max(1, round(width * _HALF)), cv2.LINE_AA)


def _circle(sheet: Bytes, middle: Sequence[float], radius: float, line: float) -> None:
    centre = _pixels([(middle[0], middle[1])])[0].tolist()
    width = -1 if line <= 0 else max(1, round(line * _HALF))
    cv2.circle(sheet, centre, round(radius * _HALF * 0.98), 255, width, cv2.LINE_AA)


def _outline(rng: Generator, often: float = 0.3) -> float:
    return float(rng.uniform(0.03, 0.09)) if rng.random() < often else 0.0


# --- the four pictures


def _arrow(rng: Generator, sheet: Bytes) -> None:
    """One arrow; now and then with a head at both ends, or only strokes."""
    turn = float(rng.integers(4)) * np.pi / 2 + (float(rng.integers(2)) * np.pi / 4 if rng.random() < 0.1 else 0)
    if rng.random() < 0.3:
        _stroked_arrow(rng, sheet, turn)
        return
    shaft, head = float(rng.uniform(0.07, 0.3)), float(rng.uniform(0.32, 0.75))
    neck, notch = float(rng.uniform(-0.25, 0.5)), float(rng.choice((0.0, rng.uniform(-0.15, 0.25))))
    right = [(shaft, neck + notch * 0.5), (head, neck - notch * 0.3), (0.0, 1.0)]
    if rng.random() < 0.15:
        right = [(0.0, -1.0), (head, -max(neck, 0.15)), (shaft, -max(neck, 0.15)), (shaft, max(neck, 0.15))]
        right += [(head, max(neck, 0.15)), (0.0, 1.0)]
    else:
        right = [(shaft, -1.0), *right]
    left = [(-x, y) for x, y in reversed(right)]
    _polygon(sheet, _turned([*right, *left], turn), _outline(rng))


def _stroked_arrow(rng: Generator, sheet: Bytes, turn: float) -> None:
    width, head, back = float(rng.uniform(0.06, 0.2)), float(rng.uniform(0.3, 0.7)), float(rng.uniform(0.25, 0.7))
    tip = 0.95 - width / 2
    for start, end in (((0, -0.95), (0, tip)), ((-head, tip - back), (0, tip)), ((head, tip - back), (0, tip))):
        _line(sheet, _turned([start, end], turn), width)


def _hammers(rng: Generator, sheet: Bytes) -> None:
    """Two hammers across each other."""
    apart = float(rng.uniform(np.radians(40), np.radians(130)))
    lean, line = float(rng.normal(0, 0.15)), _outline(rng, 0.2)
    if rng.random() < 0.15:
        lean += float(rng.uniform(-0.6, 0.6))
    if rng.random() < 0.25:
        lean += np.pi
    look = _hammer_look(rng)
    aside = float(rng.uniform(0, 0.25))
    for side in (-1, 1):
        _hammer(sheet, lean + side * apart / 2, (side * aside, 0.0), look, line)


def _hammer_look(rng: Generator) -> dict[str, float]:
    return {
        "long": float(rng.uniform(0.75, 1.0)),
        "handle": float(rng.uniform(0.03, 0.1)),
        "wide": float(rng.uniform(0.2, 0.42)),
        "high": float(rng.uniform(0.1, 0.22)),
        "claw": float(rng.choice((0.0, rng.uniform(0.05, 0.3)))),
        "cap": float(rng.choice((0.0, rng.uniform(0.02, 0.08)))),
    }


def _hammer(sheet: Bytes, turn: float, middle: tuple[float, float], look: dict[str, float], line: float) -> None:
    """One hammer that points away from `middle` at this angle."""
    top, wide, high, handle = look["long"] * 0.75, look["wide"], look["high"], look["handle"]
    handle_outline = [(-handle, -look["long"]), (handle, -look["long"]), (handle, top), (-handle, top)]
    head = [(-wide, top - high), (wide, top - high), (wide, top + high), (-wide + look["claw"] * 0.3, top + high)]
    if look["claw"]:
        head[-1:] = [(-wide * 0.3, top + high), (-wide - look["claw"], top - high * 0.3)]
    for part in (handle_outline, head):
        placed = _turned(part, -turn) * 0.86 + middle
        if line:
            _polygon(sheet, placed, value=0)
        _polygon(sheet, placed, line)
    if look["cap"]:
        cap = [(wide, top - high - 0.05), (wide + look["cap"], top - high - 0.05)]
        cap += [(wide + look["cap"], top + high + 0.05), (wide, top + high + 0.05)]
        _polygon(sheet, _turned(cap, -turn) * 0.86 + middle)


def _three_circles(rng: Generator, sheet: Bytes) -> None:
    """Rings or discs, in a triangle, or a row."""
    radius = float(rng.uniform(0.2, 0.45))
    line = 0.0 if rng.random() < 0.3 else float(rng.uniform(0.05, min(0.2, radius * 0.7)))
    if rng.random() < 0.75:
        far, turn = (
            float(rng.uniform(max(radius * 0.95, 0.35), 0.98 - radius + 0.08)),
            float(rng.integers(4)) * np.pi / 2,
        )
        angles = np.arange(3) * 2 * np.pi / 3 + np.pi / 2 + turn
        middles = np.column_stack([np.cos(angles), np.sin(angles)]) * far
    else:
        radius = min(radius, 0.32)
        step = float(rng.uniform(max(1.6 * radius, 0.35), 1.0 - radius))
        row = np.array([[-step, 0], [0, 0], [step, 0]])
        middles = _turned(row, float(rng.integers(4)) * np.pi / 4)
    inner = float(rng.uniform(0.2, 0.5)) if line and rng.random() < 0.15 else 0.0
    for middle in (np.clip(middles, -1 + radius, 1 - radius)).tolist():
        _circle(sheet, middle, radius - line / 2, line)
        if inner:
            _circle(sheet, middle, radius * inner, 0.0)


def _bricks(rng: Generator, sheet: Bytes) -> None:
    """A wall: courses of bricks, each shifted by half a brick."""
    courses, across = int(rng.integers(3, 7)), float(rng.choice((1.5, 2.0, 2.5, 3.0)))
    width, height = float(rng.uniform(0.7, 0.98)), float(rng.uniform(0.45, 0.98))
    high, wide = 2 * height / courses, 2 * width / across
    gap = float(rng.uniform(0.1, 0.28)) * min(high, 0.3)
    line = float(rng.uniform(0.03, 0.07)) if rng.random() < 0.5 else 0.0
    ragged = rng.random() < 0.3
    for course in range(courses):
        y = -height + course * high
        for i in range(-1, int(across) + 2):
            x = -width + (i + 0.5 * (course % 2)) * wide
            left, right = (x, x + wide) if ragged else (max(x, -width), min(x + wide, width))
            if right - left < 0.2 * wide or left < -0.999 or right > 0.999:
                continue
            near, far = y + gap / 2, y + high - gap / 2
            _polygon(sheet, [(left, near), (right - gap, near), (right - gap, far), (left, far)], line)


# --- the notation's marks


def _plus(rng: Generator, sheet: Bytes, turn: float = 0.0) -> None:
    width, arm = float(rng.uniform(0.06, 0.4)), float(rng.uniform(0.75, 0.98))
    for direction in ((1, 0), (0, 1)):
        ends = _turned([direction, (-direction[0], -direction[1])], turn) * (arm - width / 2)
        _line(sheet, ends, width)


def _cross(rng: Generator, sheet: Bytes) -> None:
    _plus(rng, sheet, np.pi / 4)


def _brackets(rng: Generator, sheet: Bytes, *, outward: bool) -> None:
    """``<>`` or ``><``."""
    width, deep, high = float(rng.uniform(0.05, 0.16)), float(rng.uniform(0.25, 0.5)), float(rng.uniform(0.3, 0.75))
    apart = float(rng.uniform(0.06, 0.25))
    for side in (-1, 1):
        tip, ends = (apart + deep, apart) if outward else (apart, apart + deep)
        for up in (-1, 1):
            _line(sheet, [(side * ends, up * high), (side * tip, 0.0)], width)


# --- other cards


def _few_circles(rng: Generator, sheet: Bytes) -> None:
    count = int(rng.choice((1, 1, 2, 4, 5, 6, 7)))
    radius, line = float(rng.uniform(0.12, 0.3)), float(rng.choice((0.0, 0.06, 0.1)))
    angles = np.arange(count) * 2 * np.pi / count + float(rng.integers(4)) * np.pi / 4
    for angle in angles.tolist():
        far = 0.0 if count == 1 else float(0.95 - radius)
        _circle(sheet, (np.cos(angle) * far, np.sin(angle) * far), radius, line)


def _letters(rng: Generator, sheet: Bytes) -> None:
    text = "".join(rng.choice(list("ABCDEGHJKLMNPQRSTUVWZ0123456789?!&"), int(rng.integers(1, 4))))
    scale = 12.0 / len(text)
    cv2.putText(sheet, text, (int(0.15 * _HALF), int(1.5 * _HALF)), 0, scale, 255, int(rng.integers(8, 40)), 16)


def _grid(rng: Generator, sheet: Bytes) -> None:
    """Stripes, checks, squares in rows: the backs of cards."""
    step, width = float(rng.uniform(0.12, 0.6)), float(rng.uniform(0.02, 0.08))
    turn = float(rng.choice((0.0, np.pi / 4, rng.uniform(0, np.pi))))
    for direction in (0.0, np.pi / 2) if rng.random() < 0.6 else (0.0,):
        for at in np.arange(-1.5, 1.5, step).tolist():
            _line(sheet, _turned([(at, -2), (at, 2)], turn + direction), width)


def _stick(rng: Generator, sheet: Bytes) -> None:
    """A bar, a T, an L, a triangle."""
    points = rng.uniform(-0.9, 0.9, (int(rng.integers(2, 4)), 2))
    if rng.random() < 0.5 and len(points) > 2:
        _polygon(sheet, points, _outline(rng, 0.5))
    else:
        for start, end in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
            _line(sheet, [start, end], float(rng.uniform(0.06, 0.25)))


def _words(rng: Generator, sheet: Bytes) -> None:
    """Lines of text."""
    step = float(rng.uniform(0.15, 0.3))
    for y in np.arange(-0.9, 0.9, step).tolist():
        x = -0.9
        while x < 0.8:
            word = float(rng.uniform(0.08, 0.4))
            _line(sheet, [(x, y), (min(x + word, 0.9), y)], step * 0.35)
            x += word + 0.12


_DRAWERS: dict[Kind, Callable[[Generator, Bytes], None]] = {
    Kind.STRAIGHT: _arrow,
    Kind.DIAGONAL: _hammers,
    Kind.PUSHER: _three_circles,
    Kind.PULLER: _bricks,
}
_MARK_DRAWERS: dict[Kind, Callable[[Generator, Bytes], None]] = {
    Kind.STRAIGHT: _plus,
    Kind.DIAGONAL: _cross,
    Kind.PUSHER: lambda rng, sheet: _brackets(rng, sheet, outward=True),
    Kind.PULLER: lambda rng, sheet: _brackets(rng, sheet, outward=False),
}
