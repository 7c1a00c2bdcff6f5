"""``companion run`` and ``demo`` as processes of their own: how they start, whom they let in, how they stop."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.__main__ import main
from companion.profile import Profile
from companion.store import MatchLog
from tests.camera.server import CameraServer

pytestmark = pytest.mark.slow
PATIENCE_S = 300.0
BUSY = 503
"""How long a test waits for what should take a moment, so that a slow machine fails no test."""
CORNERS = "0,900 900,900 900,0 0,0"
ELSEWHERE = {"X-Forwarded-For": "10.0.0.77"}
"""A request that came through a proxy is not from this machine."""


class Process:
    """A command that serves the page."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "companion", *arguments, "--port", "0"]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.told = ""
        self.port = int(self.hears(r"The page is at http://127\.0\.0\.1:(\d+)/"))

    def hears(self, pattern: str) -> str:
        """Wait until standard error has a line with `pattern`; its first group."""
        while not (found := re.search(pattern, self.told)):
            line = self._process.stderr.readline()
            assert line, f"it ended: {self.told}"
            self.told += line
        return found[1]

    def ask(self, path: str, body: dict | None = None, **headers: str) -> tuple[int, dict]:
        data = None if body is None else json.dumps(body).encode()
        told = {"Content-Type": "application/json", **headers}
        asked = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, told)
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def do(self, deed: str, body: dict, **headers: str) -> tuple[int, dict]:
        """What becomes of a deed at table 1, once the table does not search for its board any more."""
        while (answer := self.ask(f"/api/t/1/{deed}", body, **headers))[0] == BUSY:
            pass
        return answer

    def wait_for(self, condition) -> dict:
        until = time.monotonic() + PATIENCE_S
        while not condition(state := self.ask("/api/t/1")[1]):
            assert time.monotonic() < until, state
        return state

    def stop(self, number: int = signal.SIGTERM) -> int:
        self._process.send_signal(number)
        self.told += self._process.communicate(timeout=PATIENCE_S)[1]
        return self._process.returncode

    def ends(self, number: int = signal.SIGTERM) -> bool:
        """Whether it ends in order; a very busy machine may not be through with a picture in time, and says so."""
        code = self.stop(number)
        return code == 0 or (code == 1 and "does not stop: its source" in self.told)


@pytest.fixture
def start(tmp_path):
    started = []

    def start(*arguments: str) -> Process:
        data = () if arguments[0] == "demo" else ("--data", str(tmp_path))
        started.append(Process(*arguments, *data))
        return started[-1]

    yield start
    for process in started:
        process._process.kill()
        process._process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_demo_that_is_ended_in_its_first_search_for_the_board_ends_in_order(start, number):
    demo = start("demo")
    assert demo.ends(number)
    assert "Fatal" not in demo.told
    assert "Traceback" not in demo.told


_HANGING = """
import time
from companion import table
from companion.commands.serving import Keys, serve
from companion.referee import Referee
from companion.rules import Game
from companion.script import ScriptedSource
from tests.ledger import Ledger
from companion.store import Opening

class Hanging(ScriptedSource):
    def read(self, timeout_s):
        time.sleep(3600)

table.JOIN_S = 0.1
game = Game.start()
hanging = table.Table(Hanging("camera:hanging", ()), Referee(game), Ledger(Opening.of(game)), clock=time.monotonic)
serve({"1": hanging}, Keys.new(), port=0)
"""


def test_program_whose_source_hangs_leaves_without_waiting_for_it():
    process = Process.__new__(Process)
    process.told = ""
    process._process = subprocess.Popen([sys.executable, "-c", _HANGING], stderr=subprocess.PIPE, text=True)
    process.hears(r"http://127\.0\.0\.1:(\d+)/")
    assert process.stop() == 1
    assert "table 1 does not stop: its source camera:hanging hangs" in process.told


_SIGNALLED_AT_EVERY_LINE = """
import signal, sys
from contextlib import ExitStack
from companion.commands.signals import told_to_stop, wait_until

def signalled(frame, event, argument):
    if event == "line":
        signal.raise_signal(signal.SIGTERM)
    return signalled

with ExitStack() as running:
    told = told_to_stop(running)
    def waiting():
        signal.raise_signal(signal.SIGTERM)
        wait_until(told)
    sys.settrace(signalled)
    waiting()
    sys.settrace(None)
"""


