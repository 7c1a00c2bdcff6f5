"""Scenes by chance, from a seed: what a household has, how it takes pictures of it, and how it could on a bad day.

A draw takes its numbers from the generator in an order of its own: with another order every picture would be another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibration.textures import DARK_WOODS, LIGHT_WOODS, MIDDLE_WOODS, any_colour, vary
from calibration.training.marks import MarkStyle
from calibration.training.scene import (
    KINDS,
    SIDE,
    BoardLook,
    Body,
    Camera,
    Family,
    Grid,
    Lens,
    Light,
    Placed,
    Scene,
    SetLook,
    luminance,
    plain,
)
from companion.rules import Colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator

    from calibration.training.scene import Albedo

_CUBE_COLOURS = ((40, 40, 190), (190, 70, 40), (60, 150, 60), (40, 190, 220), (230, 230, 235), (35, 35, 38))
_INKS = ((30, 30, 180), (150, 60, 30), (40, 110, 40), (30, 150, 200), (20, 20, 22), (235, 235, 235), (60, 170, 215))
_TELLING_RATIO = 1.3
_BLURRED_RATIO = 1.15
_TRIES = 60
_THICK = 0.15
"""The share of diagram sets with pieces that are thicker than is usual."""


def draw_scene(rng: Generator, family: Family | None = None) -> Scene:
    """A scene of any family, or of one.

    Half of them are as a household would take the picture, half in any light, from any side.
    """
    scene = _draw_any(rng, family)
    if rng.random() < 0.5:
        for _ in range(_TRIES):
            if plain(scene):
                break
            camera = draw_camera(rng, scene.pieces.family)
            lens, light = draw_lens(rng, camera.scale), draw_light(rng)
            scene = replace(scene, camera=camera, lens=lens, light=light, hands=0)
    return scene


def with_thick_pieces(rng: Generator, scene: Scene) -> Scene:
    """The scene, at times with pieces as thick as those cut from a beam."""
    if scene.pieces.family is not Family.DIAGRAM or rng.random() >= _THICK:
        return scene
    return replace(scene, pieces=replace(scene.pieces, height=float(rng.uniform(0.34, 0.6))))


def of_one_set(rng: Generator, scene: Scene) -> Scene:
    """The same scene, but all pieces are of one set: two of each kind and colour, as in a real game."""
    return replace(scene, placed=placed_of_one_set(rng, scene.placed))


def placed_of_one_set(rng: Generator, placed: Sequence[Placed]) -> list[Placed]:
    """Pieces where these are, dealt from one set: those on the board first."""
    supply = [(colour, kind) for colour in Colour for kind in KINDS for _ in range(2)]
    drawn = [supply[i] for i in rng.permutation(len(supply)).tolist()]
    played, spares = [], []
    for piece in placed:
        if piece.square is not None:
            colour, kind = drawn.pop()
            played.append(replace(piece, colour=colour, kind=kind))
    for piece in placed:
        left = [i for i, (colour, _) in enumerate(drawn) if colour is piece.colour]
        if piece.square is None and left:
            spares.append(replace(piece, kind=drawn.pop(left[-1])[1]))
    return played + spares


def _draw_any(rng: Generator, family: Family | None) -> Scene:
    if family is None:
        family = Family.DIAGRAM if (r := rng.random()) < 0.46 else Family.HOPWOOD if r < 0.77 else Family.CUBES
    board = draw_board(rng, family)
    pieces = draw_set(rng, family, board)
    camera = draw_camera(rng, family)
    return Scene(
        board=board,
        pieces=pieces,
        placed=draw_placed(rng, pieces),
        camera=camera,
        light=draw_light(rng),
        lens=draw_lens(rng, camera.scale),
        hands=int(rng.choice(3, p=(0.72, 0.22, 0.06))),
        jitter=float(rng.choice((0.0, 0.02, 0.05), p=(0.35, 0.4, 0.25))),
        askew=[draw_askew(rng) for _ in range(board.plates**2)],
    )


def draw_askew(rng: Generator) -> tuple[float, float, float]:
    """How a plate lies: moved, in squares, and turned, in radians."""
    return float(rng.normal(0, 0.015)), float(rng.normal(0, 0.015)), float(rng.normal(0, 0.01))


def _pick(rng: Generator, colours: tuple[tuple[int, int, int], ...], spread: float = 12) -> Albedo:
    return vary(rng, colours[rng.integers(len(colours))], spread)


def draw_board(rng: Generator, family: Family) -> BoardLook:
    """A board that goes with the family, more or less."""
    if family is Family.HOPWOOD:
        return _hopwood_board(rng)
    tiles = family is Family.CUBES and rng.random() < 0.85
    woods = (LIGHT_WOODS, MIDDLE_WOODS, DARK_WOODS)[rng.choice(3, p=(0.42, 0.36, 0.22))]
    first = _pick(rng, woods) if rng.random() < 0.93 else vary(rng, any_colour(rng), 5)
    two = rng.random() < 0.25
    second = _pick(rng, LIGHT_WOODS + MIDDLE_WOODS + DARK_WOODS) if two else vary(rng, first, 5)
    plates = 4 if tiles else int(rng.choice((1, 2, 4), p=(0.35, 0.6, 0.05)))
    return BoardLook(
        plates=plates,
        gap=float(rng.uniform(0.02, 0.18) if tiles else rng.uniform(0, 0.04)),
        colours=(first, second),
        checkered=bool(two and rng.random() < 0.3),
        grain=float(rng.uniform(0.0, 0.16)),
        grid=list(Grid)[rng.choice(5, p=(0.05, 0.3, 0.2, 0.2, 0.25))] if not tiles else Grid.NONE,
        line=float(rng.uniform(0.01, 0.06)),
        line_colour=_line_colour(rng, first),
        dots=float(rng.uniform(0.02, 0.07)) if rng.random() < 0.12 else 0.0,
        edge=vary(rng, tuple(c * rng.uniform(0.35, 1.0) for c in first), 5),
        edge_line=float(rng.uniform(0.01, 0.05)) if rng.random() < 0.4 else 0.0,
        thickness=float(rng.uniform(0.03, 0.5)),
        corner=float(rng.uniform(0, 0.12)),
        gloss=float(rng.uniform(0, 1)),
    )


def _line_colour(rng: Generator, first: Albedo) -> Albedo:
    if rng.random() < 0.7:
        return vary(rng, tuple(c * rng.uniform(0.25, 0.85) for c in first), 4)
    return any_colour(rng) if rng.random() < 0.4 else vary(rng, (225, 230, 235), 10)


def _hopwood_board(rng: Generator) -> BoardLook:
    birch = _pick(rng, LIGHT_WOODS[:2] + LIGHT_WOODS[3:4] if rng.random() < 0.85 else LIGHT_WOODS, 9)
    burnt = vary(rng, tuple(c * rng.uniform(0.35, 0.85) for c in birch), 6)
    return BoardLook(
        plates=2,
        gap=float(rng.uniform(0, 0.07)),
        colours=(birch, vary(rng, birch, 5)),
        checkered=False,
        grain=float(rng.uniform(0.0, 0.06)),
        grid=Grid.LINE,
        line=float(rng.uniform(0.006, 0.025)),
        line_colour=burnt,
        dots=0.0,
        edge=vary(rng, (25, 35, 55), 8),
        edge_line=float(rng.uniform(0.005, 0.02)) if rng.random() < 0.6 else 0.0,
        thickness=float(rng.uniform(0.07, 0.12)),
        corner=float(rng.uniform(0.03, 0.14)),
        gloss=float(rng.uniform(0, 0.8)),
    )


def draw_set(rng: Generator, family: Family, board: BoardLook) -> SetLook:
    """A set; its colours know the board's, because makers use one wood for both."""
    if family is Family.CUBES:
        return _cubes(rng)
    if family is Family.HOPWOOD:
        return _hopwood_set(rng, board)
    light, dark = _diagram_colours(rng, board)
    return SetLook(
        family=family,
        style=MarkStyle.draw(rng, outline=bool(rng.random() < 0.06)),
        bodies={Colour.LIGHT: _body(rng, light, dark=False), Colour.DARK: _body(rng, dark, dark=True)},
        half=float(rng.uniform(0.33, 0.46)),
        height=float(rng.uniform(0.05, 0.34)),
        round=bool(rng.random() < 0.3),
        corner=float(rng.uniform(0.0, 0.12)),
        blank=False,
        telling=True,
    )


