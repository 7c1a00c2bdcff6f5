"""Camera and tiles together: who has a vote on a square, and what happens when they contradict each other."""

from dataclasses import replace

import pytest

from companion.fusion import Fusion
from companion.readings import ANYTHING, EMPTY, SOME_PIECE, SettledSquare, Snapshot, contents_of, possible
from companion.rules import Colour, Kind, Layout, Piece, Square

LAYOUT = Layout.parse("4x4")
A1 = 0
PUSHER, PULLER = (contents_of([Piece.parse(text)]) for text in ("dark pusher", "dark puller"))


def seen(time, contents=EMPTY, *, unsettled=False, hidden=False, evidence=b""):
    """A snapshot whose a1 holds `contents`, all else empty."""
    squares = (SettledSquare(contents, time, time - 1.0), *[SettledSquare(EMPTY, 0.0, 0.0)] * 15)
    return Snapshot(time, squares, unsettled=int(unsettled or hidden), hidden=int(hidden), evidence=evidence)


@pytest.fixture
def fusion():
    fusion = Fusion(LAYOUT, patience_s=1.5, stale_s=2.0)
    fusion.feed("camera", seen(0.0))
    fusion.feed("tiles", seen(0.0))
    return fusion


@pytest.mark.parametrize(
    ("camera", "tiles", "together"),
    [
        (EMPTY, EMPTY, EMPTY),
        (PUSHER | PULLER, PUSHER, PUSHER),
        (SOME_PIECE, PULLER, PULLER),
        (ANYTHING, EMPTY, EMPTY),
        (PUSHER | PULLER, ANYTHING, PUSHER | PULLER),
    ],
)
def test_what_neither_rules_out_is_left(fusion, camera, tiles, together):
    fusion.feed("camera", seen(1.0, camera))
    fused = fusion.feed("tiles", seen(1.0, tiles))
    assert possible(fused.squares[A1].contents) == possible(together)
    assert fused.unsettled == 0


def test_a_picture_that_comes_late_counts_where_whoever_was_ahead_of_it_is_lost(fusion):
    fusion.feed("tiles", seen(10.0))
    fusion.lose("tiles")
    fused = fusion.feed("camera", seen(7.5, PUSHER))
    assert (fused.time, fused.squares[A1].contents, fused.unsettled) == (10.0, PUSHER, 0)


def test_a_hand_before_the_camera_does_not_hold_up_what_the_tiles_feel(fusion):
    fusion.feed("camera", seen(1.0, hidden=True))
    fused = fusion.feed("tiles", seen(1.1, PUSHER))
    assert fused.squares[A1].contents == PUSHER
    assert (fused.unsettled, fused.hidden) == (0, 0)


def test_a_contact_that_tells_nothing_does_not_see_through_a_hand_before_the_camera(fusion):
    fusion.feed("camera", seen(1.0, hidden=True))
    fused = fusion.feed("tiles", seen(1.1, ANYTHING))
    assert (fused.unsettled, fused.hidden, fused.squares[A1].contents) == (1, 1, EMPTY)
    fused = fusion.feed("camera", seen(1.5, PUSHER))
    assert (fused.unsettled, fused.hidden, fused.squares[A1].contents) == (0, 0, PUSHER)


def test_a_square_that_no_source_sees_is_hidden_and_keeps_what_it_had(fusion):
    fusion.feed("tiles", seen(1.0, PUSHER))
    fusion.feed("camera", seen(1.0, PUSHER))
    fusion.feed("tiles", seen(1.1, ANYTHING, hidden=True))
    fused = fusion.feed("camera", seen(1.1, ANYTHING, hidden=True))
    assert fused.squares[A1].contents == PUSHER
    assert (fused.unsettled, fused.hidden) == (1, 1)


