"""What a measured lens is worth: ``python -m tests.bench.lens [BOARDS]``.

Draws BOARDS boards (60 if not said) that nobody trained on, in plain conditions, and looks at each three times: as it
was drawn, through a lens that bends lines strongly (k1 -0.3, k2 0.08, 71 degrees across) and of which nothing is known,
and through the same lens with a profile that knows it. *Located* is within half a square of the true corners, *near*
within an eighth, in pixels of the picture that is given; the error is the worst corner's, in squares. Squares are
counted as in `tests.bench.squares`, on all boards that were located.
"""

import argparse
import time

import cv2
import numpy as np

from calibration.training.dataset import Split, Studio
from calibration.training.render import render
from calibration.training.scene import plain
from calibration.training.truth import COVERED, JUDGED
from companion.profile import LensModel
from companion.rules import Layout
from companion.vision.board import BoardFinder
from companion.vision.lens import PINHOLE, Lens
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardPose
from companion.vision.reader import photographed
from companion.vision.rectify import away_side, rectify
from tests.bench.squares import UNSEEN, Tally, verdict
from tests.bench.vision_locate import LOCATED, NEAR, interval
from tests.vision.drawn_lens import STRONG, photograph, thrown

BOARD = Layout.parse("4x4")


def scenes(count):
    """Plain photographs, with their truth."""
    studio, number = Studio(Split.TEST), UNSEEN
    while count:
        number += 1
        scene = studio.scene(number)
        if plain(scene):
            count -= 1
            yield render(np.random.default_rng((9, number)), scene, studio.fabrics)


def through(photo):
    """The photograph through the strong lens, its true corners there, and the lens; nothing of its frame is empty."""
    height, width = photo.image.shape[:2]
    focal = STRONG.focal[0] * width / STRONG.size[0]
    middle = np.array([width - 1, height - 1]) / 2
    corner = middle / focal
    model = STRONG.model_copy(update={"size": (width, height), "focal": (focal, focal), "centre": tuple(middle)})
    shrunk = float(np.linalg.norm(thrown(corner[None], model)[0] - middle) / np.linalg.norm(middle))
    size = (int(width * shrunk), int(height * shrunk))
    centre = ((size[0] - 1) / 2, (size[1] - 1) / 2)
    model = LensModel(size=size, focal=(focal, focal), centre=centre, distortion=STRONG.distortion, error=0)
    to_source = np.array([[focal, 0, middle[0]], [0, focal, middle[1]], [0, 0, 1]])
    bent = photograph(photo.image, to_source, model)
    return bent, thrown((photo.corners - middle) / focal, model), model


class Row:
    """What became of the boards when seen in one way."""

    def __init__(self, name):
        self.name, self.count, self.errors, self.squares, self.seconds = name, 0, [], Tally(), []

    def look(self, eyes, image, corners, photo, optics):
        """Find and read one board."""
        finder, recogniser = eyes
        self.count += 1
        size = image.shape[1::-1]
        began = time.process_time()
        pose = finder(optics.straight(image), BOARD)
        if not isinstance(pose, BoardPose):
            return
        side = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean() / 4
        turns = [np.roll(pose.points(), turn, axis=0) for turn in range(4)]
        off = [np.linalg.norm(optics.bent(turn, size) - corners, axis=1).max() / side for turn in turns]
        straight = turns[int(np.argmin(off))]
        if min(off) >= LOCATED:
            return
        self.errors.append(min(off))
        view = rectify(image, straight, BOARD, optics=optics)
        said = recogniser.contents(*photographed(recogniser, view, BOARD, away_side(straight, BOARD), 1))
        self.seconds.append(time.process_time() - began)
        self.squares.add(
            [
                verdict(one, sum(1 << int(i) for i in np.flatnonzero(target)))
                for one, target, weight in zip(said, photo.targets, photo.weights, strict=True)
                if weight == JUDGED and not target[COVERED]
            ]
        )

    def __str__(self):
        near = sum(error < NEAR for error in self.errors)
        found = f"{len(self.errors):>8}{interval(len(self.errors), self.count):>13}{near:>6}"
        ms = 1000 * np.median(self.seconds)
        return f"{self.name:<20}{self.count:>4}{found}{np.median(self.errors):>8.3f}{self.squares}{ms:>6.0f}"


def main(boards):
    """Print the table."""
    cv2.setNumThreads(1)
    eyes = BoardFinder.bundled(), Recogniser.bundled()
    rows = as_drawn, unknown, known = Row("as it was drawn"), Row("bent, lens unknown"), Row("bent, lens known")
    for photo in scenes(boards):
        bent, corners, model = through(photo)
        if ((corners < 0) | (corners > np.array(model.size) - 1)).any():
            continue
        as_drawn.look(eyes, photo.image, photo.corners, photo, PINHOLE)
        unknown.look(eyes, bent, corners, photo, PINHOLE)
        known.look(eyes, bent, corners, photo, Lens(model))
    squares = f"{'squares':>8}{'right':>10}{'unclear':>10}{'wrong':>9}{'at most':>9}{'boards':>8}{'perfect':>9}"
    print(f"{'':<20}{'n':>4}{'located':>8}{'95 %':>13}{'near':>6}{'error':>8}{squares}{'ms':>6}")
    for row in rows:
        print(row)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("boards", type=int, nargs="?", default=60)
    main(parser.parse_args().boards)
