"""What is too blurred, shaken or burnt out tells nothing, and is never told wrongly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.commands.eyes import board_reader
from companion.readings import ANYTHING, contents_of
from companion.rules import Layout
from companion.vision.legible import blurred, burnt_out, but_for, sharpness, shows_nothing
from companion.vision.levels import BURNT
from companion.vision.pose import locate_given
from companion.vision.rectify import MARGIN, PATCH, SQUARE, pixels_per_square, rectify
from tests.bench.squares import seen
from tests.vision.spoiling import out_of_focus, shaken

BOARD = Layout.parse("4x4")
PICTURES = Path(__file__).parent.parent / "data" / "squares"
TRUTHS = [json.loads(line) for line in (PICTURES / "truth.jsonl").read_text(encoding="utf-8").splitlines()]


def corners_of(truth):
    return np.array([truth["corners"][name] for name in ("a1", "d1", "d4", "a4")])


SPOILT = {
    "soft": lambda image, square: cv2.GaussianBlur(image, (0, 0), 0.1 * square),
    "very soft": lambda image, square: cv2.GaussianBlur(image, (0, 0), 0.2 * square),
    "out of focus": lambda image, square: out_of_focus(image, 0.2 * square),
    "shaken across": lambda image, square: shaken(image, 0.7 * square, 0),
    "shaken up": lambda image, square: shaken(image, 0.7 * square, 90),
    "shaken askew": lambda image, square: shaken(image, 0.9 * square, 40),
}


def told(truth, spoil=lambda image, square: image):
    """The reading of a picture, and how many squares it tells right, unclear and wrong."""
    corners = corners_of(truth)
    image = spoil(cv2.imread(str(PICTURES / truth["image"])), pixels_per_square(corners, BOARD))
    pose = locate_given(corners.tolist(), (image.shape[1], image.shape[0]))
    reading = replace(board_reader(BOARD), locate=lambda *_: pose).read(np.asarray(image, np.uint8))
    counts = {"right": 0, "unclear": 0, "wrong": 0}
    for square, contents in zip(BOARD, reading.squares, strict=True):
        if str(square) not in truth["hidden"]:
            lies = seen(truth["squares"][str(square)])
            counts["right" if not contents & ~lies else "unclear" if contents & lies else "wrong"] += 1
    return reading, counts


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_a_spoilt_picture_tells_hardly_anything_and_nothing_wrong(spoil):
    told_of = [told(truth, spoil) for truth in TRUTHS]
    assert sum(counts["wrong"] for _, counts in told_of) == 0
    assert sum(reading.blurred for reading, _ in told_of) >= len(TRUTHS) - 2
    assert all(set(reading.squares) == {ANYTHING} and not reading.hidden for reading, _ in told_of if reading.blurred)


def test_a_good_picture_is_not_called_blurred():
    for truth in TRUTHS:
        view = rectify(cv2.imread(str(PICTURES / truth["image"])), corners_of(truth), BOARD)
        assert sharpness(view, BOARD) > 0.2, truth["image"]
        assert not blurred(view, BOARD).any(), truth["image"]


def glare(view, x, y, *, wide=28.0):
    """The view with a soft glare at these squares from its left and its top: white in the middle, shading off."""
    down, right = np.indices(view.shape[:2])
    squared = (right - MARGIN - x * SQUARE) ** 2 + (down - MARGIN - y * SQUARE) ** 2
    light = 330 * np.exp(-squared / (2 * wide**2))
    return np.clip(view + light[..., None], 0, 255).astype(np.uint8)


def test_a_soft_glare_is_not_taken_for_a_blur():
    for truth in TRUTHS:
        view = rectify(cv2.imread(str(PICTURES / truth["image"])), corners_of(truth), BOARD)
        assert not blurred(glare(view, 2.4, 0.9), BOARD).any(), truth["image"]


def test_a_blurred_half_with_a_glare_tells_nothing():
    part = np.s_[: MARGIN + 2 * SQUARE]
    for truth in TRUTHS:
        view = rectify(cv2.imread(str(PICTURES / truth["image"])), corners_of(truth), BOARD)
        view[part] = cv2.GaussianBlur(view[part], (0, 0), 6)
        soft = blurred(glare(view, 2.4, 0.9), BOARD)
        assert np.count_nonzero(soft) >= 4, truth["image"]


@pytest.mark.parametrize("side", ["left", "right", "near", "far"])
def test_where_half_the_board_is_out_of_focus_that_half_tells_nothing(side):
    half = {
        "left": (lambda square: square.column < 2, np.s_[:, : MARGIN + 2 * SQUARE]),
        "right": (lambda square: square.column >= 2, np.s_[:, MARGIN + 2 * SQUARE :]),
        "near": (lambda square: square.row < 2, np.s_[MARGIN + 2 * SQUARE :]),
        "far": (lambda square: square.row >= 2, np.s_[: MARGIN + 2 * SQUARE]),
    }
    inside, part = half[side]
    for truth in TRUTHS:
        view = rectify(cv2.imread(str(PICTURES / truth["image"])), corners_of(truth), BOARD)
        view[part] = cv2.GaussianBlur(view[part], (0, 0), 6)
        soft = {square for square, gone in zip(BOARD, blurred(view, BOARD), strict=True) if gone}
        assert soft <= {square for square in BOARD if inside(square)}, truth["image"]
        assert len(soft) >= 4, truth["image"]


@pytest.mark.parametrize("text", ["..##../######/######/..##..", "########/########/########/########", "##.##/##.##"])
def test_boards_of_other_shapes_are_looked_at_as_a_whole(text):
    layout = Layout.parse(text)
    size = (layout.rows * SQUARE + 2 * MARGIN, layout.columns * SQUARE + 2 * MARGIN)
    down, right = np.indices(size) // SQUARE
    checks = np.where((down + right) % 2, 90, 160).astype(np.uint8)
    sharp = cv2.merge([checks] * 3)
    assert blurred(sharp, layout).tolist() == [False] * len(layout)
    assert blurred(cv2.GaussianBlur(sharp, (0, 0), 6), layout).tolist() == [True] * len(layout)


def test_a_view_shows_nothing_if_it_is_blurred_or_plainer_than_any_board():
    plain = np.full((4 * SQUARE + 2 * MARGIN, 4 * SQUARE + 2 * MARGIN, 3), 120, np.uint8)
    sharp = plain.copy()
    sharp[::10] = sharp[:, ::10] = 40
    assert not shows_nothing(sharp, BOARD)
    assert shows_nothing(cv2.GaussianBlur(sharp, (0, 0), 8), BOARD)
    assert shows_nothing(plain, BOARD)


@pytest.mark.parametrize("degrees", [0, 90])
def test_what_is_shaken_one_way_only_is_blurred_though_steps_across_it_are_sharp(degrees):
    down, right = np.indices((4 * SQUARE + 2 * MARGIN, 4 * SQUARE + 2 * MARGIN)) // SQUARE
    sharp = cv2.merge([np.where((down + right) % 2, 90, 160).astype(np.uint8)] * 3)
    view = shaken(sharp, 0.6 * SQUARE, degrees)
    assert sharpness(sharp, BOARD) > 0.4
    assert sharpness(view, BOARD) < 0.1
    assert shows_nothing(view, BOARD)
    assert blurred(view, BOARD).all()


def test_where_nothing_stands_out_nothing_says_that_it_is_blurred():
    assert sharpness(np.full((4 * SQUARE + 2 * MARGIN, 4 * SQUARE + 2 * MARGIN, 3), 130, np.uint8), BOARD) == 1.0


def test_a_square_that_is_burnt_out_may_hold_anything():
    patches = np.full((3, PATCH, PATCH, 3), 120, np.uint8)
    patches[1], patches[2, : PATCH // 2] = BURNT, 255
    burnt = burnt_out(patches)
    assert burnt.tolist() == [False, True, False]
    empty = contents_of([None])
    assert but_for(burnt, [empty] * 3) == (empty, ANYTHING, empty)


def test_glare_on_a_square_leaves_it_unclear_and_the_others_as_they_were():
    truth = next(truth for truth in TRUTHS if truth["image"] == "wood_014.jpg")
    corners = corners_of(truth)
    whole = cv2.getPerspectiveTransform(
        np.array([[0, 0], [4, 0], [4, 4], [0, 4]], np.float32), corners.astype(np.float32)
    )
    spot = cv2.perspectiveTransform(np.array([[[0.0, 0], [1, 0], [1, 1], [0, 1]]]), whole)[0]

    def with_glare(image, _):
        return cv2.fillConvexPoly(image.copy(), spot.astype(np.int32), (255, 255, 255))

    (before, _), (after, counts) = told(truth), told(truth, with_glare)
    assert counts["wrong"] == 0
    assert after.squares[0] == ANYTHING
    assert after.squares[2:4] == before.squares[2:4]
