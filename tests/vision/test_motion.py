"""What comes to lie beside the board may hold what seems to lie on it: the rim, seen from above, in grey."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.rules import Layout
from companion.vision.motion import Motion
from companion.vision.rectify import MARGIN, SQUARE

LAYOUT = Layout.parse("4x4")
SIDE = 4 * SQUARE + 2 * MARGIN
STEP_S = 0.1
B4 = slice(MARGIN + SQUARE, MARGIN + 2 * SQUARE)
"""The columns of b4, which is at the far edge: the top of the view."""
NEXT_TO_B4 = {"a3", "b3", "c3", "a4", "c4"}


def view(*things: tuple[slice, slice], light: float = 1.0) -> np.ndarray:
    """A board of checked squares on a table, with white things on it."""
    picture = np.full((SIDE, SIDE, 3), 90, np.uint8)
    for square in LAYOUT:
        x, y = MARGIN + square.column * SQUARE, MARGIN + (3 - square.row) * SQUARE
        cv2.rectangle(
            picture, (x, y), (x + SQUARE, y + SQUARE), (120 + 20 * ((square.row + square.column) % 2),) * 3, -1
        )
    for thing in things:
        picture[thing] = 220
    return np.clip(picture * light, 0, 255).astype(np.uint8)


HAND = (slice(0, MARGIN + 10), B4)
SPARE = (slice(0, MARGIN - 8), B4)
LEANING = (slice(MARGIN - 8, MARGIN + 30), B4)


def held(motion: Motion, *views: np.ndarray, since: float = 0.0) -> set[str]:
    """The squares that are held after the last of these views."""
    for i, each in enumerate(views):
        _, _, held = motion.see(since + i * STEP_S, each)
    return {str(square) for i, square in enumerate(LAYOUT.squares) if held >> i & 1}


@pytest.fixture
def motion() -> Motion:
    """Of a board at rest for three seconds."""
    motion = Motion(LAYOUT)
    assert held(motion, *[view()] * 30) == set()
    return motion


def test_a_hand_that_lies_across_the_edge_may_hold_what_is_beside_it(motion):
    assert held(motion, *[view(HAND)] * 5, since=3) == NEXT_TO_B4
    assert held(motion, *[view()] * 5, since=3.5) == set()


def test_what_lies_there_for_long_was_put_aside_and_is_no_news_when_it_is_gone(motion):
    assert held(motion, *[view(HAND)] * 40, since=3) == set()
    assert held(motion, *[view()] * 5, since=7) == set()
    assert held(motion, *[view(HAND)] * 5, since=7.5) == set()


@pytest.mark.parametrize("thing", [SPARE, LEANING])
def test_a_spare_piece_and_one_that_leans_out_hold_nothing(motion, thing):
    assert held(motion, *[view(thing)] * 5, since=3) == set()


def test_a_lamp_holds_nothing(motion):
    assert held(motion, *[view(light=0.7)] * 5, since=3) == set()


def test_on_every_side_of_the_board_something_may_be_held(motion):
    across = slice(0, MARGIN + 10), slice(SIDE - MARGIN - 10, SIDE)
    a2 = slice(MARGIN + 2 * SQUARE, MARGIN + 3 * SQUARE)
    beside_a2 = {"a1", "b1", "b2", "a3", "b3"}
    assert held(motion, *[view((a2, across[0]))] * 5, since=3) == beside_a2
    other = Motion(LAYOUT)
    held(other, *[view()] * 30)
    assert held(other, *[view((across[1], B4))] * 5, since=3) == {"a1", "c1", "a2", "b2", "c2"}
    right = Motion(LAYOUT)
    held(right, *[view()] * 30)
    assert held(right, *[view((a2, across[1]))] * 5, since=3) == {"c1", "d1", "c2", "c3", "d3"}
