"""What the LEDs show, as pictures of the board: far side first, one palette letter a square."""

import pytest

from companion.rules import Colour, Game, Layout, Square
from companion.tiles.light import Trouble, frame_of

WORKED_EXAMPLE = (
    "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x - b3<> b1<>"  # the rule book's: docs/overview.md
)


def picture(letters):
    return [letters[row * 4 : row * 4 + 4] for row in reversed(range(4))]


def squares(text):
    return frozenset(Square.parse(name) for name in text.split())


@pytest.mark.parametrize(
    ("name", "moves", "trouble", "shown"),
    [
        ("the first move may be on the outside", "", Trouble(), ["LLLL", "L..L", "L..L", "LLLL"]),
        ("the last move and where one may play", "a1+", Trouble(), ["L...", "L...", "L...", "MLLL"]),
        (
            "a piece that may not be there, and where it may",
            "a1+",
            Trouble(wrong=squares("c3")),
            ["B...", "B.X.", "B...", ".BBB"],
        ),
        (
            "a piece that was moved, and where it came from",
            "a1+",
            Trouble(wrong=squares("c3"), missing=squares("a1")),
            ["....", "..X.", "....", "B..."],
        ),
        ("a square that cannot be read", "a1+", Trouble(unreadable=squares("d4")), ["L..?", "L...", "L...", "MLLL"]),
        (
            "a wrong piece, and beside it a square that cannot be read",
            "a1+",
            Trouble(wrong=squares("c3"), unreadable=squares("d4")),
            ["B..?", "B.X.", "B...", ".BBB"],
        ),
    ],
)
def test_the_board_shows(name, moves, trouble, shown):
    assert picture(frame_of(Game.replay(moves.split()), trouble)) == shown


def where(game, letter):
    frame = frame_of(game)
    return {square for square, shown in zip(game.layout.squares, frame, strict=True) if shown == letter}


def test_after_a_pass_every_free_square_flashes():
    game = Game.replay(WORKED_EXAMPLE.split()[:12])
    assert str(game.history[-1]) == "-"
    assert where(game, "P") == game.legal_squares()
    assert where(game, "M") == squares("d4")
    assert where(game, "L") == set()


def test_at_the_end_the_lines_that_scored_are_shown_the_winners_apart_from_the_others():
    game = Game.replay(WORKED_EXAMPLE.split())
    light = {square for line in game.score.lines if str(line.colour) == "light" for square in line.squares}
    dark = {square for line in game.score.lines if str(line.colour) == "dark" for square in line.squares}
    assert (game.score.light, game.score.dark) == (4, 1)
    assert (where(game, "W"), where(game, "D")) == (light, dark)


def test_after_resigning_nobody_is_shown_where_to_play_and_the_lines_are_the_others():
    game = Game.replay(WORKED_EXAMPLE.split()[:9])
    assert game.score.light
    assert "L" not in frame_of(game, resigned=Colour.DARK)
    assert "W" in frame_of(game, resigned=Colour.DARK)
    assert "D" in frame_of(game, resigned=Colour.LIGHT)
    in_the_way = frame_of(game, Trouble(wrong=squares("a1")), resigned=Colour.DARK)
    assert set(in_the_way) == {"X", "."}


def test_there_is_a_letter_for_every_square_of_any_layout():
    game = Game.start(layout=Layout.parse("####/####/####/####/####/####/####/####"))
    assert len(frame_of(game)) == 32
