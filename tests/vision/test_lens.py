"""A lens that bends lines: points go there and back, views are straight, and a board is found and read through it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.errors import VisionError
from companion.readings import EMPTY, contents_of
from companion.rules import Layout
from companion.vision.board import BoardFinder
from companion.vision.follow import BoardFollower
from companion.vision.lens import PINHOLE, Lens
from companion.vision.pose import BoardNotFound, BoardPose
from companion.vision.reader import BoardReader
from companion.vision.rectify import MARGIN, rectify
from companion.vision.video import VideoReader
from tests.vision.drawn_lens import SIZE, STRONG, photograph, thrown
from tests.vision.drawn_tables import FROM_ABOVE, TURNED, laid_on, plain_cloth
from tests.vision.drawn_tables import SIZE as TABLE
from tests.vision.test_reader import B2, PLUS, GreyEyes

BOARD = Layout.parse("4x4")
FOCAL = 700.0
"""Of the straight camera that the tables are drawn with; the lens sees the same from the same place."""
MIDDLE = np.array([TABLE[0] / 2 + 20, TABLE[1] / 2 + 10])
ASIDE = FROM_ABOVE + np.array([230, 60])
"""Near the picture's corner, where the lens bends most."""
TO_TABLE = np.array([[FOCAL, 0, MIDDLE[0]], [0, FOCAL, MIDDLE[1]], [0, 0, 1]])


def through(picture, model=STRONG):
    """A drawn table through the lens."""
    return photograph(picture, TO_TABLE, model)


def upright(corners, model=STRONG):
    """Where points of the drawn table are in that picture."""
    return thrown((corners - MIDDLE) / FOCAL, model)


def off(found, corners):
    """The worst corner's distance in pixels, in the turn that fits best."""
    return min(np.linalg.norm(np.roll(found, turn, axis=0) - corners, axis=1).max() for turn in range(4))


def test_points_go_there_and_back():
    lens = Lens(STRONG)
    x, y = np.meshgrid(np.linspace(0, SIZE[0] - 1, 17), np.linspace(0, SIZE[1] - 1, 11))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    assert np.abs(lens.bent(lens.straightened(points, SIZE), SIZE) - points).max() < 0.01


def test_straight_points_are_those_of_a_camera_that_bends_nothing():
    rays = np.array([[x, y] for x in np.linspace(-0.6, 0.6, 7) for y in np.linspace(-0.3, 0.3, 5)])
    straight = Lens(STRONG).straightened(thrown(rays, STRONG), SIZE)
    offset = straight - rays * STRONG.focal
    assert np.ptp(offset, axis=0) == pytest.approx([0, 0], abs=0.01)


def test_a_larger_or_smaller_picture_of_the_same_shape_is_the_same_lens():
    rays = np.array([[0.5, 0.2], [-0.4, -0.3], [0.0, 0.0]])
    places = (thrown(rays, STRONG) + 0.5) * 2 - 0.5
    one = Lens(STRONG).straightened(thrown(rays, STRONG), SIZE)
    two = Lens(STRONG).straightened(places, (2 * SIZE[0], 2 * SIZE[1]))
    assert np.ptp((two + 0.5) / 2 - 0.5 - one, axis=0) == pytest.approx([0, 0], abs=0.3)


def test_a_picture_of_another_shape_is_refused_in_one_line():
    with pytest.raises(
        VisionError, match="measured in pictures of 640 x 360 pixels, this one has 640 x 480"
    ) as refused:
        Lens(STRONG).straight(np.zeros((480, 640, 3), np.uint8))
    assert "\n" not in str(refused.value)


def test_a_lens_that_would_fold_the_picture_is_refused():
    with pytest.raises(VisionError, match="folds the picture"):
        Lens(STRONG.model_copy(update={"distortion": (-0.9, 0.0, 0.0, 0.0, 0.0)})).straightened(np.zeros((1, 2)), SIZE)


def test_a_lens_whose_rays_cannot_be_told_is_refused():
    askew = STRONG.model_copy(update={"focal": (600.0, 600.0), "distortion": (0.0, 0.0, 1.0, 1.0, 0.0)})
    with pytest.raises(VisionError, match="folds the picture"):
        Lens(askew).straightened(np.zeros((1, 2)), SIZE)


