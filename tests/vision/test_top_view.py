"""The top view of a board: what is thin neither flickers nor gets lost, however quickly it is made."""

from __future__ import annotations

import numpy as np
import pytest

from companion.rules import Layout
from companion.vision.rectify import pixels_per_square, rectify

BOARD = Layout.parse("4x4")
CORNERS = np.array([[40, 540], [540, 555], [555, 40], [30, 30]], np.float32)
"""Some 130 pixels a square."""


def view_of(stripes, finest, pixels):
    """The top view of what is drawn in so fine stripes, black and white, of a board with so many pixels a square."""
    corners = CORNERS * np.float32(pixels / pixels_per_square(CORNERS, BOARD))
    x, y = np.meshgrid(np.arange(600), np.arange(600))
    drawn = np.where((x + y) // stripes % 2, 255, 0).astype(np.uint8)
    view = rectify(np.repeat(drawn[..., None], 3, axis=2), corners, BOARD, finest=finest)
    return view[30:-30, 30:-30].astype(float)


@pytest.mark.parametrize("pixels", [100, 110, 130, 150])
def test_stripes_finer_than_the_view_are_nearly_as_even_a_grey_in_frames_as_in_photographs(pixels):
    rough, frame, photograph = (view_of(2, finest=finest, pixels=pixels) for finest in (1, 2, 4))
    assert frame.mean() == pytest.approx(127.5, abs=3)
    assert frame.std() < photograph.std() + 7 < 30 < rough.std()


@pytest.mark.parametrize("pixels", [45, 55, 64, 76, 88])
def test_of_smaller_boards_frames_show_what_photographs_do(pixels):
    assert (view_of(2, finest=2, pixels=pixels) == view_of(2, finest=4, pixels=pixels)).all()


@pytest.mark.parametrize("finest", [1, 2, 4])
def test_stripes_that_are_broad_enough_are_seen(finest):
    assert view_of(12, finest=finest, pixels=130).std() > 80
