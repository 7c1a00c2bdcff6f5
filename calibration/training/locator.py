"""The locator from nothing: two networks trained on drawn tables, thresholds chosen on others, measured on yet others.

The judge is trained last, since it learns also from places that the pointer and the lines suggest: where they are
wrong, they are wrong in the ways that it has to see through.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import torch

from calibration.training import judging, pointing
from calibration.training.dataset import BOARD, Split
from calibration.training.export import between, chain, take_back
from calibration.training.locator_network import Judge, Pointer
from calibration.training.optimise import optimise
from calibration.training.photographs import of_split
from calibration.training.tables import boardless, corner_error, read_tables, write_tables
from calibration.training.train import Course
from companion.vision import judge as running_judge
from companion.vision import lattice
from companion.vision import pointer as running_pointer
from companion.vision.board import BoardFinder
from companion.vision.mesh import Mesh
from companion.vision.pose import BoardPose
from companion.vision.rule import SPEAKS, FinderRule, features
from companion.vision.suggestions import FittedPicture, LinesSeen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from calibration.training.tables import Table
    from companion.vision.pose import BoardNotFound

    Points = NDArray[np.floating[Any]]

_MESH = Mesh.turned(BOARD)[0]
POINTER, JUDGE, CARD = "pointer.onnx", "judge.onnx", "locator.json"
_SEED, _FURTHER_SEED = 5, 31
_ON_PHOTOGRAPHS = 20_000
"""The number of the first table to learn from that may lie on a photograph."""
_TO_NORMALISE = 64
"""Pictures on which the normalisation of a network that learns further is measured."""
_NEW = 0.35
"""Of networks that were trained further, so much is new."""
_FROM_LINES = (5,)
"""Of every 24 pictures, those whose lines are asked for places: half of those that show no board."""
_SUGGESTIONS = 12
_MOST_FALSE = 0.002
_LEAST_ACCEPTED = 0.8
"""Of 1,200 tables of the calibration split three wrong places had scores between 0.74 and this, and four beyond."""
_SURE = 0.95
_MARGIN = 0.2
"""So far from the most convincing mistake towards certainty does the threshold lie."""
_FOLDS = 5
_UNDECIDED = FinderRule((0.0,) * (len(SPEAKS) + 1), accept=0.0, sure=1.0, perhaps=0.0)
LOCATED = 0.5
"""Squares by which the worst corner may be off for the board to count as located."""
_RIGHT = 0.2
"""The same, for a place to be an example of a right one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is drawn and learnt."""

    tables: int = 6_000
    held: int = 600
    """Pictures to choose thresholds on, and as many to measure on."""
    pointer_courses: tuple[int, ...] = (9_000, 2_000)
    """Steps of each course; the learning rate begins anew with each."""
    pointer_batch: int = 14
    judge_tables: int = 3_000
    judge_steps: int = 9_000
    judge_batch: int = 64
    rate: float = Course(0).rate


FURTHER = Plan(tables=7_000, held=400, pointer_courses=(7_000,), judge_steps=8_000, rate=8e-4)
"""How much of a locator is learnt further, on tables that lie on photographs."""


def draw(folder: Path, plan: Plan, photographs: Path | None = None) -> Iterator[Path]:
    """Draw the tables of all three splits; what is there already is kept. With photographs, most lie on them."""
    for split, count in ((Split.TRAIN, plan.tables), (Split.CALIBRATE, plan.held), (Split.TEST, plan.held)):
        first = _ON_PHOTOGRAPHS if photographs and split is Split.TRAIN else 0
        seen = of_split(photographs, split) if photographs else []
        yield from write_tables(folder, split, range(first, first + count), seen)


def train_pointer(
    tables: Sequence[Table], plan: Plan, report: Callable[[int, float], None], begun: bytes | None = None
) -> bytes:
    """The pointer, as an ONNX file; further from what was `begun`."""
    torch.manual_seed(_SEED)
    network, seed = Pointer(), _SEED if begun is None else _FURTHER_SEED
    if begun is not None:
        take_back(network.eval().layers, begun, next(pointing.batches(tables, 1, _TO_NORMALISE, seed))[0])
    for number, steps in enumerate(plan.pointer_courses):
        pictures = pointing.batches(tables, steps, plan.pointer_batch, seed + number)
        network = optimise(network, pictures, pointing.judged, Course(steps, rate=plan.rate), report)
    maps = running_pointer.CHANNELS * running_pointer.FINER**2
    return chain("pointer", network.layers, ["n", 3, "h", "w"], ["n", maps, "h8", "w8"])


def train_judge(
    places: judging.Places, plan: Plan, report: Callable[[int, float], None], begun: bytes | None = None
) -> bytes:
    """The judge, as an ONNX file; further from what was `begun`."""
    torch.manual_seed(_SEED)
    network, seed = Judge(), _SEED if begun is None else _FURTHER_SEED
    if begun is not None:
        take_back(network.eval().layers, begun, next(judging.batches(places, 1, 8 * _TO_NORMALISE, seed))[0])
    views = judging.batches(places, plan.judge_steps, plan.judge_batch, seed)
    network = optimise(network, views, judging.judged, Course(plan.judge_steps, rate=plan.rate), report)
    view = running_judge.VIEW
    return chain("judge", network.layers, ["n", 3, view, view], ["n", 1 + 3 * running_judge.CORNERS])


def suggested(tables: Sequence[Table], pointer: bytes) -> dict[str, list[Points]]:
    """Where the pointer and the lines of some pictures suggest a board: by picture, in pixels of its Lab picture."""
    rng, seer = np.random.default_rng((_SEED, 3)), running_pointer.Pointer(pointer)
    found: dict[str, list[Points]] = {}
    for number, table in enumerate(tables):
        if number % 2 and table.corners is not None:
            continue
        image = table.image()
        picture = FittedPicture.of(image)
        scale, levels = picture.scale, picture.levels
        found[table.path.name] = [np.asarray(place.corners * scale) for place in seer.see(image).places]
        if number % 24 in _FROM_LINES:
            lines = LinesSeen(image).suggest(_MESH)
            chosen = [lines[i] * scale for i in rng.permutation(len(lines))[:_SUGGESTIONS]]
            found[table.path.name] += chosen[::2] + [lattice.fit(levels, corners, _MESH) for corners in chosen[1::2]]
    return found


@dataclass(frozen=True, slots=True)
class Find:
    """A place that the finder looked at."""

    error: float
    """How far its worst corner is off, in squares; infinite where no board is."""
    likely: float
    support: float
    weight: lattice.Weight


def finds(finder: BoardFinder, tables: Sequence[Table]) -> list[list[Find]]:
    """The places that the finder looks at in each picture, right or wrong."""
    found = []
    for table in tables:
        scene = finder.look(table.image())
        places, scale = finder.places(scene), scene.fitted.scale
        errors = [
            np.inf if table.corners is None else corner_error(place.corners / scale, table.corners) for place in places
        ]
        found.append([Find(error, p.likely, p.support, p.weight) for error, p in zip(errors, places, strict=True)])
    return found


def choose_rule(found: Sequence[Sequence[Find]]) -> FinderRule:
    """Weights that tell right places from wrong ones, and the least score from which hardly any place is wrong.

    To choose the score, each picture is scored by weights fitted on the others.
    """
    parts = [[picture for i, picture in enumerate(found) if i % _FOLDS != fold] for fold in range(_FOLDS)]
    rules = [FinderRule(_weights(part), accept=0.0, sure=1.0, perhaps=0.0) for part in parts]
    best = [_best(picture, rules[i % _FOLDS]) for i, picture in enumerate(found)]
    wrong = sorted((score for score, error in best if error >= LOCATED), reverse=True)
    allowed = int(_MOST_FALSE * len(found))
    beyond = wrong[allowed] + _MARGIN * (1 - wrong[allowed]) if len(wrong) > allowed else 0.0
    accept = round(max(_LEAST_ACCEPTED, beyond), 3)
    return FinderRule(_weights(found), accept=accept, sure=max(_SURE, accept), perhaps=round(accept / 6, 3))


def _best(picture: Sequence[Find], rule: FinderRule) -> tuple[float, float]:
    """Score and error of the place that the rule prefers."""
    return max(
        ((rule.score(find.likely, find.support, find.weight), find.error) for find in picture), default=(0.0, np.inf)
    )


def _weights(found: Sequence[Sequence[Find]]) -> tuple[float, ...]:
    """Logistic regression on all places that are clearly right or wrong.

    What can only speak for a board must not speak against it, nor the other way round, however the few examples lie:
    a feature whose weight comes out with the wrong sign is left out.
    """
    clear = [find for picture in found for find in picture if not _RIGHT <= find.error < LOCATED]
    right = np.array([find.error < _RIGHT for find in clear], np.float64)
    seen = np.stack([features(find.likely, find.support, find.weight) for find in clear]) * SPEAKS
    kept = np.arange(seen.shape[1])
    while True:
        weights, offset = _regression(seen[:, kept], right)
        if (weights >= 0).all():
            break
        kept = kept[weights >= 0]
    full = np.zeros(seen.shape[1])
    full[kept] = weights
    return (*(round(float(each), 4) for each in full * SPEAKS), round(offset, 4))


def _regression(seen: Points, right: Points) -> tuple[Points, float]:
    """Weights and offset of a slightly damped logistic regression, by Newton's method."""
    middle, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-6
    told = np.column_stack([(seen - middle) / spread, np.ones(len(seen))])
    weights = np.zeros(told.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-np.clip(told @ weights, -30, 30)))
        slope = told.T @ (likely - right) + weights
        bend = (told * (likely * (1 - likely))[:, None]).T @ told + np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    plain = weights[:-1] / spread
    return plain, float(weights[-1] - plain @ middle)


