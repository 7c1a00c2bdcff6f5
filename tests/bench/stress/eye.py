"""The same shows without pixels: what an eye that errs now and then would read. Thousands of games cost minutes.

A hand hides the squares under it; what it leaves in the open is read as it lies, but for the eye's errors. It tells
what settling and the referee do wrong by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from companion.readings import ANYTHING, EMPTY, BoardReading, contents_of, of_colour
from companion.rules import Kind, Layout, Piece, Square
from tests.bench.stress.shows import Show
from tests.bench.stress.studio import Hand

_PALM = 0.75
"""Half the width of what a hand hides."""


@dataclass(frozen=True, slots=True)
class Errors:
    """How often the eye errs."""

    odd: float = 0.0
    """The share of readings of a square that are something else, for one frame."""
    unsure: float = 0.0
    """The share of pieces whose kind may be another as well, for as long as they lie as they do."""
    faint: float = 0.0
    """The share of pieces that are hardly seen: as any kind of their colour, or as nothing, for as long as they lie."""
    blind: float = 0.0
    """The share of hands over a square that are not noticed: what is read is empty or some piece, until it moves on."""


def readings(show: Show, errors: Errors, seed: int = 0) -> Iterator[BoardReading]:
    """What is read of every frame."""
    eye, stage = _Eye(show, errors, np.random.default_rng((7, seed))), show.stage
    while True:
        yield eye.reading()
        stage.frame += 1
        stage.time = stage.frame * stage.step_s
        if next(show.act, StopIteration) is StopIteration:
            return


class _Eye:
    """What it has made up its mind about, right or wrong, stays so while nothing moves."""

    def __init__(self, show: Show, errors: Errors, rng: np.random.Generator) -> None:
        self._stage, self._errors, self._rng = show.stage, errors, rng
        self._layout = show.look.layout
        self._minds: dict[object, int] = {}
        self._places: dict[object, tuple[float, float]] = {}

    def reading(self) -> BoardReading:
        hidden, tricked = self._hands()
        squares = []
        for i, square in enumerate(self._layout):
            seen = tricked.get(i, self._lying(square))
            odd = self._rng.random() < self._errors.odd
            squares.append(ANYTHING if hidden >> i & 1 else _something(self._rng) if odd else seen)
        return BoardReading(self._stage.time, tuple(squares), hidden=hidden)

    def _hands(self) -> tuple[int, dict[int, int]]:
        """The squares that are hidden, and what is read where a hand at rest is taken for something else."""
        hidden, tricked, over = 0, {}, 0
        for who, (hand, _) in self._stage.hands.items():
            covered = _under(hand, self._layout)
            over |= covered
            at_rest = self._places.get(who) == (hand.x, hand.y)
            self._places[who] = (hand.x, hand.y)
            for i in (i for i in range(len(self._layout)) if covered >> i & 1):
                taken_for = self._mind((who, i, round(hand.x, 1), round(hand.y, 1)), self._errors.blind)
                if at_rest and taken_for:
                    tricked[i] = taken_for
                else:
                    hidden |= 1 << i
        self._stage.seen(hand_on_board=bool(over))
        return hidden, tricked

    def _lying(self, square: Square) -> int:
        lying = self._stage.board.get(square)
        if lying is None:
            return EMPTY
        contents = contents_of([lying.piece])
        if self._mind(("faint", square, lying), self._errors.faint):
            return EMPTY | of_colour(lying.piece.colour)
        other = self._mind((square, lying), self._errors.unsure)
        return contents | (contents_of([Piece(lying.piece.colour, list(Kind)[other % len(Kind)])]) if other else 0)

    def _mind(self, about: object, share: float) -> int:
        """0, or for this share of all there is to think about, something else."""
        if share and about not in self._minds:
            self._minds[about] = _something(self._rng) if self._rng.random() < share else 0
        return self._minds.get(about, 0)


def _something(rng: np.random.Generator) -> int:
    return EMPTY if rng.random() < 0.3 else 1 << int(rng.integers(1, 9))


def _under(hand: Hand, layout: Layout) -> int:
    """The squares that a hand hides, as bits."""
    middles = np.array([(square.column + 0.5, square.row + 0.5) for square in layout])
    tip, shoulder = np.array([hand.x, hand.y]), np.array(hand.shoulder)
    along = shoulder - tip
    share = np.clip((middles - tip) @ along / (along @ along), 0, 1)[:, None]
    away = np.linalg.norm(middles - tip - share * along, axis=1)
    return sum(1 << int(i) for i in np.flatnonzero(away < _PALM))
