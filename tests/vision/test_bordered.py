"""Boards within a border: the board is found, not what it lies on."""

import cv2
import numpy as np
import pytest

from companion.rules import Layout
from companion.vision import lattice
from companion.vision.board import locate
from companion.vision.bordered import find_border
from companion.vision.mesh import Mesh
from companion.vision.pose import BoardPose
from companion.vision.suggestions import in_lab
from tests.vision.drawn_tables import (
    FROM_ABOVE,
    OBLIQUE,
    SIZE,
    SQUARE,
    TURNED,
    drawn_board,
    plain_cloth,
)

STANDARD = Layout.parse("4x4")


def on_a_sheet(cloth, corners, margin, *, pieces):
    """A picture of a drawn board on a sheet with these corners, and the board's own corners; margin in squares."""
    board = drawn_board(pieces=pieces)
    cv2.rectangle(board, (0, 0), (4 * SQUARE - 1, 4 * SQUARE - 1), (50, 70, 90), 2)
    wide = round(margin * SQUARE)
    sheet = cv2.copyMakeBorder(board, wide, wide, wide, wide, cv2.BORDER_CONSTANT, value=(150, 190, 215))
    side = len(sheet)
    outline = np.array([[0, side], [side, side], [side, 0], [0, 0]], np.float32)
    seen = cv2.getPerspectiveTransform(outline, corners.astype(np.float32))
    mask = cv2.warpPerspective(np.full(sheet.shape[:2], 255, np.uint8), seen, SIZE)[..., None]
    picture = np.where(mask > 127, cv2.warpPerspective(sheet, seen, SIZE, flags=cv2.INTER_AREA), cloth)
    inner = np.array([[[wide, side - wide], [side - wide, side - wide], [side - wide, wide], [wide, wide]]], np.float32)
    return cv2.GaussianBlur(picture, (0, 0), 0.8), cv2.perspectiveTransform(inner, seen)[0]


@pytest.mark.parametrize("corners", [FROM_ABOVE, TURNED, OBLIQUE], ids=["from above", "turned", "oblique"])
@pytest.mark.parametrize("margin", [0.2, 0.3, 0.5])
@pytest.mark.parametrize("pieces", [False, True], ids=["bare", "pieces"])
def test_a_board_on_a_larger_sheet_is_found_and_not_the_sheet(corners, margin, pieces):
    picture, truth = on_a_sheet(plain_cloth(), corners, margin, pieces=pieces)
    found = locate(picture, STANDARD)
    assert isinstance(found, BoardPose), found.why
    square = np.linalg.norm(truth[1] - truth[0]) / 4
    assert np.linalg.norm(found.points() - truth, axis=1).max() < 0.15 * square


def test_a_grid_that_goes_on_is_no_board_with_a_border():
    """Before, the floor of a game was: four squares of a larger piece of it, the rest of which was the border."""
    square, across = 45, 5.5
    floor = np.full((SIZE[1], SIZE[0], 3), (60, 70, 75), np.uint8)
    floor[::square] = floor[:, ::square] = (20, 22, 25)
    levels = lattice.pyramid(in_lab(cv2.GaussianBlur(floor, (0, 0), 1.2), 1280)[0])
    place = (np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * across / 2 + 5) * square
    assert find_border(levels, place, Mesh(np.ones((4, 4), np.bool_))) is None
