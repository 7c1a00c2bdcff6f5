"""When a place is believed to be the board, with the rule that ships."""

from __future__ import annotations

import pytest

from companion.vision.board import BoardFinder
from companion.vision.lattice import Weight

RULE = BoardFinder.bundled().rule
CLEAR = Weight(0.7, 0.45, 0.7, 0.15, 0.15, 30.0)
FAINT = Weight(0.25, 0.1, 0.2, 0.25, 0.2, 4.0)


def test_clear_lines_that_the_judge_likes_are_the_board():
    assert RULE.score(0.99, 0.75, CLEAR) >= RULE.accept


@pytest.mark.parametrize(
    ("likely", "support", "weight"), [(0.02, 0.2, CLEAR), (0.02, 0.7, FAINT), (0.99, 0.2, FAINT), (0.99, 0.1, CLEAR)]
)
def test_no_opinion_is_enough_alone(likely, support, weight):
    assert RULE.score(likely, support, weight) < RULE.accept