def measure(finder: BoardFinder, tables: Sequence[Table]) -> dict[str, Any]:
    """How many boards a finder locates, and how often it finds one elsewhere or where none is."""
    found = [(_error(finder(table.image(), BOARD), table), table) for table in tables]
    boards = [(error, table.truth["plain"]) for error, table in found if table.corners is not None]

    def share(errors: list[float | None]) -> str:
        return f"{sum(error is not None and error < LOCATED for error in errors)} of {len(errors)}"

    return {
        "located in plain conditions": share([error for error, plain in boards if plain]),
        "located in hard conditions": share([error for error, plain in boards if not plain]),
        "falsely located": sum(error is not None and error >= LOCATED for error, _ in found),
        "without a board": len(found) - len(boards),
    }


def _error(answer: BoardPose | BoardNotFound, table: Table) -> float | None:
    """By how many squares what was found is off; infinite where no board is, None if nothing was found."""
    if not isinstance(answer, BoardPose):
        return None
    return np.inf if table.corners is None else corner_error(answer.points(), table.corners)


def write_locator(folder: Path, models: Path, plan: Plan, say: Callable[[str], None]) -> dict[str, Any]:
    """Train on the tables in `folder`, write both networks and the card to `models`; gives the card."""
    cv2.setNumThreads(1)
    tables = read_tables(folder, Split.TRAIN)[: plan.tables]
    pointer = train_pointer(tables, plan, _reporting("pointer", say))
    (models / POINTER).write_bytes(pointer)
    places = _places(tables[: plan.judge_tables], pointer, say)
    (models / JUDGE).write_bytes(train_judge(places, plan, _reporting("judge", say)))
    trained_on = {"pictures": len(tables), "places": len(places.views), **asdict(plan)}
    return write_card(models, {"drawn": folder}, trained_on)


