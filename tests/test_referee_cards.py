"""The Green Box: the kind of a cube is on a card beside the board, and which card is whose cube's."""

from __future__ import annotations

import pytest

from companion.readings import of_colour
from companion.referee.cards import CardPiles
from companion.referee.explanation import Arrival
from companion.rules import Colour, Game, Kind, Move, Square
from tests.stories import Scene, piece
from tests.test_referee_people import A1, C3, lines


def green_box() -> Scene:
    scene = Scene(variant="green-box")
    scene.look(1)
    return scene


def cube(scene: Scene, square: str, colour: Colour) -> None:
    scene.misread[Square.parse(square)] = of_colour(colour)


def test_a_cube_without_a_card_is_asked_about_until_its_card_is_seen():
    scene = green_box()
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(5) == ["kind? a1"]
    scene.cards = {Colour.LIGHT: frozenset({Kind.STRAIGHT})}
    assert scene.look() == ["light a1+"]


def test_the_same_card_as_before_does_not_tell_the_next_cube():
    scene = green_box()
    scene.cards = {Colour.LIGHT: frozenset({Kind.STRAIGHT})}
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look() == ["light a1+"]
    scene.cards = {**scene.cards, Colour.DARK: frozenset({Kind.PULLER})}
    cube(scene, "a3", Colour.DARK)
    assert scene.look() == ["dark a3><"]
    cube(scene, "a4", Colour.LIGHT)
    assert scene.look(5) == ["kind? a4"]
    assert lines(scene.referee.answer(scene.time, Square.parse("a4"), piece("L+"))) == ["light a4+"]


def card(*kinds: Kind) -> frozenset[Kind]:
    return frozenset(kinds)


def test_a_card_may_be_laid_before_its_cube():
    scene = green_box()
    scene.cards = {Colour.LIGHT: card(Kind.PUSHER)}
    assert scene.look(3) == []
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look() == ["light a1<>"]


def test_a_player_has_time_to_lay_the_card():
    scene = green_box()
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(3.5) == []
    scene.cards = {Colour.LIGHT: card(Kind.PULLER)}
    assert scene.look() == ["light a1><"]


def test_a_card_that_lay_there_before_the_match_tells_nothing():
    scene = Scene(variant="green-box")
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    scene.look(1)
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(5) == ["kind? a1"]
    scene.cards = {Colour.LIGHT: card(Kind.PULLER)}
    assert scene.look() == ["light a1><"]


@pytest.mark.parametrize("seen", [{Kind.STRAIGHT, Kind.PULLER}, set(Kind)])
def test_a_card_that_is_only_read_less_surely_has_not_changed(seen):
    scene = green_box()
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look() == ["light a1+"]
    scene.cards = {Colour.LIGHT: card(*seen), Colour.DARK: card(Kind.PUSHER)}
    cube(scene, "a4", Colour.DARK)
    assert scene.look() == ["dark a4<>"]
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look(5) == ["kind? a2"]


def test_two_kinds_that_are_left_of_a_new_card_are_asked_about():
    scene = green_box()
    scene.cards = {Colour.LIGHT: card(Kind.PUSHER, Kind.PULLER)}
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(5) == ["kind? a1"]
    scene.cards = {Colour.LIGHT: card(Kind.PULLER)}
    assert scene.look() == ["light a1><"]


def after_an_answer(asked: frozenset[Kind], then: frozenset[Kind]) -> Scene:
    """Light's cube was asked about while its pile was seen so, and is a straight; Dark played with it seen `then`."""
    scene = green_box()
    scene.cards = {Colour.LIGHT: asked} if asked else {}
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(5) == ["kind? a1"]
    assert lines(scene.referee.answer(scene.time, Square.parse("a1"), piece("L+"))) == ["light a1+"]
    scene.cards = {Colour.LIGHT: then, Colour.DARK: card(Kind.PUSHER)}
    cube(scene, "a4", Colour.DARK)
    assert scene.look() == ["dark a4<>"]
    return scene


def test_a_card_that_is_laid_after_the_answer_is_not_taken_for_the_next():
    scene = after_an_answer(card(), then=card(Kind.STRAIGHT))
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look(5) == ["kind? a2"]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.DIAGONAL)}
    assert scene.look() == ["light a2x"]


