"""The four marks as masks, in the styles that sets are made in.

A mask is `(MASK, MASK)` float32 from 0 to 1 over the piece's face, 1 where the mark is. A `MarkStyle` is one maker's
hand: all pieces of a set share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.rules import Kind

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Mask = NDArray[np.float32]

MASK = 192
_CENTRE = (MASK - 1) / 2
_SHIFT = 4


@dataclass(frozen=True, slots=True)
class MarkStyle:
    """How one set draws its marks; lengths are fractions of the width of the piece."""

    outline: bool
    """Thin hollow figures, as the Hopwood set has them; otherwise the strokes of the rule book's diagram."""
    stroke: float
    """Width of a stroke, or of an outline's line."""
    arm: float
    """From the centre to the end of a cross's arm."""
    x_arm: float
    """The same for the diagonal cross, which may reach into the corners."""
    big: float
    """Radius of the pusher's circle."""
    small: float
    """Radius of the puller's circle or dot."""
    small_filled: bool
    big_filled: bool
    core: float
    """Radius of a dot in the middle of circles; 0 for none."""
    ends: int
    """How arms end: 0 blunt, 1 round, 2 with a small bar, 3 with a knob, 4 with an arrow head."""
    slim: float
    """Half the width of a hollow arm, as a share of the arm's length."""
    knob: float
    """Radius of the ring at its end, in half widths of the arm."""
    band: float
    """Inner radius of the pusher's band and of the puller's double ring, as a share of the outer one."""
    gap: float
    """Half the width of a gap in the pusher's band, as a share of its radius."""
    heart: float
    """Half the side of the small square in the middle, as a share of what would just touch the inner ring."""
    heart_turn: float
    """How far that square is turned, in radians."""
    broken: bool
    """The pusher's circle has gaps at its four quarters."""
    frame: float
    """Distance of a border line from the edge; 0 for none."""
    bridges: int = 0
    """Into so many parts circles are cut, as by a stencil; 0 where they are whole."""
    bridge: float = 0.0
    """Half a bridge's width, as a share of the radius."""
    bridge_turn: float = 0.0
    """Where the first bridge is, in radians."""
    filled: bool = False
    """Outlines are filled, as where marks are cut out, inlaid or painted: bands and arms are solid."""

    @classmethod
    def draw(cls, rng: Generator, *, outline: bool) -> MarkStyle:
        """A maker's hand."""
        big = rng.uniform(0.35, 0.43) if outline else rng.uniform(0.26, 0.42)
        stroke = rng.uniform(0.007, 0.02) if outline else rng.uniform(0.035, 0.13) * big / 0.36
        arm = rng.uniform(0.33, 0.42) if outline else rng.uniform(0.22, 0.44)
        return cls(
            outline=outline,
            stroke=stroke,
            arm=arm,
            x_arm=arm * (rng.uniform(1.1, 1.4) if rng.random() < 0.6 else 1.0),
            big=big,
            small=min(rng.uniform(0.21, 0.3), 0.78 * big) if outline else big * rng.uniform(0.22, 0.54),
            small_filled=bool(rng.random() < 0.35),
            big_filled=bool(rng.random() < 0.06),
            core=float(rng.choice((0.0, rng.uniform(0.02, 0.07)), p=(0.65, 0.35))),
            ends=int(rng.choice(5, p=(0.6, 0.25, 0.06, 0.05, 0.04))),
            slim=rng.uniform(0.05, 0.11),
            knob=rng.uniform(1.3, 2.4),
            band=rng.uniform(0.6, 0.8),
            gap=rng.uniform(0.04, 0.12),
            heart=rng.uniform(0.75, 1.05),
            heart_turn=float(rng.choice((0.0, rng.uniform(0, np.pi / 2)), p=(0.5, 0.5))),
            broken=outline or bool(rng.random() < 0.05),
            frame=float(rng.choice((0.0, rng.uniform(0.03, 0.09)), p=(0.8, 0.2))),
        )


