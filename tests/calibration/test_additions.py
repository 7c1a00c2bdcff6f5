"""Sets that the backbone has not learnt from: filled and stencilled marks, domed pieces, knots in the board's wood."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training.additions import domed, filled, knotted, stencilled
from calibration.training.canvas import Canvas
from calibration.training.chance import draw_scene
from calibration.training.dataset import Split, Studio
from calibration.training.marks import MarkStyle, mark
from calibration.training.render import render
from calibration.training.scene import Family, Knot, plain
from companion.rules import Kind

CIRCLES = (Kind.PUSHER, Kind.PULLER)


@pytest.fixture(scope="module")
def fabrics():
    return Fabrics(np.random.default_rng(1), count=3)


def drawn_style(seed, *, outline):
    return MarkStyle.draw(np.random.default_rng(seed), outline=outline)


def a_scene(family):
    drawn = (draw_scene(np.random.default_rng(seed), family) for seed in range(500))
    return next(s for s in drawn if plain(s) and sum(one.square is not None for one in s.placed) > 7)


def parts(mask):
    return cv2.connectedComponents((mask > 0.5).astype(np.uint8))[0] - 1


def test_filled_marks_reach_as_far_as_outlined_ones_and_their_rings_are_bands():
    for seed in range(20):
        style = drawn_style(seed, outline=True)
        for kind in Kind:
            thin, solid = mark(style, kind) > 0.5, mark(replace(style, filled=True), kind) > 0.5
            assert kind not in CIRCLES or solid.sum() > 1.1 * thin.sum()
            assert np.argwhere(solid).min(axis=0) == pytest.approx(np.argwhere(thin).min(axis=0), abs=4)


@pytest.mark.parametrize("kind", CIRCLES)
def test_bridges_cut_a_stencils_circles_into_parts(kind):
    rng, scene = np.random.default_rng(3), a_scene(Family.DIAGRAM)
    for _ in range(20):
        style = replace(stencilled(rng, scene).pieces.style, core=0.0, frame=0.0)
        assert parts(mark(style, kind)) == style.bridges
        assert parts(mark(replace(style, bridges=0), kind)) == 1


def test_a_stencil_leaves_crosses_as_they_are():
    style = stencilled(np.random.default_rng(1), a_scene(Family.DIAGRAM)).pieces.style
    for kind in set(Kind) - set(CIRCLES):
        np.testing.assert_array_equal(mark(style, kind), mark(replace(style, bridges=0), kind))


def test_a_dome_is_brighter_towards_the_lamp_and_lies_where_it_lay(fabrics):
    scene = a_scene(Family.DIAGRAM)
    light = replace(scene.light, lamp=(18.0, 2.0, 12.0), room_colour=(0.1,) * 3, shade=None)
    bodies = {colour: replace(body, gloss=0.0, grain=0.0) for colour, body in scene.pieces.bodies.items()}
    flat = replace(scene, light=light, pieces=replace(scene.pieces, bodies=bodies, round=True, height=0.1))
    high = replace(flat, pieces=replace(flat.pieces, dome=0.6))
    view = Canvas(np.random.default_rng(0), flat, fabrics).view
    before, after = (render(np.random.default_rng(3), each, fabrics) for each in (flat, high))
    np.testing.assert_array_equal(before.targets, after.targets)
    places = np.array([(one.x, one.y) for one in flat.placed if one.square is not None])
    beside = 0.85 * flat.pieces.half
    lit, shaded = (
        [after.image[y, x].mean() / max(1.0, before.image[y, x].mean()) for x, y in np.round(seen).astype(int)]
        for seen in (view.project(places + np.array((side, 0)) * beside, flat.pieces.height) for side in (1, -1))
    )
    assert np.median(lit) > 1.05
    assert np.median(shaded) < 0.9


def test_a_polished_dome_shows_the_lamp(fabrics):
    scene = a_scene(Family.DIAGRAM)
    bodies = {
        colour: replace(body, gloss=1.0, colour=(20.0, 20.0, 20.0)) for colour, body in scene.pieces.bodies.items()
    }
    camera = replace(scene.camera, tilt=0.1)
    light = replace(scene.light, lamp=(4.0, 3.0, 15.0), shade=None)
    flat = replace(scene, light=light, camera=camera, pieces=replace(scene.pieces, bodies=bodies, blank=True))
    dome = replace(flat, pieces=replace(flat.pieces, dome=0.6))
    view = Canvas(np.random.default_rng(0), flat, fabrics).view
    places = np.array([(one.x, one.y) for one in flat.placed if one.square is not None])
    spots = np.round(view.project(places, flat.pieces.height)).astype(int)
    reach = int(0.5 * flat.pieces.half * flat.camera.scale)
    dull, bright = (
        [int(image[y - reach : y + reach, x - reach : x + reach].max()) for x, y in spots]
        for image in (render(np.random.default_rng(3), each, fabrics).image for each in (flat, dome))
    )
    assert np.median(bright) > np.median(dull) + 60


@pytest.mark.parametrize("way", [filled, stencilled, domed])
def test_nothing_else_about_a_scene_is_changed(way):
    scene = a_scene(Family.HOPWOOD)
    changed = way(np.random.default_rng(2), scene)
    assert changed != scene
    assert replace(changed, pieces=scene.pieces) == scene


def test_knots_change_nothing_but_the_wood():
    scene = a_scene(Family.HOPWOOD)
    changed = knotted(np.random.default_rng(2), scene)
    assert changed.board.knots
    assert replace(changed, board=scene.board) == scene


def test_a_knot_is_dark_where_it_lies_and_the_wood_far_from_it_is_as_it_was(fabrics):
    scene = replace(a_scene(Family.DIAGRAM), placed=[], things=[], hands=0)
    knot = Knot(1.5, 2.5, radius=0.2, squash=0.8, turn=0.1, dark=0.3, rings=0.2, seed=5)
    clear, marked = (
        render(np.random.default_rng(3), replace(scene, board=replace(scene.board, knots=knots)), fabrics).image
        for knots in ((), (knot,))
    )
    view = Canvas(np.random.default_rng(0), scene, fabrics).view
    (x, y), (far_x, far_y) = np.round(view.project(np.array([[1.5, 2.5], [3.5, 0.5]]), 0.0)).astype(int)
    assert marked[y, x].mean() < 0.8 * clear[y, x].mean()
    assert np.abs(marked[far_y, far_x].astype(int) - clear[far_y, far_x]).max() < 12


def test_a_knot_beyond_the_board_leaves_it_as_it_is(fabrics):
    scene = a_scene(Family.DIAGRAM)
    knot = Knot(-30.0, 2.5, radius=0.2, squash=0.8, turn=0.1, dark=0.3, rings=0.2, seed=5)
    clear, marked = (
        render(np.random.default_rng(3), replace(scene, board=replace(scene.board, knots=knots)), fabrics).image
        for knots in ((), (knot,))
    )
    assert np.array_equal(clear, marked)


def scenes_of(split, count):
    studio = Studio(split)
    return [studio.scene(number) for number in range(count)]


def ways_of(scene):
    pieces = scene.pieces
    return {
        name
        for name, told in (
            ("filled", pieces.style.filled),
            ("stencilled", pieces.style.bridges > 0),
            ("domed", pieces.dome > 0),
            ("knotted", bool(scene.board.knots)),
        )
        if told
    }


def test_every_board_that_is_drawn_to_be_taught_has_what_is_new_and_no_other_to_learn_from_has_additions():
    for sort in ("filled", "knotted"):
        assert all(ways_of(scene) == {sort} for scene in scenes_of(Split[sort.upper()], 30))
    for split in (Split.TRAIN, Split.LIT, Split.TRACED):
        assert not any(ways_of(scene) for scene in scenes_of(split, 80))


@pytest.mark.parametrize("split", [Split.CALIBRATE, Split.TEST])
def test_what_promises_are_made_of_has_each_of_them_now_and_then(split):
    drawn = scenes_of(split, 150)
    some = [ways_of(scene) for scene in drawn]
    assert set.union(*some) == {"filled", "stencilled", "domed", "knotted"}
    assert sum(map(bool, some)) < len(some) / 2
    assert not any(scene.pieces.dome for scene in drawn if scene.pieces.blank)
