"""Cards are enrolled from one picture each; pictures that nothing can be learnt from are refused in one line."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.cards import cut_out
from calibration.enrolment import EnrolmentError
from companion.__main__ import main
from companion.camera.green_box import card_face
from companion.profile import EnrolledFace, Enrolment, Profile
from companion.rules import Kind, Layout
from companion.vision.cards import CardArt
from companion.vision.pose import BoardPose
from companion.vision.sheets import CARD, RIM, Sheet


def picture(*kinds, ground=(40, 60, 50), turn=0.0, light=1.0):
    """Cards side by side on a plain ground."""
    faces = [cv2.copyMakeBorder(card_face(kind), 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=ground) for kind in kinds]
    row = np.hstack(faces) if faces else np.full((340, 280, 3), ground, np.uint8)
    height, width = row.shape[:2]
    lay = cv2.getRotationMatrix2D((width / 2, height / 2), turn, 1.0)
    turned = cv2.warpAffine(row, lay, (width, height), borderValue=ground)
    return np.clip(turned * light, 0, 255).astype(np.uint8)


@pytest.fixture
def enrol(tmp_path):
    def run(*cards, options=()):
        """Enrol these pictures as these kinds; the outcome, and the profile if it was written."""
        arguments = [*options]
        for number, (kind, image) in enumerate(cards):
            path = tmp_path / f"{number}.png"
            cv2.imwrite(str(path), image)
            arguments += ["--card", f"{kind}={path}"]
        result = CliRunner().invoke(main, ["calibrate", "enrol", *arguments, "-o", str(tmp_path / "box.json")])
        return result, tmp_path / "box.json"

    return run


def test_four_cards_are_learnt_and_known_again_in_other_light(enrol):
    result, path = enrol(*((kind, picture(kind)) for kind in Kind))
    assert result.exit_code == 0, result.output
    assert "knows the cards: straight, diagonal, pusher, puller." in result.output
    profile = Profile.read(path)
    assert profile.variant == "green-box"
    assert path.stat().st_size < 100_000
    art, sure = CardArt.of(profile.cards), 0
    for number, kind in enumerate(Kind):
        card = cv2.resize(card_face(kind), CARD, interpolation=cv2.INTER_AREA)
        seen = cv2.copyMakeBorder(card, RIM, RIM, RIM, RIM, cv2.BORDER_CONSTANT, value=(90, 80, 70)) * 0.6 + 20
        for view in (seen, seen[::-1, ::-1]):
            said = art.kinds_among([Sheet(0, 0, *CARD, 0)], view.astype(np.uint8)[None])[0]
            assert said >> number & 1
            sure += said.bit_count() == 1
    assert sure >= 6


def test_a_card_that_is_enrolled_again_leaves_the_others_known(enrol):
    _, path = enrol((Kind.STRAIGHT, picture(Kind.STRAIGHT)), (Kind.PULLER, picture(Kind.PULLER)))
    before = {card.kind: card for card in Profile.read(path).cards}
    result, _ = enrol((Kind.PULLER, picture(Kind.PULLER, light=0.8)), options=("--profile", str(path)))
    assert result.exit_code == 0, result.output
    after = {card.kind: card for card in Profile.read(path).cards}
    assert set(after) == {"straight", "puller"}
    assert after["straight"] == before["straight"]
    assert after["puller"] != before["puller"]


def test_cards_do_not_make_a_green_box_of_pieces_with_marks(enrol, tmp_path):
    wooden = tmp_path / "wooden.json"
    faces = (EnrolledFace(piece="light straight", picture=""),) * 8
    Profile(enrolment=Enrolment(backbone="", faces=faces, weights="", margin=1.0, least_alike=0.3)).write(wooden)
    known = Profile.read(wooden)
    result, path = enrol((Kind.STRAIGHT, picture(Kind.STRAIGHT)), options=("--profile", str(wooden)))
    assert result.exit_code == 1
    assert "this profile knows pieces with marks" in result.output
    assert not path.exists()
    assert Profile.read(wooden) == known


def test_a_card_that_looks_like_one_that_is_known_is_refused(enrol):
    _, path = enrol((Kind.STRAIGHT, picture(Kind.STRAIGHT)))
    known = Profile.read(path)
    result, _ = enrol((Kind.DIAGONAL, picture(Kind.STRAIGHT)), options=("--profile", str(path)))
    assert result.exit_code == 1
    assert "the cards of diagonal and straight look alike" in result.output
    assert Profile.read(path) == known


EXCHANGED = [(Kind.STRAIGHT, picture(Kind.PULLER)), (Kind.PULLER, picture(Kind.STRAIGHT))]


def test_plain_cards_under_the_wrong_kinds_are_refused_with_what_they_look_like(enrol):
    result, path = enrol(*EXCHANGED, *((kind, picture(kind)) for kind in (Kind.DIAGONAL, Kind.PUSHER)))
    assert result.exit_code == 1
    said = str(result.output)
    assert re.search(r"the card of straight in \S*0\.png looks like that of puller, the card of puller in", said)
    assert re.search(r"1\.png looks like that of straight: .*, add --anyway", said)
    assert not path.exists()


def test_who_wants_plain_cards_under_other_kinds_has_them(enrol):
    result, path = enrol(*EXCHANGED, options=("--anyway",))
    assert (result.exit_code, "looks like" in result.output) == (0, False)
    assert [card.kind for card in Profile.read(path).cards] == ["straight", "puller"]


def test_a_card_that_alone_looks_like_another_kind_is_learnt_and_told(enrol):
    result, path = enrol(EXCHANGED[0])
    assert result.exit_code == 0
    assert re.search(r"Yet the card of straight in \S*0\.png looks like that of puller\.", result.output)
    known = Profile.read(path)
    result, _ = enrol(EXCHANGED[1], options=("--profile", str(path)))
    assert result.exit_code == 1
    assert re.search(r"the card of puller in \S*0\.png looks like that of straight: ", result.output)
    assert Profile.read(path) == known


def test_the_board_that_is_said_is_kept(enrol):
    _, path = enrol((Kind.STRAIGHT, picture(Kind.STRAIGHT)), options=("--layout", "ring"))
    assert Layout.parse(Profile.read(path).layout) == Layout.parse("ring")


def test_a_board_is_no_card():
    board = cv2.copyMakeBorder(card_face(Kind.PULLER), 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=(40, 60, 50))
    height, width = board.shape[:2]
    corners = ((55, height - 55), (width - 55, height - 55), (width - 55, 55), (55, 55))
    pose = BoardPose(tuple((float(x), float(y)) for x, y in corners), 1.0)
    with pytest.raises(EnrolmentError, match="no card is found in it"):
        cut_out("it", board, pose, Layout.parse("4x4"))
    assert cut_out("it", board, None, Layout.parse("4x4")) is not None


def test_corners_that_do_not_fit_are_told_where_they_are_of_no_other_picture(enrol):
    far = ["--corners", "10,9400 500,9400 500,9000 10,9000"]
    result, path = enrol((Kind.STRAIGHT, picture(Kind.STRAIGHT)), options=far)
    assert result.exit_code == 1
    assert "0.png: the corners 10,9400 500,9400 500,9000 10,9000 lie far outside the picture" in result.output
    assert not path.exists()


def test_cards_that_were_not_given_are_named(enrol):
    result, _ = enrol((Kind.STRAIGHT, picture(Kind.STRAIGHT, turn=4)))
    assert result.exit_code == 0, result.output
    assert "diagonal, pusher, puller: read as plain drawings." in result.output


def bare_wood() -> np.ndarray:
    """A table with its grain, and nothing on it."""
    grain = np.random.default_rng(0).normal(0, 10, (384, 17)).astype(np.float32)
    grown = cv2.resize(grain, (1024, 768), interpolation=cv2.INTER_CUBIC)[..., None]
    return (np.array([70, 95, 120]) + grown).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("cards", "says"),
    [
        ([(Kind.STRAIGHT, picture())], "no card is found in"),
        ([(Kind.STRAIGHT, bare_wood())], "no card is found in"),
        ([(Kind.STRAIGHT, picture(Kind.STRAIGHT, Kind.PULLER))], "shows 2 things that may be the card"),
        (
            [(Kind.STRAIGHT, picture(Kind.PULLER)), (Kind.PULLER, picture(Kind.PULLER, light=0.9))],
            "the cards of straight and puller look alike",
        ),
    ],
)
def test_pictures_that_teach_nothing_are_refused_in_one_line(enrol, cards, says):
    result, path = enrol(*cards)
    said = result.output + str(result.exception)
    assert result.exit_code != 0
    assert says in said
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--card", "hammer=x.png"], "is not KIND=PICTURE with one of straight, diagonal, pusher, puller"),
        (["--card", "straight"], "is not KIND=PICTURE"),
        (["--card", "straight=a.png", "--card", "straight=b.png"], "the card of straight is given twice; one picture"),
        (["--empty", "e.png"], "--empty and --pieces go together"),
        (["--card", "pusher=c.png", "--light-is-darker"], "--light-is-darker is about pieces: give --empty"),
        (["--card", "pusher=c.png", "--variant", "standard"], "cards belong to the Green Box"),
        (
            ["--empty", "e.png", "--pieces", "p.png", "--variant", "green-box", "--light-is-darker"],
            "--light-is-darker is about pieces with marks",
        ),
        (["--card", "pusher=c.png", "--name", "caf\udce9"], "is no text in UTF-8"),
        ([], "give --empty and --pieces, or --card for each kind"),
    ],
)
def test_wrong_usage_is_told(tmp_path, arguments, says):
    result = CliRunner().invoke(main, ["calibrate", "enrol", *arguments, "-o", str(tmp_path / "box.json")])
    assert result.exit_code == 2
    assert says in " ".join(result.output.split())
