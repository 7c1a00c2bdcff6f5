"""From heat maps to places: whose four peaks belong together, and what the maps must show besides."""

from __future__ import annotations

from importlib import resources

import cv2
import numpy as np
import pytest

from companion.vision.plane import project
from companion.vision.pointer import CHANNELS, FINER, LITTLE, LONGER, LONGEST, Maps, Pointer, finer, tone
from tests.vision.drawn_tables import OBLIQUE, laid_on, planks

SHAPE = (60, 80)
SQUARE = np.array([[20.0, 45.0], [50.0, 42.0], [47.0, 14.0], [22.0, 16.0]])


def heat_of(corners: np.ndarray, *, seen: tuple[int, ...] = (0, 1, 2, 3)) -> np.ndarray:
    """The maps of a board with these corners, of which only those `seen` are hot."""
    maps = np.zeros((CHANNELS, *SHAPE))
    unit = np.array([[0, 4], [4, 4], [4, 0], [0, 0]], np.float32)
    grid = cv2.getPerspectiveTransform(unit, corners.astype(np.float32))
    crossings = project(grid, np.array([(x, y) for x in range(5) for y in range(5) if not {x, y} <= {0, 4}], float))
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    for channel, points in ((0, corners[list(seen)]), (1, crossings)):
        for px, py in points:
            maps[channel] = np.maximum(maps[channel], 0.9 * np.exp(-((x - px) ** 2 + (y - py) ** 2) / 2))
    board = np.zeros(SHAPE, np.uint8)
    cv2.fillConvexPoly(board, np.round(corners).astype(np.int32), 1)
    maps[2] = board
    return maps


def off(found: np.ndarray, truth: np.ndarray) -> float:
    ways = [np.roll(way, turn, axis=0) for way in (found, found[::-1]) for turn in range(4)]
    return min(float(np.abs(way - truth).max()) for way in ways)


def test_four_peaks_make_a_place_between_the_maps_places():
    best = Maps(heat_of(SQUARE + 0.3)).places()[0]
    assert off(best.corners, SQUARE + 0.3) < 0.35
    assert best.support > 0.6


def test_peaks_that_nothing_else_supports_do_not_mislead():
    maps = heat_of(SQUARE)
    for x, y in ((70, 8), (72, 52), (5, 5)):
        maps[0, y, x] = 1.0
    assert off(Maps(maps).places()[0].corners, SQUARE) < 1


def test_a_corner_that_is_not_seen_is_guessed_from_the_others():
    assert any(off(place.corners, SQUARE) < 4 for place in Maps(heat_of(SQUARE, seen=(0, 1, 3))).places())


def test_cold_maps_have_no_place():
    assert Maps(np.zeros((CHANNELS, *SHAPE))).places() == []


@pytest.mark.parametrize("third", [(45.0, 42.0), (35.0, 43.5), (20.0, 45.0)], ids=["inward", "on a line", "twice"])
def test_corners_that_go_round_nothing_are_supported_less_than_the_board(third: tuple[float, float]):
    maps = Maps(heat_of(SQUARE))
    folded = np.array([SQUARE[0], SQUARE[1], third, SQUARE[3]])
    assert 0 <= maps.support(folded) < 0.8 * maps.support(SQUARE)


def test_crossings_are_looked_for_where_the_perspective_puts_them():
    corners = np.array([[10.0, 50.0], [70.0, 50.0], [50.0, 20.0], [30.0, 20.0]])
    seen = Maps(heat_of(corners))
    assert seen.support(corners) > 0.8
    parallel = np.array([[10.0, 50.0], [70.0, 50.0], [70.0, 20.0], [10.0, 20.0]])
    assert Maps(heat_of(parallel)).support(corners) < 0.75 * seen.support(corners)


def test_folded_scores_unfold_to_finer_maps():
    scores = np.full((CHANNELS * FINER**2, 2, 3), -20.0)
    scores[FINER**2 + 1, 1, 2] = 20.0  # crossings, upper right of the four
    maps = finer(scores)
    assert maps.shape == (CHANNELS, 4, 6)
    assert np.argwhere(maps > 0.5).tolist() == [[1, 2, 5]]


@pytest.mark.parametrize("gain", [0.5, 1.0])
def test_a_dimmer_picture_is_toned_to_the_same(gain):
    picture = np.random.default_rng(1).integers(40, 250, (20, 30, 3)).astype(np.uint8)
    assert np.abs(tone((picture * gain).astype(np.uint8)) - tone(picture)).max() < 0.05


def test_a_picture_and_its_mirror_image_show_the_pointer_the_same_places():
    pointer = Pointer((resources.files("companion.vision") / "models" / "pointer.onnx").read_bytes())
    picture = laid_on(planks(), OBLIQUE)[:, 3:]
    corners = OBLIQUE - (3, 0)
    mirrored = np.column_stack([picture.shape[1] - 1 - corners[:, 0], corners[:, 1]])
    sights = pointer.see(picture), pointer.see(np.ascontiguousarray(picture[:, ::-1]))
    assert sights[0].support(corners) == pytest.approx(sights[1].support(mirrored), abs=0.01)
    assert sights[0].support(corners) > 0.6
    for sight, truth in zip(sights, (corners, mirrored), strict=True):
        assert all(off(place.corners, truth) < 20 for place in sight.places[:2])


def test_a_glance_needs_no_mirror():
    looked = []

    class Watched(Pointer):
        def looks(self, image, hint, *, mirrored):
            looked.append(mirrored)
            return super().looks(image, hint, mirrored=mirrored)

    pointer = Watched((resources.files("companion.vision") / "models" / "pointer.onnx").read_bytes())
    sight = pointer.see(laid_on(planks(), OBLIQUE))
    assert looked == []
    glanced = sight.at_a_glance
    assert looked == [False]
    assert glanced == max(place.support for look in sight._straight for place in look.places) > 0.6
    assert sight.places
    assert looked == [False, True]


def test_what_shows_next_to_nothing_is_not_looked_at_more_closely():
    looked = []

    class Watched(Pointer):
        def heat(self, image, longest=LONGEST):
            looked.append(longest)
            return super().heat(image, longest)

    pointer = Watched((resources.files("companion.vision") / "models" / "pointer.onnx").read_bytes())
    nothing = np.full((480, 640, 3), 120, np.uint8)
    sight = pointer.see(nothing)
    assert sight.at_a_glance < LITTLE
    assert looked[:2] == [LONGEST, LONGER]
    straight = len(looked)
    assert sight.support(OBLIQUE) < LITTLE
    assert looked[straight:] == [LONGEST]
    looked.clear()
    assert pointer.see(nothing, hint=0.2).at_a_glance < LITTLE
    assert looked == [LONGEST]