def _diagram_colours(rng: Generator, board: BoardLook) -> tuple[Albedo, Albedo]:
    while True:
        look = rng.random()
        light, dark = _pick(rng, LIGHT_WOODS), _pick(rng, DARK_WOODS)
        if look < 0.2:
            light, dark = vary(rng, (225, 232, 236), 12), vary(rng, (38, 38, 40), 10)
        elif look < 0.28:
            light, dark = any_colour(rng), any_colour(rng)
        elif look < 0.5:
            light = _pick(rng, LIGHT_WOODS + MIDDLE_WOODS)
            dark = _pick(rng, MIDDLE_WOODS + DARK_WOODS)
        match = rng.random()
        if match < 0.22:
            light = vary(rng, board.colours[0], 5)
        elif match < 0.34:
            dark = vary(rng, board.colours[0], 5)
        if luminance(light) > 2.2 * luminance(dark) and luminance(light) > 0.08:
            return light, dark


def _body(rng: Generator, colour: Albedo, *, dark: bool) -> Body:
    way = rng.random()
    ink_strength = float(rng.uniform(0.75, 1.0))
    if way < (0.45 if dark else 0.66):
        ink = vary(rng, (150, 195, 220), 30) if dark else vary(rng, (30, 40, 55), 14)
    elif way < (0.82 if dark else 0.8):
        factor = rng.uniform(0.25, 0.72)
        ink = vary(rng, tuple(c * factor for c in colour), 3)
    else:
        ink = _pick(rng, _INKS)
    ratio = (luminance(ink) + 0.004) / (luminance(colour) + 0.004)
    if 0.72 < ratio < 1.4:
        ink = vary(rng, (170, 210, 230), 20) if dark else vary(rng, (25, 32, 45), 10)
    return Body(
        colour=colour,
        grain=float(rng.uniform(0.0, 0.2 if dark else 0.14)),
        edge=vary(rng, tuple(c * rng.uniform(0.45, 1.0) for c in colour), 4),
        ink=ink,
        ink_strength=ink_strength,
        relief=float(rng.choice((0.0, rng.uniform(0.05, 0.5)), p=(0.6, 0.4))),
        gloss=float(rng.uniform(0, 1)),
    )


