"""Pictures read at corners that are given a little off, each in a direction of its own.

    python -m tests.bench.given FOLDER [SQUARES ...]

FOLDER holds pictures and their ``truth.jsonl``; SQUARES are how far the corners are off, in squares.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import cv2
import numpy as np

from companion.commands.corners import Corners
from companion.commands.eyes import Foreknowledge, board_reader
from companion.rules import Layout
from companion.vision.pose import BoardNotFound
from tests.bench.squares import seen, verdict

BOARD = Layout.parse("4x4")
OFF = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
NAMES = ("a1", "d1", "d4", "a4")


def read(folder: Path, truth: dict, off: float, ways: np.random.Generator) -> Counter:
    """What became of the squares of one picture whose corners are so far off."""
    image = cv2.imread(str(folder / truth["image"]))
    corners = np.array([truth["corners"][name] for name in NAMES])
    side = np.linalg.norm(np.roll(corners, 1, axis=0) - corners, axis=1).mean() / 4
    angles = ways.uniform(0, 2 * np.pi, 4)
    given = corners + off * side * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    told = board_reader(BOARD, Foreknowledge(Corners(tuple(map(tuple, given.tolist()))))).read(image)
    if isinstance(told, BoardNotFound):
        return Counter(refused=1)
    squares = zip(BOARD.squares, told.squares, strict=True)
    return Counter(
        verdict(said, seen(truth["squares"][str(square)]))
        for square, said in squares
        if str(square) not in truth["hidden"]
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("off", type=float, nargs="*", default=OFF, metavar="SQUARES")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    truths = [json.loads(line) for line in (asked.folder / "truth.jsonl").read_text().splitlines()]
    print(f"{'off':>5}{'right':>8}{'unclear':>9}{'wrong':>7}{'refused':>9}")
    for off in asked.off:
        ways = (np.random.default_rng((i, int(100 * off))) for i in range(len(truths)))
        counted = sum((read(asked.folder, truth, off, way) for truth, way in zip(truths, ways, strict=True)), Counter())
        print(f"{off:>5}{counted['right']:>8}{counted['unclear']:>9}{counted['wrong']:>7}{counted['refused']:>9}")


if __name__ == "__main__":
    main()
