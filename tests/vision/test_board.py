"""Finding the board in drawn pictures whose truth is known, and refusing pictures that show none."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.errors import VisionError
from companion.rules import Layout
from companion.vision.board import BoardNotFound, BoardPose, locate, locate_given

STANDARD = Layout.parse("4x4")
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
    board = drawn_board(pieces=pieces)
    side = 4 * SQUARE
    outline = np.array([[0, side], [side, side], [side, 0], [0, 0]], np.float32)
    homography = cv2.getPerspectiveTransform(outline, corners.astype(np.float32))
    picture = cv2.warpPerspective(board, homography, SIZE, flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full(board.shape[:2], 255, np.uint8), homography, SIZE)
    return np.where(mask[..., None] > 127, picture, cloth)


FROM_ABOVE = np.array([[300, 560], [690, 540], [670, 150], [280, 170]], float)
TURNED = np.array([[250, 400], [500, 610], [720, 360], [470, 150]], float)
OBLIQUE = np.array([[230, 560], [760, 540], [620, 250], [330, 260]], float)


@pytest.mark.parametrize("corners", [FROM_ABOVE, TURNED, OBLIQUE], ids=["from above", "turned", "oblique"])
@pytest.mark.parametrize("cloth", [plain_cloth, planks], ids=["plain", "planks"])
@pytest.mark.parametrize("pieces", [False, True], ids=["bare", "pieces"])
def test_a_board_is_found_to_a_tenth_of_a_square(corners, cloth, pieces):
    found = locate(laid_on(cloth(), corners, pieces=pieces), STANDARD)
    assert isinstance(found, BoardPose)
    square = np.linalg.norm(corners[1] - corners[0]) / 4
    assert np.linalg.norm(found.points() - corners, axis=1).max() < 0.1 * square


def test_a1_is_the_lower_left_corner_and_d1_follows_counter_clockwise():
    found = locate(laid_on(plain_cloth(), np.roll(TURNED, 2, axis=0)), STANDARD)
    assert isinstance(found, BoardPose)
    assert np.linalg.norm(found.points() - TURNED, axis=1).max() < 10


@pytest.mark.parametrize("cloth", [plain_cloth, striped_cloth, checked_cloth, planks], ids=lambda cloth: cloth.__name__)
def test_a_table_without_a_board_is_no_board(cloth):
    found = locate(cloth(), STANDARD)
    assert isinstance(found, BoardNotFound)
    assert found.why.startswith("no board here")


def test_a_black_picture_a_white_picture_and_noise_are_no_board():
    noise = np.random.default_rng(3).integers(0, 256, (240, 320, 3), np.uint8)
    for picture in (np.zeros((240, 320, 3), np.uint8), np.full((240, 320, 3), 255, np.uint8), noise):
        assert isinstance(locate(picture, STANDARD), BoardNotFound)


def test_a_tiny_picture_is_refused_with_its_size():
    found = locate(np.zeros((20, 30, 3), np.uint8), STANDARD)
    assert found == BoardNotFound("the picture is too small: 30 x 20 pixels")


def test_another_layout_asks_for_its_corners():
    found = locate(plain_cloth(), Layout.parse("8x2"))
    assert isinstance(found, BoardNotFound)
    assert "give its corners" in found.why


def test_given_corners_are_taken_as_they_are():
    pose = locate_given([tuple(point) for point in FROM_ABOVE], SIZE)
    assert pose.corners == tuple(tuple(point) for point in FROM_ABOVE)
    assert pose.score == 1.0


def test_given_corners_may_lie_slightly_outside_the_picture():
    corners = [(-20, 700), (950, 730), (900, 20), (10, -15)]
    assert locate_given(corners, SIZE).corners[0] == (-20, 700)


@pytest.mark.parametrize(
    ("corners", "says"),
    [
        ([(0, 0), (1, 1), (2, 2)], "must be four points"),
        ([(0, 0), (1, 1), (2, 2), (3, float("nan"))], "must be four points"),
        ([(0, 0), (1, 1), (2, 2), (3, "x")], "must be four points"),
        ([(100, 100)] * 4, "too close together"),
        ([(100, 104), (104, 104), (104, 100), (100, 100)], "too close together"),
        ([(100, 500), (500, 100), (500, 500), (100, 100)], "do not go round a board"),
        ([(100, 500), (500, 500), (300, 450), (100, 100)], "do not go round a board"),
        ([(100, 100), (500, 100), (500, 500), (100, 500)], "wrong way"),
        ([(100, 5000), (500, 500), (500, 100), (100, 100)], "far outside the picture"),
    ],
)
def test_corners_that_cannot_be_a_boards_are_refused_in_one_line(corners, says):
    with pytest.raises(VisionError, match=says) as refused:
        locate_given(corners, SIZE)
    assert "\n" not in str(refused.value)
