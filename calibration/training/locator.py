"""The locator from nothing: two networks trained on drawn tables, thresholds chosen on others, measured on yet others.

The judge is trained last, since it learns also from places that the pointer and the lines suggest: where they are
wrong, they are wrong in the ways that it has to see through.
"""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import repeat
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import cv2
import numpy as np
import torch

from calibration.training import judging, pointing
from calibration.training.dataset import BOARD, Split
from calibration.training.export import between, chain, take_back
from calibration.training.locator_network import Judge, Pointer
from calibration.training.optimise import optimise
from calibration.training.photographs import of_split
from calibration.training.pictures import GUESSES, SUGGESTED, Pictures
from calibration.training.tables import boardless, corner_error, folder_of, read_tables, write_tables
from calibration.training.tensors import device
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
    from torch import Tensor

    from calibration.training.tables import Table
    from companion.vision.pose import BoardNotFound

    Points = NDArray[np.floating[Any]]

_MESH = Mesh.turned(BOARD)[0]
POINTER, JUDGE, CARD = "pointer.onnx", "judge.onnx", "locator.json"
ON_PHOTOGRAPHS = "on-photographs"
"""The folder, below that of the tables, with those that lie on photographs."""
_SEED = 5
_AT_ONCE = 50
"""Tables that a process draws, one after the other."""
_ON_PHOTOGRAPHS = 20_000
"""The number of the first table to learn from that may lie on a photograph."""
_TO_NORMALISE, _TO_NORMALISE_JUDGE = 64, 16
"""Pictures on which the normalisation of a network that learns further is measured."""
_ASKED_OF_BOARDS = 4
"""In one of so many tables with a board it is looked what the pointer suggests."""
_ASKED_LINES, _FROM_LINES = 12, 5
"""Of every twelve pictures, that whose lines are asked for places: half of those that show no board."""
_SUGGESTIONS = 8
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
    """How much is drawn and learnt, if nothing else is said: for processors that are quick at bfloat16."""

    tables: int = 6_000
    held: int = 600
    """Pictures to choose thresholds on, and as many to measure on."""
    pointer: Course = field(default_factory=lambda: Course(11_000, 14))
    judge: Course = field(default_factory=lambda: Course(9_000, 4))
    """`boards` of a course are pictures in one step; the judge looks at many places in each."""


def draw(folder: Path, plan: Plan, photographs: Path | None = None, jobs: int = 1) -> Iterator[object]:
    """Draw the tables of all three splits; what is there already is kept. With photographs, most lie on them."""
    with ProcessPoolExecutor(jobs, get_context("spawn")) as drawers:
        for split, count in ((Split.TRAIN, plan.tables), (Split.CALIBRATE, plan.held), (Split.TEST, plan.held)):
            first = _ON_PHOTOGRAPHS if photographs and split is Split.TRAIN else 0
            seen = of_split(photographs, split) if photographs else []
            some = [range(n, min(n + _AT_ONCE, first + count)) for n in range(first, first + count, _AT_ONCE)]
            yield from drawers.map(_draw_some, repeat(folder), repeat(split), some, repeat(seen))


def _draw_some(folder: Path, split: Split, numbers: range, photographs: Sequence[Path]) -> None:
    cv2.setNumThreads(1)
    for _ in write_tables(folder, split, numbers, photographs):
        pass


def folders_of(folder: Path) -> dict[str, Path]:
    """Where there are tables in a folder, by what is measured on them."""
    named = {"drawn": folder, "on photographs": folder / ON_PHOTOGRAPHS}
    return {name: place for name, place in named.items() if any(place.glob("tables-*"))}


def pictures_of(folder: Path, most: int, photographs: Path | None) -> Pictures:
    """What is to be learnt from in a folder: its tables, those on photographs, and photographs as they are."""
    alone = boardless(of_split(photographs, Split.TRAIN)) if photographs else []
    return Pictures(list(folders_of(folder).values()), most, alone)


def train_pointer(
    pictures: Pictures, course: Course, report: Callable[[int, float], None], begun: bytes | None = None
) -> bytes:
    """The pointer, as an ONNX file; further from what was `begun`."""
    torch.manual_seed(course.seed)
    network = Pointer()
    if begun is not None:
        some, *_ = next(pointing.batches(pictures, 1, _TO_NORMALISE, course.seed))
        take_back(network.eval().layers, begun, some.cpu())

    def loss(scores: Tensor, wanted: Tensor, chosen: Tensor) -> Tensor:
        each = pointing.judged(scores, wanted)
        pictures.remember(chosen, each.detach())
        return each.mean()

    seen = pointing.batches(pictures, course.steps, course.boards, course.seed)
    network = optimise(network, seen, loss, course, report)
    maps = running_pointer.CHANNELS * running_pointer.FINER**2
    return chain("pointer", network.layers, ["n", 3, "h", "w"], ["n", maps, "h8", "w8"])


