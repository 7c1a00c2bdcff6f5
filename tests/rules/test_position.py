"""A position as one line of text: what lies where, whose turn it is, and what binds them."""

import pytest

from companion.rules import Colour, Layout, Piece, Position, RulesError, Square

STANDARD = Layout.parse("4x4")
PIECES = ((Square.parse("a2"), Piece.parse("light diagonal")), (Square.parse("b3"), Piece.parse("dark pusher")))


@pytest.mark.parametrize(
    ("position", "text"),
    [
        (Position(PIECES, Colour.LIGHT, Square.parse("b3")), "..../.p../D.../.... light b3"),
        (Position(PIECES, Colour.DARK, None), "..../.p../D.../.... dark -"),
        (Position((), Colour.LIGHT, None), "..../..../..../.... light -"),
    ],
)
def test_position_is_written_and_read_back(position, text):
    assert position.write(STANDARD) == text
    assert Position.read(text, STANDARD) == position


@pytest.mark.parametrize(
    "text",
    [
        "",
        "..../.p../D.../.... light",
        "..../.p../D.../.... red b3",
        "..../.p../D.../.... light z",
        "..../.p../D... light b3",
        "..../.q../D.../.... light b3",
    ],
)
def test_text_that_is_no_position_is_refused(text):
    with pytest.raises(RulesError):
        Position.read(text, STANDARD)
