"""Where a game was joined, when it was not followed from its first piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.errors import RulesError
from companion.rules.layout import Square
from companion.rules.pieces import Colour, Piece
from companion.saying import cited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from companion.rules.layout import Layout

_NOTHING = "."
_FREE = "-"


@dataclass(frozen=True, slots=True)
class Position:
    """The pieces that lay on the board, whose turn it was, and the piece that bound them."""

    pieces: tuple[tuple[Square, Piece], ...]
    """In the order of their squares."""
    to_move: Colour
    last: Square | None
    """Where the piece lay that bound the player to move; None for a free play."""

    @classmethod
    def read(cls, text: str, layout: Layout) -> Position:
        """The position that `write` told.

        Raises:
            RulesError: if the text is none. Whether the rules allow it is for `Game.from_position` to say.

        """
        try:
            drawing, to_move, last = text.split()
            bound_by = None if last == _FREE else Square.parse(last)
            return cls(tuple(sorted(parse_drawing(drawing, layout).items())), Colour(to_move), bound_by)
        except ValueError as error:
            if isinstance(error, RulesError):
                raise
            raise RulesError(f"{text!r} is no position; write drawing, player to move, and last square or -") from None

    def write(self, layout: Layout) -> str:
        """Drawing, player to move, and the square of the last piece: ``..../.p../D.../.... light b3``."""
        return f"{self.drawing(layout)} {self.to_move} {self.last or _FREE}"

    def drawing(self, layout: Layout) -> str:
        """The pieces drawn as a layout is: ``SDPU`` light, ``sdpu`` dark, ``.`` where nothing lies."""
        lying = dict(self.pieces)
        return "/".join(
            "".join(_letter(lying.get(Square(row, column))) for column in range(layout.columns))
            for row in reversed(range(layout.rows))
        )


def parse_drawing(text: str, layout: Layout) -> Mapping[Square, Piece]:
    """The pieces that `Position.drawing` drew.

    Raises:
        RulesError: for a drawing of another size, or a letter that stands for no piece. Whether the board has the
            squares is for `Game.from_position` to say.

    """
    rows = text.split("/")
    if len(rows) != layout.rows or any(len(row) != layout.columns for row in rows):
        raise RulesError(f"the position {cited(text)} must have {layout.rows} rows of {layout.columns}, joined by /")
    try:
        return {
            Square(row, column): Piece.from_letter(letter)
            for row, line in enumerate(reversed(rows))
            for column, letter in enumerate(line)
            if letter != _NOTHING
        }
    except KeyError as error:
        raise RulesError(
            f"the position {cited(text)} has {error.args[0]!r}; "
            "write SDPU for light, sdpu for dark pieces and . for none"
        ) from None


def _letter(piece: Piece | None) -> str:
    return _NOTHING if piece is None else piece.letter
