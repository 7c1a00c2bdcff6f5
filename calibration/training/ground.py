"""The table and the board: painted flat, with everything drawn and every shadow cast upon them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.textures import coloured, vary
from calibration.training.canvas import BOARD, SHIFT, blur
from calibration.training.knots import paint_knot
from calibration.training.scene import SIDE, Grid
from calibration.training.view import hull, outline, rounded, square_outline, thing_outline, turn

if TYPE_CHECKING:
    from calibration.training.canvas import Bytes, Canvas, Floats, Points

_ALL = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], np.float64)


def paint_ground(canvas: Canvas) -> None:
    """The table, the plates' walls and the plates."""
    x, y = canvas.plane_grid(32)
    field, mirror = canvas.spread(canvas.field(x, y)), canvas.spread(canvas.glare(x, y))
    _lay_table(canvas, field, mirror)
    lay_board(canvas, field, mirror)


def lay_board(canvas: Canvas, field: Floats, mirror: Floats) -> None:
    """The plates' walls and the plates, under the lamp's light and its mirror image on the flat sheet."""
    plates = plate_outlines(canvas)
    for plate in sorted(plates, key=lambda p: -float(np.hypot(*(p.mean(axis=0) - canvas.view.position[:2])))):
        canvas.walls(plate, -canvas.scene.board.thickness, 0.0, canvas.scene.board.edge, BOARD)
    face, mask = board_sheet(canvas, plates)
    lamp, room = _shadows(canvas, field)
    canvas.lay(face, np.dstack([lamp, room, mirror * np.float32(canvas.scene.board.gloss)]), mask, 0.0)


def _lay_table(canvas: Canvas, field: Floats, mirror: Floats) -> None:
    rng = canvas.rng
    zoom = int(np.clip(canvas.side * rng.uniform(0.35, 1.6), 64, 512))
    cloth = np.asarray(cv2.resize(canvas.fabrics.table(rng, zoom), (canvas.side, canvas.side)), np.uint8)
    dark = board_shadow(canvas)
    light = np.dstack([field * (1 - dark), 1 - 0.5 * dark, mirror * np.float32(rng.uniform(0, 0.6))])
    canvas.lay(cloth, light, None, -canvas.scene.board.thickness)


def board_shadow(canvas: Canvas) -> Floats:
    """How dark the board's shadow on the table is, on the flat sheet."""
    thickness = canvas.scene.board.thickness
    shadow = np.zeros((canvas.side, canvas.side), np.uint8)
    canvas.fill(shadow, hull(np.concatenate([_ALL, _ALL + canvas.shift * thickness])), 255)
    return _soften(canvas, shadow, thickness)


def _soften(canvas: Canvas, shadow: Bytes, height: float) -> Floats:
    sigma = max(0.6, canvas.scene.light.softness * height * canvas.fine)
    return np.asarray(blur(shadow, min(sigma, 40.0)).astype(np.float32) / 255, np.float32)


def _shadows(canvas: Canvas, field: Floats) -> tuple[Floats, Floats]:
    """Lamp and room light on the board's face, under the shadows of the pieces."""
    cast, contact = np.zeros((2, canvas.side, canvas.side), np.uint8)
    pieces = canvas.scene.pieces
    for piece in canvas.scene.placed:
        base = outline(pieces, piece)
        canvas.fill(cast, hull(np.concatenate([base, base + canvas.shift * pieces.height])), 255)
        canvas.fill(contact, outline(pieces, piece, 0.02), 255)
    for thing in canvas.scene.things:
        base = thing_outline(thing)
        canvas.fill(cast, hull(np.concatenate([base, base + canvas.shift * thing.height])), 255)
        canvas.fill(contact, base, 255)
    near = blur(contact, max(0.8, pieces.height * 0.5 * canvas.fine)).astype(np.float32) / 255
    room = 1 - np.float32(canvas.rng.uniform(0.3, 0.8)) * near
    return field * (1 - _soften(canvas, cast, pieces.height)), np.asarray(room, np.float32)


def plate_outlines(canvas: Canvas) -> list[Points]:
    """The outlines of the plates as they lie, in squares."""
    board, plates = canvas.scene.board, []
    size = SIDE / board.plates
    loose = 0.0 if board.plates == 1 else 1.0
    shrink = board.gap * (0.5 if board.plates == SIDE else 0.35)
    for i, (dx, dy, angle) in enumerate(canvas.scene.askew):
        row, column = divmod(i, board.plates)
        centre = ((column + 0.5) * size + dx * loose, (row + 0.5) * size + dy * loose)
        plates.append(rounded(size / 2 - shrink, size / 2 - shrink, board.corner) @ turn(angle * loose).T + centre)
    return plates


