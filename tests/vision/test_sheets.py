"""What is shaped like a card beside the board is found, upright, wherever it lies."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.rules import Layout
from companion.vision.sheets import PICTURE, PITCH, Sheet, Strip, around, beside, flatten, sheets, within

LAYOUT = Layout.parse("4x4")


def view(*cards: Sheet, ground: int = 60, paper: int = 220) -> np.ndarray:
    """A strip of table with cards on it, each with a dark bar near its upper edge."""
    seen = np.full((211, 141, 3), ground, np.uint8)
    for card in cards:
        cv2.fillConvexPoly(seen, np.round(card.corners).astype(np.int32), (paper,) * 3, cv2.LINE_AA)
        upper = card.corners[:2] * 0.75 + card.corners[3:1:-1] * 0.25
        cv2.line(seen, *np.round(upper * 0.8 + upper[::-1] * 0.2).astype(int).tolist(), (20, 20, 20), 4)
    return np.asarray(cv2.GaussianBlur(seen, (0, 0), 0.7), np.uint8)


@pytest.mark.parametrize("turn", [0, 8, -25, 45, 90, 170])
@pytest.mark.parametrize(("width", "height"), [(40, 56), (52, 70), (62, 90)])
def test_a_card_is_found_where_it_lies(turn, width, height):
    card = Sheet(72.0, 101.0, width, height, np.radians(turn))
    best = max(sheets(view(card)), key=card.shared)
    assert best.shared(card) > 0.9


@pytest.mark.parametrize(("width", "height"), [(20, 30), (100, 150), (60, 60), (30, 100)])
def test_what_is_not_of_the_size_and_shape_of_a_card_is_not_proposed(width, height):
    seen = np.full((211, 141, 3), 60, np.uint8)
    cv2.rectangle(seen, (20, 30), (20 + width, 30 + height), (220, 220, 220), -1)
    assert sheets(seen) == []


def test_hardly_anything_is_proposed_on_a_bare_table():
    grain = np.random.default_rng(1).normal(90, 4, (211, 141, 1)).clip(0, 255)
    assert len(sheets(np.repeat(grain, 3, axis=2).astype(np.uint8))) <= 1


def test_a_picture_is_upright_however_the_card_lies():
    for turn in (0, 20, -70):
        card = Sheet(72.0, 101.0, 48, 68, np.radians(turn))
        seen = card.picture(view(card))
        assert seen.shape == (PICTURE[1], PICTURE[0], 3)
        rows = seen[8:-8, 8:-8].min(axis=(1, 2))
        assert rows[:15].min() < 60
        assert rows[20:].min() > 150


def test_a_messy_pile_is_one_thing():
    pile = [Sheet(70.0 + dx, 100.0 + dy, 48, 66, turn) for dx, dy, turn in ((-4, 3, 0.1), (3, -3, -0.08), (0, 0, 0.0))]
    assert max(sheet.shared(pile[-1]) for sheet in sheets(view(*pile))) > 0.7


def test_strips_lie_beside_the_board():
    left, right = beside(LAYOUT)
    assert (left.right, right.left) == (0, 4)
    assert around(LAYOUT)[:2] == (left, right)
    assert len(around(LAYOUT)) == 4


@pytest.mark.parametrize("strip", around(LAYOUT))
def test_a_strip_is_seen_from_above_with_the_far_side_on_top(strip: Strip):
    image = np.zeros((720, 1280, 3), np.uint8)
    corners = np.array([[560, 420], [720, 415], [700, 280], [575, 282]], np.float64)
    middle = np.array([(strip.left + strip.right) / 2, (strip.near + strip.far) / 2])
    lay = strip.to_picture(corners, LAYOUT)
    at = lay @ np.array([*(middle - (strip.left, strip.far)) * (PITCH, -PITCH) - 0.5, 1.0])
    x, y = (at[:2] / at[2]).tolist()
    cv2.circle(image, (round(x), round(y)), 6, (255, 255, 255), -1)
    seen = flatten(image, corners, LAYOUT, strip)
    brightest = np.unravel_index(cv2.GaussianBlur(seen[..., 0], (0, 0), 3).argmax(), seen.shape[:2])
    assert np.abs(np.array(brightest) - np.array(seen.shape[:2]) / 2).max() < 4


def test_where_the_picture_ends_a_strip_is_plain():
    image = np.full((400, 400, 3), 90, np.uint8)
    corners = np.array([[40, 360], [360, 360], [360, 40], [40, 40]], np.float64)
    seen = flatten(image, corners, LAYOUT, beside(LAYOUT)[0])
    assert (seen == 90).mean() > 0.98


def test_what_the_picture_shows_only_in_part_is_left_out():
    inside, outside = Sheet(72.0, 101.0, 48, 68, 0.0), Sheet(20.0, 101.0, 48, 68, 0.0)
    lay = np.array([[1.0, 0, -10.0], [0, 1.0, 0], [0, 0, 1.0]])
    assert within([inside, outside], lay, (200, 200)) == [inside]