@pytest.mark.parametrize("seen", [{Kind.STRAIGHT, Kind.DIAGONAL}, set(Kind)])
def test_after_a_card_that_was_not_read_surely_the_next_one_is_a_new_one(seen):
    scene = after_an_answer(card(*seen), then=card(*seen))
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.DIAGONAL)}
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look() == ["light a2x"]


def test_a_card_that_contradicts_the_answer_does_not_tell_the_next_cube():
    scene = after_an_answer(card(Kind.PULLER, Kind.PUSHER), then=card(Kind.PULLER))
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look(5) == ["kind? a2"]


def test_where_the_opponent_has_to_pass_a_new_card_may_be_that_of_the_next_cube():
    scene = green_box()
    scene.play(*["a1><", "b1+", "d1x", "b3><", "a3<>", "d2><", "c2+", "c1+", "c3+", "c4x", "d3x", "a4><"])
    assert scene.game.to_move is Colour.DARK
    cube(scene, "b4", Colour.DARK)  # a diagonal, as Dark's last one; Light has to pass then
    scene.look(2)
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.PUSHER)}  # for Dark's next cube
    assert scene.look(5) == ["kind? b4"]


def test_the_card_under_one_that_was_taken_back_tells_nothing():
    scene = green_box()
    for square, colour, kind in (("a1", Colour.LIGHT, Kind.STRAIGHT), ("a4", Colour.DARK, Kind.PUSHER)):
        scene.cards = {**scene.cards, colour: card(kind)}
        cube(scene, square, colour)
        scene.look()
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.DIAGONAL)}
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look() == ["light a2x"]
    assert lines(scene.referee.undo(scene.time)) == ["taken back a2x"]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}
    del scene.misread[Square.parse("a2")]
    scene.look()
    cube(scene, "c2", Colour.LIGHT)
    assert scene.look(5) == ["kind? c2"]


def test_a_cube_that_is_moved_to_another_square_keeps_its_card():
    scene = green_box()
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look() == ["light a1+"]
    del scene.misread[Square.parse("a1")]
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look() == ["taken back a1+", "light a2+"]


def laid(scene: Scene, square: str, colour: Colour, kind: Kind) -> list[str]:
    """A cube and its card."""
    scene.cards = {**scene.cards, colour: card(kind)}
    cube(scene, square, colour)
    return scene.look()


def begun(scene: Scene, *moves: tuple[str, Colour, Kind]) -> None:
    """A game in which these cubes were laid with their cards, and each was told."""
    for square, colour, kind in moves:
        assert laid(scene, square, colour, kind) == [f"{colour.value} {square}{kind.mark}"]


def test_the_cards_that_lie_there_when_a_game_is_joined_tell_no_later_cube():
    scene = Scene(variant="green-box")
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT), Colour.DARK: card(Kind.PUSHER)}
    for square, colour in (("a1", Colour.LIGHT), ("a4", Colour.DARK), ("c1", Colour.LIGHT)):
        cube(scene, square, colour)
    assert scene.look(2) == ["asks start"]
    for square, word in (("a1", "Lx"), ("a4", "D<>"), ("c1", "L+")):
        scene.referee.answer(scene.time, Square.parse(square), piece(word))
    scene.referee.join(scene.time, to_move=Colour.DARK, last=Square.parse("c1"))
    assert scene.look() == []
    cube(scene, "d1", Colour.DARK)
    assert scene.look(6) == ["kind? d1"]
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.PULLER)}
    assert scene.look() == ["dark d1><"]


def test_a_pile_that_is_hidden_when_a_game_is_joined_may_show_the_card_of_any_cube_that_lies_there():
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.STRAIGHT)
    laid(scene, "a4", Colour.DARK, Kind.PUSHER)
    piles, scene.cards = scene.cards, {}
    scene.look()
    for square, word in (("a1", "L+"), ("a4", "D<>")):
        scene.referee.answer(scene.time, Square.parse(square), piece(word))
    scene.referee.join(scene.time, to_move=Colour.LIGHT, last=Square.parse("a4"))
    scene.cards = piles
    assert scene.look() == []
    cube(scene, "d1", Colour.LIGHT)
    assert scene.look(6) == ["kind? d1"]


