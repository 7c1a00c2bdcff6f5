"""The way of one frame.

    python -m tests.bench.pipeline [VIDEO]

Milliseconds stage by stage over a whole video, and memory; then frames of a drawn game of 1280x720, as the program
comes and with a profile.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import statistics
import time
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from calibration.enrolment import ARRANGEMENT, learn
from companion.camera import open_frames
from companion.camera.play import Lying, Moment
from companion.camera.studio import HEIGHT, WIDTH, Studio
from companion.commands.eyes import Foreknowledge, board_reader
from companion.errors import EndOfSource
from companion.profile import LensModel, Profile
from companion.referee import Referee
from companion.rules import Game, Layout
from companion.settling import Settler
from companion.vision import reader as reading
from companion.vision.follow import BoardFollower
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardPose
from companion.vision.rectify import rectify
from companion.vision.video import VideoReader

GAME = Path(__file__).parent.parent / "data" / "game.mp4"
STAGES = ("decode", "follow", "locate", "rectify", "motion", "recognise", "settle", "referee")


class Clock:
    """Adds up what each stage takes, frame by frame."""

    def __init__(self) -> None:
        self.ms: dict[str, list[float]] = defaultdict(list)

    @contextmanager
    def stage(self, name: str):
        began = time.thread_time()
        yield
        self.ms[name].append((time.thread_time() - began) * 1000)

    def timed(self, name: str, function):
        def run(*args, **kwargs):
            with self.stage(name):
                return function(*args, **kwargs)

        return run


def profiles():
    """The ways of looking at the drawn table: what each is called, and its profile."""
    yield "as the program comes", None
    lens = LensModel(
        size=(WIDTH, HEIGHT), focal=(1000, 1000), centre=(640, 360), distortion=(-1e-4, 0, 0, 0, 0), error=0
    )
    yield "with a measured lens", Profile(lens=lens)
    yield "with an enrolled set", Profile(enrolment=enrolled())


def enrolled():
    """The drawn table's own pieces."""
    layout, rng = Layout.parse("4x4"), np.random.default_rng(3)
    studio = Studio(layout, ())
    pose = BoardPose(studio.corners, 1.0)
    laid = tuple(
        Lying(piece, square.column + 0.5, square.row + 0.5, 0.0, float(rng.normal(0, 0.05)))
        for square, piece in zip(layout, ARRANGEMENT, strict=True)
    )
    pictures = [studio.picture(Moment(lying), i) for i, lying in enumerate(((), laid))]
    return learn(*((picture, pose) for picture in pictures), layout, Recogniser.bundled()).enrolment


def watch(source, profile=None):
    """Every frame of a source through all stages: their clock, and the milliseconds of busy and idle frames."""
    clock, layout = Clock(), Layout.parse("4x4")
    eyes = board_reader(layout, Foreknowledge(profile=profile))
    timed = replace(eyes, locate=clock.timed("locate", eyes.locate))
    reading.rectify = clock.timed("rectify", rectify)
    follower = BoardFollower(layout, find=timed.locate, optics=eyes.optics)
    follower.follow = clock.timed("follow", follower.follow)
    reader, settler, referee = VideoReader(timed, follower), Settler(layout), Referee(Game.start())
    reader._motion.see = clock.timed("motion", reader._motion.see)
    eyes.recogniser.embed = clock.timed("recognise", eyes.recogniser.embed)
    frames, busy, idle = open_frames(source, time.monotonic), [], []
    with contextlib.suppress(EndOfSource):
        while True:
            with clock.stage("decode"):
                frame = frames.read(0)
            looked = len(clock.ms["recognise"])
            began = time.thread_time()
            seen = reader.read(frame.time, frame.image)
            with clock.stage("settle"):
                snapshot = settler.feed(seen)
            with clock.stage("referee"):
                referee.see(snapshot)
            took = (time.thread_time() - began) * 1000
            (busy if len(clock.ms["recognise"]) > looked else idle).append(took)
    return clock, busy, idle


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("video", nargs="?", default=GAME, metavar="VIDEO", help="instead of the sample game")
    video = parser.parse_args().video
    cv2.setNumThreads(1)
    clock, busy, idle = watch(f"video:{video}")
    print(f"{'stage':<12}{'times':>7}{'median ms':>11}{'p95 ms':>9}")
    rows = [(name, clock.ms[name]) for name in STAGES]
    for name, took in [*rows, ("busy frame", busy), ("idle frame", idle)]:
        print(f"{name:<12}{len(took):>7}{statistics.median(took):>11.2f}{percentile(took, 95):>9.2f}")
    print("(processor time of one thread, so that other work does not count; frames without decoding;")
    print("a busy one is recognised, on an idle one nothing has changed)")
    print(f"resident memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print(f"\n{'virtual:, 1280x720':<22}{'idle ms':>9}{'p95':>7}{'busy ms':>9}{'p95':>7}{'most':>7}")
    for name, profile in profiles():
        _, busy, idle = watch("virtual:", profile)
        costs = [
            statistics.median(idle),
            percentile(idle, 95),
            statistics.median(busy),
            percentile(busy, 95),
            max(busy[1:]),
        ]
        print(f"{name:<22}" + "".join(f"{ms:>{wide}.2f}" for ms, wide in zip(costs, (9, 7, 9, 7, 7), strict=True)))


def percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    main()
