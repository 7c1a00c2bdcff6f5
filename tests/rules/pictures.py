"""Boards drawn in text, far side first, as a person sees them from Light's chair.

A picture has one character a square and ``.`` where the board has none. What the characters mean is for the test to
say; `squares` finds them.
"""

from textwrap import dedent

from companion.rules import Layout, Square


def rows(picture):
    """The rows of a picture, nearest to Light first."""
    return list(reversed(dedent(picture).split()))


def layout(picture):
    """The board under a picture: every character but ``.`` is a square of it."""
    return Layout.parse("/".join("".join("." if c == "." else "#" for c in row) for row in reversed(rows(picture))))


def squares(picture, characters):
    """The squares where one of `characters` stands."""
    return {
        Square(row, column)
        for row, line in enumerate(rows(picture))
        for column, character in enumerate(line)
        if character in characters
    }


def draw(board, marks):
    """The picture of `board` with `marks`, a mapping of squares to characters; the inverse of the above."""
    shown = dict.fromkeys(board, "#") | marks
    return "\n".join(
        "".join(shown.get(Square(row, column), ".") for column in range(board.columns))
        for row in reversed(range(board.rows))
    )