def test_the_cards_that_lie_there_when_a_person_begins_a_match_tell_no_cube_of_it():
    scene = Scene(variant="green-box")
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    scene.look(1)
    scene.referee.new_match(scene.time, Game.start())
    assert scene.look() == []
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(6) == ["kind? a1"]


@pytest.mark.parametrize(
    ("gone_s", "kind", "told"),
    [(4, Kind.PUSHER, "light a2<>"), (4, Kind.PULLER, "kind? a2"), (1, Kind.PUSHER, "kind? a2")],
)
def test_cards_that_were_picked_up_before_the_next_match_tell_its_cubes(gone_s, kind, told):
    scene = green_box()
    begun(
        scene,
        ("a1", Colour.LIGHT, Kind.PUSHER),
        ("d4", Colour.DARK, Kind.STRAIGHT),
        ("b4", Colour.LIGHT, Kind.PULLER),
    )
    scene.referee.new_match(scene.time, Game.start())
    scene.misread.clear()
    scene.cards = {}
    scene.look(gone_s)
    scene.cards = {Colour.LIGHT: card(kind)}
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look(6) == [told]


def test_the_card_of_a_cube_that_was_never_played_tells_none_of_the_next_match():
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.STRAIGHT)
    assert "illegal b2 square" in laid(scene, "b2", Colour.DARK, Kind.PUSHER)
    scene.referee.new_match(scene.time, Game.start())
    scene.misread.clear()
    scene.look()
    assert laid(scene, "a2", Colour.LIGHT, Kind.PULLER) == ["light a2><"]
    cube(scene, "a3", Colour.DARK)
    assert scene.look(6) == ["kind? a3"]


@pytest.mark.parametrize("seen_before", [True, False])
def test_the_card_of_a_cube_whose_kind_was_corrected_is_not_taken_for_the_next(seen_before):
    scene = green_box()
    if seen_before:
        assert laid(scene, "a1", Colour.LIGHT, Kind.STRAIGHT) == ["light a1+"]
        scene.cards = {Colour.LIGHT: card(Kind.DIAGONAL)}
        scene.look()
        scene.referee.correct(scene.time, 1, "a1x")
    else:
        cube(scene, "a1", Colour.LIGHT)
        assert scene.look(5) == ["kind? a1"]
        scene.referee.answer(scene.time, A1, piece("L+"))
        scene.referee.correct(scene.time, 1, "a1x")
        scene.cards = {Colour.LIGHT: card(Kind.DIAGONAL)}
    scene.look()
    assert laid(scene, "b2", Colour.DARK, Kind.PUSHER) == ["dark b2<>"]
    cube(scene, "d4", Colour.LIGHT)
    assert scene.look(6) == ["kind? d4"]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}
    assert scene.look() == ["light d4+"]


def test_a_cube_whose_kind_was_said_keeps_it_when_it_is_moved():
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.PUSHER)
    laid(scene, "d4", Colour.DARK, Kind.PULLER)
    cube(scene, "c3", Colour.LIGHT)
    assert scene.look(6) == ["kind? c3"]
    assert lines(scene.referee.answer(scene.time, C3, piece("L+"))) == ["light c3+"]
    scene.look()
    del scene.misread[C3]
    cube(scene, "c4", Colour.LIGHT)
    assert scene.look(6) == ["taken back c3+", "light c4+"]


def test_a_card_that_is_laid_for_a_cube_that_was_moved_tells_its_kind():
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.PUSHER)
    laid(scene, "d4", Colour.DARK, Kind.PULLER)
    assert laid(scene, "c3", Colour.LIGHT, Kind.STRAIGHT) == ["light c3+"]
    del scene.misread[C3]
    assert laid(scene, "c4", Colour.LIGHT, Kind.DIAGONAL)[-2:] == ["taken back c3+", "light c4x"]


def test_cards_that_are_seen_a_moment_after_the_board_lay_there_before():
    scene = Scene(variant="green-box")
    scene.look(0.2)
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    scene.look(1)
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(6) == ["kind? a1"]


