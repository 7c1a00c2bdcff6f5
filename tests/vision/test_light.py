"""The colours that the light of a board tells: squares that agree, those in doubt, and what tells nothing."""

from __future__ import annotations

import numpy as np
import pytest

from companion.profile import EnrolledLight
from companion.vision.light import (
    FEATURES,
    Agreement,
    Views,
    _told_by,
    _ToldByPieces,
    left_by_others,
    light_of,
    ways_of,
)

AGREEMENT = Agreement(0.01 * np.eye(FEATURES), np.array([1.0, 1.4, 1.6]), 0.02 * np.eye(3), 1.0)
FACES = {
    "l": (np.array([1.5, 1.8, 1.9]), np.array([-0.8, -0.9, -1.0])),
    "d": (np.array([0.7, 1.0, 1.2]), np.array([-0.4, -0.5, -0.6])),
}
"""The colours of the pieces as they were enrolled, B, G and R, and by how much their marks are brighter."""
LAMPS = [
    [0] * 10,
    [-0.5, 0.2, 0, -0.2, 0.1, 0, 0, 0, -0.3, -0.2],
    [0.3, -0.2, 0.1, 0.1, 0, 0, 0, 0, 0.2, 0.2],
]
"""None but that of enrolment; a dim, warm one and a paler camera; a bright one."""


def views(colours: str, lamp=LAMPS[0]) -> Views:
    """What squares say under a lamp: l is a light piece, d a dark one, a dot an empty square."""
    rng = np.random.default_rng(0)
    ways = np.stack([ways_of(*FACES[colour]) for colour in "ld"])
    faces = np.stack([np.concatenate(FACES[colour]) for colour in "ld"])
    looks = dict(zip("ld", faces + ways @ lamp, strict=True))
    table = AGREEMENT.empty + ways_of(AGREEMENT.empty)[:3] @ lamp
    bare = np.concatenate([table, np.zeros(3)])
    seen = np.array([looks.get(colour, bare) for colour in colours])[:, None] - faces
    both = np.repeat(ways[None], len(colours), axis=0)
    return Views(seen + rng.normal(0, 0.03, seen.shape), both, np.repeat(table[None], len(colours), axis=0))


def known(colours: str, **doubts: float) -> np.ndarray:
    """What is known of the squares besides; `doubts` names what is light with that probability only."""
    light = {"l": 0.9, "d": 0.1} | doubts
    return np.array([(1, 0, 0, 0) if c == "." else (0, light[c], 1 - light[c], 0) for c in colours], np.float32)


@pytest.mark.parametrize("lamp", LAMPS, ids=["as enrolled", "dim", "bright"])
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


def test_where_there_surely_is_no_piece_the_light_tells_of_none():
    board, seems = views("lldd...."), known("lldd....")
    shares, told = AGREEMENT.colours(board, seems)
    assert not told[4:].any()
    hardly = seems.copy()
    hardly[4:, 1:3] = 1e-9
    expected, _ = AGREEMENT.colours(board, hardly)
    assert shares[:4] == pytest.approx(expected[:4], abs=1e-6)
    for none in AGREEMENT.colours(views("...."), known("....")):
        assert np.isfinite(none).all()


def test_what_is_not_trusted_changes_nothing():
    blind = Agreement(AGREEMENT.spread, AGREEMENT.empty, AGREEMENT.empty_spread, 0.0)
    shares, told = blind.colours(views("lldd"), known("lldd"))
    assert shares == pytest.approx(known("lldd")[:, 1:3], abs=1e-5)
    assert not told.any()


def test_who_does_not_know_a_colour_is_unsure_along_the_way_between_the_two():
    rng, board, pieces = np.random.default_rng(1), views("lld."), np.array([1, 0.5, 1, 0.1])
    shares = rng.dirichlet((1, 1), (3, 4))
    spread = AGREEMENT.spread + 0.02 * np.ones((FEATURES, FEATURES))
    sure, said = _ToldByPieces.of(board, spread).as_sure_of(shares, pieces)
    apart = board.pieces[:, 0] - board.pieces[:, 1]
    for answer, square in np.ndindex(3, 4):
        light, dark = shares[answer, square]
        wider = spread + light * dark * np.outer(apart[square], apart[square])
        of_colours = _told_by(board.pieces[square], board.ways[square], wider)
        likely = pieces[square] * shares[answer, square][:, None, None]
        for told, own in zip((sure, said), of_colours, strict=True):
            assert told[answer, square] == pytest.approx((likely * own).sum(axis=0), rel=1e-4, abs=1e-6)


def test_each_piece_speaks_for_its_colour_beside_the_others():
    odds = AGREEMENT.against_others(views("lldd"), np.array([0, 0, 1, 1]))
    assert (odds > 3).all()
    assert (AGREEMENT.against_others(views("lldd"), np.array([1, 0, 1, 1]))[0]) < 0


@pytest.mark.parametrize(
    ("part", "much"),
    [(slice(4), 0.3), (slice(4, 8), 0.3), (slice(8, 9), 1.2), (slice(9, 10), 0.3)],
    ids=["brighter", "veil", "colours", "sharper"],
)
def test_each_part_of_a_light_is_told_from_the_squares(part, much):
    lamp, colours = np.zeros(10), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    lamp[part] = much
    board = views("lllldddd", lamp)
    own, ways = board.as_they_are(colours)
    light = light_of(own, ways, AGREEMENT.spread)
    assert ways @ light == pytest.approx(ways @ lamp, abs=0.06)
    without = ways.copy()
    without[..., part] = 0
    left, left_without = (np.abs(left_by_others(own, each, AGREEMENT.spread)).max() for each in (ways, without))
    assert left < 0.12 < left_without


@pytest.mark.parametrize(
    "field", [{"spread": (float("inf"),) * 36}, {"trust": -1}, {"empty": (0.0, float("nan"), 0.0)}]
)
def test_a_light_that_makes_no_sense_is_refused(field):
    sound = {"spread": (1.0,) * 36, "empty": (0.0,) * 3, "empty_spread": (1.0,) * 9, "trust": 1.0}
    with pytest.raises(ValueError, match=next(iter(field))):
        EnrolledLight(**{**sound, **field})
