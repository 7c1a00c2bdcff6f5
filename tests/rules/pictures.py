"""Boards drawn in text, far side first, as a person sees them from Light's chair; and games told in short.

A picture has one character a square and ``.`` where the board has none. What the characters mean is for the test to
say; `squares` finds them.
"""

from textwrap import dedent

from companion.rules import Game, Layout, Piece, Square

WORKED_EXAMPLE = "1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8. b3<> b1<>"
"""The worked example of the rule book: Light 4, Dark 1."""


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


def position(drawing, to_move, last=None, **options):
    """A game joined where `drawing` says: SDPU light, sdpu dark, ``#`` empty, ``.`` no square."""
    pieces = {
        Square(row, column): Piece.from_letter(letter)
        for row, line in enumerate(rows(drawing))
        for column, letter in enumerate(line)
        if letter not in "#."
    }
    board = "/".join("".join("." if c == "." else "#" for c in line) for line in reversed(rows(drawing)))
    last = Square.parse(last) if last else None
    return Game.from_position(pieces, to_move=to_move, last=last, layout=Layout.parse(board), **options)


def told(game):
    """The history of a game in one text."""
    return " ".join(map(str, game.history))


def names(squares):
    """The names of some squares in one text, in the order of the board."""
    return " ".join(map(str, sorted(squares)))
