"""The opening book: values of positions with three and four pieces, where search would take too long.

It has the positions with two pieces of each colour that play can lead to and, for the sake of referees' rulings, every
position with three pieces that has a last piece, legal or not. Positions with fewer pieces are a move or two away from
these, so it needs no others.

A position is found by its *rank*, a number made of where its pieces are once the board is turned so that the last piece
lies on a1, b1 or b2. The book is one signed byte a rank, compressed: the margin of the player to move, or `UNKNOWN`.
It is made by ``python -m calibration.openings``.
"""

from __future__ import annotations

import hashlib
import lzma
from functools import cache
from importlib import resources
from itertools import combinations, combinations_with_replacement
from math import prod
from typing import NamedTuple

from companion.analysis.board import FULL_HAND, KINDS, SQUARES, SYMMETRIES
from companion.errors import CompanionError

UNKNOWN = -128
_MAGIC = b"mijnlieff openings 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
_FILE = "openings.bin"

_MOST = 2
"""The most pieces of one kind, and also of one colour besides the last piece, in any position of the book."""
_ANCHORS = (0, 1, 5)
"""The squares a1, b1 and b2: every square can be turned onto exactly one of them."""


class BookError(CompanionError, ValueError):
    """The opening book is missing or damaged."""


class _Layer(NamedTuple):
    """The positions with so many pieces, and where their ranks start. `others` are the opponent's but for the last."""

    own: int
    others: int
    start: int

    @property
    def sizes(self) -> tuple[int, int, int, int, int, int]:
        """How many there are of: anchors, kinds on it, sets of other squares, hands before, own sets, own hands."""
        sets, hands = _SETS_OF_SIZE, _HANDS_WITHOUT
        return (
            len(_ANCHORS),
            len(KINDS),
            len(sets[self.others]),
            len(hands[self.others]),
            len(sets[self.own]),
            len(hands[self.own]),
        )

    @property
    def stop(self) -> int:
        """The first rank after this layer."""
        return self.start + prod(self.sizes)


def _set_numbers(turn: tuple[int, ...]) -> dict[int, int]:
    """The number of every small set of squares among those of its size, once it is turned; by its mask."""
    numbers = {mask: number for sets in _SETS_OF_SIZE for number, mask in enumerate(sets)}
    return {
        mask: numbers[sum(1 << turn[square] for square in range(SQUARES) if mask >> square & 1)] for mask in numbers
    }


_SETS_OF_SIZE = [
    [sum(1 << square for square in squares) for squares in combinations(range(SQUARES), size)]
    for size in range(_MOST + 1)
]
_HANDS_WITHOUT = [
    [
        FULL_HAND - sum(1 << 2 * kind for kind in kinds)
        for kinds in combinations_with_replacement(range(len(KINDS)), size)
    ]
    for size in range(_MOST + 1)
]
"""The hands of a player who has played 0, 1 or 2 pieces."""
_HAND_NUMBER = {hand: (size, number) for size, hands in enumerate(_HANDS_WITHOUT) for number, hand in enumerate(hands)}
_SET_NUMBERS = [_set_numbers(turn) for turn in SYMMETRIES]
_TURNS = [
    [(_ANCHORS.index(turn[square]), _SET_NUMBERS[i]) for i, turn in enumerate(SYMMETRIES) if turn[square] in _ANCHORS]
    for square in range(SQUARES)
]
"""For every square, how it can be turned onto an anchor: two ways if that lies on a diagonal of the board, else one."""
_FOUR_PIECES = _Layer(2, 1, 0)
_THREE_PIECES = _Layer(1, 1, _FOUR_PIECES.stop)
_THREE_ODD = _Layer(2, 0, _THREE_PIECES.stop)
_THREE_OF_ONE = _Layer(0, 2, _THREE_ODD.stop)
RULING_LAYERS = (_THREE_PIECES, _THREE_ODD, _THREE_OF_ONE)
LAYERS = (_FOUR_PIECES, *RULING_LAYERS)
_LAYER = {(layer.own, layer.others): layer for layer in LAYERS}
RANKS = LAYERS[-1].stop
_SIZES = {layer: layer.sizes for layer in LAYERS}


def rank(own: int, opponent: int, square: int, kind: int, own_hand: int, opponent_hand: int) -> int | None:
    """The place in the book of the position in which the opponent's last piece, of `kind`, lies on `square`.

    The same for all eight ways to look at the board. None for a position that the book has no place for: other numbers
    of pieces, or hands that do not fit them.
    """
    others = opponent & ~(1 << square)
    layer = _LAYER.get((own.bit_count(), others.bit_count()))
    own_pieces, own_number = _HAND_NUMBER.get(own_hand, (-1, 0))
    other_pieces, other_number = _HAND_NUMBER.get(opponent_hand + (1 << 2 * kind), (-1, 0))
    if layer is None or own_pieces != layer.own or other_pieces != layer.others:
        return None
    _, kinds, other_sets, other_hands, own_sets, own_hands = _SIZES[layer]
    return layer.start + min(
        (
            (((anchor * kinds + kind) * other_sets + number[others]) * other_hands + other_number) * own_sets
            + number[own]
        )
        * own_hands
        + own_number
        for anchor, number in _TURNS[square]
    )


def unrank(number: int) -> tuple[int, int, int, int, int, int] | None:
    """The arguments that `rank` gives `number` for, or None where there are none."""
    layer = next(layer for layer in LAYERS if number < layer.stop)
    left, digits = number - layer.start, []
    for size in reversed(layer.sizes):
        left, digit = divmod(left, size)
        digits.append(digit)
    own_number, own_set, other_number, other_set, kind, anchor = digits
    square, own = _ANCHORS[anchor], _SETS_OF_SIZE[layer.own][own_set]
    opponent = _SETS_OF_SIZE[layer.others][other_set] | 1 << square
    opponent_hand = _HANDS_WITHOUT[layer.others][other_number] - (1 << 2 * kind)
    if opponent.bit_count() <= layer.others or own & opponent:
        return None
    told = own, opponent, square, kind, _HANDS_WITHOUT[layer.own][own_number], opponent_hand
    return told if rank(*told) == number else None


def write_book(values: bytes) -> bytes:
    """The book file that holds one signed byte for each rank."""
    assert len(values) == RANKS
    packed = lzma.compress(values, preset=9 | lzma.PRESET_EXTREME)
    return _MAGIC + hashlib.sha256(packed).digest() + packed


def read_book(data: bytes) -> memoryview:
    """The values in a book file, one signed byte for each rank.

    Raises:
        BookError: if `data` is not what `write_book` wrote.

    """
    head, packed = data[: len(_MAGIC) + _DIGEST_BYTES], data[len(_MAGIC) + _DIGEST_BYTES :]
    if head != _MAGIC + hashlib.sha256(packed).digest():
        raise BookError("the opening book is damaged: its digest does not match; install the program again")
    return memoryview(lzma.decompress(packed)).cast("b")


@cache
def shipped_book() -> memoryview:
    """The book that comes with the program, read once.

    Raises:
        BookError: if it is missing or damaged.

    """
    try:
        data = resources.files("companion.analysis").joinpath(_FILE).read_bytes()
    except FileNotFoundError:
        raise BookError(f"the opening book {_FILE} is missing; install the program again") from None
    return read_book(data)
