"""Kills a program that follows matches, at random moments, and counts what is lost and what is invented.

python -m tests.bench.kills [KILLS] [SEED]
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from tests.killing import play_through

KILLS_PER_MATCH = 5


def main(kills: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    others: Counter[str] = Counter()
    unsound = 0
    print(f"{'kills':>5} {'unkept':>6} {'lost':>5} {'invented':>8}  killed at")
    done = np.zeros(4, int)
    while done[0] < kills:
        with tempfile.TemporaryDirectory() as folder:
            report = play_through(Path(folder), rng, min(KILLS_PER_MATCH, kills - int(done[0])))
        done += (len(report.kills), report.unkept, report.lost, report.invented)
        others += report.others
        unsound += not report.sound
        row = (len(report.kills), report.unkept, report.lost, report.invented)
        print("{:>5} {:>6} {:>5} {:>8}  ".format(*row) + "; ".join(report.kills), flush=True)
    print("{:>5} {:>6} {:>5} {:>8}  in all".format(*done))
    print(f"logs that are not one sound match: {unsound}; all other events: {dict(others)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kills", type=int, nargs="?", default=50)
    parser.add_argument("seed", type=int, nargs="?", default=3)
    main(**vars(parser.parse_args()))
