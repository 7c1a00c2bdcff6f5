"""What is odd about some of the boards that networks learn from, and what is said to be the truth about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training import oddities
from calibration.training.chance import draw_scene
from calibration.training.dataset import Split, Studio
from calibration.training.oddities import with_oddities
from calibration.training.render import render
from calibration.training.scene import SIDE, Family, plain
from calibration.training.things import Make, draw_thing_at
from calibration.training.truth import COVERED, JUDGED
from companion.readings import ALL_CONTENTS

SHARES = ("_CLEARED", "_STREWN", "_FACE_DOWN", "_ASKEW", "_LABELLED", "_FOREIGN", "_VEILED", "_OVEREXPOSED", "_DAPPLED")


@pytest.fixture(scope="module")
def fabrics():
    return Fabrics(np.random.default_rng(1), count=3)


@pytest.fixture
def only(monkeypatch):
    """Makes one thing odd about every table, and nothing else."""

    def choose(name):
        for share in SHARES:
            monkeypatch.setattr(oddities, share, float(share == name))

    return choose


@pytest.fixture(scope="module")
def scene():
    """A plain board of a set with marks, half full."""
    drawn = (draw_scene(np.random.default_rng(seed)) for seed in range(500))
    return next(
        s
        for s in drawn
        if plain(s) and s.pieces.family is Family.DIAGRAM and not s.pieces.round and 6 < on_board(s) < 11
    )


def on_board(scene):
    return sum(piece.square is not None for piece in scene.placed)


def pictured(scene, fabrics):
    return render(np.random.default_rng(3), scene, fabrics)


def test_a_board_is_cleared_and_spare_pieces_stay(only, scene, fabrics):
    only("_CLEARED")
    bare = with_oddities(np.random.default_rng(1), scene)
    assert on_board(bare) == 0
    assert [piece for piece in scene.placed if piece.square is None] == bare.placed
    photo = pictured(bare, fabrics)
    judged = photo.targets[photo.weights > 0]
    assert len(judged) > SIDE
    assert (judged[:, 0] == 1).all()


def test_things_lie_on_free_squares_and_cover_them(only, scene, fabrics):
    only("_STREWN")
    strewn = with_oddities(np.random.default_rng(1), scene)
    squares = [int(thing.y) * SIDE + int(thing.x) for thing in strewn.things]
    assert 1 <= len(squares) <= 3
    assert not set(squares) & {piece.square for piece in scene.placed}
    photo = pictured(strewn, fabrics)
    assert np.array_equal(np.flatnonzero(photo.targets[:, COVERED]), sorted(squares))
    assert (photo.weights[squares] == JUDGED).all()
    assert not np.array_equal(photo.image, pictured(scene, fabrics).image)


@pytest.mark.parametrize("make", list(Make))
def test_every_thing_is_seen_where_it_lies(make, scene, fabrics):
    rng = np.random.default_rng(2)
    thing = next(t for t in (draw_thing_at(rng, 1.5, 2.5) for _ in range(500)) if t.make is make)
    bare = replace(scene, placed=[], hands=0)
    with_it, without = (pictured(s, fabrics).image.astype(int) for s in (replace(bare, things=[thing]), bare))
    changed = np.abs(with_it - without).max(axis=2) > 12
    assert changed.sum() > 40


def test_a_piece_whose_mark_is_underneath_may_be_any_of_its_colour(only, scene, fabrics):
    only("_FACE_DOWN")
    odd = with_oddities(np.random.default_rng(1), scene)
    down = {piece.square: piece.colour for piece in odd.placed if piece.face_down and piece.square is not None}
    assert down
    photo = pictured(odd, fabrics)
    for square, colour in down.items():
        if photo.weights[square]:
            said = [ALL_CONTENTS[i] for i in np.flatnonzero(photo.targets[square])]
            assert len(said) == 4
            assert {piece.colour for piece in said} == {colour}


def test_marks_that_nobody_knows_tell_no_kind(only, scene, fabrics):
    only("_FOREIGN")
    photo = pictured(with_oddities(np.random.default_rng(1), scene), fabrics)
    occupied = photo.targets[(photo.weights == JUDGED) & (photo.targets[:, 0] == 0)]
    assert len(occupied) > 4
    assert (np.sort(occupied, axis=1)[:, -4:] == 0.25).all()


def test_only_pieces_that_show_their_own_sides_are_turned_by_any_angle(only, scene):
    only("_ASKEW")
    turned = with_oddities(np.random.default_rng(1), scene)
    assert [p.turn for p in turned.placed] != [p.turn for p in scene.placed]
    round_ = replace(scene, pieces=replace(scene.pieces, round=True))
    assert with_oddities(np.random.default_rng(1), round_) == round_


@pytest.mark.parametrize("share", ["_LABELLED", "_VEILED", "_OVEREXPOSED"])
def test_what_else_is_odd_changes_the_picture_and_not_what_lies_there(only, share, scene, fabrics):
    only(share)
    odd = pictured(with_oddities(np.random.default_rng(4), scene), fabrics)
    usual = pictured(scene, fabrics)
    assert np.abs(odd.image.astype(int) - usual.image).max() > 30
    both = (odd.weights > 0) & (usual.weights > 0)
    assert both.sum() > 8
    assert np.array_equal(odd.targets[both], usual.targets[both])


def test_nothing_is_odd_about_what_promises_are_measured_on():
    for split in (Split.CALIBRATE, Split.TEST, Split.TRACED):
        studio = Studio(split)
        for number in range(40):
            scene = studio.scene(number)
            assert not scene.things
            assert scene.pieces.foreign is None
            assert not any(piece.face_down for piece in scene.placed)


def test_leaves_throw_shadows_that_change_no_truth(only, scene, fabrics):
    only("_DAPPLED")
    dappled = with_oddities(np.random.default_rng(1), scene)
    leaves = dappled.light.leaves
    before, after = pictured(scene, fabrics), pictured(dappled, fabrics)
    darker = before.image.astype(int).sum(axis=2) - after.image.astype(int).sum(axis=2)
    assert 0.02 < (darker > 20).mean() < 0.7
    assert (darker < -60).mean() < 0.01
    assert leaves.spots
    both = (before.weights == JUDGED) & (after.weights == JUDGED)
    assert both.sum() > 10
    assert np.array_equal(before.targets[both], after.targets[both])
