"""Thresholds for the sets, and what the finished recogniser does on boards that nothing was fitted to.

A conformal set keeps every content that is as likely (`SetRule.likely`) as a threshold asks: the highest one with which
the truth falls out of the set no more often than promised. Each way to look has its own. The narrowest promise is made
for ordinary sets, whose light pieces are light and whose dark ones are dark, where nothing makes the picture hard;
wider ones for hard pictures, and for other sets. How often they hold is measured, and told on the card.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from calibration.training.dataset import BOARD, read_shard
from calibration.training.scene import Family
from calibration.training.truth import JUDGED
from companion.readings import ANYTHING
from companion.vision.pieces import COVERED, Looked, Recogniser, SetRule
from companion.vision.reader import photographed
from companion.vision.rectify import patches

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from calibration.training.dataset import Boards

    Floats = NDArray[np.float32]

PROMISED = 5e-4
"""How often the truth may be ruled out, out of the box; also said in ``docs/overview.md``."""
PROMISED_WHEN_HARD = 3e-3
"""The same where hands, glare, darkness, blur, a low or a distant camera make the picture hard."""
PROMISED_ELSEWHERE = 5e-3
"""The same of other sets, such as cubes of two colours of which a stranger could not say which is the light one."""
_MARGIN = 0.7
"""Thresholds keep to this share of what is promised: those who count on 8,000 boards may be a third off by chance."""
_UNNOTICED = 0.01
_BARE = 0.2
"""`SetRule.bare`: a knot, or grain in an odd light, looks like a mark; a piece hardly ever looks like bare wood. Of
44,377 squares of photographs that are told to bear a piece 75 are less clear for it, and 12 that are bare not wrong."""
_UNDECIDED = SetRule(least=0.0, covered=1.0)
_ASKED = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)


@dataclass(frozen=True, slots=True)
class Judged:
    """Probabilities and truth of many squares, `(n, CLASSES)` each; squares that do not count are left out."""

    probabilities: Floats
    targets: Floats
    families: NDArray[np.uint8]
    plain: NDArray[np.bool_]
    ordinary: NDArray[np.bool_]


LOOKS: Final = {Looked.ONCE: (0.7, 0.5), Looked.TWICE: (0.7, 0.5), Looked.PHOTOGRAPH: (1.0, 0.15)}
"""The ways to look, and what `SetRule.known`, and `SetRule.covered` at most, is for each. Where squares are judged
together, what is left unclear is mostly the colour of cubes: one colour with its four kinds may not be ruled out as
four unlikely things are. And less is ruled out there, so a square that may be covered, as by the top of a tall piece
before it, has to be kept from it sooner."""


def look_at(recogniser: Recogniser, view: NDArray[np.uint8], away: int, look: Looked) -> Floats:
    """What is said of a top view that is looked at in this way."""
    if look is Looked.PHOTOGRAPH:
        return photographed(recogniser, view, BOARD, away, 1)[0]
    return recogniser.recognise(patches(view, BOARD, away), mirror_too=look is Looked.TWICE)


def judge(recogniser: Recogniser, boards: Boards, look: Looked) -> Judged:
    """What `recogniser` says about every square that counts, by one way to look."""
    seen = zip(boards.views, boards.aways.tolist(), strict=True)
    said = [look_at(recogniser, view, away, look) for view, away in seen]
    counts = (boards.weights >= JUDGED).ravel()
    targets = boards.targets.reshape(-1, boards.targets.shape[-1])
    families = np.repeat(boards.families, len(BOARD))[counts]
    plain, ordinary = (np.repeat(field, len(BOARD))[counts] for field in (boards.plain, boards.ordinary))
    return Judged(np.concatenate(said)[counts], targets[counts], families, plain, ordinary)


def judge_shards(networks: tuple[bytes, bytes], shards: list[Path], jobs: int = 1) -> dict[Looked, Judged]:
    """What a backbone and a head say about the boards of all shards, by each way to look; so many shards at a time."""
    with ProcessPoolExecutor(jobs, get_context("spawn")) as judges:
        parts = list(judges.map(partial(_judge_shard, networks), shards))
    return {look: _joined([part[look] for part in parts]) for look in LOOKS}


def _judge_shard(networks: tuple[bytes, bytes], shard: Path) -> dict[Looked, Judged]:
    cv2.setNumThreads(1)
    recogniser, boards = Recogniser(*networks, dict.fromkeys(Looked, _UNDECIDED)), read_shard(shard)
    return {look: judge(recogniser, boards, look) for look in LOOKS}


def _joined(parts: list[Judged]) -> Judged:
    return Judged(*(np.concatenate([getattr(part, name) for part in parts]) for name in Judged.__slots__))


def rule(judged: Judged, known: float, most_covered: float = 0.5) -> SetRule:
    """The narrowest rule that keeps all promises, with a margin; `known`, and `covered` at most, are `SetRule`'s."""
    over = judged.targets[:, COVERED] > 0
    noticed = float(np.quantile(judged.probabilities[over, COVERED], _UNNOTICED)) if over.any() else most_covered
    covered = min(noticed, most_covered)
    clear = judged.probabilities[:, COVERED] < covered
    usual = clear & judged.ordinary
    cases = (
        (usual & judged.plain, PROMISED),
        (usual & ~judged.plain, PROMISED_WHEN_HARD),
        (clear & ~judged.ordinary, PROMISED_ELSEWHERE),
    )
    undecided = SetRule(least=0.0, covered=covered, known=known, bare=_BARE)
    least = min(_least(undecided, *_contents(judged, chosen), _MARGIN * promised) for chosen, promised in cases)
    return replace(undecided, least=least)


