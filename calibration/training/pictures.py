"""Pictures of tables where networks learn from them, and what varies them: tensors, on an accelerator if there is one.

Every picture lies in the upper left of a canvas of `WIDTH` by `HEIGHT` pixels, upright ones on their side, and its edge
goes on beyond it. Points are in pixels of the canvas, whole numbers in the middle of pixels.
"""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np
import torch
from torch import nn

from calibration.hands import draw_hand, draw_thing
from calibration.training.dataset import Split
from calibration.training.scene import SIDE
from calibration.training.tables import NAMES, TRUTH, folder_of, read_table
from calibration.training.tensors import Chance, device, grid, sampled, sides, there, turned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from calibration.training.tables import Table

    Points = NDArray[np.floating[Any]]

WIDTH, HEIGHT = 640, 480
GUESSES = 12
"""Of the places that were suggested in a picture, so many are kept."""
SUGGESTED = "suggested.jsonl"
"""Beside the truth: a line for each picture, `image` and `places`, each four corners in pixels of the picture."""
_AT_ONCE = 512
"""Pictures that are taken in together."""
_STEPS = 100
"""So many steps' pictures are chosen together; then it is looked for pictures that were drawn meanwhile."""
_REMEMBERED = 0.7
_HARD = 0.35
"""So many of the pictures are chosen the more often, the worse the network was at them."""
_HANDS = 1200
_HAND_SIDE, _HAND_SQUARE = 320, 24
_BY_A_HAND = 0.7
_SHADOW = 21


class Shown(NamedTuple):
    """One picture on its canvas."""

    seen: NDArray[np.uint8]
    """BGR, `(HEIGHT, WIDTH, 3)`."""
    to_canvas: Points
    """From its pixels to the canvas (2, 3)."""
    size: tuple[int, int]
    """Width and height of what it covers of the canvas."""
    on_side: bool
    """Whether it is upright, and was turned."""


def on_canvas(image: NDArray[np.uint8]) -> Shown:
    """A BGR picture on its canvas, made smaller if need be."""
    turn, (height, width) = np.eye(2, 3), image.shape[:2]
    on_side = height > width
    if on_side:
        image = np.asarray(cv2.rotate(image, cv2.ROTATE_90_CLOCKWISE), np.uint8)
        turn = np.array([[0.0, -1, height - 1], [1, 0, 0]])
        width, height = height, width
    scale = min(1.0, WIDTH / width, HEIGHT / height)
    size = (min(WIDTH, round(width * scale)), min(HEIGHT, round(height * scale)))
    if scale < 1:
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    below, beside = HEIGHT - size[1], WIDTH - size[0]
    seen = np.asarray(cv2.copyMakeBorder(image, 0, below, 0, beside, cv2.BORDER_REPLICATE), np.uint8)
    shrunk = np.array([size[0] / width, size[1] / height])
    return Shown(seen, shrunk[:, None] * turn + np.column_stack([np.zeros((2, 2)), (shrunk - 1) / 2]), size, on_side)


