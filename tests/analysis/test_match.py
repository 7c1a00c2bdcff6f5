"""A match in hindsight: what was given away, where it turned, the line that would have held, the plots."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from random import Random

import pytest

from companion.analysis import Analyst, Evaluation, analyse_match, choose_move, margin_bars, margin_svg
from companion.analysis.match import Line, MatchAnalysis
from companion.errors import RulesError
from companion.rules import Colour, Game, Layout, MatchText, parse_moves
from tests.analysis.positions import random_game

OPENING = Game.replay(["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+"])
PLAYED = ["c3<>", "c1x", "d2><", "d3+", "d4x", "-", "b4x", "-", "b3<>", "b1<>"]


@pytest.fixture(scope="module")
def example():
    """The worked example, joined after its sixth move so that it takes no time."""
    pieces = {square: OPENING.content(square) for square in OPENING.layout if OPENING.content(square)}
    joined = Game.from_position(pieces, to_move=OPENING.to_move, last=OPENING.constraint.square)
    return analyse_match(MatchText(joined.extend(PLAYED)))


def test_each_move_is_worth_the_change_it_makes(example):
    assert [str(move.move) for move in example.moves] == [text for text in PLAYED if text != "-"]
    assert [move.ply for move in example.moves] == [1, 2, 3, 4, 5, 7, 9, 10]
    for one, two in zip(example.moves, example.moves[1:], strict=False):
        assert one.after == two.before
    for move in example.moves:
        lost = move.before.margin - move.after.margin
        assert move.given_away == (lost if move.move.colour is Colour.LIGHT else -lost)
        assert (move.given_away == 0) == (move.move in move.before.best)


class Hurried(Analyst):
    """Proves so many positions, and only estimates the others."""

    def __init__(self, proofs: int) -> None:
        super().__init__()
        self.proofs = proofs

    def evaluate(self, game: Game) -> Evaluation:
        self.proofs -= 1
        return replace(super().evaluate(game), exact=self.proofs >= 0)


def test_a_best_line_ends_where_it_is_not_proven_any_more():
    pieces = {square: OPENING.content(square) for square in OPENING.layout if OPENING.content(square)}
    joined = Game.from_position(pieces, to_move=OPENING.to_move, last=OPENING.constraint.square)
    whole, cut = (analyse_match(MatchText(joined), Hurried(proofs)) for proofs in (99, 3))
    assert whole.line.end.outcome
    assert len(whole.line.plies) > 4
    assert cut.line.plies == whole.line.plies[: len(cut.line.plies)]
    assert 1 <= len(cut.line.plies) < len(whole.line.plies)


def test_a_match_that_is_over_is_worth_its_result(example):
    assert example.now == Evaluation(3, (), exact=True)
    assert example.margins[-1] == 3
    assert example.exact


def test_the_turning_point_is_the_last_move_that_changed_who_wins(example):
    turned = [move for move in example.moves if move.before.winner is not move.after.winner]
    assert example.turning_point == (turned[-1] if turned else None)


def test_the_best_line_starts_where_the_match_went_wrong_and_keeps_its_value(example):
    key, line = example.key_move, example.line
    assert line.start.history == line.end.history[: key.ply - 1]
    assert line.plies[0] in key.before.best
    assert line.end.score.light - line.end.score.dark == key.before.margin
    assert parse_moves(str(line))[0].plain == line.plies[0].plain
    assert key.move.plain in example.sentence
    assert str(line) in example.sentence


def test_a_line_is_numbered_as_in_the_match():
    game = Game.replay(["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x", "d2><"])
    analysis = analyse_line(game)
    assert str(analysis.line).startswith("5... ")
    assert str(analyse_line(game.play("d3+")).line).startswith("6. ")


def test_a_line_of_a_match_that_dark_began_is_numbered_as_in_the_match():
    told = Game.replay(["a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x", "d2><"])
    pieces = {square: piece for square, piece in zip(told.layout.squares, told.contents, strict=True) if piece}
    joined = Game.from_position(pieces, to_move=Colour.DARK, last=None)
    assert str(analyse_line(joined).line).startswith("1... ")
    assert str(analyse_line(joined.play("d3+")).line).startswith("2. ")


def analyse_line(game):
    """The best line from the last position of a game, without looking at what went before."""
    analyst, end = Analyst(), game
    while end.to_move is not None:
        end = end.play(analyst.evaluate(end).best[0])
    return MatchAnalysis(game, (), analyst.evaluate(game), Line(game, end))


def test_an_unfinished_match_is_told_how_it_would_go_on():
    joined = OPENING.play("c3<>")
    analysis = analyse_line(joined)
    assert "With best play from here: 4... " in analysis.sentence
    assert analysis.as_dict()["over"] is False


def test_a_ruling_gives_nothing_away():
    game = random_game(Random(1), 10)
    square = next(square for square in game.layout if game.content(square) is None)
    pieces = {square: game.content(square) for square in game.layout if game.content(square)}
    joined = Game.from_position(pieces, to_move=game.to_move, last=None)
    ruled = joined.play(f"{square}+", colour=joined.to_move.other, ruled=True)
    analysis = analyse_match(MatchText(ruled))
    assert [move.given_away for move in analysis.moves] == [0]


def test_progress_is_told_position_by_position():
    told = []
    game = Game.from_position({}, to_move=Colour.LIGHT, last=None, layout=Layout.parse("8x2"))
    analyse_match(MatchText(game), Analyst(stop=lambda: True), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]


def test_the_drawing_is_one_svg_that_says_in_words_what_it_shows(example):
    root = ET.fromstring(margin_svg(example))
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert root.find(f"{space}desc").text == example.sentence
    texts = [text.text for text in root.iter(f"{space}text")]
    assert [text for text in texts if text in PLAYED] == [text for text in PLAYED if text != "-"]
    rings = [circle for circle in root.iter(f"{space}circle") if circle.get("fill") == "none"]
    assert len(rings) == (example.turning_point is not None)


def test_the_bars_have_a_column_for_the_start_and_every_move(example):
    rows = margin_bars(example).splitlines()
    zero = next(row for row in rows if row.split()[0] == "0")
    assert zero.count("──") == len(example.moves) + 1
    blocks = sum(row.count("██") for row in rows), sum(row.count("▒▒") for row in rows)
    assert blocks == (sum(max(0, m) for m in example.margins), sum(max(0, -m) for m in example.margins))


def test_another_layout_is_estimated_and_says_so():
    game = Game.start(layout=Layout.parse("8x2"))
    looks = iter([False] * 3)
    evaluation = Analyst(stop=lambda: next(looks, True)).evaluate(game)
    assert not evaluation.exact
    assert evaluation.best
    analysis = analyse_match(MatchText(game.play(evaluation.best[0])), Analyst(stop=lambda: True))
    assert not analysis.exact
    assert "estimate" in analysis.sentence
    assert analysis.as_dict()["exact"] is False


def test_on_another_layout_the_end_is_seen_exactly():
    random, game = Random(2), Game.start(layout=Layout.parse("8x2"))
    while (game.light | game.dark).bit_count() < 13:
        game = game.play(min(game.legal_squares()).__str__() + first_mark(random, game))
    evaluation = Analyst().evaluate(game)
    assert evaluation.exact
    assert evaluation.margin == slow_margin(game)


def first_mark(random, game):
    return random.choice([kind.mark for kind, left in game.in_hand(game.to_move).items() if left])


def slow_margin(game):
    """The margin by playing out every line with the rules alone."""
    if game.to_move is None:
        return game.score.light - game.score.dark
    kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left]
    margins = (slow_margin(game.play(f"{square}{kind.mark}")) for square in game.legal_squares() for kind in kinds)
    return max(margins) if game.to_move is Colour.LIGHT else min(margins)


@pytest.mark.parametrize("points", [0, 1, 2])
def test_a_chosen_move_gives_away_no_more_than_it_may(points):
    analyst = Analyst()
    for seed in range(12):
        game = random_game(Random(seed), 9)
        before = analyst.evaluate(game).margin
        within = analyst.moves_within(game, points).best
        sign = 1 if game.to_move is Colour.LIGHT else -1
        lost = {move: sign * (before - analyst.evaluate(game.play(move)).margin) for move in every_move(game)}
        assert set(within) == {move for move in lost if lost[move] <= points}
        assert choose_move(game, Random(seed), give_away=points, analyst=analyst) in within


def every_move(game):
    kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left]
    texts = (f"{square}{kind.mark}" for square in game.legal_squares() for kind in kinds)
    return [game.play(text).history[len(game.history)] for text in texts]


def test_the_same_chance_chooses_the_same_move():
    game = random_game(Random(3), 8)
    assert choose_move(game, Random(4), give_away=3) == choose_move(game, Random(4), give_away=3)


def test_there_is_no_move_to_choose_after_the_end_or_for_less_than_nothing():
    with pytest.raises(RulesError, match="the game is over"):
        choose_move(OPENING.extend(PLAYED), Random(0))
    with pytest.raises(RulesError, match="give_away is -1"):
        choose_move(OPENING, Random(0), give_away=-1)
