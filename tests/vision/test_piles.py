"""A card pile in a video: read when it has come to rest and has changed, and never while something moves there."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.rules import Colour, Kind, Layout
from companion.vision.cards import SeenCard
from companion.vision.lens import PINHOLE
from companion.vision.piles import PileWatcher
from companion.vision.pose import BoardPose
from companion.vision.sheets import Sheet, flatten

LAYOUT = Layout.parse("4x4")
POSE = BoardPose(((440.0, 560.0), (840.0, 560.0), (840.0, 160.0), (440.0, 160.0)), 1.0)
FRAME_S = 1 / 12
BRIGHTNESS = {40: Kind.STRAIGHT, 160: Kind.PUSHER, 200: Kind.PULLER}
SHEET = Sheet(78, 114, 46, 62, 0.0)
"""The card on the left pile, and a little of the table around it."""


class ByBrightness:
    """Reads a card's kind off its brightness, and counts how often it was asked."""

    optics = PINHOLE

    def __init__(self) -> None:
        self.asked = 0

    def read(self, image, pose, layout, strip):
        self.asked += strip.left < 0
        part = image[300:420, 270:350] if strip.left < 0 else image[300:420, 930:1010]
        kind = BRIGHTNESS.get(int(part.mean()))
        grey = cv2.cvtColor(flatten(image, pose.points(), layout, strip), cv2.COLOR_BGR2GRAY)
        return SeenCard(frozenset({kind}), SHEET, grey) if kind else None


def table(light=None, dark=None, hand=None, at=240) -> np.ndarray:
    """The shades of the cards, where a hand is, and where Light's card begins."""
    image = np.full((720, 1280, 3), 100, np.uint8)
    for x, shade in ((at, light), (900, dark)):
        if shade is not None:
            cv2.rectangle(image, (x, 270), (x + 140, 460), (shade,) * 3, -1)
    if hand is not None:
        cv2.circle(image, (hand, 500), 60, (120, 150, 200), -1)
    return image


@pytest.fixture
def cards():
    return ByBrightness()


@pytest.fixture
def look(cards):
    watcher, frames = PileWatcher(cards, LAYOUT), iter(range(10**6))

    def show(image, count=6):
        """What is told at the last of so many frames."""
        seen = [watcher.see(next(frames) * FRAME_S, image, POSE) for _ in range(count)]
        return seen[-1]

    return show


def test_both_piles_are_read(look):
    assert look(table(light=40, dark=200)) == {Colour.LIGHT: {Kind.STRAIGHT}, Colour.DARK: {Kind.PULLER}}


def test_where_no_card_is_seen_nothing_is_told(look):
    assert look(table(dark=200)) == {Colour.DARK: {Kind.PULLER}}


def test_nothing_is_told_while_something_moves_there(look):
    look(table(light=40))
    for x in range(100, 400, 60):
        assert Colour.LIGHT not in look(table(light=40, hand=x), 1)
    assert look(table(light=40)) == {Colour.LIGHT: {Kind.STRAIGHT}}


def test_a_pile_that_does_not_change_is_hardly_ever_read(look, cards):
    look(table(light=40), 12)
    before = cards.asked
    look(table(light=40), 120)
    assert cards.asked - before <= 6  # every two seconds


def test_a_new_card_is_read_more_than_once(look, cards):
    look(table(light=40), 30)
    before = cards.asked
    assert look(table(light=200), 8) == {Colour.LIGHT: {Kind.PULLER}}
    assert cards.asked - before >= 3


def test_a_card_from_which_another_was_taken_is_told_with_that_ones_kind(look):
    look(table(light=40))
    look(table(light=200, at=236))
    look(table(light=200, hand=200), 2)
    assert look(table(light=40)) == {Colour.LIGHT: {Kind.STRAIGHT, Kind.PULLER}}
    assert look(table(light=200, at=248)) == {Colour.LIGHT: {Kind.PULLER}}


def test_cards_that_are_taken_off_one_after_the_other_are_all_told(look):
    for light, at in ((40, 240), (200, 236), (160, 246)):
        look(table(light=light, at=at))
    assert look(table(light=200, at=236)) == {Colour.LIGHT: {Kind.PULLER, Kind.PUSHER}}
    assert look(table(light=40)) == {Colour.LIGHT: {Kind.STRAIGHT, Kind.PULLER, Kind.PUSHER}}


def test_a_card_of_the_kind_that_lies_beneath_another_is_told_when_it_is_laid_on_that(look):
    look(table(light=40))
    look(table(light=200, at=236))
    assert look(table(light=40, at=265)) == {Colour.LIGHT: {Kind.STRAIGHT}}


def test_a_lamp_that_is_dimmed_is_no_change(look, cards):
    look(table(light=40), 30)
    before = cards.asked
    dimmed = (table(light=40) * 0.97).astype(np.uint8)
    look(dimmed, 4)
    assert cards.asked == before
