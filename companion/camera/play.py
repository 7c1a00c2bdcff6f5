"""A game played by hands: what lies where, and what the hands do, at any second.

Lengths are squares of the board: x along the columns and y along the rows from the outer corner of a1, z up from the
board's face. Before the game each player's pieces lie beside the board, Light's on the right and Dark's on the left;
a hand comes from its player's side, fetches one, puts it down and leaves.

Of the Green Box, the pieces are cubes, and each player has a pile of cards, Light's on the left and Dark's on the
right: a hand puts down a cube and then lays a card, now and then the card first.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from companion.rules import PIECES_PER_KIND_AND_SET, Colour, Kind, Move, Piece

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.rules import Game, Layout, Square

GRIP_Y = -0.12
"""Where the fingers hold a piece, seen from its middle towards the player."""
_LIFTED = 0.45
"""How high a piece is carried."""
_ELBOW_ROOM = 4.2
"""How far outside the board a hand is out of sight."""
_SPARE_ASIDE = 0.98
_LOOSE = 0.035
CARD = (1.3, 1.85)
"""Width and height of a card."""
CARD_THICKNESS = 0.012
_PILE_ASIDE = 1.25
"""From the board to the middle of a pile."""
_CUBES_ASIDE = 2.55
_CUBE_STEP = 0.72
_MESS = 2.2
"""How much less neatly cards are laid than pieces."""
_CARD_FIRST = 3
"""At every third move the card is laid first."""
_TURNED = math.radians(3.5)
_SEED = 16


@dataclass(frozen=True, slots=True)
class Pace:
    """How quickly the hands play, in seconds."""

    first_s: float = 1.5
    """Until the first hand comes."""
    reach_s: float = 0.55
    """From out of sight to the spare piece."""
    take_s: float = 0.15
    carry_s: float = 0.7
    put_s: float = 0.2
    leave_s: float = 0.5
    rest_s: float = 0.9
    """Until the next hand comes."""
    last_s: float = 2.5
    """The last position is seen for so long."""

    @property
    def move_s(self) -> float:
        """From one hand's coming to the next's."""
        return self.reach_s + self.take_s + self.carry_s + self.put_s + self.leave_s + self.rest_s


@dataclass(frozen=True, slots=True)
class Card:
    """A card of the Green Box."""

    colour: Colour
    """Whose it is."""
    kind: Kind


@dataclass(frozen=True, slots=True)
class Lying:
    """A piece or a card on the table."""

    piece: Piece | Card
    x: float
    y: float
    z: float
    turn: float
    """Counter-clockwise, in radians."""


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand, by the point between its fingertips."""

    colour: Colour
    """Whose it is: it comes from that player's side."""
    x: float
    y: float
    z: float


@dataclass(frozen=True, slots=True)
class Moment:
    """The table at one moment."""

    lying: tuple[Lying, ...]
    hand: Hand | None = None
    held: Lying | None = None


@dataclass(frozen=True, slots=True)
class _Visit:
    """A hand comes, moves one thing, and goes."""

    start: Lying
    put: Lying
    before: tuple[Lying, ...]
    without: tuple[Lying, ...]
    after: tuple[Lying, ...]
    pace: Pace


class Play:
    """A game, its passes left out, from the first hand to the last position; with `cards`, one of the Green Box."""

    def __init__(self, game: Game, pace: Pace | None = None, *, cards: bool = False) -> None:
        self.layout = game.layout
        self.pace = pace or Pace()
        self._rng = np.random.default_rng(_SEED)
        self._spares = (_cubes if cards else _spares)(game.layout, _supply(game), self._rng)
        self._played: list[Lying] = []
        for square, piece in game.joined.pieces if game.joined else ():
            _fetched(piece, self._spares)
            self._played.append(_put_down(piece, square, self._rng))
        self._first = self._lying
        self._visits: list[_Visit] = []
        for number, move in enumerate(game.moves):
            visits = [self._place, self._lay] if cards else [self._place]
            for i, visit in enumerate(reversed(visits) if number % _CARD_FIRST == _CARD_FIRST - 1 else visits):
                visit(move, self.pace if i == len(visits) - 1 else replace(self.pace, rest_s=0.0))
        ends = self.pace.first_s + np.cumsum([visit.pace.move_s for visit in self._visits])
        self._ends: list[float] = ends.tolist()

    @property
    def duration_s(self) -> float:
        """When the last position has been seen for long enough."""
        return (self._ends[-1] if self._ends else self.pace.first_s) + self.pace.last_s

    def at(self, time: float) -> Moment:
        """The table `time` seconds after the beginning; before it and after the end, nothing moves."""
        number = bisect_right(self._ends, time)
        if time < self.pace.first_s or not self._visits:
            return Moment(self._first)
        if number == len(self._visits):
            return Moment(self._visits[-1].after)
        visit = self._visits[number]
        return self._moving(visit, time - (self._ends[number] - visit.pace.move_s))

    @property
    def _lying(self) -> tuple[Lying, ...]:
        return (*self._spares, *self._played)

    def _place(self, move: Move, pace: Pace) -> None:
        """A hand fetches the piece and puts it on its square."""
        before = self._lying
        spare, put = _fetched(move.piece, self._spares), _put_down(move.piece, move.square, self._rng)
        self._visit(before, spare, put, pace)

    def _lay(self, move: Move, pace: Pace) -> None:
        """A hand brings the card and lays it on its player's pile."""
        put = _laid(Card(move.piece.colour, move.piece.kind), self._played, self.layout, self._rng)
        self._visit(
            self._lying, _away(move.piece.colour, put, self.layout), put, replace(pace, reach_s=0.0, take_s=0.0)
        )

    def _visit(self, before: tuple[Lying, ...], start: Lying, put: Lying, pace: Pace) -> None:
        without = self._lying
        self._played.append(put)
        self._visits.append(_Visit(start, put, before, without, self._lying, pace))

    def _moving(self, visit: _Visit, since: float) -> Moment:
        pace, spare, put = visit.pace, visit.start, visit.put
        before, without, after = visit.before, visit.without, visit.after
        colour = put.piece.colour
        coming, going = _away(colour, spare, self.layout), _away(colour, put, self.layout)
        phases: tuple[tuple[float, Callable[[float], Moment]], ...] = (
            (pace.reach_s, lambda share: Moment(before, _hand_between(coming, spare, share))),
            (pace.take_s, lambda _: Moment(before, _hand_at(spare))),
            (pace.carry_s, lambda share: _carried(without, spare, put, share)),
            (pace.put_s, lambda _: Moment(after, _hand_at(put))),
            (pace.leave_s, lambda share: Moment(after, _hand_between(put, going, share))),
        )
        for lasts, moment in phases:
            if since < lasts:
                return moment(since / lasts)
            since -= lasts
        return Moment(after)


