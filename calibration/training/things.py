"""Small things that lie on a square and are no pieces: coins, dice, lids, buttons, draughtsmen, counters, scraps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.textures import any_colour, vary

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.training.scene import Albedo

    Texture = NDArray[np.uint8]

_SIDE = 96
_MIDDLE = _SIDE / 2
_SHIFT = 4
_METALS = ((110, 150, 180), (70, 100, 170), (165, 170, 175), (120, 125, 130), (60, 120, 160))
"""Brass, copper, nickel, steel, bronze; BGR."""
_PIPS = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


class Make(Enum):
    """What a thing is."""

    COIN = "coin"
    DIE = "die"
    LID = "lid"
    BUTTON = "button"
    DRAUGHTSMAN = "draughtsman"
    COUNTER = "counter"
    SCRAP = "scrap"


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing on the board; lengths in squares, as in `calibration.training.scene`."""

    make: Make
    x: float
    y: float
    turn: float
    half: float
    height: float
    colour: Albedo

    @property
    def round(self) -> bool:
        """Whether it is a disc; the others are boxes."""
        return self.make not in (Make.DIE, Make.SCRAP)


def draw_thing_at(rng: Generator, x: float, y: float) -> Thing:
    """Any thing, near a place in squares."""
    make = list(Make)[rng.integers(len(Make))]
    half, height = {
        Make.COIN: (rng.uniform(0.2, 0.4), rng.uniform(0.02, 0.06)),
        Make.DIE: (half := rng.uniform(0.14, 0.28), 2 * half),
        Make.LID: (rng.uniform(0.25, 0.46), rng.uniform(0.06, 0.35)),
        Make.BUTTON: (rng.uniform(0.16, 0.36), rng.uniform(0.03, 0.1)),
        Make.DRAUGHTSMAN: (rng.uniform(0.28, 0.44), rng.uniform(0.1, 0.3)),
        Make.COUNTER: (rng.uniform(0.2, 0.42), rng.uniform(0.03, 0.2)),
        Make.SCRAP: (rng.uniform(0.15, 0.45), 0.01),
    }[make]
    colour = any_colour(rng)
    if make is Make.COIN or (make is Make.LID and rng.random() < 0.5):
        colour = vary(rng, _METALS[rng.integers(len(_METALS))], 14)
    elif make in (Make.DIE, Make.SCRAP) and rng.random() < 0.6:
        colour = vary(rng, (225, 230, 235), 12)
    dx, dy = rng.normal(0, 0.08, 2)
    return Thing(
        make, x + float(dx), y + float(dy), float(rng.uniform(0, 2 * np.pi)), float(half), float(height), colour
    )


def thing_texture(rng: Generator, thing: Thing) -> Texture:
    """The albedo of its upper side, `(side, side, 3)`."""
    face = np.full((_SIDE, _SIDE, 3), thing.colour, np.float32)
    face *= 1 + cv2.GaussianBlur(rng.standard_normal((_SIDE, _SIDE, 1), np.float32), (0, 0), 1.5)[..., None] * 0.08
    top = np.clip(face, 2, 250).astype(np.uint8)
    shade = darker(thing.colour, rng.uniform(0.35, 0.85))
    match thing.make:
        case Make.COIN:
            _strike(rng, top, shade)
        case Make.DIE:
            _pips(rng, top)
        case Make.LID | Make.DRAUGHTSMAN:
            _rings(rng, top, shade, int(rng.integers(1, 5)))
        case Make.BUTTON:
            _holes(rng, top, shade)
        case Make.SCRAP:
            _scribble(rng, top)
        case Make.COUNTER:
            _rings(rng, top, shade, int(rng.integers(0, 2)))
    return top


def darker(colour: Albedo, share: float) -> Albedo:
    """A colour that throws back so much of what `colour` does, coded as albedos are."""
    blue, green, red = colour
    return share * blue, share * green, share * red


def _strike(rng: Generator, top: Texture, shade: Albedo) -> None:
    """A coin's rim, and a head or a coat of arms that nobody can make out."""
    figure = cv2.GaussianBlur(rng.standard_normal((_SIDE, _SIDE), np.float32), (0, 0), float(rng.uniform(2, 6)))
    raised = (figure > figure.std() * 0.4).astype(np.uint8)
    inside = np.zeros((_SIDE, _SIDE), np.uint8)
    _disc(inside, (0, 0), rng.uniform(0.5, 0.75), (1.0,), -1)
    top[(raised & inside) > 0] = shade
    _rings(rng, top, shade, 1)


def _pips(rng: Generator, top: Texture) -> None:
    ink = (25.0, 25.0, 28.0) if int(top.mean()) > 90 else (235.0, 235.0, 235.0)
    radius, apart = rng.uniform(0.12, 0.2), rng.uniform(0.45, 0.55)
    for x, y in _PIPS[int(rng.integers(1, 7))]:
        _disc(top, (x * apart, y * apart), radius, ink, -1)


def _rings(rng: Generator, top: Texture, shade: Albedo, count: int) -> None:
    for _ in range(count):
        _disc(top, (0, 0), rng.uniform(0.2, 0.95), shade, int(rng.integers(1, 6)))


def _holes(rng: Generator, top: Texture, shade: Albedo) -> None:
    _rings(rng, top, shade, 1)
    apart, radius = rng.uniform(0.15, 0.28), rng.uniform(0.06, 0.12)
    for x, y in _PIPS[4] if rng.random() < 0.6 else ((-1, 0), (1, 0)):
        _disc(top, (x * apart, y * apart), radius, (20.0, 25.0, 30.0), -1)


def _scribble(rng: Generator, top: Texture) -> None:
    ink = vary(rng, (90, 50, 40), 30)
    for _ in range(rng.integers(0, 4)):
        points = np.cumsum(rng.normal(0, 14, (12, 2)), axis=0) + rng.uniform(20, _SIDE - 20, 2)
        cv2.polylines(top, [points.astype(np.int32)], False, ink, int(rng.integers(1, 4)), cv2.LINE_AA)


def _disc(top: Texture, at: tuple[float, float], radius: float, colour: tuple[float, ...], width: int) -> None:
    """A circle, where the face reaches from -1 to 1; filled with a negative width."""
    centre = [round((_MIDDLE + a * _MIDDLE) * (1 << _SHIFT)) for a in at]
    cv2.circle(top, centre, round(radius * _MIDDLE * (1 << _SHIFT)), colour, width, cv2.LINE_AA, _SHIFT)
