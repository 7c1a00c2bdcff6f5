"""Photographs spoilt in many ways: are they unclear where they cannot be read, and never wrong?

    python -m tests.bench.spoilt FOLDER [PICTURES]

FOLDER has photographs and a `truth.jsonl` in the words of ``companion read --json``, as the examples do. Each picture
is found and read as ``companion read`` does it; lengths are in squares.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from companion.commands.eyes import board_reader
from companion.rules import Layout
from companion.vision.board import locate
from companion.vision.pose import BoardNotFound, locate_given
from companion.vision.rectify import pixels_per_square
from tests.bench.squares import Tally, seen, verdict
from tests.vision.spoiling import out_of_focus, shaken

BOARD = Layout.parse("4x4")
NEAR = 0.5
"""Corners found so near, in squares, are those of the board."""
GAMMA = 2.2


def bytes_of(image):
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


def soft(image, pixels, _):
    return cv2.GaussianBlur(image, (0, 0), pixels)


def exposed(image, times, chance, noise=0.003):
    """With so many times the light, and the noise of a sensor."""
    light = (image / 255) ** GAMMA * times
    light += chance.normal(0, 1, image.shape) * np.sqrt(noise**2 + 0.3 * noise * light)
    return bytes_of(255 * np.clip(light, 0, 1) ** (1 / GAMMA))


def noisy(image, levels, chance):
    return bytes_of(image + chance.normal(0, levels, image.shape))


def compressed(image, quality, _):
    return cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(quality)])[1], cv2.IMREAD_COLOR)


def hazy(image, left, _):
    return bytes_of(image * left + 150 * (1 - left))


def glared(image, pixels, chance):
    """With a lamp mirrored in it, burnt out in its middle."""
    height, width = image.shape[:2]
    x, y = chance.uniform(0.3, 0.7, 2) * (width, height)
    down, right = np.mgrid[:height, :width]
    return bytes_of(image + 260 * np.exp(-((right - x) ** 2 + (down - y) ** 2) / (2 * pixels**2))[..., None])


def smaller(image, share, _):
    return cv2.resize(image, None, fx=min(1, share), fy=min(1, share), interpolation=cv2.INTER_AREA)


# How a picture of so many pixels a square is spoilt by a strength.
IN_SQUARES = {
    "soft": (soft, (0.03, 0.05, 0.08, 0.12, 0.18)),
    "out of focus": (lambda image, pixels, _: out_of_focus(image, pixels), (0.08, 0.15, 0.25)),
    "shaken": (lambda image, pixels, chance: shaken(image, pixels, chance.uniform(0, 180)), (0.15, 0.3, 0.6)),
    "glare": (glared, (1.0, 2.0)),
}
AS_THEY_ARE = {
    "light": (exposed, (0.2, 0.08, 0.03, 2, 4)),
    "noise": (noisy, (15, 30)),
    "JPEG": (compressed, (20, 8)),
    "haze": (hazy, (0.5, 0.2)),
}
PIXELS = (30, 20, 14, 10)


def ways():
    """The name of every way, and what it does with a picture, its pixels a square and chance."""
    yield "as it is", lambda image, square, chance: image
    for name, (spoil, strengths) in IN_SQUARES.items():
        for much in strengths:
            yield f"{name} {much}", lambda image, square, chance, s=spoil, m=much: s(image, m * square, chance)
    for name, (spoil, strengths) in AS_THEY_ARE.items():
        for much in strengths:
            yield f"{name} {much}", lambda image, square, chance, s=spoil, m=much: s(image, m, chance)
    for pixels in PIXELS:
        yield f"{pixels} pixels a square", lambda image, square, chance, p=pixels: smaller(image, p / square, chance)


def named(found, corners, square):
    """The corners found, named as the true ones are; and how far they are from these, in squares."""
    turned = [np.roll(found.points(), turn, axis=0) for turn in range(4)]
    far = [float(np.linalg.norm(points - corners, axis=1).max()) / square for points in turned]
    return turned[int(np.argmin(far))], min(far)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("pictures", type=int, nargs="?")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    lines = (asked.folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()[: asked.pictures]
    reader = board_reader(BOARD)
    print(
        f"{'':22}{'pictures':>9}{'found':>7}{'false':>7}{'blurred':>9}{'squares':>9}{'right':>9}{'unclear':>9}{'wrong':>8}"
    )
    for name, spoil in ways():
        tally, found_there, false, blurred = Tally(), 0, 0, 0
        for number, truth in enumerate(map(json.loads, lines)):
            whole = cv2.imread(str(asked.folder / truth["image"]))
            corners = np.array([truth["corners"][corner] for corner in ("a1", "d1", "d4", "a4")])
            square = pixels_per_square(corners, BOARD)
            image = spoil(whole, square, np.random.default_rng((7, number)))
            scale = image.shape[1] / whole.shape[1]
            found = locate(image, BOARD)
            if isinstance(found, BoardNotFound):
                continue
            points, far = named(found, corners * scale, square * scale)
            if far > NEAR:
                false += 1
                continue
            found_there += 1
            at = locate_given(list(map(tuple, points)), image.shape[1::-1])
            reading = replace(reader, locate=lambda image, layout, at=at: at).read(image)
            blurred += reading.blurred
            tally.add(
                [
                    verdict(contents, seen(truth["squares"][str(place)]))
                    for place, contents in zip(BOARD, reading.squares, strict=True)
                    if str(place) not in truth["hidden"]
                ]
            )
        count = max(1, tally.right + tally.unclear + tally.wrong)
        print(
            f"{name:22}{len(lines):>9}{found_there:>7}{false:>7}{blurred:>9}{count:>9}"
            f"{tally.right / count:>9.1%}{tally.unclear / count:>9.1%}{tally.wrong:>8}",
            flush=True,
        )


if __name__ == "__main__":
    main()
