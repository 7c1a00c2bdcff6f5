"""The tile board that is not there, on the page: whoever has no hardware lays the pieces of ``virtual:tiles`` here.

It is drawn as it would stand on the table, LEDs included. A piece is chosen from those beside the board and goes where
a square is touched; touching a piece on the board takes it away. Buttons and radio buttons do it all, so mouse, touch
and keyboard serve alike, with or without scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from companion.lamp import light_of
from companion.readings import ALL_CONTENTS, LETTERS
from companion.rules import PIECES_PER_KIND_AND_SET, Colour, Square
from companion.tiles import light
from companion.web.language import _
from companion.web.names import content_name

if TYPE_CHECKING:
    from companion.rules import Content, Piece
    from companion.table import TableView

EMPTY = LETTERS[None]
_CONTENTS = {letter: content for content, letter in LETTERS.items()}


class LooseTiles(Protocol):
    """A tile board whose pieces are laid by calling it: `companion.tiles.virtual.VirtualBoard`."""

    letters: str
    """What lies on each square, one letter of the protocol for each."""

    def put(self, index: int, letter: str) -> None:
        """Lay a piece on a square, or take it away with ``.``."""
        ...


@dataclass(frozen=True, slots=True)
class Tile:
    """One square as it is drawn."""

    name: str
    content: Content
    light: str
    """What its LED says, as the style sheet calls it; empty while it is dark."""
    words: str
    """What a person who cannot see it is told."""


@dataclass(frozen=True, slots=True)
class Spare:
    """The pieces of one look that lie beside the board."""

    letter: str
    piece: Piece
    words: str
    left: int


@dataclass(frozen=True, slots=True)
class TileBoardDrawing:
    """The board and what lies beside it."""

    rows: tuple[tuple[Tile | None, ...], ...]
    """As they are seen, far row first; None where the layout has no square."""
    spares: tuple[tuple[Spare, ...], ...]
    """Those of the far player, then those of the near one."""


def draw_tiles(tiles: LooseTiles, view: TableView, side: Colour) -> TileBoardDrawing:
    """The tile board of `view`'s table, seen from one player's side."""
    layout, letters = view.game.layout, tiles.letters
    lit = dict(zip(layout, zip(letters, light_of(view), strict=False), strict=False))
    rows = [
        tuple(_tile(Square(row, column), lit.get(Square(row, column))) for column in range(layout.columns))
        for row in reversed(range(layout.rows))
    ]
    if side is Colour.DARK:
        rows = [tuple(reversed(row)) for row in reversed(rows)]
    spares = tuple(_spares(colour, letters, view.game.sets) for colour in (side.other, side))
    return TileBoardDrawing(tuple(rows), spares)


def touch(tiles: LooseTiles, view: TableView, square: str, letter: str) -> str:
    """Lay the chosen piece on `square`, or take away what lies there; what is wrong, if nothing can be done."""
    names = [str(square) for square in view.game.layout]
    if square not in names:
        return _("%(square)s is not on this board", square=square)
    index, letters = names.index(square), tiles.letters
    if len(letters) != len(names):
        return _("The board is being changed; try again.")
    if letters[index] != EMPTY:
        tiles.put(index, EMPTY)
        return ""
    piece = _CONTENTS.get(letter)
    if piece is None or not _left(piece, letters, view.game.sets):
        return _("Choose a piece first.")
    tiles.put(index, letter)
    return ""


def _tile(square: Square, shown: tuple[str, str] | None) -> Tile | None:
    if shown is None:
        return None
    letter, lamp = shown
    content = _CONTENTS.get(letter)
    name, meaning = _lamps().get(lamp, ("", ""))
    lying = content_name(content) if content else _("empty")
    return Tile(str(square), content, name, f"{square}: {lying}{f', {meaning}' if meaning else ''}")


def _lamps() -> dict[str, tuple[str, str]]:
    """What each palette letter is called in the style sheet, and what it means."""
    return {
        light.LEGAL: ("legal", _("a piece may go here")),
        light.LAST: ("last", _("played last")),
        light.WRONG: ("wrong", _("may not be here")),
        light.BACK: ("back", _("a piece belongs here")),
        light.PASS: ("pass", _("free play")),
        light.WON: ("won", _("part of a line")),
        light.OTHER: ("other", _("part of a line")),
        light.UNREADABLE: ("unreadable", _("not clear")),
    }


def _spares(colour: Colour, letters: str, sets: int) -> tuple[Spare, ...]:
    pieces = [piece for piece in ALL_CONTENTS if piece is not None and piece.colour is colour]
    return tuple(Spare(piece.letter, piece, content_name(piece), _left(piece, letters, sets)) for piece in pieces)


def _left(piece: Piece, letters: str, sets: int) -> int:
    return max(0, PIECES_PER_KIND_AND_SET * sets - letters.count(piece.letter))
