"""Rendered boards on disk: top views with their truth, in shards that anyone can make again from their seeds.

A shard is one `.npz` of `SHARD` scenes, with the fields of `Boards`. Scene i of a split has the seed (split, 1, i): the
splits share no scene, and no fabric either.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import repeat
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from calibration.textures import Fabrics
from calibration.training.additions import draw_filled, draw_knotted, with_additions
from calibration.training.chance import draw_scene, of_one_set, with_thick_pieces
from calibration.training.oddities import with_oddities
from calibration.training.render import render
from calibration.training.scene import SIDE, Family, ordinary, plain
from calibration.training.spares import set_aside
from calibration.training.truth import CLASSES
from companion.rules import Layout
from companion.vision.rectify import away_side, rectify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.training.render import Photograph
    from calibration.training.scene import Scene

    Photographer = Callable[[Generator, Scene, Fabrics], Photograph]
    """How a scene becomes a picture: `render`, or the way of `raytrace`."""

SHARD = 250
BOARD = Layout.parse("4x4")
_FAMILIES = list(Family)


class Split(Enum):
    """What scenes are for; the value is the first number of their seeds."""

    TRAIN = 1
    CALIBRATE = 2
    TEST = 3
    TRACED = 4
    LIT = 5
    """To learn from, lit by `raytrace`."""
    FILLED = 6
    """To learn from afterwards: outlined marks that are filled, of which nothing else to learn from has any."""
    KNOTTED = 7
    """To learn from afterwards, too: knots in the board's wood."""


@dataclass(frozen=True, slots=True)
class Boards:
    """Some rendered boards."""

    views: NDArray[np.uint8]
    """What `rectify` gives, `(n, height, width, 3)`."""
    targets: NDArray[np.float32]
    """`(n, 16, CLASSES)`, see `Photograph`."""
    weights: NDArray[np.float32]
    """`(n, 16)`, see `Photograph`."""
    families: NDArray[np.uint8]
    """Indices into `Family`, `(n,)`."""
    aways: NDArray[np.uint8]
    """What `away_side` gives, `(n,)`."""
    plain: NDArray[np.bool_]
    """Whether nothing makes the scene hard, `(n,)`."""
    ordinary: NDArray[np.bool_]
    """Whether light and dark are what the words say, `(n,)`."""

    def __len__(self) -> int:
        return len(self.views)


_TO_LEARN_FROM = (Split.TRAIN, Split.LIT, Split.FILLED, Split.KNOTTED)
_DRAWERS = {Split.FILLED: draw_filled, Split.KNOTTED: draw_knotted}
_WITH_ADDITIONS = (Split.CALIBRATE, Split.TEST)


class Studio:
    """Draws the scenes of one split, each from its own seed."""

    def __init__(self, split: Split, photograph: Photographer = render) -> None:
        self._split, self._photograph = split, photograph

    @cached_property
    def fabrics(self) -> Fabrics:
        """What things are made of; it takes seconds, and who only wants scenes needs none."""
        return Fabrics(np.random.default_rng((self._split.value, 0)))

    def boards(self, numbers: range) -> Boards:
        """The scenes with these numbers."""
        drawn = [self._board(number) for number in numbers]
        return Boards(*(np.stack(field) for field in zip(*drawn, strict=True)))

    def scene(self, number: int) -> Scene:
        """The scene with this number, not yet drawn."""
        return self._scene(self._rng(number))

    def _scene(self, rng: np.random.Generator) -> Scene:
        """Training sees any mixture of pieces; what promises are made of and measured on is one set, as in a game."""
        scene = _DRAWERS.get(self._split, draw_scene)(rng)
        apart = rng.spawn(1)[0]
        scene = set_aside(apart, with_thick_pieces(apart, scene))
        if self._split in _WITH_ADDITIONS:
            scene = with_additions(apart, scene)
        return with_oddities(apart, scene) if self._split in _TO_LEARN_FROM else of_one_set(rng, scene)

    def _rng(self, number: int) -> np.random.Generator:
        return np.random.default_rng((self._split.value, 1, number))

    def _board(self, number: int) -> tuple[NDArray[Any] | np.generic, ...]:
        """The fields of `Boards` for one scene."""
        rng = self._rng(number)
        scene = self._scene(rng)
        photo = self._photograph(rng, scene, self.fabrics)
        side = np.linalg.norm(photo.corners[0] - photo.corners[1]) / SIDE
        shaken = photo.corners + rng.normal(0, scene.jitter, (4, 2)).clip(-0.08, 0.08) * side
        return (
            rectify(photo.image, shaken, BOARD),
            photo.targets,
            photo.weights,
            np.uint8(_FAMILIES.index(scene.pieces.family)),
            np.uint8(away_side(shaken, BOARD)),
            np.bool_(plain(scene)),
            np.bool_(ordinary(scene.pieces)),
        )


