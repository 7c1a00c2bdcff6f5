"""Photographs that drawn tables lie on: which pictures are some, which are for what, and what they leave as it is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training.dataset import Split
from calibration.training.photographs import choose, of_split
from calibration.training.tables import boardless, draw_table

FABRICS = Fabrics(np.random.default_rng(3), count=3)


def photograph(seed: int, size: tuple[int, int] = (300, 400)):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 255, (12, 16, 3)).astype(np.uint8)
    return cv2.add(cv2.resize(coarse, size[::-1]), rng.integers(0, 12, (*size, 3)).astype(np.uint8))


@pytest.fixture
def unpacked(tmp_path):
    folder = tmp_path / "unpacked" / "some-pages"
    folder.mkdir(parents=True)
    cv2.imwrite(str(folder / "desk.jpg"), photograph(1))
    cv2.imwrite(str(folder / "again.jpg"), photograph(1))
    cv2.imwrite(str(folder / "wall_norm.png"), photograph(2))
    cv2.imwrite(str(folder / "small.png"), photograph(3, (100, 120)))
    cv2.imwrite(str(folder / "logo.png"), np.full((400, 400, 3), (30, 200, 90), np.uint8))
    cv2.imwrite(str(folder / "stamp.png"), np.dstack([photograph(4), np.zeros((300, 400), np.uint8)]))
    (folder / "broken.jpg").write_bytes(b"no picture")
    return folder.parent


def test_what_is_a_photograph_is_chosen_once(unpacked, tmp_path):
    assert choose(unpacked, tmp_path / "chosen") == 1
    (chosen,) = (tmp_path / "chosen").iterdir()
    assert chosen.name.startswith("some-pages__")
    assert cv2.imread(str(chosen)).shape == (300, 400, 3)


def test_large_photographs_are_made_smaller(tmp_path):
    (tmp_path / "in" / "walls").mkdir(parents=True)
    cv2.imwrite(str(tmp_path / "in" / "walls" / "huge.jpg"), photograph(5, (1500, 3000)))
    assert choose(tmp_path / "in", tmp_path / "out") == 1
    assert cv2.imread(str(next((tmp_path / "out").iterdir()))).shape == (700, 1400, 3)


def test_each_photograph_is_for_one_thing_and_a_films_are_for_the_same(tmp_path):
    for name in ["film_01", "film_02", "film_117", *(f"view {chr(97 + i)}" for i in range(26))]:
        (tmp_path / f"{name}.jpg").touch()
    parts = [of_split(tmp_path, split) for split in (Split.TRAIN, Split.CALIBRATE, Split.TEST)]
    assert all(parts)
    assert sorted(path for part in parts for path in part) == sorted(tmp_path.iterdir())
    assert [sum(path.name.startswith("film") for path in part) for part in parts].count(3) == 1


@pytest.fixture
def photographs(tmp_path):
    paths = [tmp_path / f"{seed}.jpg" for seed in range(3)]
    for seed, path in enumerate(paths):
        cv2.imwrite(str(path), photograph(seed))
    return paths


@pytest.mark.parametrize("split", [Split.TRAIN, Split.TEST])
def test_board_on_a_photograph_lies_where_it_lay(split, photographs):
    for number in range(6):
        drawn = draw_table(split, number, FABRICS)
        laid = draw_table(split, number, FABRICS, photographs)
        assert laid.plain == drawn.plain
        assert (laid.corners is None) == (drawn.corners is None)
        assert laid.corners is None or np.array_equal(laid.corners, drawn.corners)
        assert (laid.cloth == "photograph") <= (not np.array_equal(laid.image, drawn.image))


def test_most_tables_to_learn_from_and_all_to_measure_on_lie_on_photographs(photographs):
    cloths = {
        split: [draw_table(split, n, FABRICS, photographs).cloth for n in range(12)]
        for split in (Split.TRAIN, Split.TEST)
    }
    assert set(cloths[Split.TEST]) == {"photograph"}
    assert 5 <= cloths[Split.TRAIN].count("photograph") < 12


def test_table_on_a_photograph_is_the_same_again(photographs):
    first, second = (draw_table(Split.TRAIN, 3, FABRICS, photographs).image for _ in range(2))
    assert np.array_equal(first, second)


def test_photograph_alone_is_a_table_without_a_board(photographs):
    (table, *_) = boardless(photographs)
    assert table.corners is None
    assert table.image().shape == (300, 400, 3)
