"""The lines of layouts, as tables."""

from __future__ import annotations

import numpy as np
import pytest

from companion.rules import Layout
from companion.vision.mesh import PER_SQUARE, Mesh


def mesh(text: str) -> Mesh:
    return Mesh.turned(Layout.parse(text))[0]


@pytest.mark.parametrize(
    ("layout", "rim", "inside", "turns"),
    [
        ("4x4", 4, 6, [0]),
        ("##/##", 4, 2, [0]),
        ("####/####", 4, 4, [0, 1]),
        ("..####/..####/####../####..", 8, 8, [0, 1]),
        ("##../##../####/####", 6, 6, [0, 1, 2, 3]),
    ],
)
def test_runs_and_turns(layout, rim, inside, turns):
    runs = mesh(layout).runs
    assert sum(run.rim for run in runs) == rim
    assert sum(not run.rim for run in runs) == inside
    assert list(Mesh.turned(Layout.parse(layout))) == turns


def test_upright_runs_come_first_and_every_run_has_its_points():
    made = mesh("####/####")
    assert [run.upright for run in made.runs] == sorted([run.upright for run in made.runs], reverse=True)
    assert made.upright_points == 5 * 2 * PER_SQUARE
    assert len(made.points) == (5 * 2 + 3 * 4) * PER_SQUARE
    assert np.allclose(made.pull().sum(axis=1), 1)


def test_a_line_that_ends_at_a_square_does_not_run_on_over_it():
    step = mesh("##../##../####/####")
    upright, level = step.beyond
    cells = step.cells
    for points in (upright, level):
        inside = [cells[int(y), int(x)] for x, y in points + 1e-6 if 0 < x < step.columns and 0 < y < step.rows]
        assert not any(inside)


def test_every_line_of_a_board_without_steps_runs_on_at_both_ends():
    upright, level = mesh("####/####").beyond
    ends = {(x, y > 0) for x, y in upright}, {(x > 0, y) for x, y in level}
    assert ends == (
        {(x, far) for x in range(5) for far in (False, True)},
        {(f, y) for f in (False, True) for y in range(3)},
    )


def test_every_free_side_of_a_square_is_an_edge():
    assert len(mesh("4x4").edges) == 16
    assert len(mesh("ring").edges) == 24 + 8
    assert len(mesh("##../##../####/####").edges) == 16
