"""Go or no-go before a game: each thing that spoils a picture is named, with what to do about it."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from calibration.check import examine
from calibration.training.artwork import ArtStudio, CubeStudio
from companion.commands.check import check
from companion.profile import EnrolledCard, LensModel, Profile
from companion.readings import ANYTHING, EMPTY, SOME_PIECE, of_colour
from companion.rules import Colour, Layout
from companion.vision.pose import BoardPose
from tests.vision.drawn_tables import FROM_ABOVE, laid_on, plain_cloth
from tests.vision.test_enrolled import FACES, enrolment, png

BOARD = Layout.parse("4x4")
STEEP = np.array([[200, 460], [800, 460], [620, 330], [380, 330]], float)


def bad(image, corners=FROM_ABOVE, profile=None):
    """What is not good about a picture, by name."""
    given = tuple((float(x), float(y)) for x, y in corners)
    return {
        finding.what: finding.improve
        for finding in examine(image, BoardPose(given, 1.0), BOARD, profile)
        if not finding.good
    }


def good_picture():
    return laid_on(plain_cloth(), FROM_ABOVE)


def burnt(image):
    return cv2.circle(image.copy(), (480, 350), 90, (255, 255, 255), -1)


def half_in_shade(image):
    shaded = image.copy()
    shaded[:, : int(FROM_ABOVE[:, 0].mean())] //= 8
    return shaded


def small(image):
    return cv2.resize(image, None, fx=0.2, fy=0.2, interpolation=cv2.INTER_AREA)


def test_a_good_picture_is_a_go():
    assert bad(good_picture()) == {}


@pytest.mark.parametrize(
    ("image", "corners", "what", "improve"),
    [
        (good_picture() // 8, FROM_ABOVE, "light", "more light"),
        (half_in_shade(good_picture()), FROM_ABOVE, "shadow", "what casts the shadow"),
        (burnt(good_picture()), FROM_ABOVE, "glare", "Move the lamp"),
        (cv2.GaussianBlur(good_picture(), (0, 0), 12), FROM_ABOVE, "sharpness", "Focus"),
        (small(good_picture()), FROM_ABOVE * 0.2, "size", "nearer"),
        (laid_on(plain_cloth(), STEEP), STEEP, "tilt", "higher above"),
    ],
    ids=["dark", "shade", "glare", "blur", "small", "steep"],
)
def test_what_spoils_a_picture_is_named_with_what_to_do(image, corners, what, improve):
    assert improve in bad(np.asarray(image, np.uint8), corners).get(what, "")


@pytest.mark.parametrize(("layout", "corners"), [("8x2", (100, 600, 900, 400)), ("8x4", (100, 600, 900, 200))])
def test_a_long_board_is_not_seen_from_far_aside(layout, corners):
    left, bottom, right, top = map(float, corners)
    pose = BoardPose(((left, bottom), (right, bottom), (right, top), (left, top)), 1.0)
    told = {found.what: found for found in examine(plain_cloth(), pose, Layout.parse(layout), None)}
    assert told["tilt"].good
    assert "100%" in told["tilt"].found


def test_the_table_in_a_boards_gap_is_not_judged():
    layout = Layout.parse("##../##../####/####")
    pose = BoardPose(((200.0, 500.0), (600.0, 500.0), (600.0, 100.0), (200.0, 100.0)), 1.0)
    for table in (0, 255):
        image = np.full((600, 800, 3), 150, np.uint8)
        image[100:300, 400:] = table
        told = {found.what: found.good for found in examine(image, pose, layout, None)}
        assert told["shadow"]
        assert told["glare"]


@pytest.mark.parametrize(
    ("squares", "how", "found", "improve"),
    [
        ([EMPTY] * 16, {}, None, ""),
        ([ANYTHING] * 4 + [EMPTY] * 12, {}, None, ""),
        ([0b10, 0b100, 0b1100] + [EMPTY] * 13, {}, "kind and colour of 2 of 3", ""),
        ([0b10, 0b11110] + [EMPTY] * 14, {}, "kind and colour of 1 of 2", "companion calibrate enrol --help"),
        ([SOME_PIECE] * 3 + [EMPTY] * 13, {}, "kind and colour of 0 of 3", "--variant green-box"),
        ([0b11110, of_colour(Colour.DARK)] + [EMPTY] * 14, {"plain": True}, "colour of 2 of 2", ""),
        ([SOME_PIECE] + [EMPTY] * 15, {"plain": True}, "colour of 0 of 1", "calibrate enrol --variant green-box"),
        ([SOME_PIECE] + [EMPTY] * 15, {"known": True}, "kind and colour of 0 of 1", "enrol the set again"),
    ],
)
def test_pieces_that_cannot_be_told_are_no_go(squares, how, found, improve):
    profile = Profile(enrolment=enrolment()) if how.get("known") else None
    pose = BoardPose(tuple(map(tuple, FROM_ABOVE)), 1.0)
    told = examine(good_picture(), pose, BOARD, profile, squares=squares, plain=how.get("plain", False))
    findings = [finding for finding in told if finding.what == "pieces"]
    assert [finding.found for finding in findings] == ([f"the {found} can be told"] if found else [])
    assert all(finding.good is not bool(improve) and improve in finding.improve for finding in findings)


def test_a_set_that_has_to_be_enrolled_first_is_no_go(tmp_path):
    shot = ArtStudio(4000).enrolled()
    cv2.imwrite(str(tmp_path / "letters.png"), shot.image)
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in shot.corners)
    done = CliRunner().invoke(check, [str(tmp_path / "letters.png"), "--corners", corners])
    assert done.exit_code == 1, done.output
    assert "ok  squares: something can be told of 16 of 16" in done.output
    assert "NO  pieces: the kind and colour of 0 of 16 can be told" in done.output


@pytest.mark.parametrize(("variant", "good"), [("standard", False), ("green-box", True)])
def test_cubes_are_looked_at_as_they_are_played(tmp_path, variant, good):
    shot = CubeStudio(3000).enrolled()
    cv2.imwrite(str(tmp_path / "cubes.png"), shot.image)
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in shot.corners)
    done = CliRunner().invoke(check, [str(tmp_path / "cubes.png"), "--corners", corners, "--variant", variant])
    assert (done.exit_code == 0) is good, done.output


def test_kinds_that_were_enrolled_with_the_same_mark_are_pointed_out():
    twins = [{"piece": face.piece, "picture": face.picture} for face in enrolment().faces] * 2
    assert "set" not in bad(good_picture(), profile=Profile(enrolment=enrolment(faces=twins)))
    for twin in twins:
        if twin["piece"] == "light diagonal":
            twin["picture"] = png(FACES[0].picture)
    [(what, improve)] = bad(good_picture(), profile=Profile(enrolment=enrolment(faces=twins))).items()
    assert what == "set"
    assert "Enrol the set again" in improve


def test_a_set_is_called_as_people_call_it():
    profile = Profile(name="Grandma's", enrolment=enrolment())
    told = [*examine(good_picture(), BoardPose(tuple(map(tuple, FROM_ABOVE)), 1.0), BOARD, profile)]
    [found] = [finding.found for finding in told if finding.what == "set"]
    assert found.startswith("Grandma's: looks alike: ")


def test_the_command_says_go_or_no_go_by_its_exit_code(tmp_path):
    cv2.imwrite(str(tmp_path / "good.png"), laid_on(plain_cloth(), FROM_ABOVE, pieces=False))
    cv2.imwrite(str(tmp_path / "none.png"), plain_cloth())
    corners = " ".join(f"{x:g},{y:g}" for x, y in FROM_ABOVE)
    missing = CliRunner().invoke(check, [str(tmp_path / "none.png"), "--json"])
    assert json.loads(missing.stdout)["good"] is False
    done = CliRunner().invoke(check, [str(tmp_path / "good.png"), "--corners", corners, "--json"])
    assert done.exit_code == 0, done.output
    assert {json.loads(line)["good"] for line in done.output.splitlines()} == {True}
    given, found = (
        CliRunner().invoke(check, [str(tmp_path / "good.png"), *more]).output for more in (["--corners", corners], [])
    )
    assert "board: not looked for, its corners are given" in given
    assert "board: found" in found
    done = CliRunner().invoke(check, [str(tmp_path / "none.png")])
    assert done.exit_code == 1
    assert done.output.startswith("NO  board: no board here")


def test_corners_around_a_bare_table_are_no_go(tmp_path):
    cv2.imwrite(str(tmp_path / "table.png"), plain_cloth())
    at_table = ["--corners", "60,640 330,640 330,370 60,370"]
    done = CliRunner().invoke(check, [str(tmp_path / "table.png"), *at_table])
    assert done.exit_code == 1, done.output
    assert "NO  board: nothing like a board lies at the corners that were given" in done.output
    assert "give its corners anew" in done.output


def test_a_picture_that_is_not_there_is_one_clear_line(tmp_path):
    done = CliRunner().invoke(check, [str(tmp_path / "nothing.png")])
    assert str(done.exception) == f"there is no picture {tmp_path / 'nothing.png'}"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("kitchen:0", "'kitchen:0' is not a source"),
        ("camera:kitchen", "names no camera"),
        ("tiles:auto", "a tile board gives no pictures"),
        ("virtual:tiles", "a tile board gives no pictures"),
    ],
)
def test_what_names_no_source_is_wrong_usage(source, says):
    done = CliRunner().invoke(check, [source])
    assert done.exit_code == 2
    assert says in done.output


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        (Profile(variant="green-box", cards=(EnrolledCard(kind="straight", picture="AAAA"),)), "straight card"),
        (Profile(enrolment=enrolment().model_copy(update={"backbone": "0" * 16})), "another version"),
    ],
)
def test_profile_that_no_game_can_be_watched_with_is_no_go(tmp_path, profile, says):
    cv2.imwrite(str(tmp_path / "good.png"), good_picture())
    profile.write(tmp_path / "set.json")
    done = CliRunner().invoke(check, [str(tmp_path / "good.png"), "--profile", str(tmp_path / "set.json")])
    assert done.exit_code == 1
    assert says in str(done.exception)


def test_name_of_a_set_that_a_terminal_would_obey_is_written_out(tmp_path):
    cv2.imwrite(str(tmp_path / "good.png"), good_picture())
    Profile(name="\x1b[31mred\n", enrolment=enrolment()).write(tmp_path / "set.json")
    done = CliRunner().invoke(check, [str(tmp_path / "good.png"), "--profile", str(tmp_path / "set.json")])
    assert r"set: \x1b[31mred\n: " in done.output


def test_two_profiles_are_wrong_usage(tmp_path):
    Profile().write(tmp_path / "set.json")
    twice = ["--profile", str(tmp_path / "set.json")] * 2
    done = CliRunner().invoke(check, [str(tmp_path / "good.png"), *twice])
    assert (done.exit_code, "--profile is given twice" in done.output) == (2, True)


def test_lens_of_a_picture_that_is_too_small_is_refused():
    with pytest.raises(ValidationError, match=r"size\.0"):
        LensModel(size=(4, 3), focal=(5.0, 5.0), centre=(2.0, 1.5), distortion=(0.0,) * 5, error=0.1)
