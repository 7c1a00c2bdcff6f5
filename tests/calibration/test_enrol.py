"""Enrolment: a drawn set that nobody trained on is learnt from two pictures; bad pictures are refused."""

from __future__ import annotations

import base64
from dataclasses import replace
from unittest.mock import Mock

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration import enrolment
from calibration.enrolment import ARRANGEMENT, EnrolmentError, Learnt, Pair, learn
from calibration.enrolment_pictures import _lies_otherwise
from calibration.hands import draw_hand
from calibration.shapes import find_tops
from calibration.telling_apart import in_words, refuse_unlike_twins
from calibration.training.artwork import ArtStudio, draw_art_set, unlike
from calibration.training.truth import JUDGED
from companion.camera.play import Lying, Moment
from companion.camera.studio import Studio
from companion.commands.enrol import enrol
from companion.commands.lens import lens
from companion.profile import EnrolledCard, EnrolledCubes, EnrolledFace, Enrolment, Profile
from companion.readings import ALL_CONTENTS, ANYTHING
from companion.rules import Colour, Kind, Layout
from companion.vision.enrolled import STATES, TRAITS, EnrolledRecogniser, Look, fingerprint
from companion.vision.faces import FACE, Face, FaceMatcher
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardPose
from companion.vision.rectify import PATCH, away_side, patches, rectify

BOARD = Layout.parse("4x4")
SET = 23
"""Light pieces are light and dark ones dark."""
WELL_MADE = 12
"""All its kinds are told apart well."""
GRAINED = 1073
"""Its dark pieces are of strongly figured wood."""


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """The two pictures on disk, the same with a piece missing, and the corners as the command takes them."""
    folder = tmp_path_factory.mktemp("set")
    studio = ArtStudio(SET)
    empty, full = studio.empty(), studio.enrolled()
    holed = full.image.copy()
    to_picture = cv2.getPerspectiveTransform(
        np.array([[0, 0], [4, 0], [4, 4], [0, 4]], np.float32), full.corners.astype(np.float32)
    )
    square = np.array([[[1.02, 2.02], [1.98, 2.02], [1.98, 2.98], [1.02, 2.98]]], np.float32)
    mask = np.zeros(holed.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, cv2.perspectiveTransform(square, to_picture)[0].astype(np.int32), 255)
    holed[mask > 0] = empty.image[mask > 0]
    for name, image in (("empty", empty.image), ("pieces", full.image), ("holed", holed)):
        cv2.imwrite(str(folder / f"{name}.png"), image)
    return folder, empty, full


def corners_text(corners):
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)


def run(folder, corners, *more, empty="empty", pieces="pieces"):
    arguments = ["--empty", str(folder / f"{empty}.png"), "--pieces", str(folder / f"{pieces}.png"), *more]
    return CliRunner().invoke(enrol, [*arguments, "--corners", corners_text(corners), "-o", str(folder / "p.json")])


@pytest.mark.slow
def test_an_unknown_set_is_learnt_from_two_pictures_and_read_under_another_lamp_from_another_side(tmp_path):
    studio = ArtStudio(WELL_MADE)
    shots = {"empty": studio.empty(), "pieces": studio.enrolled()}
    for name, shot in shots.items():
        cv2.imwrite(str(tmp_path / f"{name}.png"), shot.image)
    done = run(tmp_path, shots["pieces"].corners)
    assert done.exit_code == 0, done.output
    assert "knows the sixteen pieces" in done.output
    known = Profile.read(tmp_path / "p.json").enrolment
    assert (tmp_path / "p.json").stat().st_size < 100_000
    assert known.light is not None
    assert known.light.trust > 0.5
    recogniser = EnrolledRecogniser(Recogniser.bundled(), Look.of(known))
    right = wrong = count = hidden = missed = 0
    for hands in (0, 0, 0, 1, 1):
        shot = studio.game(hands=hands)
        seen = patches(rectify(shot.image, shot.corners, BOARD), BOARD, away_side(shot.corners, BOARD))
        said, truth = np.array(recogniser.contents(recogniser.recognise(seen))), np.array(shot.contents)
        counts = (shot.weights == JUDGED) & ~shot.covered
        right, wrong = right + (said == truth)[counts].sum(), wrong + (said & truth == 0)[counts | shot.covered].sum()
        count += counts.sum()
        hidden += shot.covered.sum()
        missed += ((said != ANYTHING) & (said != truth))[shot.covered].sum()
    assert wrong == 0
    assert missed <= 0.1 * hidden
    assert right >= 0.9 * count


