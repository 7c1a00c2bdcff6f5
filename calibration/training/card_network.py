"""The network that reads cards: from drawn strips to the files that the program loads."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import nn

from calibration.textures import Fabrics
from calibration.training.cards import (
    ILLEGIBLE,
    NEAR,
    NONE,
    READABLE,
    SAME_CARD,
    STRIP,
    StripDrawer,
    lessons,
    near_lessons,
    shared,
)
from calibration.training.dataset import Split
from calibration.training.export import chain
from calibration.training.network import Convolution, Shortcut
from calibration.training.optimise import ahead, optimise
from calibration.training.train import Course
from companion.vision.cards import CLASSES, CardJudge, CardReader, CardRule, card_like, toned
from companion.vision.sheets import PICTURE, sheets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from calibration.training.cards import StripShot

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

    strips: int = 28_000
    near: int = 32_000
    """Cards that are drawn with little around them."""
    held: int = 1_500
    """Strips to choose thresholds on, and as many to measure on."""
    steps: int = 40_000


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
        partial = path.with_suffix(".part.npz")
        np.savez_compressed(partial, pictures=np.stack(pictures), labels=np.array(labels))
        partial.rename(path)
    with np.load(path) as kept:
        return kept["pictures"], kept["labels"].astype(np.int64)


class CardNetwork(nn.Sequential):
    """Pictures `(n, 3, PICTURE[1], PICTURE[0])`, toned, to scores `(n, CLASSES)`."""

    def __init__(self) -> None:
        side = (PICTURE[0] // 8) * (PICTURE[1] // 8)
        super().__init__(
            Convolution(3, 16, 3, 2),
            Convolution(16, 32, stride=2),
            Shortcut(32),
            Convolution(32, 56, stride=2),
            Shortcut(56),
            Convolution(56, 16, 1),
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

    return optimise(network or CardNetwork(), ahead(_batches(pictures, labels, course)), loss, course, report)


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
    return finish(network, models, plan)


def finish(network: CardNetwork, models: Path, plan: Plan) -> dict[str, Any]:
    """Choose thresholds for a trained network and measure it; write it and its card, which is given back."""
    file = chain("cards", network, ["cards", 3, PICTURE[1], PICTURE[0]], ["cards", CLASSES])
    (models / "cards.onnx").write_bytes(file)
    judge = CardJudge(file)
    rule = _rule([_looked_at(judge, shot) for shot in _shots(Split.CALIBRATE, plan.held)])
    card = {
        "model": "cards.onnx: a card from above to the four kinds, and to none of them",
        "parameters": sum(int(np.prod(weights.shape)) for weights in network.parameters()),
        "trained_on": f"{plan.strips} strips of table and {plan.near} cards, drawn from fixed seeds; no photograph",
        "steps": f"{plan.steps} of {BATCH} pictures",
        "rule": {"least": rule.least, "card": rule.card},
        "measured_on": {"strips": f"{plan.held} of the test split"}
        | _measured(CardReader(judge, rule), _shots(Split.TEST, plan.held)),
    }
    (models / "cards.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def _shots(split: Split, count: int) -> Iterator[StripShot]:
    """So many strips of a split; those whose card is half hidden are left out."""
    drawer = StripDrawer(Fabrics(np.random.default_rng((_SEEDS[split], 0))))
    for number in range(count):
        shot = drawer.draw(np.random.default_rng((_SEEDS[split], 2, number)))
        if not READABLE < shot.hidden < ILLEGIBLE:
            yield shot


def _is_told(shot: StripShot) -> bool:
    """Whether a strip shows a card of the four kinds that can be read."""
    return shot.top is not None and shot.kind != NONE and shot.hidden <= READABLE


def _looked_at(judge: CardJudge, shot: StripShot) -> tuple[float, float] | None:
    """How likely the card of a strip is one of the four, and of its own kind; None if it is not seen or is another."""
    found = sheets(shot.view)
    if shot.top is None or not _is_told(shot) or not found:
        return None
    seen = card_like(found, judge.judge(np.stack([sheet.picture(shot.view) for sheet in found])))
    row = next((row for same, row in seen if shared(found[same[0]], shot.top) >= SAME_CARD), None)
    return None if row is None else (float(row[:NONE].sum()), float(row[shot.kind]))


def _rule(looks: list[tuple[float, float] | None]) -> CardRule:
    """The threshold that keeps the promise on what surely is a card."""
    own = [right for card, right in filter(None, looks) if card >= _SURELY]
    return CardRule(least=min(float(np.quantile(own, _PROMISED, method="lower")), _MOST), card=_SURELY)


def _measured(reader: CardReader, shots: Iterator[StripShot]) -> dict[str, Any]:
    """What is said of strips that show a card of the four kinds, and of those that show none."""
    cards, others = Counter[str](), Counter[str]()
    for shot in shots:
        said = reader.judged(sheets(shot.view), shot.view)[0]
        if not _is_told(shot):
            others["taken for a card" if said.bit_count() == 1 else "not"] += 1
        elif not said >> shot.kind & 1:
            cards["wrong" if said else "not seen"] += 1
        else:
            cards["right" if said.bit_count() == 1 else "unclear"] += 1
    told = {name: round(cards[name] / cards.total(), 5) for name in ("right", "unclear", "not seen", "wrong")}
    taken = round(others["taken for a card"] / others.total(), 5)
    return {"cards": cards.total()} | told | {"others": others.total(), "taken for a card": taken}
