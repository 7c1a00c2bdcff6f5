"""Finds the moves that explain the pieces which have newly come to lie on the board.

Every order of the arrivals that the rules allow, and that the times do not forbid, is tried: the only legal order is
what was played; where two are left, or a piece could be two things that matter, a person has to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

from companion.readings import possible
from companion.rules import Game, IllegalMoveError, Move

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from companion.readings import Contents
    from companion.rules import Piece, Square

MOST_UNORDERED = 5
"""More pieces than this at the same moment are not sorted into an order: nobody plays so fast."""
_MOST_MEANINGS = 128
"""Nor are those that may be more combinations of pieces than this: nobody could choose, and to try them takes long."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A piece that lies where the game has none."""

    square: Square
    contents: Contents
    """What it may be."""
    since: float
    after: float
    """It came to lie there between `after` and `since`, in source seconds."""

    def surely_before(self, other: Arrival) -> bool:
        """Whether it was seen before the other square was last seen empty."""
        return self.since <= other.after

    @property
    def appeared(self) -> bool:
        """Whether its square was seen bare before."""
        return self.after > float("-inf")

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces it may be."""
        return tuple(piece for piece in possible(self.contents) if piece is not None)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the rules make of some arrivals."""

    orders: tuple[tuple[Move, ...], ...]
    """The longest legal ways to have played the arrivals; each covers as many of them as any."""
    complete: bool
    """Whether they cover every arrival."""

    @property
    def certain(self) -> tuple[Move, ...]:
        """The moves with which every one of `orders` begins: played without doubt."""
        shared = []
        for step in zip(*self.orders, strict=False):
            if len(set(step)) > 1:
                break
            shared.append(step[0])
        return tuple(shared)

    @property
    def unique(self) -> bool:
        """Whether there is exactly one way, and it covers every arrival."""
        return self.complete and len(self.orders) == 1

    @property
    def next_square(self) -> Square | None:
        """The one square on which the first doubtful move was played; None if the orders differ in the square."""
        squares = {order[len(self.certain)].square for order in self.orders if len(order) > len(self.certain)}
        return squares.pop() if len(squares) == 1 else None


def explain(game: Game, arrivals: Sequence[Arrival]) -> Explanation:
    """Try every order of `arrivals` as the next moves of `game`."""
    if are_too_many(arrivals):
        return Explanation(((),), complete=False)
    found = list(_orders(game, tuple(arrivals)))
    longest = max(map(len, found))
    return Explanation(
        tuple(dict.fromkeys(order for order in found if len(order) == longest)),
        complete=longest == len(arrivals),
    )


def are_too_many(arrivals: Sequence[Arrival]) -> bool:
    """Whether so many, or such unclear ones, came at the same moment that no order is sought."""
    for one in arrivals:
        together = [other for other in arrivals if not _ordered(one, other)]
        if len(together) > MOST_UNORDERED or prod(len(other.pieces) for other in together) > _MOST_MEANINGS:
            return True
    return False


def could_have_been(past: Sequence[Game], moves: Sequence[Move], square: Square, arrival: Arrival) -> bool:
    """Whether `arrival` could have been played in place of the one of `moves` on `square`, and all later ones after it.

    Args:
        past: the game before each of `moves`.
    """
    for number, (before, move) in enumerate(zip(past, moves, strict=True), start=1):
        if move.square == square:
            return any(_goes_on(before.play(other), moves[number:]) for other in legal_moves(before, arrival))
    return False


def _goes_on(game: Game, moves: Sequence[Move]) -> bool:
    """Whether `moves` are legal one after the other."""
    try:
        reduce(Game.play, moves, game)
    except IllegalMoveError:
        return False
    return True


def first_to_blame(game: Game, arrivals: Sequence[Arrival]) -> Arrival:
    """The earliest arrival; among those that may be the earliest, one of the player to move."""
    earliest = [a for a in arrivals if not any(other.surely_before(a) for other in arrivals if other is not a)]
    movers = [a for a in earliest if any(piece.colour is game.to_move for piece in a.pieces)]
    return min(movers or earliest or arrivals, key=lambda arrival: arrival.since)


def kind_not_seen(game: Game, arrival: Arrival, *, by_card: bool) -> bool:
    """Whether nothing but the colour is known: every kind that its owner still has is possible, or cards tell it."""
    colours = {piece.colour for piece in arrival.pieces}
    if len(colours) > 1:
        return False
    in_hand = {kind for kind, left in game.in_hand(colours.pop()).items() if left}
    return by_card or in_hand <= {piece.kind for piece in arrival.pieces}


def _ordered(one: Arrival, other: Arrival) -> bool:
    return one.surely_before(other) or other.surely_before(one)


def _orders(game: Game, left: tuple[Arrival, ...]) -> Iterator[tuple[Move, ...]]:
    """Every legal way to play some of `left`, each as long as it can get."""
    stuck = True
    for arrival in left:
        if any(other.surely_before(arrival) for other in left if other is not arrival):
            continue
        rest = tuple(other for other in left if other is not arrival)
        for move in legal_moves(game, arrival):
            stuck = False
            for further in _orders(game.play(move), rest):
                yield (move, *further)
    if stuck:
        yield ()


def legal_moves(game: Game, arrival: Arrival) -> list[Move]:
    """The moves that `arrival` may be, as the rules and the supply have it."""
    if game.to_move is None or arrival.square not in game.legal_squares():
        return []
    hand = game.in_hand(game.to_move)
    return [
        Move(arrival.square, piece.kind, piece.colour)
        for piece in arrival.pieces
        if piece.colour is game.to_move and hand[piece.kind]
    ]
