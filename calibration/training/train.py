"""Training: boards from disk, looked at from all sides, until the steps are done; on an accelerator if there is one."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from calibration.training.dataset import Split, new_shards
from calibration.training.looks import Looks
from calibration.training.network import Reader
from calibration.training.tensors import device
from calibration.training.truth import JUDGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from calibration.training.dataset import Boards

_RISE = 150
_LEAST_RATE = 1e-5
_STEADINESS = 0.999
_AT_ONCE = 100
"""So many steps' boards are chosen together; then it is looked for boards that were drawn meanwhile."""
_REMEMBERED = 0.7
_HARDEST = 3.0
"""No board is chosen for a loss above this."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a reader is trained."""

    steps: int
    boards: int = 8
    """Boards in one step."""
    rate: float = 1.6e-3
    seed: int = 5
    lit: float = 0.05
    """How many of the boards are of those that were lit by `raytrace`, if there are any."""
    hard: float = 0.35
    """How many of the boards are chosen the more often, the worse the reader was at them."""

    def rate_at(self, step: int) -> float:
        """The learning rate: a short rise, then half a cosine down to nothing."""
        rise = min(1.0, step / _RISE)
        return self.rate * rise * (0.5 + 0.5 * math.cos(math.pi * step / self.steps)) + _LEAST_RATE


class Known(NamedTuple):
    """Boards to learn from; the fields of `Boards`, and whether they were lit by `raytrace` and the reader's loss."""

    views: Tensor
    targets: Tensor
    weights: Tensor
    aways: Tensor
    lit: Tensor
    loss: Tensor

    @classmethod
    def of(cls, boards: Boards, *, lit: bool) -> Known:
        """Boards that nobody has looked at yet, where it is learnt."""
        fields = (torch.from_numpy(each) for each in (boards.views, boards.targets, boards.weights, boards.aways))
        unseen = torch.full((len(boards),), lit), torch.full((len(boards),), _HARDEST / 2)
        return cls(*(field.to(device()) for field in (*fields, *unseen)))


class Pile:
    """The boards to learn from, where they are learnt from; more of them as others draw them into the folder."""

    def __init__(self, folder: Path, course: Course) -> None:
        self._folder, self._course, self._read = folder, course, set[str]()
        found = list(self._new())
        if not found:
            raise FileNotFoundError(f"{folder} has no boards to learn from; draw them first")
        self.known = _together(found)

    def __len__(self) -> int:
        return len(self.known.views)

    def look_for_more(self) -> None:
        """Take in what has been drawn since the last time."""
        self.known = _together([self.known, *self._new()])

    def _new(self) -> Iterator[Known]:
        for split in (Split.TRAIN, Split.LIT):
            for boards in new_shards(self._folder, split, self._read):
                yield Known.of(boards, lit=split is Split.LIT)

    def choose(self, count: int, chance: torch.Generator) -> Tensor:
        """The numbers of so many boards."""
        lit, loss = self.known.lit, self.known.loss
        ways = [(1 - self._course.hard, torch.ones_like(loss)), (self._course.hard, loss + 1e-3)]
        kinds = [(self._course.lit, lit), (1 - self._course.lit, ~lit)]
        likely = torch.zeros_like(loss)
        for share, which in (kind for kind in kinds if kind[1].any()):
            for part, how in ways:
                likely += share * part * how * which / (how * which).sum()
        return torch.multinomial(likely, count, replacement=True, generator=chance)

    def remember(self, chosen: Tensor, wrong: Tensor) -> None:
        """How bad the reader was at these boards."""
        before = self.known.loss[chosen]
        self.known.loss[chosen] = before + (1 - _REMEMBERED) * (wrong.clamp(max=_HARDEST) - before)


def _together(some: Sequence[Known]) -> Known:
    return some[0] if len(some) == 1 else Known(*(torch.cat(field) for field in zip(*some, strict=True)))


def train(pile: Pile, course: Course, report: Callable[[int, float], None], reader: Reader | None = None) -> Reader:
    """The average of the readers along the course, which is steadier than the last one.

    `report` hears the step and the loss now and then. Passes run in bfloat16, which newer processors are quick at.
    """
    torch.manual_seed(course.seed)
    torch.backends.cudnn.benchmark = True
    reader = (reader or Reader()).train().to(device(), memory_format=torch.channels_last)
    steady = copy.deepcopy(reader)
    optimiser = torch.optim.AdamW(reader.parameters(), course.rate, weight_decay=1e-3)
    for step, (chosen, seen, targets, weights) in enumerate(batches(pile, course), 1):
        with torch.autocast(device().type, torch.bfloat16):
            scores = reader(seen)
        each = divergence(scores.float(), targets)
        loss = (each * weights).sum() / weights.sum().clamp(min=1)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 2.0)
        optimiser.param_groups[0]["lr"] = course.rate_at(step)
        optimiser.step()
        follow(steady, reader, min(_STEADINESS, step / (step + 10)))
        pile.remember(chosen, (each.detach() * (weights == JUDGED)).amax(1))
        if step % _AT_ONCE == 0 or step == course.steps:
            report(step, float(loss.detach()))
    return steady.eval()


def follow(steady: nn.Module, reader: nn.Module, keep: float) -> None:
    """Move `steady` towards the reader; so much of what it was it is to `keep`."""
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
    follow(mixture, second, 1 - share)
    for layer in mixture.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.reset_running_stats()
            layer.momentum = None  # the mean of all that is seen
    mixture.train()
    with torch.no_grad():
        for seen in boards:
            mixture.backbone(seen.flatten(0, 1))
    return mixture.eval()


def divergence(scores: Tensor, targets: Tensor) -> Tensor:
    """How far what is said of each square is from the truth's distribution, `(b, squares)`: nothing if it is that."""
    return (torch.special.xlogy(targets, targets) - targets * torch.log_softmax(scores, -1)).sum(-1)


def batches(pile: Pile, course: Course) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """`course.steps` batches: the boards' numbers, looks at them, the truth, and what squares count."""
    looks = Looks(device(), course.seed)
    chance = torch.Generator(device()).manual_seed(course.seed)
    for first in range(0, course.steps, _AT_ONCE):
        pile.look_for_more()
        count = min(_AT_ONCE, course.steps - first)
        for chosen in pile.choose(count * course.boards, chance).view(count, course.boards):
            known = pile.known
            seen, weights = looks(known.views[chosen], known.aways[chosen], known.weights[chosen])
            yield chosen, seen, known.targets[chosen], weights
