"""How well enrolled sets are read whose marks nobody trained on.

    python -m tests.bench.enrolment [SETS] [PICTURES] [FIRST] [--cubes] [--full] [--keep FILE]

Draws SETS sets (20 if not said), from number FIRST (1700) on, enrols each from two pictures, and reads PICTURES (60)
pictures of games with it, at their true corners, as `companion read` does. In four of five pictures lamp, camera and
lens are others than at enrolment; in one of five there is a hand. What was read is kept in FILE, a line for each set,
and not read again: a run that was stopped goes on. ``--full`` is 160 sets of 25 pictures, some 60,000 squares.

Pictures that `calibrate enrol` refuses are taken again, in another light from another side, as their owner would; the
ninth ones are kept as they are (*kept --anyway*; the other sets are *accepted*).

*Right* is exactly the truth, *unclear* keeps it among others, *wrong* has ruled it out; *at most* and *at least* are
the ends of the 95 % intervals. Squares that are covered, or whose mark the picture does not show, do not count.
*Pointed out* are the sets of which `calibrate enrol` says that kinds, or the colours of cubes, look alike.

``--cubes`` are sets of plain cubes of any two colours, of which either may be light; only their colours count.
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np

from calibration.check import FAR_APART
from calibration.cubes import cube_composer, learn_cubes
from calibration.enrolment import EnrolmentError, learn
from calibration.telling_apart import POOR, refuse_bad_colours, refuse_unlike_twins
from calibration.training.artwork import ArtStudio, CubeStudio
from calibration.training.truth import JUDGED
from companion.readings import ANYTHING, colours_only
from companion.rules import Layout
from companion.vision.cubes import CubeLook, CubeRecogniser
from companion.vision.enrolled import EnrolledRecogniser, Look
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardPose
from companion.vision.reader import photographed
from companion.vision.rectify import away_side, rectify
from tests.bench.shares import wilson

BOARD = Layout.parse("4x4")
UNSEEN = 1700
"""The first set that nobody looked at when this reading was made; many of those from 1000 to 1659 were."""

PATIENCE = 8
"""So often an owner takes refused pictures again."""


class Tally:
    """Counts squares, and boards without any that is not right."""

    def __init__(self):
        self.right = self.unclear = self.wrong = self.boards = self.perfect = 0

    def add(self, right, unclear, wrong):
        self.right += right
        self.unclear += unclear
        self.wrong += wrong
        self.boards += 1
        self.perfect += unclear + wrong == 0

    def __str__(self):
        count = max(1, self.right + self.unclear + self.wrong)
        least, _ = wilson(self.right, count)
        perfect, _ = wilson(self.perfect, max(1, self.boards))
        return (
            f"{count:>8}{self.right / count:>9.2%}{least:>10.2%}{self.unclear / count:>9.2%}{self.wrong / count:>9.3%}"
            f"{wilson(self.wrong, count)[1]:>9.3%}{self.boards:>8}{self.perfect / max(1, self.boards):>9.1%}"
            f"{perfect:>10.1%}"
        )


def sight(shot):
    return shot.image, BoardPose(tuple(map(tuple, shot.corners.tolist())), 1.0)


def read(recogniser, shot, *, cubes=False):
    """Right, unclear and wrong squares of a picture, and the covered ones with those of them that were noticed."""
    view = rectify(shot.image, shot.corners, BOARD)
    said = np.array(recogniser.contents(*photographed(recogniser, view, BOARD, away_side(shot.corners, BOARD), 1)))
    truth = np.array([colours_only(each) if cubes else each for each in shot.contents])
    counts = (shot.weights == JUDGED) & ~shot.covered
    right, wrong = counts & (said == truth), counts & (said & truth == 0)
    verdicts = int(right.sum()), int((counts & ~right & ~wrong).sum()), int(wrong.sum())
    return verdicts, int(shot.covered.sum()), int((shot.covered & (said == ANYTHING)).sum())


def read_set(number, pictures, base):
    """The row of one set: how well it was enrolled, and the verdicts on each of its pictures."""
    studio = ArtStudio(number)
    began = time.process_time()
    learnt, refused = enrol(studio, base, learn_pieces)
    spent = time.process_time() - began
    recogniser = EnrolledRecogniser(base, Look.of(learnt.enrolment))
    apart = min(pair.apart for pair in learnt.pairs)
    kept = {"apart": round(apart, 3), "refused": refused, "enrol_s": round(spent, 1)}
    return {"set": number, "pictures": pictures, **kept, "read": games(studio, recogniser, pictures)}


def read_cubes(number, pictures, base):
    """The row of one set of cubes."""
    studio = CubeStudio(number)
    began = time.process_time()
    try:
        learnt, refused = enrol(studio, base, learn_any_cubes)
    except EnrolmentError:
        return {
            "set": number,
            "pictures": pictures,
            "cubes": True,
            "apart": 0.0,
            "refused": PATIENCE + 1,
            "enrol_s": 0,
            "read": [],
        }
    spent = time.process_time() - began
    recogniser = CubeRecogniser(base, CubeLook.of(learnt.cubes))
    kept = {"apart": round(learnt.apart, 2), "refused": refused, "enrol_s": round(spent, 1)}
    rows = games(studio, recogniser, pictures, cubes=True)
    return {"set": number, "pictures": pictures, "cubes": True, **kept, "read": rows}


def games(studio, recogniser, pictures, *, cubes=False):
    """What is read on so many pictures of games."""
    shots = (studio.game(moved=i % 5 != 0, hands=int(i % 5 == 1)) for i in range(pictures))
    return [read(recogniser, shot, cubes=cubes) for shot in shots]


def enrol(studio, base, learn_it, refused=0):
    """What is learnt of the studio's set, and how often its pictures were refused before."""
    sights = sight(studio.empty()), sight(studio.enrolled())
    try:
        return learn_it(*sights, base, anyway=refused == PATIENCE), refused
    except EnrolmentError:
        if refused == PATIENCE:
            raise
        studio.set_up()
        return enrol(studio, base, learn_it, refused + 1)