class Pictures:
    """Pictures to learn from; more of them as others draw them into the folders."""

    def __init__(self, folders: Sequence[Path], most: int, others: Sequence[Table] = ()) -> None:
        """Those of the training split in these folders, and `others`: no more than `most` in all."""
        where, chance = device(), torch.Generator(device())
        self._places, self._most = [folder_of(folder, Split.TRAIN) for folder in folders], most
        self._numbers: dict[tuple[Path, str], tuple[int, Points]] = {}
        self._read: dict[Path, int] = {}
        self._waiting = list(others)
        self.count = 0
        self.seen = torch.empty((most, HEIGHT, WIDTH, 3), dtype=torch.uint8, device=where)
        self.size = torch.zeros((most, 2), device=where)
        self.on_side = torch.zeros(most, dtype=torch.bool, device=where)
        self.corners, self.foot = (torch.full((most, 4, 2), math.nan, device=where) for _ in range(2))
        self.covered = torch.zeros((most, 4), device=where)
        self.guesses = torch.full((most, GUESSES, 4, 2), math.nan, device=where)
        """What was suggested, the first of them; not finite from there on."""
        self.loss = torch.full((most,), math.nan, device=where)
        self._chance = chance.manual_seed(7)
        self.others = others
        self.look_for_more()
        if not self.count:
            raise FileNotFoundError("there are no tables to learn from; draw them first")

    def look_for_more(self) -> None:
        """Take in what has been drawn, and suggested, since the last time."""
        for place in self._places:
            self._waiting += [read_table(place, line) for line in self._new_lines(place / TRUTH)]
        now = _AT_ONCE if self.count else len(self._waiting)
        self._take(self._waiting[:now])
        self._waiting = self._waiting[now:]
        if not self._waiting:
            for place in self._places:
                for line in self._new_lines(place / SUGGESTED):
                    self._take_suggested(place, json.loads(line))

    def _new_lines(self, file: Path) -> list[str]:
        """The lines that have been written to a file since the last time; the last one may not be finished yet."""
        if not file.exists():
            return []
        with file.open("rb") as lines:
            lines.seek(self._read.get(file, 0))
            finished = lines.read().rpartition(b"\n")[0]
        self._read[file] = self._read.get(file, 0) + len(finished) + (1 if finished else 0)
        return finished.decode().splitlines()

    def _take(self, tables: list[Table]) -> None:
        with ThreadPoolExecutor(4) as readers:
            chosen = tables[: self._most - self.count]
            for table, shown in zip(chosen, readers.map(lambda table: on_canvas(table.image()), chosen), strict=True):
                self._put(table, shown)

    def _put(self, table: Table, shown: Shown) -> None:
        i = self.count
        self._numbers[table.path.parent, table.path.name] = (i, shown.to_canvas)
        self.seen[i] = torch.from_numpy(shown.seen)
        self.on_side[i] = shown.on_side
        self.size[i] = torch.tensor([float(each) for each in shown.size])
        for field, points in ((self.corners, table.corners), (self.foot, table.foot)):
            if points is not None:
                field[i] = _points(points, shown)
        self.covered[i] = torch.tensor([float(name in table.truth["covered"]) for name in NAMES])
        self.loss[i] = 1.0 if i == 0 else self.loss[:i].mean()
        self.count += 1

    def _take_suggested(self, place: Path, told: dict[str, Any]) -> None:
        number, to_canvas = self._numbers.get((place, told["image"]), (None, None))
        if number is not None and to_canvas is not None:
            places = np.array(told["places"][:GUESSES], np.float64).reshape(-1, 4, 2)
            self.guesses[number, : len(places)] = torch.from_numpy(_moved(places, to_canvas)).float()

    def chosen(self, steps: int, size: int) -> Iterator[Tensor]:
        """The numbers of those `(_STEPS or fewer, size)` for some steps together, until there were so many steps."""
        for first in range(0, steps, _STEPS):
            self.look_for_more()
            count = min(_STEPS, steps - first)
            yield self._choose(count * size).view(count, size)

    def _choose(self, count: int) -> Tensor:
        loss = self.loss[: self.count] + 1e-4
        likely = (1 - _HARD) / self.count + _HARD * loss / loss.sum()
        return torch.multinomial(likely, count, replacement=True, generator=self._chance)

    def remember(self, chosen: Tensor, wrong: Tensor) -> None:
        """How bad the network was at these pictures; none is chosen for a loss far beyond what is usual."""
        before = self.loss[chosen]
        most = 8 * self.loss[: self.count].mean()
        self.loss[chosen] = before + (1 - _REMEMBERED) * (wrong.minimum(most) - before)


def _points(points: Points, shown: Shown) -> Tensor:
    return torch.from_numpy(_moved(points, shown.to_canvas)).float()


def _moved(points: Points, to_canvas: Points) -> Points:
    return np.asarray(points @ to_canvas[:, :2].T + to_canvas[:, 2])


# ------------------------------------------------------------------------------------------------- hands, light