def _hopwood_set(rng: Generator, board: BoardLook) -> SetLook:
    birch, walnut = vary(rng, board.colours[0], 5), _pick(rng, DARK_WOODS[:3] + DARK_WOODS[5:], 9)
    bodies = {}
    for colour, wood in ((Colour.LIGHT, birch), (Colour.DARK, walnut)):
        burnt = tuple(c * rng.uniform(0.3, 0.75 if colour is Colour.LIGHT else 0.86) for c in wood)
        if colour is Colour.DARK and rng.random() < 0.15:
            burnt = tuple(c * rng.uniform(1.25, 1.7) for c in wood)
        bodies[colour] = Body(
            colour=wood,
            grain=float(rng.uniform(0.0, 0.07 if colour is Colour.LIGHT else 0.26)),
            edge=vary(rng, (28, 38, 58), 10) if rng.random() < 0.75 else vary(rng, wood, 8),
            ink=vary(rng, burnt, 3),
            ink_strength=float(rng.uniform(0.6, 1.0)),
            relief=float(rng.uniform(0, 0.4)) if rng.random() < 0.7 else 0.0,
            gloss=float(rng.uniform(0, 1)),
        )
    return SetLook(
        family=Family.HOPWOOD,
        style=MarkStyle.draw(rng, outline=True),
        bodies=bodies,
        half=float(rng.uniform(0.36, 0.42)),
        height=float(rng.uniform(0.06, 0.14)),
        round=False,
        corner=float(rng.uniform(0.03, 0.1)),
        blank=False,
        telling=True,
    )


