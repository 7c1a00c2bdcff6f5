"""Finding the board in drawn pictures whose truth is known, and refusing pictures that show none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training.dataset import Split, Studio
from calibration.training.render import render
from calibration.training.tables import corner_error, draw_table
from companion.errors import VisionError
from companion.rules import Layout
from companion.vision import lattice
from companion.vision.board import _refused, locate
from companion.vision.mesh import Mesh
from companion.vision.places import Place
from companion.vision.pose import BoardNotFound, BoardPose, locate_given
from companion.vision.suggestions import FittedPicture
from tests.vision.drawn_tables import (
    FROM_ABOVE,
    OBLIQUE,
    SIZE,
    TURNED,
    checked_cloth,
    laid_on,
    plain_cloth,
    planks,
    plates_on,
    striped_cloth,
)

GAME = Path(__file__).parent.parent / "data" / "game.mp4"
STANDARD = Layout.parse("4x4")
STEP = "##../##../####/####"


@pytest.mark.parametrize("corners", [FROM_ABOVE, TURNED, OBLIQUE], ids=["from above", "turned", "oblique"])
@pytest.mark.parametrize("cloth", [plain_cloth, planks], ids=["plain", "planks"])
@pytest.mark.parametrize("pieces", [False, True], ids=["bare", "pieces"])
def test_a_board_is_found_to_a_tenth_of_a_square(corners, cloth, pieces):
    found = locate(laid_on(cloth(), corners, pieces=pieces), STANDARD)
    assert isinstance(found, BoardPose)
    square = np.linalg.norm(corners[1] - corners[0]) / 4
    assert np.linalg.norm(found.points() - corners, axis=1).max() < 0.1 * square


@pytest.mark.parametrize("corners", [FROM_ABOVE, TURNED, OBLIQUE], ids=["from above", "turned", "oblique"])
def test_a_board_so_dark_that_its_lines_are_a_few_levels_is_found(corners):
    """Before, it was not, as in a whole game on a black board (unseen game 961)."""
    assert_found_on(planks(), corners, lambda levels: 0.05 * levels)


@pytest.mark.parametrize("corners", [FROM_ABOVE, TURNED], ids=["from above", "turned"])
def test_a_board_that_is_all_but_white_is_found(corners):
    assert_found_on(planks(), corners, lambda levels: 255 - 0.05 * (255 - levels))


def assert_found_on(cloth: np.ndarray, corners: np.ndarray, faded) -> None:
    """That a bare board is found to a tenth of a square if its levels are `faded`, and those of the cloth are not."""
    picture = laid_on(cloth, corners).astype(np.float32)
    board = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillConvexPoly(board, corners.astype(np.int32), 1)
    picture[board > 0] = faded(picture[board > 0])
    found = locate(np.round(picture).astype(np.uint8), STANDARD)
    assert isinstance(found, BoardPose), found.why
    square = np.linalg.norm(corners[1] - corners[0]) / 4
    assert np.linalg.norm(found.points() - corners, axis=1).max() < 0.1 * square


def test_another_board_that_is_seen_as_surely_is_named():
    beside = TURNED + np.array([SIZE[0], 0])
    two = np.hstack([laid_on(plain_cloth(), FROM_ABOVE), laid_on(plain_cloth(), TURNED)])
    found = locate(two, STANDARD)
    assert isinstance(found, BoardPose)
    assert found.another is not None
    seen = sorted([found.corners, found.another])
    for corners, truth in zip(seen, (FROM_ABOVE, beside), strict=True):
        assert np.linalg.norm(np.array(corners) - truth, axis=1).max() < 10
    alone = locate(two[:, : SIZE[0]], STANDARD)
    assert isinstance(alone, BoardPose)
    assert alone.another is None


def test_a1_is_the_lower_left_corner_and_d1_follows_counter_clockwise():
    found = locate(laid_on(plain_cloth(), np.roll(TURNED, 2, axis=0)), STANDARD)
    assert isinstance(found, BoardPose)
    assert np.linalg.norm(found.points() - TURNED, axis=1).max() < 10


@pytest.mark.parametrize("cloth", [plain_cloth, striped_cloth, checked_cloth, planks], ids=lambda cloth: cloth.__name__)
def test_a_table_without_a_board_is_no_board(cloth):
    found = locate(cloth(), STANDARD)
    assert isinstance(found, BoardNotFound)
    assert found.why.startswith("no board here")


def test_a_strip_of_checked_cloth_is_no_board_though_the_picture_ends_where_the_checks_would_run_on():
    assert isinstance(locate(checked_cloth()[:190], STANDARD), BoardNotFound)


def test_a_black_picture_a_white_picture_and_noise_are_no_board():
    noise = np.random.default_rng(3).integers(0, 256, (240, 320, 3), np.uint8)
    for picture in (np.zeros((240, 320, 3), np.uint8), np.full((240, 320, 3), 255, np.uint8), noise):
        assert isinstance(locate(picture, STANDARD), BoardNotFound)


@pytest.mark.parametrize("size", [(64, 1280), (1280, 64)])
def test_a_strip_too_narrow_for_any_board_is_no_board(size):
    strip = np.random.default_rng(4).integers(0, 255, (*size, 3)).astype(np.uint8)
    strip[::16], strip[:, ::16] = 0, 0
    assert isinstance(locate(strip, STANDARD), BoardNotFound)


def test_a_tiny_picture_is_refused_with_its_size():
    found = locate(np.zeros((20, 30, 3), np.uint8), STANDARD)
    assert found == BoardNotFound("the picture is too small: 30 x 20 pixels")


@pytest.mark.parametrize(("frame", "seen"), [(828, np.s_[100:]), (0, np.s_[:, 285:])], ids=["far side", "left side"])
def test_a_board_that_the_edge_of_the_picture_cuts_off_is_told_as_such_and_not_as_covered(frame, seen):
    film = cv2.VideoCapture(str(GAME))
    film.set(cv2.CAP_PROP_POS_FRAMES, frame)
    found = locate(np.ascontiguousarray(film.read()[1][seen]), STANDARD)
    assert isinstance(found, BoardNotFound)
    assert found.why.startswith("what may be a board reaches beyond the edge of the picture; show the whole of it")


def test_what_is_in_doubt_may_not_reach_beyond_the_picture():
    """A board cut off by half a square was found half a square aside, with a score of 0.89."""
    picture = FittedPicture.of(np.full((600, 800, 3), 128, np.uint8))
    corners = np.array([[-20.0, 100], [400, 100], [400, 520], [-20, 520]])
    weight = lattice.weigh(picture.levels, corners, Mesh(np.ones((4, 4), np.bool_)))
    sure = Place(0.97, corners, 0.99, 0.9, weight, np.zeros(4))
    assert _refused(sure, picture) is None
    assert _refused(sure._replace(score=0.9, corners=corners + np.array([25, 0])), picture) is None
    assert "reaches beyond the edge of the picture" in _refused(sure._replace(score=0.9), picture).why


def lying(layout: Layout, turned: float) -> np.ndarray:
    """Corners a1, d1, d4, a4 of a bounding rectangle, turned by so many radians and seen a little obliquely."""
    half = np.array([layout.columns, layout.rows]) * min(220 / layout.columns, 180 / layout.rows)
    upright = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * half
    flat = upright @ np.array([[np.cos(turned), np.sin(turned)], [-np.sin(turned), np.cos(turned)]])
    seen = flat * (1.0, 0.85)
    return seen * (1 + seen[:, 1:] * 0.0004) + (480, 360)


@pytest.mark.parametrize(
    ("layout", "turned", "first"),
    [("########/########/########/########", 0.1, 0), ("####/####/####/####/####/####", 3.3, 2), (STEP, 2.5, 0)],
    ids=["wide", "long and upside down", "with one step"],
)
def test_another_layout_is_found_by_its_lines_and_its_a1_where_the_layout_tells_it(layout, turned, first):
    known = Layout.parse(layout)
    corners = lying(known, turned)
    found = locate(plates_on(plain_cloth(), known, corners), known)
    assert isinstance(found, BoardPose)
    square = np.linalg.norm(corners[1] - corners[0]) / known.columns
    assert np.linalg.norm(found.points() - np.roll(corners, -first, axis=0), axis=1).max() < 0.15 * square


def test_another_layout_that_is_not_there_asks_for_its_corners():
    found = locate(laid_on(plain_cloth(), OBLIQUE), Layout.parse("########/########/########/########"))
    assert isinstance(found, BoardNotFound)
    assert "give its outer corners" in found.why


@pytest.mark.parametrize(
    ("lies", "asked"), [("####/####/####/####/####/####", "stairs"), ("ring", STEP), ("stairs", "4x4")]
)
def test_a_part_of_another_board_is_not_the_board_of_the_layout(lies, asked):
    other = Layout.parse(lies)
    found = locate(plates_on(plain_cloth(), other, lying(other, 0.1)), Layout.parse(asked))
    assert isinstance(found, BoardNotFound)
    assert found.why.startswith("what is here may be another board, or a part of one")


def bar_of_chocolate(rows: int, columns: int) -> np.ndarray:
    """A bar on a table, its pieces raised, seen from above and turned a little."""
    side = 560 // max(rows, columns)
    bar = np.full((rows * side, columns * side, 3), (28, 45, 75), np.uint8)
    for y, x in np.ndindex(rows, columns):
        left, top, right, bottom = x * side + 6, y * side + 6, (x + 1) * side - 7, (y + 1) * side - 7
        cv2.rectangle(bar, (left, top), (right, bottom), (45, 70, 110), -1)
        cv2.line(bar, (left, top), (right, top), (90, 120, 165), 2)
        cv2.line(bar, (left, top), (left, bottom), (80, 110, 150), 2)
        cv2.line(bar, (left, bottom), (right, bottom), (15, 25, 45), 3)
    middle = np.array([columns, rows]) * side / 2
    lies = cv2.getRotationMatrix2D(middle.tolist(), 12, 1.0)
    lies[:, 2] += (480, 360) - middle
    table = np.full((720, 960, 3), (150, 170, 185), np.uint8)
    cv2.warpAffine(bar, lies, (960, 720), table, borderMode=cv2.BORDER_TRANSPARENT)
    noise = np.random.default_rng(0).normal(0, 4, table.shape)
    return np.clip(cv2.GaussianBlur(table, (0, 0), 1) + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("rows", "columns"), [(4, 6), (6, 4), (5, 4), (4, 5), (4, 7), (8, 4)])
def test_a_part_of_a_longer_grid_is_no_board(rows, columns):
    assert isinstance(locate(bar_of_chocolate(rows, columns), STANDARD), BoardNotFound)


def plates_beside_each_other(size: int, seed: int) -> np.ndarray:
    """Two plates of two by two squares of so many pixels, before the others are laid, seen a little from the side."""
    rng = np.random.default_rng(seed)
    plates = np.full((2 * size, 4 * size, 3), (150, 195, 222), np.uint8)
    for line in range(1, 4):
        cv2.line(plates, (line * size, 0), (line * size, 2 * size), (70, 105, 130), 2, cv2.LINE_AA)
    cv2.line(plates, (0, size), (4 * size, size), (70, 105, 130), 2, cv2.LINE_AA)
    cv2.rectangle(plates, (0, 0), (4 * size - 1, 2 * size - 1), (60, 90, 120), 2)
    rim = np.array([[0, 0], [4, 0], [4, 2], [0, 2]], np.float32) * size
    turned = (rim - rim.mean(axis=0)) @ cv2.getRotationMatrix2D((0, 0), rng.uniform(0, 180), 1)[:, :2].T
    seen = (turned * (1, 0.7) * (1 + 0.0006 * turned[:, 1:]) + (480, 360)).astype(np.float32)
    table = plain_cloth()
    cv2.warpPerspective(plates, cv2.getPerspectiveTransform(rim, seen), SIZE, table, borderMode=cv2.BORDER_TRANSPARENT)
    noise = rng.normal(0, 2, table.shape)
    return np.clip(cv2.GaussianBlur(table, (0, 0), 0.8) + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("seed", [4, 5, 9])
def test_plates_that_are_a_part_of_the_board_are_no_board(seed):
    found = locate(plates_beside_each_other(50, seed), STANDARD)
    assert isinstance(found, BoardNotFound)
    assert "may be a part of a board" in found.why


def test_the_board_is_found_beside_plates_that_look_like_a_part_of_one():
    corners = np.array([[655, 690], [930, 690], [930, 415], [655, 415]], np.float64)
    found = locate(laid_on(plates_beside_each_other(50, 5), corners), STANDARD)
    assert isinstance(found, BoardPose)
    assert corner_error(found.points(), corners) < 0.1


@pytest.mark.parametrize("pieces", [False, True], ids=["bare", "pieces"])
def test_a_whole_board_has_more_than_every_other_line(pieces):
    picture = FittedPicture.of(laid_on(plain_cloth(), OBLIQUE, pieces=pieces))
    weight = lattice.weigh(picture.levels, OBLIQUE * picture.scale, Mesh(np.ones((4, 4), np.bool_)))
    assert weight.every_other == 0.0


def drawn(split: Split, number: int) -> tuple[np.ndarray, np.ndarray | None]:
    """A table as the finder is measured on, and the corners of its board, if one lies there."""
    table = draw_table(split, number, Fabrics(np.random.default_rng((split.value, 0))))
    _, file = cv2.imencode(".jpg", table.image, [cv2.IMWRITE_JPEG_QUALITY, 95])
    return cv2.imdecode(file, cv2.IMREAD_COLOR), table.corners


@pytest.mark.parametrize(
    "number", [279, 512, 91, 193], ids=["thick pieces", "cubes", "a sleeve and a hand", "a hand and a card"]
)
def test_a_board_of_which_the_judge_is_sure_is_no_part_of_another(number):
    """They were refused: from low the pointer sees something beyond the far side, hands and sleeves mix colours up."""
    picture, corners = drawn(Split.TEST, number)
    found = locate(picture, STANDARD)
    assert isinstance(found, BoardPose), found.why
    assert corner_error(found.points(), corners) < 0.3


@pytest.mark.parametrize("number", [149, 371, 1355, 1481])
def test_what_is_made_of_a_table_by_another_tone_is_no_board(number):
    """Each was taken for one, with a score of 0.80 to 0.91."""
    picture, corners = drawn(Split.CALIBRATE, number)
    assert corners is None
    assert isinstance(locate(picture, STANDARD), BoardNotFound)


def test_a_small_board_may_look_odder_than_a_large_one():
    """It was refused: a tenth of a square is two pixels of it, and as much as what a lens makes of its far side."""
    picture, corners = drawn(Split.CALIBRATE, 122)
    found = locate(picture, STANDARD)
    assert isinstance(found, BoardPose), found.why
    assert corner_error(found.points(), corners) < 0.4


@pytest.mark.parametrize("number", [274, 278, 289, 291, 292])
def test_a_picture_may_be_cut_out_of_what_a_wide_lens_saw(number):
    """They were not found, or up to 0.26 squares off: beside the middle of a wide view a square looks like none."""
    traced = Studio(Split.TRACED)
    scene = replace(traced.scene(number), hands=0)
    photo = render(np.random.default_rng((Split.TRACED.value, 2, number)), scene, traced.fabrics)
    found = locate(photo.image, STANDARD)
    assert isinstance(found, BoardPose), found.why
    assert corner_error(found.points(), photo.corners) < 0.125


@pytest.mark.parametrize("number", [2818, 3010])
def test_a_board_that_fills_the_picture_is_found(number):
    """They were not: the pointer knows boards with something around them only, and saw nothing of these."""
    picture, corners = drawn(Split.TEST, number)
    left, top = np.floor(corners.min(axis=0)).astype(int) - 2
    right, bottom = np.ceil(corners.max(axis=0)).astype(int) + 2
    found = locate(np.ascontiguousarray(picture[top:bottom, left:right]), STANDARD)
    assert isinstance(found, BoardPose), found.why
    assert corner_error(found.points(), corners - (left, top)) < 0.125


def test_corners_of_which_no_camera_makes_a_square_are_not_told_where_it_is_in_doubt():
    """Two are under a hand, and were told three quarters of a square off, with a score of 0.86."""
    picture, _ = drawn(Split.TEST, 2497)
    assert "covers the board's" in locate(picture, STANDARD).why


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
