"""The way of one frame, stage by stage, over a whole video: milliseconds and memory.

python tests/bench/pipeline.py [VIDEO]
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import cv2

from companion.camera import open_frames
from companion.commands.sight import board_reader
from companion.errors import EndOfSource
from companion.referee import Referee
from companion.rules import Game, Layout
from companion.settling import Settler
from companion.vision import reader as reading
from companion.vision.follow import BoardFollower
from companion.vision.reader import VideoReader

GAME = Path(__file__).parent.parent / "data" / "game.mp4"
STAGES = ("decode", "follow", "locate", "rectify", "motion", "recognise", "settle", "referee")


class Clock:
    """Adds up what each stage takes, frame by frame."""

    def __init__(self) -> None:
        self.ms: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def stage(self, name: str):
        began = time.process_time()
        yield
        self.ms[name].append((time.process_time() - began) * 1000)

    def timed(self, name: str, function):
        def run(*args, **kwargs):
            with self.stage(name):
                return function(*args, **kwargs)

        return run


def main(video: str) -> None:
    cv2.setNumThreads(1)
    clock, layout = Clock(), Layout.parse("4x4")
    eyes = board_reader(layout, None)
    timed = reading.BoardReader(layout, eyes.recogniser, clock.timed("locate", eyes.locate))
    reading.rectify = clock.timed("rectify", reading.rectify)
    follower = BoardFollower(layout, find=timed.locate)
    follower.follow = clock.timed("follow", follower.follow)
    reader, settler, referee = VideoReader(timed, follower), Settler(layout), Referee(Game.start())
    reader._motion.see = clock.timed("motion", reader._motion.see)
    eyes.recogniser.embed = clock.timed("recognise", eyes.recogniser.embed)
    frames = open_frames(f"video:{video}", time.monotonic)
    steady, idle = [], []
    try:
        while True:
            with clock.stage("decode"):
                frame = frames.read(0)
            looked = len(clock.ms["recognise"])
            began = time.process_time()
            seen = reader.read(frame.time, frame.image)
            with clock.stage("settle"):
                snapshot = settler.feed(seen)
            with clock.stage("referee"):
                referee.see(snapshot)
            took = (time.process_time() - began) * 1000
            (steady if len(clock.ms["recognise"]) > looked else idle).append(took)
    except EndOfSource:
        pass
    print(f"{'stage':<12}{'times':>7}{'median ms':>11}{'p95 ms':>9}")
    rows = [(name, clock.ms[name]) for name in STAGES]
    for name, took in [*rows, ("busy frame", steady), ("idle frame", idle)]:
        print(f"{name:<12}{len(took):>7}{statistics.median(took):>11.2f}{percentile(took, 95):>9.2f}")
    print("(processor time of one thread, so that other work does not count; frames without decoding;")
    print("a busy one is recognised, on an idle one nothing has changed)")
    print(f"resident memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(GAME))