def board_sheet(canvas: Canvas, plates: list[Points]) -> tuple[Bytes, Bytes]:
    """The board's albedo and where it is."""
    board, rng = canvas.scene.board, canvas.rng
    face: Bytes = np.zeros((canvas.side, canvas.side, 3), np.uint8)
    mask: Bytes = np.zeros((canvas.side, canvas.side), np.uint8)
    for i, plate in enumerate(plates):
        row, column = divmod(i, board.plates)
        grain = canvas.fabrics.grain(rng, min(512, round(canvas.fine * SIDE / board.plates * 1.2)))
        colour = vary(rng, board.colours[(row + column) % 2], 2)
        _stamp(canvas, face, plate, coloured(rng, grain, colour, board.grain))
        canvas.fill(mask, plate, 255)
        if board.edge_line:
            width = max(1, round(board.edge_line * canvas.fine))
            cv2.polylines(face, [canvas.flat(plate)], True, board.edge, width, cv2.LINE_AA, SHIFT)
    for knot in board.knots:
        paint_knot(canvas, face, knot)
    _draw_squares(canvas, face)
    return face, mask


def _stamp(canvas: Canvas, face: Bytes, plate: Points, wood: Bytes) -> None:
    """Fill a plate with its own wood."""
    points = canvas.flat(plate)
    corners = points >> SHIFT
    (x0, y0), (x1, y1) = np.maximum(corners.min(axis=0) - 1, 0), np.minimum(corners.max(axis=0) + 2, canvas.side)
    stencil = np.zeros((y1 - y0, x1 - x0), np.uint8)
    cv2.fillConvexPoly(stencil, points - np.array([x0, y0]) * (1 << SHIFT), 255, cv2.LINE_8, SHIFT)
    if wood.shape[0] < y1 - y0 or wood.shape[1] < x1 - x0:
        wood = np.asarray(cv2.resize(wood, (int(x1 - x0), int(y1 - y0))), np.uint8)
    cv2.copyTo(np.ascontiguousarray(wood[: y1 - y0, : x1 - x0]), stencil, face[y0:y1, x0:x1])


def _draw_squares(canvas: Canvas, face: Bytes) -> None:
    board = canvas.scene.board
    if board.checkered and board.plates < SIDE:
        _draw_checks(canvas, face)
    if board.grid is Grid.FRAMES:
        _draw_frames(canvas, face)
    elif board.grid is not Grid.NONE:
        _draw_lines(canvas, face)
    if board.dots:
        radius = round(board.dots * canvas.fine * (1 << SHIFT))
        for square in range(SIDE * SIDE):
            row, column = divmod(square, SIDE)
            x, y = canvas.flat(np.array([[column + 0.5, row + 0.5]]))[0].tolist()
            cv2.circle(face, (x, y), radius, board.line_colour, -1, cv2.LINE_AA, SHIFT)


def _draw_checks(canvas: Canvas, face: Bytes) -> None:
    board, rng = canvas.scene.board, canvas.rng
    for square in range(SIDE * SIDE):
        if sum(divmod(square, SIDE)) % 2:
            grain = canvas.fabrics.grain(rng, round(canvas.fine) + 4)
            _stamp(canvas, face, square_outline(0.5, square), coloured(rng, grain, board.colours[1], board.grain))


def _draw_frames(canvas: Canvas, face: Bytes) -> None:
    board, half = canvas.scene.board, 0.5 - canvas.rng.uniform(0.03, 0.12)
    width = max(1, round(board.line * canvas.fine))
    boxes = [canvas.flat(square_outline(half, square)) for square in range(SIDE * SIDE)]
    cv2.polylines(face, boxes, True, board.line_colour, width, cv2.LINE_AA, SHIFT)


def _draw_lines(canvas: Canvas, face: Bytes) -> None:
    """The lines between squares: drawn, cut into the board, or standing up from it."""
    board = canvas.scene.board
    width = max(1, round(board.line * canvas.fine))
    relief = {Grid.RIDGE: 1.0, Grid.GROOVE: -1.0}.get(board.grid, 0.0)
    bright = tuple(min(250.0, channel * 1.25) for channel in board.colours[0])
    for i in range(SIDE + 1):
        if not relief and (i in (0, SIDE) or (board.plates == 2 and i == SIDE // 2)):
            continue
        for ends in (np.array([[i, 0], [i, SIDE]], np.float64), np.array([[0, i], [SIDE, i]], np.float64)):
            _line(canvas, face, ends, board.line_colour, width)
            if relief:
                _line(
                    canvas, face, ends + np.sign(canvas.towards[:2]) * relief * board.line, bright, max(1, width // 2)
                )


def _line(canvas: Canvas, face: Bytes, ends: Points, colour: tuple[float, ...], width: int) -> None:
    (x0, y0), (x1, y1) = canvas.flat(ends).tolist()
    cv2.line(face, (x0, y0), (x1, y1), colour, width, cv2.LINE_AA, SHIFT)
