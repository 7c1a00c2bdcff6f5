"""Training the judge: places on pictures of tables, those that are the board and those that only look like it.

From each picture many places are cut: the board's corners, a little or rather off; its lower edge; places one square or
half a board beside it, too large or too small by a square; places anywhere. A place is right if no corner is
farther off than a seventh of a square, wrong from a third on; between, it is neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import torch

from calibration.hands import cover_board
from calibration.training.scene import SIDE
from calibration.training.tables import NAMES
from companion.vision import lattice
from companion.vision.judge import CORNERS, HOME, PITCH, toned, view
from companion.vision.plane import project, side_lengths
from companion.vision.suggestions import FittedPicture

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray
    from torch import Tensor

    from calibration.training.tables import Table

    Floats = NDArray[np.float32]
    Points = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

RIGHT, WRONG = 0.14, 0.33
"""Squares by which the worst corner may be off, and from which the place is wrong."""
_TOLD = 0.9
"""Squares within which the judge shall say how far each corner is off."""
_UNIT = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64) * SIDE
_TRUTHS = 1 + 2 * CORNERS + CORNERS + 2
_PLACES = 20
_COVERED = 0.25
"""On so many of the pictures, something is laid over the board, beside what covers it already."""


@dataclass(frozen=True, slots=True)
class Places:
    """Views of places with what the judge should say."""

    views: NDArray[np.uint8]
    """`(n, VIEW, VIEW, 3)`, Lab."""
    truths: Floats
    """`(n, _TRUTHS)`: as the judge's scores, then whether the offsets count and whether the covers do."""


def cut_places(rng: Generator, tables: Sequence[Table], found: dict[str, list[Points]]) -> Places:
    """Views of many places on all these pictures; `found` are further places, by the picture's name.

    Those of them that are wrong are shown twice.
    """
    views, truths = [], []
    for table in tables:
        image = table.image()
        covered = _covered(rng, table, image)
        picture = FittedPicture.of(image)
        scale = picture.scale
        drawn, others = _draw_places(rng, table, picture.size, scale), found.get(table.path.name, [])
        convincing = [corners for corners in others if truth(corners, table, scale, covered)[0] < 0.5]
        for corners in drawn + others + convincing:
            if _possible(corners):
                views.append(view(picture.levels, corners))
                truths.append(truth(corners, table, scale, covered))
    return Places(np.stack(views), np.stack(truths))


def _covered(rng: Generator, table: Table, image: Picture) -> set[str]:
    """The corners that something hides; on some pictures a hand or a thing is laid first."""
    covered = set(table.truth["covered"])
    if table.corners is not None and rng.random() < _COVERED:
        mask = cover_board(rng, image, table.corners)
        at = np.round(table.corners).astype(int).clip(0, np.array(mask.shape[::-1]) - 1)
        covered |= {name for name, (x, y) in zip(NAMES, at, strict=True) if mask[y, x]}
    return covered


def _possible(corners: Points) -> bool:
    outline = corners.astype(np.float32)
    return bool(cv2.isContourConvex(outline.reshape(-1, 1, 2)) and side_lengths(corners).min() > 16)


