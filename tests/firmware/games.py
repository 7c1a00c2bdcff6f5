"""Whole games on a simulated board: pieces, through firmware, cable, link and table, with all kinds of trouble."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field

from companion.errors import LinkError
from companion.events import MovePlayed
from companion.lamp import TileLamp
from companion.readings import LETTERS
from companion.referee import Referee
from companion.rules import Game, Move
from companion.store import Opening
from companion.table import Table
from companion.tiles.link import TileBoard
from tests.firmware.simulated import PtyPort, SimulatedBoard

TROUBLES = ("pull", "garbage", "reset", "hang")
PATIENCE_S = 15.0


class NoLog:
    """Keeps nothing."""

    trouble = ""
    opening = Opening()

    def record(self, told, evidence=b"") -> None:
        pass

    def flush(self) -> None:
        pass


@dataclass
class Told:
    """What a game on the board was like."""

    game: Game
    played: list[str] = field(default_factory=list)
    delays_s: list[float] = field(default_factory=list)
    """From a piece touching its square to its move in the view, in the board's time, where nothing was in the way."""
    troubles: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TROUBLES, 0))


class TiledTable:
    """A table whose board is the simulated one, on a real serial port."""

    def __init__(self, board: SimulatedBoard) -> None:
        self.board = board
        self.port: PtyPort | None = None
        game = Game.start()
        self.source = TileBoard("tiles:pty", self.plug_in, game.layout, clock=board.clock, wait=board.run)
        self.table = Table(self.source, Referee(game), NoLog(), lamps=[TileLamp(self.source)])
        self.table.start()

    def plug_in(self) -> PtyPort:
        self.port = PtyPort(self.board)
        return self.port

    def pull(self) -> None:
        """Take the cable out, and with it the power; it is put in again at once."""
        self.board.tell("unplug")
        self.board.tell("power")

    def garble(self, dice: random.Random) -> None:
        noise = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 60)))
        self.board.tell(f"garble {noise.hex()}")

    def step_until(self, wanted, patience_s: float = PATIENCE_S) -> bool:
        """Step the table until `wanted` events have come, or for so long."""
        end = self.board.clock() + patience_s
        while self.board.clock() < end:
            told = self.table.step(0.05)
            if any(map(wanted, told)):
                return True
        return False

    def play(self, dice: random.Random, *, trouble: float) -> Told:
        """A random game; before a move, with a chance of `trouble`, something happens to the board or the cable."""
        self.step_until(lambda event: False, 1.0)
        told = Told(Game.start())
        while told.game.to_move is not None:
            happened = self.disturb(dice, told) if dice.random() < trouble else ""
            move = choose(told.game, dice)
            told.game = told.game.play(move)
            index = told.game.layout.squares.index(move.square)
            laid_s = self.board.clock()
            self.board.put(index, LETTERS[move.piece], bounce_s=dice.choice((0, 0.01, 0.03)))
            wanted = str(move)
            if not self.step_until(lambda event, wanted=wanted: isinstance(event, MovePlayed) and event.move == wanted):
                break
            told.played.append(wanted)
            if not happened:
                told.delays_s.append(self.board.clock() - laid_s)
        return told

    def disturb(self, dice: random.Random, told: Told) -> str:
        happened = dice.choice(TROUBLES)
        told.troubles[happened] += 1
        if happened == "pull":
            self.pull()
        elif happened == "garbage":
            self.garble(dice)
        else:
            self.board.tell(happened)
        return happened

    def close(self) -> None:
        with suppress(LinkError):
            self.source.close()


def choose(game: Game, dice: random.Random) -> Move:
    square = dice.choice(sorted(game.legal_squares()))
    kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left]
    return Move(square, dice.choice(kinds), game.to_move)
