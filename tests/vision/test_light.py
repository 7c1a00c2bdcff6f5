"""The colours that the light of a board tells: squares that agree, those in doubt, and what tells nothing."""

from __future__ import annotations

import numpy as np
import pytest

from companion.profile import EnrolledLight
from companion.vision.light import FEATURES, Agreement, Views, left_by_others, light_of, ways_of

AGREEMENT = Agreement(0.01 * np.eye(FEATURES), np.full(3, 4.8), 0.01 * np.eye(3), 1.0)


FACES = {"l": np.array([5.6, 5.2, 4.9]), "d": np.array([4.2, 4.5, 4.8])}
"""The colours of the pieces as they were enrolled, B, G and R, as logarithms."""
STEP = np.array([*(FACES["l"] - FACES["d"]), 0.1])
"""So much brighter is a light one, and so much stronger are its marks."""


def views(colours: str, lamp=(0.0, 0.0, 0.0, 0.0), contrast=0.0, saturation=0.0) -> Views:
    """What squares say under a lamp: l is a light piece, d a dark one, a dot an empty square."""
    light, rng = np.array([*lamp, contrast, saturation]), np.random.default_rng(0)
    ways = {colour: ways_of(face) for colour, face in FACES.items()}
    looks = {"l": (ways["l"] @ light, ways["l"] @ light + STEP), "d": (ways["d"] @ light - STEP, ways["d"] @ light)}
    empty = ways_of(AGREEMENT.empty) @ light
    pieces = np.array([looks.get(colour, (empty, empty)) for colour in colours])
    both = np.repeat(np.stack([ways["l"], ways["d"]])[None], len(colours), axis=0)
    bare = np.repeat((AGREEMENT.empty + empty[:3])[None], len(colours), axis=0)
    return Views(pieces + rng.normal(0, 0.03, pieces.shape), both, bare)


def known(colours: str, **doubts: float) -> np.ndarray:
    """What is known of the squares besides; `doubts` names what is light with that probability only."""
    light = {"l": 0.9, "d": 0.1} | doubts
    return np.array([(1, 0, 0, 0) if c == "." else (0, light[c], 1 - light[c], 0) for c in colours], np.float32)


@pytest.mark.parametrize("lamp", [(0, 0, 0, 0), (-0.9, -0.5, 0.2, -0.3), (0.5, 0.6, 0.3, 0.2)])
@pytest.mark.parametrize("colours", ["lldd", "lldd....", "ld..........", "llllllld"])
def test_one_light_for_all_tells_the_colours(colours, lamp):
    shares, told = AGREEMENT.colours(views(colours, lamp), known(colours))
    pieces = [i for i, colour in enumerate(colours) if colour != "."]
    assert ["l" if shares[i, 0] > 0.999 else "d" for i in pieces] == [colours[i] for i in pieces]
    assert all((told[i] > 3) == (colours[i] == "l") for i in pieces)


def test_a_piece_that_seems_to_be_of_the_other_colour_is_put_right_by_the_others():
    seems = known("lldd")
    seems[0, 1:3] = 0.2, 0.8
    shares, told = AGREEMENT.colours(views("lldd"), seems)
    assert shares[0, 0] > 0.99
    assert told[0] > 3


def test_a_lone_piece_under_an_unknown_lamp_tells_nothing_of_its_colour_but_beside_empty_squares_it_does():
    for colours, sure in (("l", False), ("l" + "." * 15, True)):
        seems = known(colours)
        seems[0, 1:3] = 0.6, 0.4
        shares, _ = AGREEMENT.colours(views(colours), seems)
        assert (shares[0, 0] > 0.99) == sure
        assert shares[0, 0] > 0.5


def test_all_pieces_of_one_colour_stay_as_doubtful_as_they_are_where_the_other_lamp_would_do_as_well():
    shares, _ = AGREEMENT.colours(views("llll"), known("llll", l=0.7))
    assert (shares[:, 0] < 0.995).all()


def test_what_is_not_trusted_changes_nothing():
    blind = Agreement(AGREEMENT.spread, AGREEMENT.empty, AGREEMENT.empty_spread, 0.0)
    shares, told = blind.colours(views("lldd"), known("lldd"))
    assert shares == pytest.approx(known("lldd")[:, 1:3], abs=1e-5)
    assert not told.any()


def test_each_piece_speaks_for_its_colour_beside_the_others():
    odds = AGREEMENT.against_others(views("lldd"), np.array([0, 0, 1, 1]))
    assert (odds > 3).all()
    assert (AGREEMENT.against_others(views("lldd"), np.array([1, 0, 1, 1]))[0]) < 0


@pytest.mark.parametrize(("contrast", "saturation"), [(0.35, 0), (-0.35, 0), (0, 0.5), (0, -0.5), (0.2, -0.4)])
def test_a_camera_with_other_contrast_or_colours_is_part_of_the_light(contrast, saturation):
    gains, rows, colours = (-0.4, -0.3, -0.2), np.arange(6), np.array([0, 0, 0, 1, 1, 1])
    board = views("lllddd", (*gains, 0), contrast, saturation)
    own, ways = board.pieces[rows, colours], board.ways[rows, colours]
    light = light_of(own, ways, AGREEMENT.spread)
    assert light == pytest.approx((*gains, 0, contrast, saturation), abs=0.2)
    without = ways.copy()
    without[..., 4:] = 0
    left, left_without = (np.abs(left_by_others(own, each, AGREEMENT.spread)).max() for each in (ways, without))
    assert left < 0.2 < left_without


@pytest.mark.parametrize("field", [{"spread": (1.0,) * 15}, {"trust": -1}, {"empty": (0.0, float("nan"), 0.0)}])
def test_a_light_that_makes_no_sense_is_refused(field):
    sound = {"spread": (1.0,) * 16, "empty": (0.0,) * 3, "empty_spread": (1.0,) * 9, "trust": 1.0}
    with pytest.raises(ValueError, match=next(iter(field))):
        EnrolledLight(**{**sound, **field})