@pytest.mark.parametrize("gap_s", [0.2, 2])
def test_an_older_card_that_shows_when_a_later_one_is_taken_up_tells_nothing(gap_s):
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.PUSHER)
    laid(scene, "d4", Colour.DARK, Kind.PULLER)
    assert laid(scene, "c3", Colour.LIGHT, Kind.STRAIGHT) == ["light c3+"]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.PUSHER)}
    del scene.misread[C3]
    scene.look(gap_s)
    cube(scene, "c4", Colour.LIGHT)
    assert "light c4<>" not in scene.look(1)
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.DIAGONAL)}
    assert scene.look(6)[-2:] == ["taken back c3+", "light c4x"]


def test_the_card_under_one_that_was_undone_tells_nothing_though_it_lay_there_before_the_match():
    scene = Scene(variant="green-box")
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    scene.look(1)
    assert laid(scene, "a1", Colour.LIGHT, Kind.PULLER) == ["light a1><"]
    scene.referee.undo(scene.time)
    scene.misread.clear()
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    scene.look(2)
    cube(scene, "a2", Colour.LIGHT)
    assert scene.look(6) == ["kind? a2"]


def test_the_cards_of_cubes_that_lay_there_before_a_restart_tell_no_later_cube():
    pieces = {A1: piece("Lx"), Square.parse("a4"): piece("D<>"), Square.parse("c1"): piece("L+")}
    scene = Scene(Game.from_position(pieces, to_move=Colour.DARK, last=Square.parse("c1")), variant="green-box")
    for square, lies in pieces.items():
        cube(scene, str(square), lies.colour)
    scene.referee.take_up([])
    scene.look(2)
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT), Colour.DARK: card(Kind.PUSHER)}
    scene.look(1)
    cube(scene, "d1", Colour.DARK)
    assert scene.look(6) == ["kind? d1"]


def test_the_card_of_a_move_that_was_undone_before_a_restart_tells_no_later_cube():
    scene = Scene(Game.replay(["a1+"]), variant="green-box")
    cube(scene, "a1", Colour.LIGHT)
    cube(scene, "a3", Colour.DARK)
    scene.referee.take_up([Move(Square.parse("a3"), Kind.PULLER, Colour.DARK)])
    scene.look(2)
    scene.cards = {Colour.DARK: card(Kind.PULLER)}
    scene.look(2)
    del scene.misread[Square.parse("a3")]
    scene.look(2)
    cube(scene, "a2", Colour.DARK)
    assert scene.look(6) == ["kind? a2"]


def test_a_card_that_a_move_once_had_in_the_log_tells_no_cube_after_a_restart():
    scene = Scene(Game.replay(["a1+", "a3x"]), variant="green-box")
    cube(scene, "a1", Colour.LIGHT)
    cube(scene, "a3", Colour.DARK)
    scene.referee.take_up([], [piece("L+"), piece("Dx"), piece("D><")])
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT), Colour.DARK: card(Kind.PULLER)}
    scene.look(2)
    assert laid(scene, "c1", Colour.LIGHT, Kind.PUSHER) == ["light c1<>"]
    cube(scene, "d4", Colour.DARK)
    assert scene.look(6) == ["kind? d4"]


@pytest.mark.parametrize("unseen_s", [0.0, 30.0])
def test_of_two_cubes_that_nobody_saw_come_the_card_on_top_may_be_that_of_the_next(unseen_s):
    """Dark's a4 is a straight in truth, and the pusher is the card of Dark's next cube."""
    scene = green_box()
    begun(scene, ("a1", Colour.LIGHT, Kind.STRAIGHT))
    scene.time += unseen_s
    cube(scene, "a4", Colour.DARK)
    cube(scene, "a2", Colour.LIGHT)
    scene.cards = {Colour.LIGHT: card(Kind.PULLER), Colour.DARK: card(Kind.PUSHER)}
    assert scene.look(9) == ["kind? a4"]
    assert lines(scene.referee.answer(scene.time, Square.parse("a4"), piece("D+"))) == ["dark a4+", "light a2><"]


