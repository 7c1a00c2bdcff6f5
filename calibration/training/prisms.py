"""The pieces: prisms with walls, and a face that bears the mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from calibration.textures import coloured, vary
from calibration.training.canvas import OVER, SHIFT, TABLE
from calibration.training.marks import MASK
from calibration.training.things import darker, thing_texture
from calibration.training.view import outline, thing_outline, turn

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Fabrics
    from calibration.training.canvas import Canvas, Floats, Points
    from calibration.training.scene import Body, Label, Placed
    from calibration.training.things import Thing

_ON_DOME = 24
"""Along one side of a domed face it is worked out in so many places how it is lit."""
_SPOT = 1.5
"""How bright a lamp's image in the most polished dome is, as a share of all light."""
_SPOT_SPREAD = 0.12
"""How large, as a slope."""


def paint_piece(canvas: Canvas, piece: Placed, mark: Floats, *, held: bool = False, bare: Floats | None = None) -> None:
    """A piece where it stands, or `held` in a hand over the board; its face is `bare` but for the mark."""
    pieces = canvas.scene.pieces
    spare = piece.square is None
    ground = piece.z if held else -canvas.scene.board.thickness if spare else 0.0
    owner = OVER if held else TABLE if piece.square is None else piece.square
    face, top = outline(pieces, piece), ground + pieces.height
    canvas.walls(face, ground, top, pieces.bodies[piece.colour].edge, owner)
    texture = face_texture(canvas, piece, mark, bare)
    light = _light(canvas, piece.x, piece.y, pieces.bodies[piece.colour].gloss)
    lie = _Lie(face, (piece.x, piece.y), piece.turn, pieces.half, top)
    if pieces.dome:
        light = _over_dome(canvas, lie, light, pieces.dome, pieces.bodies[piece.colour].gloss)
    _paint_face(canvas, lie, texture, light, owner)


def face_texture(canvas: Canvas, piece: Placed, mark: Floats, bare: Floats | None = None) -> Floats:
    """The albedo of a piece's face with its mark, `(side, side, 3)`; without it `bare`, of any side, or of any wood."""
    pieces = canvas.scene.pieces
    body = pieces.bodies[piece.colour]
    side = int(np.clip(canvas.fine * pieces.half * 2 * 1.15, 16, MASK))
    if bare is None:
        texture = bare_face(canvas.rng, canvas.fabrics, body, side)
    else:
        texture = np.asarray(cv2.resize(bare, (side, side), interpolation=cv2.INTER_AREA), np.float32)
    if body.label:
        _glue(texture, body.label)
    if not pieces.blank and not piece.face_down:
        drawn = np.asarray(cv2.resize(mark, (side, side), interpolation=cv2.INTER_AREA), np.float32) * body.ink_strength
        texture += drawn[..., None] * (np.array(body.ink, np.float32) - texture)
        if body.relief:
            texture *= 1 + body.relief * 0.5 * _slope(drawn, turn(-piece.turn) @ canvas.towards[:2])[..., None]
    return np.clip(texture, 2, 250)


def _glue(texture: Floats, label: Label) -> None:
    """Cover a face, in place, with a sticker."""
    middle, half = texture.shape[0] / 2, texture.shape[0] / 2 * label.half
    if label.round:
        cv2.circle(texture, (round(middle), round(middle)), round(half), label.colour, -1, cv2.LINE_AA)
    else:
        low, high = round(middle - half), round(middle + half)
        cv2.rectangle(texture, (low, low), (high, high), label.colour, -1)


def bare_face(rng: Generator, fabrics: Fabrics, body: Body, side: int) -> Floats:
    """The albedo of a face without a mark, `(side, side, 3)`: no two pieces are of the same wood."""
    grain = fabrics.grain(rng, int(np.clip(side * 1.5, 24, 512)))
    grain = np.asarray(cv2.resize(grain, (side, side), interpolation=cv2.INTER_AREA), np.float32)
    return coloured(rng, grain, vary(rng, body.colour, 1 + 0.025 * sum(body.colour) / 3), body.grain).astype(np.float32)


def _slope(drawn: Floats, lamp: Points) -> Floats:
    """Light and shade on the edges of an engraved mark, from where the lamp is."""
    across, down = cv2.Sobel(drawn, cv2.CV_32F, 1, 0), cv2.Sobel(drawn, cv2.CV_32F, 0, 1)
    return np.asarray(across * lamp[0] - down * lamp[1], np.float32)


