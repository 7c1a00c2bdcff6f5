"""Wide tables and what lies about on them: above all what has lines and squares of its own, and is no board.

Cloths here repeat without a seam, so that they cover a table up to its edge. Things are drawn flat, upright, as wide
and high as they are asked to be; all of them have lines at right angles or the size and colour of pieces, because a
locator has to see that they are no board of four by four squares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from calibration.textures import DARK_WOODS, LIGHT_WOODS, any_colour, coloured, noise, vary, wood

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Texture

    Drawer = Callable[[Generator], Texture]

TILE = 512
THING = 256
"""Longer side of a thing's drawing, in pixels."""
_WHITE = (235, 238, 240)
_BLACK = (25, 25, 28)


def grid_cloth(rng: Generator) -> Texture:
    """A `TILE` by `TILE` piece, seamless, of gingham, tartan, tiles, chequers, panes, stripes or planks with joints."""
    draw = (gingham, gingham, tartan, tiles, chequers, panes, boards)[rng.integers(7)]
    return draw(rng)


def gingham(rng: Generator) -> Texture:
    """Two crossed sets of stripes: where both or neither are, a square."""
    count = int(rng.integers(4, 25))
    width = rng.uniform(0.4, 0.6)
    stripe = (np.arange(TILE) * count / TILE % 1 < width).astype(np.float32)
    both = (stripe[:, None] + stripe[None]) / 2
    return _two_tone(rng, both)


def tartan(rng: Generator) -> Texture:
    """Stripes of several widths, crossed."""
    count = int(rng.integers(2, 9))
    phase = np.arange(TILE) * count / TILE % 1
    stripe = np.zeros(TILE, np.float32)
    for _ in range(rng.integers(2, 5)):
        stripe[np.abs(phase - rng.uniform(0.1, 0.9)) < rng.uniform(0.01, 0.12)] = rng.uniform(0.3, 1.0)
    return _two_tone(rng, (stripe[:, None] + stripe[None]) / 2)


def chequers(rng: Generator) -> Texture:
    """Squares of two colours by turns."""
    count = 2 * int(rng.integers(2, 14))
    odd = np.arange(TILE) * count // TILE % 2
    return _two_tone(rng, (odd[:, None] ^ odd[None]).astype(np.float32))


def panes(rng: Generator) -> Texture:
    """Thin lines, crossed, on a plain cloth: what is most like a board's lines."""
    count = int(rng.integers(4, 22))
    line = (np.arange(TILE) * count / TILE % 1 < rng.uniform(0.03, 0.12)).astype(np.float32)
    return _two_tone(rng, np.maximum(line[:, None], line[None]))


def tiles(rng: Generator) -> Texture:
    """Tiles, each its own shade, with joints."""
    count = int(rng.integers(3, 16))
    shade = rng.normal(0, rng.uniform(0.01, 0.12), (count, count)).astype(np.float32)
    large = np.asarray(cv2.resize(shade, (TILE, TILE), interpolation=cv2.INTER_NEAREST), np.float32)
    tiled = coloured(rng, large, any_colour(rng), 1.0)
    joint = np.arange(TILE) * count / TILE % 1 < rng.uniform(0.02, 0.08)
    tiled[joint[:, None] | joint[None]] = vary(rng, any_colour(rng), 4)
    return tiled


