"""Bands that roll over the picture are taken away, and nothing else is: drawn tables, row by row."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import pytest

from companion.vision.bands import Bands
from tests.bench import cameras

STEP_S = 1 / 15
HEIGHT, WIDTH = 360, 640


@pytest.fixture(scope="module")
def table() -> np.ndarray:
    """A picture of spots of all sizes."""
    rng = np.random.default_rng(1)
    spots = sum(cv2.GaussianBlur(rng.normal(0, 30 * reach, (HEIGHT, WIDTH, 3)), (0, 0), reach) for reach in (1, 3, 9))
    return np.clip(120 + spots, 30, 200).astype(np.uint8)


def banded(picture: np.ndarray, frame: int, *, depth: float = 0.15, count: float = 3.0) -> np.ndarray:
    """With rows that are brighter and darker, elsewhere in each frame."""
    return cameras.banded(picture, depth, count, 0.9 * frame)


def watched(frames: list[np.ndarray]) -> list[np.ndarray]:
    """What becomes of pictures that follow each other."""
    bands = Bands()
    return [bands.without(frame, i * STEP_S) for i, frame in enumerate(frames)]


def differ(one: np.ndarray, other: np.ndarray) -> float:
    """By how many grey levels, in the mean."""
    return float(cv2.absdiff(one, other).mean())


@pytest.mark.parametrize("count", [0.7, 3.0, 11.0])
@pytest.mark.parametrize("depth", [0.05, 0.3])
def test_bands_that_roll_over_the_picture_are_taken_away(table, depth, count):
    frames = [banded(table, i, depth=depth, count=count) for i in range(90)]
    *_, before, last = watched(frames)
    assert differ(last, before) < differ(frames[-1], frames[-2]) / 4
    assert differ(last, table) < 4


def test_they_are_taken_away_from_the_first_frames_on(table):
    seen = watched([banded(table, i) for i in range(8)])
    assert all(differ(one, other) < 2 for one, other in pairwise(seen[2:]))


def test_what_moves_between_the_bands_stays(table):
    frames = [table.copy() for _ in range(60)]
    for i, frame in enumerate(frames[40:]):
        cv2.rectangle(frame, (16 * i, 120), (16 * i + 120, 320), (90, 120, 190), -1)
    seen = watched([banded(frame, i) for i, frame in enumerate(frames)])
    assert all(differ(got, frame) < 4 for got, frame in zip(seen[40:], frames[40:], strict=True))


def test_an_arm_all_across_some_rows_brings_no_bands_back(table):
    frames = [banded(table, i) for i in range(60)]
    for frame in frames[40:]:
        cv2.rectangle(frame, (0, 150), (500, 220), (12, 10, 9), -1)
    bare = [frame[:140] for frame in watched(frames)[38:]]
    assert all(differ(one, other) < 2 for one, other in pairwise(bare))


def test_what_is_burnt_out_stays_burnt_out(table):
    table = table.copy()
    table[100:200, 100:300] = 255
    frames = [banded(table, i) for i in range(60)]
    for frame in frames:
        frame[120:180, 120:280] = 255
    seen = watched(frames)
    assert all((each[120:180, 120:280] == 255).all() for each in seen)
    assert differ(seen[-1][220:], table[220:]) < 3


def test_they_lie_along_the_columns_of_a_picture_from_a_camera_on_its_side(table):
    standing = [np.ascontiguousarray(banded(table, i).transpose(1, 0, 2)) for i in range(60)]
    last = watched(standing)[-1]
    assert differ(last, table.transpose(1, 0, 2)) < 3
    assert last.flags.c_contiguous


def noisy(picture: np.ndarray, frame: int) -> np.ndarray:
    """As a cheap camera shows it in the evening."""
    noise = np.random.default_rng(frame).normal(0, 6, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def brighter(picture: np.ndarray, frame: int) -> np.ndarray:
    """All of it, now and then."""
    return np.clip(picture * (1 + 0.2 * np.sin(2 * frame)), 0, 255).astype(np.uint8)


def shaken(picture: np.ndarray, frame: int) -> np.ndarray:
    """By some pixels."""
    return np.roll(picture, (round(4 * np.sin(frame)), round(3 * np.cos(2 * frame))), (0, 1))


def swaying_stripes(picture: np.ndarray, frame: int, *, period: float) -> np.ndarray:
    """On a striped cloth, from a camera that is held in the hand; what lies on it sways along."""
    cloth = 110 * (1 + 0.2 * np.sign(np.sin(2 * np.pi * np.arange(HEIGHT) / period)))
    striped = np.broadcast_to(cloth[:, None, None], picture.shape).astype(np.uint8).copy()
    striped[80:280, 220:420] = picture[80:280, 220:420]
    return np.roll(striped, round(9 * np.sin(0.4 * frame)), 0)


def striped_finely(picture: np.ndarray, frame: int) -> np.ndarray:
    """With stripes of six pixels."""
    return swaying_stripes(picture, frame, period=12)


def striped(picture: np.ndarray, frame: int) -> np.ndarray:
    """With stripes of ten pixels."""
    return swaying_stripes(picture, frame, period=20)


def reached_over(picture: np.ndarray, frame: int) -> np.ndarray:
    """By an arm, from one side to beyond the middle."""
    arm = picture.copy()
    cv2.rectangle(arm, (0, 100 + 2 * frame), (460, 200 + 2 * frame), (80, 110, 170), -1)
    return arm


@pytest.mark.parametrize("change", [noisy, brighter, shaken, striped_finely, striped, reached_over])
def test_a_picture_without_bands_is_left_as_it_is(table, change):
    frames = [change(table, i) for i in range(60)]
    assert all(got is frame for got, frame in zip(watched(frames), frames, strict=True))


def test_a_lamp_that_flickers_once_is_no_lamp_that_flickers(table):
    frames = [banded(table, i) if i == 40 else table for i in range(60)]
    assert all(got is frame for got, frame in zip(watched(frames), frames, strict=True))


def test_pictures_of_another_size_begin_anew(table):
    frames = [banded(table, i) for i in range(30)]
    small = cv2.resize(table, None, fx=0.5, fy=0.5)
    assert watched([*frames, small])[-1] is small


def test_photographs_that_lie_minutes_apart_are_not_frames_of_a_video(table):
    bands, pictures = Bands(), [banded(table, i) for i in range(9)]
    assert all(bands.without(each, 100.0 * i) is each for i, each in enumerate(pictures))


def test_of_two_pictures_neither_is_changed(table):
    pictures = [table, banded(table, 1)]
    assert all(got is each for got, each in zip(watched(pictures), pictures, strict=True))


def test_a_tiny_picture_is_left_as_it_is(table):
    tiny = [cv2.resize(banded(table, i), (48, 27)) for i in range(30)]
    assert all(got is each for got, each in zip(watched(tiny), tiny, strict=True))


def test_a_clock_that_runs_back_begins_anew(table):
    bands, pictures = Bands(), [banded(table, i) for i in range(90)]
    for i, each in enumerate(pictures[:30]):
        bands.without(each, 2000 + i * STEP_S)
    assert bands.without(pictures[30], 0) is pictures[30]
    seen = [bands.without(each, i * STEP_S) for i, each in enumerate(pictures[30:])]
    assert differ(seen[-1], table) < 4


def test_a_camera_that_is_turned_on_its_side_begins_anew(table):
    bands, standing = Bands(), np.ascontiguousarray(table.transpose(1, 0, 2))
    for i in range(30):
        bands.without(banded(table, i), i * STEP_S)
    assert bands.without(standing, 2) is standing
