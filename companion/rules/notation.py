"""Moves and passes as text: ``a1+ a3>< 2. a2+ a4<> … -``, after PerGioco.

A move is a square and the mark of a kind; a pass is ``-``. A referee's ruling names its player and ends in ``!``:
``L:a3><!``. Reading also takes ``(pass)``, ``(passa)``, move numbers, commas, semicolons and a final ``#``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.errors import NotationError
from companion.rules.layout import Square
from companion.rules.pieces import Colour, Kind, Piece
from companion.saying import Saying, cited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PASS_TEXT = "-"  # noqa: S105 (a pass of the turn, not a password)
END_TEXT = "#"
_TOKEN = re.compile(r"[^\s,;]+")
_NUMBER = re.compile(r"([0-9]+)\.{1,3}")
_MOVE = re.compile(r"(?:(?P<player>[LDld]):)?(?P<square>[A-Za-z]\d+)(?P<mark>\+|[xX]|<>|><)?(?P<ruled>!)?", re.ASCII)
_PASSES = {PASS_TEXT, "(pass)", "(passa)"}
_PLAYERS = {"L": Colour.LIGHT, "D": Colour.DARK}
_LETTER_OF = {colour: letter for letter, colour in _PLAYERS.items()}


@dataclass(frozen=True, slots=True)
class Move:
    """A piece put on a square. `colour` is None where a text does not say whose it is: the turn does."""

    square: Square
    kind: Kind
    colour: Colour | None = None
    ruled: bool = False
    """Accepted by a referee, whether the rules allow it or not."""

    @property
    def piece(self) -> Piece:
        """The piece that was placed; `ValueError` while the colour is not known."""
        if self.colour is None:
            raise ValueError(f"{self} does not say whose piece it is")
        return Piece(self.colour, self.kind)

    @property
    def plain(self) -> str:
        """Square and mark alone, such as ``a3><``."""
        return f"{self.square}{self.kind.mark}"

    def __str__(self) -> str:
        if not self.ruled:
            return self.plain
        player = f"{_LETTER_OF[self.colour]}:" if self.colour else ""
        return f"{player}{self.plain}!"


@dataclass(frozen=True, slots=True)
class Pass:
    """A turn without a legal square, or a last chance forfeited."""

    colour: Colour | None = None

    def __str__(self) -> str:
        return PASS_TEXT


Ply = Move | Pass
"""One entry of a game's history."""


@dataclass(frozen=True, slots=True)
class MoveNumber:
    """A move number and the 1-based place where it stood in the text."""

    digits: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Token:
    """A move or pass and the 1-based place where it stood in the text."""

    ply: Ply
    line: int
    column: int
    number: MoveNumber | None = None
    """The move number right before it, if there is one."""


def parse_move(text: str) -> Ply:
    """Read one move or pass.

    Raises:
        NotationError: if the text is neither, or is a move without its mark.

    """
    return _ply(text.strip().removesuffix(END_TEXT), 1, 1)


def parse_moves(text: str) -> list[Ply]:
    """Read any number of moves and passes, with or without move numbers.

    Raises:
        NotationError: for the first word that is none, with its line and column.

    """
    return [token.ply for token in tokens(text)]


def tokens(text: str, *, first_line: int = 1) -> Iterator[Token]:
    """Read as `parse_moves` does, keeping the place and number of every move; lines count from `first_line`."""
    told = text.rstrip().removesuffix(END_TEXT)
    number: MoveNumber | None = None
    for line, row in enumerate(told.splitlines(), start=first_line):
        for match in _TOKEN.finditer(row):
            column = match.start() + 1
            word = match[0]
            found = _NUMBER.match(word)
            if found:  # "3." alone, or "3.c3<>" with no space after it
                number = MoveNumber(found[1].lstrip("0") or "0", line, column)
                word, column = word[found.end() :], column + found.end()
            if word:
                yield Token(_ply(word, line, column), line, column, number)
                number = None


def write_moves(plies: Sequence[Ply], *, skip: int = 0) -> str:
    """Write numbered pairs: ``1. a1+ a3>< 2. a2+ a4<>``, or ``1... a3>< 2. a2+`` where the first is Dark's.

    Those that are to `skip` are counted, but not written: ``2. a2+ a4<>`` or ``1... a3>< 2. a2+``.
    """
    first = int(bool(plies) and plies[0].colour is Colour.DARK)
    words = [f"{(first + skip) // 2 + 1}..."] if (first + skip) % 2 and len(plies) > skip else []
    for i, ply in enumerate(plies[skip:], start=first + skip):
        if i % 2 == 0:
            words.append(f"{i // 2 + 1}.")
        words.append(str(ply))
    return " ".join(words)


def _ply(word: str, line: int, column: int) -> Ply:
    if word.lower() in _PASSES:
        return Pass()
    match = _MOVE.fullmatch(word)
    if match is None:
        raise NotationError(
            Saying(
                "%(word)s is no move; write square and mark, such as a1+, c1x, a4<> or a3><, and - for a pass",
                word=cited(word),
            ),
            line=line,
            column=column,
        )
    if match["mark"] is None:
        raise NotationError(
            Saying(
                "the move %(word)s has no mark; add + (straight), x (diagonal), <> (pusher) or >< (puller)",
                word=cited(word),
            ),
            line=line,
            column=column,
        )
    if bool(match["ruled"]) != bool(match["player"]):
        raise NotationError(
            Saying(
                "%(word)s is half a ruling; a ruling names its player and ends in !, such as L:a3><!", word=cited(word)
            ),
            line=line,
            column=column,
        )
    return _move(match, word, line, column)


def _move(match: re.Match[str], word: str, line: int, column: int) -> Move:
    try:
        square = Square.parse(match["square"])
    except NotationError as error:
        said = Saying("in %(word)s: %(why)s", word=cited(word), why=error.message)
        raise NotationError(said, line=line, column=column) from None
    player = match["player"]
    return Move(
        square,
        Kind.from_mark(match["mark"].lower()),
        colour=_PLAYERS[player.upper()] if player else None,
        ruled=bool(match["ruled"]),
    )