def _supply(game: Game) -> Counter[Piece]:
    """How many pieces of each kind and colour come to the table; more than a set has if rulings put more down."""
    had = Counter({Piece(colour, kind): PIECES_PER_KIND_AND_SET * game.sets for colour in Colour for kind in Kind})
    return had | Counter(piece for piece in game.contents if piece is not None)


def _spares(layout: Layout, supply: Counter[Piece], rng: np.random.Generator) -> list[Lying]:
    """Every piece of both players beside the board, a row for each kind."""
    found = []
    for colour in Colour:
        for row, kind in enumerate(Kind):
            for column in range(supply[Piece(colour, kind)]):
                aside = _SPARE_ASIDE * (column + 1)
                x = layout.columns + aside if colour is Colour.LIGHT else -aside
                y = layout.rows / 2 + (1.5 - row) * _SPARE_ASIDE
                found.append(_loosely(Piece(colour, kind), x, y, 1.5, rng))
    return found


def _cubes(layout: Layout, supply: Counter[Piece], rng: np.random.Generator) -> list[Lying]:
    """The cubes of both players beyond where their piles are going to be."""
    found = []
    for colour in Colour:
        pieces = [piece for kind in Kind for piece in [Piece(colour, kind)] * supply[Piece(colour, kind)]]
        for number, piece in enumerate(pieces):
            column, row = divmod(number, layout.rows)
            aside = _CUBES_ASIDE + _CUBE_STEP * column
            x = -aside if colour is Colour.LIGHT else layout.columns + aside
            y = layout.rows / 2 + ((layout.rows - 1) / 2 - row) * _CUBE_STEP
            found.append(_loosely(piece, x, y, 1.5, rng))
    return found


def _laid(card: Card, played: list[Lying], layout: Layout, rng: np.random.Generator) -> Lying:
    """The card on top of its player's pile, which faces that player."""
    below = sum(lying.piece == replace(card, kind=kind) for lying in played for kind in Kind)
    light = card.colour is Colour.LIGHT
    x = -_PILE_ASIDE if light else layout.columns + _PILE_ASIDE
    loose = _loosely(card, x, layout.rows / 2 - (0.4 if light else -0.4), _MESS, rng)
    return replace(loose, z=below * CARD_THICKNESS, turn=loose.turn + (0.0 if light else math.pi))


def _fetched(piece: Piece, spares: list[Lying]) -> Lying:
    """The spare that is such a piece, taken away from the others."""
    return spares.pop(next(i for i, spare in enumerate(spares) if spare.piece == piece))


def _put_down(piece: Piece, square: Square, rng: np.random.Generator) -> Lying:
    return _loosely(piece, square.column + 0.5, square.row + 0.5, 1.0, rng)


def _loosely(piece: Piece | Card, x: float, y: float, how: float, rng: np.random.Generator) -> Lying:
    dx, dy, turn = np.clip(rng.normal(0, 1, 3), -2, 2) * how
    return Lying(piece, x + _LOOSE * float(dx), y + _LOOSE * float(dy), 0.0, _TURNED * float(turn))


def _toward_player(colour: Colour) -> float:
    return 1.0 if colour is Colour.LIGHT else -1.0


def _hand_at(lying: Lying) -> Hand:
    colour = lying.piece.colour
    return Hand(colour, lying.x, lying.y + GRIP_Y * _toward_player(colour), lying.z)


def _away(colour: Colour, near: Lying, layout: Layout) -> Lying:
    """Out of sight on the player's own side."""
    y = -_ELBOW_ROOM if colour is Colour.LIGHT else layout.rows + _ELBOW_ROOM
    return replace(near, x=(near.x + layout.columns / 2) / 2, y=y, z=_LIFTED)


def _hand_between(start: Lying, end: Lying, share: float) -> Hand:
    return _hand_at(_on_the_way(start, end, share))


def _carried(lying: tuple[Lying, ...], spare: Lying, put: Lying, share: float) -> Moment:
    held = _on_the_way(spare, put, share)
    height = _LIFTED * math.sin(math.pi * _eased(share)) ** 0.7
    held = replace(held, z=height if isinstance(held.piece, Piece) else max(height, held.z))
    return Moment(lying, _hand_at(held), held)


def _on_the_way(start: Lying, end: Lying, share: float) -> Lying:
    done = _eased(share)
    x, y, z, turn = (
        a + (b - a) * done for a, b in ((start.x, end.x), (start.y, end.y), (start.z, end.z), (start.turn, end.turn))
    )
    return Lying(end.piece, x, y, z, turn)


def _eased(share: float) -> float:
    """Slow at both ends, as hands move."""
    return share * share * (3 - 2 * share)
