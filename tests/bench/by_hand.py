"""Boards and pieces that people make by hand: ``python -m tests.bench.by_hand FOLDER [BOARDS [FIRST]]``.

Draws BOARDS pictures (100 if not said) into FOLDER, for ``python -m tests.bench.pictures FOLDER``: lines drawn with a
pen on paper or card, with a ruler or without, that cross each other's ends; the sheet is cut off at the lines, or goes
on around them for up to 1.6 squares. On it lie pieces cut from paper, or caps, with marks drawn by hand. They lie on
any drawn cloth, up to 48 degrees from overhead.
"""

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

from calibration.textures import Fabrics
from companion.rules import Colour, Kind, Layout, Piece
from tests.bench.paper import projected, taken

SQUARE = 120
SIDE = 4
SIZE = (1280, 960)
FOCAL = 1200
STEEPEST = 48
EDGE = 8
"""Pixels that corners are away from the edge of a picture, at least."""
BOARD = Layout.parse(f"{SIDE}x{SIDE}")
PENS = np.array([[150, 60, 30], [40, 40, 170], [60, 110, 40]], float)
SUPPLY = [Piece(colour, kind) for colour in Colour for kind in Kind for _ in range(2)]


def wavering(rng, start, end, by):
    """The points of a line that a hand draws, off the straight one by about so many pixels."""
    along = np.linspace(0, 1, 60)
    straight = start + np.outer(along, end - start)
    aside = np.array([start[1] - end[1], end[0] - start[0]]) / np.linalg.norm(end - start)
    waves = [rng.normal(0, by / n) * np.sin(np.pi * n * along + rng.uniform(0, 6)) for n in range(1, 6)]
    return straight + np.outer(sum(waves), aside)


def ring(rng, middle, radius):
    """The points of a circle that a hand draws: a little oval, and closed a little late."""
    turn = np.linspace(0, 2.08 * np.pi, 50)
    uneven = 1 + 0.06 * np.sin(2 * turn + rng.uniform(0, 6)) + 0.06 * np.sin(turn + rng.uniform(0, 6))
    return middle + (radius * uneven * np.array([np.cos(turn), np.sin(turn)])).T


def ink(picture, points, colour, width):
    cv2.polylines(picture, [np.round(points * 16).astype(np.int32)], False, colour, width, cv2.LINE_AA, 4)


def uneven(rng, shape, colour, by):
    """A surface of this colour that is a little blotched."""
    blotches = cv2.GaussianBlur(rng.normal(0, by, (*shape, 3)), (0, 0), 6)
    return np.clip(colour + blotches, 0, 255).astype(np.uint8)


def sheet(rng, margin):
    """A sheet with a board on it, and where its lines stand in it, across and down, in pixels."""
    white = rng.random() < 0.6
    paper = rng.uniform((215, 225, 230), (252, 252, 253)) if white else rng.uniform((110, 140, 160), (170, 195, 215))
    side = SIDE * SQUARE + 2 * margin
    drawn = uneven(rng, (side, side), paper, 18)
    colour = (rng.uniform(10, 70, 3) if rng.random() < 0.6 else rng.choice(PENS)).tolist()
    ruled, width = rng.random() < 0.4, int(rng.integers(2, 7))
    off, wave = (0.008, 0.004) if ruled else (0.025, float(rng.uniform(0.008, 0.03)))
    across, down = margin + SQUARE * (np.arange(SIDE + 1) + rng.normal(0, off, (2, SIDE + 1)))
    for lines, ends, way in ((across, down, slice(None)), (down, across, slice(None, None, -1))):
        for at in lines:
            beyond = rng.uniform(-0.02, 0.12, 2) * SQUARE * (rng.random() < 0.5)
            points = np.array([[at, ends[0] - beyond[0]], [at, ends[-1] + beyond[1]]])[:, way]
            ink(drawn, wavering(rng, *points, wave * SQUARE), colour, width)
    return drawn, across, down


def mark(rng, picture, kind, half, colour, width):
    """Draw the mark of this kind in the middle of a picture of a piece, which is `half` as wide."""
    middle = np.array(picture.shape[1::-1]) / 2
    if kind in {Kind.STRAIGHT, Kind.DIAGONAL}:
        first, reach = (0, 0.62) if kind is Kind.STRAIGHT else (np.pi / 4, 0.8)
        for turn in first + np.array([0, np.pi / 2]) + rng.normal(0, 0.06, 2):
            arm = half * reach * rng.uniform(0.9, 1.1) * np.array([np.cos(turn), np.sin(turn)])
            at = middle + rng.normal(0, 0.05 * half, 2)
            ink(picture, wavering(rng, at - arm, at + arm, 0.02 * half), colour, width)
    elif kind is Kind.PULLER and rng.random() < 0.4:
        cv2.circle(picture, np.round(middle).astype(int).tolist(), round(half * 0.25), colour, -1, cv2.LINE_AA)
    else:
        radius = half * (rng.uniform(0.18, 0.32) if kind is Kind.PULLER else rng.uniform(0.6, 0.75))
        ink(picture, ring(rng, middle, radius), colour, width)