@pytest.mark.parametrize("knows", [True, False])
def test_whether_the_network_knows_the_colours_of_a_set_is_found_out(shots, monkeypatch, knows):
    _, empty, full = shots
    if not knows:
        monkeypatch.setattr(enrolment, "ARRANGEMENT", tuple(replace(p, colour=p.colour.other) for p in ARRANGEMENT))
    sights = [(shot.image, BoardPose(tuple(map(tuple, shot.corners.tolist())), 1.0)) for shot in (empty, full)]
    learnt = learn(*sights, BOARD, Recogniser.bundled(), boards=16)
    heard = learnt.enrolment.colours_heard
    assert heard > 0.5 if knows else heard == 0


def test_marks_that_are_known_are_not_learnt_from_a_mirrored_picture(tmp_path, monkeypatch):
    monkeypatch.setattr("companion.commands.enrol.learn", lambda *_: learnt())
    (tmp_path / "mirrored").mkdir()
    lying = [Lying(p, s.column + 0.5, s.row + 0.5, 0.0, 0.02) for p, s in zip(ARRANGEMENT, BOARD, strict=True)]
    studio = Studio(BOARD, ())
    for name, things in (("empty", ()), ("pieces", tuple(lying))):
        picture = studio.picture(Moment(things), 0)
        cv2.imwrite(str(tmp_path / f"{name}.png"), picture)
        cv2.imwrite(str(tmp_path / "mirrored" / f"{name}.png"), cv2.flip(picture, 1))
    corners = studio.corners
    width = picture.shape[1]
    mirrored = [(width - 1 - x, y) for x, y in np.array(corners)[[1, 0, 3, 2]]]
    assert "seen as in a mirror" in str(run(tmp_path / "mirrored", mirrored).exception)
    assert run(tmp_path / "mirrored", mirrored, "--anyway").exit_code == 0
    assert run(tmp_path, corners).exit_code == 0


def standing(swapped):
    """The arrangement, with these pieces in each other's places."""
    order = list(ARRANGEMENT)
    for one, other in swapped:
        order[one], order[other] = order[other], order[one]
    return [Lying(piece, s.column + 0.5, s.row + 0.5, 0.0, 0.02) for piece, s in zip(order, BOARD, strict=True)]


@pytest.mark.parametrize(
    ("swapped", "says"),
    [
        ([(i, i + 4) for i in (0, 1, 2, 3, 8, 9, 10, 11)], "on a1 there is a pusher, where a straight belongs"),
        ([(1, 2)], "on b1 there is a diagonal, where a straight belongs"),
        ([(0, 8)], "those on a1 a3 have the other player's colour"),
        ([(0, 8), (1, 9)], "those on a1 b1 a3 b3 have the other player's colour"),
        ([(0, 1), (12, 13)], None),
    ],
)
def test_marks_that_are_known_are_not_learnt_where_they_lie_otherwise(tmp_path, monkeypatch, swapped, says):
    monkeypatch.setattr("companion.commands.enrol.learn", lambda *_: learnt())
    studio = Studio(BOARD, ())
    for name, things in (("empty", ()), ("pieces", tuple(standing(swapped)))):
        cv2.imwrite(str(tmp_path / f"{name}.png"), studio.picture(Moment(things), 0))
    done = run(tmp_path, studio.corners)
    assert (done.exit_code, says is None) in ((0, True), (1, False)), done.output
    assert (says or "") in str(done.exception or "")
    assert run(tmp_path, studio.corners, "--anyway").exit_code == 0


