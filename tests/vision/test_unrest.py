"""Squares in which something moves for long: what is told of them, and when nothing is."""

from __future__ import annotations

import pytest

from companion.readings import EMPTY, contents_of
from companion.rules import Piece
from companion.vision.unrest import Unrest

STEP_S = 0.25
PLUS = contents_of([Piece.parse("light straight")])
CROSS = contents_of([Piece.parse("light diagonal")])


def told(looks, *, moves=lambda time: True):
    """What is told of a square at which it is looked every `STEP_S`, from when it is restless on."""
    unrest, time, answers = Unrest(2), 0.0, []
    looks = iter(looks)
    while True:
        if unrest.see(time, [moves(time), False])[0]:
            look = next(looks, "done")
            if look == "done":
                return answers
            unrest.look(time, 0, look)
            answers.append(unrest.told(time).get(0))
        if time > 60:
            return None
        time += STEP_S


def test_a_square_in_which_something_moves_for_long_is_told_when_nothing_was_over_it_for_long():
    answers = told([EMPTY] * 12)
    assert answers[:8] == [None] * 8
    assert answers[9:] == [EMPTY] * 3


@pytest.mark.parametrize("pause_s", [1.5, 3.0])
def test_what_comes_to_rest_now_and_then_is_not_restless(pause_s):
    assert told([EMPTY], moves=lambda time: time % 4 >= pause_s) is None


def test_what_comes_to_rest_for_moments_only_is_restless():
    assert told([EMPTY] * 12, moves=lambda time: time % 1 < 0.5)[-1] == EMPTY


def test_while_a_hand_is_seen_now_and_then_nothing_is_told():
    assert set(told([EMPTY, EMPTY, EMPTY, EMPTY, None] * 6)) == {None}


def test_what_nobody_is_looking_at_is_not_told():
    unrest = Unrest(1)
    for i in range(40):
        unrest.see(i * STEP_S, [True])
    assert unrest.told(10.0) == {}


def test_few_odd_looks_do_not_count_but_the_last_one_does():
    answers = told([EMPTY] * 10 + [PLUS] + [EMPTY] * 3)
    assert answers[10] == EMPTY | PLUS
    assert answers[11:] == [EMPTY] * 3


def test_what_one_look_in_four_thinks_possible_stays_possible():
    assert told([CROSS, PLUS, PLUS] * 6)[-1] == CROSS | PLUS


def test_a_piece_that_comes_is_at_once_possible_and_what_was_there_is_not_for_sure():
    answers = told([EMPTY] * 12 + [PLUS] * 10)
    assert answers[12] == EMPTY | PLUS
    assert answers[-1] == PLUS
    assert EMPTY not in answers[12:]


def test_where_light_has_swayed_before_a_square_that_moves_is_restless_at_once():
    unrest = Unrest(1)
    for i in range(60):
        moves = i < 40 or i >= 50
        restless = unrest.see(i * STEP_S, [moves])[0]
        assert restless == (16 <= i < 44 or i >= 50)
        if restless:
            unrest.look(i * STEP_S, 0, EMPTY)
        assert bool(unrest.told(i * STEP_S)) == (24 <= i < 44 or i >= 58)


def test_of_a_board_that_was_moved_nothing_is_known():
    unrest = Unrest(1)
    for i in range(40):
        if unrest.see(i * STEP_S, [True])[0]:
            unrest.look(i * STEP_S, 0, EMPTY)
    assert unrest.told(10.0) == {0: EMPTY}
    unrest.forget()
    assert unrest.told(10.0) == {}
    assert unrest.see(10.0, [True]) == [False]
