"""What one stressed table looks like: camera, board, pieces, cloth and light, all drawn from a seed.

Boards and sets come from the workshop's own generator; those that nobody could read in such a picture are drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibration.textures import DARK_WOODS, LIGHT_WOODS, MIDDLE_WOODS, vary
from calibration.training import cards
from calibration.training.chance import draw_board, draw_set
from calibration.training.scene import BoardLook, Family, Grid, SetLook, luminance, ordinary
from companion.rules import Layout

STANDARD = Layout.parse("4x4")
SIZES = ((640, 360), (854, 480), (960, 540), (1280, 720))
RATES = (8, 10, 12, 15, 20, 30)
_FINE = (960, 540)
_WIDEST_GAP = 0.08
"""Between the plates of another layout, in squares."""
_STEEPEST = np.radians(40)
_LEGIBLE = 24.0
"""Grey levels between a mark and the piece that it is on."""
_APART = 18.0
"""Grey levels between board and table."""


@dataclass(frozen=True, slots=True)
class Look:
    """One table in front of one camera; lengths in squares, angles in radians, colours BGR."""

    size: tuple[int, int]
    """Width and height in pixels."""
    fps: int
    tilt: float
    """Of the camera, from straight above."""
    turn: float
    """Of the camera around the board, from Light's side."""
    distance: float
    fill: float
    """The share of the picture's height that the board takes."""
    board: BoardLook
    pieces: SetLook
    cloth: tuple[float, float, float]
    noise: float
    """Standard deviation in grey levels."""
    blur: float
    """Of the lens, in pixels."""
    exposure: float
    tint: tuple[float, float, float]
    layout: Layout = STANDARD
    cards: cards.CardLook | None = None
    """Of the Green Box, whose pieces are cubes."""

    @property
    def square(self) -> float:
        """The side of a square, in shares of the picture's width."""
        width, height = self.size
        return self.fill * height / self.layout.rows / width

    @property
    def middle(self) -> tuple[float, float]:
        """Of the board, x and y in squares."""
        return self.layout.columns / 2, self.layout.rows / 2


def draw_look(rng: np.random.Generator, layout: Layout = STANDARD) -> Look:
    """A table as a household has it: an ordinary set, seen so well that a person could read it.

    A board of another layout lies there as plates of 2x2; a larger one is seen from farther away, in finer pictures.
    """
    look = _standard_look(rng)
    if layout == STANDARD:
        return look
    long = max(layout.columns, layout.rows) / 4
    fine = max(look.size, _FINE)
    plates = replace(look.board, plates=2, gap=min(look.board.gap, _WIDEST_GAP))
    return replace(look, layout=layout, distance=look.distance * long, size=fine, board=plates)


def draw_green_box(rng: np.random.Generator) -> Look:
    """A table with the Green Box: loose tiles, cubes that are plainly light and dark, and any print of its cards."""
    board, pieces = _readable_cubes(rng)
    look = replace(_standard_look(rng), board=board, pieces=pieces, cards=cards.draw_look(rng))
    size = SIZES[rng.choice((2, 3))]
    return replace(
        look, size=size, fill=float(rng.uniform(0.42, 0.56)), cloth=_cloth(rng, board, look.cards), turn=look.turn / 2
    )


def _readable_cubes(rng: np.random.Generator) -> tuple[BoardLook, SetLook]:
    while True:
        board = draw_board(rng, Family.CUBES)
        pieces = draw_set(rng, Family.CUBES, board)
        seen = all(_differ(body.colour, tile) for body in pieces.bodies.values() for tile in board.colours)
        if board.plates == STANDARD.columns and not board.checkered and ordinary(pieces) and seen:
            return board, pieces


def _differ(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return bool(np.abs(np.subtract(one, other)).max() >= _LEGIBLE)


def _standard_look(rng: np.random.Generator) -> Look:
    family = Family.HOPWOOD if rng.random() < 0.4 else Family.DIAGRAM
    board, pieces = _readable(rng, family)
    warm = float(rng.normal(0, 0.08))
    return Look(
        size=SIZES[rng.choice(4, p=(0.45, 0.3, 0.15, 0.1) if family is Family.DIAGRAM else (0, 0.5, 0.35, 0.15))],
        fps=int(rng.choice(RATES, p=(0.35, 0.25, 0.2, 0.1, 0.06, 0.04))),
        tilt=float(rng.uniform(np.radians(4), _STEEPEST)),
        turn=float(rng.uniform(-0.45, 0.45)),
        distance=float(rng.uniform(9, 18)),
        fill=float(rng.uniform(0.66, 0.82)),
        board=board,
        pieces=pieces,
        cloth=_cloth(rng, board),
        noise=float(rng.uniform(0.5, 2.6)),
        blur=float(rng.uniform(0, 0.8)),
        exposure=float(rng.uniform(0.75, 1.08)),
        tint=(1 - warm, 1.0, 1 + warm),
    )


def _readable(rng: np.random.Generator, family: Family) -> tuple[BoardLook, SetLook]:
    while True:
        board = draw_board(rng, family)
        pieces = draw_set(rng, family, board)
        lined = board.plates == 4 or board.grid is not Grid.NONE
        if lined and not board.checkered and ordinary(pieces) and all(map(_legible, pieces.bodies.values())):
            return board, pieces


def _legible(body) -> bool:
    contrast = np.abs(np.subtract(body.ink, body.colour)).max() * body.ink_strength
    return bool(contrast >= _LEGIBLE)


def _cloth(
    rng: np.random.Generator, board: BoardLook, on_it: cards.CardLook | None = None
) -> tuple[float, float, float]:
    while True:
        woods = LIGHT_WOODS + MIDDLE_WOODS + DARK_WOODS
        colour = vary(rng, woods[rng.integers(len(woods))], 14)
        others = [board.colours[0], *([on_it.paper] if on_it else [])]
        if all(abs(np.sqrt(luminance(colour)) - np.sqrt(luminance(other))) * 255 > _APART for other in others):
            return colour