def test_marks_that_only_look_like_others_can_be_learnt():
    said = np.full((16, 10), 0.001, np.float32)
    taken_for = {Kind.STRAIGHT: Kind.PULLER}  # as a plus may be that looks like a die
    for row, piece in zip(said, ARRANGEMENT, strict=True):
        seen = replace(piece, kind=taken_for.get(piece.kind, piece.kind))
        row[ALL_CONTENTS.index(seen)] = 0.99
    assert _lies_otherwise(said, BOARD) is None


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("none/set.json", "there is no folder"),
        ("-", "is no file"),
        ("folder", "is no file"),
        ("photo.jpg", "is there already and is no profile"),
        ("box.json", "knows its cubes and its cards, and would not any more: give --profile"),
        ("club.json", "knows its corners and its layout, and would not any more: give --profile"),
    ],
)
def test_nothing_is_learnt_where_it_could_not_be_kept_or_something_would_be_lost(tmp_path, monkeypatch, output, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "photo.jpg").write_bytes(b"a photograph")
    numbers = dict.fromkeys(("middle", "half", "own", "shift", "stretch"), 1.0)
    cubes = EnrolledCubes(backbone="", states="", direction="", **numbers)
    Profile(cubes=cubes, cards=(EnrolledCard(kind="straight", picture=""),)).write("box.json")
    Profile(layout="ring", corners=((100, 600), (900, 600), (850, 100), (150, 100))).write("club.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    result = CliRunner().invoke(enrol, ["--card", "pusher=none.jpg", "-o", output])
    assert says in f"{result.output}{result.exception}"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    kept = CliRunner().invoke(enrol, ["--profile", "box.json", "--card", "pusher=none.jpg", "-o", "box.json"])
    assert "there is no picture none.jpg" in str(kept.exception)


@pytest.mark.parametrize("known", ["enrolment", "corners", "cards"])
def test_one_profile_is_not_written_over_another_that_knows_otherwise(tmp_path, monkeypatch, known):
    """Before, a set's pieces were lost where those of another were kept."""
    monkeypatch.chdir(tmp_path)
    corner, face = (100, 600), EnrolledFace(piece="light pusher", picture="")
    others = {
        "enrolment": [
            Enrolment(backbone=name, faces=(face,) * 8, weights="", margin=1, least_alike=0) for name in "ab"
        ],
        "corners": [(corner, (900, 600), (850, 100), (150, up)) for up in (100, 110)],
        "cards": [(EnrolledCard(kind="straight", picture=name),) for name in ("", "AAAA")],
    }
    for name, value in zip(("oak.json", "plastic.json"), others[known], strict=True):
        Profile(**{known: value}).write(name)
    there = (tmp_path / "plastic.json").read_bytes()
    asked = ["none.jpg", "--profile", "oak.json", "-o"]
    assert "and would not any more" in str(CliRunner().invoke(lens, [*asked, "plastic.json"]).exception)
    assert (tmp_path / "plastic.json").read_bytes() == there
    assert "there is no picture none.jpg" in str(CliRunner().invoke(lens, [*asked, "oak.json"]).exception)


def test_nothing_is_learnt_where_no_profile_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("companion.commands.named_files.try_to_write", Mock(side_effect=OSError(30, "Read-only")))
    result = CliRunner().invoke(enrol, ["--card", "pusher=none.jpg", "-o", str(tmp_path / "p.json")])
    assert f"{tmp_path / 'p.json'} cannot be written: Read-only" in result.output


@pytest.mark.parametrize(
    ("size", "given", "says"),
    [
        (40, [], "the picture is too small: 40 x 40 pixels; take a larger one"),
        (40, ["--corners", "5,35 35,35 35,5 5,5"], "a square has 8 pixels, which show no mark; move the camera closer"),
    ],
)
def test_pictures_in_which_no_mark_can_be_seen_are_refused_with_what_helps(tmp_path, size, given, says):
    for name in ("empty", "pieces"):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.full((size, size, 3), 90, np.uint8))
    asked = ["--empty", f"{tmp_path}/empty.png", "--pieces", f"{tmp_path}/pieces.png", "-o", f"{tmp_path}/p.json"]
    result = CliRunner().invoke(enrol, [*asked, *given])
    assert says in str(result.exception)
    assert not (tmp_path / "p.json").exists()


def test_the_same_picture_twice_is_refused(shots):
    folder, _, full = shots
    assert "show the same" in str(run(folder, full.corners, empty="pieces").exception)


def test_a_board_that_is_not_empty_is_refused_by_its_squares(shots):
    folder, _, full = shots
    said = str(run(folder, full.corners, empty="holed").exception)
    assert "has to show the empty board, but something is on " in said
    assert "d4" in said
    assert "b3" not in said


def test_a_piece_that_is_missing_is_named(shots):
    folder, _, full = shots
    assert "all sixteen pieces, but none is on b3" in str(run(folder, full.corners, pieces="holed").exception)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("over", ["empty", "pieces"])
