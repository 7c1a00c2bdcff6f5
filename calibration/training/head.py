"""Teaching the head alone what it does not know, without its forgetting what it does.

The backbone stays, and with it every set that was enrolled. What it makes of a few looks at each board is worked out
once, so that the head takes thousands of steps in a minute. Boards that are not new count by what the head said of
them before (learning without forgetting: Li and Hoiem 2016). What comes of it lies between the head that was and the
one that has learnt: most of the way knows nearly all that is new, and doubts no more than before of the rest (robust
fine-tuning: Wortsman et al. 2022).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import torch
from torch import Tensor, nn

from calibration.training.dataset import Split, new_shards
from calibration.training.looks import Looks
from calibration.training.tensors import device
from calibration.training.train import Course, divergence, follow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from calibration.training.network import Head, Reader

TAUGHT = (Split.FILLED, Split.KNOTTED)
"""What is new."""
_AT_ONCE = 50
"""So many boards are looked at together."""
_TOLD = 100
_STEADINESS = 0.995
_FIRMLY = 15.0
"""How many times as much it counts that the head says what it said of what it knew."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """How the head is taught."""

    steps: int = 2000
    boards: int = 64
    """Looks at boards in one step."""
    new: float = 0.3
    """How many of these are of what is new."""
    looks: int = 3
    """At each board."""
    rate: float = 1e-3
    share: float = 0.75
    """How much of the head that has learnt is in what comes of it; the rest is one from before."""
    seed: int = 17


class Seen(NamedTuple):
    """What the backbone made of looks at boards."""

    embeddings: Tensor
    """`(n, squares, EMBEDDING)`."""
    targets: Tensor
    """`(n, squares, CLASSES)`, the truth."""
    weights: Tensor
    """`(n, squares)`, how far each square counts."""

    @classmethod
    def of(cls, reader: Reader, folder: Path, split: Split, lesson: Lesson) -> Self:
        """Looks at all boards of a split that are in `folder`.

        Raises:
            FileNotFoundError: if there is none.
        """
        looks, parts = Looks(device(), lesson.seed), []
        for boards in new_shards(folder, split, set()):
            fields = (torch.from_numpy(each) for each in (boards.views, boards.aways, boards.weights, boards.targets))
            for some in zip(*(field.to(device()).split(_AT_ONCE) for field in fields), strict=True):
                parts += [_looked_at(reader, looks, *some) for _ in range(lesson.looks)]
        if not parts:
            raise FileNotFoundError(f"{folder} has no board of the {split.name.lower()} split; draw them first")
        return cls.together(map(cls._make, parts))

    @classmethod
    def together(cls, some: Iterable[Self]) -> Self:
        """All of these looks."""
        return cls(*(torch.cat(field) for field in zip(*some, strict=True)))

    def choose(self, count: int, chance: torch.Generator) -> Self:
        """So many of the looks."""
        chosen = torch.randint(len(self.embeddings), (count,), generator=chance, device=chance.device)
        return type(self)(*(field[chosen] for field in self))


def _looked_at(
    reader: Reader, looks: Looks, views: Tensor, aways: Tensor, weights: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    seen, counted = looks(views, aways, weights)
    with torch.no_grad():
        embeddings = reader.backbone(seen.flatten(0, 1)).unflatten(0, seen.shape[:2])
    return embeddings, targets, counted


def teach(
    reader: Reader,
    new: Seen,
    known: Seen,
    lesson: Lesson,
    report: Callable[[int, float], None],
    rest: Head | None = None,
) -> Reader:
    """A reader with the same backbone; its head knows what is `new` as well, and says of the `known` what it said.

    `report` hears the step and the loss now and then. What `lesson.share` leaves is of the head `rest`, one that this
    reader's head came of; or of this reader's head itself.
    """
    chance = torch.Generator(device()).manual_seed(lesson.seed)
    head, steady, before = reader.head.train(), copy.deepcopy(reader.head), copy.deepcopy(reader.head).eval()
    optimiser = torch.optim.AdamW(head.parameters(), lesson.rate, weight_decay=1e-3)
    course, of_new = Course(lesson.steps, rate=lesson.rate), round(lesson.boards * lesson.new)
    for step in range(1, lesson.steps + 1):
        learnt, kept = new.choose(of_new, chance), known.choose(lesson.boards - of_new, chance)
        wrong = divergence(head(learnt.embeddings), learnt.targets)
        loss = (wrong * learnt.weights).sum() / learnt.weights.sum().clamp(min=1)
        loss = loss + _FIRMLY * divergence(head(kept.embeddings), _said(before, kept)).mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(head.parameters(), 2.0)
        optimiser.param_groups[0]["lr"] = course.rate_at(step)
        optimiser.step()
        follow(steady, head, min(_STEADINESS, step / (step + 10)))
        if step % _TOLD == 0 or step == lesson.steps:
            report(step, float(loss.detach()))
    follow(steady, rest or before, lesson.share)
    taught = copy.deepcopy(reader)
    taught.head = steady
    return taught.eval()


def _said(before: Head, kept: Seen) -> Tensor:
    with torch.no_grad():
        return torch.softmax(before(kept.embeddings), -1)
