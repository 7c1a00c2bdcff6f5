"""What is odd about some tables: bare boards, things that are no pieces, pieces face down, stickers, veils, leaves.

Only networks that learn see these, so that they know them when they meet them; what is promised is promised without.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibration.textures import any_colour, vary
from calibration.training.marks import doodle
from calibration.training.scene import SIDE, Family, Label, Leaves
from calibration.training.things import draw_thing_at
from companion.rules import Kind

if TYPE_CHECKING:
    from numpy.random import Generator

    from calibration.training.scene import Scene, SetLook

_CLEARED = 0.08
"""How often no piece is on the board; one in odd light is else taken for sixteen pieces without a mark."""
_STREWN = 0.14
"""How often things lie on the board."""
_FACE_DOWN = 0.03
"""How often there are pieces whose mark is underneath, and then of how many."""
_ASKEW = 0.12
"""How often there are square pieces that are turned by any angle."""
_OF_THESE = 0.2
_LABELLED = 0.08
_FOREIGN = 0.05
"""How often the marks are none that anybody knows."""
_VEILED = 0.07
_OVEREXPOSED = 0.04
_DAPPLED = 0.08
"""How often leaves throw shadows on the board; one on a bare square is else taken for a piece without a mark."""
_BRIGHT = 330.0
"""From this sum of its channels on paper is printed on in black."""


def with_oddities(rng: Generator, scene: Scene) -> Scene:
    """The scene, at times with what is odd."""
    if rng.random() < _CLEARED:
        scene = replace(scene, placed=[piece for piece in scene.placed if piece.square is None])
    if rng.random() < _STREWN:
        scene = _strewn(rng, scene)
    if rng.random() < _FACE_DOWN:
        scene = _some_face_down(rng, scene)
    if rng.random() < _ASKEW:
        scene = _some_askew(rng, scene)
    if rng.random() < _LABELLED and not scene.pieces.blank:
        scene = replace(scene, pieces=_labelled(rng, scene.pieces))
    if rng.random() < _FOREIGN and not scene.pieces.blank:
        foreign = {kind: doodle(rng) for kind in Kind}
        scene = replace(scene, pieces=replace(scene.pieces, foreign=foreign))
    if rng.random() < _VEILED:
        scene = _veiled(rng, scene)
    if rng.random() < _OVEREXPOSED:
        scene = replace(scene, lens=replace(scene.lens, exposure=float(rng.uniform(0.95, 1.7))))
    if rng.random() < _DAPPLED:
        scene = replace(scene, light=replace(scene.light, leaves=_leaves(rng)))
    return scene


def _strewn(rng: Generator, scene: Scene) -> Scene:
    """One to three things on squares that bear no piece."""
    free = sorted(set(range(SIDE * SIDE)) - {piece.square for piece in scene.placed})
    chosen = rng.permutation(free)[: rng.integers(1, 4)].tolist()
    places = [(square % SIDE + 0.5, square // SIDE + 0.5) for square in chosen]
    return replace(scene, things=[draw_thing_at(rng, x, y) for x, y in places])


def _some_face_down(rng: Generator, scene: Scene) -> Scene:
    return replace(scene, placed=[replace(one, face_down=bool(rng.random() < _OF_THESE)) for one in scene.placed])


def _some_askew(rng: Generator, scene: Scene) -> Scene:
    """Square pieces show their own sides when they are turned; marks on round ones would become others."""
    if scene.pieces.round or scene.pieces.family is Family.CUBES:
        return scene
    placed = [
        replace(one, turn=float(rng.uniform(0, 2 * np.pi))) if rng.random() < _OF_THESE else one for one in scene.placed
    ]
    return replace(scene, placed=placed)


def _labelled(rng: Generator, pieces: SetLook) -> SetLook:
    """The set with a sticker on each piece: paper, whose mark is printed in one ink, and whose colour its rim shows."""
    round_ = pieces.round or bool(rng.random() < 0.5)
    paper = vary(rng, (228, 232, 235), 12) if rng.random() < 0.7 else any_colour(rng)
    label = Label(paper, float(rng.uniform(0.7, 0.95)), round_)
    ink = (25.0, 28.0, 30.0) if sum(paper) > _BRIGHT else (230.0, 232.0, 235.0)
    bodies = {colour: replace(body, label=label, ink=ink, relief=0.0) for colour, body in pieces.bodies.items()}
    return replace(pieces, bodies=bodies)


def _veiled(rng: Generator, scene: Scene) -> Scene:
    """A lamp shines into the lens, or is mirrored in whatever lies there: a soft spot of light over everything."""
    x, y = rng.uniform(-0.5, SIDE + 0.5, 2).tolist()
    spot = (x, y, float(rng.uniform(0.5, 2.2)), float(rng.uniform(0.15, 1.3)))
    bodies = {colour: replace(body, gloss=1.0) for colour, body in scene.pieces.bodies.items()}
    return replace(
        scene,
        light=replace(scene.light, glare=spot),
        pieces=replace(scene.pieces, bodies=bodies),
        board=replace(scene.board, gloss=1.0),
    )


def _leaves(rng: Generator) -> Leaves:
    """A few to many leaves, of about one size, with edges as sharp as those of a sunbeam or as soft as of a lamp."""
    size, around = float(rng.uniform(0.15, 0.8)), (-0.7, SIDE + 0.7)
    spots = []
    for _ in range(rng.integers(2, 14)):
        x, y = rng.uniform(*around, 2).tolist()
        long = size * float(rng.uniform(0.6, 1.4))
        spots.append((x, y, long, long * float(rng.uniform(0.4, 1.0)), float(rng.uniform(0, np.pi))))
    return Leaves(tuple(spots), float(rng.uniform(0.01, 0.25)), float(rng.uniform(0.3, 0.95)))
