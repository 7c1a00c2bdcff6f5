"""A whole game before a camera and on a tile board at once: each of them dies for a while, and once they disagree."""

from __future__ import annotations

import pytest

from companion import events
from companion.camera import Camera
from companion.camera.virtual import WORKED_EXAMPLE, VirtualCamera
from companion.commands.eyes import board_reader
from companion.errors import SourceError
from companion.readings import LETTERS
from companion.referee import Referee
from companion.rules import Game, Layout
from companion.table import Table
from companion.tiles.link import TileBoard
from companion.tiles.virtual import VirtualBoard, VirtualPort
from companion.vision.follow import BoardFollower
from companion.vision.video import VideoReader
from tests.ledger import Ledger

LAYOUT = Layout.parse("4x4")
GAME = Game.replay(WORKED_EXAMPLE.split())
DEAD_S = {"camera:": (8.0, 18.0), "tiles:": (22.0, 31.0)}
MISREAD_S = (38.0, 42.0)
MISREAD = LAYOUT.squares.index(GAME.history[0].square)


class World:
    """A clock, and a table that is drawn and felt by it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.frames = VirtualCamera("", self.clock, self.sleep)
        self.board = VirtualBoard(len(LAYOUT), self.clock)
        self.began = self.now
        tiles = TileBoard("tiles:", self.plug_in, LAYOUT, clock=self.clock, wait=self.sleep)
        reader = board_reader(LAYOUT)
        camera = Camera(self, VideoReader(reader, BoardFollower(LAYOUT, find=reader.locate)))
        self.table = Table(camera, Referee(Game.start()), Ledger(), clock=self.clock, others=[tiles])

    name, live = "camera:", True

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    @property
    def since(self) -> float:
        return self.now - self.began

    def dead(self, source: str) -> bool:
        first_s, last_s = DEAD_S[source]
        return first_s <= self.since < last_s

    def read(self, timeout_s):
        """The next frame, as the camera's."""
        if self.dead("camera:"):
            raise SourceError("the camera is unplugged")
        return self.frames.read(timeout_s)

    def close(self) -> None:
        """Nothing to let go of."""

    def plug_in(self) -> Cable:
        if self.dead("tiles:"):
            raise SourceError("no such port")
        return Cable(self)

    def play(self) -> list[events.Event]:
        told = self.table.start()
        while self.since < self.frames.play.duration_s + 3:
            self.lay()
            told += self.table.step(0.05)
            self.now += 0.001
        return told

    def lay(self) -> None:
        """What the drawn hands have put down lies on the tile board too."""
        letters = dict.fromkeys(range(len(LAYOUT)), ".")
        lying = self.frames.play.at(self.since).lying
        on_board = [spot for spot in lying if 0 <= spot.x < LAYOUT.columns and 0 <= spot.y < LAYOUT.rows]
        for spot in on_board:
            letters[int(spot.y) * LAYOUT.columns + int(spot.x)] = LETTERS[spot.piece]
        if MISREAD_S[0] <= self.since < MISREAD_S[1]:
            letters[MISREAD] = "."
        for index, letter in letters.items():
            self.board.put(index, letter)


class Cable(VirtualPort):
    def __init__(self, world: World) -> None:
        self.world = world
        super().__init__(world.board, world.sleep)

    def receive(self) -> bytes:
        if self.world.dead("tiles:"):
            self.close()
        return super().receive()


@pytest.mark.slow
def test_a_whole_game_is_exact_though_either_source_dies_and_once_they_disagree():
    told = World().play()
    played = [event.move for event in told if isinstance(event, events.MovePlayed)]
    assert played == [str(move) for move in GAME.moves]
    assert isinstance(told[-1], events.GameOver)
    assert told[-1].score == GAME.score
    of_sources = [event for event in told if type(event).__name__.startswith("Source")]
    assert [(type(event).__name__, getattr(event, "source", "")) for event in of_sources] == [
        ("SourceLost", "camera:"),
        ("SourceBack", "camera:"),
        ("SourceLost", "tiles:"),  # it is gone
        ("SourceLost", "tiles:"),  # nor is there a port any more
        ("SourceBack", "tiles:"),
        ("SourcesDisagree", ""),
    ]
    assert of_sources[-1].square == LAYOUT.squares[MISREAD]
    assert not [event for event in told if isinstance(event, events.IllegalPlacement | events.PieceUnclear)]
