"""Plain cubes of two enrolled colours: told by their whole board, in whatever light; a damaged profile is refused."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from companion.errors import ProfileError
from companion.profile import EnrolledCubes, Enrolment, Profile
from companion.readings import ANYTHING, EMPTY, of_colour
from companion.rules import Colour
from companion.vision.cubes import CUBE_TRAITS, STATES, ColourScale, CubeLook, CubeRecogniser, cube_fingerprint
from companion.vision.pieces import CLASSES, Recogniser

SCALE = ColourScale(middle=0.0, half=5.0, own=1.0, shift=2.0, stretch=0.3)
LIGHT, DARK = of_colour(Colour.LIGHT), of_colour(Colour.DARK)


def light(*places, cubes=None):
    """How likely cubes at these places are light."""
    return SCALE.shares(np.array(places), np.ones(len(places)) if cubes is None else np.array(cubes))[:, 0]


def test_cubes_where_light_and_dark_ones_usually_lie_are_told():
    assert (light(5.2, 4.5, -4.9, -5.5) > 0.999).tolist() == [True, True, False, False]
    assert (light(5.2, 4.5, -4.9, -5.5) < 0.001).tolist() == [False, False, True, True]


def test_another_lamp_moves_all_cubes_alike():
    assert (light(0.3, 0.6, -9.0, -9.4) > 0.995).tolist() == [True, True, False, False]
    assert (light(8.7, 8.9, -0.2, -0.5) < 0.005).tolist() == [False, False, True, True]


def test_in_flat_light_the_colours_draw_nearer_to_each_other():
    assert (light(2.8, 3.0, 2.7, -2.8, -2.6, -3.1) > 0.995).tolist() == [True] * 3 + [False] * 3


def test_a_cube_halfway_between_is_unclear():
    assert 0.1 < light(5.0, 0.0, -5.0)[1] < 0.9


def test_cubes_of_one_colour_only_that_lie_between_are_unclear():
    assert (np.abs(light(0.2, -0.1, 0.1) - 0.5) < 0.4).all()


def test_what_is_no_cube_tells_nothing_of_the_light():
    assert light(0.3, 0.6, -9.0, -9.4, 30.0, 30.0, cubes=[1, 1, 1, 1, 0, 0])[:4] == pytest.approx(
        light(0.3, 0.6, -9.0, -9.4), abs=1e-3
    )


def encoded(numbers):
    return base64.b64encode(np.asarray(numbers, "<f4").tobytes()).decode()


def enrolled(**changed):
    told = {
        "backbone": cube_fingerprint(),
        "states": encoded(np.zeros((STATES, CUBE_TRAITS + 1))),
        "direction": encoded(np.zeros(CUBE_TRAITS)),
        "middle": 0.0,
        "half": 5.0,
        "own": 1.0,
        "shift": 2.0,
        "stretch": 0.3,
    }
    return EnrolledCubes(**{**told, **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"backbone": "another"}, "another version of the recogniser"),
        ({"states": encoded(np.zeros(7))}, "damaged"),
        ({"states": encoded(np.zeros((STATES, 9))), "direction": encoded(np.zeros(9))}, "damaged"),
        ({"direction": encoded(np.full(CUBE_TRAITS, np.nan))}, "damaged"),
        ({"direction": encoded(np.full(CUBE_TRAITS, 1e9))}, "damaged"),
        ({"direction": base64.b64encode(b"abc").decode()}, "damaged"),
        ({"states": "", "direction": ""}, "damaged"),
    ],
)
def test_cubes_that_cannot_be_read_so_are_to_be_enrolled_again(changed, said):
    with pytest.raises(ProfileError, match=said):
        CubeLook.of(enrolled(**changed))


def test_a_profile_knows_pieces_with_marks_or_cubes_not_both():
    with pytest.raises(ValueError, match="pieces with marks or of plain cubes, not both"):
        Profile(cubes=enrolled(), enrolment=Enrolment.model_construct())


@pytest.mark.parametrize(
    ("field", "value"), [("own", 0.0), ("own", 1e-9), ("half", 1e9), ("stretch", 300.0), ("middle", float("nan"))]
)
def test_a_scale_that_cannot_be_is_refused_by_its_field(field, value):
    with pytest.raises(ValueError, match=field):
        enrolled(**{field: value})


@pytest.mark.parametrize(
    ("empty", "share", "covered", "said"),
    [
        (1.0, 0.5, 0.0, EMPTY),
        (0.0, 1.0, 0.0, LIGHT),
        (0.0, 0.0, 0.0, DARK),
        (0.0, 0.994, 0.0, LIGHT | DARK),
        (0.0, 0.996, 0.0, LIGHT),
        (0.006, 1.0, 0.0, EMPTY | LIGHT),
        (0.3, 0.5, 0.0, EMPTY | LIGHT | DARK),
        (0.0, 1.0, 0.6, ANYTHING),
    ],
)
def test_all_kinds_of_a_colour_are_kept_or_none(empty, share, covered, said):
    row = np.zeros((1, CLASSES), np.float32)
    cube = 1 - empty - covered
    row[0, 0], row[0, 1:5], row[0, 5:9], row[0, 9] = empty, cube * share / 4, cube * (1 - share) / 4, covered
    recogniser = CubeRecogniser(Recogniser.bundled(), CubeLook.of(enrolled()))
    assert recogniser.contents(row) == (said,)
