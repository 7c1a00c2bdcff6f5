"""Whole pictures of tables: repeatable, the board in the picture, the truth where the pixels are."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training.dataset import Split
from calibration.training.setting import draw_setting
from calibration.training.tables import read_tables, write_tables
from calibration.training.whole import bent_points, take_picture

FABRICS = Fabrics(np.random.default_rng(3), count=3)


def pictured(seed: int, *, board: bool = True):
    rng = np.random.default_rng(seed)
    setting = draw_setting(rng, 640, board=board)
    return setting, take_picture(rng, setting, FABRICS)


def test_the_same_seed_gives_the_same_picture():
    (_, first), (_, second) = pictured(4), pictured(4)
    assert np.array_equal(first.image, second.image)
    assert np.array_equal(first.corners, second.corners)


@pytest.mark.parametrize("seed", range(8))
def test_the_board_is_in_the_picture_and_goes_round_counter_clockwise(seed):
    setting, picture = pictured(seed)
    assert picture.image.shape == (setting.frame[1], setting.frame[0], 3)
    assert (picture.corners > 0).all()
    assert (picture.corners < np.array(setting.frame)).all()
    assert cv2.contourArea(picture.corners.astype(np.float32), oriented=True) < 0


def test_a_table_without_a_board_has_no_truth_of_one():
    _, picture = pictured(5, board=False)
    assert picture.corners is None
    assert picture.foot is None
    assert picture.covered == ()


def test_what_a_hand_hides_of_the_board_is_known():
    pictures = [pictured(seed)[1] for seed in range(12)]
    assert any(any(picture.covered) for picture in pictures)
    assert all(0 < picture.hidden <= 1 for picture in pictures if any(picture.covered))
    assert sum(picture.hidden == 0 for picture in pictures) >= 3


def test_spare_pieces_lie_in_rows_beside_some_boards_and_never_on_them():
    settings = [draw_setting(np.random.default_rng(seed), 640) for seed in range(40)]
    spares = [[p for p in setting.scene.placed if p.square is None] for setting in settings]
    assert sum(len(lie) > 6 for lie in spares) >= 3
    assert not any(0 < piece.x < 4 and 0 < piece.y < 4 for lie in spares for piece in lie)


def test_what_the_lens_bends_the_points_follow():
    frame, bend = (200, 100), 0.08
    straight = np.array([[20.0, 15.0], [190.0, 90.0], [100.0, 50.0]])
    bent = bent_points(straight, bend, frame)
    away = bent - (100, 50)
    back = away * (1 + bend * (away**2).sum(axis=1, keepdims=True) / (100**2 + 50**2)) + (100, 50)
    assert np.abs(back - straight).max() < 1e-3
    assert np.abs(bent - straight).max() > 1


def test_tables_are_kept_on_disk_with_their_truth_and_not_drawn_twice(tmp_path):
    first = [path.stat().st_mtime_ns for path in write_tables(tmp_path, Split.TEST, range(4, 6))]
    again = [path.stat().st_mtime_ns for path in write_tables(tmp_path, Split.TEST, range(4, 6))]
    assert first == again
    with_board, without = read_tables(tmp_path, Split.TEST)
    assert with_board.corners.shape == (4, 2)
    assert without.corners is None
    assert with_board.image().shape[2] == 3


def test_pictures_that_nobody_drew_are_missed_by_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="draw them first"):
        read_tables(tmp_path, Split.TRAIN)