def _draw_places(rng: Generator, table: Table, size: tuple[int, ...], scale: float) -> list[Points]:
    """Places of all kinds on a picture, in pixels of its Lab picture."""
    if table.corners is None or table.foot is None:
        return [_anywhere(rng, size) for _ in range(_PLACES // 2)]
    top, foot = table.corners * scale, table.foot * scale
    places = [_shaken(rng, top, spread) for spread in (0.0, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5)]
    places += [_moved(rng, top) for _ in range(6)]
    places += [foot, top + (foot - top) * rng.uniform(0, 1, (4, 1)), _mixed(rng, top, foot)]
    return [_turned(rng, corners) for corners in places] + [_anywhere(rng, size) for _ in range(3)]


def _turned(rng: Generator, corners: Points) -> Points:
    """The same place, its corners named in another way."""
    turned = np.roll(corners, int(rng.integers(4)), axis=0)
    return turned[::-1] if rng.random() < 0.5 else turned


def _shaken(rng: Generator, corners: Points, spread: float) -> Points:
    """The corners off by about `spread` squares: all together, each alone, the whole stretched."""
    squares = _UNIT + rng.normal(0, spread, 2) + rng.normal(0, 0.6 * spread, (4, 2))
    squares = (squares - SIDE / 2) * (1 + rng.normal(0, 0.3 * spread, 2)) + SIDE / 2
    return _on_board(corners, squares)


def _moved(rng: Generator, corners: Points) -> Points:
    """A lattice beside the board's, or with more or fewer squares than it has."""
    squares = _UNIT.copy()
    way = rng.random()
    if way < 0.45:
        step = rng.choice((-1.0, -0.5, 0.0, 0.5, 1.0), 2) if rng.random() < 0.8 else rng.normal(0, 1, 2)
        squares += step if np.abs(step).max() > 0 else (1.0, 0.0)
    elif way < 0.85:
        low, high = rng.choice((-1, -0.5, 0, 0, 0.5, 1), (2, 2))
        squares = np.where(squares == 0, low, SIDE + high)
        if np.abs(squares - _UNIT).max() == 0:
            squares = squares * (1, 1.25)
    else:
        squares = (squares - SIDE / 2) * rng.choice((0.5, 0.75, 1.5, 2.0)) + SIDE / 2 + rng.choice((-1, 0, 1), 2)
    return _on_board(corners, squares + rng.normal(0, 0.03, (4, 2)))


def _mixed(rng: Generator, top: Points, foot: Points) -> Points:
    """The lower edge taken for the top on one side."""
    side = int(rng.integers(4))
    mixed = top.copy()
    for corner in (side, (side + 1) % 4):
        mixed[corner] = foot[corner]
    return mixed


def _on_board(corners: Points, squares: Points) -> Points:
    to_picture = lattice.homography(_UNIT, corners)
    return np.asarray(project(to_picture, squares), np.float64)


def _anywhere(rng: Generator, size: tuple[int, ...]) -> Points:
    middle = rng.uniform(0.1, 0.9, 2) * size
    reach = float(np.exp(rng.uniform(np.log(0.08), np.log(0.5)))) * min(size)
    angle = rng.uniform(0, 2 * np.pi) + np.pi / 2 * np.arange(4)
    flat = np.column_stack([np.cos(angle), np.sin(angle) * rng.uniform(0.5, 1)]) * reach
    return np.asarray(middle + flat * rng.uniform(0.85, 1.15, (4, 1)))


def truth(corners: Points, table: Table, scale: float, hidden: set[str]) -> Floats:
    """What the judge should say of a place, `(_TRUTHS,)`; `hidden` are the board's corners that cannot be seen."""
    said = np.zeros(_TRUTHS, np.float32)
    if table.corners is None:
        return said
    own = table.corners * scale
    orders = [np.roll(way, turn, axis=0) for way in (own, own[::-1]) for turn in range(4)]
    names = [np.roll(way, turn) for way in (np.arange(4), np.arange(4)[::-1]) for turn in range(4)]
    best = int(np.argmin([np.linalg.norm(order - corners, axis=1).max() for order in orders]))
    off = (project(lattice.homography(corners, HOME), orders[best]) - HOME) / PITCH
    worst = float(np.linalg.norm(off, axis=1).max())
    said[0] = np.clip((WRONG - worst) / (WRONG - RIGHT), 0, 1)
    said[1 : 1 + 2 * CORNERS] = off.ravel()
    covered = [NAMES[i] in hidden for i in names[best]]
    said[1 + 2 * CORNERS : 1 + 3 * CORNERS] = covered
    said[-2:] = worst < _TOLD, worst < 0.5
    return said


def batches(places: Places, steps: int, size: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """`steps` batches of views `(size, 3, VIEW, VIEW)` and truths: in random order, varied."""
    rng = np.random.default_rng((seed, 2))
    order: list[int] = []
    for _ in range(steps):
        while len(order) < size:
            order += rng.permutation(len(places.views)).tolist()
        chosen, order = order[:size], order[size:]
        seen = np.stack([_varied(rng, places.views[i]) for i in chosen])
        yield torch.from_numpy(seen), torch.from_numpy(places.truths[chosen])


def _varied(rng: Generator, seen: Picture) -> Floats:
    if rng.random() < 0.25:
        seen = np.asarray(cv2.GaussianBlur(seen, (0, 0), float(rng.uniform(0.3, 1.2))), np.uint8)
    picture = toned(seen) * np.float32(rng.normal(1, 0.08))
    if rng.random() < 0.3:
        picture += rng.standard_normal(picture.shape, np.float32) * np.float32(rng.uniform(0, 0.15))
    return picture


def judged(scores: Tensor, truths: Tensor) -> Tensor:
    """How wrong the judge is about right and wrong, about offsets and about covers."""
    whether = torch.nn.functional.binary_cross_entropy_with_logits(scores[:, 0], truths[:, 0])
    offsets = slice(1, 1 + 2 * CORNERS)
    off = torch.nn.functional.smooth_l1_loss(scores[:, offsets], truths[:, offsets], reduction="none", beta=0.1)
    covers = slice(1 + 2 * CORNERS, 1 + 3 * CORNERS)
    over = torch.nn.functional.binary_cross_entropy_with_logits(scores[:, covers], truths[:, covers], reduction="none")
    told, seen = truths[:, -2], truths[:, -1]
    return (
        whether
        + 2 * (off.mean(1) * told).sum() / told.sum().clamp(min=1)
        + 0.3 * (over.mean(1) * seen).sum() / seen.sum().clamp(min=1)
    )
