"""Whether a bare board of paper is found: ``python -m tests.bench.paper [BOARDS [MARGIN]]``.

Draws BOARDS boards (80 if not said) that have no thickness and no pieces, as people print their own: pale, with lines
of any width, on any drawn cloth, up to 55 degrees from overhead. *Low* is beyond 45. *Located* is within half a square,
*near* within a quarter. The paper ends with the lines, or goes on around them for MARGIN squares.
"""

import argparse

import cv2
import numpy as np

from calibration.textures import Fabrics
from calibration.training.cloths import grid_cloth
from calibration.training.tables import corner_error
from companion.rules import Layout
from companion.vision.board import BoardFinder
from companion.vision.pose import BoardPose
from tests.bench.vision_locate import LOCATED, interval

SIZE = (960, 720)
SQUARE = 100
FOCAL = 900
LOW = 45
NEAR = 1 / 4
CORNERS = np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]], float)


def paper(rng, margin):
    """The sheet from straight above, in pixels of `SQUARE` a square; the board leaves `margin` of it free around."""
    side = 4 * SQUARE
    board = np.full((side, side, 3), 0, np.uint8) + np.array(rng.uniform(150, 250, 3), np.uint8)
    ink = tuple(rng.uniform(10, 120, 3).tolist())
    for line in range(5):
        at, width = min(line * SQUARE, side - 1), int(rng.integers(1, 5))
        cv2.line(board, (at, 0), (at, side), ink, width)
        cv2.line(board, (0, at), (side, at), ink, width)
    around = 4 * (round(margin * SQUARE),)
    return cv2.copyMakeBorder(board, *around, cv2.BORDER_CONSTANT, value=board[50, 50].tolist())


def projected(reach, tilt, around, place):
    """Where the corners of a square on the table are seen, from the middle of a picture and for a focal length of 1.

    It reaches so far from its middle, which is at a `place` before the camera; turned around itself, then tilted.
    """
    turned = np.array([[np.cos(around), -np.sin(around), 0], [np.sin(around), np.cos(around), 0], [0, 0, 1]])
    tilted = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    seen = reach * CORNERS @ (tilted @ turned).T * [1, -1, -1] + place
    return seen[:, :2] / seen[:, 2:]


def taken(rng, sheet, edges, fabrics, size):
    """A picture of a sheet whose corners are seen there, on any cloth; and the way from the sheet into the picture."""
    whole = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32) * sheet.shape[0]
    way = cv2.getPerspectiveTransform(whole, edges.astype(np.float32))
    cloth = cv2.resize(fabrics.table(rng, 512) if rng.random() < 0.8 else grid_cloth(rng), size)
    share = cv2.warpPerspective(np.full(sheet.shape[:2], 1.0, np.float32), way, size)[..., None]
    picture = cv2.warpPerspective(sheet, way, size, flags=cv2.INTER_AREA)
    light = (picture * share + cloth * (1 - share)) * rng.uniform(0.5, 1)
    grainy = cv2.GaussianBlur(light, (0, 0), 0.8) + rng.normal(0, 4, light.shape)
    return np.clip(grainy, 0, 255).astype(np.uint8), way


def drawn(number, fabrics, margin):
    """A picture, its board's corners, and the degrees from overhead."""
    rng = np.random.default_rng((99, number))
    sheet = paper(rng, margin)
    tilt, around, away = np.radians(rng.uniform(0, 55)), rng.uniform(0, 2 * np.pi), rng.uniform(7, 11)
    place = [rng.normal(0, 0.6), rng.normal(0, 0.4), away]
    edges, corners = (
        projected(reach, tilt, around, place) * FOCAL + np.array(SIZE) / 2
        for reach in (2 + round(margin * SQUARE) / SQUARE, 2)
    )
    picture, _ = taken(rng, sheet, edges, fabrics, SIZE)
    return picture, corners, float(np.degrees(tilt))


def main(boards, margin):
    """Print how many are located, from above and from low, and how many are found elsewhere."""
    cv2.setNumThreads(1)
    finder, fabrics = BoardFinder.bundled(), Fabrics(np.random.default_rng((3, 0)))
    told = {False: [], True: []}
    for number in range(boards):
        picture, corners, tilt = drawn(number, fabrics, margin)
        found = finder(picture, Layout.parse("4x4"))
        error = corner_error(found.points(), corners) if isinstance(found, BoardPose) else None
        told[tilt > LOW].append(error)
    for low, errors in told.items():
        located = sum(error is not None and error < LOCATED for error in errors)
        near = sum(error is not None and error < NEAR for error in errors)
        false = sum(error is not None and error >= LOCATED for error in errors)
        share = interval(located, len(errors)) if errors else "-"
        print(
            f"{'low' if low else 'from above':<12}{located:>4} of {len(errors):>3} located {share:>13}{near:>4} near"
            f"{false:>4} false"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("boards", type=int, nargs="?", default=80)
    parser.add_argument("margin", type=float, nargs="?", default=0.0)
    main(**vars(parser.parse_args()))