def _cubes(rng: Generator) -> SetLook:
    while True:
        first = _pick(rng, _CUBE_COLOURS + LIGHT_WOODS[:2] + DARK_WOODS[:2]) if rng.random() < 0.8 else any_colour(rng)
        second = _pick(rng, _CUBE_COLOURS + LIGHT_WOODS[:2] + DARK_WOODS[:2]) if rng.random() < 0.8 else any_colour(rng)
        light, dark = sorted((first, second), key=luminance, reverse=True)
        ratio = (luminance(light) + 0.003) / (luminance(dark) + 0.003)
        unlike = np.abs(np.subtract(light, dark)).sum() > 90
        if unlike and (ratio > _TELLING_RATIO or ratio < _BLURRED_RATIO):
            break
    half = float(rng.uniform(0.16, 0.32))
    return SetLook(
        family=Family.CUBES,
        style=MarkStyle.draw(rng, outline=False),
        bodies={Colour.LIGHT: _plain(rng, light), Colour.DARK: _plain(rng, dark)},
        half=half,
        height=2 * half * float(rng.uniform(0.8, 1.1)),
        round=bool(rng.random() < 0.06),
        corner=float(rng.uniform(0, 0.05)),
        blank=True,
        telling=ratio > _TELLING_RATIO,
    )


def _plain(rng: Generator, colour: Albedo) -> Body:
    return Body(colour, float(rng.uniform(0, 0.06)), vary(rng, colour, 3), colour, 0.0, 0.0, float(rng.uniform(0, 1)))


def draw_placed(rng: Generator, pieces: SetLook) -> list[Placed]:
    """Pieces on some squares, and spare ones beside the board."""
    fill = float(rng.choice((0.0, rng.uniform(0.05, 0.3), rng.uniform(0.3, 1.0)), p=(0.04, 0.28, 0.68)))
    bias = float(rng.choice((0.5, rng.random()), p=(0.7, 0.3)))
    loose = float(rng.uniform(0.2, 1.0))
    placed = []
    for square in range(SIDE * SIDE):
        if rng.random() < fill:
            row, column = divmod(square, SIDE)
            dx, dy = np.clip(rng.normal(0, 0.055 * loose, 2), -0.15, 0.15)
            if pieces.family is Family.CUBES:
                dx, dy = rng.uniform(-0.2, 0.2, 2)
            spot = (column + 0.5 + float(dx), row + 0.5 + float(dy))
            placed.append(_piece(rng, pieces, spot, loose=loose, bias=bias, square=square))
    for _ in range(rng.integers(0, 6)):
        along, beyond = rng.uniform(-1, SIDE + 1), rng.uniform(0.55, 1.2)
        side = rng.integers(4)
        spots: tuple[tuple[float, float], ...] = (
            (along, -beyond),
            (along, SIDE + beyond),
            (-beyond, along),
            (SIDE + beyond, along),
        )
        placed.append(_piece(rng, pieces, spots[side], loose=1.0, bias=bias, square=None))
    return placed


