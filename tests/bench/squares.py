"""How well squares are read at true corners: ``python -m tests.bench.squares [BOARDS] [PICTURES] [--sheet FILE]``.

Draws BOARDS boards (300 if not said) that neither training nor calibration has seen and reads them as photographs.
PICTURES is a folder with photographs and a `truth.jsonl` in the words of ``companion read --json``.
*Right* is exactly what can be seen, *unclear* keeps the truth among others, *wrong* has ruled it out; *at most* is the
upper end of its 95 % interval. With ``--sheet`` the drawn squares that were not read right are put side by side in one
picture, the wrong ones first: what lies there, and what was said beside it.
"""

import argparse
import json
import math
import sys
import time
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np

from calibration.training.dataset import BOARD, Split, Studio
from calibration.training.scene import plain
from calibration.training.truth import COVERED, JUDGED
from companion.readings import ANYTHING, LETTERS, contents_of, possible
from companion.rules import Piece
from companion.vision.pieces import Recogniser
from companion.vision.reader import photographed
from companion.vision.rectify import away_side, patches, rectify
from tests.bench.shares import wilson
from tests.bench.sheet import write_sheet

UNSEEN = 1_000_000
"""The first scene number that neither the training nor the card uses."""
MOST_SHOWN = 96


def traits(scene):
    """The rows of the table that a scene counts for."""
    yield "all"
    yield "plain" if plain(scene) else "hard"
    yield scene.pieces.family.value
    tilt, scale = math.degrees(scene.camera.tilt), scene.camera.scale
    yield "tilt    0-25" if tilt < 25 else "tilt   25-45" if tilt < 45 else "tilt   45-62"
    yield "px/sq  18-40" if scale < 40 else "px/sq  40-60" if scale < 60 else "px/sq 60-110"
    yield "dim" if scene.lens.exposure < 0.25 else "bright" if scene.lens.exposure > 0.7 else "well lit"
    if scene.light.glare is not None:
        yield "glare"
    if scene.hands:
        yield "hands"


class Tally:
    """Counts squares, and boards without any that is not right."""

    def __init__(self):
        self.right = self.unclear = self.wrong = self.boards = self.perfect = 0

    def add(self, verdicts):
        self.right += verdicts.count("right")
        self.unclear += verdicts.count("unclear")
        self.wrong += verdicts.count("wrong")
        self.boards += 1
        self.perfect += set(verdicts) <= {"right"}

    def __str__(self):
        count = max(1, self.right + self.unclear + self.wrong)
        return (
            f"{count:>8}{self.right / count:>10.2%}{self.unclear / count:>10.2%}{self.wrong / count:>9.3%}"
            f"{wilson(self.wrong, count)[1]:>9.3%}{self.boards:>8}{self.perfect / max(1, self.boards):>9.1%}"
        )


def verdict(said, allowed):
    """What a set is worth against what can be seen."""
    return "right" if said & ~allowed == 0 else "unclear" if said & allowed else "wrong"


def seen(words):
    """A set of contents from the words of the truth."""
    return contents_of(None if word == "." else Piece.parse(word) for word in words)


def letters(contents):
    """A set of contents, one letter each, as on a tile board's line."""
    return "".join(LETTERS[content] for content in possible(contents)) if contents != ANYTHING else "?"


def drawn(recogniser, count, tallies, bad):
    """Read drawn boards; gives the milliseconds a board and the shares of covered squares noticed."""
    studio, spent, covered = Studio(Split.TEST), 0.0, []
    for number in range(UNSEEN, UNSEEN + count):
        boards = studio.boards(range(number, number + 1))
        began = time.process_time()
        said = recogniser.contents(*photographed(recogniser, boards.views[0], BOARD, int(boards.aways[0]), 1))
        spent += time.process_time() - began
        verdicts = []
        cut = patches(boards.views[0], BOARD, int(boards.aways[0]))
        for one, target, weight, patch in zip(said, boards.targets[0], boards.weights[0], cut, strict=True):
            if target[COVERED]:
                covered.append(one == ANYTHING)
            elif weight == JUDGED:
                truth = sum(1 << int(i) for i in np.flatnonzero(target))
                verdicts.append(verdict(one, truth))
                if verdicts[-1] != "right":
                    bad.append((f"{verdicts[-1]}: {letters(truth)}, {letters(one)}", patch))
        for trait in traits(studio.scene(number)):
            tallies[trait].add(verdicts)
    return spent / max(1, count) * 1000, np.mean(covered) if covered else math.nan


def photographs(recogniser, folder, tallies):
    """Read the photographs of a folder at their true corners."""
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        truth = json.loads(line)
        corners = np.array([truth["corners"][name] for name in ("a1", "d1", "d4", "a4")])
        view = rectify(cv2.imread(str(folder / truth["image"])), corners, BOARD)
        said = recogniser.contents(*photographed(recogniser, view, BOARD, away_side(corners, BOARD), 1))
        verdicts = [
            verdict(
                one, contents_of(None if word == "." else Piece.parse(word) for word in truth["squares"][str(square)])
            )
            for square, one in zip(BOARD.squares, said, strict=True)
            if str(square) not in truth["hidden"]
        ]
        conditions = {True: ["plain"], False: ["hard"]}.get(truth.get("plain"), [])
        for trait in ("all", truth.get("family", "set"), *conditions):
            tallies[f"{folder.name}: {trait}"].add(verdicts)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("boards", type=int, nargs="?", default=300)
    parser.add_argument("pictures", type=Path, nargs="?")
    parser.add_argument("--sheet", type=Path)
    asked = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    recogniser, tallies, bad = Recogniser.bundled(), defaultdict(Tally), []
    each, noticed = drawn(recogniser, asked.boards, tallies, bad)
    if asked.pictures is not None:
        photographs(recogniser, asked.pictures, tallies)
    print(f"{'':28}{'squares':>8}{'right':>10}{'unclear':>10}{'wrong':>9}{'at most':>9}{'boards':>8}{'perfect':>9}")
    for trait, tally in sorted(tallies.items()):
        print(f"{trait:28}{tally}")
    if asked.boards:
        print(f"covered squares noticed {noticed:.2%}; {each:.1f} ms a board of 16 squares, one core")
    if asked.sheet and bad:
        write_sheet(asked.sheet, sorted(bad, key=lambda one: not one[0].startswith("wrong"))[:MOST_SHOWN], 100)


if __name__ == "__main__":
    main(sys.argv[1:])
