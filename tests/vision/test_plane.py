"""How a table lies, by its lines, and what of it lies on the horizon."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.plane import project, views

SIZE = (960, 540)


def seen(columns: float, rows: float, *, tilt: float, turn: float, focal: float = 0.9) -> np.ndarray:
    """Corners a1, d1, d4, a4 of a rectangle in the middle of the picture; `tilt` and `turn` in degrees."""
    tilt, turn = np.radians((tilt, turn))
    flat = np.array([[-columns, -rows], [columns, -rows], [columns, rows], [-columns, rows]]) / 2
    flat = flat @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    x, y, z = flat[:, 0], -flat[:, 1] * np.cos(tilt), 12 + flat[:, 1] * np.sin(tilt)
    return np.column_stack([x, y]) / z[:, None] * focal * max(SIZE) + np.array(SIZE) / 2


def test_what_lies_on_the_horizon_is_nowhere():
    horizon = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 1]])
    far, near = project(horizon, np.array([[1.0, 0], [0.5, 0.5]]))
    assert not np.isfinite(far).all()
    assert near.tolist() == [1, 1]


def test_a_picture_without_lines_shows_no_table():
    assert views(np.zeros((0, 4)), SIZE, 8) == []


@pytest.mark.parametrize("tilt", [0, 24, 51])
def test_lines_at_right_angles_show_how_the_table_lies(tilt):
    far, near = seen(4, 4, tilt=tilt, turn=20), seen(2, 2, tilt=tilt, turn=20)
    lines = np.array([[*corners[i - 1], *corners[i]] for corners in (far, near) for i in range(4)])
    best = views(lines, SIZE, 8)[0]
    assert best.tilt == pytest.approx(np.radians(tilt), abs=0.01)
    flat = project(best.flatten(SIZE), lines.reshape(-1, 2, 2))
    steps = np.degrees(np.arctan2(*(flat[:, 1] - flat[:, 0]).T)) % 90
    assert np.minimum(steps, 90 - steps).max() < 3


@pytest.mark.parametrize(("tilt", "turn"), [(0, 20), (24, 33.5), (51, -10)])
def test_a_line_lies_the_same_way_from_whichever_end_it_is_told(tilt, turn):
    """Before, those that run up the picture were taken for turned by a degree more."""
    far, near = seen(4, 4, tilt=tilt, turn=turn), seen(2, 2, tilt=tilt, turn=turn)
    lines = np.array([[*corners[i - 1], *corners[i]] for corners in (far, near) for i in range(4)])
    rng = np.random.default_rng(7)
    lines += rng.normal(0, 0.5, lines.shape)
    back = lines[:, [2, 3, 0, 1]]
    assert views(lines, SIZE, 8) == views(back, SIZE, 8)