def _piece(
    rng: Generator, pieces: SetLook, spot: tuple[float, float], *, loose: float, bias: float, square: int | None
) -> Placed:
    wander = np.clip(rng.normal(0, np.radians(6) * loose), -np.radians(22), np.radians(22))
    if pieces.family is Family.CUBES or square is None:
        wander = rng.uniform(0, 2 * np.pi)
    elif pieces.round:
        wander = np.clip(wander, -np.radians(15), np.radians(15))
    quarter = rng.integers(4) * np.pi / 2
    colour = Colour.LIGHT if rng.random() < bias else Colour.DARK
    kind = KINDS[rng.integers(4)]
    return Placed(*spot, 0.0, float(wander + quarter), colour, kind, square)


def draw_camera(rng: Generator, family: Family) -> Camera:
    """From straight above to 60 degrees oblique, 18 to 110 pixels a square."""
    tilt = np.radians(rng.uniform(0, 35) if rng.random() < 0.55 else rng.uniform(20, 62))
    least = 38 if rng.random() < 0.75 else 30 if family is Family.HOPWOOD else 18
    return Camera(
        tilt=float(tilt),
        turn=float(rng.uniform(0, 2 * np.pi)),
        roll=float(rng.normal(0, 0.1)),
        distance=float(rng.uniform(7, 28)),
        aim=(float(rng.uniform(-2, 6)), float(rng.uniform(-2, 6))),
        scale=float(np.exp(rng.uniform(np.log(least), np.log(110)))),
    )


def draw_light(rng: Generator) -> Light:
    """A lamp, a window or an overcast room."""
    height = rng.uniform(3, 25)
    angle, away = rng.uniform(0, 2 * np.pi), height * np.tan(np.radians(rng.uniform(3, 68)))
    room = rng.uniform(0.1, 0.95)
    warm = rng.normal(0, 0.18)
    glare = None
    if rng.random() < 0.18:
        x, y = rng.uniform(-1, 5, 2).tolist()
        glare = (x, y, float(rng.uniform(0.4, 2.5)), float(rng.uniform(0.05, 1.2)))
    shade = None
    if rng.random() < 0.2:
        shade = (float(rng.uniform(0, 7)), float(rng.uniform(-2, 2)), float(rng.uniform(0.05, 1)),
                 float(rng.uniform(0.3, 0.95)))  # fmt: skip
    return Light(
        lamp=(2 + float(away * np.cos(angle)), 2 + float(away * np.sin(angle)), float(height)),
        lamp_colour=_tint(rng, warm, 1 - room),
        room_colour=_tint(rng, rng.normal(0, 0.12), room),
        softness=float(rng.choice((rng.uniform(0.02, 0.2), rng.uniform(0.2, 1.2)))),
        glare=glare,
        shade=shade,
    )


def _tint(rng: Generator, warm: float, strength: float) -> Albedo:
    green = 1 + rng.normal(0, 0.05)
    return strength * float(np.exp(-warm)), strength * float(green), strength * float(np.exp(warm))


def draw_lens(rng: Generator, scale: float) -> Lens:
    """From a good camera to a cheap webcam in the evening."""
    rough = rng.random() ** 2
    shaken = rng.random() < 0.08
    return Lens(
        exposure=float(np.exp(rng.uniform(np.log(0.13), np.log(0.95)))),
        gamma=float(rng.uniform(1.8, 2.6)),
        contrast=float(rng.uniform(0.0, 0.5)),
        saturation=float(rng.uniform(0.6, 1.35)),
        blur=float(rng.uniform(0.2, 0.9) + rough * rng.uniform(0, 0.022) * scale),
        shake=(float(rng.uniform(0, 0.12) * scale), float(rng.uniform(0, np.pi))) if shaken else (0.0, 0.0),
        noise=float(rough * rng.uniform(0, 14)),
        noise_blur=float(rng.choice((0.0, rng.uniform(0.4, 1.2)))),
        sharpen=float(rng.choice((0.0, rng.uniform(0.2, 1.2)), p=(0.6, 0.4))),
        jpeg=int(rng.choice((0.0, rng.uniform(40, 80), rng.uniform(80, 97)), p=(0.2, 0.3, 0.5))),
        vignette=float(rng.uniform(0, 0.3)),
    )
