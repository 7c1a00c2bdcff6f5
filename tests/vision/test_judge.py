"""What the judge says of a place does not hang on which of its corners is named first."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest

from companion.vision import lattice
from companion.vision.judge import Judge
from companion.vision.suggestions import in_lab
from tests.vision.drawn_tables import OBLIQUE, laid_on, planks

SQUARE = float(np.linalg.norm(OBLIQUE[1] - OBLIQUE[0])) / 4
NAMINGS = [np.roll(way, turn) for way in (np.arange(4), np.arange(4)[::-1]) for turn in range(4)]


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge((resources.files("companion.vision") / "models" / "judge.onnx").read_bytes())


@pytest.fixture(scope="module")
def levels() -> list[np.ndarray]:
    return lattice.pyramid(in_lab(laid_on(planks(), OBLIQUE), 1280)[0])


@pytest.mark.parametrize("off", [0.0, 0.15, 0.25], ids=["at its corners", "a little off", "off"])
def test_a_place_is_worth_as_much_however_its_corners_are_named(judge, levels, off):
    place = OBLIQUE + off * SQUARE
    named = judge.judge_from_all_sides(levels, [place[naming] for naming in NAMINGS])
    np.testing.assert_allclose([verdict.score for verdict in named], named[0].score, atol=0.02)
    for verdict, naming in zip(named, NAMINGS, strict=True):
        np.testing.assert_allclose(verdict.mended, named[0].mended[naming], atol=0.03 * SQUARE)
        np.testing.assert_allclose(verdict.covered, named[0].covered[naming], atol=0.05)


def test_a_place_that_is_a_little_off_is_mended_in_the_order_in_which_its_corners_were_named(judge, levels):
    place = (OBLIQUE + 0.2 * SQUARE)[::-1]
    (verdict,) = judge.judge_from_all_sides(levels, [place])
    assert np.abs(verdict.mended - OBLIQUE[::-1]).max() < 0.1 * SQUARE
    np.testing.assert_array_equal(verdict.corners, place)


def test_of_no_place_nothing_is_said(judge, levels):
    assert judge.judge_from_all_sides(levels, []) == []