def paint_thing(canvas: Canvas, thing: Thing) -> None:
    """A thing where it lies, over whatever square that is."""
    rim = thing_outline(thing)
    canvas.walls(rim, 0.0, thing.height, darker(thing.colour, 0.8), OVER)
    texture = thing_texture(canvas.rng, thing).astype(np.float32)
    lie = _Lie(rim, (thing.x, thing.y), thing.turn, thing.half, thing.height)
    shine = float(canvas.rng.uniform(0, 1))
    _paint_face(canvas, lie, texture, _light(canvas, thing.x, thing.y, shine), OVER)


class _Lie(NamedTuple):
    """Where a flat face is: its outline, its middle, how it is turned, half its width, and its height."""

    rim: Points
    middle: tuple[float, float]
    turn: float
    half: float
    top: float


def _paint_face(canvas: Canvas, lie: _Lie, texture: Floats, light: Floats, owner: int) -> None:
    rim = canvas.view.project(lie.rim, lie.top)
    low = np.maximum(np.floor(rim.min(axis=0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(rim.max(axis=0)).astype(int) + 2, (canvas.view.width, canvas.view.height))
    if (high - low).min() <= 0:
        return
    moved = np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]]) @ canvas.view.plane(lie.top)
    size = (int(high[0] - low[0]), int(high[1] - low[1]))
    to_picture = moved @ _to_squares(lie, texture.shape[0])
    seen = np.asarray(cv2.warpPerspective(texture, to_picture, size, borderMode=cv2.BORDER_REPLICATE), np.float32)
    alpha = np.zeros(size[::-1], np.uint8)
    cv2.fillConvexPoly(alpha, np.round((rim - low) * (1 << SHIFT)).astype(np.int32), 255, cv2.LINE_AA, SHIFT)
    area = (slice(low[1], high[1]), slice(low[0], high[0]))
    if len(light) > 1:
        spread = moved @ _to_squares(lie, len(light))
        light = np.asarray(cv2.warpPerspective(light, spread, size, borderMode=cv2.BORDER_REPLICATE), np.float32)
    canvas.blend(area, seen, np.asarray(alpha.astype(np.float32) / 255, np.float32), light)
    canvas.owner[area][alpha > 127] = owner


def _to_squares(lie: _Lie, side: int) -> NDArray[np.float64]:
    """From pixels of a face's texture to squares."""
    spin, scale = turn(lie.turn), 2 * lie.half / side
    matrix = np.eye(3)
    matrix[:2, :2] = spin @ np.diag([scale, -scale])
    matrix[:2, 2] = spin @ np.array([-lie.half + scale / 2, lie.half - scale / 2]) + lie.middle
    return matrix


def _light(canvas: Canvas, x: float, y: float, gloss: float) -> Floats:
    """Lamp, room and mirrored lamp on a face, `(1, 1, 3)`; each lies a little differently to the lamp."""
    wobble = canvas.rng.normal(0, 0.4, 2)
    near = (np.full((1, 1), at, np.float32) for at in (x + wobble[0], y + wobble[1]))
    mirror = float(canvas.glare(*near)[0, 0]) * gloss
    return np.array([[[canvas.lamp_at(x, y) * canvas.rng.normal(1, 0.03), 1.0, mirror]]], np.float32)


def _over_dome(canvas: Canvas, lie: _Lie, light: Floats, dome: float, gloss: float) -> Floats:
    """The same over a domed face, `(_ON_DOME, _ON_DOME, 3)`: each place faces another way, and one mirrors the lamp."""
    down, along = np.mgrid[0:_ON_DOME, 0:_ON_DOME]
    pixels = np.stack([along.ravel(), down.ravel(), np.ones(_ON_DOME**2)])
    places = (_to_squares(lie, _ON_DOME) @ pixels)[:2].T.reshape(_ON_DOME, _ON_DOME, 2)
    slope = (places - lie.middle) / lie.half * dome
    upright = 1 / np.sqrt(1 + (slope**2).sum(axis=2))
    facing = np.maximum(0, canvas.towards[2] + slope @ canvas.towards[:2]) * upright
    eye = canvas.view.position - (*lie.middle, lie.top)
    half_way = eye / np.linalg.norm(eye) + canvas.towards
    off = slope - half_way[:2] / half_way[2]
    spot = gloss * _SPOT * np.exp(-(off**2).sum(axis=2) / (2 * _SPOT_SPREAD**2))
    lamp, room, mirror = light[0, 0]
    over = [lamp * facing / max(float(canvas.towards[2]), 0.25), room * upright, mirror + spot]
    return np.stack(over, axis=2).astype(np.float32)