@pytest.mark.parametrize("shown_s", [0.5, 3.0, 9.0])
def test_of_a_cube_that_was_covered_while_its_opponent_played_the_card_may_be_that_of_the_next(shown_s):
    """Dark plays a straight to a4, out of sight, and lays the next card when Light has played."""
    scene = green_box()
    begun(scene, ("a1", Colour.LIGHT, Kind.STRAIGHT))
    scene.hand("a4")
    scene.look(1)
    cube(scene, "a2", Colour.LIGHT)
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.PULLER)}
    scene.look(shown_s)
    cube(scene, "a4", Colour.DARK)
    scene.hand()
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.PUSHER)}
    assert "kind? a4" in scene.look(12)
    assert len(scene.game.moves) == 1


@pytest.mark.parametrize("shown_s", [0.8, 1.5])
def test_a_card_that_showed_before_that_of_the_next_cube_may_be_the_cubes(shown_s):
    """Dark plays the diagonal once more, Light has to pass, and Dark lays the next card before its cube."""
    scene = green_box()
    begun(scene, ("c1", Colour.LIGHT, Kind.STRAIGHT), ("c3", Colour.DARK, Kind.DIAGONAL))
    begun(scene, ("b4", Colour.LIGHT, Kind.PULLER), ("b3", Colour.DARK, Kind.STRAIGHT))
    begun(scene, ("b2", Colour.LIGHT, Kind.DIAGONAL))
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.DIAGONAL)}
    cube(scene, "a3", Colour.DARK)
    assert scene.look(shown_s) == []
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.PUSHER)}
    assert scene.look(6) == ["kind? a3"]


def test_two_cubes_that_are_lifted_with_their_cards_are_disturbed_and_no_more():
    scene = green_box()
    begun(
        scene,
        ("a1", Colour.LIGHT, Kind.PUSHER),
        ("d4", Colour.DARK, Kind.PULLER),
        ("c3", Colour.LIGHT, Kind.DIAGONAL),
        ("b2", Colour.DARK, Kind.STRAIGHT),
        ("b3", Colour.LIGHT, Kind.STRAIGHT),
    )
    del scene.misread[C3], scene.misread[Square.parse("b3")]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.PUSHER)}
    assert scene.look(2) == ["disturbed b3 c3"]
    cube(scene, "b1", Colour.LIGHT)
    assert not [line for line in scene.look(3) if line.startswith("light")]


def two_cubes_after_one_that_is_asked_about() -> Scene:
    """Dark's cube on b1 waits for an answer, Light's on a1 has its card, and Dark's on b2 came with the next card."""
    scene = green_box()
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    cube(scene, "b4", Colour.LIGHT)
    assert scene.look() == ["light b4+"]
    cube(scene, "b1", Colour.DARK)  # its card cannot be read
    assert scene.look(5) == ["kind? b1"]
    scene.cards = {Colour.LIGHT: card(Kind.PULLER)}
    cube(scene, "a1", Colour.LIGHT)
    assert scene.look(3) == []
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.STRAIGHT)}
    cube(scene, "b2", Colour.DARK)
    assert scene.look(3) == []
    return scene


def test_the_card_of_the_next_cube_is_not_taken_for_that_of_one_still_asked_about():
    scene = two_cubes_after_one_that_is_asked_about()
    assert lines(scene.referee.answer(scene.time, Square.parse("b1"), piece("D><"))) == ["dark b1><", "light a1><"]
    assert scene.look(5) == ["kind? b2"]


def test_the_card_of_the_next_cube_is_not_taken_for_that_of_one_that_was_first_seen_with_the_opponents():
    scene = green_box()
    scene.hand("b4", "b1")
    scene.look(2)
    cube(scene, "b4", Colour.LIGHT)
    cube(scene, "b1", Colour.DARK)
    scene.cards = {Colour.DARK: card(Kind.PULLER)}  # that of Light cannot be read
    scene.hand()
    assert scene.look(5) == ["kind? b4"]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}  # for Light's next cube
    assert scene.look(3) == []