def train_judge(
    pictures: Pictures, course: Course, report: Callable[[int, float], None], begun: bytes | None = None
) -> bytes:
    """The judge, as an ONNX file; further from what was `begun`."""
    torch.manual_seed(course.seed)
    network = Judge()
    if begun is not None:
        for _ in range(2):  # the places of the second time are mended as it does
            some = next(judging.batches(pictures, network.to(device()), 1, _TO_NORMALISE_JUDGE, course.seed))
            take_back(network.cpu().eval().layers, begun, some.seen.cpu())

    def loss(scores: Tensor, truths: Tensor, counts: Tensor, chosen: Tensor) -> Tensor:
        wrong, whether = judging.judged(scores, truths, counts)
        pictures.remember(chosen, whether.detach().view(len(chosen), judging.PLACES).mean(1))
        return wrong

    places = judging.batches(pictures, network, course.steps, course.boards, course.seed)
    network = optimise(network, places, loss, course, report)
    view = running_judge.VIEW
    return chain("judge", network.layers, ["n", 3, view, view], ["n", 1 + 3 * running_judge.CORNERS])


def suggest(folder: Path, pointer: bytes, jobs: int = 1) -> Iterator[None]:
    """Write down where the pointer and the lines suggest a board in some of the tables to learn from.

    In all that show none, half of them by their lines, too, and in some that do.
    """
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (pointer,)) as lookers:
        for place in folders_of(folder).values():
            tables = [table for table in read_tables(place, Split.TRAIN) if _is_asked(table)]
            with (folder_of(place, Split.TRAIN) / SUGGESTED).open("w", encoding="utf-8") as lines:
                for line in lookers.map(_suggested, tables, chunksize=4):
                    lines.write(line + "\n")
                    lines.flush()
                    yield


def _is_asked(table: Table) -> bool:
    return table.corners is None or int(table.path.stem) % _ASKED_OF_BOARDS == 0


_begun: list[running_pointer.Pointer] = []


def _begin(pointer: bytes) -> None:
    cv2.setNumThreads(1)
    _begun.append(running_pointer.Pointer(pointer))


def _suggested(table: Table) -> str:
    """Where the pointer and the lines suggest a board, in pixels of the picture, as a line of JSON."""
    image, number = table.image(), int(table.path.stem)
    places = [place.corners for place in _begun[0].see(image).places]
    if table.corners is None and number % _ASKED_LINES == _FROM_LINES:
        picture, lines = FittedPicture.of(image), LinesSeen(image).suggest(_MESH)
        rng = np.random.default_rng((_SEED, 3, number))
        chosen = [lines[i] * picture.scale for i in rng.permutation(len(lines))[:_SUGGESTIONS]]
        fitted = chosen[::2] + [lattice.fit(picture.levels, corners, _MESH) for corners in chosen[1::2]]
        places = places[: GUESSES - len(fitted)] + [corners / picture.scale for corners in fitted]
    told = [np.round(corners, 2).tolist() for corners in places if np.isfinite(corners).all()]
    return json.dumps({"image": table.path.name, "places": told})


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


def errors(finder: BoardFinder, tables: Sequence[Table]) -> list[float | None]:
    """By how many squares what is found in each picture is off; infinite where no board is, None if none is found."""
    return [_error(finder(table.image(), BOARD), table) for table in tables]


def told_of(found: Sequence[float | None], tables: Sequence[Table]) -> dict[str, Any]:
    """How many boards a finder locates, and how often it finds one elsewhere or where none is, by its `errors`."""
    pairs = list(zip(found, tables, strict=True))
    boards = [(error, table.truth["plain"]) for error, table in pairs if table.corners is not None]

    def share(errors: list[float | None]) -> str:
        return f"{sum(error is not None and error < LOCATED for error in errors)} of {len(errors)}"

    return {
        "located in plain conditions": share([error for error, plain in boards if plain]),
        "located in hard conditions": share([error for error, plain in boards if not plain]),
        "falsely located": sum(error is not None and error >= LOCATED for error in found),
        "without a board": len(pairs) - len(boards),
    }


