"""The 4x4 board as lookup tables, and a position on it as a few small ints.

Everything that searches works on these. A set of squares is 16 bits, bit i standing for ``Layout.squares[i]``; a hand
is 8 bits, two for each kind in the order of `companion.rules.Kind`. Positions are told from the player to move, so that
one rule and one table serve both colours: the value of a position is the final margin, own points minus the opponent's.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from companion.rules import Colour, Kind, Layout, Square

if TYPE_CHECKING:
    from companion.rules import Game

LAYOUT = Layout.parse("4x4")
SIDE = 4
SQUARES = 16
ALL = LAYOUT.all
KINDS = tuple(Kind)
PIECES = 8
"""Pieces a player has in one set."""
FULL_HAND = 0b10101010
"""Two of every kind."""


class Position(NamedTuple):
    """A position as the player to move sees it. Nothing else about a game bears on what can still happen."""

    own: int
    """The squares held by the player to move."""
    opponent: int
    legal: int
    """The empty squares where the next piece may go; never 0."""
    own_hand: int
    opponent_hand: int

    @classmethod
    def of(cls, game: Game) -> Position:
        """The position of a `game` on the 4x4 board with one set that is not over; see `covers`."""
        mover = game.to_move
        assert mover is not None
        masks = game.light, game.dark
        own, opponent = masks if mover is Colour.LIGHT else masks[::-1]
        return cls(own, opponent, game.legal_mask(), pack_hand(game, mover), pack_hand(game, mover.other))


def covers(game: Game) -> bool:
    """Whether `Position` can tell `game`: the 4x4 board with one set of pieces."""
    return game.layout == LAYOUT and game.sets == 1


def pack_hand(game: Game, colour: Colour) -> int:
    """What `colour` has left, two bits a kind."""
    return sum(count << 2 * KINDS.index(kind) for kind, count in game.in_hand(colour).items())


def _points() -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The points of every set of squares: a run of n squares is worth n - 2, which is how many threes it contains."""
    held = np.arange(ALL + 1)
    points = np.zeros(ALL + 1, np.uint8)
    for line in LAYOUT.geometry.lines:
        for start in range(len(line) - 2):
            three = sum(1 << square for square in line[start : start + 3])
            points += (held & three) == three
    return points


def _threats() -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    """For every set of squares, the squares that would score if they were added to it."""
    held = np.arange(ALL + 1)
    threats = np.zeros(ALL + 1, np.uint16)
    for square in range(SQUARES):
        threats |= np.where(POINTS[held | 1 << square] > POINTS, np.uint16(1 << square), np.uint16(0))
    return threats


def _reach(square: int) -> tuple[int, ...]:
    """The squares that a piece on `square` asks for, for each kind; occupied ones included."""
    geometry = LAYOUT.geometry
    touching = geometry.touching[square]
    return geometry.straight[square], geometry.diagonal[square], ALL & ~touching & ~(1 << square), touching


def _symmetries() -> tuple[tuple[int, ...], ...]:
    """The eight ways to lay the board onto itself, each as the new index of every square."""

    def image(square: Square, *, transpose: bool, flip_row: bool, flip_column: bool) -> int:
        row, column = square[::-1] if transpose else square
        return LAYOUT.index(
            Square(SIDE - 1 - row if flip_row else row, SIDE - 1 - column if flip_column else column),
        )

    return tuple(
        tuple(image(square, transpose=t, flip_row=r, flip_column=c) for square in LAYOUT.squares)
        for t, r, c in product((False, True), repeat=3)
    )


POINTS = _points()
"""uint8 (65536,): the points of every set of squares."""
THREATS = _threats()
"""uint16 (65536,): for every set of squares, those that would score if they were added."""
REACH = tuple(_reach(square) for square in range(SQUARES))
"""REACH[square][kind]: the squares that piece asks for, occupied ones included."""
SYMMETRIES = _symmetries()
"""SYMMETRIES[s][square]: where the square lands. The first is the identity."""


def _byte_turns(symmetry: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Where the sets of squares in the lower and in the upper half of the board land."""

    def turned(mask: int) -> int:
        return sum(1 << symmetry[square] for square in range(SQUARES) if mask >> square & 1)

    return [turned(byte) for byte in range(256)], [turned(byte << 8) for byte in range(256)]


_TURNS = [_byte_turns(symmetry) for symmetry in SYMMETRIES]


def canonical(position: Position) -> Position:
    """The same position for all eight ways to look at the board."""
    own, opponent, legal, *hands = position
    return min(
        Position(
            low[own & 255] | high[own >> 8],
            low[opponent & 255] | high[opponent >> 8],
            low[legal & 255] | high[legal >> 8],
            *hands,
        )
        for low, high in _TURNS
    )
