"""A table whose board a test sets by hand."""

from __future__ import annotations

import queue
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from companion.referee import Referee
from companion.rules import Game, Piece, Square
from companion.script import READING_S, Scene
from companion.settling import SETTLE_S
from companion.store import Opening
from companion.table import Table
from tests.ledger import Ledger

if TYPE_CHECKING:
    from companion.readings import BoardReading
    from companion.table import TableView

SOON_S = 60.0
LOOK_S = 2.0
"""Seconds of the board's own time in which the referee makes up its mind."""


class BoardByHand:
    """A live source: it shows what a test has put on the board, as soon as the test says `look`."""

    live = True
    settle_s = SETTLE_S
    may_turn = True
    trouble = ""

    def __init__(self, game: Game, name: str = "board:") -> None:
        self.name = name
        self.scene = Scene(game.layout)
        self._readings: queue.SimpleQueue[BoardReading | Exception] = queue.SimpleQueue()

    def read(self, timeout_s):
        try:
            given = self._readings.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(given, Exception):
            raise given
        return given

    def fail(self, error: Exception) -> None:
        self._readings.put(error)

    def look(self, evidence: bytes = b"") -> None:
        for reading in self.scene.hold(LOOK_S):
            self._readings.put(reading if not evidence else replace(reading, evidence=evidence))

    def lay_out(self, layout, sets):
        now, self.scene = self.scene.time, Scene(layout)
        self.scene.time = now

    def close(self):
        pass


class Room:
    """One table in play, and what a test does at it."""

    def __init__(self, game: Game | None = None, *, table: str = "1", **opening: str) -> None:
        game = game or Game.start()
        self.board = BoardByHand(game)
        self.ledger = Ledger(Opening.of(game, table=table, **opening))
        self.table = Table(self.board, Referee(game, table=table), self.ledger, clock=time.monotonic)

    @property
    def view(self) -> TableView:
        return self.table.view

    def put(self, square: str, piece: str) -> None:
        self.board.scene.pieces[Square.parse(square)] = Piece.parse(piece)

    def lift(self, square: str) -> None:
        del self.board.scene.pieces[Square.parse(square)]

    def look(self, evidence: bytes = b"") -> TableView:
        """Let the board be seen, and wait until the table has made up its mind."""
        until = self.board.scene.time + LOOK_S - READING_S
        self.board.look(evidence)
        while self.table._time < until - 1e-6:
            self.table.do(lambda referee, time: [], timeout_s=SOON_S)
        return self.table.view

    def play(self, *moves: str) -> TableView:
        for text in moves:
            game = self.view.game
            move = game.play(text).history[len(game.history)]
            self.put(str(move.square), str(move.piece))
            self.look()
        return self.view
