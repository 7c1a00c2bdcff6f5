"""The same shows without pixels: what an eye that errs now and then would read. Thousands of games cost minutes.

A hand hides the squares under it; what it leaves in the open is read as it lies, but for the eye's errors. It tells what
settling and the referee do wrong by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from companion.readings import ANYTHING, EMPTY, BoardReading, contents_of
from companion.rules import Kind, Layout, Piece
from tests.bench.stress.shows import Show
from tests.bench.stress.studio import Hand

LAYOUT = Layout.parse("4x4")
_PALM = 0.75
"""Half the width of what a hand hides."""
_MIDDLES = np.array([(square.column + 0.5, square.row + 0.5) for square in LAYOUT])


@dataclass(frozen=True, slots=True)
class Errors:
    """How often the eye errs."""

    odd: float = 0.0
    """The share of readings of a square that are something else, for one frame."""
    unsure: float = 0.0
    """The share of pieces whose kind may be another as well, for as long as they lie as they do."""
    blind: float = 0.0
    """The share of hands over a square that are not noticed: what is read is empty or some piece, until it moves on."""


def readings(show: Show, errors: Errors, seed: int = 0) -> Iterator[BoardReading]:
    """What is read of every frame."""
    rng = np.random.default_rng((7, seed))
    stage, number = show.stage, 0
    doubts: dict[object, int] = {}
    last: dict[object, tuple[float, float]] = {}
    while True:
        hidden = 0
        tricked: dict[int, int] = {}
        over = False
        for who, (hand, held) in stage.hands.items():
            covered = _under(hand)
            over |= bool(covered)
            moved = last.get(who) != (hand.x, hand.y)
            last[who] = (hand.x, hand.y)
            for i in np.flatnonzero([covered >> i & 1 for i in range(16)]):
                key = (who, int(i), round(hand.x, 1), round(hand.y, 1))
                if not moved and _decided(doubts, key, rng, errors.blind):
                    tricked[int(i)] = doubts[key]
                else:
                    hidden |= 1 << int(i)
        stage.seen(hand_on_board=over)
        squares = []
        for i, square in enumerate(LAYOUT):
            lying = stage.board.get(square)
            piece = lying.piece if lying else None
            contents = contents_of([piece])
            if lying and _decided(doubts, (square, lying), rng, errors.unsure):
                contents |= contents_of([Piece(piece.colour, list(Kind)[doubts[square, lying] % 4])])
            if rng.random() < errors.odd:
                contents = _something(rng)
            squares.append(ANYTHING if hidden >> i & 1 else tricked.get(i, contents))
        yield BoardReading(stage.time, tuple(squares), hidden=hidden)
        number += 1
        stage.time = number * stage.step_s
        if next(show.act, StopIteration) is StopIteration:
            return


def _decided(doubts: dict[object, int], key: object, rng: np.random.Generator, share: float) -> int:
    if share and key not in doubts:
        doubts[key] = _something(rng) if rng.random() < share else 0
    return doubts.get(key, 0)


def _something(rng: np.random.Generator) -> int:
    return EMPTY if rng.random() < 0.3 else 1 << int(rng.integers(1, 9))


def _under(hand: Hand) -> int:
    """The squares that a hand hides, as bits."""
    tip, shoulder = np.array([hand.x, hand.y]), np.array(hand.shoulder)
    along = shoulder - tip
    share = np.clip((_MIDDLES - tip) @ along / (along @ along), 0, 1)[:, None]
    away = np.linalg.norm(_MIDDLES - tip - share * along, axis=1)
    return sum(1 << int(i) for i in np.flatnonzero(away < _PALM))
