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

from companion.rules import Pass
from companion.tiles.wire import PALETTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from companion.rules import Colour, Game, Layout, Square

    _Layer = tuple[str, Iterable[Square]]

DARK, LEGAL, HINT, LAST, WRONG, BACK, PASS, WON, OTHER, UNREADABLE, TEST = tuple(PALETTE)


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


def frame_of(game: Game, trouble: Trouble = NO_TROUBLE, *, resigned: Colour | None = None) -> str:
    """The palette letter of every square of the game's layout, in its order.

    While a piece is wrong or missing, only that is shown: the piece, and the way back, which for a piece that was moved
    is the square it came from, and for one that was laid wrongly the squares where it may be played. Otherwise the
    legal squares and the last move; every empty square flashes for a pass; lines that scored show when the game is
    over, by the rules or because `resigned` gave up. A square that cannot be read always shows.
    """
    unreadable = (UNREADABLE, trouble.unreadable)
    if trouble.wrong or trouble.missing:
        back = trouble.missing or (game.legal_squares() if resigned is None else ())
        return _letters(game.layout, unreadable, (WRONG, trouble.wrong), (BACK, back))
    if game.outcome is not None or resigned is not None:
        winner = game.outcome.winner if game.outcome else None
        return _letters(game.layout, unreadable, *_lines(game, resigned.other if resigned else winner))
    last = [move.square for move in game.moves[-1:]]
    passed = bool(game.history) and isinstance(game.history[-1], Pass)
    return _letters(game.layout, unreadable, (LAST, last), (PASS if passed else LEGAL, game.legal_squares()))


def _lines(game: Game, winner: Colour | None) -> Iterator[_Layer]:
    """The lines that scored; after a draw nobody's are the other's."""
    scored = [(line.colour, line.squares) for line in game.score.lines]
    yield WON, {square for colour, squares in scored if winner in (None, colour) for square in squares}
    yield OTHER, {square for colour, squares in scored if winner not in (None, colour) for square in squares}


def _letters(layout: Layout, *layers: _Layer) -> str:
    """One letter a square: that of the first layer which has it."""
    shown = {square: letter for letter, squares in reversed(layers) for square in squares}
    return "".join(shown.get(square, DARK) for square in layout.squares)
