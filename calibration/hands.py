"""Hands and arms that reach over the board, as drawings in the picture's plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from calibration.textures import any_colour, vary

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Point = NDArray[np.float64]

_SKINS = ((150, 175, 225), (130, 160, 215), (105, 140, 195), (80, 110, 165), (55, 80, 125), (40, 55, 90))
_LAYERS = 6


def draw_hand(rng: Generator, albedo: NDArray[np.uint8], tip: tuple[float, float], square: float) -> NDArray[np.uint8]:
    """Paint a hand whose fingers end near `tip`; `square` is a square's side in pixels. Gives its mask, 0 or 255."""
    height, width = albedo.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    skin, sleeve = vary(rng, _SKINS[rng.integers(len(_SKINS))], 10), any_colour(rng)
    angle = rng.uniform(0, 2 * np.pi)
    reach = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-reach[1], reach[0]])
    unit = square * rng.uniform(0.8, 1.25)
    wrist = np.array(tip) - reach * unit * rng.uniform(3.6, 4.4)
    limbs = [_Limb(np.stack([wrist - reach * unit * 12, wrist + reach * unit * 0.4]), 1.5 * unit, 1.3 * unit, skin)]
    if rng.random() < 0.7:
        start = rng.uniform(0.2, 2.0)
        cuff = np.stack([wrist - reach * unit * 13, wrist - reach * unit * start])
        limbs.append(_Limb(cuff, 2.4 * unit, 2.0 * unit, sleeve))
    paths = _palm_and_fingers(rng, wrist / unit, (reach, across), np.array(tip) / unit)
    limbs += [_Limb(path * unit, thick * unit, thin * unit, skin) for path, thick, thin in paths]
    for limb in limbs:
        _paint(albedo, mask, limb, rng.uniform(0.25, 0.6))
    return mask


class _Limb(NamedTuple):
    """Something long and round: where its middle runs, and how thick it is there, in pixels."""

    path: NDArray[np.float64]
    thick: float
    thin: float
    colour: tuple[float, float, float]


def _palm_and_fingers(
    rng: Generator, wrist: Point, axes: tuple[Point, Point], tip: Point
) -> list[tuple[NDArray[np.float64], float, float]]:
    """Paths and thicknesses, in units of about a square; `axes` point along the hand and across it."""
    reach, across = axes
    palm = wrist + reach * 1.3
    paths = [(np.stack([wrist, palm + reach * 0.3]), 1.3, 1.9)]
    pinch = rng.random() < 0.6
    for i in range(4):
        root = palm + across * (i - 1.5) * 0.46 + reach * 0.6
        spread = across * (i - 1.5) * rng.uniform(0.1, 0.5)
        length = rng.uniform(1.3, 2.0) * (1 if not pinch or i < 2 else rng.uniform(0.3, 0.9))
        end = tip + across * (i - 0.5) * 0.25 if pinch and i < 2 else root + reach * length + spread
        knuckle = (root + end) / 2 + across * rng.normal(0, 0.1)
        paths.append((np.stack([root, knuckle, end]), 0.5, 0.36))
    side = rng.choice((-1, 1))
    root = wrist + reach * 0.7 + across * 0.8 * side
    end = tip - reach * 0.5 + across * side * 0.3 if pinch else root + reach + across * side
    paths.append((np.stack([root, (root + end) / 2 + across * side * 0.3, end]), 0.6, 0.42))
    return paths


def _paint(albedo: NDArray[np.uint8], mask: NDArray[np.uint8], limb: _Limb, shade: float) -> None:
    """A tapering, rounded limb: nested strokes, dark outside and light inside, stand for its roundness."""
    for layer in range(_LAYERS):
        inner = layer / _LAYERS
        tone = tuple(channel * (1 - shade * (1 - inner) ** 2) for channel in limb.colour)
        for start, end, wide, narrow in _segments(limb.path, limb.thick, limb.thin):
            corners = _capsule(start, end, wide * (1 - inner * 0.9) / 2, narrow * (1 - inner * 0.9) / 2)
            cv2.fillConvexPoly(albedo, corners, tone, cv2.LINE_AA, 3)
            if layer == 0:
                cv2.fillConvexPoly(mask, corners, 255, cv2.LINE_AA, 3)


def _segments(
    path: NDArray[np.float64], thick: float, thin: float
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], float, float]]:
    count = len(path) - 1
    widths = np.linspace(thick, thin, count + 1)
    return [(path[i], path[i + 1], float(widths[i]), float(widths[i + 1])) for i in range(count)]


def _capsule(start: NDArray[np.float64], end: NDArray[np.float64], wide: float, narrow: float) -> NDArray[np.int32]:
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([start + circle * wide, end + circle * narrow]).astype(np.float32)
    return np.asarray(cv2.convexHull(np.round(points * 8).astype(np.int32)), np.int32)


def draw_thing(
    rng: Generator, albedo: NDArray[np.uint8], centre: tuple[float, float], square: float
) -> NDArray[np.uint8]:
    """Paint a cup, a lid, a pencil, a card or a sheet over the board. Gives its mask, 0 or 255."""
    mask = np.zeros(albedo.shape[:2], np.uint8)
    colour = any_colour(rng)
    angle = rng.uniform(0, 2 * np.pi)
    long, broad = square * rng.uniform(0.8, 3), square * rng.uniform(0.08, 2)
    if rng.random() < 0.4:
        centre_px, axes = (round(centre[0]), round(centre[1])), (round(long), round(long * rng.uniform(0.6, 1)))
        for target, value in ((albedo, colour), (mask, (255.0,))):
            cv2.ellipse(target, centre_px, axes, float(np.degrees(angle)), 0, 360, value, -1, cv2.LINE_AA)
        rim = tuple(channel * rng.uniform(0.5, 1.3) for channel in colour)
        cv2.ellipse(albedo, centre_px, axes, float(np.degrees(angle)), 0, 360, rim, max(1, round(square * 0.1)))
        return mask
    local = np.array([[-long, -broad], [long, -broad], [long, broad], [-long, broad]])
    corners = local @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) + centre
    polygon = np.round(corners * 8).astype(np.int32)
    cv2.fillConvexPoly(albedo, polygon, colour, cv2.LINE_AA, 3)
    cv2.fillConvexPoly(mask, polygon, 255, cv2.LINE_AA, 3)
    return mask
