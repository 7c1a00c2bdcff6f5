"""Random games with random disturbances: never a wrong move, always the right position in the end."""

from __future__ import annotations

import random

import pytest

from companion import events
from companion.readings import ALL_CONTENTS, contents_of
from companion.rules import Game, Move, Piece, Square
from tests.stories import Scene


class Player:
    """Plays a random legal game at a `Scene`, and disturbs it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.scene = Scene(Game.start(self.random.choice(["outside", "anywhere"])))
        self.truth = self.scene.game
        """The game as the players mean it."""
        self.scene.look(0.8)

    def play_on(self) -> None:
        deed = self.random.choices(
            [self.move, self.illegal, self.take_back, self.nudge, self.hover, self.quick_moves, self.misread],
            [10, 2, 2, 2, 2, 2, 2],
        )[0]
        deed()
        self.scene.look(self.random.uniform(0.7, 2))
        self.answer()
        self.never_wrong()

    def answer(self) -> None:
        """Two legal orders of quick moves: a person says which it was."""
        referee = self.scene.referee
        if referee.question is None:
            return
        assert referee.question.question == "order"
        meant = " ".join(str(ply) for ply in self.truth.history if str(ply) != "-")
        choice = next(choice for choice in referee.question.choices if meant.endswith(choice))
        self.scene.events += referee.choose(self.scene.time, choice)

    def choose(self) -> Move:
        square = self.random.choice(sorted(self.truth.legal_squares()))
        kinds = [kind for kind, left in self.truth.in_hand(self.truth.to_move).items() if left]
        return Move(square, self.random.choice(kinds), self.truth.to_move)

    def place(self, square: Square, piece: Piece) -> None:
        """A hand comes with a piece and goes without it."""
        self.hand_comes(square)
        self.scene.pieces[square] = piece
        self.hand_goes()

    def lift(self, square: Square) -> Piece:
        self.hand_comes(square)
        piece = self.scene.pieces.pop(square)
        self.hand_goes()
        return piece

    def hand_comes(self, square: Square) -> None:
        around = self.scene.layout.squares_in(self.scene.layout.geometry.touching[self.scene.layout.index(square)])
        self.scene.covered = {square, *self.random.sample(sorted(around), self.random.randint(0, len(around)))}
        self.scene.look(self.random.uniform(0.1, 0.6))

    def hand_goes(self) -> None:
        self.scene.look(self.random.uniform(0.1, 0.6))
        self.scene.covered = set()

    def move(self) -> None:
        move = self.choose()
        self.truth = self.truth.play(move)
        self.place(move.square, move.piece)

    def illegal(self) -> None:
        empty = [square for square in self.scene.layout if self.truth.content(square) is None]
        wrong = [square for square in empty if square not in self.truth.legal_squares()]
        if not wrong:
            return
        square = self.random.choice(wrong)
        piece = self.choose().piece
        if self.random.random() < 0.3:
            piece = Piece(piece.colour.other, piece.kind)
        self.place(square, piece)
        self.scene.look(self.random.uniform(0.7, 2))
        self.lift(square)

    def take_back(self) -> None:
        """The last player lifts the piece and plays another legal move."""
        played = self.truth.moves
        if not played:
            return
        told = [str(ply) for ply in self.truth.history]
        last = played[-1]
        passed = told[-1] == "-"
        while told[-1] == "-":
            told.pop()
        self.truth = Game.replay(told[:-1], self.truth.first)
        self.lift(last.square)
        if self.random.random() < 0.5:
            self.scene.look(1)
        move = self.choose()
        self.truth = self.truth.play(move)
        self.place(move.square, move.piece)
        if passed:  # it may as well go on from the piece that was lifted: that is asked, and they wait for it
            self.scene.look(5)

    def nudge(self) -> None:
        """A hand lifts a piece and puts the same piece back."""
        if self.scene.pieces:
            square = self.random.choice(sorted(self.scene.pieces))
            piece = self.lift(square)
            self.scene.look(self.random.uniform(0, 1))
            self.place(square, piece)

    def hover(self) -> None:
        self.hand_comes(self.random.choice(self.scene.layout.squares))
        self.scene.look(self.random.uniform(0, 1))
        self.hand_goes()

    def quick_moves(self) -> None:
        """Two pieces under one cloud of hands."""
        first = self.choose()
        after = self.truth.play(first)
        self.hand_comes(first.square)
        self.scene.pieces[first.square] = first.piece
        self.truth = after
        if after.to_move is not None:
            second = self.choose()
            self.scene.covered.add(second.square)
            self.scene.look(self.random.uniform(0.1, 0.5))
            self.scene.pieces[second.square] = second.piece
            self.truth = after.play(second)
        self.hand_goes()

    def misread(self) -> None:
        """One square is read as anything at all, for less than a settling time, or unclear for longer."""
        square = self.random.choice(self.scene.layout.squares)
        if self.random.random() < 0.5:
            self.scene.misread = {square: contents_of([self.random.choice(ALL_CONTENTS)])}
            self.scene.look(self.random.uniform(0.08, 0.2))
        else:
            truth = self.scene.pieces.get(square)
            self.scene.misread = {square: contents_of([truth, *self.random.sample(ALL_CONTENTS, 3)])}
            self.scene.look(self.random.uniform(0.5, 4))
        self.scene.misread = {}

    def never_wrong(self) -> None:
        """What is committed is what was meant, as far as it goes."""
        committed = list(map(str, self.scene.game.history))
        meant = list(map(str, self.truth.history))
        assert committed == meant[: len(committed)]


@pytest.mark.parametrize("seed", range(40))
def test_random_game_ends_in_the_right_position(seed):
    player = Player(seed)
    while player.truth.outcome is None:
        player.play_on()
    player.scene.look(8)
    player.answer()
    assert player.scene.game == player.truth
    assert isinstance(player.scene.events[-1], events.GameOver)