def test_a_hand_over_either_picture_is_named_by_the_squares_under_it(shots, tmp_path, monkeypatch, over, plain):
    _, empty, full = shots
    monkeypatch.setattr("companion.commands.enrol.learn", lambda *_: learnt())
    for name, shot in (("empty", empty), ("pieces", full)):
        picture = shot.image.copy()
        if name == over:
            tip = shot.corners.mean(axis=0)
            draw_hand(np.random.default_rng(2), picture, (tip[0], tip[1]), np.ptp(shot.corners[:, 0]) / 4)
        cv2.imwrite(str(tmp_path / f"{name}.png"), picture)
    said = str(run(tmp_path, full.corners, *(["--variant", "green-box"] if plain else [])).exception)
    assert f"{over}.png: take it again with no hand over the board" in said
    assert not (tmp_path / "p.json").exists()
    if not plain and over == "pieces":
        assert run(tmp_path, full.corners, "--anyway").exit_code == 0


@pytest.mark.parametrize(("turn", "side"), [(1, "left"), (2, "far"), (3, "right")])
def test_an_arrangement_that_is_turned_is_refused(shots, turn, side):
    folder, _, full = shots
    said = str(run(folder, np.roll(full.corners, -turn, axis=0)).exception)
    assert f"is turned: the light pieces lie on the {side} side" in said
    assert ("if Light's are the darker ones, add --light-is-darker" in said) == (turn == 2)
    assert "is turned" in str(run(folder, np.roll(full.corners, -turn, axis=0), "--anyway").exception)


def test_a_set_whose_light_pieces_are_the_darker_ones_is_enrolled_by_who_says_so(shots, monkeypatch):
    folder, _, full = shots
    monkeypatch.setattr("companion.commands.enrol.learn", lambda *_: learnt())
    assert run(folder, np.roll(full.corners, -2, axis=0), "--light-is-darker").exit_code == 0
    said = str(run(folder, full.corners, "--light-is-darker").exception)
    assert "the light pieces lie on the far side" in said
    assert "add --" not in said


def test_any_other_board_is_refused_in_words(shots):
    _, empty, full = shots
    sights = [(shot.image, BoardPose(tuple(map(tuple, shot.corners)), 1.0)) for shot in (empty, full)]
    with pytest.raises(ValueError, match="enrolled on the 4x4 board"):
        learn(*sights, Layout.parse("8x2"), Recogniser.bundled())


def test_a_profile_of_another_board_learns_its_set_on_the_4x4_board_and_stays_what_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr("companion.commands.enrol.learn", lambda *_: learnt())
    ring, studio = Profile(layout="ring", corners=((10, 90), (90, 90), (90, 10), (10, 10))), Studio(BOARD, ())
    ring.write(tmp_path / "ring.json")
    arguments = ["--profile", str(tmp_path / "ring.json"), "-o", str(tmp_path / "p.json")]
    for name, things in (("empty", ()), ("pieces", tuple(standing([])))):
        cv2.imwrite(str(tmp_path / f"{name}.png"), studio.picture(Moment(things), 0))
        arguments += [f"--{name}", str(tmp_path / f"{name}.png")]
    refused = CliRunner().invoke(enrol, arguments)
    assert "not on ring: lay it out there and give --layout 4x4;" in str(refused.exception)
    done = CliRunner().invoke(enrol, [*arguments, "--layout", "4x4"])
    assert done.exit_code == 0, done.exception
    known = Profile.read(tmp_path / "p.json")
    assert known == ring.model_copy(update={"enrolment": learnt().enrolment})


def learnt(light=(200, 190, 180), dark=(60, 70, 80), apart=0.5, other=0.5, burnt=0, beyond=None):
    """What would be learnt of a set with tops of these colours, BGR.

    `burnt` rows of light tops are burnt out; what lies `beyond` tops has another colour. So far `apart` are two kinds
    of light pieces, and two of dark ones as the `other` says.
    """
    contents = [content for content in ALL_CONTENTS if content is not None]
    faces = []
    for piece in contents:
        top = np.full((FACE, FACE, 3), light if piece.colour is Colour.LIGHT else dark, np.uint8)
        if piece.colour is Colour.LIGHT:
            top[8 : 8 + burnt] = 255
        if beyond:
            top = cv2.copyMakeBorder(top[7:-7, 7:-7], 7, 7, 7, 7, cv2.BORDER_CONSTANT, value=beyond)
        picture = base64.b64encode(cv2.imencode(".png", top)[1].tobytes()).decode()
        faces.append(EnrolledFace(piece=str(piece), picture=picture))
    weights = base64.b64encode(np.zeros((STATES, TRAITS + 1), "<f4").tobytes()).decode()
    pairs = (Pair(contents[0], contents[1], apart), *[Pair(contents[4], contents[5], other)] * 2)
    known = Enrolment(backbone=fingerprint(), faces=tuple(faces), weights=weights, margin=0.2, least_alike=0.3)
    return Learnt(known, pairs)


