"""The board as a lattice of lines: search it on a flattened table, fit it, and say how well it is seen.

Everything rests on *evidence maps*: for each of the two line directions, how much the colour changes across a short
piece of line at that place, measured against how much it changes around there at all (0 to 1). So a hairline on pale
wood counts as much as a black edge on white, and a place full of texture counts for little.

- `search` slides a comb of the board's lines over a flattened table (`plane`), in all sizes, and keeps the places
  where all lines together have most evidence.
- `fit` moves the four corners of one candidate, in its own flattened picture, until the evidence under the lines
  is greatest: a hill climb that corrects up to about a square.
- `weigh` looks at what a wrong lattice cannot have all at once: lines each of which is seen; lines that end at
  the border instead of running on (checks, stripes and planks run on); nothing between the lines; colours that
  differ across all sides.

Which lines a board has is in its `Mesh`: five by five for the board of four by four, others for other layouts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from companion.vision.mesh import PER_SQUARE
from companion.vision.plane import View, depths, project, side_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from companion.vision.mesh import Edge, Mesh

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

PITCH = 24
"""Side of a square in a candidate's own flattened picture, in its pixels."""
BORDER = 36
"""Width of what is looked at around the board, in the same pixels."""
_NOISE = 3.0
"""Colour steps of 8-bit Lab that even a flat surface shows."""

_COMB_FRAME = 360
"""Longer side of a flattened table, in its pixels, if it were seen from straight above."""
_COMB_SMALLEST = 10.0
"""Least side of a square in it."""
_COMB_STEP = 1.06
_COMB_COARSER = 2.5
_COMB_PLAY = 1
"""How far, in pixels, a line may be off its place in the comb."""
_LEAST_COMB = 0.15
_ALIKE = 0.4
"""Places nearer than this, in squares, are one place."""
_COMB_FILL = 0.97
_SMALLEST_LEVEL = 336
_LEAST_SHOWN = 0.2
"""Of the places beyond the lines, the share that must be seen to say that the lines end."""
_MOST_BEYOND = 0.45
_LEAST_LINE = 0.27
_LEAST_SIDE = 0.3
_LEAST_CONTRAST = 7.0
_ENOUGH_LINE = 3
"""So many squares long every other line has to be, for others to be missed."""
_FAINT, _SEEN = 0.12, 0.3
"""Lines are as faint as nothing if they have no more than the first above what lies between lines; the others are seen
if three squares of them have the second."""
_FIT_ROUNDS = 2
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
    """Mean over all lines."""
    weakest_line: float
    weakest_side: float
    beyond: float
    """Where the lines would run on outside: high on checked cloth."""
    between: float
    """Along the middles of rows and columns: high where a line is missing from the comb, or marks are many."""
    weakest_contrast: float
    """Typical colour step across the side where it is least, in 8-bit Lab."""
    every_other: float = 0.0
    """How much clearer every other line is than those between, one way, if these are as faint as nothing: so is a part
    of a board whose squares are twice as large. 0 if they are not."""


# ------------------------------------------------------------------------------------------------- search