def test_signal_ends_the_program_wherever_its_waiting_is():
    subprocess.run([sys.executable, "-c", _SIGNALLED_AT_EVERY_LINE], check=True, timeout=PATIENCE_S)


_SIGNALLED_ELSEWHERE = """
import signal, threading
from contextlib import ExitStack
from companion.commands.signals import told_to_stop, wait_until

with ExitStack() as running:
    told = told_to_stop(running)
    elsewhere = lambda: signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    threading.Timer(0.5, elsewhere).start()
    wait_until(told)
"""


def test_signal_that_does_not_wake_the_program_is_heeded_all_the_same():
    subprocess.run([sys.executable, "-c", _SIGNALLED_ELSEWHERE], check=True, timeout=PATIENCE_S)


def test_camera_that_is_not_there_yet_is_told_and_comes_up_when_it_appears(start, tmp_path):
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = start("run", "--source", f"http://127.0.0.1:{port}/video")
    lost = program.wait_for(lambda state: state["lost"])
    assert "nothing listens on that port" in lost["lost"]
    assert [notice["title"] for notice in lost["notices"]] == ["The board cannot be seen"]
    with CameraServer(port=port):
        program.wait_for(lambda state: not state["lost"])
        assert program.ends()
    with MatchLog.open(tmp_path, lambda: datetime.now(UTC)) as log:
        told = [entry.event for entry in log.entries(1)]
    assert [type(event).__name__ for event in told[:3]] == ["MatchStarted", "SourceLost", "SourceBack"]
    assert 0 < told[2].time < time.monotonic() - began  # since the program was started, not the machine


def test_table_that_has_stopped_is_told_on_the_page_and_by_the_exit_code(start):
    program = start("run", "--source", "virtual:", "--corners", "10,9400 500,9400 500,9000 10,9000")
    told = program.wait_for(lambda state: state["notices"])["notices"]
    assert [notice["title"] for notice in told] == ["This table has stopped"]
    assert program.stop() == 1
    assert program.told.splitlines()[-1].startswith("Error: table 1 has stopped: the corners 10,9400 ")


def test_recording_that_breaks_off_is_told_on_the_page_and_by_the_exit_code(start, tmp_path):
    (folder := tmp_path / "stills").mkdir()
    cv2.imwrite(str(folder / "1.png"), np.full((240, 320, 3), 128, np.uint8))
    (folder / "2.png").write_bytes(b"torn")
    program = start("run", "--source", f"images:{folder}")
    told = program.wait_for(lambda state: state["lost"])
    assert [notice["title"] for notice in told["notices"]] == ["The board cannot be seen"]
    assert program.stop() == 1
    assert program.told.splitlines()[-1].startswith(
        f"Error: table 1: images:{folder} breaks off: {folder / '2.png'} is"
    )


def test_tile_board_that_is_not_there_yet_is_told(start):
    program = start("run", "--source", "tiles:/dev/no-such-port")
    assert "there is no such port" in program.wait_for(lambda state: state["lost"])["lost"]
    assert program.ends()


