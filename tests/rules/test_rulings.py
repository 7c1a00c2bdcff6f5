"""What is refused, with its reason and its words; what a referee may rule; and joining a game in progress."""

import pytest

from companion.errors import NotationError, RulesError
from companion.rules import (
    Colour,
    Game,
    IllegalMoveError,
    Kind,
    Layout,
    Move,
    Pass,
    Piece,
    Square,
    parse_moves,
)
from tests.rules.pictures import WORKED_EXAMPLE, names, position, told

LIGHT, DARK = Colour.LIGHT, Colour.DARK
ROW_1 = "Straight at a1: row 1 or column a (b1 c1 d1 a2 a3 a4)"
TWO_STRAIGHTS_GONE = ["a1+", "a2x", "b1+", "c1x"]

REFUSED = [
    ([], "b2+", "square",
     "b2 is not legal. First move: any outside square (a1 b1 c1 d1 a2 d2 a3 d3 a4 b4 c4 d4)"),
    (["a1+"], "b2+", "square", f"b2 is not legal. {ROW_1}"),
    (["a1+"], "a1+", "square", f"a1 is taken by a light straight. {ROW_1}"),
    (["a1+"], "e1+", "square", f"e1 is not on this board. {ROW_1}"),
    (["a1+"], "a5+", "square", f"a5 is not on this board. {ROW_1}"),
    (["a1+"], "L:a2+", "turn", f"It is Dark's turn, not Light's. {ROW_1}"),
    (["a1+"], "L:b2+", "turn", f"It is Dark's turn, not Light's. {ROW_1}"),
    (["a1+"], "L:a1+", "square", f"a1 is taken by a light straight. {ROW_1}"),
    (["a1+"], "-", "turn", f"A pass is never played: the game adds it where no square is legal. {ROW_1}"),
    (TWO_STRAIGHTS_GONE, "b2+", "kind",
     ("Light has no straight left, only diagonal, pusher, puller. "
      "Diagonal at c1: a diagonal through c1 (b2 d2 a3)")),
    (["a1<>", "d1+", "b1x"], "d2+", "square",
     "d2 is not legal. Diagonal at b1: a diagonal through b1 (a2 c2 d3)"),
    (parse_moves(WORKED_EXAMPLE), "d1x", "over", "d1x comes after the end. Light wins 4-1."),
]  # fmt: skip


def attempt(game, text):
    """Play `text`; with a player before it, as that player's move without a ruling."""
    player, _, plain = text.rpartition(":")
    return game.play(plain, colour={"L": LIGHT, "D": DARK}.get(player))


@pytest.mark.parametrize(("moves", "text", "reason", "message"), REFUSED, ids=[case[3][:40] for case in REFUSED])
def test_a_refused_move_says_why_and_what_would_be_legal(moves, text, reason, message):
    game = Game.replay(moves)
    with pytest.raises(IllegalMoveError) as refused:
        attempt(game, text)
    assert refused.value.reason == reason
    assert refused.value.legal == game.legal_squares()
    assert str(refused.value) == message
    assert isinstance(refused.value, ValueError)


def test_a_refusal_can_be_asked_for_without_an_exception():
    game = Game.start().play("a1+")
    assert game.refusal(Square.parse("a2"), Piece(DARK, Kind.PULLER)) is None
    assert game.refusal(Square.parse("b2"), Piece(DARK, Kind.PULLER)).reason == "square"
    assert game.refusal(Square.parse("a2"), Piece(LIGHT, Kind.PULLER)).reason == "turn"
    assert game.history == Game.start().play("a1+").history


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Game.start(), "First move: any outside square"),
        (Game.start("anywhere"), "First move: any square"),
        (Game.replay(["a1+"]), "Straight at a1: row 1 or column a"),
        (Game.replay(["d3x"]), "Diagonal at d3: a diagonal through d3"),
        (Game.replay(["d3<>"]), "Pusher at d3: a square not touching d3"),
        (Game.replay(["d3><"]), "Puller at d3: a square touching d3"),
        (Game.replay(["a1+"], layout=Layout.parse("##.##/##.##")),
         "Straight at a1: row 1 or column a, not across a gap"),
        (Game.replay(["b4+"], layout=Layout.parse("##.##/##.##/##.##/##.##")),
         "Straight at b4: row 4 or column b, not across a gap"),
        (Game.replay(["a1x"], layout=Layout.parse("##.##/##.##/##.##/##.##")),
         "Diagonal at a1: a diagonal through a1, not across a gap"),
        (Game.replay(["a1x"], layout=Layout.parse("..##/..##/##../##..")), "Diagonal at a1: a diagonal through a1"),
        (Game.replay(["a1<>"], layout=Layout.parse("##/##")), "Free play after Dark's pass: any empty square"),
        (position("P### S### dpu# spud", LIGHT, "a1"), "Free play after Light's pass: any empty square"),
        (position("d### s### SDPU #PUD", LIGHT, "a3").play("b3+"),
         "Dark's last chance. Straight at b3: row 3 or column b"),
        (Game.replay(parse_moves(WORKED_EXAMPLE)), "The game is over. Light wins 4-1."),
        (Game.replay(["a1><", "b1><", "a2><", "b2><"], layout=Layout.parse("##/##")), "The game is over. Draw 0-0."),
    ],
)  # fmt: skip
def test_every_legal_set_is_explained_in_words(game, words):
    assert game.explanation == words


