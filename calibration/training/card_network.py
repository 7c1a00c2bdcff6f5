"""The network that reads cards: from drawn strips to the files that the program loads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import nn

from calibration.training.cards import NEAR, NONE, STRIP, StripDrawer, lessons, near_lessons
from calibration.training.dataset import Split
from calibration.training.export import chain
from calibration.training.network import Convolution, Shortcut
from calibration.training.optimise import optimise
from calibration.training.textures import Fabrics
from calibration.training.train import Course
from companion.vision.cards import CLASSES, CardJudge, CardRule, toned
from companion.vision.sheets import PICTURE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    Bytes = NDArray[np.uint8]
    Labels = NDArray[np.int64]

BATCH: Final = 64
_SEEDS = {Split.TRAIN: 2, Split.CALIBRATE: 1, Split.TEST: 3}
_RATE = 2.5e-3
_PROMISED = 1e-3
"""So often a kind may be ruled out that a card shows."""
_SURELY = 0.95
_MOST = 0.003
"""No kind that is more probable than this is ruled out, even if the promise would be kept."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is drawn and learnt."""

    strips: int = 1_500
    near: int = 5_000
    """Cards that are drawn with little around them."""
    held: int = 750
    """Strips to choose thresholds on, and as many to measure on."""
    steps: int = 6_000


def draw(folder: Path, split: Split, count: int, *, near: bool = False) -> tuple[Bytes, Labels]:
    """The pictures `(n, PICTURE[1], PICTURE[0], 3)` and labels of so many strips; kept in `folder`.

    With `near`, little more than a card is drawn of each, which is quicker.
    """
    path = folder / f"cards-{split.name.lower()}-{'near-' if near else ''}{count}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        seed, look = _SEEDS[split], near_lessons if near else lessons
        drawer = StripDrawer(Fabrics(np.random.default_rng((seed, 0))), NEAR if near else STRIP)
        pictures, labels = [], []
        for number in range(count):
            rng = np.random.default_rng((seed, 3 if near else 2, number))
            for picture, label in look(rng, drawer.draw(rng)):
                pictures.append(picture)
                labels.append(label)
        np.savez_compressed(path, pictures=np.stack(pictures), labels=np.array(labels))
    with np.load(path) as kept:
        return kept["pictures"], kept["labels"].astype(np.int64)


class CardNetwork(nn.Sequential):
    """Pictures `(n, 3, PICTURE[1], PICTURE[0])`, toned, to scores `(n, CLASSES)`."""

    def __init__(self) -> None:
        side = (PICTURE[0] // 8) * (PICTURE[1] // 8)
        super().__init__(
            Convolution(3, 12, 3, 2),
            Convolution(12, 24, stride=2),
            Convolution(24, 48, stride=2),
            Shortcut(48),
            Convolution(48, 16, 1),
            nn.Flatten(),
            nn.Linear(16 * side, CLASSES),
        )


def learn(
    pictures: Bytes,
    labels: Labels,
    steps: int,
    report: Callable[[int, float], None],
    network: CardNetwork | None = None,
) -> CardNetwork:
    """Train on pictures seen from all four sides; go on with `network`, if there is one."""
    course = Course(steps, rate=_RATE)
    torch.manual_seed(course.seed)

    def loss(scores: Tensor, wanted: Tensor) -> Tensor:
        return nn.functional.cross_entropy(scores, wanted)

    return optimise(network or CardNetwork(), _batches(pictures, labels, course), loss, course, report)


def _batches(pictures: Bytes, labels: Labels, course: Course) -> Iterator[tuple[Tensor, ...]]:
    rng = np.random.default_rng(course.seed)
    for _ in range(course.steps):
        chosen = rng.integers(len(pictures), size=BATCH)
        seen = pictures[chosen]
        for axis in (1, 2):
            flipped = rng.random(BATCH) < 0.5
            seen[flipped] = np.flip(seen[flipped], axis)
        yield torch.from_numpy(toned(seen)), torch.from_numpy(labels[chosen])


def write_cards(folder: Path, models: Path, plan: Plan, report: Callable[[str], None]) -> dict[str, Any]:
    """Draw, learn, choose thresholds, measure; write the network and its card, which is given back."""

    def say(step: int, running: float) -> None:
        if step % 500 == 0:
            report(f"step {step} of {plan.steps}: loss {running:.4f}")

    strips, near = draw(folder, Split.TRAIN, plan.strips), draw(folder, Split.TRAIN, plan.near, near=True)
    network = learn(np.concatenate([strips[0], near[0]]), np.concatenate([strips[1], near[1]]), plan.steps, say)
    return finish(network, folder, models, plan)


def finish(network: CardNetwork, folder: Path, models: Path, plan: Plan) -> dict[str, Any]:
    """Choose thresholds for a trained network and measure it; write it and its card, which is given back."""
    file = chain("cards", network, ["cards", 3, PICTURE[1], PICTURE[0]], ["cards", CLASSES])
    (models / "cards.onnx").write_bytes(file)
    judge = CardJudge(file)
    fitted, unseen = (
        (judge.judge(pictures), labels)
        for pictures, labels in (draw(folder, split, plan.held) for split in (Split.CALIBRATE, Split.TEST))
    )
    rule = _rule(*fitted)
    card = {
        "model": "cards.onnx: a card from above to the four kinds, and to none of them",
        "parameters": sum(int(np.prod(weights.shape)) for weights in network.parameters()),
        "trained_on": f"{plan.strips} strips of table and {plan.near} cards, drawn from fixed seeds; no photograph",
        "steps": f"{plan.steps} of {BATCH} pictures",
        "rule": {"least": rule.least, "card": rule.card},
        "measured_on": {"strips": f"{plan.held} of the test split"} | _measured(*unseen, rule),
    }
    (models / "cards.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def _rule(probabilities: NDArray[np.float32], labels: Labels) -> CardRule:
    """The threshold that keeps the promise on pictures that are surely of cards."""
    surely = (probabilities[:, :NONE].sum(axis=1) >= _SURELY) & (labels < NONE)
    own = probabilities[surely, labels[surely]]
    return CardRule(least=min(float(np.quantile(own, _PROMISED, method="lower")), _MOST), card=_SURELY)


def _measured(probabilities: NDArray[np.float32], labels: Labels, rule: CardRule) -> dict[str, Any]:
    """Right, unclear and wrong, of pictures of cards and of pictures of anything else."""
    said = [rule.kinds(row) for row in probabilities]
    cards, others = np.flatnonzero(labels < NONE), np.flatnonzero(labels == NONE)
    right = sum(said[i] == 1 << int(labels[i]) for i in cards)
    unclear = sum(bool(said[i] >> int(labels[i]) & 1) for i in cards) - right
    taken = sum(said[i].bit_count() == 1 for i in others)
    return {
        "cards": len(cards),
        "right": round(right / len(cards), 5),
        "unclear": round(unclear / len(cards), 5),
        "wrong": round(1 - (right + unclear) / len(cards), 5),
        "others": len(others),
        "taken for a card": round(taken / len(others), 5),
    }