def test_a_source_that_is_only_slower_makes_no_disagreement(fusion):
    fused = fusion.feed("tiles", seen(1.0, PUSHER))
    assert (fused.unsettled, fused.held) == (1, 1)  # what lies elsewhere waits: it may have come later
    assert fusion.disagreements == ()
    fused = fusion.feed("camera", seen(1.4, PUSHER))
    assert (fused.unsettled, fused.held, fused.squares[A1].contents) == (0, 0, PUSHER)
    assert fused.squares[A1].since == 1.0


def test_a_lasting_contradiction_names_the_square_and_decides_nothing(fusion):
    for tenth in range(16):
        fusion.feed("camera", seen(1.0 + tenth / 10, PULLER))
        fused = fusion.feed("tiles", seen(1.0 + tenth / 10, PUSHER))
    (disagreement,) = fusion.disagreements
    assert disagreement.square == Square.parse("a1")
    assert dict(disagreement.said) == {"camera": PULLER, "tiles": PUSHER}
    assert fused.squares[A1].contents == PUSHER | PULLER
    fused = fusion.feed("camera", seen(2.7, PUSHER))
    assert fusion.disagreements == ()
    assert fused.squares[A1].contents == PUSHER


def disagreed(fusion, camera, tiles):
    for tenth in range(16):
        fusion.feed("camera", seen(1.0 + tenth / 10, camera))
        fused = fusion.feed("tiles", seen(1.0 + tenth / 10, tiles))
    assert fusion.disagreements
    return fused


def test_a_hand_before_the_camera_does_not_prove_the_tiles_right(fusion):
    disagreed(fusion, PUSHER, EMPTY)
    fusion.feed("camera", seen(3.0, PUSHER, hidden=True))
    fused = fusion.feed("tiles", seen(3.0, EMPTY))
    assert (fused.unsettled, fused.squares[A1].contents) == (0, PUSHER | EMPTY)
    (disagreement,) = fusion.disagreements
    assert dict(disagreement.said) == {"camera": PUSHER, "tiles": EMPTY}
    fused = fusion.feed("tiles", seen(3.1, PUSHER))
    assert (fused.unsettled, fused.squares[A1].contents, fusion.disagreements) == (0, PUSHER, ())


def test_nor_does_it_before_that_was_told(fusion):
    fusion.feed("camera", seen(1.0, PUSHER))
    assert fusion.feed("tiles", seen(1.0, EMPTY)).unsettled == 1
    fusion.feed("camera", seen(1.2, PUSHER, hidden=True))
    assert fusion.feed("tiles", seen(1.2, EMPTY)).unsettled == 1


def test_a_look_from_before_the_piece_came_contradicts_nothing_once_a_hand_is_there(fusion):
    fusion.feed("camera", seen(0.9))
    assert fusion.feed("tiles", seen(1.0, PUSHER)).held == 1
    fusion.feed("camera", seen(1.1, hidden=True))
    fused = fusion.feed("tiles", seen(1.1, PUSHER))
    assert (fused.unsettled, fused.held, fused.squares[A1].contents) == (0, 0, PUSHER)


def test_a_source_that_is_lost_has_no_word_left(fusion):
    disagreed(fusion, PUSHER, EMPTY)
    fusion.lose("camera")
    fused = fusion.feed("tiles", seen(3.0, EMPTY))
    assert (fused.unsettled, fused.squares[A1].contents, fusion.disagreements) == (0, EMPTY, ())


@pytest.mark.parametrize("vague", [ANYTHING, PUSHER | EMPTY])
def test_a_piece_came_when_those_saw_it_who_knew_that_it_was_not_there(fusion, vague):
    fusion.feed("tiles", seen(1.0, vague))
    fusion.feed("camera", seen(9.0, PUSHER))
    dull = replace(seen(9.0), squares=(SettledSquare(vague, 1.0, float("-inf")), *seen(9.0).squares[1:]))
    for _ in range(2):
        fused = fusion.feed("tiles", dull)
        assert fused.squares[A1] == SettledSquare(PUSHER, 9.0, 8.0)


