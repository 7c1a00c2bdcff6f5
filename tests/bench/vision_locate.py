"""How well and how fast the board is found: ``python -m tests.bench.vision_locate FOLDER...``.

Every FOLDER has pictures and a ``truth.jsonl`` with their corners (``image``, ``family``, ``corners``). A board is
located when all corners are within half a square of the truth, up to quarter turns; found elsewhere, it is false. What
lies beside the board's bounding box, left, right, above and below, is shown too: there, whatever is found is false.
"""

import json
import math
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from companion.rules import Layout
from companion.vision.board import BoardPose, locate

STANDARD = Layout.parse("4x4")
NAMES = ("a1", "d1", "d4", "a4")
LOCATED = 0.5
SMALLEST_CUT = 160
NEGATIVE = "(no board)"


@dataclass
class Tally:
    """What became of the pictures of one family."""

    pictures: int = 0
    located: int = 0
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def corner_error(found, truth):
    """The largest distance of a corner, in squares, in the quarter turn that fits best."""
    side = np.linalg.norm(truth[0] - truth[1]) / 4
    return min(np.linalg.norm(np.roll(found, turn, axis=0) - truth, axis=1).max() for turn in range(4)) / side


def pictures(folders):
    """Every picture: its name, family, pixels and true corners."""
    for folder in folders:
        for line in (folder / "truth.jsonl").read_text().splitlines():
            truth = json.loads(line)
            corners = np.array([truth["corners"][name] for name in NAMES])
            yield truth["image"], truth["family"], cv2.imread(str(folder / truth["image"])), corners


def cuts(image, corners):
    """The parts of a picture beside its board."""
    height, width = image.shape[:2]
    (left, top), (right, bottom) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int)
    for part in (image[:, :left], image[:, right:width], image[:top], image[bottom:height]):
        if min(part.shape[:2]) >= SMALLEST_CUT:
            yield np.ascontiguousarray(part)


def judge(tally, name, image, corners):
    """Locate, and count what comes of it; without `corners` there is no board to be found."""
    started = time.process_time()
    found = locate(image, STANDARD)
    tally.seconds.append(time.process_time() - started)
    tally.pictures += 1
    if not isinstance(found, BoardPose):
        tally.missed.append(name)
        return
    error = corner_error(found.points(), corners) if corners is not None else math.inf
    if error < LOCATED:
        tally.located += 1
        tally.errors.append(error)
    else:
        tally.false.append(f"{name} ({found.score:.2f})")


def interval(hits, of):
    """The 95 % Wilson interval of a share."""
    z = 1.96
    middle, spread = (
        (hits + z * z / 2) / (of + z * z),
        z * math.sqrt(hits * (of - hits) / of + z * z / 4) / (of + z * z),
    )
    return f"{max(0, middle - spread):.0%}-{min(1, middle + spread):.0%}"


def main(folders):
    """Print the table, and the pictures that went wrong."""
    cv2.setNumThreads(1)
    tallies = defaultdict(Tally)
    for name, family, image, corners in pictures(folders):
        judge(tallies[family], name, image, corners)
        for part in cuts(image, corners):
            judge(tallies[NEGATIVE], name, part, None)
    print(f"{'family':<14}{'n':>5}{'located':>9}{'95 %':>11}{'false':>7}{'95 %':>11}{'error':>8}{'worst':>8}{'ms':>7}")
    for family, tally in tallies.items():
        errors = f"{np.median(tally.errors):>8.3f}{max(tally.errors):>8.3f}" if tally.errors else f"{'-':>8}{'-':>8}"
        shares = "".join(
            f"{hits:>{width}}{interval(hits, tally.pictures):>11}"
            for hits, width in ((tally.located, 9), (len(tally.false), 7))
        )
        print(f"{family:<14}{tally.pictures:>5}{shares}{errors}{1000 * np.median(tally.seconds):>7.0f}")
    for family, tally in tallies.items():
        print(f"{family}: false {tally.false}" + ("" if family == NEGATIVE else f", not found {tally.missed}"))


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
