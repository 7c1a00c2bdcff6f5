"""Medians, ranks and darkest channels, beside the library's."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.levels import darkest, middle, ranked

LEVELS = np.random.default_rng(5).integers(0, 256, (9, 7)).astype(np.int16)


def test_a_median_is_the_librarys_and_of_the_same_type():
    assert middle(LEVELS) == np.median(LEVELS)
    assert middle(LEVELS).dtype == LEVELS.dtype
    for axis in (0, 1):
        assert (middle(LEVELS, axis) == np.median(LEVELS, axis=axis)).all()
    assert middle(np.array([1, 2])) == 2


def test_a_median_of_what_hardly_differs_is_the_librarys():
    differences = np.array([0] * 20 + [-200, -3, -3, 5, 255], np.int16)
    for values in (differences, differences[::2], differences[-5:], differences[-2:-1]):
        assert middle(values) == np.sort(values)[values.size // 2]


@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.9])
def test_a_rank_is_a_plain_number_that_this_share_lies_below(share):
    found = ranked(LEVELS, share)
    assert type(found) is float
    assert found in LEVELS
    assert int((found > LEVELS).sum()) <= share * LEVELS.size < int((found >= LEVELS).sum())


def test_the_darkest_channel_of_pixels_in_rows_or_in_a_list():
    pixels = np.random.default_rng(6).integers(0, 256, (4, 5, 3)).astype(np.uint8)
    assert (darkest(pixels) == pixels.min(axis=2)).all()
    assert (darkest(pixels[0]) == pixels[0].min(axis=1)).all()