WELL = "All kinds are told apart well."
ALIKE = "These look much alike, and will often be asked about: light straight and diagonal."
NEARER = (
    "A picture from nearer, sharper or without glare may help; or one of them lies where another belongs (--help shows "
    "the arrangement)."
)
SHARPER = "Take a sharper picture, from nearer."
DARKER = "The light pieces are burnt out in p.jpg: better take both pictures with less light, or darker."
DIM = {"light": (30, 35, 38), "dark": (20, 30, 30)}
BRIGHTER = (
    "The light and the dark pieces are too dark in p.jpg: better take both pictures with more light, or brighter."
)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({}, WELL),
        ({"beyond": (255, 255, 255)}, WELL),
        ({"apart": 0.0}, f"{ALIKE} {NEARER}"),
        ({"light": (255, 254, 190), "apart": 0.0}, f"{ALIKE} {DARKER}"),
        ({"light": (190, 240, 255)}, WELL),
        ({"burnt": 5}, f"{WELL} {DARKER}"),
        ({"burnt": 3}, WELL),
        (DIM, f"{WELL} {BRIGHTER}"),
        ({"dark": (20, 30, 30)}, WELL),
    ],
)
def test_what_is_said_of_a_set_names_what_would_help(what, said):
    assert in_words(learnt(**what), "p.jpg") == said


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({"apart": -1.0, "burnt": 9}, f"The marks of the light pieces do not show in p.jpg. {DARKER}"),
        ({"apart": -0.3, "burnt": 9}, f"The marks of the light pieces do not show in p.jpg. {DARKER}"),
        ({"apart": -0.3, **DIM}, f"The marks of the light pieces do not show in p.jpg. {BRIGHTER}"),
        ({"apart": -0.3, "other": -0.3, **DIM}, f"The marks of the light pieces do not show in p.jpg. {BRIGHTER}"),
        ({"apart": -0.1, "burnt": 9}, f"The marks of the light pieces do not show in p.jpg. {DARKER}"),
        ({"apart": -0.4}, f"The marks of the light pieces do not show in p.jpg. {SHARPER}"),
        ({"apart": -0.1, "other": -0.1}, f"The marks of the pieces hardly show in p.jpg. {SHARPER}"),
        ({"apart": -0.06}, f"The marks of the light straight and the light diagonal hardly show in p.jpg. {SHARPER}"),
    ],
)
def test_pieces_whose_marks_do_not_show_are_refused(what, says):
    with pytest.raises(EnrolmentError) as refused:
        refuse_unlike_twins(learnt(**what), "p.jpg")
    assert str(refused.value) == f"{says} With --anyway what shows is kept."
    refuse_unlike_twins(learnt(apart=0.1, burnt=9), "p.jpg")
    refuse_unlike_twins(learnt(apart=-0.04), "p.jpg")


def test_a_colour_of_which_only_the_hue_is_left_is_refused():
    """Red that is all in one channel was told for the other colour, a paler red, in every other light (set 3089)."""
    with pytest.raises(EnrolmentError) as refused:
        refuse_unlike_twins(learnt(light=(1, 2, 254)), "p.jpg")
    assert str(refused.value) == (
        "No more than a hue is left of the colour of the light pieces in p.jpg: take both pictures with less light, or "
        "darker. With --anyway what shows is kept."
    )
    for strong in ((1, 2, 240), (20, 2, 254), (130, 1, 254), (254, 254, 254), (1, 2, 3)):
        refuse_unlike_twins(learnt(light=strong, dark=(60, 70, 180)), "p.jpg")


def test_a_piece_that_is_like_one_other_only_is_not_refused():
    known = learnt(apart=-0.1)
    straight, diagonal, pusher = ALL_CONTENTS[1:4]
    others = Pair(straight, pusher, 0.1), Pair(diagonal, pusher, 0.1)
    refuse_unlike_twins(replace(known, pairs=known.pairs + others), "p.jpg")


def test_who_has_no_better_picture_keeps_what_shows(shots, monkeypatch):
    folder, _, full = shots
    monkeypatch.setattr("companion.commands.enrol.learn", lambda *_: learnt(apart=-0.4))
    assert "With --anyway" in str(run(folder, full.corners).exception)
    kept = run(folder, full.corners, "--anyway")
    assert kept.exit_code == 0
    assert ALIKE in kept.output
    assert Profile.read(folder / "p.json").enrolment


