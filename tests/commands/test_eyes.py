"""How eyes are put together: what corners that somebody gave are worth from picture to picture."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.camera import VirtualCamera
from companion.commands.corners import Corners
from companion.commands.eyes import Foreknowledge, locator, video_reader
from companion.errors import VisionError
from companion.rules import Layout
from companion.vision.board import BoardFinder
from companion.vision.lattice import homography
from companion.vision.lens import PINHOLE
from companion.vision.plane import project
from companion.vision.pose import BoardPose
from tests.vision.drawn_tables import FROM_ABOVE, OBLIQUE, TURNED, laid_on, plain_cloth, planks

BOARD = Layout.parse("4x4")


def given(points: np.ndarray) -> Foreknowledge:
    return Foreknowledge(Corners(tuple(map(tuple, points.tolist()))))


def test_corners_that_lie_far_outside_the_picture_are_not_forgotten_after_the_first():
    """As when a telephone is turned: a live camera is lost until it is turned back."""
    picture = laid_on(plain_cloth(), FROM_ABOVE)
    reader = video_reader(BOARD, given(FROM_ABOVE + np.array([600, 0])))
    for time in (0.0, 1.0, 2.0):
        with pytest.raises(VisionError, match="lie far outside the picture"):
            reader.read(time, picture)


def test_corners_are_looked_for_in_the_next_picture_where_the_board_was_not_there():
    table = plain_cloth()
    lies, named = laid_on(table, FROM_ABOVE), np.roll(FROM_ABOVE, 2, axis=0)
    reader = video_reader(BOARD, given(named))
    reader.read(0.0, laid_on(table, FROM_ABOVE + np.array([150, 0])))
    assert reader.pose is None
    assert reader.why_not.startswith("no board lies at the corners that were given, but one is seen elsewhere")
    for time in (0.1, 0.5):
        reader.read(time, lies)
    assert reader.pose is not None
    assert np.allclose(reader.pose.points(), named)
    assert reader.why_not == ""


@pytest.mark.parametrize("off", [0.22, 0.35])
@pytest.mark.parametrize("corners", [FROM_ABOVE, TURNED, OBLIQUE], ids=["from above", "turned", "oblique"])
def test_corners_that_are_a_little_off_are_mended_and_stay_named_as_they_were(corners, off):
    """Before, squares were read at the corners as they were given, and some of them wrongly."""
    named, board = np.roll(corners, 1, axis=0), np.array([[0, 0], [4, 0], [4, 4], [0, 4]], np.float64)
    ways = np.array([[0.7, 0.7], [0.7, -0.7], [-0.7, -0.7], [0, 1]])
    said = project(homography(board, named), board + off * ways)
    seen = locator(given(said).corners, PINHOLE)(laid_on(planks(), corners), BOARD)
    assert isinstance(seen, BoardPose)
    assert np.abs(project(homography(named, board), seen.points()) - board).max() < 0.1


def test_corners_that_fit_are_believed_to_the_pixel():
    seen = locator(given(FROM_ABOVE + 1.0).corners, PINHOLE)(laid_on(plain_cloth(), FROM_ABOVE), BOARD)
    assert isinstance(seen, BoardPose)
    assert np.allclose(seen.points(), FROM_ABOVE + 1.0)


def test_corners_that_were_refused_are_not_believed_when_the_board_is_out_of_sight():
    table = plain_cloth()
    reader = video_reader(BOARD, given(FROM_ABOVE))
    elsewhere, hidden = laid_on(table, FROM_ABOVE + np.array([150, 0])), np.full_like(table, 128)
    for time, picture in ((0.0, elsewhere), (1.0, hidden), (3.0, hidden)):
        reader.read(time, picture)
        assert reader.pose is None
        assert reader.why_not.startswith("no board lies at the corners that were given, but one is seen elsewhere")
    for time in (8.0, 8.5):
        reader.read(time, laid_on(table, FROM_ABOVE))
    assert reader.pose is not None
    assert np.allclose(reader.pose.points(), FROM_ABOVE)


def test_a_bare_table_at_the_corners_that_were_given_is_no_blurred_board_but_none():
    table = plain_cloth()
    reader = video_reader(BOARD, given(FROM_ABOVE))
    for time in (0.0, 1.0, 3.0):
        reader.read(time, table)
        assert reader.pose is None
        assert reader.why_not.startswith("nothing like a board lies at the corners that were given, or the picture is")
    for time in (8.0, 8.5):
        reader.read(time, laid_on(table, FROM_ABOVE))
    assert reader.why_not == ""
    assert np.allclose(reader.pose.points(), FROM_ABOVE)


def test_corners_are_believed_as_soon_as_the_picture_is_sharp_there(monkeypatch):
    """A board that the finder does not know is the reason to give corners; the first picture may be out of focus."""
    monkeypatch.setattr(BoardFinder, "sees", lambda *_: False)
    monkeypatch.setattr(BoardFinder, "check", lambda *_: None)
    picture = laid_on(plain_cloth(), FROM_ABOVE)
    reader = video_reader(BOARD, given(FROM_ABOVE))
    reader.read(0.0, cv2.GaussianBlur(picture, (0, 0), 15))
    assert reader.pose is None
    for time in (1.0, 2.0):
        reader.read(time, picture)
    assert reader.pose is not None


def test_a_board_of_another_layout_is_found_though_the_first_picture_shows_none(tmp_path):
    (match := tmp_path / "stairs.mjn").write_text('[Layout "####./####./.####/.####"]\n\n*\n')
    table = VirtualCamera(str(match))
    picture = table.read(1.0).image
    reader = video_reader(table.play.layout, Foreknowledge())
    reader.read(0.0, np.full_like(picture, 128))
    assert reader.pose is None
    for time in (0.1, 0.5):
        reader.read(time, picture)
    assert reader.pose is not None
