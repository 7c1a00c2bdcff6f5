"""When a place is believed to be the board, with the rule that ships."""

from __future__ import annotations

import pytest

from companion.vision.board import BoardFinder
from companion.vision.lattice import Weight

RULE = BoardFinder.bundled().rule
CLEAR = Weight(0.7, 0.65, 0.45, 0.7, 0.15, 0.15, 30.0)
FAINT = Weight(0.25, 0.2, 0.1, 0.2, 0.25, 0.2, 4.0)


def test_clear_lines_that_the_judge_likes_are_the_board():
    assert RULE.score(0.99, CLEAR) >= RULE.accept


@pytest.mark.parametrize(("likely", "weight"), [(0.02, CLEAR), (0.97, FAINT), (0.0, CLEAR), (1.0, FAINT)])
def test_neither_opinion_is_enough_alone(likely, weight):
    assert RULE.score(likely, weight) < RULE.accept
