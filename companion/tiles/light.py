"""What the LEDs of a tile board show: one palette letter for each square, made from what is going on in the game.

Letters differ in brightness and in rhythm, never in hue alone, so that they can be told apart without telling colours
apart. What they look like is the firmware's business (``firmware/src/leds.c``):

====== ============================== ==================================
letter meaning                        looks like
====== ============================== ==================================
``.``  nothing                        dark
``L``  you may play here              soft white, steady
``l``  a hint                         faint white, steady
``M``  the last move                  blue, steady
``X``  this piece may not be here     bright red, blinking fast
``B``  put it back here               amber, blinking slowly
``P``  a pass                         violet, two short flashes a second
``W``  a line that scored, winner's   bright green, blinking slowly
``D``  a line that scored, other's    faint green, blinking against W
``?``  this square cannot be read     yellow, one short flash a second
``T``  a test of the LED              white, steady
====== ============================== ==================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from companion.rules import Move, Pass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from companion.rules import Game, Layout, Square

DARK, LEGAL, HINT, LAST, WRONG, BACK, PASS, WON, OTHER, UNREADABLE, TEST = ".LlMXBPWD?T"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong on the board right now."""

    wrong: AbstractSet[Square] = field(default_factory=frozenset)
    """Pieces that may not lie where they do."""
    missing: AbstractSet[Square] = field(default_factory=frozenset)
    """Squares of the game whose piece is not there."""
    unreadable: AbstractSet[Square] = field(default_factory=frozenset)
    """Squares on which something lies that the board cannot tell."""


NO_TROUBLE = Trouble()


def frame_of(game: Game, trouble: Trouble = NO_TROUBLE) -> str:
    """The palette letter of every square of the game's layout, in its order.

    While something is wrong, only that is shown: the piece, and the way back, which for a piece that was moved is the
    square it came from, and for one that was laid wrongly the squares where it may be played. Otherwise the legal
    squares and the last move; every empty square flashes for a pass; lines that scored show when the game is over.
    """
    layout = game.layout
    if trouble != NO_TROUBLE:
        back = trouble.missing or (game.legal_squares() if trouble.wrong else frozenset())
        return _letters(layout, (UNREADABLE, trouble.unreadable), (WRONG, trouble.wrong), (BACK, back))
    if game.outcome is not None:
        return _frame_of_the_end(game)
    last = [ply.square for ply in game.history if isinstance(ply, Move)][-1:]
    passed = bool(game.history) and isinstance(game.history[-1], Pass)
    return _letters(layout, (LAST, last), (PASS if passed else LEGAL, game.legal_squares()))


def _frame_of_the_end(game: Game) -> str:
    winner = game.outcome.winner if game.outcome else None
    scored = [(line.colour, line.squares) for line in game.score.lines]
    won = {square for colour, squares in scored if winner in (None, colour) for square in squares}
    other = {square for colour, squares in scored if winner not in (None, colour) for square in squares}
    return _letters(game.layout, (WON, won), (OTHER, other))


def _letters(layout: Layout, *layers: tuple[str, Iterable[Square]]) -> str:
    """One letter a square: that of the first layer which has it."""
    shown = {square: letter for letter, squares in reversed(layers) for square in squares}
    return "".join(shown.get(square, DARK) for square in layout.squares)
