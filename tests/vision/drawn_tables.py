"""Tables drawn flat, with a board whose corners are known exactly: enough for what geometry alone decides."""

from __future__ import annotations

import cv2
import numpy as np

from companion.rules import Layout

SIZE = (960, 720)
SQUARE = 100


def drawn_board(*, pieces: bool) -> np.ndarray:
    """A board from straight above, 100 pixels a square: burnt lines within plates, gaps between, pieces if wanted."""
    board = np.full((4 * SQUARE, 4 * SQUARE, 3), (150, 190, 215), np.uint8)
    for line, width in ((1, 2), (2, 4), (3, 2)):
        cv2.line(board, (line * SQUARE, 0), (line * SQUARE, 4 * SQUARE), (50, 70, 90), width)
        cv2.line(board, (0, line * SQUARE), (4 * SQUARE, line * SQUARE), (50, 70, 90), width)
    if pieces:
        for column, row, colour in (
            (0, 0, (40, 55, 70)),
            (1, 2, (40, 55, 70)),
            (3, 1, (190, 220, 235)),
            (2, 3, (40, 55, 70)),
        ):
            middle = ((column + 0.5) * SQUARE + 4, (row + 0.5) * SQUARE - 3)
            box = cv2.boxPoints((middle, (76, 76), 8.0)).astype(np.int32)
            cv2.fillPoly(board, [box], colour)
            cv2.circle(board, (int(middle[0]), int(middle[1])), 22, (120, 130, 140), 4)
    return board


def plain_cloth() -> np.ndarray:
    rng = np.random.default_rng(7)
    cloth = np.full((SIZE[1], SIZE[0], 3), (70, 95, 60), np.float32)
    return (cloth + rng.normal(0, 4, cloth.shape)).clip(0, 255).astype(np.uint8)


def striped_cloth() -> np.ndarray:
    cloth = plain_cloth()
    cloth[:, np.arange(SIZE[0]) % 50 < 18] = (220, 225, 230)
    return cloth


def checked_cloth() -> np.ndarray:
    x, y = np.meshgrid(np.arange(SIZE[0]) // 45 % 2, np.arange(SIZE[1]) // 45 % 2)
    shades = np.array([(235, 235, 235), (190, 140, 110), (140, 60, 20)], np.uint8)
    return cv2.GaussianBlur(shades[x + y], (0, 0), 1.0)


def planks() -> np.ndarray:
    table = plain_cloth()
    table[:] = (70, 120, 170)
    table[60::150] = (30, 50, 70)
    return cv2.GaussianBlur(table, (0, 0), 1.0)


def laid_on(cloth: np.ndarray, corners: np.ndarray, *, pieces: bool = True) -> np.ndarray:
    """The drawn board on a cloth, its a1, d1, d4, a4 at `corners`."""
    return _laid(cloth, drawn_board(pieces=pieces), np.full((4 * SQUARE, 4 * SQUARE), 255, np.uint8), corners)


def plates_on(cloth: np.ndarray, layout: Layout, corners: np.ndarray) -> np.ndarray:
    """A bare board of any layout on a cloth, the corners of its bounding rectangle at `corners`."""
    board = np.full((layout.rows * SQUARE, layout.columns * SQUARE, 3), (150, 190, 215), np.uint8)
    mask = np.zeros(board.shape[:2], np.uint8)
    for square in layout:
        x, y = square.column * SQUARE, (layout.rows - 1 - square.row) * SQUARE
        cv2.rectangle(mask, (x, y), (x + SQUARE - 1, y + SQUARE - 1), 255, -1)
        cv2.rectangle(board, (x, y), (x + SQUARE - 1, y + SQUARE - 1), (50, 70, 90), 1)
    return _laid(cloth, board, mask, corners)


def _laid(cloth: np.ndarray, board: np.ndarray, mask: np.ndarray, corners: np.ndarray) -> np.ndarray:
    height, width = mask.shape
    outline = np.array([[0, height], [width, height], [width, 0], [0, 0]], np.float32)
    homography = cv2.getPerspectiveTransform(outline, corners.astype(np.float32))
    picture = cv2.warpPerspective(board, homography, SIZE, flags=cv2.INTER_AREA)
    return np.where(cv2.warpPerspective(mask, homography, SIZE)[..., None] > 127, picture, cloth)


FROM_ABOVE = np.array([[300, 560], [690, 540], [670, 150], [280, 170]], float)
TURNED = np.array([[250, 400], [500, 610], [720, 360], [470, 150]], float)
OBLIQUE = np.array([[230, 560], [760, 540], [620, 250], [330, 260]], float)
