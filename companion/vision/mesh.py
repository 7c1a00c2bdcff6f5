"""The lines of a board from above: which runs they make, and where to look along, beside and beyond them.

Coordinates are in squares from the upper left corner of the board's bounding rectangle, x to the right, y down, the
far row on top. A *run* is a straight piece of line that lies along squares and is all rim or all inside: the board of
four by four has five upright and five level ones, a layout with holes or steps more and shorter ones.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from companion.rules import Layout

    Floats = NDArray[np.floating[Any]]

PER_SQUARE: Final = 8
"""Points along a line for every square."""
_RIM_WEIGHT = 1.6
_USUAL_LENGTH = 4
_NEXT = 1 / 6
"""Beyond its end a line is looked for from here, in squares, to a square away."""
_STEPS_BEYOND = 20


class Run(NamedTuple):
    """A piece of line: at `line` across, from `start`, `length` squares long."""

    upright: bool
    line: int
    start: int
    length: int
    rim: bool


class Edge(NamedTuple):
    """A square's side with no square beyond it: the middle of it, and the step outwards."""

    x: float
    y: float
    outward: tuple[int, int]


class Mesh:
    """A layout's lines, in one of its quarter turns."""

    def __init__(self, cells: NDArray[np.bool_]) -> None:
        self.cells = cells
        """Which squares there are, `(rows, columns)`, far row on top."""
        self.rows, self.columns = cells.shape
        self.runs: tuple[Run, ...] = tuple(sorted(_runs(cells), key=lambda run: not run.upright))
        """Upright ones first."""
        self.alike: dict[tuple[bool, int, int], list[int]] = {}
        """On which lines the same lie, by whether they are upright, where they start and how long they are."""
        for run in self.runs:
            self.alike.setdefault((run.upright, run.start, run.length), []).append(run.line)
        self.corners: Floats = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float64) * (self.columns, self.rows)
        """The bounding rectangle's corners a1, d1, d4, a4 (of a layout that has not been turned)."""
        self.points, self.run_of = _along(self.runs)
        """Points `(n, 2)` along all runs, and the index of each one's run."""
        self.upright_points = int(sum(run.length for run in self.runs if run.upright) * PER_SQUARE)
        """So many of the points, the first ones, lie on upright runs."""
        self.on_rim: NDArray[np.bool_] = np.array([run.rim for run in self.runs])[self.run_of]
        """Which of the points lie on the board's edge."""
        self.weights: Floats = np.where(self.on_rim, _RIM_WEIGHT, 1.0) / (_USUAL_LENGTH * PER_SQUARE)
        """How much each point counts in a fit."""
        self.beyond = _beyond(cells, self.runs)
        """Points where upright and where level lines would run on, outside."""
        self.edges: tuple[Edge, ...] = tuple(_edges(cells))

    @classmethod
    def turned(cls, layout: Layout) -> dict[int, Mesh]:
        """The layout as it may lie, by quarter turns counter-clockwise, without those that look like an earlier one."""
        return _turned(layout)

    def pull(self) -> Floats:
        """How much each point follows each of the four corners, `(n, 4)`."""
        x, y = self.points[:, 0] / self.columns, self.points[:, 1] / self.rows
        return np.stack([(1 - x) * y, x * y, x * (1 - y), (1 - x) * (1 - y)], axis=-1)


@lru_cache(maxsize=8)
def _turned(layout: Layout) -> dict[int, Mesh]:
    cells = np.zeros((layout.rows, layout.columns), np.bool_)
    for square in layout.squares:
        cells[layout.rows - 1 - square.row, square.column] = True
    turns: dict[int, Mesh] = {}
    for turn in range(4):
        way = np.rot90(cells, turn)
        if not any(np.array_equal(way, mesh.cells) for mesh in turns.values()):
            turns[turn] = Mesh(way)
    return turns


def _runs(cells: NDArray[np.bool_]) -> Iterator[Run]:
    for upright, way in ((True, cells), (False, cells.T)):
        padded = np.pad(way, ((0, 0), (1, 1)))
        for line in range(way.shape[1] + 1):
            beside = [(bool(row[line]), bool(row[line + 1])) for row in padded]
            kinds = [0 if not any(pair) else 1 + all(pair) for pair in beside]
            start = 0
            for kind, squares in groupby(kinds):
                length = len(list(squares))
                if kind:
                    yield Run(upright, line, start, length, kind == 1)
                start += length


def _along(runs: tuple[Run, ...]) -> tuple[Floats, NDArray[np.intp]]:
    points, run_of = [], []
    for i, run in enumerate(runs):
        steps = run.start + (np.arange(run.length * PER_SQUARE) + 0.5) / PER_SQUARE
        across = np.full_like(steps, run.line)
        points.append(np.column_stack([across, steps] if run.upright else [steps, across]))
        run_of.append(np.full(len(steps), i))
    return np.concatenate(points), np.concatenate(run_of)


def _beyond(cells: NDArray[np.bool_], runs: tuple[Run, ...]) -> tuple[Floats, Floats]:
    """Where runs end and neither another run nor a square goes on."""
    away = _NEXT + (1 - _NEXT) * (np.arange(_STEPS_BEYOND) + 0.5) / _STEPS_BEYOND
    found: tuple[list[Floats], list[Floats]] = ([], [])
    for run in runs:
        way = cells if run.upright else cells.T
        for end, step in ((run.start, -1), (run.start + run.length, 1)):
            row = end if step > 0 else end - 1
            if 0 <= row < way.shape[0] and way[row, max(run.line - 1, 0) : run.line + 1].any():
                continue
            along = end + step * away
            across = np.full_like(along, run.line)
            found[not run.upright].append(np.column_stack([across, along] if run.upright else [along, across]))
    upright, level = (np.concatenate(parts) if parts else np.zeros((0, 2)) for parts in found)
    return upright, level


def _edges(cells: NDArray[np.bool_]) -> Iterator[Edge]:
    padded = np.pad(cells, 1)
    for row, column in np.argwhere(cells):
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if not padded[row + 1 + y, column + 1 + x]:
                yield Edge(float(column + 0.5 + 0.5 * x), float(row + 0.5 + 0.5 * y), (x, y))
