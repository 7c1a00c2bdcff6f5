"""How some sets are made that the backbone has not learnt from.

Outlined marks that are filled, and boards with knots in their wood, which the head alone is taught; marks cut with a
stencil; and domed pieces, on which every lamp leaves a spot. Thresholds heed them all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from calibration.training.chance import draw_scene
from calibration.training.knots import draw_knots
from calibration.training.marks import MarkStyle
from calibration.training.scene import Family

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator

    from calibration.training.scene import Scene

    Way = Callable[[Generator, Scene], Scene]


def filled(_rng: Generator, scene: Scene) -> Scene:
    """The scene, its outlined marks filled."""
    if not scene.pieces.style.outline:
        return scene
    return replace(scene, pieces=replace(scene.pieces, style=replace(scene.pieces.style, filled=True)))


def stencilled(rng: Generator, scene: Scene) -> Scene:
    """The scene, its marks cut with a stencil: bridges hold what is inside of a circle."""
    around = (0.0, np.pi / 4, float(rng.uniform(0, np.pi)))
    style = replace(
        MarkStyle.draw(rng, outline=False),
        small_filled=False,
        big_filled=False,
        broken=False,
        bridges=int(rng.integers(2, 5)),
        bridge=float(rng.uniform(0.06, 0.2)),
        bridge_turn=around[rng.integers(len(around))],
    )
    return replace(scene, pieces=replace(scene.pieces, style=style))


def domed(rng: Generator, scene: Scene) -> Scene:
    """The scene, its pieces domed as stones are, or a little, as cushions are."""
    if scene.pieces.blank:
        return scene
    as_stones = bool(rng.random() < 0.75)
    dome = float(rng.uniform(0.15, 0.8) if as_stones else rng.uniform(0.1, 0.35))
    return replace(scene, pieces=replace(scene.pieces, dome=dome, round=as_stones or scene.pieces.round))


def knotted(rng: Generator, scene: Scene) -> Scene:
    """The scene, with knots in its board's wood."""
    return replace(scene, board=replace(scene.board, knots=draw_knots(rng)))


_OFTEN: Final[dict[Way, float]] = {filled: 0.1, stencilled: 0.03, domed: 0.03, knotted: 0.1}
"""How often each is found among other sets and boards."""


def with_additions(rng: Generator, scene: Scene) -> Scene:
    """The scene, at times with a set, or a board, that is made so."""
    for way, often in _OFTEN.items():
        if rng.random() < often:
            scene = way(rng, scene)
    return scene


def draw_filled(rng: Generator) -> Scene:
    """A scene with the Hopwood set, its outlined marks filled."""
    return filled(rng, draw_scene(rng, Family.HOPWOOD))


def draw_knotted(rng: Generator) -> Scene:
    """A scene with any set, and knots in its board's wood."""
    return knotted(rng, draw_scene(rng))