def mark(style: MarkStyle, kind: Kind) -> Mask:
    """The mask of `kind`'s mark."""
    mask = np.zeros((MASK, MASK), np.uint8)
    if kind in (Kind.STRAIGHT, Kind.DIAGONAL):
        _cross(mask, style, 0.0 if kind is Kind.STRAIGHT else np.pi / 4)
    else:
        _circle(mask, style, kind)
    if style.frame and not style.outline:
        edge = int(style.frame * MASK)
        cv2.rectangle(mask, (edge, edge), (MASK - edge, MASK - edge), 255, 2, cv2.LINE_AA)
    return np.asarray(mask.astype(np.float32) / 255, np.float32)


def doodle(rng: Generator) -> Mask:
    """The mask of some figure that is the mark of no set that this program knows: strokes, bows and blots."""
    mask = np.zeros((MASK, MASK), np.uint8)
    width = int(rng.integers(3, 18))
    for _ in range(rng.integers(2, 6)):
        points = (_CENTRE + rng.uniform(-0.36, 0.36, (int(rng.integers(2, 5)), 2)) * MASK).astype(np.int32)
        way = rng.random()
        if way < 0.45:
            cv2.polylines(mask, [points], bool(rng.random() < 0.4), 255, width, cv2.LINE_AA)
        elif way < 0.75:
            axes, start = rng.integers(10, 60, 2).tolist(), rng.uniform(0, 360)
            turn, reach = rng.uniform(0, 360), rng.uniform(60, 300)
            cv2.ellipse(mask, points[0].tolist(), axes, turn, start, start + reach, 255, width, cv2.LINE_AA)
        else:
            cv2.fillConvexPoly(mask, np.asarray(cv2.convexHull(points), np.int32), 255, cv2.LINE_AA)
    return np.asarray(mask.astype(np.float32) / 255, np.float32)


def _cross(mask: NDArray[np.uint8], style: MarkStyle, turn: float) -> None:
    arm = style.arm if turn == 0 else style.x_arm
    for quarter in range(4):
        direction = _direction(turn + quarter * np.pi / 2)
        if style.outline:
            _dumbbell(mask, style, direction, arm)
        else:
            _arm(mask, style, direction, arm)


def _arm(mask: NDArray[np.uint8], style: MarkStyle, direction: NDArray[np.float64], arm: float) -> None:
    half = style.stroke / 2
    side = _across(direction)
    tip = direction * arm
    _polygon(mask, [side * half, tip + side * half, tip - side * half, -side * half, -direction * half])
    if style.ends == 1:
        _disc(mask, tip, half)
    elif style.ends == 2:
        across = side * 2.4 * half
        _polygon(mask, [tip + across, tip + across - direction * half, tip - across - direction * half, tip - across])
    elif style.ends == 3:
        _disc(mask, tip, 1.5 * half)
    elif style.ends == 4:
        _polygon(mask, [tip + direction * 1.5 * half, tip + side * 2.4 * half - direction * half,
                        tip - side * 2.4 * half - direction * half])  # fmt: skip


def _dumbbell(mask: NDArray[np.uint8], style: MarkStyle, direction: NDArray[np.float64], arm: float) -> None:
    """One of the Hopwood cross's arms: two parallel lines to a small ring."""
    side = _across(direction)
    width = arm * style.slim
    knob = width * style.knob
    if style.filled:
        end = direction * (arm - knob)
        _polygon(mask, [side * width, end + side * width, end - side * width, -side * width, -direction * width])
        _disc(mask, end, knob)
        return
    for sign in (-1, 1):
        _line(mask, side * width * sign + direction * width, direction * (arm - 2 * knob) + side * width * sign, style)
    _ring(mask, direction * (arm - knob), knob, style.stroke)


def _circle(mask: NDArray[np.uint8], style: MarkStyle, kind: Kind) -> None:
    if style.outline:
        _hollow(mask, style, kind)
        return
    radius = style.big if kind is Kind.PUSHER else style.small
    filled = style.big_filled if kind is Kind.PUSHER else style.small_filled
    if filled:
        _disc(mask, np.zeros(2), radius)
        return
    stroke = min(style.stroke, radius * 0.6)
    _ring(mask, np.zeros(2), radius - stroke / 2, stroke)
    if style.broken and kind is Kind.PUSHER:
        _gaps(mask, radius, radius * 0.12)
    for i in range(style.bridges):
        angle = style.bridge_turn + i * 2 * np.pi / style.bridges
        _gap(mask, angle, radius * style.bridge, radius - 1.3 * stroke, radius * 1.1)
    if style.core and style.core < radius - 1.6 * stroke:
        _disc(mask, np.zeros(2), style.core)


