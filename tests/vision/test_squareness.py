"""What a camera can make of a board's outline, and what it cannot."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.vision.plane import project
from companion.vision.squareness import from_unit_square, misfit, strain
from companion.vision.suggestions import MISFIT
from tests.vision.test_plane import SIZE, seen


@pytest.mark.parametrize("tilt", [0, 20, 45, 60])
@pytest.mark.parametrize(("columns", "rows"), [(4, 4), (8, 4), (6, 6)])
@pytest.mark.parametrize("focal", [0.7, 1.5])
def test_a_board_fits_from_any_side(columns, rows, tilt, focal):
    for turn in (0, 30, 75, 140):
        assert misfit(seen(columns, rows, tilt=tilt, turn=turn, focal=focal), (columns, rows), SIZE) < 0.1


@pytest.mark.parametrize("way", range(0, 360, 45))
def test_how_low_a_board_is_seen_counts_from_where_it_lies(way):
    focal = 0.9
    sight = np.array([0.42, -0.24, focal]) / np.linalg.norm([0.42, -0.24, focal])  # far from the middle
    side = np.cross(sight, [0, 1, 0]) / np.linalg.norm(np.cross(sight, [0, 1, 0]))
    axis = np.cos(np.radians(way)) * side + np.sin(np.radians(way)) * np.cross(sight, side)
    along, up = (cv2.Rodrigues(axis * np.radians(58))[0] @ each for each in (side, np.cross(sight, side)))
    board = np.array([20 * sight + 2 * (x * along + y * up) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    corners = board[:, :2] / board[:, 2:] * focal * max(SIZE) + np.array(SIZE) / 2
    assert misfit(corners, (4, 4), SIZE) < 0.1


@pytest.mark.parametrize(("columns", "rows"), [(8, 4), (9, 4), (4, 8)])
def test_a_board_with_rows_of_pieces_beside_it_is_no_square(columns, rows):
    for tilt, turn in ((0, 0), (10, 0), (25, 20), (40, -25)):
        assert misfit(seen(columns, rows, tilt=tilt, turn=turn), (4, 4), SIZE) > MISFIT


def test_a_square_is_no_long_board():
    assert misfit(seen(4, 4, tilt=20, turn=20), (8, 4), SIZE) > MISFIT


def beside(columns: float, rows: float, *, away: float, focal: float = 0.6) -> np.ndarray:
    """Corners of a rectangle that lies `away` degrees beside the middle of a wide view, of which it is cut out."""
    flat = np.array([[-columns, -rows], [columns, -rows], [columns, rows], [-columns, rows]]) / 2
    rays = np.column_stack([flat, np.full(4, 8.0)]) @ cv2.Rodrigues(np.radians((away, away, 0.0)))[0].T
    corners = rays[:, :2] / rays[:, 2:] * focal * max(SIZE)
    return corners - corners.mean(axis=0) + np.array(SIZE) / 2


def test_a_board_fits_in_a_picture_that_is_cut_out_of_a_wide_view():
    corners = beside(4, 4, away=25)
    assert misfit(corners, (4, 4), SIZE) > MISFIT
    assert misfit(corners, (4, 4), SIZE, cut_out=True) < 0.05


@pytest.mark.parametrize("away", [0, 10, 25])
def test_what_is_longer_than_wide_is_no_board_there_either(away):
    assert misfit(beside(6, 4, away=away), (4, 4), SIZE, cut_out=True) > MISFIT


@pytest.mark.parametrize(("columns", "rows"), [(4, 4), (8, 4)])
@pytest.mark.parametrize("tilt", [0, 30, 60])
def test_the_corners_of_a_board_need_not_be_moved(columns, rows, tilt):
    for turn in (0, 30, 75):
        assert strain(seen(columns, rows, tilt=tilt, turn=turn), (columns, rows), SIZE) < 0.02


def test_a_corner_of_a_small_board_makes_it_look_odder_than_one_of_a_large_board_but_is_as_near():
    large = seen(4, 4, tilt=20, turn=10)
    small = (large - large[0]) * 0.2 + 300
    for corners, odd in ((large, 0.13), (small, 0.3)):
        square = np.linalg.norm(corners[1] - corners[0]) / 4
        off = corners + np.array([[0.25, -0.25], [0, 0], [0, 0], [0, 0]]) * square
        assert misfit(off, (4, 4), SIZE) == pytest.approx(odd, rel=0.3)
        assert 0.03 < strain(off, (4, 4), SIZE) < 0.2


def test_what_is_twice_as_long_as_wide_is_far_from_square():
    for tilt, turn in ((0, 0), (25, 20), (40, -25)):
        assert strain(seen(8, 4, tilt=tilt, turn=turn), (4, 4), SIZE) > 0.13


def test_the_unit_square_is_taken_to_any_corners():
    corners = np.array([seen(4, 4, tilt=tilt, turn=20) for tilt in (0, 50)])
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    for each, there in zip(from_unit_square(corners), corners, strict=True):
        assert project(each, square) == pytest.approx(there)