@pytest.mark.parametrize("round_", [True, False])
def test_tops_are_found_where_they_lie(round_):
    ground = np.full((96, 96, 3), (120, 160, 190), np.float32)
    ground[:, 8:10] = 60
    looks, middles = [], [(47.5, 47.5), (52.0, 40.0), (44.0, 50.0)]
    for x, y in middles:
        look = ground.copy()
        if round_:
            cv2.circle(look, (round(x), round(y)), 32, (60, 70, 80), -1)
        else:
            cv2.rectangle(look, (round(x) - 32, round(y) - 32), (round(x) + 32, round(y) + 32), (60, 70, 80), -1)
        looks.append(look)
    tops = find_tops(looks, [ground] * 3, 80, np.zeros((3, 2)))
    for top, middle in zip(tops, middles, strict=True):
        assert top.round == round_
        assert top.half == pytest.approx(0.4, abs=0.03)
        assert np.hypot(*np.subtract(top.middle, middle)) < 4


def test_edges_of_the_board_that_pieces_hide_are_no_edges_of_theirs():
    ground = np.full((96, 96, 3), (120, 160, 190), np.float32)
    cv2.rectangle(ground, (19, 19), (76, 76), (250, 250, 250), 3)
    looks, middles = [], [(47.5, 47.5), (53.0, 45.0), (44.0, 50.0)]
    for x, y in middles:
        look = ground.copy()
        cv2.circle(look, (round(x), round(y)), 36, (60, 70, 80), -1, cv2.LINE_AA)
        looks.append(look)
    for top, middle in zip(find_tops(looks, [ground] * 3, 80, np.zeros((3, 2))), middles, strict=True):
        assert top.round
        assert top.half == pytest.approx(0.45, abs=0.03)
        assert np.hypot(*np.subtract(top.middle, middle)) < 2


def leaning(mark, turn, lean):
    """A thick disc on a square: its foot in the middle, its top where it leans to, with a mark; darker at its side."""
    look = np.full((96, 96, 3), (120, 160, 190), np.float32)
    for share in np.linspace(0, 1, 20):
        x, y = np.rint(np.array((47.5, 47.5)) + share * np.array(lean)).astype(int)
        cv2.circle(look, (int(x), int(y)), 32, (60, 70, 80) if share == 1 else (45, 52, 60), -1, cv2.LINE_AA)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    outline = np.array(mark) @ spin + np.array((47.5, 47.5)) + lean
    cv2.fillPoly(look, [np.rint(outline * 16).astype(int)], (210, 220, 230), cv2.LINE_AA, 4)
    return look


def test_the_tops_of_thick_pieces_lean_and_their_feet_do_not_count():
    ground, lean = np.full((96, 96, 3), (120, 160, 190), np.float32), (-5.0, -14.0)
    marks = [[(-15, -15), (15, -15), (-15, 9)], [(-18, -5), (12, -9), (16, 4), (-4, 12)]]
    looks = [leaning(mark, turn, lean) for mark in marks for turn in (0.1, 1.7)]
    for top in find_tops(looks, [ground] * 4, 80, np.zeros((4, 2))):
        assert top.round
        assert np.hypot(*np.subtract(top.middle, (47.5 + lean[0], 47.5 + lean[1]))) < 5


def test_the_marks_of_a_drawn_set_differ_however_they_are_turned():
    marks = list(draw_art_set(5).marks.values())
    assert all(unlike(one, other) > 0.4 for i, one in enumerate(marks) for other in marks[i + 1 :])


def test_drawn_pieces_keep_their_wood_from_one_picture_to_the_next_and_no_two_have_the_same():
    studio, middle = ArtStudio(GRAINED), slice((PATCH - FACE) // 2, (PATCH + FACE) // 2)
    shots = studio.enrolled(), studio.enrolled()
    first, again = (patches(rectify(shot.image, shot.corners, BOARD), BOARD) for shot in shots)
    matcher = FaceMatcher([Face(1, look[middle, middle]) for look in first])
    alike = matcher.likeness(again).reshape(8, 2, 8, 2)[np.arange(8), :, np.arange(8)]
    own_or_twin = alike[:, (0, 1), (0, 1)].sum(axis=1) - alike[:, (0, 1), (1, 0)].sum(axis=1)
    assert np.sqrt(np.mean(own_or_twin**2)) > 0.15
