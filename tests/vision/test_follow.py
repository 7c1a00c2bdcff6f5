"""Following a drawn board through bumps, slides, turns, hands and pieces, by a clock of the test's own."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from companion.camera.virtual import VirtualCamera
from companion.rules import Layout
from companion.vision.follow import BoardFollower
from companion.vision.plane import project
from companion.vision.pose import BoardNotFound, BoardPose
from tests.bench.stress.shows import disturbed_game
from tests.vision.drawn_tables import FROM_ABOVE, SIZE, checked_cloth, laid_on, plain_cloth, plates_on

STANDARD = Layout.parse("4x4")
FRAME_S = 0.1


def pose_at(corners: np.ndarray) -> BoardPose:
    return BoardPose(tuple(tuple(point) for point in corners), 1.0)


def turned(corners: np.ndarray, degrees: float) -> np.ndarray:
    matrix = cv2.getRotationMatrix2D(corners.mean(axis=0).tolist(), degrees, 1.0)
    return corners @ matrix[:, :2].T + matrix[:, 2]


def moved(corners: np.ndarray, by: tuple[float, float]) -> np.ndarray:
    return corners + np.array(by)


def error(found: BoardPose | BoardNotFound, corners: np.ndarray) -> float:
    """Largest corner error in squares."""
    assert isinstance(found, BoardPose), found
    return np.linalg.norm(found.points() - corners, axis=1).max() / (np.linalg.norm(corners[1] - corners[0]) / 4)


def nowhere(_image, _layout):
    return BoardNotFound("not asked for")


class Table:
    """A follower, and pictures of a table shown to it frame by frame."""

    def __init__(self, *, find=nowhere, cloth=plain_cloth, pose=FROM_ABOVE):
        self.follower = BoardFollower(STANDARD, pose=pose_at(pose), find=find)
        self.cloth = cloth()
        self.time = 0.0

    def show(self, picture, seconds):
        found = None
        for _ in range(round(seconds / FRAME_S)):
            found = self.follower.follow(picture, self.time)
            self.time += FRAME_S
        return found

    def board(self, corners, *, pieces=True):
        return laid_on(self.cloth, corners, pieces=pieces)


@pytest.fixture(scope="module")
def at_rest():
    return laid_on(plain_cloth(), FROM_ABOVE)


def test_a_board_at_rest_stays_exactly_where_it_is(at_rest):
    assert Table().show(at_rest, 2.0) == pose_at(FROM_ABOVE)


@pytest.mark.parametrize(
    "after",
    [
        moved(FROM_ABOVE, (14, -9)),
        turned(FROM_ABOVE, 3),
        moved(FROM_ABOVE, (-60, 45)),
        turned(moved(FROM_ABOVE, (30, 10)), -4),
    ],
    ids=["bumped", "turned", "slid", "slid and turned"],
)
@pytest.mark.parametrize("cloth", [plain_cloth, checked_cloth], ids=["plain", "checked"])
def test_a_board_that_moved_is_registered_again_within_a_second(after, cloth):
    table = Table(cloth=cloth)
    table.show(table.board(FROM_ABOVE), 0.5)
    assert error(table.show(table.board(after), 1.0), after) < 0.06


def test_a_board_moved_far_is_found_again_with_its_corners_named_as_before():
    after = turned(moved(FROM_ABOVE, (60, 20)), 100)

    def find(_image, _layout):
        return pose_at(np.roll(after, 1, axis=0))

    table = Table(find=find)
    table.show(table.board(FROM_ABOVE), 0.5)
    assert error(table.show(table.board(after), 1.0), after) < 0.05


def test_a_board_that_is_hardly_like_what_is_remembered_is_not_called_turned():
    """A hand over a board that has just been pushed looks a little more like the board turned half round."""
    table = Table(find=lambda *_: pose_at(FROM_ABOVE))
    table.show(table.board(FROM_ABOVE), 0.5)
    noise = cv2.GaussianBlur(np.random.default_rng(3).normal(0, 120, (SIZE[1], SIZE[0], 3)), (0, 0), 3)
    hand = table.board(np.roll(FROM_ABOVE, 2, axis=0)) * 0.25 + 90 + 5 * noise
    assert error(table.show(hand.clip(0, 255).astype(np.uint8), 2.0), FROM_ABOVE) < 0.05


def test_what_is_found_only_once_is_not_believed(at_rest):
    places = iter([pose_at(turned(moved(FROM_ABOVE, (dx, 0)), 20)) for dx in range(0, 400, 40)])
    table = Table(find=lambda *_: next(places))
    table.show(at_rest, 0.5)
    assert isinstance(table.show(table.cloth, 1.0), BoardNotFound)
    assert table.follower.pose == pose_at(FROM_ABOVE)


@pytest.mark.slow
def test_a_bumped_board_keeps_its_shape_though_a_hand_comes_over_it_at_once():
    show = disturbed_game(12)
    corners = np.array([[170.91, 264], [406.11, 329.21], [464.82, 97.99], [235.95, 37.34]])
    follower = BoardFollower(STANDARD, pose=pose_at(corners))
    sides = []
    for frame in itertools.takewhile(lambda frame: frame.time < 26, show.frames()):
        found = follower.follow(frame.image, frame.time)
        if isinstance(found, BoardPose):
            corners = found.points()
            sides.append(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1))
    assert np.allclose(sides, sides[0], rtol=0.06)


def test_a_covered_board_is_not_lost(at_rest):
    table = Table()
    table.show(at_rest, 0.5)
    covered = at_rest.copy()
    covered[100:640, 200:780] = table.cloth[100:640, 200:780] + 60
    assert isinstance(table.show(covered, 5.0), BoardNotFound)
    assert table.follower.pose == pose_at(FROM_ABOVE)
    assert table.show(at_rest, 0.2) == pose_at(FROM_ABOVE)


def test_the_board_of_the_next_table_is_not_taken_for_one_that_is_covered():
    own, next_to_it = np.array([[40, 560], [430, 540], [410, 150], [20, 170]], float), moved(FROM_ABOVE, (230, 0))
    table = Table(find=lambda *_: pose_at(next_to_it), pose=own)
    both = laid_on(table.board(own), next_to_it)
    table.show(both, 0.5)
    covered = both.copy()
    covered[100:640, :440] = table.cloth[100:640, :440] + 60
    assert isinstance(table.show(covered, 10.0), BoardNotFound)
    assert error(table.show(both, 0.2), own) < 0.05


def test_a_hand_over_half_the_board_hides_nothing_of_the_pose(at_rest):
    table = Table()
    table.show(at_rest, 0.5)
    hand = at_rest.copy()
    cv2.ellipse(hand, (420, 300), (130, 260), 20, 0, 360, (120, 150, 210), -1)
    assert table.show(hand, 0.5) == pose_at(FROM_ABOVE)


def test_a_bump_under_a_hand_is_noticed(at_rest):
    table = Table()
    table.show(at_rest, 0.5)
    after = turned(moved(FROM_ABOVE, (12, 8)), 2)
    hand = table.board(after)
    cv2.ellipse(hand, (400, 300), (90, 160), 20, 0, 360, (120, 150, 210), -1)
    assert error(table.show(hand, 0.5), after) < 0.06


def test_a_cloud_changes_nothing(at_rest):
    table = Table()
    table.show(at_rest, 0.5)
    dim = cv2.convertScaleAbs(at_rest, alpha=0.55, beta=10)
    assert table.show(dim, 0.5) == pose_at(FROM_ABOVE)


def test_pieces_come_and_go_and_the_board_is_bumped_for_an_hour_without_drift():
    rng = np.random.default_rng(1)
    table = Table()
    bare, full = table.board(FROM_ABOVE, pieces=False), table.board(FROM_ABOVE)
    table.show(bare, 0.5)
    for _ in range(15):
        found = table.show(full, 1.4)
        bumped = moved(FROM_ABOVE, rng.uniform(-8, 8, 2))
        table.show(table.board(bumped), 0.3)
        table.show(full, 0.3)
        found = table.show(bare, 1.4)
    assert error(found, FROM_ABOVE) < 0.05


def test_the_first_frame_is_searched_and_a_fruitless_search_is_not_repeated_at_once(at_rest):
    searches = []

    def find(image, layout):
        searches.append(layout)
        return BoardNotFound("no board here")

    follower = BoardFollower(STANDARD, find=find)
    for frame in range(20):
        assert isinstance(follower.follow(at_rest, frame * FRAME_S), BoardNotFound)
    assert 2 <= len(searches) <= 4


def seen_by_hand(time: float) -> np.ndarray:
    """How a camera that is held sees the table: shifted, turned and tilted a little, elsewhere every time."""
    width, height = SIZE
    x, y, turn, tilt, nod = np.sin(np.array([1.6, 1.3, 1.1, 1.4, 0.9]) * time)
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 1.5 * turn, 1 + 0.02 * x)
    hand = np.vstack([matrix, [0, 0, 1]]) @ np.array([[1, 0, 0], [0, 1, 0], [6e-5 * tilt, 6e-5 * nod, 1]])
    return np.array([[1, 0, 20 * x], [0, 1, 15 * y], [0, 0, 1]]) @ hand


def test_a_camera_in_the_hand_sees_the_board_in_its_place_in_every_frame(at_rest):
    table = Table()
    table.show(at_rest, 0.5)
    errors = []
    for _ in range(60):
        hand = seen_by_hand(table.time - 0.5)
        found = table.show(cv2.warpPerspective(at_rest, hand, SIZE, borderMode=cv2.BORDER_REFLECT), FRAME_S)
        errors.append(error(found, project(hand, FROM_ABOVE)))
    assert max(errors[5:]) < 0.04
    assert np.median(errors[5:]) < 0.02


def test_any_layout_is_followed_once_its_corners_are_given():
    layout = Layout.parse("8x2")
    corners = np.array([[100, 500], [860, 490], [860, 300], [110, 305]], float)
    cloth = plain_cloth()
    rng = np.random.default_rng(2)
    board = cv2.resize(rng.integers(0, 255, (20, 80, 3), np.uint8), (800, 200), interpolation=cv2.INTER_NEAREST)

    def picture(at):
        outline = np.array([[0, 200], [800, 200], [800, 0], [0, 0]], np.float32)
        homography = cv2.getPerspectiveTransform(outline, at.astype(np.float32))
        seen = cv2.warpPerspective(board, homography, SIZE)
        mask = cv2.warpPerspective(np.full((200, 800), 255, np.uint8), homography, SIZE)
        return np.where(mask[..., None] > 127, seen, cloth)

    follower = BoardFollower(layout, pose=pose_at(corners))
    follower.follow(picture(corners), 0.0)
    after = moved(corners, (9, -7))
    assert np.abs(follower.follow(picture(after), 0.1).points() - after).max() < 3


def test_the_reason_for_not_finding_a_board_is_told_until_the_next_look():
    whys = iter(["it is dark", "it is small"])
    follower = BoardFollower(STANDARD, find=lambda image, layout: BoardNotFound(next(whys)))
    picture = plain_cloth()
    told = [follower.follow(picture, time).why for time in (0.0, 0.1, 0.2, 0.3, 0.4)]
    assert told == 4 * ["it is dark"] + ["it is small"]


def test_a_search_that_takes_seconds_leaves_time_for_others_before_the_next():
    searched = []

    def slow(image, layout):
        searched.append(clock)
        return BoardNotFound("nothing there")

    follower, clock = BoardFollower(STANDARD, find=slow), 0.0
    while clock < 12:
        before = len(searched)
        follower.follow(plain_cloth(), clock)
        clock += 3.0 if len(searched) > before else FRAME_S
    pauses = np.diff(searched) - 3.0
    assert len(pauses) == 3
    assert (pauses >= (0.25, 0.5, 1.0)).all()
    assert (pauses < np.array((0.25, 0.5, 1.0)) + 2 * FRAME_S).all()


@pytest.mark.parametrize("drawing", ["corners", "##.....##/##.....##/........./##.....##/##.....##", "ring"])
def test_a_board_that_is_pushed_over_a_patterned_cloth_is_followed_though_the_cloth_between_its_plates_stays(drawing):
    layout = Layout.parse(drawing)
    corners = lying_flat(layout)
    cloth = np.random.default_rng(5).integers(40, 200, (90, 120, 3), np.uint8)
    cloth = cv2.resize(cloth, SIZE, interpolation=cv2.INTER_CUBIC)
    follower = BoardFollower(layout, pose=pose_at(corners), find=nowhere)
    for frame in range(5):
        at = moved(corners, (2 * frame, -1.5 * frame))
        found = follower.follow(plates_on(cloth, layout, at), frame * FRAME_S)
        assert isinstance(found, BoardPose)
        assert np.abs(found.points() - at).max() < 3


def lying_flat(layout: Layout) -> np.ndarray:
    """Corners a1, d1, d4, a4 of a bounding rectangle in the middle of the picture, 60 pixels a square."""
    half = 30 * np.array([layout.columns, layout.rows])
    return np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]]) * half + np.array(SIZE) / 2.0


def test_in_noise_a_small_pale_board_comes_to_rest_after_a_bump():
    def seen(corners, rng):
        small = cv2.resize(laid_on(plain_cloth(), corners), None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
        return np.clip(120 + 0.15 * (small - 120.0) + rng.normal(0, 8, small.shape), 0, 255).astype(np.uint8)

    rng, bumped = np.random.default_rng(3), moved(FROM_ABOVE, (7, -5))
    follower = BoardFollower(STANDARD, pose=pose_at(FROM_ABOVE / 4 - 0.375), find=nowhere)
    for i in range(20):
        follower.follow(seen(FROM_ABOVE, rng), i * FRAME_S)
    after = [follower.follow(seen(bumped, rng), 2 + i * FRAME_S) for i in range(50)]
    assert all(pose == after[-1] for pose in after[25:])
    assert error(after[-1], bumped / 4 - 0.375) < 0.04


def test_a_new_piece_in_the_corner_hardly_shakes_the_board_while_the_camera_slides():
    drawn = VirtualCamera()
    corners, way = np.array(drawn.corners), np.array([20.0, -6.0])
    follower = BoardFollower(STANDARD)
    errors = []
    while (frame := drawn.read(0)).time < 8.5:
        slid = way * max(0.0, frame.time - 3)
        shift = np.column_stack([np.eye(2), slid])
        image = cv2.warpAffine(frame.image, shift, frame.image.shape[1::-1], borderMode=cv2.BORDER_REFLECT)
        errors.append(follower.follow(image, frame.time).points() - corners - slid)
    shaken = np.abs(np.diff(errors[-13:], axis=0)).max(axis=2).mean(axis=0)
    assert shaken.max() < 1.5