def test_a_table_that_is_in_play_in_another_program_is_left_to_it(start, tmp_path):
    first = start("run", "--source", "virtual:tiles")
    again = [sys.executable, "-m", "companion", "run", "--source", "virtual:tiles", "--data", str(tmp_path)]
    done = subprocess.run([*again, "--port", "0"], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    assert "table 1 of" in done.stderr
    assert "is in play in another program" in done.stderr
    start("run", "--source", "2=virtual:tiles")
    first.stop(signal.SIGKILL)
    start("run", "--source", "virtual:tiles")
    assert len(list(tmp_path.glob("*.lock"))) == 2
    assert not list(tmp_path.glob("*.lock-journal"))


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("kitchen", "'kitchen' is not a source; known are"),
        ("camera:kitchen", "camera:kitchen names no camera"),
        ("tiles:", "'tiles:' names no port"),
        ("import=virtual:tiles", "no table can be called import"),
    ],
)
def test_text_that_names_no_source_is_wrong_usage(tmp_path, source, says):
    done = CliRunner().invoke(main, ["run", "--source", source, "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert says in done.output


@pytest.mark.parametrize(
    ("corners", "says"),
    [("0,0 10,0 5,5 0,10", "too close together"), ("100,100 500,100 500,500 100,500", "go round the wrong way")],
)
def test_corners_of_no_board_are_wrong_usage(tmp_path, corners, says):
    done = CliRunner().invoke(main, ["run", "--source", "virtual:", "--corners", corners, "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert says in done.output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--source", "virtual:", "--layout", "ring"], "draws a game on 4x4"),
        (["--source", "virtual:", "--variant", "green-box"], "draws a standard game"),
        (["--source", "2=virtual:tiles", "--source", "tiles:auto", "--corners", CORNERS], "needs no corners"),
        (["--source", "virtual:", "--sets", "9"], "9 is not in the range 1<=x<=8"),
    ],
)
def test_options_that_the_source_cannot_follow_are_wrong_usage(tmp_path, options, says):
    done = CliRunner().invoke(main, ["run", *options, "--data", str(tmp_path), "--port", "0"])
    assert (done.exit_code, says in done.output) == (2, True), done.output


def test_keys_are_kept_in_the_home_that_a_tilde_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    CliRunner().invoke(main, ["run", "--source", "kitchen", "--data", "~/games"])
    kept = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert [*map(str, kept)] == ["home/games/keys.json", "home/games/matches.sqlite3"]


def test_lan_lets_everybody_look_and_asks_for_the_pin_to_rule(start):
    program = start("run", "--lan", "--source", "virtual:")
    pin = program.hears(r"The PIN of the referee's hand is (\d{6})")
    assert "In this network: http://" in program.told
    code, state = program.ask("/api/t/1", **ELSEWHERE)
    assert (code, state["over"]) == (200, False)
    resign = {"colour": "dark"}
    code, refused = program.ask("/api/t/1/resign", resign, **ELSEWHERE)
    assert (code, refused["message"]) == (
        403,
        "the referee's hand needs the PIN; send it in the header X-Companion-Pin",
    )
    wrong = "000000" if pin != "000000" else "111111"
    for _ in range(4):
        assert program.ask("/api/t/1/resign", resign, **ELSEWHERE, **{"X-Companion-Pin": wrong})[0] == 403
    assert program.ask("/api/t/1/resign", resign, **ELSEWHERE, **{"X-Companion-Pin": pin})[0] == 429
    code, state = program.do("resign", resign)
    assert (code, state["winner"]) == (200, "light")
    assert program.ends()


def test_pin_opens_the_hand_and_is_the_same_after_a_restart(start):
    first = start("run", "--lan", "--source", "virtual:")
    pin = first.hears(r"The PIN of the referee's hand is (\d{6})")
    assert first.do("pause", {"paused": True}, **ELSEWHERE, **{"X-Companion-Pin": pin})[1]["paused"]
    first.stop()
    assert start("run", "--lan", "--source", "virtual:").hears(r"The PIN of the referee's hand is (\d{6})") == pin


def test_set_is_called_by_its_name(start, tmp_path):
    Profile(name="Grandma's").write(tmp_path / "set.json")
    program = start("run", "--source", "virtual:tiles", "--profile", str(tmp_path / "set.json"))
    assert program.ends()
    assert "The set is Grandma's.\n" in program.told


def test_without_lan_nobody_else_rules_and_no_pin_is_told(start):
    program = start("run", "--source", "virtual:")
    assert program.ask("/api/t/1/pause", {"paused": True}, **ELSEWHERE, **{"X-Companion-Pin": "123456"})[0] == 403
    assert program.ends()
    assert "PIN" not in program.told


@pytest.mark.parametrize("kept", ["{", "[]", '{"pin": "1234"}', 100_000 * "["])
def test_damaged_keys_are_told_in_one_line(tmp_path, kept):
    (tmp_path / "keys.json").write_text(kept, encoding="utf-8")
    done = CliRunner().invoke(main, ["run", "--source", "virtual:", "--data", str(tmp_path)])
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert "keys.json is damaged; delete it, and a new PIN is made" in done.output
