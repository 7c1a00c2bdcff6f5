"""Photographs found and read as ``companion read`` does it: ``python -m tests.bench.pictures FOLDER``.

FOLDER has photographs and a `truth.jsonl` in the words of ``companion read --json``, as the examples do, and as
``python -m calibration.training.raytrace test`` makes them. A board is *located* if its corners are less than a third
of a square off, else found *falsely*. *Right* is exactly what can be seen, *unclear* keeps the truth among others,
*wrong* has ruled it out: of the squares of boards that are located. Shares have their 95 % intervals.
"""

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from calibration.training.tables import corner_error
from companion.commands.eyes import board_reader
from companion.rules import Layout
from companion.vision.pose import BoardNotFound
from tests.bench.shares import wilson
from tests.bench.squares import Tally, seen, verdict

BOARD = Layout.parse("4x4")
NEAR = 1 / 3
"""A board that is found farther off than this, in squares, is found falsely."""


def traits(truth):
    """What a picture counts for: all, its family, and how hard it is, for cubes and for other sets."""
    cubes = truth["family"] in {"cubes", "greenbox"}
    yield "all"
    yield truth["family"]
    if "plain" in truth:
        how = "plain" if truth["plain"] else "hard"
        yield how
        yield f"{how}, {'cubes' if cubes else 'no cubes'}"


def share(count, of):
    low, high = wilson(count, of)
    return f"{count / max(1, of):>9.2%}{100 * low:>7.2f}-{100 * high:<6.2f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    cv2.setNumThreads(1)
    reader, ways, tallies = board_reader(BOARD), defaultdict(Counter), defaultdict(Tally)
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        truth = json.loads(line)
        image = cv2.imread(str(folder / truth["image"]))
        corners = np.array([truth["corners"][name] for name in ("a1", "d1", "d4", "a4")])
        found = reader.locate(image, BOARD)
        if isinstance(found, BoardNotFound):
            way = "none"
        else:
            way = "located" if corner_error(found.points(), corners) < NEAR else "false"
        for trait in traits(truth):
            ways[trait][way] += 1
        if way != "located":
            print(f"{truth['image']}: {'found elsewhere' if way == 'false' else found.why}")
            continue
        turns = [np.roll(found.points(), turn, axis=0) for turn in range(4)]
        pose = found.moved(min(turns, key=lambda points: np.linalg.norm(points - corners, axis=1).max()))
        squares = replace(reader, locate=lambda *_, pose=pose: pose).read(image).squares
        verdicts = [
            verdict(said, seen(truth["squares"][str(square)]))
            for square, said in zip(BOARD.squares, squares, strict=True)
            if str(square) not in truth["hidden"]
        ]
        for trait in traits(truth):
            tallies[trait].add(verdicts)
    columns = ("located", "false", "squares", "right", "wrong", "boards perfect")
    print(f"{'':18}{'n':>5}" + "".join(f"{name:>{8 if name == 'squares' else 23}}" for name in columns))
    for trait, way in sorted(ways.items()):
        count, tally = way.total(), tallies[trait]
        squares = tally.right + tally.unclear + tally.wrong
        located = share(way["located"], count) + share(way["false"], count)
        read = share(tally.right, squares) + share(tally.wrong, squares) + share(tally.perfect, tally.boards)
        print(f"{trait:18}{count:>5}{located}{squares:>8}{read}")


if __name__ == "__main__":
    main()
