"""How long the umpire waits for what may pass, or show, by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LIFTED_S: Final = 3.0
"""A piece may be lifted, to adjust or to show it, and be away for so long before it counts as taken off the board, in
source seconds."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The waits before people are bothered, in source seconds."""

    hand_s: float = 2.5
    """A hand that rests on the board for this long no longer holds up what lies in the open."""
    unclear_s: float = 1.5
    """A piece that cannot be told apart may become clear by itself for so long: another look comes within a second."""
    card_s: float = 4.0
    """A player may take so long to lay the card of a cube."""
    rest_s: float = 1.0
    """The rest of the board may take so long to come to rest around a new piece."""
    maybe_s: float = 20.0
    """A square that may or may not hold a piece is asked about after this."""
    unseen_s: float = 2.0
    """In this time moves may be played where nothing is seen, before another is played in the open."""
    covered_s: float = 8.0
    """Where that may have happened it is asked about after this."""
    blind_s: float = 5.0
    """A square in the open may tell nothing for so long, before the first look at the whole board."""
    clearing_s: float = 3.0
    """A piece that lies still for so long is not one that is about to be cleared up."""