def learn_pieces(empty, pieces, base, *, anyway):
    learnt = learn(empty, pieces, BOARD, base)
    if not anyway:
        refuse_unlike_twins(learnt, "the picture")
    return learnt


def learn_any_cubes(empty, cubes, base, *, anyway):
    composer = cube_composer(empty, cubes, BOARD)
    refuse_bad_colours(composer.colours, "the picture", anyway=anyway)
    return learn_cubes(composer, base)


def all_sets(numbers, pictures, keep, *, cubes):
    """The rows of these sets; those that `keep` has are not read again."""
    lines = keep.read_text(encoding="utf-8").splitlines(keepends=True) if keep and keep.exists() else []
    rows = [json.loads(line) for line in lines if line.endswith("\n")]
    known = {(row["set"], row["pictures"]): row for row in rows if row.get("cubes", False) == cubes}
    read_one = read_cubes if cubes else read_set
    base = Recogniser.bundled()
    for number in numbers:
        row = known.get((number, pictures))
        if row is None:
            row = read_one(number, pictures, base)
            if keep:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        yield row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="?", type=int, default=20)
    parser.add_argument("pictures", nargs="?", type=int, default=60)
    parser.add_argument("first", nargs="?", type=int, default=UNSEEN)
    parser.add_argument("--cubes", action="store_true", help="plain cubes of two colours")
    parser.add_argument("--full", action="store_true", help="160 sets of 25 pictures")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    asked = parser.parse_args()
    sets, pictures = (160, 25) if asked.full else (asked.sets, asked.pictures)
    cv2.setNumThreads(1)
    tallies, covered, noticed, refused, spent = defaultdict(Tally), 0, 0, 0, 0.0
    least = FAR_APART if asked.cubes else POOR
    for row in all_sets(range(asked.first, asked.first + sets), pictures, asked.keep, cubes=asked.cubes):
        own, quality = Tally(), "pointed out" if row["apart"] < least else "told apart well"
        taken = "accepted" if row["refused"] < PATIENCE else "kept --anyway"
        for i, (verdicts, over, seen) in enumerate(row["read"]):
            covered, noticed = covered + over, noticed + seen
            hand = ["hand"] if i % 5 == 1 else []
            for trait in ("all", taken, quality, "moved" if i % 5 else "as enrolled", *hand):
                tallies[trait].add(*verdicts)
            own.add(*verdicts)
        refused += row["refused"]
        spent += row["enrol_s"]
        print(f"set {row['set']:<6} least apart {row['apart']:>5.2f} {own}", flush=True)
    heads = f"{'squares':>8}{'right':>9}{'at least':>10}{'unclear':>9}{'wrong':>9}{'at most':>9}"
    print(f"{'':28}{heads}{'boards':>8}{'perfect':>9}{'at least':>10}")
    for trait, tally in sorted(tallies.items()):
        print(f"{trait:28}{tally}")
    print(f"covered squares noticed {noticed} of {covered}; {refused} times the pictures were refused and taken again;")
    print(f"{spent / sets:.1f} s of one core to enrol a set")


if __name__ == "__main__":
    main()
