"""When a place is believed to be the board, with the rule that ships."""

from __future__ import annotations

from dataclasses import replace

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


RULED = Weight(0.8, 0.66, 0.8, 0.1, 0.03, 60.0)


def test_lines_as_if_ruled_that_the_judge_is_sure_of_are_the_board_whatever_the_pointer_sees():
    """A bare board on paper, from low: the pointer has never seen one so thin."""
    assert RULE.score(0.999, 0.1, RULED) >= RULE.sure


@pytest.mark.parametrize(
    ("likely", "weight"),
    [(0.996, RULED), (0.999, replace(RULED, beyond=0.5)), (0.999, replace(RULED, weakest_line=0.35))],
)
def test_such_lines_are_not_enough_where_they_run_on_or_one_is_weak_or_the_judge_is_in_doubt(likely, weight):
    """The judge was as sure as that of a window, which then needs the pointer, too."""
    assert RULE.score(likely, 0.1, weight) < RULE.accept
