"""The board as a lattice of five by five lines: search it on a flattened table, fit it, and say how well it is seen.

Everything rests on *evidence maps*: for each of the two line directions, how much the colour changes across a short
piece of line at that place, measured against how much it changes around there at all (0 to 1). So a hairline on pale
wood counts as much as a black edge on white, and a place full of texture counts for little.

- `search` slides a comb of five plus five lines over a flattened table (`plane`), in all sizes, and keeps the places
  where all ten lines together have most evidence.
- `fit` moves the four corners of one candidate, in its own flattened picture, until the evidence under the ten lines
  is greatest: a hill climb that corrects up to about a square.
- `weigh` looks at what a wrong lattice cannot have all at once: ten lines each of which is seen; lines that end at
  the border instead of running on (checks, stripes and planks run on); nothing between the lines; colours that
  differ across all four sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from companion.vision.plane import View, depths, project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

SQUARES = 4
LINES = SQUARES + 1
PITCH = 24
"""Side of a square in a candidate's own flattened picture, in its pixels."""
BORDER = 36
"""Width of what is looked at around the board, in the same pixels."""
_SIDE = SQUARES * PITCH
_FLAT = _SIDE + 2 * BORDER
_HOME = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float64) * _SIDE + BORDER
"""a1, d1, d4, a4 in a candidate's own flattened picture, whose far side is on top."""
_NOISE = 3.0
"""Colour steps of 8-bit Lab that even a flat surface shows."""

_COMB_FRAME = 360
"""Longer side of a flattened table, in its pixels, if it were seen from straight above."""
_COMB_SMALLEST = 40
_COMB_STEP = 1.06
_COMB_COARSER = 2.5
_COMB_PLAY = 0.06
"""How far, in squares, a line may be off its place in the comb."""
_LEAST_COMB = 0.15
_ALIKE = 0.1

_PER_SQUARE = 8
_OUTER_WEIGHT = 1.6
_LEAST_SHOWN = 0.2
"""Of the places beyond the lines, the share that must be seen to say that the lines end."""
_NO_SECOND_MAP: Any = None


class Candidate(NamedTuple):
    """A place where the board may be, and the comb's evidence for it."""

    evidence: float
    corners: Floats
    """Corners (4, 2) a1, d1, d4, a4 in pixels of the searched picture; which is a1 is not known yet."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How well a lattice is seen; all but the contrasts are evidence from 0 to 1."""

    lines: float
    """Mean over the ten lines."""
    inner: float
    """Mean over the six lines between squares."""
    weakest_line: float
    weakest_side: float
    beyond: float
    """Where the lines would run on outside: high on checked cloth."""
    between: float
    """Along the middles of rows and columns: high where a line is missing from the comb, or marks are many."""
    weakest_contrast: float
    """Typical colour step across the side where it is least, in 8-bit Lab."""


# ------------------------------------------------------------------------------------------------- search


def search(lab: Picture, view: View, count: int) -> list[Candidate]:
    """The `count` best places of the comb on the table as `view` flattens it, in pixels of `lab`, best first."""
    size = (lab.shape[1], lab.shape[0])
    flatten, flat_size = _frame(view, size)
    along = _table_evidence(lab, flatten, flat_size)
    found = sorted(_comb(along, count), key=lambda place: -place[0])
    back = np.linalg.inv(flatten)
    square = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float64)
    return [
        Candidate(evidence, project(back, square * side + (x, y))) for evidence, x, y, side in _thinned(found, count)
    ]


def _frame(view: View, size: tuple[int, int]) -> tuple[Floats, tuple[int, int]]:
    """The homography onto a picture of the table that shows what the camera sees short of the horizon, and its size."""
    flatten = view.flatten(size)
    grid = np.stack(np.meshgrid(np.linspace(0, size[0], 9), np.linspace(0, size[1], 9)), axis=-1).reshape(-1, 2)
    flat = project(flatten, grid[depths(flatten, grid) > 0.35])  # noqa: PLR2004
    low, extent = flat.min(axis=0), np.ptp(flat, axis=0)
    scale = _COMB_FRAME / max(size)
    scale *= min(1.0, 1.5 * _COMB_FRAME / (extent.max() * scale))
    shift = np.array([[scale, 0, -low[0] * scale], [0, scale, -low[1] * scale], [0, 0, 1.0]])
    return shift @ flatten, (int(extent[0] * scale) + 1, int(extent[1] * scale) + 1)


