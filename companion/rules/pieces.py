"""The pieces: two colours, four kinds, and the words and marks for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Colour(Enum):
    """A player and the colour of that player's pieces. Light begins."""

    LIGHT = "light"
    DARK = "dark"

    @property
    def other(self) -> Colour:
        """The opponent."""
        return Colour.DARK if self is Colour.LIGHT else Colour.LIGHT

    def __str__(self) -> str:
        return self.value


class Kind(Enum):
    """What a piece asks of the opponent's next piece. The values are the rule book's names."""

    STRAIGHT = "straight"
    DIAGONAL = "diagonal"
    PUSHER = "pusher"
    PULLER = "puller"

    @property
    def mark(self) -> str:
        """The mark that stands for this kind in notation."""
        return _MARKS[self]

    @classmethod
    def from_mark(cls, mark: str) -> Kind:
        """The kind that `mark` stands for; `KeyError` if it is none of the four."""
        return _KINDS[mark]

    def __str__(self) -> str:
        return self.value


_MARKS = {Kind.STRAIGHT: "+", Kind.DIAGONAL: "x", Kind.PUSHER: "<>", Kind.PULLER: "><"}
_KINDS = {mark: kind for kind, mark in _MARKS.items()}

PIECES_PER_KIND_AND_SET = 2
MOST_SETS = 8
"""So many are enough for the largest board that is watched, of 128 squares; a match text may have more."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the eight looks a piece can have."""

    colour: Colour
    kind: Kind

    @classmethod
    def parse(cls, text: str) -> Piece:
        """The piece that ``"dark pusher"`` names; `ValueError` if it names none."""
        colour, _, kind = text.partition(" ")
        return cls(Colour(colour), Kind(kind))

    @classmethod
    def from_letter(cls, letter: str) -> Piece:
        """The piece that `letter` stands for; `KeyError` if it is none of the eight."""
        return _BY_LETTER[letter]

    @property
    def letter(self) -> str:
        """One of ``SDPU`` for light and ``sdpu`` for dark, as the tile board writes them (puller is U)."""
        letter = _LETTERS[self.kind]
        return letter if self.colour is Colour.LIGHT else letter.lower()

    def __str__(self) -> str:
        return f"{self.colour} {self.kind}"


_LETTERS = dict(zip(Kind, "SDPU", strict=True))
_BY_LETTER = {piece.letter: piece for piece in (Piece(colour, kind) for colour in Colour for kind in Kind)}


Content = Piece | None
"""What a square holds: a piece, or None when it is empty."""
