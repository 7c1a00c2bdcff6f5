"""The opening book: its ranks, its file, and the positions it is made of."""

from random import Random

import pytest

from calibration.opening_positions import Placed, opening_positions
from companion.analysis import book
from companion.analysis.board import Position, canonical
from companion.errors import CompanionError
from tests.analysis.positions import random_game

UNKNOWN_BYTES = bytes([book.UNKNOWN & 255])


def placed(game):
    """The last piece of `game` and what else the book goes by."""
    position = Position.of(game)
    square, kind = (
        game.layout.index(game.constraint.square),
        list(type(game.constraint.kind)).index(game.constraint.kind),
    )
    return Placed(position.own, position.opponent, square, kind, position.own_hand, position.opponent_hand)


@pytest.mark.parametrize("first", ["outside", "anywhere"])
def test_every_position_after_four_moves_has_a_rank_that_leads_back_to_it(first):
    random = Random(first)
    for _ in range(100):
        position = placed(random_game(random, 4, first=first))
        number = book.rank(*position)
        told = Placed(*book.unrank(number))
        assert told.canonical() == position.canonical()
        assert book.rank(*told) == number


def test_all_eight_views_of_a_position_have_one_rank():
    position = placed(random_game(Random(5), 4))
    views = {position._turned(symmetry) for symmetry in book.SYMMETRIES}
    assert len(views) == 8
    assert len({book.rank(*view) for view in views}) == 1


def test_a_position_with_other_numbers_of_pieces_has_no_rank():
    for pieces in (2, 5, 9):
        assert book.rank(*placed(random_game(Random(pieces), pieces))) is None


@pytest.mark.parametrize(
    ("first", "counts"),
    [("outside", (8, 156, 3330)), ("anywhere", (12, 220, 4551))],
)
def test_distinct_positions_of_the_first_three_moves(first, counts):
    assert tuple(distinct(first, placement) for placement in (1, 2, 3)) == counts


@pytest.mark.slow
@pytest.mark.parametrize(("first", "count"), [("outside", 62593), ("anywhere", 82516)])
def test_distinct_positions_after_four_moves(first, count):
    assert distinct(first, 4) == count


def distinct(first, placement):
    return len({canonical(position.position) for position in opening_positions(first, placement)})


@pytest.mark.slow
def test_the_shipped_book_knows_every_position_after_four_moves():
    values = book.shipped_book()
    assert all(values[book.rank(*position)] != book.UNKNOWN for position in opening_positions("anywhere", 4))


def test_the_shipped_book_is_small():
    path = book.resources.files("companion.analysis").joinpath("openings.bin")
    assert len(path.read_bytes()) <= 1_000_000


def test_a_book_reads_back_as_it_was_written():
    values = bytes(Random(6).choices(range(-4, 5), k=1)[0] & 255 for _ in range(10)) + UNKNOWN_BYTES * (book.RANKS - 10)
    assert book.read_book(book.write_book(values)).tobytes() == values


@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "empty"])
def test_a_damaged_book_is_refused_with_one_clear_line(damage):
    good = book.write_book(UNKNOWN_BYTES * book.RANKS)
    data = {
        "cut": good[:-1],
        "flipped": good[:-1] + bytes([good[-1] ^ 1]),
        "other": b"%PDF-1.7\n" + good,
        "empty": b"",
    }[damage]
    with pytest.raises(book.BookError, match=r"damaged.*install the program again") as caught:
        book.read_book(data)
    assert isinstance(caught.value, CompanionError)