def lay(rng, drawn, across, down):
    """Lay pieces of one home-made set on a drawn board; gives what lies where, as the truth says it."""
    light = rng.uniform(200, 250, 3) if rng.random() < 0.5 else rng.uniform((120, 160, 180), (190, 220, 240))
    dark = rng.uniform(20, 70, 3) if rng.random() < 0.6 else rng.choice(PENS)
    pen = rng.uniform(10, 60, 3).tolist()
    pens = {Colour.LIGHT: pen, Colour.DARK: rng.uniform(200, 250, 3).tolist()}
    bodies = {Colour.LIGHT: light, Colour.DARK: dark}
    half, caps, width = SQUARE * rng.uniform(0.3, 0.42), rng.random() < 0.4, int(rng.integers(4, 11))
    shadow = SQUARE * rng.uniform(0, 0.07) * np.array([np.cos(turn := rng.uniform(0, 2 * np.pi)), np.sin(turn)])
    supply, truth = [SUPPLY[i] for i in rng.permutation(len(SUPPLY))], {}
    for i, square in enumerate(BOARD.squares):
        truth[str(square)] = ["."]
        if rng.random() < 0.55:
            piece = supply.pop()
            row, column = divmod(i, SIDE)
            spot = np.array([across[column : column + 2].mean(), down[::-1][row : row + 2].mean()])
            top = uneven(rng, (round(2 * half) + 4,) * 2, bodies[piece.colour], 12)
            mark(rng, top, piece.kind, half, pens[piece.colour], width)
            put(rng, drawn, cut(rng, top, half, caps=caps), spot + rng.normal(0, 0.05, 2) * SQUARE, shadow)
            truth[str(square)] = [str(piece)]
    return truth


def cut(rng, top, half, *, caps):
    """The top of a piece and its shape, cut out by hand, or of a cap."""
    shape, middle = np.zeros(top.shape[:2], np.uint8), top.shape[0] / 2
    if caps:
        cv2.circle(shape, (round(middle), round(middle)), round(half), 255, -1, cv2.LINE_AA)
    else:
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half * rng.uniform(0.93, 1.02, (4, 2)) + middle
        cv2.fillPoly(shape, [np.round(corners).astype(np.int32)], 255, cv2.LINE_AA)
    return top, shape


def put(rng, drawn, piece, spot, shadow):
    """Put a piece on the drawn board, turned a little, with its shadow."""
    top, shape = piece
    middle, size = top.shape[0] / 2, drawn.shape[1::-1]
    turn = float(np.clip(rng.normal(0, 6), -14, 14)) + 90 * int(rng.integers(4))
    turned = cv2.getRotationMatrix2D((middle, middle), turn, 1)
    turned[:, 2] += spot - middle
    over = cv2.warpAffine(shape, turned, size)[..., None] / 255
    seen = cv2.warpAffine(top, turned, size, borderMode=cv2.BORDER_REPLICATE)
    cast = np.roll(over[..., 0], np.round(shadow[::-1]).astype(int), (0, 1))
    dim = 0.45 * cv2.GaussianBlur(cast, (0, 0), 1.5 + 0.3 * np.abs(shadow).max())[..., None]
    drawn[:] = np.clip(drawn * (1 - dim) * (1 - over) + seen * over, 0, 255).astype(np.uint8)


def drawn_by_hand(number, fabrics):
    """A picture and its truth; None if a corner is not in it."""
    rng = np.random.default_rng((990, number))
    around = float(rng.choice((0.06, rng.uniform(0.15, 1.6)), p=(0.25, 0.75)))
    drawn, across, down = sheet(rng, round(around * SQUARE))
    squares = lay(rng, drawn, across, down)
    side = len(drawn) / SQUARE
    tilt, turn = np.radians(rng.uniform(0, STEEPEST)), rng.uniform(0, 2 * np.pi)
    place = [rng.normal(0, 0.5), rng.normal(0, 0.3), rng.uniform(7.2, 11) + around]
    edges = projected(side / 2, tilt, turn, place) * FOCAL + np.array(SIZE) / 2
    picture, way = taken(rng, drawn, edges, fabrics, SIZE)
    outline = [[across[0], down[-1]], [across[-1], down[-1]], [across[-1], down[0]], [across[0], down[0]]]
    corners = cv2.perspectiveTransform(np.array([outline]), way)[0]
    if (corners < EDGE).any() or (corners > np.array(SIZE) - EDGE).any():
        return None
    names = dict(zip(("a1", "d1", "d4", "a4"), np.round(corners, 2).tolist(), strict=True))
    family = "cut off" if around < 0.1 else "on a sheet"
    return picture, {"family": family, "corners": names, "hidden": [], "squares": squares}


def main(folder, boards, first):
    """Draw the pictures, and write down what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    fabrics = Fabrics(np.random.default_rng((990, 0)))
    with (folder / "truth.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(first, first + boards):
            drawn = drawn_by_hand(number, fabrics)
            if drawn is not None:
                picture, truth = drawn
                cv2.imwrite(str(folder / f"{number:04}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 90])
                lines.write(json.dumps({"image": f"{number:04}.jpg", **truth}) + "\n")


if __name__ == "__main__":
    cv2.setNumThreads(1)
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("boards", type=int, nargs="?", default=100)
    parser.add_argument("first", type=int, nargs="?", default=0)
    main(**vars(parser.parse_args()))
