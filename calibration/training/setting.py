"""Tables as a photographer meets them, drawn from a seed: a scene, what else lies about, and where the camera stands.

The board is small or large, anywhere in the picture, in any turn, or not there at all; half of the tables are as a
household would take the picture. Nothing here makes pixels: `whole` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from calibration.textures import any_colour, vary
from calibration.training.chance import draw_lens, draw_light, draw_scene
from calibration.training.cloths import imitation, thing
from calibration.training.scene import CORNERS, SIDE, Camera, Scene, plain
from calibration.training.spares import in_rows
from calibration.training.view import View

if TYPE_CHECKING:
    from numpy.random import Generator

    from calibration.textures import Texture
    from calibration.training.canvas import Points

FAR = 60.0
"""Squares from the board beyond which nothing is told apart."""
_SHAPES = ((4, 3), (16, 9), (16, 9), (3, 2), (3, 4), (1, 1))
_TRIES = 40
_TIDY, _PAINTED = 0.35, 0.1
"""Shares of tables with rows of spare pieces, and with a board in a colour of no wood."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something flat on the table."""

    middle: tuple[float, float]
    """In squares."""
    angle: float
    wide: float
    """Width in squares; the drawing says how high it is."""
    drawing: Texture
    round: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """A scene in its whole picture."""

    scene: Scene
    frame: tuple[int, int]
    """Width and height in pixels."""
    has_board: bool
    cloth: str
    """*plain* or *grid*: whether the table has squares of its own."""
    span: float
    """Squares that one tile of the cloth covers."""
    lie: float
    """The cloth's turn."""
    edges: tuple[float, float, float, float]
    """How far the table goes beyond the board on each side, in squares."""
    things: tuple[Thing, ...]
    reach: tuple[float, float] | None
    """Where a hand reaches, in squares, beside those of the scene."""
    bend: float
    """Radial distortion: how far, in half diagonals, a picture's corner is drawn in."""


def draw_setting(rng: Generator, longest: int, *, board: bool = True) -> Setting:
    """A table: half of them as a household would take the picture."""
    scene = draw_scene(rng)
    wide, high = _SHAPES[rng.integers(len(_SHAPES))]
    frame = (round(longest * wide / max(wide, high)), round(longest * high / max(wide, high)))
    easy = plain(scene)
    camera = _draw_camera(rng, frame, easy=easy)
    scene = replace(scene, camera=camera)
    if easy:
        scene = _as_in_a_household(rng, scene)
    scene = _set_out(rng.spawn(1)[0], scene)
    grid = bool(rng.random() < 0.35)
    count = int(rng.integers(0, 6))
    things = [_draw_thing(rng, thing(rng), 3.2) for _ in range(count)]
    if not board:
        placed = [piece for piece in scene.placed if piece.square is None or rng.random() < 0.15]
        scene = replace(scene, placed=placed if rng.random() < 0.7 else [])
        things += [_draw_thing(rng, imitation(rng), 0.0, far=3.0) for _ in range(rng.integers(0, 4))]
    return Setting(
        scene=scene,
        frame=frame,
        has_board=board,
        cloth="grid" if grid else "plain",
        span=float(np.exp(rng.uniform(np.log(2.5), np.log(20)))),
        lie=float(rng.uniform(0, 2 * np.pi)) if rng.random() < 0.7 else 0.0,
        edges=_edges(rng),
        things=tuple(things),
        reach=_draw_reach(rng) if board and not easy and rng.random() < 0.4 else None,
        bend=float(rng.normal(0, 0.03)) if rng.random() < 0.5 else 0.0,
    )


def _set_out(rng: Generator, scene: Scene) -> Scene:
    """At times tidy rows of spare pieces lie beside the board, as players lay them out; at times it is painted."""
    if rng.random() < _TIDY:
        scene = in_rows(rng, scene, 2)
    if rng.random() < _PAINTED:
        paint = any_colour(rng) if rng.random() < 0.7 else vary(rng, (28, 28, 30), 8)
        lines = vary(rng, tuple(channel * rng.uniform(0.6, 1.5) for channel in paint), 6)
        scene = replace(scene, board=replace(scene.board, colours=(paint, vary(rng, paint, 4)), line_colour=lines))
    return scene


