"""Moves as text: every spelling that is read, and what is said of one that is not."""

import pytest

from companion.errors import NotationError
from companion.rules import Colour, Kind, Move, Pass, Piece, Square, parse_move, parse_moves, write_moves

LIGHT, DARK = Colour.LIGHT, Colour.DARK
A1, C1, A3, A4 = map(Square.parse, ("a1", "c1", "a3", "a4"))
FOUR = [Move(A1, Kind.STRAIGHT), Move(A3, Kind.PULLER), Move(C1, Kind.DIAGONAL), Move(A4, Kind.PUSHER)]


@pytest.mark.parametrize(
    ("text", "ply"),
    [
        ("a1+", Move(A1, Kind.STRAIGHT)),
        ("c1x", Move(C1, Kind.DIAGONAL)),
        ("a4<>", Move(A4, Kind.PUSHER)),
        ("a3><", Move(A3, Kind.PULLER)),
        ("A3><", Move(A3, Kind.PULLER)),
        ("C1X", Move(C1, Kind.DIAGONAL)),
        (" a1+\n", Move(A1, Kind.STRAIGHT)),
        ("a1+#", Move(A1, Kind.STRAIGHT)),
        ("z99+", Move(Square(98, 25), Kind.STRAIGHT)),
        ("-", Pass()),
        ("(pass)", Pass()),
        ("(passa)", Pass()),
        ("(Passa)", Pass()),
        ("L:a3><!", Move(A3, Kind.PULLER, LIGHT, ruled=True)),
        ("D:a1+!", Move(A1, Kind.STRAIGHT, DARK, ruled=True)),
        ("d:A1+!", Move(A1, Kind.STRAIGHT, DARK, ruled=True)),
    ],
)
def test_a_move_is_read(text, ply):
    assert parse_move(text) == ply


@pytest.mark.parametrize(
    "text",
    [
        "a1+ a3>< c1x a4<>",
        "1. a1+ a3>< 2. c1x a4<>",
        "1.a1+ a3>< 2.c1x a4<>",
        "1. a1+ 1... a3>< 2. c1x 2...a4<>",
        "a1+, a3><, c1x, a4<>",
        "a1+,a3><;c1x;a4<>",
        "1. a1+; a3><; 2. c1x; a4<>;",
        "A1+ A3>< C1X A4<>",
        "a1+ a3>< c1x a4<>#",
        "a1+ a3>< c1x a4<> #",
        "a1+ a3>< c1x a4<> #\n\n",
        "1. a1+\n   a3><\r\n2. c1x\ta4<>\n",
    ],
)
def test_every_spelling_of_a_row_of_moves_is_read(text):
    assert parse_moves(text) == FOUR


@pytest.mark.parametrize("text", ["", " ", "\n\n", "1.", "#", ";"])
def test_a_text_without_moves_is_no_move(text):
    assert parse_moves(text) == []


@pytest.mark.parametrize("spelling", ["-", "(pass)", "(passa)", "(PASS)"])
def test_passes_are_read_among_moves(spelling):
    assert parse_moves(f"6. d4x {spelling}, 7. b4x {spelling};") == parse_moves("d4x - b4x -")


NO_MOVE = "is no move; write square and mark, such as a1+, c1x, a4<> or a3><, and - for a pass"
NO_MARK = "has no mark; add + (straight), x (diagonal), <> (pusher) or >< (puller)"
HALF = "is half a ruling; a ruling names its player and ends in !, such as L:a3><!"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("1. a1+ a3", 1, 8, f"the move 'a3' {NO_MARK}"),
        ("1. a1+\n2. L:a3!", 2, 4, f"the move 'L:a3!' {NO_MARK}"),
        ("a1+ hello", 1, 5, f"'hello' {NO_MOVE}"),
        ("a1+\n\n  a2*", 3, 3, f"'a2*' {NO_MOVE}"),
        ("a1+ a2<", 1, 5, f"'a2<' {NO_MOVE}"),
        ("aa1+", 1, 1, f"'aa1+' {NO_MOVE}"),
        ("1+", 1, 1, f"'1+' {NO_MOVE}"),
        ("1 a1+", 1, 1, f"'1' {NO_MOVE}"),
        ("1.a1+ 2.what", 1, 9, f"'what' {NO_MOVE}"),
        ("a1+ -- a2+", 1, 5, f"'--' {NO_MOVE}"),
        ("a1+# a2+", 1, 1, f"'a1+#' {NO_MOVE}"),
        ("a1+ # a2+", 1, 5, f"'#' {NO_MOVE}"),
        ("a1+ a2+##", 1, 5, f"'a2+#' {NO_MOVE}"),
        ("a1+ a3><!", 1, 5, f"'a3><!' {HALF}"),
        ("a1+,D:a3><", 1, 5, f"'D:a3><' {HALF}"),
        ("a1+ X:a3><!", 1, 5, f"'X:a3><!' {NO_MOVE}"),
        ("a0+", 1, 1, "in 'a0+': 'a0' is not a square; write column and row, such as a1"),
        ("a01+", 1, 1, "in 'a01+': 'a01' is not a square; write column and row, such as a1"),
        ("a100+", 1, 1, "in 'a100+': 'a100' is not a square; write column and row, such as a1"),
        ("ａ1+", 1, 1, f"'ａ1+' {NO_MOVE}"),  # noqa: RUF001 (a full-width a, which only looks right)
        ("a1＋", 1, 1, f"'a1＋' {NO_MOVE}"),  # noqa: RUF001
    ],
)  # fmt: skip
def test_what_is_no_move_is_pointed_at(text, line, column, message):
    with pytest.raises(NotationError) as refused:
        parse_moves(text)
    assert (refused.value.line, refused.value.column, refused.value.message) == (line, column, message)
    assert str(refused.value) == f"line {line}, column {column}: {message}"


