"""A match that the program follows while it is killed again and again, by a signal that no program can catch.

Everything is real: the program is ``companion run`` in a process of its own, its camera is a stream over HTTP, and the
players in front of the camera do not stop because a program has died. They are polite, however: they look at the page,
and wait until it shows a move before they play the next; but for one that they may play while it is down.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from companion.camera.play import Pace, Play
from companion.camera.studio import Studio
from companion.camera.virtual import FRAMES_PER_S, WORKED_EXAMPLE
from companion.rules import Game
from companion.store import MatchLog
from tests.camera.server import CameraServer

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

GAME = Game.replay(WORKED_EXAMPLE.split())
TRUTH = [str(ply) for ply in GAME.history]
PLACED = GAME.moves
BRISK = Pace(first_s=0.5, reach_s=0.35, take_s=0.1, carry_s=0.45, put_s=0.15, leave_s=0.3, rest_s=0.4)
PATIENCE_S = 240.0
"""How long a program may take for what should take a moment, so that a busy machine spoils nothing."""
LOOK_S = 0.05


@dataclass
class Report:
    """What became of one match."""

    kills: list[str] = field(default_factory=list)
    """Where in the match each kill was."""
    unkept: int = 0
    """Moves that the page had shown and the log did not have after a kill."""
    lost: int = 0
    """Moves that were played on the board and are missing in the end."""
    invented: int = 0
    """Moves in the log that were not played, or not then."""
    sound: bool = False
    """Whether the log is one match with an unbroken chain."""
    others: Counter[str] = field(default_factory=Counter)
    """All other events that were told."""


class World:
    """The table and the players: what the camera shows now."""

    def __init__(self) -> None:
        self.shown = 0
        """How many placements the page shows."""
        self.bold = 0
        """How many moves the players play without waiting for the page."""
        self.play = Play(GAME, BRISK)
        self._studio = Studio(GAME.layout, self.play.at(0).lying)
        self._lock = threading.Lock()
        self.time = 0.0
        """Seconds of play; they do not pass while the players wait."""
        self._looked = time.monotonic()

    def picture(self) -> np.ndarray:
        with self._lock:
            now = time.monotonic()
            self.time = max(self.time, min(self.time + now - self._looked, self._waits_at))
            self._looked = now
            return self._studio.picture(self.play.at(self.time), round(now * FRAMES_PER_S))

    @property
    def _waits_at(self) -> float:
        """When the players stop for the page: after the moves that they may play, and never within a move."""
        under_way = int((self.time - BRISK.first_s) // BRISK.move_s)
        last = max(under_way, self.shown + self.bold)
        return BRISK.first_s + (last + 1) * BRISK.move_s - 0.01

    @property
    def where(self) -> str:
        """The moment of the match, for people."""
        number, since = divmod(self.time - BRISK.first_s, BRISK.move_s)
        return f"move {number + 1:.0f} + {since:.1f} s"


class Program:
    """``companion run`` in a process of its own."""

    def __init__(self, source: str, data: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self._page = f"http://127.0.0.1:{port}/api/t/1"
        command = [sys.executable, "-m", "companion", "run", "--source", source]
        with (data / "errors.txt").open("a") as errors:
            self._process = subprocess.Popen([*command, "--data", str(data), "--port", str(port)], stderr=errors)

    def state(self) -> dict | None:
        """What the page knows; None while there is none."""
        try:
            with urllib.request.urlopen(self._page, timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return None

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)


def play_through(data: Path, rng: np.random.Generator, kills: int) -> Report:
    """Play the worked example in front of a program that is killed wherever chance will have it.

    It is killed so many times, or fewer if the match is over by then.
    """
    report, world = Report(), World()
    life_s = 2 * len(PLACED) * BRISK.move_s / (kills + 1)
    with CameraServer(world.picture, frame_s=1 / FRAMES_PER_S) as server:
        while len(report.kills) < kills and not _finished(data):
            _live_and_die(server.address, data, world, rng, life_s, report)
        if not _finished(data):
            program = Program(server.address, data)
            try:
                _watch(program, world, lambda state: state["over"], PATIENCE_S)
            finally:
                program.stop()
    _examine(data, report)
    return report


def _live_and_die(
    address: str, data: Path, world: World, rng: np.random.Generator, life_s: float, report: Report
) -> None:
    """Start the program, let it follow the game for about `life_s` of play at most, and kill it."""
    program, shown = Program(address, data), []
    try:
        if rng.random() < 0.25:
            time.sleep(rng.uniform(0, 2))  # it dies while it starts
        else:
            _watch(program, world, lambda _: True, PATIENCE_S)
            world.bold = 0
            dies_at = world.time + rng.uniform(0, life_s)
            _watch(program, world, lambda state: state["over"] or world.time >= dies_at, PATIENCE_S)
            shown = _watch(program, world, lambda _: False, rng.uniform(0, 1.5))  # also while the players wait for it
    finally:
        program.kill()
    report.kills.append(world.where)
    world.bold = int(rng.integers(2))
    kept = _kept(data)
    report.unkept += sum(1 for i, ply in enumerate(shown) if kept[i : i + 1] != [ply])


def _watch(program: Program, world: World, enough, seconds: float) -> list[str]:
    """Follow the page until what it shows is enough, or for so long; the history that it showed last."""
    until, history = time.monotonic() + seconds, []
    while time.monotonic() < until:
        state = program.state()
        if state is not None:
            history = state["history"]
            world.shown = max(world.shown, sum(ply != "-" for ply in history))
            if enough(state):
                break
        time.sleep(LOOK_S)
    return history


def _finished(data: Path) -> bool:
    return len(_kept(data)) == len(TRUTH)


def _kept(data: Path) -> list[str]:
    """The history that is on the disk."""
    if not (data / "matches.sqlite3").exists():
        return []
    with MatchLog.open(data, lambda: datetime.now(UTC)) as log:
        matches = log.matches()
        return [str(ply) for ply in log.game(matches[-1].id).history] if matches else []


def _examine(data: Path, report: Report) -> None:
    with MatchLog.open(data, lambda: datetime.now(UTC)) as log:
        matches = log.matches()
        report.sound = len(matches) == 1 and log.verify(matches[0].id).sound
        told = [entry.event.as_dict() for match in matches for entry in log.entries(match.id)]
    kept = _kept(data)
    right = next((i for i, (a, b) in enumerate(zip(kept, TRUTH, strict=False)) if a != b), min(len(kept), len(TRUTH)))
    played = [event["move"] for event in told if event["event"] == "MovePlayed"]
    report.lost = len(TRUTH) - right
    report.invented = max(len(kept) - right, len(played) - len(PLACED), 0)
    report.others = Counter(event["event"] for event in told if event["event"] != "MovePlayed")
