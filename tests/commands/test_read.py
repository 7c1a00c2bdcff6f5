"""`companion read` as people run it: the JSON of the contract, and pictures that cannot be read."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.commands.read import _score, _score_in_words
from companion.profile import Profile
from companion.readings import ANYTHING, of_colour
from companion.rules import Colour, Layout
from companion.vision.legible import BLURRED
from tests.commands.test_watch import CORNERS, DATA, GAME, TRUTH, companion
from tests.vision.drawn_tables import FROM_ABOVE, laid_on, plain_cloth


@pytest.fixture(scope="module")
def last_frame(tmp_path_factory) -> Path:
    """The finished game, as a photograph."""
    video = cv2.VideoCapture(str(GAME))
    video.set(cv2.CAP_PROP_POS_FRAMES, 828)
    there, image = video.read()
    assert there
    path = tmp_path_factory.mktemp("pictures") / "end.png"
    cv2.imwrite(str(path), image)
    return path


@pytest.mark.parametrize("corners", [[], ["--corners", CORNERS]], ids=["found", "given"])
def test_a_finished_game_is_scored_from_one_photograph(last_frame, corners):
    done = companion("read", str(last_frame), "--json", *corners)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["image"], told["found"], told["card"], told["hidden"]) == (str(last_frame), True, None, [])
    assert told["score"] == {"light": 4, "dark": 1}
    assert (told["squares"]["a1"], told["squares"]["d1"]) == (["light straight"], ["."])
    assert told["squares"]["a4"] == ["dark pusher"]
    for name, point in TRUTH["corners"].items():
        assert math.dist(told["corners"][name], point) < 25  # a quarter of a square


def test_people_see_a_drawing_and_the_score(last_frame):
    done = companion("read", str(last_frame))
    assert done.stdout.splitlines()[1:] == ["p D . D", "u P P s", "S U s U", "S p d .", "Light 4, Dark 1"]


def test_a_blurred_photograph_tells_where_the_board_is_and_why_nothing_else(last_frame, tmp_path):
    cv2.imwrite(str(tmp_path / "soft.png"), cv2.GaussianBlur(cv2.imread(str(last_frame)), (0, 0), 12))
    done = companion("read", str(tmp_path / "soft.png"), "--corners", CORNERS, "--json")
    assert (done.returncode, done.stderr) == (0, f"{tmp_path / 'soft.png'}: {BLURRED}\n")
    told = json.loads(done.stdout)
    assert (told["found"], told["hidden"], told["score"]) == (True, [], None)
    assert {len(contents) for contents in told["squares"].values()} == {9}


def test_every_image_has_its_line_and_one_that_fails_fails_the_command(last_frame, tmp_path):
    (tmp_path / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe0 torn")
    cv2.imwrite(str(tmp_path / "grey.png"), np.full((200, 300, 3), 90, np.uint8))
    images = [str(tmp_path / "none.png"), str(tmp_path / "torn.jpg"), str(tmp_path / "grey.png"), str(last_frame)]
    done = companion("read", *images, "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [line["image"] for line in told] == images
    assert [line["found"] for line in told] == [False, False, False, True]
    assert "there is no picture" in told[0]["why"]
    assert "is not a picture that can be read" in told[1]["why"]
    assert "no board" in told[2]["why"]
    assert set(told[2]) == {"image", "found", "why"}


def test_a_picture_that_is_damaged_in_its_middle_is_not_read(last_frame, tmp_path):
    data = bytearray(cv2.imencode(".jpg", cv2.imread(str(last_frame)))[1].tobytes())
    (tmp_path / "whole.jpg").write_bytes(data)
    data[len(data) // 2 : len(data) // 2 + 2] = b"\xff\xd9"
    (tmp_path / "damaged.jpg").write_bytes(data)
    done = companion("read", str(tmp_path / "damaged.jpg"), str(tmp_path / "whole.jpg"))
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path / 'damaged.jpg'} is damaged; take the picture, or copy it, once more\n"
    assert "Light" in done.stdout


def test_another_board_in_the_picture_is_told_and_is_read_by_its_corners(tmp_path):
    two = np.hstack([laid_on(plain_cloth(), FROM_ABOVE), laid_on(plain_cloth(), FROM_ABOVE, pieces=False)])
    cv2.imwrite(str(image := tmp_path / "two.png"), two)
    done = companion("read", "--json", str(image))
    told = json.loads(done.stdout)
    said = re.fullmatch(rf'{image}: another board is seen, too; for that one give --corners "(.*)"\n', done.stderr)
    assert said
    points = [tuple(map(float, point.split(","))) for point in said[1].split()]
    for point, named in zip(points, told["another"].values(), strict=True):
        assert math.dist(point, named) < 1
    again = companion("read", "--json", str(image), "--corners", said[1])
    assert (again.returncode, again.stderr) == (0, "")
    there = json.loads(again.stdout)
    assert list(there["corners"].values()) == [list(point) for point in points]
    assert "another" not in there


@pytest.mark.parametrize("away", [50, -101, 250], ids=["half a square", "a square", "on the table"])
def test_corners_that_lie_beside_the_board_read_nothing_and_the_right_ones_are_named(last_frame, away):
    points = [(x + away, y) for x, y in TRUTH["corners"].values()]
    done = companion("read", str(last_frame), "--corners", " ".join(f"{x},{y}" for x, y in points))
    assert (done.returncode, done.stdout) == (1, "")
    named = re.fullmatch(r".*: no board lies at the corners that were given, but .*--corners \"(.*)\".*\n", done.stderr)
    assert named
    for said, point in zip(named[1].split(), TRUTH["corners"].values(), strict=True):
        assert math.dist(map(float, said.split(",")), point) < 25


@pytest.mark.parametrize("grain", [0, 30], ids=["smooth", "of wood"])
def test_a_bare_table_at_the_corners_that_were_given_is_no_board(tmp_path, grain):
    noise = np.random.default_rng(1).normal(0, grain, (720, 1280, 3)).astype(np.float32)
    table = (90, 120, 150) + cv2.GaussianBlur(noise, (0, 0), 40, sigmaY=1.2) * 3
    cv2.imwrite(str(tmp_path / "table.png"), table.clip(0, 255))
    done = companion("read", str(tmp_path / "table.png"), "--corners", "300,600 900,600 850,150 350,150")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{tmp_path / 'table.png'}: nothing like a board lies at the corners that were given")


def test_the_corners_that_a_profile_has_of_another_board_are_not_believed(last_frame, tmp_path):
    Profile(layout="4x4", corners=tuple(map(tuple, TRUTH["corners"].values()))).write(tmp_path / "table.json")
    asked = ("read", str(last_frame), "--profile", str(tmp_path / "table.json"))
    assert companion(*asked).returncode == 0
    done = companion(*asked, "--layout", "8x2")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize(
    ("left", "behind", "damaged"),
    [
        (bytes(range(1, 60)), b"", True),
        (bytes(64), b"", False),
        (b"\x01\x02", b"", False),
        (bytes(64), b"more \xff\xd9 of a film", False),
    ],
)
def test_bytes_that_are_left_at_the_end_tell_of_damage_before_unless_they_only_fill_it(
    last_frame, tmp_path, left, behind, damaged
):
    data = cv2.imencode(".jpg", cv2.imread(str(last_frame)))[1].tobytes()
    small = cv2.imencode(".jpg", np.full((60, 80, 3), 90, np.uint8))[1].tobytes()
    about = b"\xff\xe1" + (len(small) + 2).to_bytes(2, "big") + small
    (tmp_path / "more.jpg").write_bytes(data[:2] + about + data[2:-2] + left + data[-2:] + behind)
    done = companion("read", str(tmp_path / "more.jpg"))
    assert ("is damaged" in done.stderr, "Light" in done.stdout) == (damaged, not damaged)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["none.jpg"], 1, "there is no picture none.jpg"),
        (["http://127.0.0.1:9/x.jpg"], 1, "http://127.0.0.1:9/x.jpg is an address, and files are read"),
        ([str(DATA / "game.json")], 1, "is not a picture that can be read"),
        (
            [str(DATA / "game.mp4")],
            1,
            "is a video, not a picture; to companion watch, or calibrate check, it is video:",
        ),
        ([], 2, "Missing argument"),
        (["a.jpg", "--corners", "1,1 2,2 3,3"], 2, "is not four points"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(arguments, code, says):
    done = companion("read", *arguments)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("light", "dark", "words"),
    [
        ([0, 0], [0, 0], "Light 0, Dark 0, though not every colour is certain"),
        ([1, 3], [2, 2], "Light 1 to 3, Dark 2: not every colour is certain"),
        ([0, 2], [1, 6], "Light 0 to 2, Dark 1 to 6: not every colour is certain"),
    ],
)
def test_a_range_of_one_score_is_told_as_a_score(light, dark, words):
    assert _score_in_words({"score": None, "score_range": {"light": light, "dark": dark}}) == words


@pytest.mark.parametrize(("rows_of_light", "most"), [(1, 6), (2, 4)])
def test_nobody_may_have_more_points_than_his_pieces_can_make(rows_of_light, most):
    light = [of_colour(Colour.LIGHT)] * 4 * rows_of_light
    told = _score(Layout.parse("4x4"), (*light, *[ANYTHING] * (16 - len(light))), pieces=8)
    assert told["score_range"]["light"][1] == most
