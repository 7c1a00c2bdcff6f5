"""Boards of every shape. Read the pictures: each is a board with what is expected drawn by hand into it."""

from textwrap import dedent

import pytest

from companion.rules import Colour, Game, Kind, Layout, LayoutError, Piece, Square, score_of
from tests.rules.pictures import draw, layout, squares

# A light piece lies on O; the squares it leaves to Dark are *.
LEGAL = [
    ("straight on the plain board", Kind.STRAIGHT, """
        #*##
        *O**
        #*##
        #*##"""),
    ("diagonal on the plain board", Kind.DIAGONAL, """
        *#*#
        #O##
        *#*#
        ###*"""),
    ("puller on the plain board", Kind.PULLER, """
        ***#
        *O*#
        ***#
        ####"""),
    ("pusher on the plain board", Kind.PUSHER, """
        ###*
        #O#*
        ###*
        ****"""),
    ("a pusher in the corner", Kind.PUSHER, """
        ****
        ****
        ##**
        O#**"""),
    ("a gap ends the row", Kind.STRAIGHT, """
        #*.##
        *O.##"""),
    ("a gap ends the diagonal", Kind.DIAGONAL, """
        *#.##
        #O.##"""),
    ("squares beyond a gap do not touch", Kind.PULLER, """
        **.##
        *O.##"""),
    ("so a pusher sends there", Kind.PUSHER, """
        ##.**
        #O.**"""),
    ("a wider gap ends the row as well", Kind.STRAIGHT, """
        *#...##
        O*...##"""),
    ("a gap ends the column", Kind.STRAIGHT, """
        ##
        ##
        ..
        #*
        *O"""),
    ("a hole ends the row but not the column", Kind.STRAIGHT, """
        *#####
        *#####
        *#..##
        O*..##
        *#####
        *#####"""),
    ("a hole ends the diagonal", Kind.DIAGONAL, """
        ######
        ######
        ##..##
        *#..##
        #O####
        *#*###"""),
    ("a diagonal runs past a hole that it does not cross", Kind.DIAGONAL, """
        ######
        ######
        *#..##
        #*..##
        ##O###
        #*#*##"""),
    ("a puller at a hole", Kind.PULLER, """
        ######
        ######
        ##..##
        #*..##
        #*O*##
        #***##"""),
    ("corner to corner, the diagonal goes on", Kind.DIAGONAL, """
        ..#*
        ..*#
        #*..
        O#.."""),
    ("corner to corner, the other diagonal ends", Kind.DIAGONAL, """
        ..#*
        ..O#
        #*..
        *#.."""),
    ("corner to corner, the squares touch", Kind.PULLER, """
        ..##
        ..*#
        *O..
        **.."""),
    ("corner to corner, a pusher keeps clear of the touching square", Kind.PUSHER, """
        ..**
        ..#*
        #O..
        ##.."""),
    ("corner to corner, the row ends", Kind.STRAIGHT, """
        ..##
        ..##
        *O..
        #*.."""),
    ("a board offset by one: the shared column goes on", Kind.STRAIGHT, """
        .*#
        .*#
        #*.
        *O."""),
    ("a board offset by one: the diagonal goes on until a square is missing", Kind.DIAGONAL, """
        .##
        .#*
        #*.
        O#."""),
    ("a board offset by one: the diagonal to its far corner", Kind.DIAGONAL, """
        .#*
        .*#
        O#.
        #*."""),
    ("a board offset by one: what a puller touches", Kind.PULLER, """
        .##
        .**
        *O.
        **."""),
    ("a board offset by one: what a pusher leaves", Kind.PUSHER, """
        .**
        .##
        #O.
        ##."""),
    ("a row of six", Kind.STRAIGHT, """
        #*##..
        #*##..
        #*####
        *O****"""),
    ("a diagonal of five", Kind.DIAGONAL, """
        ####*#
        ###*##
        ##*###
        #*####
        O#####
        #*####"""),
    ("a row of eight", Kind.STRAIGHT, """
        *#######
        O*******"""),
    ("boards that nothing connects: only the own one is in line", Kind.STRAIGHT, """
        ##.....
        ##.....
        .......
        .....*#
        .....O*"""),
    ("boards that nothing connects: a pusher reaches the other", Kind.PUSHER, """
        **.....
        **.....
        .......
        .....##
        .....O#"""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "picture"), [case[1:] for case in LEGAL], ids=[case[0] for case in LEGAL])
def test_what_a_piece_leaves_to_the_opponent(kind, picture):
    board = layout(picture)
    (square,) = squares(picture, "O")
    game = Game.start("anywhere", layout=board).play(f"{square}{kind.mark}")
    assert game.to_move is Colour.DARK
    drawn = draw(board, {square: "O"} | dict.fromkeys(game.legal_squares(), "*"))
    assert drawn == dedent(picture).strip()


