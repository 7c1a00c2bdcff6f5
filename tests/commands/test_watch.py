"""`companion watch` as people run it: the sample game, bad input, exit codes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.camera.virtual import WORKED_EXAMPLE, VirtualCamera
from companion.commands.watch import in_words
from companion.events import KindNeeded, PieceUnclear, parse_content
from companion.profile import Profile
from companion.rules import Square
from companion.store import FILE_NAME, MatchLog
from tests.camera.server import CameraServer

DATA = Path(__file__).parent.parent / "data"
GAME = DATA / "game.mp4"
TRUTH = json.loads((DATA / "game.json").read_text())
MOVES = [move["notation"] for move in TRUTH["moves"] if "square" in move]
HAND_OFF = {move["notation"]: move["t_hand_off_board"] for move in TRUTH["moves"] if "square" in move}
CORNERS = " ".join(f"{x},{y}" for x, y in TRUTH["corners"].values())


def companion(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "companion", *arguments], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module", params=["found", "given"])
def game(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    corners = ["--corners", CORNERS] if request.param == "given" else []
    done = companion("watch", f"video:{GAME}", "--json", "--data", str(folder), *corners)
    return done, [json.loads(line) for line in done.stdout.splitlines()], folder


@pytest.mark.parametrize(
    ("kind", "contents", "words"),
    [
        (PieceUnclear, ["light straight", "."], "What is on a2? light straight, nothing"),
        (PieceUnclear, ["light straight"], "Is a light straight on a2?"),
        (PieceUnclear, ["."], "Is nothing on a2?"),
        (KindNeeded, ["dark pusher", "dark puller"], "Which kind is on a2? dark pusher, dark puller"),
        (KindNeeded, ["dark pusher"], "Is a dark pusher on a2?"),
    ],
)
def test_what_is_asked_about_a_square_reads_as_a_question(kind, contents, words):
    asked = kind(time=1.0, ply=2, square=Square.parse("a2"), contents=tuple(map(parse_content, contents)))
    assert in_words(asked) == words


def stills(folder: Path) -> np.ndarray:
    """The board of the sample game without a piece, with one and with two, as pictures 0 to 2; the last of them."""
    film = cv2.VideoCapture(str(GAME))
    for number, second in enumerate([0.2, *(HAND_OFF[move] + 0.5 for move in MOVES[:2])]):
        film.set(cv2.CAP_PROP_POS_MSEC, 1000 * second)
        image = film.read()[1]
        cv2.imwrite(str(folder / f"{number}.jpg"), image)
    return image


def test_pictures_that_were_saved_in_several_sizes_tell_the_same_game(tmp_path):
    cv2.imwrite(str(tmp_path / "3.jpg"), stills(tmp_path))
    for number, factor in ((1, 0.75), (2, 1.25), (3, 0.75)):
        file = str(tmp_path / f"{number}.jpg")
        cv2.imwrite(file, cv2.resize(cv2.imread(file), None, fx=factor, fy=factor))
    done = companion("watch", f"images:{tmp_path}", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["move"] for event in told if event["event"] == "MovePlayed"] == MOVES[:2]


def test_photographs_of_a_game_taken_by_hand_tell_it_to_its_end(tmp_path):
    """One after each move, from a little elsewhere each time and held otherwise; nobody waits after the last."""
    camera = VirtualCamera()
    rng = np.random.default_rng(11)
    for number in range(15):
        pace = camera.play.pace
        after = camera.play.at(pace.first_s + number * pace.move_s - 0.05)
        image = camera._studio.picture(after, number)
        size = np.array(image.shape[1::-1])
        corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * size
        seen = corners - size / 2 + rng.uniform(-0.08, 0.08, (4, 2)) * size
        seen = seen @ turned(rng.uniform(-0.3, 0.3)) + size / 2
        warp = cv2.getPerspectiveTransform(corners.astype(np.float32), seen.astype(np.float32))
        photograph = cv2.warpPerspective(image, warp, size.tolist(), borderMode=cv2.BORDER_REFLECT)
        cv2.imwrite(str(tmp_path / f"{number}.jpg"), cv2.convertScaleAbs(photograph, alpha=rng.uniform(0.8, 1.1)))
    done = companion("watch", f"images:{tmp_path}", "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    played = [event["move"] for event in told if event["event"] == "MovePlayed"]
    assert played == [move for move in WORKED_EXAMPLE.split() if move != "-"]
    assert told[-1]["event"] == "GameOver"


def turned(angle: float) -> np.ndarray:
    return np.array([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])


def test_a_board_that_is_lost_before_the_game_is_over_is_told_at_the_end(tmp_path):
    image = stills(tmp_path)
    for number in range(10, 20):
        cv2.imwrite(str(tmp_path / f"{number}.jpg"), np.zeros_like(image))
    done = companion("watch", f"images:{tmp_path}")
    assert done.returncode == 0
    assert "1. Light a1+" in done.stdout
    assert done.stderr.startswith("at its end the board is not found: ")


def test_where_nobody_can_answer_it_is_said_where_one_can(tmp_path):
    """One picture of a game that has begun: it is asked whether to take that up."""
    film = cv2.VideoCapture(str(GAME))
    film.set(cv2.CAP_PROP_POS_MSEC, 1000 * (HAND_OFF[MOVES[4]] + 0.5))
    cv2.imwrite(str(tmp_path / "1.jpg"), film.read()[1])
    done = companion("watch", f"images:{tmp_path}")
    assert "Not sure" in done.stdout
    assert done.stderr == "nobody can answer here: open it with `companion run`, whose page asks the same\n"


@pytest.mark.slow
def test_every_move_of_the_sample_game_is_told_exactly_and_in_time(game):
    done, told, _ = game
    assert (done.returncode, done.stderr) == (0, "")
    played = [event for event in told if event["event"] == "MovePlayed"]
    assert [event["move"] for event in played] == MOVES
    assert all(0 <= event["time"] - HAND_OFF[event["move"]] <= 1.5 for event in played)
    kinds = [event["event"] for event in told]
    assert kinds.count("PassForced") == 2
    assert not {"MoveTakenBack", "IllegalPlacement", "Corrected", "Unresolved"} & set(kinds)
    over = told[-1]
    assert (over["event"], over["score"], over["winner"]) == ("GameOver", {"light": 4, "dark": 1}, "light")
    assert len(over["moves"]) == 16


@pytest.mark.slow
def test_the_match_is_in_the_log_with_its_pictures(game):
    _, _, folder = game
    listed = companion("matches", "list", "--json", "--data", str(folder))
    (match,) = [json.loads(line) for line in listed.stdout.splitlines()]
    exported = companion("matches", "export", str(match["match"]), "--data", str(folder))
    assert '[Result "4-1"]' in exported.stdout
    assert companion("matches", "verify", str(match["match"]), "--data", str(folder)).returncode == 0


@pytest.fixture
def no_board(tmp_path) -> Path:
    path = tmp_path / "table.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 5, (320, 240))
    for _ in range(5):
        writer.write(np.full((240, 320, 3), 128, np.uint8))
    writer.release()
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["video:none.mp4"], 1, "there is no video none.mp4"),
        (["none.mp4"], 2, "is not a source; known are"),
        (["video:"], 2, "no video is named; write its path after the colon"),
        (["images:"], 2, "no folder is named; write its path after the colon"),
        ([f"video:{next((DATA / 'squares').glob('*.*g'))}"], 1, "is a picture, not a video; give it to companion read"),
        ([f"video:{DATA / 'game.json'}"], 1, "is not a video that can be read"),
        (["tiles:"], 2, "'tiles:' names no port"),
        (["camera:kitchen"], 2, "camera:kitchen names no camera"),
        (["http://"], 2, "http:// is no address of a camera"),
        ([f"images:{DATA / 'none'}"], 1, "there is no folder"),
        ([f"video:{GAME}", "--corners", "1,2 3,4"], 2, "is not four points"),
        ([f"video:{GAME}", "--corners", "10,10 500,10 500,400 10,400"], 2, "go round the wrong way"),
        ([f"video:{GAME}", "--corners", "10,1e300 500,400 500,10 10,10"], 2, "no picture has so many pixels"),
        ([f"video:{GAME}", "--corners", "nan,10 500,10 500,400 10,400"], 2, "is not four points"),
        ([f"video:{GAME}", "--corners", "10,9400 500,9400 500,9000 10,9000"], 1, "lie far outside the picture"),
        ([f"video:{GAME}", "--first", "middle"], 2, "'middle' is not one of 'outside', 'anywhere'"),
        ([f"video:{GAME}", "--layout", "###"], 2, "2x2 boards cannot tile"),
        ([f"video:{GAME}", "--profile", "none.json"], 1, "the profile none.json cannot be read"),
        ([f"video:{GAME}", "--data", "/dev/null/logs"], 1, "/dev/null/logs"),
        ([], 2, "Missing argument 'SOURCE...'"),
        (["virtual:", "--layout", "ring"], 2, "draws a game on 4x4, and not on ring: start with --layout '4x4'"),
        (["virtual:", "--variant", "green-box"], 2, "virtual: draws a standard game: start with --variant standard"),
        ([f"video:{GAME}", "--sets", "100"], 2, "100 is not in the range 1<=x<=8"),
        (["virtual:tiles", "--corners", CORNERS], 2, "a tile board needs no corners: leave out --corners"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(arguments, code, says):
    done = companion("watch", *arguments)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    if code == 1:
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("corners", "why"),
    [
        ([[10, 10], [500, 10], [500, 400], [10, 400]], "go round the wrong way"),
        ([[10, 400], [500, 10], [500, 400], [10, 10]], "do not go round a board"),
        ([[10, 9400], [500, 9400], [500, 9000], [10, 9000]], "lie far outside the picture"),
        ([[1e300, 0], [0, 1e300], [1, 1], [2, 5]], "no picture has so many pixels"),
    ],
)
def test_bad_corners_of_a_profile_are_told_as_the_profiles(tmp_path, corners, why):
    profile = tmp_path / "kitchen.json"
    profile.write_text(json.dumps({"version": 1, "corners": corners}))
    done = companion("watch", f"video:{GAME}", "--profile", str(profile))
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: the profile {profile} has a bad field 'corners': ")
    assert "Corners(" not in done.stderr
    assert why in done.stderr
    assert "--corners" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    given = companion("watch", f"images:{tmp_path}", "--profile", str(profile), "--corners", CORNERS)
    assert "has no picture in it" in given.stderr


def test_corners_hold_from_when_the_board_lies_there_and_a_profile_whose_board_lies_elsewhere_is_told(tmp_path):
    """The corners say that it is seen from the far side, which no picture shows."""
    corners = [tuple(point) for point in TRUTH["corners"].values()]
    Profile(corners=(*corners[2:], *corners[:2])).write(tmp_path / "kitchen.json")
    watched = ("watch", f"images:{tmp_path}", "--profile", str(tmp_path / "kitchen.json"), "--json")
    stills(tmp_path)
    for file in sorted(tmp_path.glob("*.jpg"), reverse=True):
        file.rename(tmp_path / f"{int(file.stem) + 1}.jpg")
    cv2.imwrite(str(tmp_path / "0.jpg"), np.roll(cv2.imread(str(tmp_path / "1.jpg")), 200, axis=1))
    told = [json.loads(line) for line in companion(*watched).stdout.splitlines()]
    assert [event["move"] for event in told if event["event"] == "MovePlayed"] == ["d4+", "d2><"]
    for number in (1, 2, 3):
        (tmp_path / f"{number}.jpg").unlink()
    done = companion(*watched)
    assert done.returncode == 1
    assert f"no board lies at the corners that the profile {tmp_path / 'kitchen.json'} has, but" in done.stderr


def test_a_table_without_a_board_is_not_taken_for_a_quiet_game(no_board):
    done = companion("watch", f"video:{no_board}", "--json")
    assert done.returncode == 1
    assert "the board is not found" in done.stderr
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["MatchStarted"]


@pytest.mark.slow
def test_a_match_that_cannot_be_recorded_is_told_and_fails(tmp_path):
    (tmp_path / "one.mjn").write_text("1. a1+ *\n")
    MatchLog.open(tmp_path, lambda: datetime.now(UTC)).close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as another:
        another.execute("BEGIN IMMEDIATE")
        done = companion("watch", f"virtual:{tmp_path / 'one.mjn'}", "--data", str(tmp_path))
    assert (done.returncode, "a1+" in done.stdout) == (1, True)
    assert done.stderr.startswith("Error: the match at table 1 is not recorded to its end: the match log ")
    assert "another program is writing to it" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("tags", "options", "says"),
    [
        ('[First "anywhere"]', [], "draws a game whose first piece goes anywhere: start with --first anywhere"),
        ('[Sets "2"]', [], "draws a game with other pieces: start with --sets 2"),
        ("", ["--sets", "2"], "draws a game with other pieces: start with --sets 1"),
    ],
)
def test_a_drawn_game_is_not_refereed_by_other_rules_than_its_own(tmp_path, tags, options, says):
    (match := tmp_path / "match.mjn").write_text(f"{tags}\n\n1. a1+ *\n")
    done = companion("watch", f"virtual:{match}", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"virtual:{match} {says}" in done.stderr


class Watching:
    """A `companion watch` that is told to stop while it looks; its temporary files are in `folder`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", "companion", "watch", "--json", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(folder)},
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.communicate()

    def stop(self, after: str, number: int) -> tuple[int, list[dict], str]:
        """Its exit code, what it told, and what it said of itself, if it is sent a signal after an event."""
        told = []
        while not told or told[-1]["event"] != after:
            told.append(json.loads(self._process.stdout.readline()))
        assert list(self.folder.iterdir())
        self._process.send_signal(number)
        rest, said = self._process.communicate(timeout=60)
        return self._process.returncode, told + [json.loads(line) for line in rest.splitlines()], said


