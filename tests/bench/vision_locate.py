"""How well and how fast the board is found: ``python -m tests.bench.vision_locate [--sheet FILE] FOLDER[:COUNT]...``.

Every FOLDER has pictures and a ``truth.jsonl`` with their corners (``image``, ``family``, ``corners``; null where no
board is), as ``python -m calibration.training tables FOLDER`` draws them; with COUNT only the first ones count. A board
is located when all corners are within half a square of the truth, whichever is called a1; found elsewhere, it is false.
*near* is the share within an eighth of a square; *most in view* are hard ones of which at most a third is covered or
only white. With --beside, what lies beside a board's bounding box, left, right, above and below, is shown too: there,
whatever is found is false. With --sheet the boards that were not found, or found elsewhere, are put side by side in one
picture. Shares have their 95 % interval; the error is the worst corner's, in squares.
"""

import argparse
import json
import math
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

import cv2
import numpy as np

from calibration.training.tables import NAMES, corner_error
from companion.rules import Layout
from companion.vision.board import locate
from companion.vision.pose import BoardPose
from tests.bench.shares import wilson
from tests.bench.sheet import write_sheet

STANDARD = Layout.parse("4x4")
LOCATED = 0.5
A_THIRD = 1 / 3
NEAR = 0.125
SMALLEST_CUT = 160
NO_BOARD = "no board"
BESIDE = "beside a board"


@dataclass
class Tally:
    """What became of the pictures of one kind."""

    pictures: int = 0
    located: int = 0
    false: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def count(self, verdict):
        self.pictures += 1
        self.seconds.append(verdict.seconds)
        if verdict.outcome == "located":
            self.located += 1
            self.errors.append(verdict.error)
        elif verdict.outcome == "false":
            self.false.append(f"{verdict.name} ({verdict.score:.2f}, {verdict.error:.1f})")
        else:
            self.missed.append(f"{verdict.name} {verdict.why}")

    def row(self, kind):
        near = sum(error < NEAR for error in self.errors)
        errors = f"{np.median(self.errors):>8.3f}{max(self.errors):>7.2f}" if self.errors else f"{'-':>8}{'-':>7}"
        shares = "".join(f"{n:>7}{interval(n, self.pictures):>13}" for n in (self.located, near, len(self.false)))
        return f"{kind:<22}{self.pictures:>5}{shares}{errors}{1000 * np.median(self.seconds):>7.0f}"


@dataclass
class Verdict:
    """What became of one picture."""

    name: str
    kinds: tuple[str, ...]
    outcome: str
    error: float
    score: float
    seconds: float
    why: str


def kinds(truth):
    """The conditions that a picture counts under."""
    if truth["corners"] is None:
        return (NO_BOARD,)
    if "plain" not in truth:
        return ("all boards", truth["family"])
    tilt, pixels = truth["tilt"], truth["pixels"]
    return (
        "all boards",
        "plain" if truth["plain"] else "hard",
        *([] if truth["plain"] or truth["hidden"] > A_THIRD else ["hard, most in view"]),
        truth["family"],
        "cloth with a grid" if truth["cloth"] == "grid" else "cloth without",
        f"corners covered: {len(truth['covered'])}",
        "tilt up to 25" if tilt <= 25 else "tilt 25 to 45" if tilt <= 45 else "tilt over 45",
        "under 25 pixels" if pixels < 25 else "25 to 40 pixels" if pixels < 40 else "40 pixels and more",
    )


def cuts(image, corners):
    """The parts of a picture beside its board."""
    height, width = image.shape[:2]
    (left, top), (right, bottom) = corners.min(axis=0).astype(int), corners.max(axis=0).astype(int)
    for part in (image[:, : max(left, 0)], image[:, right:width], image[: max(top, 0)], image[bottom:height]):
        if min(part.shape[:2]) >= SMALLEST_CUT:
            yield np.ascontiguousarray(part)


def verdict(name, image, corners, under):
    """Locate; without `corners` there is no board to be found."""
    started = time.process_time()
    found = locate(image, STANDARD)
    seconds = time.process_time() - started
    if not isinstance(found, BoardPose):
        return Verdict(name, under, "missed", math.inf, 0.0, seconds, found.why)
    error = corner_error(found.points(), corners) if corners is not None else math.inf
    return Verdict(name, under, "located" if error < LOCATED else "false", error, found.score, seconds, "")


def verdicts(job):
    """All that one line of a truth file asks for."""
    cv2.setNumThreads(1)
    folder, truth, beside = job
    image = cv2.imread(str(folder / truth["image"]))
    corners = None if truth["corners"] is None else np.array([truth["corners"][name] for name in NAMES])
    found = [verdict(truth["image"], image, corners, kinds(truth))]
    if corners is not None and beside:
        found += [verdict(truth["image"], part, None, (BESIDE,)) for part in cuts(image, corners)]
    return found


def interval(hits, of):
    """The 95 % interval of a share, in per cent."""
    low, high = wilson(hits, of)
    return f"{100 * low:.1f}-{100 * high:.1f}%"


def jobs(folders, beside):
    for text in folders:
        name, _, count = text.partition(":")
        lines = (Path(name) / "truth.jsonl").read_text().splitlines()
        for line in lines[: int(count) if count else None]:
            yield Path(name), json.loads(line), beside


def cause(truth):
    """What makes a picture hard, in a few words."""
    words = [f"{len(truth['covered'])} covered"] if truth["covered"] else []
    words += [f"{truth['tilt']:.0f} deg"] if truth["tilt"] > 45 else []
    words += [f"{truth['pixels']:.0f} px"] if truth["pixels"] < 25 else []
    return ", ".join(words) or truth["family"]


def main(arguments):
    """Print the table, and the pictures that went wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--sheet", type=Path)
    asked = parser.parse_args(arguments)
    tallies, bad, asked_for = defaultdict(Tally), [], list(jobs(asked.folders, asked.beside))
    with Pool(int(os.environ.get("JOBS", "1"))) as pool:
        for (folder, truth, _), found in zip(asked_for, pool.imap(verdicts, asked_for, 4), strict=True):
            for each in found:
                for kind in each.kinds:
                    tallies[kind].count(each)
            if found[0].outcome != "located" and (truth["corners"] is not None or found[0].outcome == "false"):
                why = cause(truth) if truth["corners"] is not None else NO_BOARD
                bad.append((f"{found[0].outcome}: {why}", cv2.imread(str(folder / truth["image"]))))
    if asked.sheet and bad:
        write_sheet(asked.sheet, sorted(bad, key=lambda each: each[0]), 200)
    print(
        f"{'':<22}{'n':>5}{'located':>7}{'95 %':>13}{'near':>7}{'95 %':>13}{'false':>7}{'95 %':>13}"
        f"{'error':>8}{'worst':>7}{'ms':>7}"
    )
    for kind, tally in sorted(tallies.items(), key=lambda pair: (pair[0] in (NO_BOARD, BESIDE), pair[0])):
        print(tally.row(kind))
    for kind in ("all boards", NO_BOARD, BESIDE):
        for name in tallies[kind].false:
            print(f"{kind}: false {name}")
    for name in tallies["all boards"].missed:
        print(f"not found: {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