def _as_in_a_household(rng: Generator, scene: Scene) -> Scene:
    """The scene in a light and through a lens that nobody would complain about."""
    for _ in range(_TRIES):
        if plain(scene):
            break
        lens, light = draw_lens(rng, scene.camera.scale), draw_light(rng)
        scene = replace(scene, lens=lens, light=light, hands=0)
    return scene


def _draw_camera(rng: Generator, frame: tuple[int, int], *, easy: bool) -> Camera:
    """A camera that has the whole board in its picture."""
    focal = float(np.exp(rng.normal(np.log(0.9), 0.2))) * max(frame)
    tilt = float(np.radians(rng.uniform(0, 44) if easy or rng.random() < 0.4 else rng.uniform(20, 62)))
    least = 42.0 if easy else 22.0
    most = max(least + 1, 0.24 * min(frame) / (0.35 + 0.65 * np.cos(tilt)))
    around, roll = float(rng.uniform(0, 2 * np.pi)), float(rng.normal(0, 0.1))
    scale = float(np.exp(rng.uniform(np.log(least), np.log(most))))
    for attempt in range(_TRIES):
        wander = rng.uniform(-1, 1, 2) * 0.5 * max(frame) / scale * (1 - attempt / _TRIES)
        aim = (SIDE / 2 + float(wander[0]), SIDE / 2 + float(wander[1]))
        camera = _at(tilt, around, roll, focal, aim, scale)
        if _contains(frame, View(camera, frame).project(CORNERS, 0.0)):
            return camera
        scale = max(least, scale * 0.985)
    return _at(tilt, around, roll, focal, (SIDE / 2, SIDE / 2), scale)


def _at(tilt: float, around: float, roll: float, focal: float, aim: tuple[float, float], scale: float) -> Camera:
    distance = focal / scale
    side = np.sin(tilt) * distance
    position = np.array([SIDE / 2 + side * np.cos(around), SIDE / 2 + side * np.sin(around), np.cos(tilt) * distance])
    forward = np.array([*aim, 0.0]) - position
    forward /= np.linalg.norm(forward)
    depth = float(forward @ (np.array([SIDE / 2, SIDE / 2, 0.0]) - position))
    return Camera(tilt, around, roll, distance, aim, focal / depth)


def _contains(frame: tuple[int, int], corners: Points) -> bool:
    margin = 0.01 * max(frame)
    return bool((corners > margin).all() and (corners < np.array(frame) - margin).all())


def _edges(rng: Generator) -> tuple[float, float, float, float]:
    if rng.random() < 0.5:
        return (FAR, FAR, FAR, FAR)
    left, right, near, far = np.exp(rng.uniform(np.log(1.0), np.log(30), 4)).tolist()
    return left, right, near, far


def _draw_thing(rng: Generator, drawing: Texture, nearest: float, far: float = 9.0) -> Thing:
    away, angle = nearest + rng.exponential(0.4 * far) + 0.2, rng.uniform(0, 2 * np.pi)
    wide = float(np.exp(rng.uniform(np.log(0.8), np.log(5))) if nearest else rng.uniform(2, 8))
    if nearest:
        away += 0.5 * wide
    middle = (SIDE / 2 + away * np.cos(angle), SIDE / 2 + away * np.sin(angle))
    lie = float(rng.uniform(0, 2 * np.pi) if rng.random() < 0.6 else rng.integers(4) * np.pi / 2)
    return Thing((float(middle[0]), float(middle[1])), lie, wide, drawing, bool(rng.random() < 0.12))


def _draw_reach(rng: Generator) -> tuple[float, float]:
    corner = CORNERS[rng.integers(4)]
    spot = corner + (SIDE / 2 - corner) * rng.uniform(-0.1, 0.5) + rng.normal(0, 0.2, 2)
    return float(spot[0]), float(spot[1])
