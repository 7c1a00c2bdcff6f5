"""Training: boards from disk, looked at from all sides, until the time is up or the rounds are done."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np
import torch
from torch import nn

from calibration.training.dataset import BOARD
from calibration.training.network import Reader
from companion.vision.pieces import Tone, mirrored, with_relief
from companion.vision.rectify import evened, patches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray
    from torch import Tensor

    from calibration.training.dataset import Boards

    Floats = NDArray[np.float32]

_LOST = 0.04
"""How often a board's far side is taken for another one."""
_EVENED = 0.15
"""How often a camera brings light and dark parts of the picture nearer to each other, as telephones do."""
_RISE = 150
_LEAST_RATE = 1e-5
_STEADINESS = 0.999
_ANSWERS = ("targets", "weights")


@dataclass(frozen=True, slots=True)
class Course:
    """How a reader is trained."""

    steps: int
    boards: int = 8
    """Boards in one step."""
    rate: float = 1.6e-3
    seed: int = 5
    lit: float = 0.12
    """How many of the boards are of those that were lit by `raytrace`, if there are any."""

    def rate_at(self, step: int) -> float:
        """The learning rate: a short rise, then half a cosine down to nothing."""
        rise = min(1.0, step / _RISE)
        return self.rate * rise * (0.5 + 0.5 * math.cos(math.pi * step / self.steps)) + _LEAST_RATE


def train(
    drawn: Boards,
    lit: Boards | None,
    course: Course,
    report: Callable[[int, float], None],
    reader: Reader | None = None,
) -> Reader:
    """The average of the readers along the course, which is steadier than the last one.

    `report` hears the step and the running loss. Passes run in bfloat16, which newer processors are quick at.
    """
    torch.manual_seed(course.seed)
    reader = (reader or Reader()).train().to(memory_format=torch.channels_last)
    steady = copy.deepcopy(reader)
    optimiser = torch.optim.AdamW(reader.parameters(), course.rate, weight_decay=1e-3)
    running = 2.0
    for step, (seen, targets, weights) in enumerate(batches(drawn, lit, course), 1):
        with torch.autocast("cpu", torch.bfloat16):
            scores = reader(seen)
        loss = judged(scores.float(), targets, weights)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 2.0)
        optimiser.param_groups[0]["lr"] = course.rate_at(step)
        optimiser.step()
        _follow(steady, reader, min(_STEADINESS, step / (step + 10)))
        running += 0.02 * (float(loss.detach()) - running)
        report(step, running)
    return steady.eval()


def _follow(steady: Reader, reader: Reader, keep: float) -> None:
    """Move the average a little towards the reader."""
    with torch.no_grad():
        for kept, new in zip(steady.state_dict().values(), reader.state_dict().values(), strict=True):
            if kept.dtype.is_floating_point:
                kept.lerp_(new, 1 - keep)
            else:
                kept.copy_(new)


def mixed(first: Reader, second: Reader, share: float, boards: Iterable[Tensor]) -> Reader:
    """A reader between two, one of which began where the other was: `share` of it is the second's.

    It knows what both have learnt, and less of what each knows by heart (model soups: Wortsman et al. 2022). How its
    layers are normalised is measured anew on `boards`, each `(b, squares, 4, PATCH, PATCH)`.
    """
    mixture = copy.deepcopy(first)
    for mine, other in zip(mixture.parameters(), second.parameters(), strict=True):
        mine.data.lerp_(other.data, share)
    for layer in mixture.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.reset_running_stats()
            layer.momentum = None  # the mean of all that is seen
    mixture.train()
    with torch.no_grad():
        for seen in boards:
            mixture.backbone(seen.flatten(0, 1))
    return mixture.eval()


def judged(scores: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """Cross entropy against the truth's distribution, over the squares that count."""
    each = -(targets * torch.log_softmax(scores, -1)).sum(-1)
    return (each * weights).sum() / weights.sum().clamp(min=1)


def batches(drawn: Boards, lit: Boards | None, course: Course) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """`course.steps` batches: drawn boards, and lit ones if there are any, each in random order, varied."""
    rng = np.random.default_rng((course.seed, 0))
    piles = [(boards, _forever(rng, len(boards))) for boards in (drawn, lit) if boards is not None]
    for _ in range(course.steps):
        picks = rng.random(course.boards) < (0 if lit is None else course.lit)
        chosen = [(boards, next(order)) for boards, order in (piles[int(pick)] for pick in picks)]
        seen = np.stack([varied(rng, boards.views[i], int(boards.aways[i])) for boards, i in chosen])
        targets, weights = (np.stack([getattr(boards, name)[i] for boards, i in chosen]) for name in _ANSWERS)
        yield torch.from_numpy(seen), torch.from_numpy(targets), torch.from_numpy(weights)


def _forever(rng: Generator, count: int) -> Iterator[int]:
    while True:
        yield from rng.permutation(count).tolist()


def varied(rng: Generator, view: NDArray[np.uint8], away: int) -> Floats:
    """One board's patches as the network sees them, `(16, 4, PATCH, PATCH)`: shifted, mirrored, retoned."""
    side = view.shape[0]
    shift = np.array([[1, 0, 0], [0, 1, 0]], np.float64) + rng.normal(0, 0.008, (2, 3))
    shift[:, 2] = rng.normal(0, 0.6, 2) - (shift[:, :2] - np.eye(2)) @ (side / 2, side / 2)
    if rng.random() < 0.5:
        view = np.asarray(cv2.warpAffine(view, shift, (side, side), borderMode=cv2.BORDER_REPLICATE), np.uint8)
    if rng.random() < _EVENED:
        view = evened(view, rng.uniform(6, 40), rng.uniform(0.05, 0.4))
    cut = patches(view, BOARD, int(rng.integers(4)) if rng.random() < _LOST else away)
    cut = mirrored(cut) if rng.random() < 0.5 else cut
    toned = Tone.of(cut).apply(cut)
    gains = rng.normal(1, 0.04, (1, 3, 1, 1)) * rng.normal(1, 0.08)
    toned = toned * gains.astype(np.float32) + rng.normal(0, 0.06, (1, 3, 1, 1)).astype(np.float32)
    if rng.random() < 0.3:
        toned += rng.standard_normal(toned.shape, np.float32) * np.float32(rng.uniform(0, 0.12))
    return with_relief(np.asarray(toned, np.float32))