def test_a_ruling_accepts_a_square_that_is_not_legal():
    game = Game.start().play("a1+").play("c3><", ruled=True)
    assert game.history[-1] == Move(Square.parse("c3"), Kind.PULLER, DARK, ruled=True)
    assert told(game) == "a1+ D:c3><!"
    assert (game.to_move, names(game.legal_squares())) == (LIGHT, "b2 c2 d2 b3 d3 b4 c4 d4")


def test_a_ruling_accepts_the_other_player_s_piece_and_the_turn_follows_the_piece():
    game = Game.start().play("a1+").play("a2><", colour="light", ruled=True)
    assert told(game) == "a1+ L:a2><!"
    assert game.to_move is DARK
    assert game.pieces_left(LIGHT) == 6


def test_a_ruling_accepts_a_kind_that_the_player_has_none_left_of():
    game = Game.replay(TWO_STRAIGHTS_GONE).play("b2+", ruled=True)
    assert game.in_hand(LIGHT)[Kind.STRAIGHT] == 0
    assert game.pieces_left(LIGHT) == 5


def test_a_ruled_last_piece_leaves_a_last_chance():
    game = position("d### s### SDPU #PUD", LIGHT, "a3").play("d4+", ruled=True)
    assert (game.to_move, game.last_chance) == (DARK, True)


def test_a_ruling_for_the_waiting_player_does_not_use_up_the_last_chance():
    game = position("d### s### SDPU #PUD", LIGHT, "a3").play("b3+")
    game = game.play("d4x", colour=LIGHT, ruled=True)
    assert (game.to_move, game.last_chance) == (DARK, True)
    assert game.pieces_left(LIGHT) == 0


@pytest.mark.parametrize(
    ("moves", "text", "reason"),
    [(["a1+"], "a1+", "square"), (["a1+"], "e5+", "square"), (parse_moves(WORKED_EXAMPLE), "d1x", "over")],
)
def test_not_even_a_ruling_puts_a_piece_where_none_can_lie(moves, text, reason):
    with pytest.raises(IllegalMoveError) as refused:
        Game.replay(moves).play(text, ruled=True)
    assert refused.value.reason == reason


def test_a_ruling_is_read_back_from_its_text():
    game = Game.replay(["a1+", "D:c3><!", "L:d4+!", "D:a2x!", "d:a4<>!"])
    assert told(game) == "a1+ D:c3><! L:d4+! D:a2x! D:a4<>!"
    assert Game.replay(str(ply) for ply in game.history) == game


