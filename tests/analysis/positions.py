"""Positions to analyse: random ones of any number of pieces, and a brute force that takes nothing from the analysis."""

from __future__ import annotations

from functools import cache

from companion.rules import Colour, Game, Kind, Move, Piece

KINDS = list(Kind)
SQUARES = [(row, column) for row in range(4) for column in range(4)]


def random_game(random, pieces, *, rulings=0.0, first=None):
    """A game with so many pieces on the board that goes on, by random legal moves and now and then a random ruling."""
    while True:
        game = Game.start(first or random.choice(["outside", "anywhere"]))
        while game.to_move is not None and on_board(game) < pieces:
            game = game.play(random_ruling(random, game) if random.random() < rulings else random_move(random, game))
        if game.to_move is not None:
            return game


def on_board(game):
    return (game.light | game.dark).bit_count()


def random_move(random, game):
    kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left]
    return Move(random.choice(sorted(game.legal_squares())), random.choice(kinds))


def random_ruling(random, game):
    empty = [square for square in game.layout if game.content(square) is None]
    return Move(random.choice(empty), random.choice(KINDS), random.choice(list(Colour)), ruled=True)


def set_up(random, pieces):
    """A board joined in progress that no play leads to: any pieces of the set, anywhere."""
    supply = [Piece(colour, kind) for colour in Colour for kind in KINDS for _ in range(2)]
    while True:
        squares = random.sample(Game.start().layout.squares, pieces)
        contents = dict(zip(squares, random.sample(supply, pieces), strict=True))
        last = random.choice([None, *contents])
        to_move = contents[last].colour.other if last else random.choice(list(Colour))
        game = Game.from_position(contents, to_move=to_move, last=last, first="anywhere")
        if game.to_move is not None:
            return game


def brute_force(game):
    """The margin, Light minus Dark, and the best moves, by looking at every line of play to its end."""
    held = {colour: frozenset((s.row, s.column) for s in game.layout if owner(game, s) is colour) for colour in Colour}
    hands = {colour: tuple(game.in_hand(colour).values()) for colour in Colour}
    legal = frozenset((s.row, s.column) for s in game.legal_squares())
    values = {
        (square, kind): value_of_move(held, hands, game.to_move, square, kind)
        for square in legal
        for kind in range(4)
        if hands[game.to_move][kind]
    }
    best = (max if game.to_move is Colour.LIGHT else min)(values.values())
    return best, {f"{'abcd'[c]}{r + 1}{KINDS[k].mark}" for ((r, c), k), value in values.items() if value == best}


def owner(game, square):
    content = game.content(square)
    return content and content.colour


def value_of_move(held, hands, mover, square, kind):
    """The final margin after one move and best play from then on."""
    other = mover.other
    held = {mover: held[mover] | {square}, other: held[other]}
    hands = {mover: tuple(n - (k == kind) for k, n in enumerate(hands[mover])), other: hands[other]}
    if len(held[other]) >= 8:
        return margin(held)
    empty = frozenset(SQUARES) - held[mover] - held[other]
    legal = empty & reach(square, kind)
    if legal:
        return best_value(held, hands, other, legal)
    if len(held[mover]) >= 8 or not empty:
        return margin(held)
    return best_value(held, hands, mover, empty)


def best_value(held, hands, mover, legal):
    choose = max if mover is Colour.LIGHT else min
    kinds = [kind for kind in range(4) if hands[mover][kind]]
    return choose(value_of_move(held, hands, mover, square, kind) for square in legal for kind in kinds)


@cache
def reach(square, kind):
    def asks_for(other):
        rows, columns = abs(square[0] - other[0]), abs(square[1] - other[1])
        touches = max(rows, columns) == 1
        return [0 in (rows, columns), rows == columns, not touches, touches][kind]

    return frozenset(other for other in SQUARES if other != square and asks_for(other))


def margin(held):
    return points(held[Colour.LIGHT]) - points(held[Colour.DARK])


@cache
def points(squares):
    """A run of n squares is worth n - 2: one point for each three in a row that it contains."""
    steps = [(0, 1), (1, 0), (1, 1), (1, -1)]
    return sum(
        all((row + i * down, column + i * right) in squares for i in range(3))
        for row, column in squares
        for down, right in steps
    )
