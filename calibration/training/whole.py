"""Whole pictures of tables, as a camera takes them.

`chance` and `render` show the recogniser a board and its surroundings; a locator has to find the board among all else.
So here the table of a `setting` runs on, up to its edge and the room behind it, with cloths and things that imitate a
grid; the camera has an ordinary opening angle and its lens may bend lines; a hand may reach over a corner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.training.canvas import OVER, Canvas
from calibration.training.cloths import grid_cloth
from calibration.training.ground import board_shadow, lay_board
from calibration.training.marks import mark
from calibration.training.photograph import WHITE, take
from calibration.training.photographs import Seen
from calibration.training.prisms import paint_piece
from calibration.training.render import paint_visitor
from calibration.training.scene import CORNERS, SIDE, plain
from calibration.training.setting import FAR
from calibration.training.view import View, turn
from companion.rules import Kind
from companion.vision.plane import side_lengths

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Fabrics, Texture
    from calibration.training.canvas import Bytes, Floats, Points
    from calibration.training.photographs import World
    from calibration.training.setting import Setting, Thing

_MOST_WHITE = 0.2


@dataclass(frozen=True, slots=True)
class WholePicture:
    """A picture with what is known about it."""

    image: NDArray[np.uint8]
    """BGR, `(height, width, 3)`."""
    corners: NDArray[np.float64] | None
    """The board's outer corners at a1, d1, d4, a4 in pixels, `(4, 2)`; None if there is no board."""
    foot: NDArray[np.float64] | None
    """The corners of the board's lower edge, on the table: what the top is mistaken for."""
    covered: tuple[bool, ...]
    """Which of the corners a hand or a thing covers."""
    hidden: float
    """The share of the board that a hand or a thing covers, or that is only white in the picture."""
    plain: bool
    """Whether nothing makes it hard: see `scene.plain`, and the board is not overexposed."""
    cloth: str
    """As of the setting, or *photograph*."""
    tilt: float
    """Degrees from straight above."""
    pixels: float
    """Least side of the board, in pixels per square."""
    family: str


def take_picture(rng: Generator, setting: Setting, fabrics: Fabrics, world: World | None = None) -> WholePicture:
    """Take the picture; `rng` draws grain, hands and noise, and `world` may lend photographs to lie on."""
    scene, seen, things = setting.scene, Seen(None, None, None), setting.things
    if world is not None:
        seen = world.around(setting)
        things = tuple(replace(each, drawing=world.thing(each.drawing)) for each in things)
    canvas = Canvas(rng, scene, fabrics, View(scene.camera, setting.frame))
    _lay_wide_table(canvas, setting, seen)
    for each in things:
        _lay_thing(canvas, each)
    marks = {kind: mark(scene.pieces.style, kind) for kind in Kind}
    if setting.has_board:
        x, y = canvas.plane_grid(32)
        lay_board(canvas, canvas.spread(canvas.field(x, y)), canvas.spread(canvas.glare(x, y)))
    for piece in canvas.view.far_to_near(scene.placed):
        paint_piece(canvas, piece, marks[piece.kind])
    spots = [rng.uniform(-0.6, SIDE + 0.6, 2) for _ in range(scene.hands)]
    for spot in [*spots, *([] if setting.reach is None else [np.array(setting.reach)])]:
        paint_visitor(canvas, marks, spot)
    static = fabrics.wide_static(rng, canvas.view.height, canvas.view.width)
    light = _bent(canvas.light(), setting.bend)
    cloth = setting.cloth if seen.cloth is None else "photograph"
    return _with_truth(canvas, setting, cloth, take(light, static, scene.lens))


def _share(flags: NDArray[np.bool_], corners: Points) -> float:
    """The share of the board of which something is true; `flags` are the picture's."""
    board = np.zeros(flags.shape, np.uint8)
    cv2.fillConvexPoly(board, np.round(corners).astype(np.int32), 1)
    return float(flags[board > 0].mean())


