"""Whole games on a simulated board: pieces, through firmware, cable, link, table and page, with all kinds of woe."""

from __future__ import annotations

import random
import re
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field

from companion.errors import LinkError
from companion.events import MovePlayed
from companion.lamp import TileLamp
from companion.readings import LETTERS
from companion.referee import Referee
from companion.rules import Game, Move
from companion.table import Table
from companion.tiles.link import TileBoard
from companion.web import Gate, create_app
from companion.web.serve import Serving
from tests.firmware.simulated import PtyPort, SimulatedBoard
from tests.ledger import Ledger

TROUBLES = ("pull", "garbage", "reset", "hang")
PATIENCE_S = 15.0


@dataclass
class Told:
    """What a game on the board was like."""

    game: Game
    played: list[str] = field(default_factory=list)
    delays_s: list[float] = field(default_factory=list)
    """From a piece touching its square to its move in the view, in the board's time, where nothing was in the way."""
    page_delays_s: list[float] = field(default_factory=list)
    """The same to the page in a viewer's hands: the board's time until its word came, and the host's from then on."""
    exact: bool = True
    """After every move, the page showed just the moves that were played."""
    troubles: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TROUBLES, 0))


class Page:
    """The live page of a table, as a viewer's browser is sent it by a real server."""

    def __init__(self, table: Table) -> None:
        self._serving = Serving(create_app({"1": table}, Gate(clock=time.monotonic)), "127.0.0.1", 0).open()
        self._stream = socket.create_connection(("127.0.0.1", self._serving.port), timeout=60)
        self._stream.sendall(b"GET /t/1/live HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
        self._rest = b""

    def showing(self, revision: int) -> str:
        """The page that shows this revision; waits for it."""
        while True:
            message, end, rest = self._rest.partition(b"\n\n")
            if not end:
                self._rest += self._stream.recv(1 << 16)
                continue
            self._rest = rest
            if b'data-revision="%d"' % revision in message:
                return message.decode()

    def moves(self, revision: int) -> list[tuple[str, str]]:
        """Square and kind of every move that it lists."""
        return re.findall(r'<span class="unseen">([a-z]\d+) (\w+)</span>', self.showing(revision))

    def close(self) -> None:
        self._stream.close()
        self._serving.close()


class TiledTable:
    """A table whose board is the simulated one, on a real serial port."""

    def __init__(self, board: SimulatedBoard, game: Game | None = None) -> None:
        self.board = board
        self.port: PtyPort | None = None
        game = game or Game.start()
        self.source = TileBoard("tiles:pty", self.plug_in, game.layout, clock=board.clock, wait=board.run)
        self.table = Table(self.source, Referee(game), Ledger(), clock=board.clock, lamps=[TileLamp(self.source)])
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

    def play(self, dice: random.Random, *, trouble: float, page: Page | None = None) -> Told:
        """A random game; before a move, with a chance of `trouble`, something happens to the board or the cable."""
        self.step_until(lambda event: False, 1.0)
        told = Told(self.table.view.game)
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
            delay_s = self.board.clock() - laid_s
            if not happened:
                told.delays_s.append(delay_s)
            if page is not None:
                moves = [(str(move.square), move.kind.value) for move in told.game.moves]
                told.exact &= page.moves(self.table.view.revision) == moves
                if not happened and self.port is not None:
                    told.page_delays_s.append(delay_s + time.monotonic() - self.port.heard_s)
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