# The outside squares, where the first piece may go, are *.
OUTSIDE = [
    ("the plain board", """
        ****
        *##*
        *##*
        ****"""),
    ("the sides of a hole count, its missing corners alone do not", """
        ******
        *#**#*
        **..**
        **..**
        *#**#*
        ******"""),
    ("where boards meet by an edge, the squares on both sides of it may be inside", """
        ..****
        ..*#**
        **#*..
        ****.."""),
    ("where boards meet by a corner, nothing changes", """
        ....****
        ....*##*
        ....*##*
        ....****
        ****....
        *##*....
        *##*....
        ****...."""),
    ("a gap has sides", """
        ****.**
        *##*.**
        *##*.**
        ****.**"""),
    ("a strip has no inside", """
        ********
        ********"""),
]  # fmt: skip


@pytest.mark.parametrize("picture", [case[1] for case in OUTSIDE], ids=[case[0] for case in OUTSIDE])
def test_where_the_first_piece_may_go(picture):
    board = layout(picture)
    outside = Game.start("outside", layout=board)
    assert draw(board, dict.fromkeys(outside.legal_squares(), "*")) == dedent(picture).strip()
    assert Game.start("anywhere", layout=board).legal_squares() == frozenset(board)


# L and D hold squares, # is empty; then the points of Light and of Dark.
SCORES = [
    ("two in a row are nothing", 0, 0, """
        LL##
        ####
        ####
        D##D"""),
    ("three in a row", 1, 0, """
        LLL#
        ####
        ####
        ####"""),
    ("four in a row", 2, 0, """
        LLLL
        ####
        ####
        ####"""),
    ("three in a column, three on a diagonal", 1, 1, """
        ##D#
        #D#L
        D##L
        ###L"""),
    ("the long diagonal, and one for the other", 2, 1, """
        L##D
        #LD#
        #DL#
        ###L"""),
    ("lines that cross count each", 3, 0, """
        #L##
        LLL#
        #LL#
        ###L"""),
    ("an empty square interrupts", 0, 0, """
        LL#L
        D###
        ####
        D#DD"""),
    ("an opposing piece interrupts", 0, 0, """
        LLDL
        D#L#
        L###
        DD#D"""),
    ("a full board of one colour", 24, 0, """
        LLLL
        LLLL
        LLLL
        LLLL"""),
    ("a line of five", 3, 0, """
        LLLLL#
        ######"""),
    ("a diagonal of five", 0, 3, """
        ####D#
        ###D##
        ##D###
        #D####
        D#####
        ######"""),
    ("a line of eight, and seven", 6, 5, """
        LLLLLLLL
        #DDDDDDD"""),
    ("a line of eight broken in four and three", 3, 0, """
        LLLLDLLL
        ########"""),
    ("a gap interrupts a row", 0, 0, """
        LL.LL
        ##.##"""),
    ("a gap interrupts a row of four and three", 3, 0, """
        LLLL.LLL#
        ####.####"""),
    ("a hole interrupts the row, and the column goes by", 0, 4, """
        D#####
        D#####
        DD..DD
        D#..##
        D#####
        D#####"""),
    ("a hole interrupts the long diagonal", 0, 0, """
        #####L
        ####L#
        ##..##
        ##..##
        #L####
        L#####"""),
    ("a diagonal goes on from corner to corner", 2, 0, """
        ..#L
        ..L#
        #L..
        L#.."""),
    ("a diagonal of six over three boards; beside it the squares only face each other", 0, 4, """
        ....#D
        ....DL
        ..#D..
        ..DL..
        #D....
        DL...."""),
    ("a column through boards offset by one", 2, 0, """
        .L#
        .L#
        #L.
        DL."""),
]  # fmt: skip


@pytest.mark.parametrize(("light", "dark", "picture"), [case[1:] for case in SCORES], ids=[case[0] for case in SCORES])
def test_what_a_board_scores(light, dark, picture):
    board = layout(picture)
    score = score_of(board, board.mask(squares(picture, "L")), board.mask(squares(picture, "D")))
    assert (score.light, score.dark) == (light, dark)
    assert sum(line.points for line in score.lines) == light + dark


