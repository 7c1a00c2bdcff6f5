"""Games as stories: the rule book's worked example, and every way a game can end."""

import doctest

import pytest

import companion.rules
from companion.rules import Colour, Game, IllegalMoveError, Kind, Layout, Position, Score, parse_moves
from tests.rules.pictures import WORKED_EXAMPLE, names, position, told

LIGHT, DARK = Colour.LIGHT, Colour.DARK

# player, move, score after it, scoring lines new with it, and what the rules say to the next player
STORY = [
    ("light", "a1+", "0-0", "", "Straight at a1: row 1 or column a"),
    ("dark", "a3><", "0-0", "", "Puller at a3: a square touching a3"),
    ("light", "a2+", "0-0", "", "Straight at a2: row 2 or column a"),
    ("dark", "a4<>", "0-0", "", "Pusher at a4: a square not touching a4"),
    ("light", "b2><", "0-0", "", "Puller at b2: a square touching b2"),
    ("dark", "c2+", "0-0", "", "Straight at c2: row 2 or column c"),
    ("light", "c3<>", "1-0", "a1-c3", "Pusher at c3: a square not touching c3"),
    ("dark", "c1x", "1-0", "", "Diagonal at c1: a diagonal through c1"),
    ("light", "d2><", "1-0", "", "Puller at d2: a square touching d2"),
    ("dark", "d3+", "1-0", "", "Straight at d3: row 3 or column d"),
    ("light", "d4x", "2-0", "a1-d4", ""),
    ("dark", "-", "2-0", "", "Free play after Dark's pass: any empty square"),
    ("light", "b4x", "3-0", "d2-b4", ""),
    ("dark", "-", "3-0", "", "Free play after Dark's pass: any empty square"),
    ("light", "b3<>", "4-0", "b2-b4", "Dark's last chance. Pusher at b3: a square not touching b3"),
    ("dark", "b1<>", "4-1", "b1-d3", "The game is over. Light wins 4-1."),
]


def test_the_worked_example_runs_as_the_rule_book_tells_it():
    game, before = Game.start(), Score(0, 0)
    for number, (player, move, score, new_lines, words) in enumerate(STORY):
        if move == "-":
            assert (str(game.history[number]), game.history[number].colour) == ("-", Colour(player))
        else:
            assert game.to_move is Colour(player)
            game = game.play(move)
        assert str(game.score) == score
        assert " ".join(str(line) for line in game.score.lines if line not in before.lines) == new_lines
        if words:
            assert game.explanation == words
        before = game.score

    assert (game.to_move, game.outcome.winner, str(game.outcome)) == (None, LIGHT, "Light wins 4-1")
    assert (game.pieces_left(LIGHT), game.pieces_left(DARK)) == (0, 2)
    assert game.in_hand(DARK) == {Kind.STRAIGHT: 0, Kind.DIAGONAL: 1, Kind.PUSHER: 0, Kind.PULLER: 1}


def test_the_worked_example_replays_from_its_text():
    game = Game.replay(parse_moves(WORKED_EXAMPLE))
    assert told(game) == " ".join(move for _, move, *_ in STORY)
    assert game.score == Score(4, 1)


def test_a_passed_player_s_opponent_may_play_anywhere_and_binds_again():
    game = Game.replay([move for _, move, *_ in STORY[:12]])
    assert game.free_play
    assert names(game.legal_squares()) == "b1 d1 b3 b4 c4"
    after = game.play("b4<>")
    assert not after.free_play
    assert names(after.legal_squares()) == "b1 d1"


def test_a_last_chance_is_one_piece_and_the_rest_stays_in_hand():
    game = position("d### s### SDPU #PUD", LIGHT, "a3").play("b3+")
    assert (game.to_move, game.last_chance) == (DARK, True)
    assert names(game.legal_squares()) == "c3 d3 b4"
    game = game.play("c3x")
    assert told(game) == "b3+ c3x"
    assert game.to_move is None
    assert game.pieces_left(DARK) == 5
    assert game.outcome.score == Score(5, 0)  # a2-d2 is 2; b1-d1, b1-b3 and b3-d1 are 1 each