def test_what_the_piles_told_holds_while_a_hand_is_over_the_cubes_that_came_later():
    scene = two_cubes_after_one_that_is_asked_about()
    scene.hand("a1", "b2")
    assert scene.look(1) == []
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.DIAGONAL)}
    scene.hand()
    assert scene.look(3) == []
    answered = lines(scene.referee.answer(scene.time, Square.parse("b1"), piece("D><")))
    assert answered == ["dark b1><", "light a1><", "kind? b2"]


def test_a_card_that_becomes_readable_late_is_not_taken_for_that_of_the_next_cube():
    scene = green_box()
    cube(scene, "b4", Colour.LIGHT)
    scene.cards = {Colour.LIGHT: card(*Kind)}
    assert scene.look(5) == ["kind? b4"]
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.PULLER)}
    cube(scene, "b1", Colour.DARK)
    scene.look(3)
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}
    assert scene.look(2) == []


def after_two_at_once() -> Scene:
    """Of Dark's cube on d1 and Light's on d3 that came at once, the first is asked about."""
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.STRAIGHT)
    cube(scene, "d1", Colour.DARK)
    cube(scene, "d3", Colour.LIGHT)
    assert scene.look(5) == ["kind? d1"]
    return scene


@pytest.mark.parametrize("hidden", ["a4", "b4"])  # a piece beside a hand is not believed either
def test_the_card_of_a_cube_under_a_hand_is_not_taken_for_that_of_one_in_the_open(hidden):
    scene = after_two_at_once()
    cube(scene, "a4", Colour.DARK)
    scene.look(1)
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.DIAGONAL)}
    assert scene.look(2) == []
    scene.hand(hidden)
    scene.look(1)
    scene.hand()
    assert scene.look(2) == []


def test_the_card_of_a_cube_that_comes_to_rest_later_is_not_taken_for_that_of_one_in_the_open():
    scene = after_two_at_once()
    scene.hand("a4")
    scene.look(0.3)
    cube(scene, "a4", Colour.DARK)
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.DIAGONAL)}
    scene.look(0.6)
    scene.hand()
    assert scene.look(3) == []


def test_a_cube_that_is_moved_does_not_have_the_opponents_next_one_told_by_a_card_that_lay_there_before():
    scene = green_box()
    laid(scene, "a1", Colour.LIGHT, Kind.STRAIGHT)
    laid(scene, "a4", Colour.DARK, Kind.STRAIGHT)
    assert laid(scene, "d4", Colour.LIGHT, Kind.PULLER) == ["light d4><"]
    del scene.misread[Square.parse("d4")]
    cube(scene, "b4", Colour.LIGHT)
    cube(scene, "b3", Colour.DARK)
    assert "dark b3+" not in scene.look(6)


def after_an_exchange() -> Scene:
    """Light's card was wrong and is exchanged for another before Dark plays."""
    scene = green_box()
    assert laid(scene, "a1", Colour.LIGHT, Kind.STRAIGHT) == ["light a1+"]
    scene.cards = {Colour.LIGHT: card(Kind.PULLER)}
    assert scene.look(3) == ["kind? a1"]
    return scene


def test_a_card_that_is_exchanged_for_another_before_the_opponent_plays_is_asked_about():
    scene = after_an_exchange()
    assert laid(scene, "a2", Colour.DARK, Kind.PUSHER) == []
    told = lines(scene.referee.answer(scene.time, A1, piece("L><")))
    assert told == ["taken back a1+", "light a1><", "dark a2<>"]


def test_the_next_card_that_is_laid_before_the_opponent_plays_is_asked_about_once():
    scene = after_an_exchange()
    assert lines(scene.referee.answer(scene.time, A1, piece("L+"))) == []
    assert laid(scene, "a4", Colour.DARK, Kind.PUSHER) == ["dark a4<>"]
    cube(scene, "c1", Colour.LIGHT)
    assert scene.look(2) == ["light c1><"]


def test_a_card_that_is_taken_up_and_put_back_is_not_asked_about_any_more():
    scene = after_an_exchange()
    scene.cards = {Colour.LIGHT: card(Kind.STRAIGHT)}
    assert scene.look(2) == []
    assert laid(scene, "a4", Colour.DARK, Kind.PUSHER) == ["dark a4<>"]