def _with_truth(canvas: Canvas, setting: Setting, cloth: str, image: Bytes) -> WholePicture:
    scene, frame = setting.scene, setting.frame
    straight = canvas.view.project(CORNERS, 0.0)
    corners = bent_points(straight, setting.bend, frame)
    foot = bent_points(canvas.view.project(CORNERS, -scene.board.thickness), setting.bend, frame)
    lengths = side_lengths(corners) / SIDE
    at = np.round(straight).astype(int).clip(0, np.array(frame) - 1)
    covered = tuple((canvas.owner[at[:, 1], at[:, 0]] == OVER).tolist())
    over, white = _share(canvas.owner == OVER, straight), _share(image.min(axis=2) >= WHITE, corners)
    seen_well = lengths.min() >= 40 or scene.camera.tilt > 0.5
    return WholePicture(
        image=image,
        corners=corners if setting.has_board else None,
        foot=foot if setting.has_board else None,
        covered=covered if setting.has_board else (),
        hidden=min(1.0, over + white) if setting.has_board else 0.0,
        plain=bool(plain(scene) and seen_well and setting.reach is None and white < _MOST_WHITE),
        cloth=cloth,
        tilt=float(np.degrees(scene.camera.tilt)),
        pixels=float(lengths.min()),
        family=scene.pieces.family.value if setting.has_board else "none",
    )


# ------------------------------------------------------------------------------------------------- the table


def _lay_wide_table(canvas: Canvas, setting: Setting, seen: Seen) -> None:
    """The cloth up to the table's edge, the floor or the wall behind it, and the light on all of it."""
    rng, drop = canvas.rng, -canvas.scene.board.thickness
    drawn = grid_cloth(rng) if setting.cloth == "grid" else canvas.fabrics.table(rng, 512)
    canvas.albedo[:] = _backdrop(canvas) if seen.backdrop is None else seen.backdrop
    plane, size = canvas.view.plane(drop), (canvas.view.width, canvas.view.height)
    if seen.cloth is None:
        table = _spread_out(canvas, drawn, setting, plane, seamless=setting.cloth == "grid")
    elif seen.to_squares is None:
        table = _spread_out(canvas, seen.cloth, setting, plane, seamless=False)
    else:
        way = plane @ seen.to_squares
        table = np.asarray(cv2.warpPerspective(seen.cloth, way, size, borderMode=cv2.BORDER_REFLECT), np.uint8)
    x, y, ahead = _where(canvas, drop)
    left, right, near, far = setting.edges
    on = ahead & (x > -left) & (x < SIDE + right) & (y > -near) & (y < SIDE + far)
    canvas.albedo[on] = table[on]
    _light_table(canvas, float(rng.uniform(0, 0.6)), drop, shaded=setting.has_board)


def _backdrop(canvas: Canvas) -> Bytes:
    """What is behind the table: out of focus, a few upright and level shapes."""
    rng, size = canvas.rng, (canvas.view.width, canvas.view.height)
    small = cv2.resize(canvas.fabrics.table(rng, 256), (64, 64), interpolation=cv2.INTER_AREA)
    room = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_CUBIC), np.uint8)
    for _ in range(rng.integers(0, 5)):
        x, y, w, h = (rng.random(4) * (*size, 0.5 * size[0], 0.5 * size[1])).astype(int).tolist()
        cv2.rectangle(room, (x, y), (x + w, y + h), tuple(rng.uniform(10, 230, 3).tolist()), -1)
    return np.asarray(cv2.GaussianBlur(room, (0, 0), float(rng.uniform(0.8, 6))), np.uint8)


def _spread_out(canvas: Canvas, cloth: Texture, setting: Setting, plane: Points, *, seamless: bool) -> Bytes:
    """The cloth, repeated, as the camera sees it."""
    side = int(np.clip(setting.span * canvas.scene.camera.scale, 48, 1024))
    way = cv2.INTER_AREA if side < cloth.shape[0] else cv2.INTER_LINEAR
    fitting = cv2.resize(cloth, (side, side), interpolation=way)
    to_squares = np.diag([setting.span / side, setting.span / side, 1.0])
    lie = np.eye(3)
    lie[:2, :2] = turn(setting.lie)
    lie[:2, 2] = canvas.rng.uniform(-setting.span, setting.span, 2)
    edge = cv2.BORDER_WRAP if seamless else cv2.BORDER_REFLECT
    size = (canvas.view.width, canvas.view.height)
    return np.asarray(cv2.warpPerspective(fitting, plane @ lie @ to_squares, size, borderMode=edge), np.uint8)


