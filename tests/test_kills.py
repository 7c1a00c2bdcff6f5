"""Nothing is lost: a program killed at any moment goes on with the same match when it is started again."""

from __future__ import annotations

import numpy as np
import pytest

from tests.killing import play_through


@pytest.mark.slow
def test_a_match_goes_on_after_every_kill_with_nothing_lost_and_nothing_invented(tmp_path):
    report = play_through(tmp_path, np.random.default_rng(), kills=3)
    assert report.kills
    assert (report.unkept, report.lost, report.invented) == (0, 0, 0), report
    assert report.sound
    assert set(report.others) <= {"MatchStarted", "PassForced", "LastChance", "GameOver", "SourceLost", "SourceBack"}
    assert (report.others["PassForced"], report.others["GameOver"]) == (2, 1)