@pytest.fixture
def open_game(tmp_path) -> str:
    """A drawn game whose first piece lies where it may not."""
    (tmp_path / "open.mjn").write_text("1. L:b2+! b4+ 2. c4+ c1+ 3. d1x c2x 4. b3x *\n")
    return f"virtual:{tmp_path / 'open.mjn'}"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watch_that_is_told_to_stop_tells_what_is_open_and_leaves_nothing_behind(open_game, tmp_path, number):
    (folder := tmp_path / "tmp").mkdir()
    with Watching(folder, open_game) as watching:
        code, told, said = watching.stop("IllegalPlacement", number)
    assert (told[-1]["event"], told[-1]["squares"]) == ("Unresolved", ["b2"])
    assert (code, said) == (1, f"Error: told to stop before the end of {open_game}\n")
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_a_watch_of_what_has_no_end_is_done_when_it_is_told_to_stop(tmp_path):
    (match := tmp_path / "one_move.mjn").write_text(f"1. {MOVES[0]} *\n")
    (folder := tmp_path / "tmp").mkdir()
    table = VirtualCamera(str(match), time.monotonic, time.sleep)
    with CameraServer(lambda: table.read(1.0).image) as camera, Watching(folder, camera.address) as watching:
        code, told, said = watching.stop("MovePlayed", signal.SIGINT)
    # A camera that this machine is too slow to draw in time is told of.
    assert (code, set(said.splitlines()) - {f"{camera.address}: it sends no pictures"}) == (0, set())
    assert [event["move"] for event in told if event["event"] == "MovePlayed"] == MOVES[:1]


def test_a_folder_breaks_off_at_a_picture_that_cannot_be_read(tmp_path):
    cv2.imwrite(str(tmp_path / "1.png"), np.full((240, 320, 3), 128, np.uint8))
    (tmp_path / "2.png").write_bytes(b"torn")
    done = companion("watch", f"images:{tmp_path}", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: images:{tmp_path} breaks off: {tmp_path / '2.png'} is not a picture")
    assert len(done.stderr.splitlines()) == 1
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["MatchStarted", "SourceLost"]