def _where(canvas: Canvas, z: float) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Coordinates x and y, in squares, of what each pixel sees of the plane at `z`; and whether it sees it at all."""
    down, along = np.mgrid[0 : canvas.view.height, 0 : canvas.view.width].astype(np.float32)
    back = np.linalg.inv(canvas.view.plane(z))
    middle = back @ np.array([canvas.view.width / 2, canvas.view.height / 2, 1.0])
    back = (back * np.sign(middle[2])).astype(np.float32)
    depth = back[2, 0] * along + back[2, 1] * down + back[2, 2]
    seen = depth > 1e-6
    depth = np.maximum(depth, 1e-6)
    x = (back[0, 0] * along + back[0, 1] * down + back[0, 2]) / depth
    y = (back[1, 0] * along + back[1, 1] * down + back[1, 2]) / depth
    return np.asarray(x.clip(-FAR, FAR)), np.asarray(y.clip(-FAR, FAR)), seen


def _light_table(canvas: Canvas, gloss: float, drop: float, *, shaded: bool) -> None:
    size = (canvas.view.width, canvas.view.height)
    x, y, _ = _where(canvas, drop)
    x, y = x[::8, ::8], y[::8, ::8]
    canvas.lamp[:] = cv2.resize(canvas.field(x, y).clip(0.02, 4), size)
    canvas.mirror[:] = cv2.resize(canvas.glare(x, y), size) * np.float32(gloss)
    if shaded:
        dark = cv2.warpPerspective(board_shadow(canvas), canvas.sheet_to_picture(drop), size)
        canvas.lamp *= 1 - dark
        canvas.room *= 1 - 0.5 * dark


def _lay_thing(canvas: Canvas, thing: Thing) -> None:
    """Lay a drawing on the table, with a faint shadow round it."""
    height, width = thing.drawing.shape[:2]
    scale = thing.wide / width
    local = np.array([[scale, 0, -thing.wide / 2], [0, -scale, scale * height / 2], [0, 0, 1]])
    place = np.eye(3)
    place[:2, :2] = turn(thing.angle)
    place[:2, 2] = thing.middle
    plane = canvas.view.plane(-canvas.scene.board.thickness)
    to_picture = plane @ place @ local
    outline = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]]) @ to_picture.T
    if np.sign(outline[:, 2]).min() != np.sign(plane @ (SIDE / 2, SIDE / 2, 1))[2]:
        return  # it reaches behind the camera
    rim = outline[:, :2] / outline[:, 2:]
    size = (canvas.view.width, canvas.view.height)
    low = np.clip(np.floor(rim.min(axis=0)) - 12, 0, size).astype(int)
    high = np.clip(np.ceil(rim.max(axis=0)) + 13, 0, size).astype(int)
    if (high - low).min() <= 1:
        return
    _blend_thing(canvas, thing, np.array([[1, 0, -low[0]], [0, 1, -low[1]], [0, 0, 1]]) @ to_picture, (low, high))


def _blend_thing(canvas: Canvas, thing: Thing, warp: Points, box: tuple[NDArray[np.int_], NDArray[np.int_]]) -> None:
    low, high = box
    size = (int(high[0] - low[0]), int(high[1] - low[1]))
    height, width = thing.drawing.shape[:2]
    stencil = np.full((height, width), 255, np.uint8)
    if thing.round:
        stencil[:] = 0
        cv2.ellipse(stencil, (width // 2, height // 2), (width // 2 - 1, height // 2 - 1), 0, 0, 360, 255, -1)
    seen = cv2.warpPerspective(thing.drawing, warp, size, borderMode=cv2.BORDER_REPLICATE).astype(np.float32)
    alpha = cv2.warpPerspective(stencil, warp, size).astype(np.float32) / 255
    area = (slice(low[1], high[1]), slice(low[0], high[0]))
    around = cv2.GaussianBlur(alpha, (0, 0), 3.0)
    canvas.lamp[area] *= 1 - 0.6 * around * (1 - alpha)
    patch = canvas.albedo[area]
    patch[:] = (patch + alpha[..., None] * (seen - patch)).astype(np.uint8)


# ------------------------------------------------------------------------------------------------- the lens


def _bent(light: Floats, bend: float) -> Floats:
    """The light as a lens with radial distortion throws it on the sensor."""
    if bend == 0:
        return light
    height, width = light.shape[:2]
    down, along = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = along - np.float32(width / 2), down - np.float32(height / 2)
    stretch = 1 + np.float32(bend) * (x * x + y * y) / np.float32((width**2 + height**2) / 4)
    from_x, from_y = x * stretch + np.float32(width / 2), y * stretch + np.float32(height / 2)
    return np.asarray(cv2.remap(light, from_x, from_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)


def bent_points(points: Points, bend: float, frame: tuple[int, int]) -> Points:
    """Where points of the straight picture lie in the bent one."""
    middle = np.array(frame) / 2
    straight = points - middle
    bent = straight
    for _ in range(8):
        bent = straight / (1 + bend * (bent**2).sum(axis=1, keepdims=True) / (middle**2).sum())
    return np.asarray(bent + middle, np.float64)
