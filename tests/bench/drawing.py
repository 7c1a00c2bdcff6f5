"""How long a frame of ``virtual:`` takes to draw, in milliseconds of one core: ``python -m tests.bench.drawing``."""

from __future__ import annotations

import time

import cv2
import numpy as np

from companion.camera.virtual import VirtualCamera
from companion.errors import EndOfSource


def main() -> None:
    cv2.setNumThreads(1)
    began = time.process_time()
    camera = VirtualCamera()
    print(f"setting the table {1000 * (time.process_time() - began):.0f} ms")
    taken: dict[str, list[float]] = {"nothing moves": [], "a hand": [], "a hand with a piece": []}
    try:
        number = 0
        while True:
            moment = camera.play.at(number / 12)
            what = "a hand with a piece" if moment.held else "a hand" if moment.hand else "nothing moves"
            began = time.process_time()
            camera.read(0)
            taken[what].append(1000 * (time.process_time() - began))
            number += 1
    except EndOfSource:
        pass
    print(f"{'1280x720':<20}{'frames':>7}{'median':>8}{'p95':>7}{'most':>7}")
    for what, ms in [*taken.items(), ("all", [one for some in taken.values() for one in some])]:
        print(f"{what:<20}{len(ms):>7}{np.median(ms):>8.1f}{np.percentile(ms, 95):>7.1f}{max(ms):>7.1f}")


if __name__ == "__main__":
    main()