def _error(answer: BoardPose | BoardNotFound, table: Table) -> float | None:
    """By how many squares what was found is off; infinite where no board is, None if nothing was found."""
    if not isinstance(answer, BoardPose):
        return None
    return np.inf if table.corners is None else corner_error(answer.points(), table.corners)


class Further(NamedTuple):
    """What a network goes on from; what comes out is between the two, and knows what both know."""

    models: Path
    """Where it is, with its card."""
    new: float
    """The share of what comes out that is newly learnt."""


def learn(
    folder: Path,
    course: Course,
    which: str,
    photographs: Path | None,
    most: int,
    say: Callable[[str], None],
    further: Further | None = None,
) -> None:
    """Train `POINTER` or `JUDGE` on what there is in `folder`, and keep it there with its card."""
    cv2.setNumThreads(1)
    pictures = pictures_of(folder, most, photographs)
    begun = None if further is None else (further.models / which).read_bytes()
    trained = (train_pointer if which == POINTER else train_judge)(pictures, course, _reporting(which, say), begun)
    learnt: dict[str, Any] = {"pictures": pictures.count, "photographs": len(pictures.others)}
    learnt |= {"steps": f"{course.steps} of {course.boards} pictures", "rate": course.rate, "seed": course.seed}
    if further is not None and begun is not None:
        trained = between(begun, trained, further.new)
        before = json.loads((further.models / CARD).read_text(encoding="utf-8"))["trained_on"]
        learnt |= {"share": further.new, "after": before.get(which, before)}
    (folder / which).write_bytes(trained)
    (folder / which).with_suffix(".json").write_text(json.dumps(learnt), encoding="utf-8")


def write_locator(
    folder: Path, models: Path, jobs: int, say: Callable[[str], None], rule: FinderRule | None = None
) -> dict[str, Any]:
    """Choose the thresholds for the networks in `folder`, measure, and write them and the card to `models`; gives it.

    A rule that is given is kept. Thresholds are chosen on one split of the tables, what is measured is on another.
    """
    folders, networks = folders_of(folder), tuple((folder / name).read_bytes() for name in (POINTER, JUDGE))
    chosen_on = "the tables of the networks before"
    if rule is None:
        say("choosing thresholds")
        held = [table for place in folders.values() for table in read_tables(place, Split.CALIBRATE)]
        found: list[list[Find]] = _together(finds, networks, _UNDECIDED, held, jobs)
        rule = choose_rule(found)
        chosen_on = f"{len(held)} drawn tables of the calibration split"
    say("measuring")
    measured = {}
    for name, place in folders.items():
        test = read_tables(place, Split.TEST)
        pictures = f"{len(test)} drawn tables of the test split"
        measured[name] = {"pictures": pictures} | told_of(_together(errors, networks, rule, test, jobs), test)
    card = {
        "model": "pointer.onnx: where a picture shows a board's corners; judge.onnx: whether a place is the board",
        "trained_on": {
            which: json.loads((folder / which).with_suffix(".json").read_text(encoding="utf-8"))
            for which in (POINTER, JUDGE)
        }
        | {"drawn": "by calibration.training from fixed seeds; no photograph shows a board"},
        "rule": asdict(rule),
        "rule_chosen_on": chosen_on,
        "measured_on": measured,
    }
    for which, network in zip((POINTER, JUDGE), networks, strict=True):
        (models / which).write_bytes(network)
    (models / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


Told = TypeVar("Told")


def _together(
    ask: Callable[[BoardFinder, Sequence[Table]], list[Told]],
    networks: tuple[bytes, ...],
    rule: FinderRule,
    tables: Sequence[Table],
    jobs: int,
) -> list[Told]:
    """What is asked of a finder with these networks about each table."""
    some = [tables[i : i + 8] for i in range(0, len(tables), 8)]
    with ProcessPoolExecutor(jobs, get_context("spawn")) as askers:
        told = askers.map(_ask, repeat(ask), repeat(networks), repeat(rule), some)
        return [each for part in told for each in part]


def _ask(
    ask: Callable[[BoardFinder, Sequence[Table]], list[Told]],
    networks: tuple[bytes, ...],
    rule: FinderRule,
    tables: Sequence[Table],
) -> list[Told]:
    cv2.setNumThreads(1)
    pointer, judge = networks
    return ask(BoardFinder(running_pointer.Pointer(pointer), running_judge.Judge(judge), rule), tables)


def _reporting(what: str, say: Callable[[str], None]) -> Callable[[int, float], None]:
    def report(step: int, loss: float) -> None:
        say(f"{what}: step {step}: loss {loss:.4f}")

    return report