def test_a_score_shows_the_lines_it_comes_from():
    picture = """
        L##D
        #LD#
        #DL#
        ###L"""
    board = layout(picture)
    score = score_of(board, board.mask(squares(picture, "L")), board.mask(squares(picture, "D")))
    assert [(line.colour.value, str(line), line.points) for line in score.lines] == [
        ("light", "d1-a4", 2),
        ("dark", "b2-d4", 1),
    ]
    assert str(score) == "2-1"
    assert score.leader is Colour.LIGHT
    assert (score.of(Colour.LIGHT), score.of(Colour.DARK)) == (2, 1)


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("4x4", "####/####/####/####"),
        (" 4x4\n", "####/####/####/####"),
        ("####\n####\n####\n####\n", "####/####/####/####"),
        ("\n    ##\n    ##\n", "##/##"),
        ("#### / ####", "####/####"),
        (".....\n.##..\n.##..\n.....", "##/##"),
        ("####/####/##/##", "####/####/##../##.."),
        ("##\r\n##\r\n", "##/##"),
        ("8x2", "########/########"),
        ("8x4", "########/########/########/########"),
        ("ring", "######/######/##..##/##..##/######/######"),
        ("stairs", "..####/..####/####../####.."),
        ("corners", "##..##/##..##/..##../..##../##..##/##..##"),
    ],
)
def test_a_layout_can_be_written_in_several_ways(text, same_as):
    assert Layout.parse(text) == Layout.parse(same_as)
    assert Layout.parse(text).drawing == same_as
    assert Layout.parse(str(Layout.parse(text))) == Layout.parse(text)


def test_a_layout_is_shown_by_its_name_where_it_has_one():
    assert str(Layout.parse("####/####/####/####")) == "4x4"
    assert str(Layout.parse("##/##")) == "##/##"


def test_squares_run_row_by_row_from_lights_left():
    assert " ".join(map(str, Layout.parse("4x4"))) == "a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3 a4 b4 c4 d4"
    assert " ".join(map(str, Layout.parse(".##/.##/##./##."))) == "a1 b1 a2 b2 b3 c3 b4 c4"


NO_FIT = "; every square must belong to exactly one 2x2 board"
STRANGE = "neither a layout's name (4x4, 8x2, 8x4, ring, stairs, corners) nor a drawing: it has"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#", f"2x2 boards cannot tile this layout: no board fits at a1 without overlap{NO_FIT}"),
        ("####", f"2x2 boards cannot tile this layout: no board fits at a1 without overlap{NO_FIT}"),
        ("###/###/###", f"2x2 boards cannot tile this layout: no board fits at c1 without overlap{NO_FIT}"),
        (".##./####/####/.##.", f"2x2 boards cannot tile this layout: no board fits at a2 without overlap{NO_FIT}"),
        ("####/####/####/###.", f"2x2 boards cannot tile this layout: no board fits at c1 without overlap{NO_FIT}"),
        ("", "the layout '' has no square; draw rows of # and ., such as '####/####/####/####'"),
        ("../..", "the layout '../..' has no square; draw rows of # and ., such as '####/####/####/####'"),
        ("5x5", f"'5x5' is {STRANGE} '5', 'x' where only # and . may stand"),
        ("Ring", f"'Ring' is {STRANGE} 'R', 'g', 'i', 'n' where only # and . may stand"),
        ("##/#O", f"'##/#O' is {STRANGE} 'O' where only # and . may stand"),
        ("## ##/## ##", f"'## ##/## ##' is {STRANGE} ' ' where only # and . may stand"),
        ("####\n####\n  ##\n  ##", f"'####\\n####\\n  ##\\n  ##' is {STRANGE} ' ' where only # and . may stand"),
        ("#" * 28 + "/" + "#" * 28, "the layout is wider than 26 columns, so its squares have no names"),
        ("/".join(["##"] * 100), "the layout has more than 99 rows, so its squares have no names"),
    ],
)
def test_a_layout_that_cannot_be_is_refused_in_words(text, message):
    with pytest.raises(LayoutError) as refused:
        Layout.parse(text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "sets"),
    [("##/##", 1), ("4x4", 1), ("8x2", 1), ("stairs", 1), ("##########/##########", 2), ("ring", 2), ("8x4", 2),
     ("/".join(["######"] * 6), 3)],
)  # fmt: skip
def test_one_set_is_played_for_every_sixteen_squares_begun(text, sets):
    assert Game.start(layout=Layout.parse(text)).sets == sets


@pytest.mark.parametrize("sets", [1, 2, 3])
def test_every_set_gives_each_player_two_of_each_kind(sets):
    game = Game.start(layout=Layout.parse("8x4"), sets=sets)
    for colour in Colour:
        assert game.in_hand(colour) == dict.fromkeys(Kind, 2 * sets)
        assert game.pieces_left(colour) == 8 * sets
    assert game.play("a1+").in_hand(Colour.LIGHT)[Kind.STRAIGHT] == 2 * sets - 1
    assert game.play("a1+").pieces_left(Colour.LIGHT) == 8 * sets - 1


def test_a_board_is_asked_about_its_squares():
    game = Game.start(layout=Layout.parse("corners")).play("a1+")
    assert game.content(Square.parse("a1")) == Piece(Colour.LIGHT, Kind.STRAIGHT)
    assert game.content(Square.parse("b2")) is None
    assert Square.parse("c1") not in game.layout
    with pytest.raises(KeyError):
        game.content(Square.parse("c1"))
