"""What two pieces of each kind and colour allow, against counting all arrangements one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from companion.readings import ALL_CONTENTS
from companion.vision.supply import within_supply

LETTERS = ".SDPUsdpu"


def judged(*squares):
    """Probabilities from one mapping of letters to shares for each square; the last column is *covered*."""
    rows = np.zeros((len(squares), len(ALL_CONTENTS) + 1), np.float32)
    for row, shares in zip(rows, squares, strict=True):
        for letter, share in shares.items():
            row[LETTERS.index(letter)] = share
    return rows


def test_a_ring_is_a_pusher_when_both_pullers_are_seen_elsewhere():
    rows = within_supply(judged({"u": 1.0}, {"u": 1.0}, {"u": 0.7, "p": 0.3}), sets=1)
    np.testing.assert_allclose(rows[2, [LETTERS.index("p"), LETTERS.index("u")]], [1, 0], atol=1e-6)


def test_a_doubtful_board_of_cubes_stays_as_doubtful():
    kinds = dict.fromkeys("sdpu", 0.25)
    rows = judged(*[kinds] * 8, *[{".": 1.0}] * 8)
    np.testing.assert_allclose(within_supply(rows, sets=1), rows, atol=1e-6)


def test_pieces_that_no_set_has_are_left_as_they_were_seen():
    rows = judged({"S": 1.0}, {"S": 1.0}, {"S": 1.0})
    np.testing.assert_array_equal(within_supply(rows, sets=1), rows)


def test_in_doubt_pieces_that_no_set_has_are_each_told_less_surely():
    """Before, a set whose pieces all looked dark in another light was read so, as surely as ever (drawn set 3089)."""
    rows = judged({"S": 1 - 1e-6, "s": 1e-6}, {"S": 1.0}, {"S": 1.0}, {"S": 1.0}, {".": 1.0})
    within = within_supply(rows, sets=1, doubting=True)
    assert (within[:4, LETTERS.index("S")] < 0.7).all()
    assert within[0, LETTERS.index("s")] > within[1, LETTERS.index("s")]
    np.testing.assert_allclose(within[:, 0], rows[:, 0], atol=1e-6)


def test_sixteen_pieces_that_all_look_the_same_may_be_anything():
    within = within_supply(judged(*[{"S": 1.0}] * 16), sets=1, doubting=True)
    np.testing.assert_allclose(within[:, 1:9], 1 / 8, atol=1e-6)


def test_more_pieces_than_a_set_has_are_left_as_they_were_seen():
    one_set = [{letter: 0.9, "u": 0.1} for letter in "SDPsdp" for _ in range(2)] + [{"U": 1.0}] * 2 + [{"u": 1.0}] * 2
    rows = judged(*one_set, {"u": 0.6, "p": 0.4})
    np.testing.assert_array_equal(within_supply(rows, sets=1), rows)
    one_less = [*one_set[:10], *one_set[11:], {"u": 0.6, "p": 0.4}]
    assert within_supply(judged(*one_less), sets=1)[-1, LETTERS.index("u")] < 0.1


def test_what_is_covered_stays_covered():
    rows = judged({"u": 1.0}, {"u": 1.0}, {"u": 0.3, "p": 0.1})
    rows[2, -1] = 0.6
    within = within_supply(rows, sets=1)
    assert within[2, -1] == pytest.approx(0.6)
    assert within[2, :-1].sum() == pytest.approx(0.4)


@pytest.mark.parametrize("peeps_out", [{"u": 0.001}, {"u": 0.0009, ".": 0.0001}, {"u": 1e-6}])
def test_what_a_hand_covers_uses_up_no_piece(peeps_out):
    """Before, the little that was left to a covered square was taken for all of it: here for the second puller."""
    rows = judged({"u": 1.0}, peeps_out, {"u": 0.4, "p": 0.6})
    rows[1, -1] = 1 - sum(peeps_out.values())
    np.testing.assert_allclose(within_supply(rows, sets=1), rows, atol=1e-6)


def test_a_supply_too_large_to_count_concludes_nothing():
    rows = judged({"u": 1.0}, {"u": 1.0}, {"u": 0.7, "p": 0.3})
    assert within_supply(rows, sets=2) is rows


@settings(max_examples=4, deadline=None)
@given(arrays(np.float32, (4, 9), elements=st.floats(0.015625, 1, width=32)))
def test_as_counting_all_arrangements_one_by_one(rows):
    shares = rows / rows.sum(axis=1, keepdims=True)
    expected = np.zeros((4, 9))
    for arrangement in itertools.product(range(9), repeat=4):
        if all(arrangement.count(content) <= 2 for content in range(1, 9)):
            likelihood = np.prod([shares[i, content] for i, content in enumerate(arrangement)])
            for i, content in enumerate(arrangement):
                expected[i, content] += likelihood
    expected *= rows.sum(axis=1, keepdims=True) / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(within_supply(rows, sets=1), expected, rtol=1e-3, atol=1e-6)