def search(lab: Picture, view: View, count: int, mesh: Mesh) -> list[Candidate]:
    """The `count` best places of the comb on the table as `view` flattens it, in pixels of `lab`, best first."""
    size = (lab.shape[1], lab.shape[0])
    flatten, flat_size = _frame(view, size)
    along = _table_evidence(lab, flatten, flat_size)
    found = np.concatenate([np.zeros((0, 4)), *_comb(along, count, mesh)])
    back = np.linalg.inv(flatten)
    return [
        Candidate(evidence, project(back, mesh.corners * pitch + (x, y)))
        for evidence, x, y, pitch in _thinned(found, count, mesh)
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
        change = cv2.split(np.abs(cv2.blur(cv2.filter2D(picture, -1, kernel), window)))
        steps.append(np.asarray(reduce(cv2.max, change), np.float32))
    usual = cv2.blur(steps[0] + steps[1], (around, around)) + _NOISE
    return steps[0] / (steps[0] + usual), steps[1] / (steps[1] + usual)


def _comb(along: tuple[Floats, Floats], count: int, mesh: Mesh) -> Iterator[Floats]:
    """Local maxima (n, 4), evidence, x, y and pitch, of the comb for every size; large ones are looked for coarsely."""
    pitch, scale, summed = _COMB_SMALLEST, 1, _summed(along)
    while pitch * max(mesh.rows / along[0].shape[0], mesh.columns / along[0].shape[1]) < _COMB_FILL:
        if pitch >= _COMB_COARSER * _COMB_SMALLEST:
            along = _halved(along[0]), _halved(along[1])
            pitch, scale, summed = pitch / 2, 2 * scale, _summed(along)
            continue
        total = _comb_at(summed, pitch, mesh)
        reach = int(pitch * _ALIKE) | 1
        peak = (total >= cv2.dilate(total, np.ones((reach, reach), np.uint8))) & (total > _LEAST_COMB)
        peaks = np.flatnonzero(peak)
        peaks = peaks[np.argsort(-total.ravel()[peaks])[:count]]
        y, x = np.divmod(peaks, total.shape[1])
        yield np.stack([total[y, x], x * scale, y * scale, np.full(len(peaks), pitch * scale)], axis=1)
        pitch *= _COMB_STEP


def _halved(part: Floats) -> Floats:
    """Half as large; the strongest of four pixels stays, so that thin lines do."""
    height, width = part.shape[0] // 2 * 2, part.shape[1] // 2 * 2
    rows = np.maximum(part[0:height:2], part[1:height:2])
    return np.maximum(rows[:, 0:width:2], rows[:, 1:width:2])


def _summed(along: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The evidence, across each line as far as it may be off, summed along it; level ones as if upright."""
    across = np.ones((1, 2 * _COMB_PLAY + 1))
    parts = (cv2.dilate(part, across) for part in (along[0], np.ascontiguousarray(along[1].T)))
    down, right = (np.pad(part.cumsum(axis=0), ((1, 0), (0, 0))) for part in parts)
    return np.asarray(down, np.float32), np.asarray(right, np.float32)


def _comb_at(summed: tuple[Floats, Floats], pitch: float, mesh: Mesh) -> Floats:
    """Mean evidence along all lines, for each place of the comb's upper left corner."""
    wide, deep = (
        part.shape[1] - round(squares * pitch) for part, squares in zip(summed, (mesh.columns, mesh.rows), strict=True)
    )
    totals = np.zeros((deep, wide), np.float32), np.zeros((wide, deep), np.float32)
    whole = sum(run.length for run in mesh.runs)
    for (upright, start, length), lines in mesh.alike.items():
        part, total = summed[not upright], totals[not upright]
        (long, across), first, pixels = total.shape, round(start * pitch), round(length * pitch)
        sums = cv2.subtract(part[first + pixels :][:long], part[first:][:long])
        for line in lines:
            cv2.scaleAdd(sums[:, round(line * pitch) :][:, :across], length / pixels / whole, total, total)
    return np.asarray(totals[0] + totals[1].T)


def _thinned(found: Floats, count: int, mesh: Mesh) -> Floats:
    """The `count` best of the places that were found (n, 4), best first; of those that are all but alike only one."""
    kept: list[int] = []
    found = found[np.argsort(-found[:, 0], kind="stable")]
    _, x, y, pitch = found.T
    sides = np.stack([x, y, x + mesh.columns * pitch, y + mesh.rows * pitch], axis=1)
    for place, own in enumerate(sides):
        if (np.abs(own - sides[kept]).max(axis=1) > _ALIKE * pitch[place]).all():
            kept.append(place)
        if len(kept) == count:
            break
    return np.asarray(found[kept])


# ------------------------------------------------------------------------------------------------- fit


def pyramid(picture: Picture) -> list[Picture]:
    """The picture, and it halved again and again: what `fit` and `weigh` look at."""
    levels = [picture]
    while min(levels[-1].shape[:2]) >= _SMALLEST_LEVEL:
        levels.append(np.asarray(cv2.resize(levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8))
    return levels


def flatten_board(levels: list[Picture], corners: Floats, mesh: Mesh) -> Picture:
    """A candidate's own flattened picture: `PITCH` pixels a square, `BORDER` around, far side on top."""
    size = (mesh.columns * PITCH + 2 * BORDER, mesh.rows * PITCH + 2 * BORDER)
    return flattened(levels, corners, _flat(mesh.corners), size)


def _flat(squares: Floats) -> Floats:
    """Points of a board, in squares, in its own flattened picture."""
    return np.asarray(squares * PITCH + BORDER)


def flattened(levels: list[Picture], corners: Floats, home: Floats, size: tuple[int, int]) -> Picture:
    """A flat picture of `size` in which `corners` of the picture (its `pyramid`) lie at `home`, each (4, 2)."""
    flat_side = float(np.linalg.norm(home[1] - home[0]))
    level = int(np.clip(np.log2(max(float(side_lengths(corners).mean()), 1.0) / flat_side) + 0.3, 0, len(levels) - 1))
    picture = levels[level]
    scale = np.array(picture.shape[1::-1]) / levels[0].shape[1::-1]
    to_flat = homography(corners * scale, home)
    return np.asarray(cv2.warpPerspective(picture, to_flat, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def fit(levels: list[Picture], corners: Floats, mesh: Mesh, *, sides_only: bool = False) -> Floats:
    """The corners (4, 2), near the given ones, whose lines have most evidence in a Lab picture (its `pyramid`).

    If `sides_only`, inner lines do not count. Corners that fall together are moved no further.
    """
    weights = mesh.weights * mesh.on_rim if sides_only else mesh.weights
    home = _flat(mesh.corners)
    for _ in range(_FIT_ROUNDS):
        maps = evidence(flatten_board(levels, corners, mesh), reach=5, around=31)
        moved = _climb(maps, mesh, weights)
        fitted = project(homography(home, corners), moved)
        if not np.isfinite(fitted).all():
            break
        corners = fitted
        if np.abs(moved - home).max() < 1.0:
            break
    return corners


def homography(source: Floats, target: Floats) -> Floats:
    """The homography (3, 3) that takes four points (4, 2) to four others."""
    return np.asarray(cv2.getPerspectiveTransform(source.astype(np.float32), target.astype(np.float32)), np.float64)


def _climb(maps: tuple[Floats, Floats], mesh: Mesh, weights: Floats) -> Floats:
    corners = _flat(mesh.corners)
    shifts = np.einsum("pc,mcd->mpd", mesh.pull(), _MOVES)
    for blur, steps in ((2.5, (4.0, 2.0)), (1.2, (2.0, 1.0, 0.5))):
        smooth = tuple(np.asarray(cv2.GaussianBlur(part, (0, 0), blur), np.float32) for part in maps)
        for step in steps:
            for _ in range(10):
                better = _best_move(smooth, corners, step, mesh, weights, shifts)
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


_MOVES = _moves()


def _best_move(
    maps: tuple[Floats, ...], corners: Floats, step: float, mesh: Mesh, weights: Floats, shifts: Floats
) -> Floats | None:
    """`corners` after the move by `step` pixels that adds most evidence; None if none adds any."""
    points = project(homography(_flat(mesh.corners), corners), _flat(mesh.points))
    seen = _look(maps, points[None] + step * shifts, mesh.upright_points) @ weights
    best = int(np.argmax(seen))
    if seen[best] < seen[0] + 1e-3:
        return None
    return np.asarray(corners + step * _MOVES[best])


def _look(maps: tuple[Floats, ...], points: Floats, upright: int) -> Floats:
    """Evidence at points (M, N, 2), the first `upright` of N on upright lines, the others on level ones: (M, N)."""
    where = points.astype(np.float32)
    parts = [
        cv2.remap(part, np.ascontiguousarray(lines), _NO_SECOND_MAP, cv2.INTER_LINEAR)
        for lines, part in ((where[:, :upright], maps[0]), (where[:, upright:], maps[1]))
    ]
    return np.concatenate(parts, axis=1)


# ------------------------------------------------------------------------------------------------- weigh


def weigh(levels: list[Picture], corners: Floats, mesh: Mesh) -> Weight:
    """How well the lattice with these corners is seen in a Lab picture (its `pyramid`)."""
    flat = flatten_board(levels, corners, mesh)
    upright, level = evidence(flat, reach=5, around=31)
    upright = np.asarray(cv2.dilate(upright, np.ones((1, 3), np.uint8)))
    level = np.asarray(cv2.dilate(level, np.ones((3, 1), np.uint8)))
    seen = _look((upright, level), _flat(mesh.points)[None], mesh.upright_points)[0]
    lines = np.bincount(mesh.run_of, seen) / np.bincount(mesh.run_of)
    rim = np.array([run.rim for run in mesh.runs])
    lengths = np.array([run.length for run in mesh.runs])
    middles = _middles(upright, level, mesh)
    return Weight(
        lines=float(np.average(lines, weights=lengths)),
        weakest_line=float(lines.min()),
        weakest_side=float(lines[rim].min()),
        beyond=_beyond((upright, level), shown(levels[0].shape[:2], corners, flat.shape, mesh), mesh),
        between=float(np.mean(middles)),
        weakest_contrast=_weakest_contrast(flat, mesh),
        every_other=_every_other(seen, middles, mesh),
    )


def likeness(weight: Weight) -> float:
    """From 0 to 1, how much a lattice of this weight is a board, by rules made by hand."""
    if (
        weight.beyond > _MOST_BEYOND
        or weight.weakest_line < _LEAST_LINE
        or weight.weakest_side < _LEAST_SIDE
        or weight.weakest_contrast < _LEAST_CONTRAST
    ):
        return 0.0
    evidence = (
        2.0 * weight.lines
        + 1.5 * weight.weakest_line
        + 1.0 * weight.weakest_side
        - 3.0 * weight.beyond
        - 0.7 * weight.between
        + 0.02 * min(weight.weakest_contrast, 20)
    )
    return float(1 / (1 + np.exp(-6 * (evidence - 0.8))))


def shown(shape: tuple[int, ...], corners: Floats, flat: tuple[int, ...], mesh: Mesh) -> Floats:
    """Where a candidate's own flattened picture shows something of the picture of this `shape`: 1, elsewhere 0."""
    everything = np.ones((shape[0] // 8 + 1, shape[1] // 8 + 1), np.float32)
    to_flat = homography(corners / 8, _flat(mesh.corners))
    return np.asarray(cv2.warpPerspective(everything, to_flat, flat[1::-1], flags=cv2.INTER_NEAREST), np.float32)


def _beyond(maps: tuple[Floats, Floats], seen: Floats, mesh: Mesh) -> float:
    """Mean evidence where lines would run on, as far as the picture shows it; 0 if it shows hardly any of it."""
    found = shown = places = 0.0
    for part, points in zip(maps, mesh.beyond, strict=True):
        x, y = np.round(_flat(points)).astype(int).T
        found += float((part[y, x] * seen[y, x]).sum())
        shown += float(seen[y, x].sum())
        places += len(points)
    return found / max(shown, _LEAST_SHOWN * places, 1.0)


def _middles(upright: Floats, level: Floats, mesh: Mesh) -> Floats:
    """Evidence along the middle of each square, `(2, n)`: for upright lines and for level ones."""
    rows, columns = np.nonzero(mesh.cells)
    half = PITCH // 2
    seen = [
        (upright[y : y + PITCH, x + half].mean(), level[y + half, x : x + PITCH].mean())
        for x, y in zip(BORDER + columns * PITCH, BORDER + rows * PITCH, strict=True)
    ]
    return np.array(seen).T


def _every_other(seen: Floats, middles: Floats, mesh: Mesh) -> float:
    """See `Weight`; from the evidence at the mesh's points, and along the middles of squares.

    Pieces and hands hide some of a line, and have edges where there is none: so what counts is the clearest but one.
    """
    ends = PER_SQUARE // 8
    pieces = seen.reshape(-1, PER_SQUARE)[:, ends : PER_SQUARE - ends].mean(axis=1)
    rim, odds = mesh.on_rim[::PER_SQUARE], np.array([run.line % 2 for run in mesh.runs])[mesh.run_of[::PER_SQUARE]]
    uprights = np.arange(len(pieces)) < mesh.upright_points // PER_SQUARE
    clearer = [0.0]
    for alike, nothing in zip((uprights, ~uprights), middles, strict=True):
        even, odd = (np.sort(pieces[alike & ~rim & (odds == which)]) for which in (0, 1))
        if min(len(even), len(odd)) < _ENOUGH_LINE:
            continue
        if odd[-2] - np.sort(nothing)[-2] < _FAINT and even[-_ENOUGH_LINE] > _SEEN:
            clearer.append(float(min(even[-2], pieces[alike & rim].mean()) - odd[-2]))
    return max(clearer)


def _weakest_contrast(flat: NDArray[np.uint8], mesh: Mesh) -> float:
    """The typical step of colour over the rim on each of the four sides; the least of these."""
    smooth = cv2.GaussianBlur(flat, (0, 0), 1.0).astype(np.float32)
    inside, outside = smooth[_strips(mesh.edges)].mean(axis=2).swapaxes(0, 1)
    steps = np.abs(inside - outside).max(axis=-1).mean(axis=-1)
    facing = np.array([edge.outward for edge in mesh.edges])
    return float(min(np.median(steps[(facing == side).all(axis=1)]) for side in np.unique(facing, axis=0)))


@lru_cache(maxsize=8)
def _strips(edges: tuple[Edge, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pixels, rows and columns `(edges, 2, lines, PITCH)`, of lines along each edge, inside and outside of it."""
    middles = np.array([(x, y) for x, y, _ in edges])[:, None, None, None] * PITCH + BORDER
    outward = np.array([edge.outward for edge in edges])[:, None, None, None]
    away = np.array([range(-6, -2), range(2, 6)])[:, :, None, None]
    along = (np.arange(PITCH) - PITCH / 2 + 0.5)[:, None]
    pixels = np.floor(middles + outward * away + (outward == 0) * along).astype(np.intp)
    return pixels[..., 1], pixels[..., 0]