def _least(undecided: SetRule, said: Floats, targets: Floats, promised: float) -> float:
    """The highest threshold with which a rule rules out no more of the truth's mass than promised."""
    likely = undecided.likely(said)
    top = said[:, :COVERED].argmax(axis=1)[:, None] == np.arange(COVERED)
    at_stake = (targets > 0) & ~top
    order = np.argsort(likely[at_stake])
    lost = np.cumsum(targets[at_stake][order]) / max(1, len(said))
    first_too_many = int(np.searchsorted(lost, promised, side="right"))
    if first_too_many == len(order):
        return 1.0
    return float(likely[at_stake][order][first_too_many])


def reliability(calibration: Judged, test: Judged, sets: SetRule) -> dict[str, float]:
    """How often the truth is ruled out on plain boards of `test` with thresholds that promise it on `calibration`."""
    kept = {}
    for promised in _ASKED:
        least = _least(sets, *_contents(calibration, calibration.plain & calibration.ordinary), promised)
        said, targets = _contents(test, test.plain & test.ordinary)
        likely = sets.likely(said)
        ruled_out = likely < np.minimum(least, likely.max(axis=1, keepdims=True))
        kept[f"{promised:g}"] = round(float((targets * ruled_out).sum() / max(1, len(said))), 5)
    return kept


def _contents(judged: Judged, chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What is said of the chosen squares, and the truth about their contents; covered squares left out."""
    clear = chosen & (judged.targets[:, COVERED] == 0)
    return judged.probabilities[clear], judged.targets[clear, :COVERED]


def measure(judged: Judged, sets: SetRule) -> dict[str, dict[str, float]]:
    """Shares of squares right, unclear and wrong, and of covered ones noticed, by family and conditions."""
    groups = {family.value: judged.families == i for i, family in enumerate(Family)}
    groups["plain, ordinary set"] = judged.plain & judged.ordinary
    groups["hard, ordinary set"] = ~judged.plain & judged.ordinary
    groups["all"] = np.ones(len(judged.families), bool)
    return {name: _shares(judged, sets, chosen) for name, chosen in groups.items()}


def _shares(judged: Judged, sets: SetRule, chosen: NDArray[np.bool_]) -> dict[str, float]:
    over = judged.targets[:, COVERED] > 0
    said = sets.contents(judged.probabilities[chosen & ~over])
    allowed = [_as_set(target) for target in judged.targets[chosen & ~over]]
    right = sum(1 for s, a in zip(said, allowed, strict=True) if s & ~a == 0)
    wrong = sum(1 for s, a in zip(said, allowed, strict=True) if s & a == 0)
    hidden = sets.contents(judged.probabilities[chosen & over])
    count = max(1, len(said))
    return {
        "squares": len(said),
        "right": round(right / count, 5),
        "unclear": round((len(said) - right - wrong) / count, 5),
        "wrong": round(wrong / count, 5),
        "covered_noticed": round(sum(s == ANYTHING for s in hidden) / max(1, len(hidden)), 4),
    }


def _as_set(target: Floats) -> int:
    return sum(1 << int(i) for i in np.flatnonzero(target[:COVERED]))
