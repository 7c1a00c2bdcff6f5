"""From a `Scene` to a photograph and its truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.hands import draw_hand, draw_thing
from calibration.training.canvas import OVER, Canvas, blur
from calibration.training.ground import paint_ground
from calibration.training.marks import mark
from calibration.training.photograph import take
from calibration.training.prisms import paint_piece, paint_thing
from calibration.training.scene import CORNERS, SIDE, Family, Leaves, Placed, Scene, SetLook
from calibration.training.truth import truth
from calibration.training.view import turn
from companion.rules import Colour, Kind

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Fabrics
    from calibration.training.canvas import Bytes, Floats
    from calibration.training.things import Thing

_CORNERS_OF_A_LEAF = 24
_LEAVES_IN_ROOM = 0.3
"""How much of the room's light a leaf takes, where it takes all of the lamp's."""


@dataclass(frozen=True, slots=True)
class Photograph:
    """A picture of a board with what is known about it."""

    image: NDArray[np.uint8]
    """BGR, `(height, width, 3)`."""
    corners: NDArray[np.float64]
    """The board's outer corners at a1, d1, d4, a4 in pixels, `(4, 2)`."""
    targets: NDArray[np.float32]
    """What may be answered for each square, `(16, CLASSES)`: a distribution."""
    weights: NDArray[np.float32]
    """How far each square counts, `(16,)`; see `truth`."""


def render(rng: Generator, scene: Scene, fabrics: Fabrics) -> Photograph:
    """Take a picture of `scene`; `rng` draws grain, hands and noise."""
    canvas = Canvas(rng, scene, fabrics)
    marks = marks_of(scene.pieces)
    paint(canvas, marks)
    static = fabrics.static(rng, canvas.view.height, canvas.view.width)
    picture = take(canvas.light(), static, scene.lens)
    targets, weights = truth(canvas, picture, marks)
    return Photograph(picture, canvas.view.project(CORNERS, 0.0), targets, weights)


def marks_of(pieces: SetLook) -> dict[Kind, Floats]:
    """The masks of a set's marks."""
    return pieces.foreign or {kind: mark(pieces.style, kind) for kind in Kind}


def paint(canvas: Canvas, marks: dict[Kind, Floats]) -> None:
    """Everything of the canvas's scene, from the table up."""
    paint_ground(canvas)
    lying: list[Placed | Thing] = [*canvas.scene.placed, *canvas.scene.things]
    for one in canvas.view.far_to_near(lying):
        if isinstance(one, Placed):
            paint_piece(canvas, one, marks[one.kind])
        else:
            paint_thing(canvas, one)
    if canvas.scene.light.leaves is not None:
        _dapple(canvas, canvas.scene.light.leaves)
    for _ in range(canvas.scene.hands):
        paint_visitor(canvas, marks, canvas.rng.uniform(-0.6, SIDE + 0.6, 2))


def paint_visitor(canvas: Canvas, marks: dict[Kind, Floats], spot: NDArray[np.float64]) -> None:
    """A hand, perhaps with a piece in it, or some thing, that reaches for `spot`, in squares; with its shadow."""
    rng, scale = canvas.rng, canvas.scene.camera.scale
    x, y = canvas.view.project(spot[None], rng.uniform(0.2, 1.2))[0].tolist()
    hand = rng.random() < 0.8
    if hand and rng.random() < 0.3 and canvas.scene.pieces.family is not Family.CUBES:
        held = Placed(float(spot[0]), float(spot[1]), float(rng.uniform(0.5, 2)), float(rng.uniform(0, 7)),
                      tuple(Colour)[rng.integers(2)], tuple(Kind)[rng.integers(4)], None)  # fmt: skip
        paint_piece(canvas, held, marks[held.kind], held=True)
    layer = canvas.albedo.copy()
    mask = (draw_hand if hand else draw_thing)(rng, layer, (x, y), scale)
    _shade_under(canvas, mask)
    alpha = np.asarray(cv2.GaussianBlur(mask, (0, 0), 0.7).astype(np.float32) / 255, np.float32)
    light = np.array([[[rng.uniform(0.6, 1.4), 1.0, 0.0]]], np.float32)
    canvas.blend((slice(None), slice(None)), layer.astype(np.float32), alpha, light)
    canvas.owner[mask > 127] = OVER


def _dapple(canvas: Canvas, leaves: Leaves) -> None:
    """Shadows of leaves over whatever lies there, as they fall on the table."""
    mask = np.zeros(canvas.owner.shape, np.uint8)
    round_ = np.linspace(0, 2 * np.pi, _CORNERS_OF_A_LEAF, endpoint=False)
    for x, y, long, short, angle in leaves.spots:
        edge = np.column_stack([long * np.cos(round_), short * np.sin(round_)]) @ turn(angle).T + (x, y)
        cv2.fillPoly(mask, [np.round(canvas.view.project(edge, 0.0)).astype(np.int32)], 255)
    soft = blur(mask, leaves.softness * canvas.scene.camera.scale + 0.5)
    shadow = np.float32(leaves.depth) * soft.astype(np.float32) / 255
    canvas.lamp *= 1 - shadow
    canvas.room *= 1 - shadow * np.float32(_LEAVES_IN_ROOM)


def _shade_under(canvas: Canvas, mask: Bytes) -> None:
    rng, scale = canvas.rng, canvas.scene.camera.scale
    dx, dy = rng.normal(0, 0.7 * scale, 2)
    moved = cv2.warpAffine(mask, np.array([[1, 0, dx], [0, 1, dy]]), mask.shape[::-1])
    shadow = blur(np.asarray(moved, np.uint8), float(rng.uniform(0.03, 0.4) * scale) + 0.5).astype(np.float32) / 255
    canvas.lamp *= 1 - shadow * np.float32(rng.uniform(0.5, 1))
    canvas.room *= 1 - shadow * np.float32(rng.uniform(0.1, 0.5))