@pytest.mark.parametrize("text", ["", "a1+ a2+", "1. a1+"])
def test_a_single_move_is_one_word(text):
    with pytest.raises(NotationError):
        parse_move(text)


def test_a_row_number_of_any_length_is_refused_and_not_computed():
    with pytest.raises(NotationError):
        parse_move("a" + "9" * 5000 + "+")


@pytest.mark.parametrize("text", ["", "a", "1", "a0", "a01", "aa1", "1a", "a1 ", "a-1", "ä1", "\u212a1"])
def test_what_is_no_square_is_refused(text):
    with pytest.raises(NotationError) as refused:
        Square.parse(text)
    assert refused.value.message == f"{text!r} is not a square; write column and row, such as a1"


def test_a_square_is_its_name():
    assert [str(Square(0, 0)), str(Square(3, 1)), str(Square(11, 25))] == ["a1", "b4", "z12"]
    assert f"{Square.parse('b4'):>4}" == "  b4"
    assert sorted(map(Square.parse, ("b2", "a2", "b1", "a1"))) == list(map(Square.parse, ("a1", "b1", "a2", "b2")))


@pytest.mark.parametrize(
    ("plies", "text"),
    [
        ([], ""),
        (FOUR, "1. a1+ a3>< 2. c1x a4<>"),
        (FOUR[:3], "1. a1+ a3>< 2. c1x"),
        ([FOUR[0], Pass(DARK), FOUR[2]], "1. a1+ - 2. c1x"),
        ([Move(A1, Kind.STRAIGHT, DARK), Move(C1, Kind.DIAGONAL, LIGHT)], "1... a1+ 2. c1x"),
        ([Pass(DARK), Move(C1, Kind.DIAGONAL, LIGHT), FOUR[3]], "1... - 2. c1x a4<>"),
        ([Move(A3, Kind.PULLER, LIGHT, ruled=True)], "1. L:a3><!"),
    ],
)
def test_moves_are_written_in_numbered_pairs(plies, text):
    assert write_moves(plies) == text


@pytest.mark.parametrize(
    ("plies", "skip", "text"),
    [
        (FOUR, 2, "2. c1x a4<>"),
        (FOUR, 1, "1... a3>< 2. c1x a4<>"),
        (FOUR, 3, "2... a4<>"),
        (FOUR, 4, ""),
        ([Pass(DARK), *FOUR[2:]], 1, "2. c1x a4<>"),
        ([Pass(DARK), *FOUR[2:]], 2, "2... a4<>"),
        ([Pass(DARK), *FOUR[2:]], 3, ""),
    ],
)
def test_moves_that_are_left_out_count(plies, skip, text):
    assert write_moves(plies, skip=skip) == text


def test_a_ruling_whose_player_is_not_known_does_not_name_one():
    assert str(Move(A3, Kind.PULLER, ruled=True)) == "a3><!"


def test_a_move_knows_its_piece_once_its_player_is_known():
    assert Move(A1, Kind.PUSHER, DARK).piece == Piece(DARK, Kind.PUSHER)
    with pytest.raises(ValueError, match="does not say whose piece"):
        _ = Move(A1, Kind.PUSHER).piece


def test_pieces_and_kinds_have_words_marks_and_letters():
    assert [str(Piece(LIGHT, kind)) for kind in Kind] == [
        "light straight", "light diagonal", "light pusher", "light puller",
    ]  # fmt: skip
    assert [kind.mark for kind in Kind] == ["+", "x", "<>", "><"]
    assert "".join(Piece(colour, kind).letter for colour in Colour for kind in Kind) == "SDPUsdpu"
    for piece in (Piece(colour, kind) for colour in Colour for kind in Kind):
        assert Piece.parse(str(piece)) == piece
        assert Piece.from_letter(piece.letter) == piece
        assert Kind.from_mark(piece.kind.mark) is piece.kind


@pytest.mark.parametrize("text", ["", "light", "light knight", "grey pusher", "pusher"])
def test_what_is_no_piece_is_refused(text):
    with pytest.raises(ValueError):
        Piece.parse(text)