def test_a_last_chance_without_a_legal_square_is_forfeited_as_a_pass():
    game = position("d### s### SDPU #PUD", LIGHT, "a3").play("a1+")
    assert told(game) == "a1+ -"
    assert game.history[-1].colour is DARK
    assert game.to_move is None
    assert game.pieces_left(DARK) == 6
    assert game.outcome.score == Score(4, 0)  # a1-d1 and a2-d2


def test_a_last_piece_that_was_a_free_play_leaves_a_last_chance_too():
    game = position("P### S### dpu# spud", LIGHT, "a1")
    assert told(game) == "-"
    assert (game.to_move, game.free_play, game.last_chance) == (DARK, True, False)
    assert names(game.legal_squares()) == "d2 b3 c3 d3 b4 c4 d4"
    game = game.play("d4+")
    assert (game.to_move, game.last_chance) == (LIGHT, True)
    assert names(game.legal_squares()) == "d2 d3 b4 c4"
    game = game.play("b4x")
    assert told(game) == "- d4+ b4x"
    assert game.to_move is None
    assert game.pieces_left(LIGHT) == 5


def test_a_last_chance_after_a_free_play_can_be_forfeited_as_well():
    game = position("P### S#U# dpu# spus", LIGHT, "a1").play("d4x")
    assert told(game) == "- d4x -"
    assert game.to_move is None
    assert (game.pieces_left(LIGHT), game.pieces_left(DARK)) == (5, 0)


def test_the_board_can_be_full_before_the_hands_are_empty():
    game = Game.replay(["a1><", "b1><", "a2><", "b2><"], layout=Layout.parse("##/##"))
    assert told(game) == "a1>< b1>< a2>< b2>< -"
    assert game.to_move is None
    assert str(game.outcome) == "Draw 0-0"
    assert (game.pieces_left(LIGHT), game.pieces_left(DARK)) == (6, 6)


def test_on_a_tiny_board_a_pusher_passes_the_turn_right_back():
    game = Game.start(layout=Layout.parse("##/##")).play("a1<>")
    assert told(game) == "a1<> -"
    assert (game.to_move, game.free_play) == (LIGHT, True)
    assert names(game.legal_squares()) == "b1 a2 b2"
    assert told(game.play("b1<>").play("a2x")) == "a1<> - b1<> - a2x -"


def test_hands_of_two_sets_do_not_end_the_game_after_eight_pieces():
    drawing = "SSDDPPUU ######## ######## sddppuu#"
    game = position(drawing, DARK, "h4").play("h3+")
    assert (game.to_move, game.last_chance) == (LIGHT, False)
    assert game.pieces_left(LIGHT) == 8


@pytest.mark.parametrize(
    ("first", "legal"),
    [
        ("outside", "a1 b1 c1 d1 a2 d2 a3 d3 a4 b4 c4 d4"),
        ("anywhere", "a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3 a4 b4 c4 d4"),
    ],
)
def test_the_first_piece_goes_where_the_match_has_agreed(first, legal):
    assert names(Game.start(first).legal_squares()) == legal


def test_nothing_is_legal_after_the_end():
    game = Game.replay(parse_moves(WORKED_EXAMPLE))
    assert game.legal_squares() == frozenset()
    assert not game.free_play
    with pytest.raises(IllegalMoveError):
        game.play("d1x")


def test_the_example_in_the_documentation_runs():
    assert doctest.testmod(companion.rules).attempted == 3
    assert doctest.testmod(companion.rules).failed == 0


def test_a_game_is_a_value():
    one, other = (Game.start().play("a1+").play("a3><") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one.play("a2+") != one
    assert told(one) == "a1+ a3><"


def test_a_game_knows_its_placements_apart_from_its_passes():
    assert Game.start().last_move is None
    game = Game.replay([move for _, move, *_ in STORY[:14]])
    assert [str(move) for move in game.moves] == [move for _, move, *_ in STORY[:14] if move != "-"]
    assert str(game.last_move) == "b4x"


def test_a_game_is_told_otherwise_from_where_it_was_joined():
    half = Game.replay([move for _, move, *_ in STORY[:9]])
    pieces = tuple((square, piece) for square, piece in zip(half.layout.squares, half.contents, strict=True) if piece)
    joined = half.joined_at(Position(pieces, DARK, half.last_move.square))
    again = joined.play("d3+").retold(["d1x"])
    assert told(again) == "d1x"
    assert again == joined.play("d1x")