def _hollow(mask: NDArray[np.uint8], style: MarkStyle, kind: Kind) -> None:
    """The Hopwood circles: a ring band in four arcs, or two rings; a small square in the middle of each."""
    radius = style.big if kind is Kind.PUSHER else style.small
    inner = radius * style.band
    line = 0.0 if style.filled else style.stroke
    if style.filled:
        _ring(mask, np.zeros(2), (radius + inner) / 2, radius - inner)
    else:
        _ring(mask, np.zeros(2), radius, line)
        _ring(mask, np.zeros(2), inner, line)
    if kind is Kind.PUSHER:
        _gaps(mask, radius, radius * style.gap, line, inner)
    half = inner * style.heart * (0.42 if kind is Kind.PUSHER else np.sqrt(0.5))
    spin = np.array([[np.cos(style.heart_turn), -np.sin(style.heart_turn)],
                     [np.sin(style.heart_turn), np.cos(style.heart_turn)]])  # fmt: skip
    square = [spin @ (x, y) * half for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    if style.filled:
        _polygon(mask, square)
        return
    for i in range(4):
        _line(mask, square[i], square[(i + 1) % 4], style)


def _gaps(mask: NDArray[np.uint8], radius: float, half: float, line: float = 0.0, inner: float = 0.0) -> None:
    for quarter in range(4):
        direction, side = _gap(mask, quarter * np.pi / 2, half, (inner or radius * 0.5) * 0.9, radius * 1.1)
        for sign in (-1, 1) if line else ():
            near, far = direction * inner + side * half * sign, direction * radius + side * half * sign
            cv2.line(mask, _pixel(near), _pixel(far), 255, _width(line), cv2.LINE_AA, _SHIFT)


def _gap(
    mask: NDArray[np.uint8], angle: float, half: float, near: float, far: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Clear a bar from so near the centre to so far from it; returns its direction and what is across it."""
    direction = _direction(angle)
    side = _across(direction)
    start, end, edge = direction * near, direction * far, side * half
    _polygon(mask, [start + edge, end + edge, end - edge, start - edge], 0)
    return direction, side


def _direction(angle: float) -> NDArray[np.float64]:
    return np.array([np.cos(angle), np.sin(angle)])


def _across(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([-direction[1], direction[0]])


def _pixel(point: NDArray[np.float64]) -> tuple[int, int]:
    x, y = (point * MASK + _CENTRE) * (1 << _SHIFT)
    return round(float(x)), round(float(y))


def _width(stroke: float) -> int:
    return max(1, round(stroke * MASK))


def _polygon(mask: NDArray[np.uint8], points: list[NDArray[np.float64]], value: int = 255) -> None:
    cv2.fillConvexPoly(mask, np.array([_pixel(point) for point in points]), value, cv2.LINE_AA, _SHIFT)


def _line(mask: NDArray[np.uint8], start: NDArray[np.float64], end: NDArray[np.float64], style: MarkStyle) -> None:
    cv2.line(mask, _pixel(start), _pixel(end), 255, _width(style.stroke), cv2.LINE_AA, _SHIFT)


def _disc(mask: NDArray[np.uint8], centre: NDArray[np.float64], radius: float) -> None:
    cv2.circle(mask, _pixel(centre), round(radius * MASK * (1 << _SHIFT)), 255, -1, cv2.LINE_AA, _SHIFT)


def _ring(mask: NDArray[np.uint8], centre: NDArray[np.float64], radius: float, stroke: float) -> None:
    cv2.circle(mask, _pixel(centre), round(radius * MASK * (1 << _SHIFT)), 255, _width(stroke), cv2.LINE_AA, _SHIFT)