def test_a_card_that_is_exchanged_stays_in_doubt_while_its_pile_is_hidden():
    scene = after_an_exchange()
    scene.cards = {}
    assert laid(scene, "a2", Colour.DARK, Kind.PUSHER) == []


def test_an_exchanged_card_does_not_tell_the_owners_next_cube():
    scene = after_an_exchange()
    laid(scene, "a2", Colour.DARK, Kind.PUSHER)
    cube(scene, "d4", Colour.LIGHT)
    scene.look(1)
    told = lines(scene.referee.answer(scene.time, A1, piece("L><")))
    assert told[:3] == ["taken back a1+", "light a1><", "dark a2<>"]
    assert not [line for line in [*told, *scene.look(6)] if line.startswith("light d4")]


def with_a_card_beneath() -> Scene:
    """Light's straight lies beneath a puller, and Light is to move."""
    scene = green_box()
    begun(
        scene,
        ("a1", Colour.LIGHT, Kind.STRAIGHT),
        ("a4", Colour.DARK, Kind.STRAIGHT),
        ("b4", Colour.LIGHT, Kind.PULLER),
        ("b3", Colour.DARK, Kind.PULLER),
    )
    return scene


def test_a_card_beneath_one_that_is_taken_up_for_a_moment_does_not_tell_the_next_cube():
    scene = with_a_card_beneath()
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}
    cube(scene, "b2", Colour.LIGHT)
    assert scene.look(1.5) == []
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.PULLER)}
    assert scene.look(3) == ["kind? b2"]
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}
    assert scene.look(4) == ["light b2+"]


def test_an_exchanged_card_stays_in_doubt_when_the_owners_next_cube_gets_its_card():
    scene = after_an_exchange()
    cube(scene, "a2", Colour.DARK)  # which waits for its card
    scene.look(1)
    cube(scene, "c1", Colour.LIGHT)
    scene.look(1)
    scene.cards = {Colour.LIGHT: card(Kind.DIAGONAL), Colour.DARK: card(Kind.PUSHER)}
    scene.look(2)
    assert [str(move) for move in scene.game.history] == ["a1+"]
    assert A1 in {problem.square for problem in scene.referee.problems}


def test_a_cube_whose_card_is_about_to_tell_it_is_not_asked_about():
    scene = with_a_card_beneath()
    cube(scene, "b2", Colour.LIGHT)
    assert scene.look(3) == []
    scene.cards = {**scene.cards, Colour.LIGHT: card(Kind.STRAIGHT)}  # as it lies beneath, too
    assert scene.look(4) == ["light b2+"]


def before_a_pass() -> Scene:
    """Dark plays a card that is new, but may hide the same card again, after which Light would have to pass."""
    scene = green_box()
    scene.play(*["a1><", "b1+", "d1x", "b3><", "a3<>", "d2><", "c2+", "c1+", "c3+", "c4x", "d3x", "a4><"])
    cube(scene, "b4", Colour.DARK)
    scene.look(1)
    scene.cards = {**scene.cards, Colour.DARK: card(Kind.PUSHER)}
    assert scene.look(1) == []
    return scene


def test_a_cube_after_which_the_opponent_played_is_not_one_after_which_the_opponent_had_to_pass():
    scene = before_a_pass()
    cube(scene, "d4", Colour.LIGHT)
    assert scene.look(2)[0] == "dark b4<>"


def test_a_cube_after_which_both_played_may_be_one_after_which_the_opponent_had_to_pass():
    scene = before_a_pass()
    cube(scene, "d4", Colour.DARK)
    scene.look(1)
    cube(scene, "a2", Colour.LIGHT)
    assert not [line for line in scene.look(6) if line.startswith("dark")]


def test_a_card_that_is_laid_while_two_cubes_wait_tells_neither_when_the_other_is_lifted():
    piles, game, cards = CardPiles(), Game.start(), {Colour.LIGHT: card(Kind.PUSHER)}
    one, other = (Arrival(square, of_colour(Colour.LIGHT), 0.0, 0.0) for square in (A1, C3))
    piles.narrow(game, [one, other], {}, 1.0)
    piles.see(cards, 2.0)
    piles.narrow(game, [one, other], cards, 2.0)
    assert piles.narrow(game, [one], cards, 5.0) == [one]
