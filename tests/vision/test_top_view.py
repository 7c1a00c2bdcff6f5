"""The top view of a board: how finely a picture is sampled, and that what is thin neither flickers nor gets lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.rules import Layout
from companion.vision.rectify import rectify

BOARD = Layout.parse("4x4")
CORNERS = np.array([[40, 540], [540, 555], [555, 40], [30, 30]], np.float32)
"""Some 125 pixels a square."""


def view_of(fine, apart):
    """The top view of what is drawn in so fine stripes, black and white."""
    x, y = np.meshgrid(np.arange(600), np.arange(600))
    stripes = np.where((x + y) // fine % 2, 255, 0).astype(np.uint8)
    return rectify(np.repeat(stripes[..., None], 3, axis=2), CORNERS, BOARD, apart=apart)[30:-30, 30:-30].astype(float)


@pytest.mark.parametrize("apart", [1.0, 1.6])
def test_stripes_finer_than_the_view_are_an_even_grey(apart):
    assert view_of(2, apart).mean() == pytest.approx(127.5, abs=3)
    assert view_of(2, apart).std() < 12
    assert view_of(2, math.inf).std() > 80


@pytest.mark.parametrize("apart", [1.0, 1.6, math.inf])
def test_stripes_that_are_broad_enough_are_seen(apart):
    assert view_of(12, apart).std() > 80