def _table_evidence(lab: Picture, flatten: Floats, size: tuple[int, int]) -> tuple[Floats, Floats]:
    flat = np.asarray(cv2.warpPerspective(lab, flatten, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)
    upright, level = evidence(flat, reach=7, around=41)
    seen = cv2.warpPerspective(np.full(lab.shape[:2], 1, np.uint8), flatten, size)
    seen = cv2.erode(seen, np.ones((5, 5), np.uint8)).astype(np.float32)
    return upright * seen, level * seen


def evidence(flat: NDArray[np.uint8], *, reach: int, around: int) -> tuple[Floats, Floats]:
    """For upright and for level lines, how much a piece of line of `reach` pixels stands out from `around` it."""
    picture = flat.astype(np.float32)
    across = np.array([[-1, 0, 1]], np.float32)
    steps = []
    for kernel, window in ((across, (1, reach)), (across.T, (reach, 1))):
        change = cv2.blur(cv2.filter2D(picture, -1, kernel), window)
        steps.append(np.abs(change).max(axis=2))
    usual = cv2.blur(steps[0] + steps[1], (around, around)) + _NOISE
    return steps[0] / (steps[0] + usual), steps[1] / (steps[1] + usual)


def _comb(along: tuple[Floats, Floats], count: int) -> Iterator[tuple[float, int, int, float]]:
    """Local maxima (evidence, x, y, side) of the comb for every side length; long ones are looked for coarsely."""
    side, scale = float(_COMB_SMALLEST), 1
    while side < 0.97 * min(along[0].shape):
        if side >= _COMB_COARSER * _COMB_SMALLEST:
            along, side, scale = (_halved(along[0]), _halved(along[1])), side / 2, 2 * scale
            continue
        total = _comb_at(along, side)
        reach = int(side * _ALIKE) | 1
        peak = (total >= cv2.dilate(total, np.ones((reach, reach), np.uint8))) & (total > _LEAST_COMB)
        ys, xs = np.nonzero(peak)
        for i in np.argsort(-total[ys, xs])[:count]:
            yield float(total[ys[i], xs[i]]), int(xs[i]) * scale, int(ys[i]) * scale, side * scale
        side *= _COMB_STEP


def _halved(part: Floats) -> Floats:
    """Half as large; the strongest of four pixels stays, so that thin lines do."""
    height, width = part.shape[0] // 2 * 2, part.shape[1] // 2 * 2
    rows = np.maximum(part[0:height:2], part[1:height:2])
    return np.maximum(rows[:, 0:width:2], rows[:, 1:width:2])


def _comb_at(along: tuple[Floats, Floats], side: float) -> Floats:
    """Mean evidence of the ten lines, for each place of the comb's upper left corner."""
    play = 2 * max(1, round(side / SQUARES * _COMB_PLAY)) + 1
    length = round(side)
    wide, tall = np.ones((1, play), np.uint8), np.ones((play, 1), np.uint8)
    start, outside = (0, 0), cv2.BORDER_CONSTANT
    upright = cv2.boxFilter(cv2.dilate(along[0], wide), -1, (1, length), anchor=start, borderType=outside)
    level = cv2.boxFilter(cv2.dilate(along[1], tall), -1, (length, 1), anchor=start, borderType=outside)
    rows, columns = upright.shape[0] - length, upright.shape[1] - length
    total = np.zeros((rows, columns), np.float32)
    for line in range(LINES):
        offset = round(line * side / SQUARES)
        total += upright[:rows, offset : offset + columns]
        total += level[offset : offset + rows, :columns]
    return total / (2 * LINES)


def _thinned(found: list[tuple[float, int, int, float]], count: int) -> list[tuple[float, int, int, float]]:
    kept: list[tuple[float, int, int, float]] = []
    for place in found:
        _, x, y, side = place
        if all(
            max(abs(x - a), abs(y - b), abs(x + side - a - c), abs(y + side - b - c)) > _ALIKE * side
            for _, a, b, c in kept
        ):
            kept.append(place)
        if len(kept) == count:
            break
    return kept


# ------------------------------------------------------------------------------------------------- fit


def pyramid(picture: Picture) -> list[Picture]:
    """The picture, and it halved again and again: what `fit` and `weigh` look at."""
    levels = [picture]
    while min(levels[-1].shape[:2]) >= 2 * _FLAT:
        levels.append(np.asarray(cv2.resize(levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8))
    return levels


def flatten_board(levels: list[Picture], corners: Floats) -> Picture:
    """A candidate's own flattened picture: `PITCH` pixels a square, `BORDER` around, far side on top."""
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    level = int(np.clip(np.log2(max(float(sides.mean()), 1.0) / _SIDE) + 0.3, 0, len(levels) - 1))
    picture = levels[level]
    scale = np.array(picture.shape[1::-1]) / levels[0].shape[1::-1]
    to_flat = homography(corners * scale, _HOME)
    return np.asarray(cv2.warpPerspective(picture, to_flat, (_FLAT, _FLAT), borderMode=cv2.BORDER_REPLICATE), np.uint8)


def fit(levels: list[Picture], corners: Floats, rounds: int = 2) -> Floats:
    """The corners (4, 2), near the given ones, whose ten lines have most evidence in a Lab picture (its `pyramid`)."""
    for _ in range(rounds):
        maps = evidence(flatten_board(levels, corners), reach=5, around=31)
        moved = _climb(maps)
        corners = project(homography(_HOME, corners), moved)
        if np.abs(moved - _HOME).max() < 1.0:
            break
    return corners


def homography(source: Floats, target: Floats) -> Floats:
    """The homography (3, 3) that takes four points (4, 2) to four others."""
    return np.asarray(cv2.getPerspectiveTransform(source.astype(np.float32), target.astype(np.float32)), np.float64)


def _climb(maps: tuple[Floats, Floats]) -> Floats:
    corners: Floats = _HOME
    for blur, steps in ((2.5, (4.0, 2.0)), (1.2, (2.0, 1.0, 0.5))):
        smooth = tuple(np.asarray(cv2.GaussianBlur(part, (0, 0), blur), np.float32) for part in maps)
        for step in steps:
            for _ in range(10):
                better = _best_move(smooth, corners, step)
                if better is None:
                    break
                corners = better
    return corners


def _moves() -> Floats:
    """Unit moves (M, 4, 2) of the corners: each alone, each side, all together; and, first, none."""
    ways = [np.zeros((4, 2))]
    axes = (np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    for chosen in ((0,), (1,), (2,), (3,), (0, 1, 2, 3), (0, 1), (1, 2), (2, 3), (3, 0)):
        for axis in axes:
            way = np.zeros((4, 2))
            way[list(chosen)] = axis
            ways += [way, -way]
    return np.array(ways)


def _line_points() -> Floats:
    """Points (10, 32, 2) along the five upright and the five level lines, in squares from a4, y towards a1."""
    steps = (np.arange(SQUARES * _PER_SQUARE) + 0.5) / _PER_SQUARE
    places = np.arange(LINES, dtype=np.float64)
    upright = np.stack(np.broadcast_arrays(places[:, None], steps[None, :]), axis=-1)
    return np.concatenate([upright, upright[..., ::-1]])


def _pull() -> Floats:
    """How much each line point follows each corner, (10, 32, 4)."""
    x, y = _LINE_POINTS[..., 0] / SQUARES, _LINE_POINTS[..., 1] / SQUARES
    return np.stack([(1 - x) * y, x * y, x * (1 - y), (1 - x) * (1 - y)], axis=-1)


_MOVES = _moves()
_LINE_POINTS = _line_points()
_SHIFTS = np.einsum("plc,mcd->mpld", _pull(), _MOVES)
_LINE_WEIGHTS = np.array([_OUTER_WEIGHT, 1, 1, 1, _OUTER_WEIGHT] * 2)


def _best_move(maps: tuple[Floats, ...], corners: Floats, step: float) -> Floats | None:
    """`corners` after the move by `step` pixels that adds most evidence; None if none adds any."""
    points = project(homography(_HOME, corners), _LINE_POINTS * PITCH + BORDER)
    seen = _look(maps, points[None] + step * _SHIFTS).mean(axis=2) @ _LINE_WEIGHTS
    best = int(np.argmax(seen))
    if seen[best] < seen[0] + 1e-3:
        return None
    return np.asarray(corners + step * _MOVES[best])


def _look(maps: tuple[Floats, ...], points: Floats) -> Floats:
    """Evidence at points (M, 10, P, 2) of the ten lines: (M, 10, P)."""
    where = points.astype(np.float32)
    parts = []
    for lines, part in ((where[:, :LINES], maps[0]), (where[:, LINES:], maps[1])):
        flat = np.ascontiguousarray(lines.reshape(-1, lines.shape[2], 2))
        seen = cv2.remap(part, flat, _NO_SECOND_MAP, cv2.INTER_LINEAR)
        parts.append(seen.reshape(lines.shape[:3]))
    return np.concatenate(parts, axis=1)


# ------------------------------------------------------------------------------------------------- weigh


def weigh(levels: list[Picture], corners: Floats) -> Weight:
    """How well the lattice with these corners is seen in a Lab picture (its `pyramid`)."""
    flat = flatten_board(levels, corners)
    upright, level = evidence(flat, reach=5, around=31)
    upright = np.asarray(cv2.dilate(upright, np.ones((1, 3), np.uint8)))
    level = np.asarray(cv2.dilate(level, np.ones((3, 1), np.uint8)))
    lines = _look((upright, level), (_LINE_POINTS * PITCH + BORDER)[None])[0].mean(axis=1)
    sides = lines[[0, LINES - 1, LINES, 2 * LINES - 1]]
    return Weight(
        lines=float(lines.mean()),
        inner=float(np.delete(lines, [0, LINES - 1, LINES, 2 * LINES - 1]).mean()),
        weakest_line=float(lines.min()),
        weakest_side=float(sides.min()),
        beyond=_beyond(upright, level, _shown(levels[0].shape[:2], corners)),
        between=_between(upright, level),
        weakest_contrast=_weakest_contrast(flat),
    )


def _shown(shape: tuple[int, ...], corners: Floats) -> Floats:
    """Where a candidate's own flattened picture shows something of the picture of this `shape`: 1, elsewhere 0."""
    everything = np.ones((shape[0] // 8 + 1, shape[1] // 8 + 1), np.float32)
    flat = cv2.warpPerspective(everything, homography(corners / 8, _HOME), (_FLAT, _FLAT), flags=cv2.INTER_NEAREST)
    return np.asarray(flat, np.float32)


def _beyond(upright: Floats, level: Floats, seen: Floats) -> float:
    """Mean evidence where lines would run on, as far as the picture shows it; 0 if it shows hardly any of it."""
    ends = (slice(BORDER - PITCH, BORDER - 4), slice(BORDER + _SIDE + 4, BORDER + _SIDE + PITCH))
    places = BORDER + PITCH * np.arange(LINES)
    found = np.stack([np.stack([upright[end][:, places], level[:, end][places].T]) for end in ends])
    shown = np.stack([np.stack([seen[end][:, places], seen[:, end][places].T]) for end in ends])
    return float((found * shown).sum() / max(shown.sum(), _LEAST_SHOWN * shown.size))


def _between(upright: Floats, level: Floats) -> float:
    inside = slice(BORDER, BORDER + _SIDE)
    places = BORDER + PITCH // 2 + PITCH * np.arange(SQUARES)
    return float(np.mean([upright[inside][:, places].mean(), level[:, inside][places].mean()]))


def _weakest_contrast(flat: NDArray[np.uint8]) -> float:
    smooth = cv2.GaussianBlur(flat, (0, 0), 1.0).astype(np.float32)
    steps = []
    for turn in range(4):
        turned = np.rot90(smooth, turn)[:, BORDER : BORDER + _SIDE]
        step = np.abs(turned[BORDER - 6 : BORDER - 2].mean(axis=0) - turned[BORDER + 2 : BORDER + 6].mean(axis=0))
        steps.append(np.median(step.max(axis=1).reshape(SQUARES, PITCH).mean(axis=1)))
    return float(min(steps))