def write_shards(folder: Path, split: Split, scenes: range, photograph: Photographer = render) -> Iterator[Path]:
    """Draw these scenes of the split into `folder`, shard by shard; shards that are there are kept.

    The last one of a run that asked for fewer is drawn anew if it lacks some.

    Raises:
        ValueError: if the first of them is not the first of a shard; shards would overlap.
    """
    if scenes.start % SHARD:
        raise ValueError(f"shards begin at multiples of {SHARD}, not at {scenes.start}")
    folder.mkdir(parents=True, exist_ok=True)
    studio = None
    for first in scenes[::SHARD]:
        path = folder / f"{split.name.lower()}-{first:06d}.npz"
        numbers = range(first, min(first + SHARD, scenes.stop))
        if not path.exists() or count_boards([path]) < len(numbers):
            studio = studio or Studio(split, photograph)
            _write(path, studio.boards(numbers))
        yield path


def draw_shards(folder: Path, split: Split, count: int, jobs: int) -> Iterator[object]:
    """Draw the first `count` boards of a split into `folder`, so many shards at a time; those there are kept."""
    shards = [range(first, min(first + SHARD, count)) for first in range(0, count, SHARD)]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as drawers:
        yield from drawers.map(_draw_shard, repeat(folder), repeat(split), shards)


def _draw_shard(folder: Path, split: Split, scenes: range) -> None:
    cv2.setNumThreads(1)
    for _ in write_shards(folder, split, scenes):
        pass


def _write(path: Path, boards: Boards) -> None:
    partial = path.with_suffix(".part.npz")
    np.savez(partial, **{name: getattr(boards, name) for name in Boards.__slots__})
    partial.rename(path)


def new_shards(folder: Path, split: Split, read: set[str]) -> Iterator[Boards]:
    """The shards of a split in `folder` that are not among those that were `read`; they are from then on."""
    for path in _finished(folder, split):
        if path.name not in read:
            read.add(path.name)
            yield read_shard(path)


def shards_of(folder: Path, split: Split) -> list[Path]:
    """The shards of a split that are in `folder`; `FileNotFoundError` if there is none."""
    paths = _finished(folder, split)
    if not paths:
        raise FileNotFoundError(f"{folder} has no shard of the {split.name.lower()} split; draw them first")
    return paths


def _finished(folder: Path, split: Split) -> list[Path]:
    return sorted(path for path in folder.glob(f"{split.name.lower()}-*.npz") if ".part" not in path.name)


def read_shard(path: Path) -> Boards:
    """The boards of one shard."""
    with np.load(path) as shard:
        return Boards(*(np.asarray(shard[name]) for name in Boards.__slots__))


def count_boards(shards: list[Path]) -> int:
    """How many boards are in these shards."""
    count = 0
    for path in shards:
        with np.load(path) as shard:
            count += len(shard["plain"])
    return count


assert CLASSES == 10