def boards(rng: Generator) -> Texture:
    """Planks or parquet with joints across as well."""
    rows, columns = int(rng.integers(3, 12)), int(rng.integers(1, 7))
    table, dark = wood(rng), vary(rng, (20, 28, 36), 6)
    thick = int(rng.integers(1, 4))
    for row in range(rows):
        y = row * TILE // rows
        cv2.line(table, (0, y), (TILE, y), dark, thick)
        shift = rng.integers(0, TILE)
        for column in range(columns):
            x = int((column * TILE // columns + shift) % TILE)
            cv2.line(table, (x, y), (x, y + TILE // rows), dark, thick)
    return table


def _two_tone(rng: Generator, share: NDArray[Any]) -> Texture:
    first = np.array(any_colour(rng) if rng.random() < 0.5 else vary(rng, _WHITE, 8), np.float32)
    second = np.array(any_colour(rng) if rng.random() < 0.8 else vary(rng, _BLACK, 8), np.float32)
    cloth = first + (second - first) * share[..., None]
    return np.asarray(np.clip(cloth * (1 + noise(rng, 512, 512)[..., None] * rng.uniform(0, 0.05)), 2, 250), np.uint8)


# ------------------------------------------------------------------------------------------------- things


def thing(rng: Generator) -> Texture:
    """Something that lies on tables, `THING` pixels long."""
    drawers: tuple[Drawer, ...] = (sheet, sheet, book, keyboard, screen, playing_card, small_grid, wood_block, napkin)
    return drawers[rng.integers(len(drawers))](rng)


def imitation(rng: Generator) -> Texture:
    """Something that a locator may take for a board: squares in rows, but not four by four."""
    drawers: tuple[Drawer, ...] = (keyboard, small_grid, small_grid, chess, window, book, napkin, sheet, plate, plate)
    return drawers[rng.integers(len(drawers))](rng)


def _blank(rng: Generator, colour: tuple[float, ...], high: float | None = None) -> Texture:
    height = round(THING * (high or rng.uniform(0.45, 1.0)))
    return np.full((height, THING, 3), 0, np.uint8) + np.array(vary(rng, colour, 8), np.uint8)


def sheet(rng: Generator) -> Texture:
    """A page with lines of words, perhaps with a picture."""
    page = _blank(rng, _WHITE)
    height, step = page.shape[0], int(rng.integers(8, 20))
    ink = vary(rng, _BLACK, 15)
    for y in range(step * 2, height - step, step):
        x = 20
        while x < THING - 30:
            word = int(rng.integers(6, 34))
            if rng.random() < 0.85:
                cv2.line(page, (x, y), (min(x + word, THING - 20), y), ink, max(1, step // 4))
            x += word + 6
    if rng.random() < 0.4:
        x, y = int(rng.integers(20, THING // 2)), int(rng.integers(10, height // 2))
        cv2.rectangle(page, (x, y), (x + 90, y + height // 3), any_colour(rng), -1)
    return page


def book(rng: Generator) -> Texture:
    """A cover with a frame and a title."""
    cover = _blank(rng, any_colour(rng), rng.uniform(0.6, 1.0))
    height = cover.shape[0]
    for i in range(rng.integers(1, 4)):
        inset = int(rng.integers(4, 20) + 24 * i)
        cv2.rectangle(cover, (inset, inset), (THING - inset, height - inset), any_colour(rng), int(rng.integers(1, 6)))
    cv2.rectangle(cover, (60, height // 3), (THING - 60, height // 3 + 24), any_colour(rng), -1)
    return cover


def keyboard(rng: Generator) -> Texture:
    """Rows of keys, each row shifted; some keys are wider."""
    rows, columns = int(rng.integers(4, 7)), int(rng.integers(9, 16))
    case = _blank(rng, any_colour(rng) if rng.random() < 0.3 else _BLACK, 0.3 + 0.05 * rng.random())
    height, key = case.shape[0], vary(rng, _WHITE if rng.random() < 0.5 else (50, 50, 55), 10)
    w, h = THING / (columns + 1), height / (rows + 0.5)
    for row in range(rows):
        x = 0.25 * w + (row % 3) * 0.25 * w
        while x + 0.9 * w < THING - 2:
            wide = 0.88 * w * (1 if rng.random() < 0.88 else 2)
            y = 0.3 * h + row * h
            cv2.rectangle(case, (int(x), int(y)), (int(min(x + wide, THING - 3)), int(y + 0.85 * h)), key, -1)
            x += wide + 0.12 * w
    return case


def screen(rng: Generator) -> Texture:
    """A telephone or a tablet, dark or showing tiles."""
    glass = _blank(rng, _BLACK, rng.uniform(0.45, 0.75))
    if rng.random() < 0.6:
        rows, columns = int(rng.integers(2, 7)), int(rng.integers(5, 9))
        for row in range(rows):
            for column in range(columns):
                x, y = int((column + 0.3) * THING / columns), int((row + 0.3) * glass.shape[0] / rows)
                size = int(0.5 * min(THING / columns, glass.shape[0] / rows))
                cv2.rectangle(glass, (x, y), (x + size, y + size), any_colour(rng), -1)
    return glass


def playing_card(rng: Generator) -> Texture:
    """A card with a frame and a few signs."""
    card = _blank(rng, _WHITE, 0.7)
    colour = vary(rng, (30, 30, 190), 10) if rng.random() < 0.5 else _BLACK
    cv2.rectangle(card, (8, 8), (THING - 8, card.shape[0] - 8), colour, 2)
    for _ in range(rng.integers(1, 9)):
        x, y = int(rng.integers(30, THING - 30)), int(rng.integers(30, card.shape[0] - 30))
        cv2.circle(card, (x, y), int(rng.integers(8, 26)), colour, -1 if rng.random() < 0.7 else 3, cv2.LINE_AA)
    return card


def small_grid(rng: Generator) -> Texture:
    """A crossword, a calendar, noughts and crosses, a number puzzle, a bar of chocolate: never four by four."""
    while True:
        rows, columns = int(rng.integers(2, 14)), int(rng.integers(2, 14))
        if not (3 <= rows <= 5 and 3 <= columns <= 5) or (rows, columns) in ((3, 3), (5, 5)):
            break
    paper = _blank(rng, _WHITE if rng.random() < 0.6 else any_colour(rng), min(1.0, max(0.3, rows / columns)))
    ink, height = any_colour(rng) if rng.random() < 0.4 else vary(rng, _BLACK, 10), paper.shape[0]
    filled, inset = rng.choice((0.0, rng.uniform(0.05, 0.5))), int(rng.choice((0, 12)))
    xs = np.linspace(inset, THING - 1 - inset, columns + 1).astype(int)
    ys = np.linspace(inset, height - 1 - inset, rows + 1).astype(int)
    for row in range(rows):
        for column in range(columns):
            box = (int(xs[column]), int(ys[row])), (int(xs[column + 1]), int(ys[row + 1]))
            cv2.rectangle(paper, *box, ink, -1 if rng.random() < filled else int(rng.integers(1, 4)))
    return paper


def chess(rng: Generator) -> Texture:
    """A board of eight by eight, or of ten by ten, with men on it or not."""
    count = int(rng.choice((8, 8, 10, 6)))
    light, dark = vary(rng, LIGHT_WOODS[rng.integers(6)], 8), vary(rng, DARK_WOODS[rng.integers(6)], 8)
    side, rim = THING, int(rng.integers(0, 24))
    board = _blank(rng, dark, 1.0)
    edges = np.linspace(rim, side - rim, count + 1).astype(int).tolist()
    for row in range(count):
        for column in range(count):
            colour = light if (row + column) % 2 else dark
            cv2.rectangle(board, (edges[column], edges[row]), (edges[column + 1], edges[row + 1]), colour, -1)
            if rng.random() < 0.3:
                middle = (edges[column] + edges[1] // 2, edges[row] + edges[1] // 2)
                cv2.circle(board, middle, side // count // 3, any_colour(rng), -1, cv2.LINE_AA)
    return board


def window(rng: Generator) -> Texture:
    """A window's panes."""
    rows, columns = ((2, 2), (2, 3), (3, 2), (1, 2), (3, 3), (2, 5), (6, 4))[rng.integers(7)]
    pane = _blank(rng, any_colour(rng), rows / columns if rows <= columns else 1.0)
    frame = vary(rng, _WHITE, 10) if rng.random() < 0.7 else any_colour(rng)
    height, thick = pane.shape[0], int(rng.integers(4, 16))
    for column in range(columns + 1):
        x = column * (THING - 1) // columns
        cv2.line(pane, (x, 0), (x, height), frame, thick)
    for row in range(rows + 1):
        y = row * (height - 1) // rows
        cv2.line(pane, (0, y), (THING, y), frame, thick)
    return pane


def napkin(rng: Generator) -> Texture:
    """A piece of patterned cloth, with an end."""
    cloth = grid_cloth(rng)
    side = int(rng.integers(160, TILE))
    return np.asarray(cv2.resize(cloth[:side, :side], (THING, THING), interpolation=cv2.INTER_AREA), np.uint8)


def wood_block(rng: Generator) -> Texture:
    """A cutting board, a box, a ruler."""
    high = round(THING * rng.choice((0.12, rng.uniform(0.4, 1.0))))
    return np.asarray(cv2.resize(wood(rng), (THING, high), interpolation=cv2.INTER_AREA), np.uint8)


def plate(rng: Generator) -> Texture:
    """One plate of two by two, or a row of two plates: parts of a board are no board."""
    columns, rows = ((2, 2), (4, 2), (2, 2), (1, 1))[rng.integers(4)]
    birch = vary(rng, LIGHT_WOODS[rng.integers(6)], 10)
    part = np.asarray(cv2.resize(wood(rng, (LIGHT_WOODS[0],)), (THING, THING * rows // columns)), np.uint8)
    part = np.asarray(cv2.addWeighted(part, 0.3, np.full_like(part, 0) + np.array(birch, np.uint8), 0.7, 0), np.uint8)
    burnt = tuple(channel * rng.uniform(0.35, 0.8) for channel in birch)
    for i in range(1, columns):
        x = i * THING // columns
        cv2.line(part, (x, 0), (x, part.shape[0]), burnt, 2)
    for i in range(1, rows):
        y = i * part.shape[0] // rows
        cv2.line(part, (0, y), (THING, y), burnt, 2)
    return part
