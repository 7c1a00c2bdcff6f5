"""A sample of the stress that `tests.bench.stress` puts on eyes, settling and referee at length."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.pose import BoardPose
from tests.bench.stress.eye import Errors
from tests.bench.stress.look import STANDARD
from tests.bench.stress.shows import disturbed_game
from tests.bench.stress.studio import Studio
from tests.bench.stress.watching import NAMES, eyes, imagine_game, watch_box, watch_clip, watch_game


@pytest.mark.parametrize("seed", range(6))
def test_a_disturbed_game_is_exact_to_eyes_that_do_not_err(seed):
    assert imagine_game(seed, Errors()).outcome == "exact"


@pytest.mark.parametrize("seed", [26, 107, 131])
def test_an_eye_that_is_unsure_makes_people_be_asked_but_nothing_wrong(seed):
    verdict = imagine_game(seed, Errors(odd=0.03, unsure=0.04))
    assert verdict.outcome in ("exact", "asked"), verdict


@pytest.mark.parametrize("seed", [4, 5, 38])
def test_pieces_that_are_hardly_seen_make_no_later_move_the_first(seed):
    verdict = imagine_game(seed, Errors(odd=0.02, unsure=0.01, faint=0.3))
    assert not verdict.wrong, verdict


def test_what_is_in_doubt_stays_so_when_more_has_been_played_than_can_be_put_in_order():
    verdict = imagine_game(199, Errors(odd=0.02, unsure=0.01, faint=0.15))
    assert not verdict.wrong, verdict


def test_a_piece_played_elsewhere_is_not_a_second_move_though_its_old_square_settles_later():
    assert imagine_game(25, Errors(odd=0.02, unsure=0.01)).outcome == "exact"


@pytest.fixture(scope="module")
def reader():
    return eyes()


@pytest.mark.parametrize("seed", [7, 38])
def test_a_board_is_not_taken_together_with_the_pieces_beside_it(seed, reader):
    show = disturbed_game(seed)
    found = reader.locate(next(show.frames()).image, STANDARD)
    assert isinstance(found, BoardPose)
    square = np.linalg.norm(np.diff(found.points(), axis=0), axis=1).min() / 4
    true = Studio(show.look, show.rng).corners()
    assert min(np.abs(np.roll(true, turn, axis=0) - found.points()).max() for turn in range(4)) < 0.25 * square


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hesitation", "person", "quick reply", "bump meanwhile", "camera turned"])
def test_a_disturbance_in_pictures_makes_no_wrong_move(name, reader):
    verdict = watch_clip(NAMES.index(name), reader)
    assert verdict.acts == [name]
    assert verdict.outcome == "exact", verdict


@pytest.mark.slow
def test_a_game_is_exact_where_the_shadows_of_leaves_sway_over_the_board(reader):
    verdict = watch_game(13, reader, "swaying")
    assert verdict.outcome == "exact", verdict


@pytest.mark.slow
def test_a_game_is_exact_under_lamps_of_which_bands_roll_over_the_picture(reader):
    verdict = watch_game(6, reader, "banded")
    assert verdict.outcome == "exact", verdict


@pytest.mark.slow
def test_a_disturbed_game_of_the_green_box_is_exact_where_people_say_what_cards_do_not(reader):
    verdict = watch_box(3, reader)
    assert verdict.outcome == "exact", verdict
    assert verdict.kinds <= 10
