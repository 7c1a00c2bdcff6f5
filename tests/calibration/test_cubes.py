"""Plain cubes of any two colours are enrolled from two pictures, and read under other lamps from other sides."""

from __future__ import annotations

import base64
import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration import composing
from calibration.check import examine
from calibration.composing import CubeComposer
from calibration.cubes import LearntCubes, cube_composer, learn_cubes
from calibration.enrolment import ARRANGEMENT, EnrolmentError
from calibration.telling_apart import colours_in_words, name_of_colour, refuse_bad_colours
from calibration.training.artwork import CubeStudio
from calibration.training.truth import JUDGED
from companion.__main__ import main
from companion.profile import EnrolledCubes, Enrolment, Profile
from companion.readings import ALL_CONTENTS, colours_only
from companion.rules import Colour, Layout
from companion.vision.cubes import CUBE_TRAITS, STATES, cube_fingerprint
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardPose

BOARD = Layout.parse("4x4")
SWAPPED = 21
"""Light's cubes are black and Dark's yellow, which nobody would guess."""


def corners_text(corners):
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)


def sight(shot):
    return shot.image, BoardPose(tuple(map(tuple, shot.corners.tolist())), 1.0)


@pytest.fixture(scope="module")
def studio():
    return CubeStudio(SWAPPED)


@pytest.fixture(scope="module")
def shots(studio):
    return studio.empty(), studio.enrolled()


@pytest.fixture(scope="module")
def folder(shots, tmp_path_factory):
    path = tmp_path_factory.mktemp("cubes")
    for name, shot in zip(("empty", "cubes"), shots, strict=True):
        cv2.imwrite(str(path / f"{name}.png"), shot.image)
    return path


def enrol(folder, corners, *more):
    pictures = ["--empty", str(folder / "empty.png"), "--pieces", str(folder / "cubes.png"), "--variant", "green-box"]
    told = [*pictures, *more, "--corners", corners_text(corners), "-o", str(folder / "box.json")]
    return CliRunner().invoke(main, ["calibrate", "enrol", *told])


@pytest.mark.slow
def test_cubes_whose_light_ones_are_the_darker_ones_are_read_on_other_tables(studio, shots, folder):
    done = enrol(folder, shots[1].corners)
    assert done.exit_code == 0, done.output
    assert "knows the sixteen cubes. Light's are black and Dark's yellow; if not, take the picture" in done.output
    known = Profile.read(folder / "box.json")
    assert known.enrolment is None
    assert known.variant == "green-box"
    right = wrong = count = 0
    for hands in (0, 0, 0, 1):
        shot = studio.game(hands=hands)
        path = folder / "game.png"
        cv2.imwrite(str(path), shot.image)
        corners = corners_text(shot.corners)
        read = CliRunner().invoke(
            main, ["read", "--profile", str(folder / "box.json"), "--corners", corners, "--json", str(path)]
        )
        assert read.exit_code == 0, read.output
        squares = json.loads(read.output)["squares"]
        for square, truth, weight, covered in zip(BOARD, shot.contents, shot.weights, shot.covered, strict=True):
            if weight == JUDGED and not covered:
                said, shown = set(squares[str(square)]), in_words(colours_only(truth))
                right, wrong, count = right + (said == shown), wrong + (not said & shown), count + 1
    assert wrong == 0
    assert right >= 0.95 * count
    checked = CliRunner().invoke(
        main, ["calibrate", "check", str(folder / "cubes.png"), "--profile", str(folder / "box.json")]
    )
    assert "both colours are told apart" in checked.output


def in_words(contents):
    return {str(content or ".") for i, content in enumerate(ALL_CONTENTS) if contents >> i & 1}


def test_an_arrangement_whose_colours_lie_left_and_right_is_refused(shots, folder):
    refused = enrol(folder, np.roll(shots[1].corners, -1, axis=0))
    assert refused.exit_code == 1
    assert "do not lie as Light's on rows 1 and 2 and Dark's on rows 3 and 4" in refused.output


@pytest.mark.parametrize("half", [0.15, 0.18, 0.25, 0.36])
@pytest.mark.parametrize("cube", [(165, 197, 240), (40, 40, 190), (150, 190, 215), (25, 25, 28)])
def test_the_colour_of_a_cube_is_measured_not_that_of_its_shadow_or_tile(cube, half):
    ground = np.full((400, 400, 3), (150, 190, 215), np.uint8)
    pieces, reach = ground.copy(), round(80 * half)
    for x, y in [(80 + 80 * column, 80 + 80 * row) for column in range(4) for row in range(4)]:
        pieces[y : y + round(1.3 * reach), x : x + round(1.3 * reach)] = (60, 76, 86)
        pieces[y - reach : y + reach, x - reach : x + reach] = cube
    noise = np.random.default_rng(0).normal(0, 3, pieces.shape)
    pieces = np.clip(cv2.GaussianBlur(pieces, (0, 0), 1) + noise, 0, 255).astype(np.uint8)
    contents = [ALL_CONTENTS.index(piece) for piece in ARRANGEMENT]
    colours = CubeComposer(ground, pieces, contents, BOARD, 0).colours
    assert np.abs(colours - cube).max() < 12


