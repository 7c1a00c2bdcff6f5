"""The printed mat, drawn from its measures and seen at an angle: its markers say where the board is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion import mat
from companion.rules import Layout
from companion.vision.board import locate
from companion.vision.markers import mat_corners
from companion.vision.pose import BoardPose

PIXELS_PER_MM = 4
BORDER_MM = mat.REACH_MM + 8
SIZE = (1280, 960)
STRAIGHT = [(340, 700), (820, 700), (820, 220), (340, 220)]
OBLIQUE = [(350, 760), (900, 740), (800, 360), (420, 370)]
TURNED = [(900, 480), (640, 220), (380, 480), (640, 740)]
SMALL = [(500, 600), (740, 600), (730, 380), (510, 380)]


def drawn_mat(hidden=()):
    """The mat from above, and the board's corners in it."""
    side = round((mat.BOARD_MM + 2 * BORDER_MM) * PIXELS_PER_MM)
    sheet = np.full((side, side), 235, np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, mat.DICTIONARY))
    size = round(mat.MARKER_MM * PIXELS_PER_MM)
    for marker in mat.MARKERS:
        x, y = pixels(marker.corners()[:1])[0].round().astype(int)
        if marker.number not in hidden:
            sheet[y : y + size, x : x + size] = cv2.aruco.generateImageMarker(dictionary, marker.number, size) // 2 + 30
    for i in range(mat.SQUARES + 1):
        at = i * mat.SQUARE_MM
        for ends in ([(at, 0), (at, mat.BOARD_MM)], [(0, at), (mat.BOARD_MM, at)]):
            start, end = pixels(ends).round().astype(int).tolist()
            cv2.line(sheet, start, end, 60, 2)
    return sheet


def pixels(points):
    """Where points of the mat are in `drawn_mat`."""
    x, y = np.array(points, float).T
    return np.column_stack([(x + BORDER_MM), (mat.BOARD_MM + BORDER_MM - y)]) * PIXELS_PER_MM


def seen_at(corners, hidden=(), noise=6.0, seed=0):
    """A picture in which the board's corners are at `corners`."""
    rng = np.random.default_rng(seed)
    to_picture = cv2.getPerspectiveTransform(
        pixels(mat.BOARD_CORNERS).astype(np.float32), np.array(corners, np.float32)
    )
    grey = cv2.warpPerspective(drawn_mat(hidden), to_picture, SIZE, flags=cv2.INTER_AREA, borderValue=90)
    shaded = cv2.GaussianBlur(grey, (0, 0), 0.8) * np.linspace(0.6, 1, SIZE[0])
    picture = shaded[..., None] + rng.normal(0, noise, (SIZE[1], SIZE[0], 3))
    return np.clip(picture, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("hidden", [(), (0,), (3, 7), (0, 4, 8)], ids=str)
@pytest.mark.parametrize("corners", [STRAIGHT, OBLIQUE, TURNED, SMALL], ids=["straight", "oblique", "turned", "small"])
def test_the_corners_are_exact_to_a_pixel_whatever_the_angle_and_with_markers_hidden(corners, hidden):
    found = mat_corners(seen_at(corners, hidden))
    assert found is not None
    assert np.abs(found - corners).max() < 1.0


def test_the_mat_says_which_corner_is_a1_and_is_believed_before_anything_else():
    pose = locate(seen_at(TURNED), Layout.parse("4x4"))
    assert isinstance(pose, BoardPose)
    assert np.abs(pose.points() - TURNED).max() < 1.0
    assert pose.score == 1.0


def test_two_markers_are_not_believed():
    assert mat_corners(seen_at(STRAIGHT, hidden=range(2, 12))) is None


def test_markers_out_of_their_places_are_not_believed():
    sheet = drawn_mat()
    size = round(mat.MARKER_MM * PIXELS_PER_MM)
    places = [pixels(marker.corners()[:1])[0].round().astype(int) for marker in mat.MARKERS]
    looks = [sheet[y : y + size, x : x + size].copy() for x, y in places]
    for (x, y), look in zip(places, looks[5:] + looks[:5], strict=True):
        sheet[y : y + size, x : x + size] = np.rot90(look)
    shuffled = np.repeat(sheet[..., None], 3, axis=2)
    assert mat_corners(shuffled) is None or np.abs(mat_corners(shuffled) - pixels(mat.BOARD_CORNERS)).max() < 2


def test_a_picture_without_a_mat_has_none():
    assert mat_corners(np.random.default_rng(2).integers(0, 255, (480, 640, 3)).astype(np.uint8)) is None


def test_markers_keep_their_distance_from_each_other_and_from_the_board():
    boxes = [(marker.left, marker.bottom) for marker in mat.MARKERS]
    assert len(set(boxes)) == len(boxes) == 12
    quiet = mat.MARKER_MM / mat.MODULES
    for i, (x, y) in enumerate(boxes):
        beside = [max(abs(x - u), abs(y - v)) for u, v in boxes[i + 1 :]]
        assert all(gap >= mat.MARKER_MM + quiet for gap in beside)
        outside_x = x + mat.MARKER_MM + quiet <= 0 or x >= mat.BOARD_MM + quiet
        assert outside_x or y + mat.MARKER_MM + quiet <= 0 or y >= mat.BOARD_MM + quiet
