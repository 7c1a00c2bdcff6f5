"""Boards of any layout, drawn on tables that nobody trained on: are they found, read, and their games refereed?

    python -m tests.bench.boards [--pictures N] [--games N] [--others N] [LAYOUT ...]

Every board is drawn in N pictures in mid-game, each with its own set, cloth, light and camera (`stress.look`: up to 40
degrees from above, turned by up to 26), and N games without disturbances are watched as video. *Located* is within half
a square at every corner of every square, *false* farther away; the error is that of the median board and of the worst.
Squares are read as photographs, at the corners that were found. Games are watched twice: with the corners given for the
first frame, and without. With --others the board of each layout is then looked for in N pictures of other boards, where
every one that is found is false.
"""

from __future__ import annotations

import argparse
import time

import cv2
import numpy as np

from companion.readings import possible
from companion.rules import Layout
from companion.vision.board import BoardFinder
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardPose
from companion.vision.reader import BoardReader
from tests.bench.stress.shows import disturbed_game
from tests.bench.stress.studio import Light, Studio
from tests.bench.stress.watching import judge_game

LAYOUTS = {
    "4x4": "4x4",
    "stairs": "stairs",
    "offset by one": "####./####./.####/.####",
    "apart": "##.##/##.##/...../##.##/##.##",
    "corners": "corners",
    "ring (a hole)": "ring",
    "8x4": "8x4",
    "islands": "####..##/####..##/..####../..####../##..####/##..####",
}
"""Two are offset, two have holes, three are not all connected; the last three have 32 squares."""
LOCATED = 0.5
FIRST_PICTURE, FIRST_GAME, FIRST_OTHER = 100, 200, 400


def mid_game(layout, seed):
    """A picture of a board in mid-game, its true corners (4, 2), and what lies on each square."""
    show = disturbed_game(seed, layout, calm=True)
    stage, studio = show.stage, Studio(show.look, show.rng)
    wanted = int(np.random.default_rng(seed).integers(3, len(show.end.history)))
    while len(stage.played) < wanted or stage.hands:
        if next(show.act, StopIteration) is StopIteration:
            break
    gain = tuple(float(v) for v in np.random.default_rng(seed).uniform(0.6, 1.15) * np.ones(3))
    picture, _ = studio.picture(stage.moment(), Light(gain=gain), 0)
    lies = [stage.board[square].piece if square in stage.board else None for square in layout]
    return picture, studio.corners(), lies


def off_by(found, true, layout):
    """How far, in squares, the worst corner of any square is from where it should be."""
    outline = np.float32([[0, 0], [layout.columns, 0], [layout.columns, layout.rows], [0, layout.rows]])
    points = np.float32([(s.column + x, s.row + y) for s in layout for x in (0, 1) for y in (0, 1)])[None]
    seen, meant = (
        cv2.perspectiveTransform(points, cv2.getPerspectiveTransform(outline, np.float32(corners)))[0]
        for corners in (found, true)
    )
    side = np.linalg.norm(true - np.roll(true, 1, axis=0), axis=1).sum() / 2 / (layout.columns + layout.rows)
    return float(np.linalg.norm(seen - meant, axis=1).max() / side)


def square_counts(found, lies):
    """How many squares are read right, unclear, and wrong."""
    counts = [0, 0, 0]
    for contents, truth in zip(found, lies, strict=True):
        seen = possible(contents)
        counts[0 if seen == (truth,) else 1 if truth in seen else 2] += 1
    return np.array(counts)


def pictures(layout, number, eyes, finder):
    """Located, false and not found boards; how far off; squares right, unclear and wrong; seconds to find one."""
    located, errors, squares, took = [0, 0, 0], [], np.zeros(3, int), []
    for seed in range(FIRST_PICTURE, FIRST_PICTURE + number):
        picture, corners, lies = mid_game(layout, seed)
        began = time.process_time()
        pose = finder(picture, layout)
        took.append(time.process_time() - began)
        if not isinstance(pose, BoardPose):
            located[2] += 1
        elif off_by(pose.points(), corners, layout) > LOCATED:
            located[1] += 1
        else:
            located[0] += 1
            errors.append(off_by(pose.points(), corners, layout))
            squares += square_counts(BoardReader(layout, eyes, lambda *_, pose=pose: pose).read(picture).squares, lies)
    return located, errors, squares, took


def games(layout, number, eyes, finder, *, given):
    """How many games are exact, asked about, stuck, wrong."""
    outcomes = []
    for seed in range(FIRST_GAME, FIRST_GAME + number):
        show = disturbed_game(seed, layout, calm=True)
        corners = Studio(show.look, np.random.default_rng(0)).corners()
        pose = BoardPose(tuple(map(tuple, corners)), 1.0) if given else None
        verdict = judge_game(seed, show, BoardReader(layout, eyes, finder), pose=pose)
        outcomes.append(verdict.outcome)
        if verdict.outcome != "exact":
            told = "; ".join([*verdict.wrong, *verdict.asked, *verdict.told])
            print(f"    game {seed}, corners {'given' if given else 'found'}: {verdict.outcome}: {told}", flush=True)
    return [outcomes.count(what) for what in ("exact", "asked", "stuck", "wrong")]


def falsely(layout, number, finder):
    """In how many of so many pictures of other boards one of this layout is found."""
    others = [other for other in map(Layout.parse, LAYOUTS.values()) if other != layout]
    shown = (mid_game(others[i % len(others)], FIRST_OTHER + i)[0] for i in range(number))
    return sum(isinstance(finder(picture, layout), BoardPose) for picture in shown)


def main():
    """Watch, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=20)
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--others", type=int, default=0)
    parser.add_argument("layouts", nargs="*", metavar="LAYOUT")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    eyes, finder = Recogniser.bundled(), BoardFinder.bundled()
    columns = ("squares", "located", "false", "none", "right", "unclear", "wrong")
    print(f"{'board':<16}" + "".join(f"{word:>8}" for word in columns) + f"{'error':>8}{'most':>6}{'s':>6}", end="   ")
    print("games exact/asked/stuck/wrong: corners given, found")
    for name in asked.layouts or LAYOUTS:
        layout = Layout.parse(LAYOUTS.get(name, name))
        located, errors, squares, took = pictures(layout, asked.pictures, eyes, finder)
        outcomes = [games(layout, asked.games, eyes, finder, given=given) for given in (True, False)]
        told = ", ".join("/".join(map(str, counts)) for counts in outcomes)
        numbers = [len(layout), *located, *squares]
        print(
            f"{name:<16}" + "".join(f"{number:>8}" for number in numbers),
            f"{np.median(errors or [np.nan]):>7.2f}{max(errors, default=np.nan):>6.2f}{np.median(took):>6.2f}   {told}",
            flush=True,
        )
    for name in asked.layouts or LAYOUTS:
        if asked.others:
            found = falsely(Layout.parse(LAYOUTS.get(name, name)), asked.others, finder)
            print(f"{name}: falsely found in {found} of {asked.others} pictures of other boards", flush=True)


if __name__ == "__main__":
    main()
