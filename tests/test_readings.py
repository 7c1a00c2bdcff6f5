"""Sets of contents, and boards of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.readings import (
    ALL_CONTENTS,
    ANYTHING,
    EMPTY,
    LETTERS,
    SOME_PIECE,
    BoardReading,
    board_text,
    contents_of,
    kinds_only,
    of_colour,
    only,
    possible,
    sure,
)
from companion.rules import Colour, Kind, Layout, Piece

DARK_PUSHER = Piece(Colour.DARK, Kind.PUSHER)
sets_of_contents = st.frozensets(st.sampled_from(ALL_CONTENTS))


def test_there_are_nine_contents_empty_first_then_light_then_dark():
    assert [str(content) for content in ALL_CONTENTS] == [
        "None",
        "light straight", "light diagonal", "light pusher", "light puller",
        "dark straight", "dark diagonal", "dark pusher", "dark puller",
    ]  # fmt: skip


@given(sets_of_contents)
def test_a_set_has_the_members_it_was_made_of(members):
    assert set(possible(contents_of(members))) == members
    assert list(possible(contents_of(members))) == sorted(members, key=ALL_CONTENTS.index)


@given(sets_of_contents, sets_of_contents)
def test_sets_are_met_and_joined_as_bits(one, other):
    assert contents_of(one) & contents_of(other) == contents_of(one & other)
    assert contents_of(one) | contents_of(other) == contents_of(one | other)


@given(st.lists(st.sampled_from(ALL_CONTENTS)))
def test_a_content_told_twice_counts_once(members):
    assert contents_of(members) == contents_of(set(members))


@given(sets_of_contents)
def test_the_kinds_of_a_set_are_of_either_colour(members):
    kinds = {content.kind for content in members if content is not None}
    assert set(possible(kinds_only(contents_of(members)))) == {None, *(Piece(c, k) for c in Colour for k in kinds)}


@given(sets_of_contents)
def test_a_set_is_sure_exactly_when_one_content_is_left(members):
    contents = contents_of(members)
    assert only(contents) == (len(members) == 1)
    if only(contents):
        assert {sure(contents)} == members
    else:
        with pytest.raises(ValueError):
            sure(contents)


def test_the_sets_that_have_names():
    assert possible(EMPTY) == (None,)
    assert possible(ANYTHING) == ALL_CONTENTS
    assert possible(SOME_PIECE) == ALL_CONTENTS[1:]
    assert possible(of_colour(Colour.LIGHT)) == ALL_CONTENTS[1:5]
    assert of_colour(Colour.LIGHT) | of_colour(Colour.DARK) == SOME_PIECE
    assert possible(0) == ()


def test_letters_are_those_of_the_tile_board():
    assert "".join(LETTERS[content] for content in ALL_CONTENTS) == ".SDPUsdpu"


@pytest.mark.parametrize(
    ("layout", "held", "drawing"),
    [
        (
            "4x4",
            {"a1": contents_of([Piece(Colour.LIGHT, Kind.STRAIGHT)]), "b3": contents_of([DARK_PUSHER]), "d4": ANYTHING,
             "c1": of_colour(Colour.DARK), "d1": 0, "a2": of_colour(Colour.LIGHT), "b2": 0b110, "c2": SOME_PIECE},
            ". . . ?\n. p . .\nO O ? .\nS . o ?",
        ),
        ("..##/..##/##../##..", {"c3": contents_of([DARK_PUSHER])}, "    . .\n    p .\n. .\n. ."),
    ],
)  # fmt: skip
def test_a_board_is_drawn_far_side_first(layout, held, drawing):
    board = Layout.parse(layout)
    assert board_text(board, [held.get(str(square), EMPTY) for square in board]) == drawing


def test_a_board_is_drawn_only_with_as_many_squares_as_it_has():
    with pytest.raises(ValueError):
        board_text(Layout.parse("4x4"), [EMPTY] * 15)


def test_a_reading_hides_nothing_and_shows_no_card_unless_told():
    reading = BoardReading(time=1.5, squares=(EMPTY,) * 16)
    assert (reading.hidden, dict(reading.cards), reading.evidence) == (0, {}, b"")
    assert reading == BoardReading(1.5, (EMPTY,) * 16)
