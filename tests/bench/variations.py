"""The sample game as other cameras, lamps and seats would have seen it: are all moves still exact, and how soon?

    python -m tests.bench.variations [NAME ...]

Each variation changes every frame of the sample video. Corners are not given. The delay is from the frame in which the
hand is off the board to the frame that decides the move.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import cv2
import numpy as np

from companion import events
from companion.camera import Camera, Frame, open_frames
from companion.commands.eyes import board_reader
from companion.errors import EndOfSource
from companion.referee import Referee
from companion.rules import Game, Layout, Square
from companion.settling import Settler
from companion.vision.follow import BoardFollower
from companion.vision.video import VideoReader
from tests.bench.cameras import banded, held

DATA = Path(__file__).parent.parent / "data"
TRUTH = [move for move in json.loads((DATA / "game.json").read_text())["moves"] if "square" in move]
NOISE = np.random.default_rng(1)


def noisy(image, spread):
    return np.clip(image + NOISE.normal(0, spread, image.shape), 0, 255).astype(np.uint8)


def moved(image, x, y):
    size = image.shape[1::-1]
    return cv2.warpAffine(image, np.float32([[1, 0, x], [0, 1, y]]), size, borderMode=cv2.BORDER_REPLICATE)


def oblique(image, _):
    height, width = image.shape[:2]
    picture = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    seen = np.float32([[0.25, 0.3], [0.8, 0.25], [1.05, 0.95], [-0.05, 1]]) * np.float32([width, height])
    size = (width, height)
    return cv2.warpPerspective(image, cv2.getPerspectiveTransform(picture, seen), size, borderMode=cv2.BORDER_REPLICATE)


# How a frame looks, by the frame and its number; and by how many quarter turns the board is seen turned.
VARIATIONS = {
    "as it is": (lambda image, n: image, 0),
    "half the size, noisy": (lambda image, n: noisy(cv2.resize(image, None, fx=0.5, fy=0.5), 4), 0),
    "dark, noisy": (lambda image, n: noisy(image * 0.4, 5), 0),
    "warm lamp": (lambda image, n: np.clip(image * np.array([0.6, 0.85, 1.15]), 0, 255).astype(np.uint8), 0),
    "light comes and goes": (lambda image, n: np.clip(image * (1 + 0.25 * np.sin(n / 40)), 0, 255).astype(np.uint8), 0),
    "quarter turn": (lambda image, n: np.ascontiguousarray(np.rot90(image)), 1),
    "half turn": (lambda image, n: np.ascontiguousarray(np.rot90(image, 2)), 2),
    "oblique": (oblique, 0),
    "shaky camera": (lambda image, n: moved(image, 1.5 * np.sin(n / 3), 1.5 * np.cos(n / 4)), 0),
    "held in the hand": (lambda image, n: held(image, n / 12, 15), 0),
    "in a restless hand": (lambda image, n: held(image, n / 12, 45), 0),
    "bands of light": (lambda image, n: banded(image, 0.2, 1.8, 0.9 * n), 0),
    "fine bands of light": (lambda image, n: banded(image, 0.2, 5.4, 0.9 * n), 0),
    "bumped at 17 s": (lambda image, n: moved(image, 25, -12) if n >= 200 else image, 0),
}


class Varied:
    """The frames of the sample game, each one changed."""

    live = False

    def __init__(self, change) -> None:
        self.name = "the sample game, varied"
        self._change, self._count = change, 0
        self._frames = open_frames(f"video:{DATA / 'game.mp4'}", time.monotonic)

    def read(self, timeout_s):
        frame = self._frames.read(timeout_s)
        self._count += 1
        return Frame(frame.time, self._change(frame.image, self._count - 1))

    def close(self):
        self._frames.close()


def told(change):
    """All events of the game seen so."""
    layout = Layout.parse("4x4")
    eyes = board_reader(layout)
    referee, settler, heard = Referee(Game.start()), Settler(layout), []
    with Camera(Varied(change), VideoReader(eyes, BoardFollower(layout))) as camera:
        try:
            while True:
                heard += referee.see(settler.feed(camera.read(0)))
        except EndOfSource:
            return heard


def turned(move, quarters):
    """A move's text on the board seen turned counter-clockwise."""
    square = Square.parse(move[:2])
    for _ in range(quarters):
        square = Square(row=square.column, column=3 - square.row)
    return f"{square}{move[2:]}"


def main(names):
    cv2.setNumThreads(1)
    print(f"{'variation':<24}{'exact':>7}{'wrong':>7}{'asked':>7}{'delay s: median':>17}{'most':>7}")
    for name in names:
        change, quarters = VARIATIONS[name]
        heard = told(change)
        played = [event for event in heard if isinstance(event, events.MovePlayed)]
        moves = [event.move for event in played]
        truth = {turned(move["notation"], quarters): move["t_hand_off_board"] for move in TRUTH}
        exact = sum(got == meant for got, meant in zip(moves, truth, strict=False))
        delays = [event.time - truth[event.move] for event in played if event.move in truth] or [float("nan")]
        asked = sum(isinstance(e, events.PieceUnclear | events.KindNeeded | events.ChoiceNeeded) for e in heard)
        print(
            f"{name:<24}{exact:>4}/{len(truth)}{len(moves) - exact:>7}{asked:>7}"
            f"{statistics.median(delays):>17.2f}{max(delays):>7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="*")
    names = parser.parse_args().name
    if not VARIATIONS.keys() >= set(names):
        parser.error(f"there is no such variation; there are: {', '.join(VARIATIONS)}")
    main(names or VARIATIONS)
