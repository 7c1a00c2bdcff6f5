"""How many ways the first pieces can be placed: the whole tree of the game to a depth, counted with the game itself.

A forced pass belongs to the placement after it. Two things keep the deep counts fast, and neither knows a rule: the
last placement is counted without being played, and positions that go on alike are counted once.
"""

import pytest

from companion.rules import Colour, Game, Move, Square

COUNTS = {
    "outside": (48, 1152, 26272, 557472, 10131640),
    "anywhere": (64, 1568, 35680, 754400, 13707896),
}
CASES = [
    pytest.param(first, depth, count, marks=[pytest.mark.slow] if depth > 4 else [])
    for first, counts in COUNTS.items()
    for depth, count in enumerate(counts, start=1)
]


def kinds_in_hand(game):
    return [kind for kind, left in game.in_hand(game.to_move).items() if left]


def same_future(game):
    """Games that agree in this go on alike: only the last piece's kind matters of those on the board."""
    hands = tuple(tuple(game.in_hand(colour).values()) for colour in Colour)
    return game.light, game.dark, hands, game.constraint, game.to_move, game.last_chance


def count(game, depth, seen):
    if game.to_move is None:
        return 0
    if depth == 1:
        return len(game.legal_squares()) * len(kinds_in_hand(game))
    key = (depth, same_future(game))
    if key not in seen:
        seen[key] = sum(
            count(game.play(Move(square, kind)), depth - 1, seen)
            for square in game.legal_squares()
            for kind in kinds_in_hand(game)
        )
    return seen[key]


def alike_on_the_empty_board(square):
    """The squares that `square` becomes as a 4x4 board is turned and mirrored."""
    row, column = square
    return {Square(*at) for r in (row, 3 - row) for c in (column, 3 - column) for at in ((r, c), (c, r))}


@pytest.mark.parametrize(("first", "depth", "expected"), [case for case in CASES if case.values[1] <= 3])
def test_the_placements_are_as_many_as_they_should_be(first, depth, expected):
    def plainly(game, depth):
        if depth == 0:
            return 1
        moves = [Move(square, kind) for square in game.legal_squares() for kind in kinds_in_hand(game)]
        return sum(plainly(game.play(move), depth - 1) for move in moves)

    assert plainly(Game.start(first), depth) == expected


@pytest.mark.parametrize(("first", "depth", "expected"), [case for case in CASES if case.values[1] > 3])
def test_the_deeper_placements_are_as_many_as_they_should_be(first, depth, expected):
    """One opening square stands for those it can be turned or mirrored into."""
    start, seen = Game.start(first), {}
    openings = {frozenset(alike_on_the_empty_board(square)) for square in start.legal_squares()}
    assert frozenset().union(*openings) == start.legal_squares()
    total = sum(
        len(alike) * count(start.play(Move(min(alike), kind)), depth - 1, seen)
        for alike in openings
        for kind in kinds_in_hand(start)
    )
    assert total == expected