def test_a_piece_that_is_disagreed_about_came_when_it_was_first_seen(fusion):
    fused = disagreed(fusion, PUSHER, EMPTY)
    assert (fused.squares[A1].since, fused.squares[A1].after) == (2.5, 1.5)
    fused = fusion.feed("tiles", seen(3.0, PUSHER))
    assert fused.squares[A1].since == 2.5


def test_a_piece_that_may_be_gone_by_the_word_of_one_may_be_so_since_that_one_said_so(fusion):
    fusion.feed("camera", seen(0.5, PUSHER))
    fusion.feed("tiles", seen(0.5, PUSHER))
    lasting = seen(0.5, PUSHER).squares[A1]
    for tenth in range(18):
        told = seen(1.0 + tenth / 10)
        fusion.feed("camera", replace(told, squares=(lasting, *told.squares[1:])))
        fused = fusion.feed("tiles", replace(told, squares=(SettledSquare(EMPTY, 1.0, 0.9), *told.squares[1:])))
    assert fused.squares[A1] == SettledSquare(PUSHER | EMPTY, 1.0, 0.9)


def test_the_cards_are_told_by_whoever_sees_them(fusion):
    cards = {Colour.LIGHT: frozenset({Kind.PUSHER})}
    fused = fusion.feed("camera", replace(seen(1.0), cards=cards))
    assert fused.cards == cards
    assert fusion.feed("tiles", seen(1.1)).cards == cards


def test_what_may_be_a_piece_where_nothing_was_came_when_it_was_first_seen(fusion):
    for source in ("camera", "tiles"):
        fused = fusion.feed(source, seen(5.0, PUSHER | EMPTY))
    assert fused.squares[A1] == SettledSquare(PUSHER | EMPTY, 5.0, 4.0)


def test_where_nobody_could_tell_a_piece_may_have_come_long_before():
    fusion = Fusion(LAYOUT, patience_s=1.5, stale_s=20.0)
    for source in ("camera", "tiles"):
        fusion.feed(source, seen(1.0, PUSHER | EMPTY))
    for source in ("camera", "tiles"):
        fused = fusion.feed(source, seen(9.0, PUSHER))
    assert (fused.squares[A1].since, fused.squares[A1].after) == (9.0, 0.0)


def test_where_only_one_is_left_that_cannot_tell_a_piece_may_have_come_since_nothing_lay_there(fusion):
    fusion.lose("camera")
    dull = replace(seen(9.0), squares=(SettledSquare(ANYTHING, float("-inf"), float("-inf")), *seen(9.0).squares[1:]))
    for _ in range(2):
        assert fusion.feed("tiles", dull).squares[A1] == SettledSquare(ANYTHING, 9.0, 0.0)


def test_a_lost_source_has_no_vote_and_the_other_goes_on_alone(fusion):
    fusion.lose("camera")
    fused = fusion.feed("tiles", seen(1.0, PUSHER))
    assert (fused.unsettled, fused.squares[A1].contents) == (0, PUSHER)


def test_a_source_that_has_gone_silent_loses_its_vote(fusion):
    fusion.feed("tiles", seen(1.9, PUSHER))
    fused = fusion.feed("tiles", seen(2.1, PUSHER))
    assert (fused.unsettled, fused.squares[A1].contents) == (0, PUSHER)


def test_a_source_that_comes_back_is_heard_again(fusion):
    fusion.lose("camera")
    fusion.feed("tiles", seen(1.0, PUSHER | PULLER))
    fused = fusion.feed("camera", seen(1.5, PULLER))
    assert fused.squares[A1].contents == PULLER


def test_a_picture_is_the_better_evidence(fusion):
    fusion.feed("camera", seen(1.0, evidence=b"\xff\xd8a picture"))
    assert fusion.feed("tiles", seen(1.0, evidence=b"." * 16)).evidence.endswith(b"a picture")


def test_what_a_hand_may_hold_is_not_held_if_the_tiles_see_it_lie(fusion):
    held = replace(seen(1.0, PUSHER, unsettled=True), held=1)
    assert fusion.feed("camera", held).held == 0
    fusion.lose("tiles")
    assert fusion.feed("camera", held).held == 1
