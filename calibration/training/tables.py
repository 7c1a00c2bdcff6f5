"""Whole pictures on disk, with the truth of where the board is: what the locator learns from and is measured on.

A folder has `NNNNNN.jpg` and one line of `truth.jsonl` for each: `image`, `family`, `corners` (a1, d1, d4, a4 in
pixels; null without a board), `foot` (the same of the board's lower edge), `plain`, `cloth`, `tilt`, `pixels`,
`covered` (the names of the corners that a hand covers), `hidden` (the share of the board that is covered, or only
white). Picture i of a split has the seed (split, 2, i); every sixth has no board.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from calibration.textures import Fabrics
from calibration.training.dataset import Split
from calibration.training.photographs import World
from calibration.training.scene import SIDE
from calibration.training.setting import draw_setting
from calibration.training.whole import take_picture
from companion.vision.plane import side_lengths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from calibration.training.whole import WholePicture

    Points = NDArray[np.floating[Any]]

NAMES = ("a1", "d1", "d4", "a4")
TRUTH = "truth.jsonl"
_LONGEST = {"train": (640, 640, 960), "calibrate": (640, 960, 1280, 1280), "test": (640, 960, 1280, 1280)}
_NO_BOARD_EVERY = 6
_QUALITY = 95


@dataclass(frozen=True, slots=True)
class Table:
    """One picture on disk."""

    path: Path
    corners: NDArray[np.float64] | None
    foot: NDArray[np.float64] | None
    truth: dict[str, Any]

    def image(self) -> NDArray[np.uint8]:
        """The picture, BGR."""
        return np.asarray(cv2.imread(str(self.path)), np.uint8)


def draw_table(split: Split, number: int, fabrics: Fabrics, photographs: Sequence[Path] = ()) -> WholePicture:
    """The picture with this number; on `photographs` if there are any, mostly if it is to learn from."""
    rng = np.random.default_rng((split.value, 2, number))
    sizes = _LONGEST[split.name.lower()]
    longest = sizes[rng.integers(len(sizes))]
    setting = draw_setting(rng, longest, board=number % _NO_BOARD_EVERY != _NO_BOARD_EVERY - 1)
    world = World(photographs, np.random.default_rng((split.value, 88, number)), only=split is not Split.TRAIN)
    return take_picture(rng, setting, fabrics, world if photographs else None)


def folder_of(folder: Path, split: Split) -> Path:
    """Where the pictures of a split are, below `folder`."""
    return folder / f"tables-{split.name.lower()}"


def write_tables(folder: Path, split: Split, numbers: range, photographs: Sequence[Path] = ()) -> Iterator[Path]:
    """Draw these pictures of a split into a folder of its own below `folder`; what is there is kept."""
    place = folder_of(folder, split)
    place.mkdir(parents=True, exist_ok=True)
    known = {each.path.name for each in read_tables(folder, split)} if (place / TRUTH).exists() else set()
    fabrics = Fabrics(np.random.default_rng((split.value, 0)))
    with (place / TRUTH).open("a", encoding="utf-8") as lines:
        for number in numbers:
            path = place / f"{number:06d}.jpg"
            if path.name not in known:
                picture = draw_table(split, number, fabrics, photographs)
                cv2.imwrite(str(path), picture.image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
                lines.write(json.dumps({"image": path.name, **_truth(picture)}) + "\n")
                lines.flush()
            yield path


def _truth(picture: WholePicture) -> dict[str, Any]:
    return {
        "family": picture.family,
        "corners": _named(picture.corners),
        "foot": _named(picture.foot),
        "plain": picture.plain,
        "cloth": picture.cloth,
        "tilt": round(picture.tilt, 1),
        "pixels": round(picture.pixels, 1),
        "covered": [name for name, over in zip(NAMES, picture.covered, strict=False) if over],
        "hidden": round(picture.hidden, 3),
    }


def _named(corners: NDArray[np.float64] | None) -> dict[str, list[float]] | None:
    if corners is None:
        return None
    return {name: [round(float(x), 2), round(float(y), 2)] for name, (x, y) in zip(NAMES, corners, strict=True)}


def read_tables(folder: Path, split: Split) -> list[Table]:
    """What is known of all pictures of a split; `FileNotFoundError` if none were drawn."""
    place = folder_of(folder, split)
    if not (place / TRUTH).exists():
        raise FileNotFoundError(f"{place} has no pictures; draw them first")
    return [read_table(place, line) for line in (place / TRUTH).read_text(encoding="utf-8").splitlines()]


def read_table(place: Path, line: str) -> Table:
    """What a line of the truth in this folder says."""
    truth = json.loads(line)
    return Table(place / truth["image"], _points(truth["corners"]), _points(truth["foot"]), truth)


def boardless(photographs: Sequence[Path]) -> list[Table]:
    """Photographs as pictures of tables without a board."""
    return [Table(path, None, None, {"covered": []}) for path in photographs]


def _points(named: dict[str, list[float]] | None) -> NDArray[np.float64] | None:
    return None if named is None else np.array([named[name] for name in NAMES], np.float64)


def corner_error(found: Points, truth: Points) -> float:
    """The largest distance of a corner, in squares, in the naming that fits best."""
    side = side_lengths(truth).mean() / SIDE
    ways = [np.roll(way, turn, axis=0) for way in (found, found[::-1]) for turn in range(4)]
    return float(min(np.linalg.norm(way - truth, axis=1).max() for way in ways) / side)
