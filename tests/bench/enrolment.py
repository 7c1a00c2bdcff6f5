"""How well enrolled sets are read whose marks nobody trained on.

``python -m tests.bench.enrolment [SETS] [PICTURES] [FIRST]``

Draws SETS sets (20 if not said), from number FIRST (1000) on, enrols each from two pictures, and reads PICTURES (60)
pictures of games with it, at their true corners, as `companion read` does. In four of five pictures lamp, camera and
lens are others than at enrolment; in one of five there is a hand. *Right* is exactly the truth, *unclear* keeps it
among others, *wrong* has ruled it out; *at most* and *at least* are the ends of the 95 % intervals. Squares that are
covered, or whose mark the picture does not show, do not count. *Pointed out* are the sets of which `calibrate enrol`
says that kinds look alike.
"""

import sys
import time
from collections import defaultdict

import cv2
import numpy as np

from calibration.enrol import POOR
from calibration.enrolment import learn
from calibration.training.artwork import ArtStudio
from calibration.training.truth import JUDGED
from companion.readings import ANYTHING
from companion.rules import Layout
from companion.vision.board import BoardPose
from companion.vision.enrolled import EnrolledRecogniser, Look
from companion.vision.pieces import Recogniser
from companion.vision.reader import photographed
from companion.vision.rectify import away_side, rectify
from tests.bench.shares import wilson

BOARD = Layout.parse("4x4")


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
        return (
            f"{count:>8}{self.right / count:>9.2%}{least:>10.2%}{self.unclear / count:>9.2%}{self.wrong / count:>9.3%}"
            f"{wilson(self.wrong, count)[1]:>9.3%}{self.boards:>8}{self.perfect / max(1, self.boards):>9.1%}"
        )


def sight(shot):
    return shot.image, BoardPose(tuple(map(tuple, shot.corners.tolist())), 1.0)


def read(recogniser, shot):
    """Right, unclear and wrong squares of a picture, and the covered ones with those of them that were noticed."""
    view = rectify(shot.image, shot.corners, BOARD)
    said = np.array(recogniser.contents(photographed(recogniser, view, BOARD, away_side(shot.corners, BOARD), 1)))
    truth = np.array(shot.contents)
    counts = (shot.weights == JUDGED) & ~shot.covered
    right, wrong = counts & (said == truth), counts & (said & truth == 0)
    verdicts = int(right.sum()), int((counts & ~right & ~wrong).sum()), int(wrong.sum())
    return verdicts, int(shot.covered.sum()), int((shot.covered & (said == ANYTHING)).sum())


def main(sets=20, pictures=60, first=1000):
    cv2.setNumThreads(1)
    base, tallies, apart = Recogniser.bundled(), defaultdict(Tally), []
    covered = noticed = 0
    spent = 0.0
    for number in range(first, first + sets):
        studio = ArtStudio(number)
        began = time.process_time()
        learnt = learn(sight(studio.empty()), sight(studio.enrolled()), BOARD, base)
        spent += time.process_time() - began
        apart.append(min(pair.apart for pair in learnt.pairs))
        quality = "pointed out" if apart[-1] < POOR else "told apart well"
        recogniser = EnrolledRecogniser(base, Look.of(learnt.enrolment))
        own = Tally()
        for i in range(pictures):
            moved, hands = i % 5 != 0, int(i % 5 == 1)
            verdicts, over, seen = read(recogniser, studio.game(moved=moved, hands=hands))
            covered, noticed = covered + over, noticed + seen
            for trait in ("all", quality, "moved" if moved else "as enrolled", *(["hand"] if hands else [])):
                tallies[trait].add(*verdicts)
            own.add(*verdicts)
        print(f"set {number:<6} least apart {apart[-1]:>5.2f} {own}", flush=True)
    heads = f"{'squares':>8}{'right':>9}{'at least':>10}{'unclear':>9}{'wrong':>9}{'at most':>9}"
    print(f"{'':28}{heads}{'boards':>8}{'perfect':>9}")
    for trait, tally in sorted(tallies.items()):
        print(f"{trait:28}{tally}")
    print(f"covered squares noticed {noticed} of {covered}; {spent / sets:.1f} s of one core to enrol a set")


if __name__ == "__main__":
    main(*(int(a) for a in sys.argv[1:4]))
