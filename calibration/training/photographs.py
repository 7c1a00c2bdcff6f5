"""Real photographs for drawn tables to lie on: nothing that is drawn is as manifold as the world.

``scripts/photographs.sh`` fetches packages that have some, and `choose` takes those pictures out of them that are
photographs, or photographed surfaces. They are on no drawn board and in no file of this project.
"""

from __future__ import annotations

import re
from hashlib import md5
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np
from rich.progress import track

from calibration.training.dataset import Split
from calibration.training.scene import SIDE
from calibration.training.view import turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.random import Generator

    from calibration.textures import Texture
    from calibration.training.canvas import Bytes, Points
    from calibration.training.setting import Setting

_ENDINGS = (".jpg", ".jpeg", ".png", ".tga", ".webp")
_NO_SURFACE = re.compile(r"norm|bump|gloss|glow|reflect|specular|luma|alpha|_nm?\.|icon", re.IGNORECASE)
"""Names of files that tell a game engine of a surface, without showing it."""
_LEAST_SIDE, _LONGEST = 250, 1400
_LEAST_COLOURS = 2_500
"""Of 40,000 pixels."""
_LEAST_CONTRAST = 12.0
_SEE_THROUGH = 0.01
_OF_A_PACKAGE = 350
_PARTS = 20
_TO_TEST, _TO_CALIBRATE = 4, 7
"""Of twenty photographs the first four are for tests, the next three for thresholds."""
_AS_DRAWN, _REPEATED = 0.25, 0.35
"""How often the table is as it is drawn although there are photographs; and how often one that is used is repeated."""
_DRAWN_BACKDROP, _THINGS = 0.4, 0.5
"""How often what is behind the table is drawn; how many of the things on it show photographs."""
_REPEATED_SIDE, _THING_SIDE = 1000, 400


def choose(unpacked: Path, folder: Path) -> int:
    """Put the photographs below `unpacked`, one folder a package, into `folder`; gives how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    known: set[str] = set()
    for package in track(sorted(each for each in unpacked.iterdir() if each.is_dir()), description="photographs"):
        files = [file for file in sorted(package.rglob("*")) if file.suffix.lower() in _ENDINGS]
        chosen = 0
        for file in sorted(files, key=lambda file: _fingerprint(file.name.encode())):
            picture = None if _NO_SURFACE.search(file.name) else _photograph(file)
            if picture is None or (look := _fingerprint(_small(picture, 16) // 16)) in known:
                continue
            known.add(look)
            name = f"{package.name}__{file.parent.name}_{file.stem}".replace(" ", "_")[:100]
            cv2.imwrite(str(folder / f"{name}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 92])
            chosen += 1
            if chosen == _OF_A_PACKAGE:
                break
    return len(known)


def of_split(folder: Path, split: Split) -> list[Path]:
    """The photographs of one split; those whose names differ by digits only, as of one film, are all in the same."""
    parts = {Split.TEST: range(_TO_TEST), Split.CALIBRATE: range(_TO_TEST, _TO_CALIBRATE)}
    part = parts.get(split, range(_TO_CALIBRATE, _PARTS))
    return [file for file in sorted(folder.glob("*.jpg")) if _number(re.sub(r"[\d_]+", "", file.stem)) in part]


def any_of(photographs: Sequence[Path], rng: Generator) -> Bytes:
    """One of them by chance, BGR."""
    return np.asarray(cv2.imread(str(photographs[int(rng.integers(len(photographs)))])), np.uint8)


class Seen(NamedTuple):
    """What one table shows of them."""

    backdrop: Bytes | None
    """What is behind the table; None if that is drawn."""
    cloth: Texture | None
    """What the board lies on; None if that is drawn."""
    to_squares: Points | None
    """From pixels of the cloth to squares (3, 3); None if it lies as drawn ones do, repeated."""


class World:
    """What there is to see for one table, by a chance of its own: what is drawn is as it would be without it.

    `only` for a table that surely lies on a photograph.
    """

    def __init__(self, photographs: Sequence[Path], rng: Generator, *, only: bool) -> None:
        self._photographs, self._rng, self._only = photographs, rng, only

    def around(self, setting: Setting) -> Seen:
        """What is seen behind the table and under the board."""
        return Seen(self._backdrop(setting.frame), *self._table(setting))

    def _backdrop(self, size: tuple[int, int]) -> Bytes | None:
        if self._rng.random() < _DRAWN_BACKDROP:
            return None
        room = cv2.resize(self._part(_LONGEST), size)
        return np.asarray(cv2.GaussianBlur(room, (0, 0), float(self._rng.uniform(0.8, 4))), np.uint8)

    def _table(self, setting: Setting) -> tuple[Texture | None, Points | None]:
        if not self._only and self._rng.random() < _AS_DRAWN:
            return None, None
        if self._rng.random() < _REPEATED:
            cloth = self._part(_REPEATED_SIDE)
            side = min(cloth.shape[:2])
            return cloth[:side, :side], None
        wide = max(setting.frame) / setting.scene.camera.scale * self._rng.uniform(0.6, 1.3)
        photograph = self._part(_LONGEST)
        size = np.array(photograph.shape[1::-1])
        scale = float(np.clip(wide, 3, 40)) / max(size)
        lie = np.eye(3)
        lie[:2, :2] = turn(setting.lie)
        lie[:2, 2] = SIDE / 2 - lie[:2, :2] @ (size * scale / 2) + self._rng.uniform(-3, 3, 2)
        return photograph, lie @ np.diag([scale, scale, 1.0])

    def thing(self, drawing: Texture) -> Texture:
        """What a thing on the table shows: a part of a photograph, or what is drawn."""
        return self._part(_THING_SIDE) if self._rng.random() < _THINGS else drawing

    def _part(self, longest: int) -> Bytes:
        """A part of some photograph, made smaller until it is no longer than that."""
        photograph = any_of(self._photographs, self._rng)
        share, size = self._rng.uniform(0.4, 1), np.array(photograph.shape[:2])
        high, wide = (size * share).astype(int).tolist()
        y, x = (int(self._rng.integers(0, room + 1)) for room in size - (high, wide))
        return _no_longer_than(longest, photograph[y : y + high, x : x + wide])


def _photograph(file: Path) -> Bytes | None:
    """The picture in a file, BGR, no longer than need be; None if it is no photograph."""
    read = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    if read is None or read.ndim != 3 or read.dtype != np.uint8 or min(read.shape[:2]) < _LEAST_SIDE:
        return None
    if read.shape[2] > 3 and (read[..., 3] < 250).mean() > _SEE_THROUGH:
        return None
    picture = _no_longer_than(_LONGEST, np.asarray(read[..., :3], np.uint8))
    colours = len(np.unique(_small(picture, 200).reshape(-1, 3), axis=0))
    return picture if colours >= _LEAST_COLOURS and picture.std() >= _LEAST_CONTRAST else None


def _no_longer_than(longest: int, picture: Bytes) -> Bytes:
    scale = min(1.0, longest / max(picture.shape[:2]))
    if scale < 1:
        picture = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    return np.ascontiguousarray(picture)


def _small(picture: Bytes, side: int) -> Bytes:
    return np.asarray(cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


def _fingerprint(told: bytes | Bytes) -> str:
    return md5(bytes(told), usedforsecurity=False).hexdigest()


def _number(name: str) -> int:
    return int(_fingerprint(name.encode()), 16) % _PARTS