def test_cubes_that_lean_out_of_the_picture_are_drawn_as_far_as_they_are_seen(monkeypatch):
    monkeypatch.setattr(composing, "_STEEPEST", np.radians(80))
    ground = np.full((400, 400, 3), (150, 190, 215), np.uint8)
    contents = [ALL_CONTENTS.index(piece) for piece in ARRANGEMENT]
    composer, rng = CubeComposer(ground, ground, contents, BOARD, 0), np.random.default_rng(0)
    assert all(composer.compose(rng).view.shape == (200, 200, 3) for _ in range(12))


def test_cubes_of_one_colour_only_are_refused(shots, monkeypatch):
    monkeypatch.setattr(CubeComposer, "_colour", lambda *_: np.array((60.0, 60.0, 60.0)))
    composer = cube_composer(*map(sight, shots), BOARD)
    with pytest.raises(EnrolmentError, match="look too much alike"):
        learn_cubes(composer, Recogniser.bundled(), boards=30)


def arranged(light, dark):
    return np.array([light if piece.colour is Colour.LIGHT else dark for piece in ARRANGEMENT], np.float64)


def enrolled(half):
    return EnrolledCubes(
        backbone=cube_fingerprint(),
        states=base64.b64encode(bytes(4 * STATES * (CUBE_TRAITS + 1))).decode(),
        direction=base64.b64encode(bytes(4 * CUBE_TRAITS)).decode(),
        middle=0.0,
        half=half,
        own=1.0,
        shift=1.0,
        stretch=0.2,
    )


def said(light, dark, apart=5.0):
    return colours_in_words(LearntCubes(enrolled(apart), arranged(light, dark), apart), "p.jpg")


def test_what_is_said_of_cubes_names_whose_they_are():
    assert said((230, 230, 235), (40, 40, 190)) == (
        "Light's are white and Dark's red; if not, take the picture from Light's side. "
        "The two colours are told apart well."
    )
    assert said((205, 208, 210), (230, 230, 235), apart=2.0) == (
        "Light's are the darker white and Dark's the brighter white; if not, take the picture from Light's side. "
        "They look much alike, and will often be asked about; a picture like p.jpg in other light may help."
    )


def test_cubes_whose_colours_do_not_show_are_refused():
    burnt = arranged((205, 254, 240), (1, 1, 254))
    with pytest.raises(
        EnrolmentError, match=r"both colours are burnt out in p.jpg: take both pictures with less light"
    ):
        refuse_bad_colours(burnt, "p.jpg", anyway=False)
    refuse_bad_colours(burnt, "p.jpg", anyway=True)
    refuse_bad_colours(arranged((254, 255, 255), (1, 1, 200)), "p.jpg", anyway=False)


def test_cubes_that_do_not_lie_in_halves_are_refused():
    colours = arranged((230, 230, 235), (40, 40, 190))
    colours[[0, 15]] = colours[[15, 0]]
    refuse_bad_colours(colours, "p.jpg", anyway=False)
    colours[[1, 14]] = colours[[14, 1]]
    with pytest.raises(EnrolmentError, match=r"the cubes in p.jpg do not lie as Light's on rows 1 and 2"):
        refuse_bad_colours(colours, "p.jpg", anyway=True)


@pytest.mark.parametrize(
    ("bgr", "name"),
    [
        ((35, 35, 38), "black"),
        ((120, 120, 125), "grey"),
        ((230, 230, 235), "white"),
        ((40, 40, 190), "red"),
        ((0, 120, 240), "orange"),
        ((162, 207, 233), "beige"),
        ((30, 60, 120), "brown"),
        ((47, 49, 70), "brown"),
        ((40, 190, 220), "yellow"),
        ((60, 150, 60), "green"),
        ((190, 70, 40), "blue"),
        ((150, 60, 110), "violet"),
        ((60, 46, 85), "violet"),
        ((170, 100, 230), "pink"),
        ((200, 190, 250), "pink"),
    ],
)
def test_colours_are_named_as_people_do(bgr, name):
    assert name_of_colour(bgr) == name


@pytest.mark.parametrize(("half", "good"), [(5.0, True), (2.0, False)])
def test_before_a_game_it_is_told_whether_the_colours_are_far_enough_apart(shots, half, good):
    known = Profile(cubes=enrolled(half))
    findings = {found.what: found for found in examine(*sight(shots[1]), BOARD, known)}
    assert findings["set"].good is good
    assert ("look much alike" in findings["set"].found) is not good


def test_cubes_that_were_enrolled_as_pieces_are_to_be_enrolled_again(shots):
    known = Profile(enrolment=Enrolment.model_construct(), variant="green-box")
    findings = {found.what: found for found in examine(*sight(shots[1]), BOARD, known)}
    assert findings["set"].improve == "Enrol the cubes again."
