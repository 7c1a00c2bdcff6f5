"""The LEDs of the simulated board, pulse by pulse, while a game is played on it through the whole program."""

from __future__ import annotations

import pytest

from companion.rules import Game, Layout
from tests.firmware.games import TiledTable

WORKED_EXAMPLE = [
    *("a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x"),
    *("d2><", "d3+", "d4x", "-", "b4x", "-", "b3<>", "b1<>"),
]
LOOKS = 25
"""So many looks at the LEDs, in steps of 50 ms, see all of a rhythm, which lasts a second."""
LETTERS = dict(zip(("+", "x", "<>", "><"), "SDPU", strict=True))
INDEX = {str(square): i for i, square in enumerate(Layout.parse("4x4"))}


def letter_of(shades: list[tuple[int, int, int]]) -> str:
    """The palette letter of an LED by the colours that it had in a second, told by hue; its rhythm has to fit."""
    lit = [shade for shade in shades if any(shade)]
    if not lit:
        return "."
    red, green, blue = lit[0]
    if blue and not red:
        letter = "M"
    elif blue:
        letter = "L" if green else "P"
    elif red:
        letter = "X" if not green else "?" if red == green else "B"
    else:
        letter = "W" if green > 100 else "D"
    assert (len(lit) == len(shades)) == (letter in "LM"), f"{letter} is lit in {len(lit)} of {len(shades)} looks"
    return letter


class LitTable(TiledTable):
    """A table at which a test looks at the LEDs."""

    def wait(self, seconds: float) -> None:
        self.step_until(lambda _: False, seconds)

    def lay(self, square: str, letter: str) -> None:
        self.board.put(INDEX[square], letter)
        self.wait(0.3)

    def play(self, *moves: str) -> None:
        for move in moves:
            letter = LETTERS[move[2:]]
            self.lay(move[:2], letter if str(self.table.view.game.to_move) == "light" else letter.lower())

    def shown(self) -> list[str]:
        """The palette letters as rows, far side first."""
        frames = []
        for _ in range(LOOKS):
            self.wait(0.05)
            frames.append(self.board.leds().pixels)
        letters = "".join(map(letter_of, zip(*frames, strict=True)))
        return [letters[i : i + 4] for i in (12, 8, 4, 0)]


@pytest.fixture
def table(board):
    table = LitTable(board)
    table.wait(1.0)
    yield table
    table.close()


def test_the_board_shows_where_to_play_and_what_was_played(table):
    assert table.shown() == ["LLLL", "L..L", "L..L", "LLLL"]
    table.play("a1+")
    assert table.shown() == ["L...", "L...", "L...", "MLLL"]


def test_an_illegal_piece_blinks_red_and_its_way_back_is_shown_until_it_has_gone(table):
    table.play("a1+")
    table.lay("c3", "d")
    assert table.shown() == ["B...", "B.X.", "B...", ".BBB"]
    table.lay("c3", ".")
    assert table.shown() == ["L...", "L...", "L...", "MLLL"]


def test_a_piece_that_is_gone_is_shown_its_way_home(table):
    table.play("a1+", "a3><")
    table.lay("a1", ".")
    assert table.shown() == ["....", "....", "....", "B..."]
    table.lay("a1", "S")
    assert table.shown()[3][0] == "."


def test_a_square_that_cannot_be_read_says_so(table):
    table.play("a1+")
    table.board.put_ohm(INDEX["d4"], 2600)  # between two windows
    table.wait(1.0)
    assert table.shown() == ["L..?", "L...", "L...", "MLLL"]


@pytest.mark.slow
def test_a_pass_and_a_win_are_shown_and_all_goes_dark_when_the_program_has_gone(table):
    pieces = [move for move in WORKED_EXAMPLE if move != "-"]
    table.play(*pieces[:11])
    assert str(table.table.view.game.history[-1]) == "-"
    free = {str(square) for square in table.table.view.game.legal_squares()}
    letters = dict(zip(INDEX, "".join(reversed(table.shown())), strict=True))
    assert {square for square, letter in letters.items() if letter == "P"} == free
    assert letters["d4"] == "M"
    table.play(*pieces[11:])
    assert table.table.view.game == Game.replay(WORKED_EXAMPLE)
    assert {letter for row in table.shown() for letter in row} == {"W", "D", "."}
    table.close()
    table.board.run(5.5)
    assert not any(map(any, table.board.leds().pixels))


@pytest.mark.slow
def test_the_lights_come_back_after_a_reset_and_after_the_cable_was_pulled(table):
    table.play("a1+")
    lit = table.shown()
    for trouble in (table.board.reset, table.pull):
        trouble()
        table.wait(3.0)
        assert table.shown() == lit
