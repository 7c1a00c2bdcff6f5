"""Perfect play: what is known of the game, and that book and search agree with slower ways to the same end."""

from random import Random

import pytest

from companion.analysis import Analyst, evaluate
from companion.analysis.book import RANKS, UNKNOWN
from companion.rules import Colour, Game, Kind, parse_moves
from tests.analysis.positions import brute_force, random_game, set_up

EXAMPLE = parse_moves("a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x - b3<> b1<>")
WITHOUT_BOOK = memoryview(bytes([UNKNOWN & 255]) * RANKS).cast("b")


@pytest.fixture(scope="module")
def analyst():
    return Analyst()


def names(moves):
    return {str(move) for move in moves}


def first_move_values(analyst, first):
    """What every first move leads to, by kind and whether its square is a corner, on the edge or central."""
    start = Game.start(first)
    values = {}
    for square in start.legal_squares():
        inner = (square.row in (1, 2)) + (square.column in (1, 2))
        for kind in Kind:
            value = analyst.evaluate(start.play(f"{square}{kind.mark}")).margin
            values.setdefault((kind.mark, ("corner", "edge", "centre")[inner]), set()).add(value)
    return values


def test_outside_dark_wins_by_one_and_a_diagonal_in_the_corner_loses_by_two(analyst):
    assert analyst.evaluate(Game.start("outside")).margin == -1
    values = first_move_values(analyst, "outside")
    assert values.pop(("x", "corner")) == {-2}
    assert all(value == {-1} for value in values.values())


def test_outside_every_first_move_but_the_diagonal_in_the_corner_is_best(analyst):
    best = analyst.evaluate(Game.start("outside")).best
    assert len(best) == 12 * 4 - 4
    assert names(best).isdisjoint({"a1x", "d1x", "a4x", "d4x"})


def test_anywhere_light_wins_by_one_only_with_a_pusher_in_the_centre(analyst):
    evaluation = analyst.evaluate(Game.start("anywhere"))
    assert evaluation.margin == 1
    assert evaluation.winner is Colour.LIGHT
    assert names(evaluation.best) == {"b2<>", "b3<>", "c2<>", "c3<>"}
    values = first_move_values(analyst, "anywhere")
    centre = {mark: value for (mark, place), value in values.items() if place == "centre"}
    assert centre == {"<>": {1}, "+": {0}, "x": {-1}, "><": {-1}}


@pytest.mark.parametrize(
    ("played", "margin", "best"),
    [
        (15, 3, {"b1<>", "b1><", "b1x"}),  # the last chance, one kind and one square left
        (14, 3, {"b3<>", "c4<>"}),
        (16, 3, set()),  # the game is over
    ],
)
def test_the_end_of_the_worked_example(played, margin, best):
    evaluation = evaluate(Game.replay(EXAMPLE[:played]))
    assert (evaluation.margin, names(evaluation.best), evaluation.exact) == (margin, best, True)


def test_the_best_moves_say_whose_they_are_and_can_be_played(analyst):
    game = Game.replay(EXAMPLE[:8])
    value = analyst.evaluate(game)
    for move in value.best:
        assert move.colour is game.to_move
        assert analyst.evaluate(game.play(move)).margin == value.margin


def check_against_brute_force(seed, count):
    random, analyst = Random(seed), Analyst()
    for number in range(count):
        pieces = random.randint(9, 15)
        rulings = 0.15 if number % 3 == 1 else 0.0
        game = set_up(random, pieces) if number % 10 == 0 else random_game(random, pieces, rulings=rulings)
        evaluation = analyst.evaluate(game)
        assert (evaluation.margin, names(evaluation.best)) == brute_force(game), game
        assert evaluation.exact


def test_positions_near_the_end_agree_with_brute_force():
    check_against_brute_force(1, 40)


@pytest.mark.slow
def test_1000_positions_near_the_end_agree_with_brute_force():
    check_against_brute_force(2, 1000)


def check_around_the_edge_of_the_book(seed, counts):
    random, analyst = Random(seed), Analyst()
    for pieces, count in counts.items():
        for _ in range(count):
            game = random_game(random, pieces)
            alone = Analyst(book=WITHOUT_BOOK)
            assert analyst.evaluate(game) == alone.evaluate(game), game


def test_positions_around_the_edge_of_the_book_agree_with_the_search_alone():
    check_around_the_edge_of_the_book(3, {4: 3, 5: 4})


@pytest.mark.slow
def test_200_positions_around_the_edge_of_the_book_agree_with_the_search_alone():
    check_around_the_edge_of_the_book(4, {3: 6, 4: 94, 5: 100})


@pytest.mark.parametrize("pieces", [1, pytest.param(2, marks=pytest.mark.slow), 3])
def test_rulings_among_the_first_pieces_are_evaluated_exactly(analyst, pieces):
    random = Random(pieces)
    game = random_game(random, pieces, rulings=1)
    evaluation = analyst.evaluate(game)
    assert evaluation.exact
    after = {move: analyst.evaluate(game.play(move)).margin for move in evaluation.best}
    assert set(after.values()) == {evaluation.margin}


def test_the_first_move_rule_does_not_matter_once_it_has_been_made(analyst):
    outside, anywhere = (analyst.evaluate(Game.start(first).play("a1+")) for first in ("outside", "anywhere"))
    assert outside == anywhere


def test_an_early_pass_is_a_free_play(analyst):
    game = Game.start().play("b2+", ruled=True).play("c3+", ruled=True).play("d4+", ruled=True).play("a1x", ruled=True)
    assert str(game.history[-1]) == "-"
    evaluation = analyst.evaluate(game)
    assert evaluation.exact
    assert all(move.colour is game.to_move for move in evaluation.best)