def write_further(
    begun_in: Path, folders: dict[str, Path], photographs: Path, models: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Train the locator that is in a folder further on tables that lie on `photographs`, and on those without a table.

    The tables are in the folder "on photographs". Both networks are between what they were and what they learn, or they
    forget what is drawn: imitations of boards, and flat boards on flat tables; thresholds stay. Gives the card, with
    what is measured in each folder, by its name.
    """
    cv2.setNumThreads(1)
    plan, tables = FURTHER, read_tables(folders["on photographs"], Split.TRAIN)
    alone = boardless(of_split(photographs, Split.TRAIN))
    begun = [(begun_in / name).read_bytes() for name in (POINTER, JUDGE)]
    before = json.loads((begun_in / CARD).read_text(encoding="utf-8"))
    pointer = train_pointer(tables + alone, plan, _reporting("pointer", say), begun[0])
    (models / POINTER).write_bytes(between(begun[0], pointer, _NEW))
    places = _places(tables[: plan.judge_tables] + alone, begun[0], say)
    judge = train_judge(places, plan, _reporting("judge", say), begun[1])
    (models / JUDGE).write_bytes(between(begun[1], judge, _NEW))
    learnt = {"photographs": len(alone), "pictures": len(tables), "places": len(places.views), **asdict(plan)}
    learnt |= {"share": _NEW, "after": before["trained_on"]}
    return write_card(models, folders, learnt, FinderRule.of_card(before))


def _places(tables: list[Table], pointer: bytes, say: Callable[[str], None]) -> judging.Places:
    say("looking for places to learn from")
    return judging.cut_places(np.random.default_rng((_SEED, 4)), tables, suggested(tables, pointer))


def write_card(
    models: Path, folders: dict[str, Path], trained_on: dict[str, Any], rule: FinderRule | None = None
) -> dict[str, Any]:
    """Choose the thresholds on one split of the tables in `folders`, measure on another, and write the card."""
    chosen_on = "the tables of the networks before"
    if rule is None:
        held = [table for folder in folders.values() for table in read_tables(folder, Split.CALIBRATE)]
        rule = choose_rule(finds(_finder(models, _UNDECIDED), held))
        chosen_on = f"{len(held)} drawn tables of the calibration split"
    measured = {}
    for name, folder in folders.items():
        test = read_tables(folder, Split.TEST)
        pictures = f"{len(test)} drawn tables of the test split"
        measured[name] = {"pictures": pictures} | measure(_finder(models, rule), test)
    card = {
        "model": "pointer.onnx: where a picture shows a board's corners; judge.onnx: whether a place is the board",
        "trained_on": trained_on | {"drawn": "by calibration.training from fixed seeds"},
        "rule": asdict(rule),
        "rule_chosen_on": chosen_on,
        "measured_on": measured,
    }
    (models / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def _finder(models: Path, rule: FinderRule) -> BoardFinder:
    """The finder whose networks are in a folder."""
    pointer, judge = ((models / name).read_bytes() for name in (POINTER, JUDGE))
    return BoardFinder(running_pointer.Pointer(pointer), running_judge.Judge(judge), rule)


def _reporting(what: str, say: Callable[[str], None]) -> Callable[[int, float], None]:
    def report(step: int, loss: float) -> None:
        if step % 100 == 0:
            say(f"{what}: step {step}: loss {loss:.4f}")

    return report
