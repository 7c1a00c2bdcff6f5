"""Nothing is lost: a program killed at any moment goes on with the same match when it is started again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.killing import BRISK, World, play_through


def test_the_players_finish_a_move_that_they_began(monkeypatch):
    """Or else a hand would stay on the board for good, and the program would wait for it as they wait for the page."""
    clock = itertools.count(0.0, 60.0)
    monkeypatch.setattr("tests.killing.time.monotonic", lambda: next(clock))
    world = World()
    world.time = BRISK.first_s + 1.5 * BRISK.move_s
    world.picture()
    assert world.time == pytest.approx(BRISK.first_s + 2 * BRISK.move_s - 0.01)


@pytest.mark.slow
def test_a_match_goes_on_after_every_kill_with_nothing_lost_and_nothing_invented(tmp_path):
    report = play_through(tmp_path, np.random.default_rng(7), kills=3)
    assert report.kills
    assert (report.unkept, report.lost, report.invented) == (0, 0, 0), report
    assert report.sound
    assert set(report.others) <= {"MatchStarted", "PassForced", "LastChance", "GameOver", "SourceLost", "SourceBack"}
    assert (report.others["PassForced"], report.others["GameOver"]) == (2, 1)