@pytest.mark.parametrize(
    ("texts", "reason", "message"),
    [
        (["-"], "turn", "ply 1: a pass is not forced here, so it is not allowed. First move: any outside square"),
        (["a1+", "-"], "turn", "ply 2: a pass is not forced here, so it is not allowed. Straight at a1"),
        (["a1+", "b2+"], "square", "ply 2: b2 is not legal. Straight at a1"),
        (WORKED_EXAMPLE.replace("d4x -", "d4x").split(), "turn",
         "ply 12: Dark had no legal square and passed; write - before b4x. Free play"),
        (f"{WORKED_EXAMPLE} -".split(), "over", "ply 17: a pass comes after the end. Light wins 4-1."),
        (f"{WORKED_EXAMPLE} d1x".split(), "over", "ply 17: d1x comes after the end. Light wins 4-1."),
        (WORKED_EXAMPLE.replace("d4x -", "d4x - -").split(), "turn", "ply 13: a pass is not forced here"),
    ],
)  # fmt: skip
def test_a_replay_is_strict_about_every_ply(texts, reason, message):
    plies = [text for text in texts if not text.endswith(".")]
    with pytest.raises(IllegalMoveError) as refused:
        Game.replay(plies)
    assert refused.value.reason == reason
    assert str(refused.value).startswith(message)


def test_a_replay_may_leave_out_the_pass_after_its_last_move():
    plies = parse_moves(WORKED_EXAMPLE)
    assert Game.replay(plies[:11]) == Game.replay(plies[:12])
    assert told(Game.replay(plies[:11])).endswith("d4x -")


def test_a_replay_takes_moves_as_well_as_texts():
    game = Game.replay(parse_moves(WORKED_EXAMPLE))
    assert Game.replay(game.history) == game
    assert Game.replay([*game.history[:11], Pass(), *map(str, game.history[12:])]) == game


def test_a_replay_of_a_text_that_is_no_move_says_so():
    with pytest.raises(NotationError):
        Game.replay(["a1+", "a3"])


def test_a_game_goes_back_to_any_ply():
    game = Game.replay(parse_moves(WORKED_EXAMPLE))
    assert game.beginning == Game.start()
    assert game.after(0) == Game.start()
    assert told(game.after(3)) == "a1+ a3>< a2+"
    assert game.after(11) == game.after(12)  # the pass follows by itself
    assert game.after(16) == game


def test_a_game_can_be_joined_in_progress():
    game = position("#### #p## D### ####", LIGHT, "b3")
    assert game.history == ()
    assert names(game.legal_squares()) == "a1 b1 c1 d1 d2 d3 d4"
    assert game.pieces_left(LIGHT) == game.pieces_left(DARK) == 7
    assert game.play("d4+").beginning == game
    assert game.play("d4+").after(1) == game.play("d4+")


def test_a_game_joined_without_a_last_piece_is_a_free_play():
    game = position("#### #p## D### ####", LIGHT)
    assert game.free_play
    assert len(game.legal_squares()) == 14


def test_a_game_joined_where_nobody_has_a_piece_left_is_over():
    game = position("ddss ppuu SSDD PPUU", LIGHT, "a3")
    assert (game.to_move, game.history) == (None, ())


def test_a_game_joined_on_an_empty_board_is_one_that_starts():
    assert Game.from_position({}, to_move=LIGHT, last=None) == Game.start()


@pytest.mark.parametrize(
    ("pieces", "to_move", "last", "message"),
    [
        ("a9 light straight", DARK, None, "there is a light straight on a9, which this board does not have"),
        ("a1 light straight", DARK, "b1", "b1 is empty, so it cannot hold the last piece played"),
        ("a1 light straight", LIGHT, "a1",
         "the last piece played is the light straight on a1, so it is Dark's turn"),
        ("a1 dark pusher, b1 dark pusher, c1 dark pusher", LIGHT, None,
         "the dark pusher on c1 is one too many; a player has 2 of each kind"),
        ("", DARK, None, "the board is empty, so it is Light's turn"),
        ("", LIGHT, "a1", "a1 is empty, so it cannot hold the last piece played"),
    ],
)  # fmt: skip
def test_a_position_that_cannot_be_is_refused_in_words(pieces, to_move, last, message):
    placed = (text.strip().partition(" ") for text in pieces.split(",") if text)
    contents = {Square.parse(square): Piece.parse(piece) for square, _, piece in placed}
    with pytest.raises(RulesError) as refused:
        Game.from_position(contents, to_move=to_move, last=Square.parse(last) if last else None)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first": "inside"}, "first is 'inside'; it must be 'outside' or 'anywhere'"),
        ({"sets": 0}, "sets is 0; a game needs at least one"),
    ],
)
def test_a_game_that_cannot_start_says_why(options, message):
    with pytest.raises(RulesError) as refused:
        Game.start(**options)
    assert str(refused.value) == message