def test_a_view_is_what_the_straight_picture_shows():
    picture, lens = through(laid_on(plain_cloth(), ASIDE)), Lens(STRONG)
    corners = lens.straightened(upright(ASIDE), SIZE)
    view = rectify(picture, corners, BOARD, optics=lens).astype(int)
    detour = rectify(lens.straight(picture), corners, BOARD).astype(int)
    as_drawn = rectify(laid_on(plain_cloth(), ASIDE), ASIDE, BOARD).astype(int)
    bent = rectify(picture, upright(ASIDE), BOARD).astype(int)
    inside = (slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
    assert np.abs(view - detour)[inside].mean() < 2
    assert np.abs(view - as_drawn)[inside].mean() < 0.6 * np.abs(bent - as_drawn)[inside].mean()


def test_a_straight_picture_holds_all_that_the_camera_sees():
    white = Lens(STRONG).straight(np.full((SIZE[1], SIZE[0], 3), 255, np.uint8))
    rim = np.array([[0, 0], [SIZE[0] - 1, 0], [SIZE[0] - 1, SIZE[1] - 1], [0, SIZE[1] - 1]], float)
    at = Lens(STRONG).straightened(rim, SIZE)
    assert (at > -1.5).all()
    assert (at < np.array([white.shape[1], white.shape[0]]) + 0.5).all()
    assert white[white.shape[0] // 4 : -white.shape[0] // 4, white.shape[1] // 5 : -white.shape[1] // 5].min() > 250


@pytest.mark.parametrize("corners", [ASIDE, TURNED], ids=["aside", "turned"])
def test_a_board_is_found_through_the_lens_in_pixels_of_the_upright_picture(corners):
    picture, lens, finder = through(laid_on(plain_cloth(), corners)), Lens(STRONG), BoardFinder.bundled()
    reader = BoardReader(BOARD, GreyEyes(), lambda image, layout: finder(lens.straight(image), layout), lens)
    found = reader.read(picture)
    assert not isinstance(found, BoardNotFound)
    assert off(found.pose.points(), upright(corners)) < 6


def grey_board(**squares):
    """A table with a board of grey squares, empty unless said otherwise."""
    board = np.full((400, 400, 3), 120, np.uint8)
    for name, grey in squares.items():
        column, row = "abcd".index(name[0]), int(name[1]) - 1
        board[(3 - row) * 100 : (4 - row) * 100, column * 100 : (column + 1) * 100] = grey
    for line in range(5):
        at = min(line * 100, 396)
        board[:, at : at + 4] = board[at : at + 4] = 30
    to_picture = cv2.getPerspectiveTransform(
        np.array([[0, 400], [400, 400], [400, 0], [0, 0]], np.float32), FROM_ABOVE.astype(np.float32)
    )
    table = cv2.warpPerspective(board, to_picture, TABLE, flags=cv2.INTER_AREA)
    shown = cv2.warpPerspective(np.ones((400, 400), np.uint8), to_picture, TABLE)
    return through(np.where(shown[..., None] > 0, table, np.uint8(90)))


class Known:
    """Knows where the board is, in straight pixels."""

    def __init__(self, corners):
        self.asked = 0
        self.pose = BoardPose(tuple((float(x), float(y)) for x, y in corners), 1.0)

    def __call__(self, image, layout):
        self.asked += 1
        return self.pose


def test_a_video_is_followed_and_read_through_the_lens():
    lens, at = Lens(STRONG), upright(FROM_ABOVE)
    known = Known(lens.straightened(at, SIZE))
    eyes = GreyEyes()
    follower = BoardFollower(BOARD, find=known, optics=lens)
    reader = VideoReader(BoardReader(BOARD, eyes, known, lens), follower)
    readings = [reader.read(i * 0.1, grey_board(**({"b2": 200} if i > 3 else {}))) for i in range(8)]
    assert known.asked == 1
    assert readings[3].squares == (EMPTY,) * 16
    assert readings[-1].squares[BOARD.index(B2)] == contents_of([PLUS])
    assert readings[-1].squares.count(EMPTY) == 15
    assert off(reader.pose.points(), at) < 0.5


def test_without_a_lens_model_nothing_is_moved():
    points = np.array([[3.0, 4.0]])
    assert PINHOLE.bent(PINHOLE.straightened(points, SIZE), SIZE) is points
    image = np.zeros((4, 4, 3), np.uint8)
    assert PINHOLE.straight(image) is image
