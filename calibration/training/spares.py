"""Where the pieces lie that are not on the board: in rows, as players set them out, or anywhere beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibration.training.scene import KINDS, SIDE, Placed
from calibration.training.view import turn
from companion.rules import Colour

if TYPE_CHECKING:
    from numpy.random import Generator

    from calibration.training.scene import Scene

_IN_ROWS, _SCATTERED, _NONE = 0.45, 0.15, 0.1
"""Shares of scenes; in the others a few lie close to the board, as the scene was drawn."""


def set_aside(rng: Generator, scene: Scene) -> Scene:
    """The scene with its spare pieces as players may leave them."""
    way = rng.random()
    if way < _IN_ROWS:
        return in_rows(rng, scene, 3)
    if way < _IN_ROWS + _SCATTERED:
        return _with_spares(scene, [_anywhere(rng) for _ in range(rng.integers(3, 11))])
    return _with_spares(scene, []) if way < _IN_ROWS + _SCATTERED + _NONE else scene


def in_rows(rng: Generator, scene: Scene, most: int) -> Scene:
    """The scene with its spare pieces in rows along one up to `most` sides of the board."""
    sides = rng.permutation(4)[: rng.integers(1, most + 1)].tolist()
    return _with_spares(scene, [piece for side in sides for piece in _rows_of_spares(rng, scene, side)])


def _with_spares(scene: Scene, spares: list[Placed]) -> Scene:
    """The scene with these spare pieces and no others."""
    return replace(scene, placed=[piece for piece in scene.placed if piece.square is not None] + spares)


def _anywhere(rng: Generator) -> Placed:
    """A piece that was put down beside the board."""
    along, beyond = rng.uniform(-1.5, SIDE + 1.5) - SIDE / 2, rng.uniform(0.55, 1.8) + SIDE / 2
    x, y = turn(rng.integers(4) * np.pi / 2) @ (along, -beyond) + SIDE / 2
    colour = Colour.LIGHT if rng.random() < 0.5 else Colour.DARK
    return Placed(float(x), float(y), 0.0, float(rng.uniform(0, 2 * np.pi)), colour, KINDS[rng.integers(4)], None)


def _rows_of_spares(rng: Generator, scene: Scene, side: int) -> list[Placed]:
    """One to three rows of one player's spare pieces along a side of the board, some as far apart as its squares."""
    pieces = scene.pieces
    step = 2 * pieces.half + float(rng.uniform(0.02, 0.6))
    beyond = pieces.half + float(rng.uniform(0.05, 1.0))
    colour = Colour.LIGHT if rng.random() < 0.5 else Colour.DARK
    kept, loose = float(rng.uniform(0.4, 1.0)), float(rng.uniform(0.0, 0.06))
    wander = float(rng.uniform(0.0, 0.3))
    count, start = int(rng.integers(2, 6)), float(rng.normal(0, 0.4))
    found = []
    for row in range(rng.integers(1, 4)):
        for place in range(count):
            if rng.random() < kept:
                along = start + (place - (count - 1) / 2) * step + rng.normal(0, loose)
                away = SIDE / 2 + beyond + row * step + rng.normal(0, loose)
                lie = turn(side * np.pi / 2) @ (along, -away) + SIDE / 2
                facing = float(rng.normal(0, wander) + (side + 2 * rng.integers(2)) * np.pi / 2)
                kind = KINDS[rng.integers(len(KINDS))]
                found.append(Placed(float(lie[0]), float(lie[1]), 0.0, facing, colour, kind, None))
    return found