class Hands:
    """Hands and things to be laid over boards; each drawn once, laid in any turn and size."""

    def __init__(self, chance: Chance, seed: int) -> None:
        rng, self._chance = np.random.default_rng((seed, 9)), chance
        drawn = np.zeros((_HANDS, _HAND_SIDE, _HAND_SIDE, 4), np.uint8)
        for stamp in drawn:
            picture = np.zeros((_HAND_SIDE, _HAND_SIDE, 3), np.uint8)
            paint = draw_hand if rng.random() < _BY_A_HAND else draw_thing
            stamp[..., 3] = paint(rng, picture, (_HAND_SIDE / 2, _HAND_SIDE / 2), _HAND_SQUARE)
            stamp[..., :3] = picture
        self._drawn = torch.from_numpy(drawn).to(chance.device)

    def lay(self, seen: Tensor, corners: Tensor, share: float) -> tuple[Tensor, Tensor]:
        """Pictures `(b, 3, height, width)` with something over a corner or a side of so many boards, and its shadow.

        Also gives what is over each corner, `(b, 4)`, 0 to 1. `corners` are `(b, 4, 2)`, not finite without a board.
        """
        chance, count = self._chance, len(seen)
        over = torch.zeros(corners.shape[:2], device=seen.device)
        chosen = (chance.happens(share, count) & there(corners)).nonzero()[:, 0]
        if not len(chosen):
            return seen, over
        own, n = corners[chosen], len(chosen)
        corner = own[torch.arange(n), chance.number(4, n)]
        spot = corner + (own.mean(1) - corner) * chance.uniform(-0.15, 0.7, n, 1)
        angle = chance.uniform(0, 2 * math.pi, n)
        scale = _HAND_SQUARE * SIDE / sides(own).mean(-1)
        mirror = torch.diag_embed(torch.stack([chance.one_of((-1.0, 1.0), n), torch.ones_like(angle)], -1))
        spin = scale[:, None, None] * (turned(angle) @ mirror)
        stamps = self._drawn[chance.number(_HANDS, n)].permute(0, 3, 1, 2).float()
        places = grid(seen.shape[-2], seen.shape[-1], seen.device)

        def laid(at: Tensor) -> Tensor:
            return sampled(stamps, (places - at[:, None, None]) @ spin[:, None].transpose(-1, -2) + _HAND_SIDE / 2)

        hand = laid(spot)
        alpha, colour = hand[:, 3:] / 255, hand[:, :3] * chance.uniform(0.4, 1.1, n, 1, 1, 1)
        away = chance.normal(n, 2) * 0.4 * (_HAND_SQUARE / scale)[:, None]
        dark = nn.functional.avg_pool2d(laid(spot + away)[:, 3:] / 255, _SHADOW, 1, _SHADOW // 2)
        below = seen[chosen] * (1 - chance.uniform(0, 0.7, n, 1, 1, 1) * dark)
        at_corners = sampled(alpha, own[:, None])[:, 0, 0]
        return seen.index_copy(0, chosen, below + alpha * (colour - below)), over.index_copy(0, chosen, at_corners)


def varied(chance: Chance, seen: Tensor) -> Tensor:
    """Pictures `(b, 3, h, w)`, 0 to 255, some of them in other tones, softer, or with more noise."""
    count = len(seen)
    power = torch.where(chance.happens(0.5, count), (0.4 * chance.normal(count)).clamp(-1.2, 1.0).exp(), 1.0)
    toned = 255 * (seen.clamp(0, 255) / 255 + 1e-6) ** power[:, None, None, None]
    softened = nn.functional.avg_pool2d(nn.functional.pad(toned, (1, 1, 1, 1), mode="replicate"), 3, 1)
    share = chance.uniform(0, 1.2, count).clamp(max=1) * chance.happens(0.3, count)
    toned = toned + share[:, None, None, None] * (softened - toned)
    grain = chance.uniform(1, 12, count) * chance.happens(0.3, count)
    return (toned + grain[:, None, None, None] * chance.normal(*toned.shape)).clamp(0, 255)
