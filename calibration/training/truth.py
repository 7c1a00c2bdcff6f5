"""What may be said of each square of a picture, and whether a person could say it.

A square under a hand is *covered*. A mark that glare, darkness or blur has wiped out of the finished picture is
illegible: the network still learns from it how unsure to be, but nothing is judged by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.composing import COVERED, COVERED_FROM, UNTOUCHED_TO
from calibration.training.canvas import BOARD, OVER, TABLE
from calibration.training.marks import MASK
from calibration.training.photograph import WHITE
from calibration.training.scene import SIDE, colours_told
from calibration.training.view import outline, square_outline, turn
from companion.readings import ALL_CONTENTS
from companion.rules import Colour, Kind, Piece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibration.training.canvas import Bytes, Canvas, Floats
    from calibration.training.scene import Placed, Scene

CLASSES = COVERED + 1
JUDGED = 1.0
ILLEGIBLE = 0.5
_SEEN_FROM = 0.78
_LEAST_CONTRAST = 5.0
_CONTRAST_IN_GRAIN = 0.35
_STEPS = 40
_MOSTLY = 0.5
_WITHIN_LINES = 0.43
"""Half the side of what is nothing but ground in a square, in squares."""


def truth(canvas: Canvas, picture: Bytes, marks: dict[Kind, Floats]) -> tuple[Floats, Floats]:
    """What each square's answer should be, `(16, CLASSES)`, and how far it counts, `(16,)`.

    `JUDGED` squares count fully, `ILLEGIBLE` ones only in training, and those half hidden not at all.
    """
    targets, weights = np.zeros((SIDE * SIDE, CLASSES), np.float32), np.zeros(SIDE * SIDE, np.float32)
    strewn = _strewn(canvas.scene)
    standing = {piece.square: piece for piece in canvas.scene.placed if piece.square is not None}
    for square in range(SIDE * SIDE):
        piece = standing.get(square)
        seen, over = _seen(canvas, square, piece)
        if over >= COVERED_FROM or square in strewn:
            targets[square, COVERED], weights[square] = 1, 1
        elif seen >= _SEEN_FROM and over <= UNTOUCHED_TO:
            targets[square] = _answer(canvas.scene, piece)
            clear = piece is None or _legible(canvas, picture, piece, marks[piece.kind])
            weights[square] = JUDGED if clear else ILLEGIBLE
    return targets, weights


def _strewn(scene: Scene) -> set[int]:
    """The squares on which something lies that is no piece, however small it is."""
    return {int(thing.y) * SIDE + int(thing.x) for thing in scene.things}


def _legible(canvas: Canvas, picture: Bytes, piece: Placed, mark: Floats) -> bool:
    """Whether the mark, or an unmarked piece itself, stands out from what is around it in the finished picture.

    A dark piece that has become white is none that a person could name.
    """
    pieces = canvas.scene.pieces
    steps = (np.arange(_STEPS) + 0.5) / _STEPS
    across, down = (grid.ravel() for grid in np.meshgrid(steps, steps))
    local = np.column_stack([2 * across - 1, 1 - 2 * down]) * pieces.half
    inside = np.hypot(*local.T) < 0.9 * pieces.half if pieces.round else np.abs(local).max(axis=1) < 0.9 * pieces.half
    face = _colours(canvas, picture, local[inside] @ turn(piece.turn).T + (piece.x, piece.y), pieces.height)
    if piece.colour is Colour.DARK and (face.min(axis=1) >= WHITE).mean() > _MOSTLY:
        return False
    if pieces.blank or piece.face_down:
        around = square_outline(_WITHIN_LINES, piece.square or 0)
        ground = _colours(canvas, picture, around, 0.0)
        return _stands_out(face, ground)
    drawn = mark[(down * MASK).astype(int), (across * MASK).astype(int)][inside]
    return _stands_out(face[drawn > 0.6], face[drawn < 0.05])


def _colours(canvas: Canvas, picture: Bytes, points: NDArray[np.float64], height: float) -> Floats:
    """The picture's colours, `(n, 3)`, at points in squares."""
    pixels = np.round(canvas.view.project(points, height)).astype(int)
    x, y = pixels[:, 0].clip(0, canvas.view.width - 1), pixels[:, 1].clip(0, canvas.view.height - 1)
    return picture[y, x].astype(np.float32)


def _stands_out(figure: Floats, ground: Floats) -> bool:
    if len(figure) == 0 or len(ground) == 0:
        return False
    contrast = np.abs(figure.mean(axis=0) - ground.mean(axis=0))
    return bool((contrast >= np.maximum(_LEAST_CONTRAST, _CONTRAST_IN_GRAIN * ground.std(axis=0))).any())


def _seen(canvas: Canvas, square: int, piece: Placed | None) -> tuple[float, float]:
    """The shares of a piece's face, or of an empty square, that the camera sees and that a visitor covers."""
    if piece is None:
        polygon, own = canvas.view.project(square_outline(0.42, square), 0.0), (BOARD, TABLE)
    else:
        pieces = canvas.scene.pieces
        polygon, own = canvas.view.project(outline(pieces, piece), pieces.height), (square, square)
    stencil = np.zeros(canvas.owner.shape, np.uint8)
    cv2.fillConvexPoly(stencil, np.round(polygon).astype(np.int32), 1)
    owners = canvas.owner[stencil > 0]
    if owners.size == 0:
        return 0.0, 0.0
    return float(np.isin(owners, own).mean()), float((owners == OVER).mean())


def _answer(scene: Scene, piece: Placed | None) -> Floats:
    """The distribution over all that a person could see there."""
    answer = np.zeros(CLASSES, np.float32)
    if piece is None:
        answer[0] = 1
        return answer
    colours = (piece.colour,) if colours_told(scene) else tuple(Colour)
    kinds = (piece.kind,) if scene.pieces.telling_kinds and not piece.face_down else tuple(Kind)
    for colour in colours:
        for kind in kinds:
            answer[ALL_CONTENTS.index(Piece(colour, kind))] = 1 / (len(colours) * len(kinds))
    return answer
