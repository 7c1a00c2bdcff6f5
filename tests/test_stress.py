"""A sample of the stress that `tests.bench.stress` puts on eyes, settling and referee at length."""

from __future__ import annotations

import pytest

from tests.bench.stress.acts import BETWEEN, WITH_MOVE
from tests.bench.stress.eye import Errors
from tests.bench.stress.watching import eyes, imagine_game, watch_clip

NAMES = [*WITH_MOVE, *BETWEEN]


@pytest.mark.parametrize("seed", range(6))
def test_a_disturbed_game_is_exact_to_eyes_that_do_not_err(seed):
    assert imagine_game(seed, Errors()).outcome == "exact"


@pytest.mark.parametrize("seed", [26, 107, 131])
def test_an_eye_that_is_unsure_makes_people_be_asked_but_nothing_wrong(seed):
    verdict = imagine_game(seed, Errors(odd=0.03, unsure=0.04))
    assert verdict.outcome in ("exact", "asked"), verdict


def test_a_piece_played_elsewhere_is_not_a_second_move_though_its_old_square_settles_later():
    assert imagine_game(25, Errors(odd=0.02, unsure=0.01)).outcome == "exact"


@pytest.fixture(scope="module")
def reader():
    return eyes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hesitation", "person"])
def test_a_disturbance_in_pictures_makes_no_wrong_move(name, reader):
    verdict = watch_clip(NAMES.index(name), reader)
    assert verdict.acts == [name]
    assert verdict.outcome == "exact", verdict
