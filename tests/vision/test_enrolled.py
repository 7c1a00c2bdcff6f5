"""Enrolled faces: known again however they lie; and profiles that do not fit are refused in one line."""

from __future__ import annotations

import base64
import json

import cv2
import numpy as np
import pytest

from companion.errors import ProfileError
from companion.profile import EnrolledFace, EnrolledLight, Enrolment, Profile
from companion.readings import ALL_CONTENTS, ANYTHING, EMPTY
from companion.rules import Piece
from companion.vision.enrolled import STATES, EnrolledRecogniser, Look, fingerprint, light_by_head
from companion.vision.faces import FACE, Comparison, Face, FaceMatcher, best_of_content, by_content, by_kind
from companion.vision.light import Agreement, Views
from companion.vision.pieces import CLASSES, COVERED, EMBEDDING, Looked, Recogniser, Tone
from companion.vision.rectify import PATCH

LETTERS = "FRKT"
PIECES = [content for content in ALL_CONTENTS if content is not None]
TRAITS = EMBEDDING + 48 + 3


def face_of(piece):
    """A piece with a letter on it."""
    light = piece.colour.value == "light"
    picture = np.full((FACE, FACE, 3), (200, 215, 225) if light else (40, 50, 70), np.uint8)
    letter = LETTERS[PIECES.index(piece) % 4]
    cv2.putText(picture, letter, (8, 25), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (30,) * 3 if light else (230,) * 3, 2, 16)
    return Face(ALL_CONTENTS.index(piece), cv2.GaussianBlur(picture, (0, 0), 0.7))


def patch_with(face, turn=0.0, at=(0.0, 0.0), light=1.0):
    """A patch of a wooden square on which the face lies."""
    motion = cv2.getRotationMatrix2D(((FACE - 1) / 2, (FACE - 1) / 2), turn, 1.0)
    motion[:, 2] += np.array(at) * 40 + (PATCH - FACE) / 2
    patch = np.full((PATCH, PATCH, 3), (110, 150, 180), np.float32)
    mask = cv2.warpAffine(np.ones((FACE, FACE), np.float32), motion, (PATCH, PATCH))[..., None]
    patch += mask * (cv2.warpAffine(face.picture.astype(np.float32), motion, (PATCH, PATCH)) - patch)
    slope = np.linspace(1, light, PATCH)[:, None, None]
    return np.clip(patch * slope + np.random.default_rng(0).normal(0, 3, patch.shape), 0, 255).astype(np.uint8)


FACES = [face_of(piece) for piece in PIECES]


@pytest.fixture(scope="module")
def matcher():
    return FaceMatcher(FACES)


@pytest.mark.parametrize("piece", PIECES, ids=str)
@pytest.mark.parametrize(
    ("turn", "at", "light"),
    [
        (0, (0, 0), 1.0),
        (90, (0.1, -0.2), 0.6),
        (194, (-0.1, 0.1), 1.0),
        (-80, (0, -0.3), 0.4),
        (6, (0.38, -0.1), 1.0),
        (0, (0.15, 0.18), 1.0),
        (0, (-0.1, -0.45), 1.0),
    ],
)
def test_a_face_is_known_again_turned_shifted_and_in_slanting_light(matcher, piece, turn, at, light):
    face = FACES[PIECES.index(piece)]
    alike = best_of_content(matcher.likeness(patch_with(face, turn, at, light)[None]), matcher.contents)
    assert int(alike[0].argmax()) == face.content
    assert alike[0].max() > 0.8


def painted(piece, top, ink):
    """The face of a piece in other colours, BGR."""
    shape = FACES[PIECES.index(piece)].picture[:, :, 1].astype(np.float32)
    share = ((shape - shape.min()) / np.ptp(shape))[..., None]
    share = share if piece.colour.value == "light" else 1 - share
    return Face(ALL_CONTENTS.index(piece), (ink + share * (np.array(top) - ink)).astype(np.uint8))


@pytest.mark.parametrize("piece", PIECES[:4], ids=str)
def test_a_mark_is_known_again_where_channels_burnt_out_at_enrolment(piece):
    burnt = [painted(one, top=(255, 255, 130), ink=(200, 170, 190)) for one in PIECES[:4]]
    seen = painted(piece, top=(215, 130, 70), ink=(75, 50, 40))
    alike = FaceMatcher(burnt).likeness(patch_with(seen, turn=90, at=(0.1, -0.1))[None])
    explained = best_of_content(by_content(alike), np.array([face.content for face in burnt]))[0, 1:5]
    assert int(explained.argmax()) == PIECES.index(piece)
    assert np.sort(explained)[-2] < -0.3


@pytest.mark.parametrize("piece", PIECES, ids=str)
@pytest.mark.parametrize(("turn", "at"), [(0, (0, 0)), (90, (0.1, -0.2)), (-86, (0, -0.3))])
def test_the_colours_of_a_mark_and_of_what_is_beside_it_are_those_that_the_piece_has_now(matcher, piece, turn, at):
    face = PIECES.index(piece)
    seen = matcher.compare(patch_with(painted(piece, top=(150, 130, 70), ink=(40, 200, 180)), turn, at)[None])
    now = seen.marks[0, face], seen.beside[0, face]
    top, ink = (200, 215, 225), (30, 30, 30)
    known = (ink, top) if piece.colour.value == "light" else ((230, 230, 230), (40, 50, 70))
    for colours, (mark, beside) in (
        (now, ((40, 200, 180), (150, 130, 70))),
        ((matcher.marks[face], matcher.beside[face]), known),
    ):
        assert np.dot(np.subtract(*colours), np.subtract(mark, beside)) > 0
        assert np.abs(np.subtract(colours[1], beside)).max() < 0.3 * np.abs(np.subtract(mark, beside)).max()


@pytest.mark.parametrize("piece", PIECES[::3], ids=str)
def test_a_dimmer_light_with_a_veil_is_what_a_piece_says_it_lies_in(matcher, piece):
    face = FACES[PIECES.index(piece)]
    veiled = Face(face.content, (40 + 0.5 * face.picture).astype(np.uint8))
    table = np.full((PATCH, PATCH, 3), (110, 150, 180), np.uint8)
    views = Views.of(matcher, matcher.compare(np.stack([patch_with(veiled, turn=90), table])))
    lamp, colour = np.zeros(views.ways.shape[-1]), int(piece.colour.value == "dark")
    lamp[[0, 4]] = -0.5, 0.4
    assert views.pieces[0, colour] == pytest.approx(views.ways[0, colour] @ lamp, abs=0.12)
    assert np.abs(views.pieces[0, 1 - colour] - views.ways[0, 1 - colour] @ lamp).max() > 0.5
    assert views.empty[1] == pytest.approx([1.1, 1.5, 1.8], abs=0.01)


@pytest.mark.parametrize("top", [(0, 0, 0), (200, 200, 200), (255, 255, 255), (30, 200, 255)])
def test_a_blank_face_has_its_colour_at_and_beside_its_mark(top):
    blank = FaceMatcher([Face(content, np.full((FACE, FACE, 3), top, np.uint8)) for content in (1, 5)])
    seen = blank.compare(np.full((1, PATCH, PATCH, 3), top, np.uint8))
    for colours in (blank.marks, blank.beside, seen.marks[0], seen.beside[0]):
        assert colours == pytest.approx(np.full((2, 3), top), abs=1)


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_blank_thing_is_like_no_face(matcher, level):
    assert matcher.likeness(np.full((1, PATCH, PATCH, 3), level, np.uint8)).max() < 0.3


@pytest.mark.parametrize("ground", [0, 100, 200])
def test_things_that_are_burnt_out_all_over_can_be_compared(matcher, ground):
    patches = np.full((14, PATCH, PATCH, 3), ground, np.uint8)
    for radius, patch in enumerate(patches, 12):
        cv2.circle(patch, (36, 36), radius, (255,) * 3, -1)
    assert np.isfinite(matcher.likeness(patches)).all()


@pytest.mark.parametrize("turn", [0, 90, 6, 3])
def test_thin_marks_are_told_apart_however_they_lie(turn):
    lines = {1: (16, 9, 23), 2: (16, 9)}
    faces = []
    for content, rows in lines.items():
        picture = np.full((FACE, FACE, 3), (180, 190, 200), np.uint8)
        picture[9:25, 10:12] = 40
        for row in rows:
            picture[row : row + 2, 10:22] = 40
        faces.append(Face(content, picture))
    for i, face in enumerate(faces):
        seen = FaceMatcher(faces).likeness(patch_with(face, turn)[None])
        assert seen.max() < 0.999
        assert by_content(seen)[0, 1 - i] < -0.3


def test_what_explains_twice_as_little_is_log_two_behind():
    worth = by_content(np.array([[np.sqrt(0.75), np.sqrt(0.5)]], np.float32))
    assert worth[0] == pytest.approx([0, -np.log(2)], abs=1e-4)


@pytest.mark.parametrize("say", [0, 0.5, 1])
def test_the_marks_of_the_other_colour_tell_the_kind_as_far_as_they_may(say):
    alike = np.array([[-1, *np.sqrt([0.5, 0.5, 0, 0]), *np.sqrt([0.75, 0.5, 0, 0])]], np.float32)
    told = by_kind(by_content(alike), say)[0]
    assert told[1] - told[2] == pytest.approx(say * np.log(2) / (1 + say), abs=1e-4)
    assert told[5] - told[6] == pytest.approx(np.log(2) / (1 + say), abs=1e-4)
    assert told[5] - told[7] == pytest.approx((np.log(4) + say * np.log(2)) / (1 + say), abs=1e-4)


def enrolment(**changed):
    """What `calibrate enrol` would write, with weights that call everything a light piece."""
    weights = np.zeros((STATES, TRAITS + 1), "<f4")
    weights[1, -1] = 20
    told = {
        "backbone": fingerprint(),
        "faces": tuple(
            EnrolledFace(piece=str(ALL_CONTENTS[face.content]), picture=png(face.picture)) for face in FACES
        ),
        "weights": base64.b64encode(weights.tobytes()).decode(),
        "margin": 0.2,
        "least_alike": 0.35,
    }
    return Enrolment(**{**told, **changed})


def light_with(spread=0.01, above=0.0, features=6):
    """What squares agree about; `above` the diagonal makes it no covariance."""
    covariance = spread * np.eye(features)
    covariance[0, 1] = above
    return EnrolledLight(
        spread=tuple(covariance.ravel()), empty=(1.5,) * 3, empty_spread=tuple(0.01 * np.eye(3).ravel()), trust=1.0
    )


def png(picture):
    return base64.b64encode(cv2.imencode(".png", picture)[1].tobytes()).decode()


@pytest.fixture(scope="module")
def recogniser():
    return EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment()))


def test_the_kind_is_told_by_the_face(recogniser):
    cut = np.stack([patch_with(face, turn=8) for face in FACES[:4]])
    assert [ALL_CONTENTS[seen.bit_length() - 1] for seen in recogniser.contents(recogniser.recognise(cut))] == PIECES[
        :4
    ]


def test_a_piece_that_is_like_no_face_may_be_anything(recogniser):
    probabilities = recogniser.recognise(np.full((2, PATCH, PATCH, 3), 90, np.uint8))
    assert recogniser.contents(probabilities) == (ANYTHING, ANYTHING)
    assert (probabilities[:, COVERED] > 0.5).all()


def seen_as(*, empty=0.0, light=0.0, dark=0.0, covered=0.0, worth, alike=0.9, embedding=0.0):
    """A row of `EnrolledRecogniser.embed`; `worth` by content, -2 for those it does not name."""
    explained = np.array([worth.get(face.content, -2.0) for face in FACES])
    likeness = np.sqrt(np.maximum(0, 1 - (1 - alike**2) * np.exp(-explained)))
    blank = np.zeros((1, len(FACES), 3), np.float32)
    compared = Comparison(likeness[None], blank, blank, np.zeros((1, 3)))
    states = np.array([[empty, light, dark, covered]])
    return np.concatenate([states, compared.rows(), np.full((1, EMBEDDING), embedding)], axis=1, dtype=np.float32)


@pytest.mark.parametrize(("worse", "kept"), [(0.15, True), (0.178, True), (0.188, False), (0.3, False)])
def test_faces_that_explain_a_patch_nearly_alike_are_kept(recogniser, worse, kept):
    [seen] = recogniser.contents(recogniser.judge(seen_as(light=1, worth={1: 0, 3: -worse})))
    assert seen == 1 << 1 | kept << 3


def test_a_photograph_may_rule_out_more_than_a_look_at_a_video(recogniser):
    probabilities = np.array([[0.01, 0.99, *[0] * 8]], np.float32)
    once, photograph = (recogniser.contents(probabilities, look) for look in (Looked.ONCE, Looked.PHOTOGRAPH))
    assert (once, photograph) == ((0b11,), (0b10,))


def test_where_both_colours_bear_the_same_marks_either_colours_faces_tell_the_kind():
    known = EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(others_say=1)))
    [seen] = known.contents(known.judge(seen_as(light=1, worth={1: 0, 3: -0.05, 5: -0.9, 7: -0.2})))
    assert seen == 1 << 3


def test_a_face_of_the_other_colour_than_the_network_sees_leaves_everything_open(recogniser):
    surely_light = seen_as(light=0.95, dark=0.05, worth={1: -0.7, 5: 0})
    assert recogniser.contents(recogniser.judge(surely_light)) == (ANYTHING,)


@pytest.mark.parametrize(("alike", "seen"), [(0.9, 1 << 1 | 1 << 5), (0.8, ANYTHING)])
def test_a_face_that_fits_as_no_face_of_the_other_colour_could_is_believed_as_well_as_the_network(
    recogniser, alike, seen
):
    surely_light = seen_as(light=0.95, dark=0.05, worth={1: -1.5, 5: 0}, alike=alike)
    assert recogniser.contents(recogniser.judge(surely_light)) == (seen,)


def test_where_the_marks_of_both_colours_are_alike_they_do_not_tell_the_colour():
    blind = EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(colour_margin=20.0)))
    surely_light = seen_as(light=0.9999, dark=0.0001, worth={1: -0.01, 5: 0})
    [seen] = blind.judge(surely_light)
    assert seen[1] > 0.95  # how sure exactly depends on the network's head, which is trained again at times


def test_where_the_network_is_not_sure_of_the_colour_the_face_tells_it(recogniser):
    perhaps_light = seen_as(light=0.1, dark=0.9, worth={5: 0})
    assert recogniser.contents(recogniser.judge(perhaps_light)) == (1 << 5,)


def test_a_piece_that_is_hardly_like_any_face_may_be_of_any_kind(recogniser):
    kinds = [recogniser.judge(seen_as(light=1, worth={1: 0, 3: -0.25}, alike=alike))[0] for alike in (0.9, 0.45)]
    assert [bool(seen[3] >= 1e-3) for seen in kinds] == [False, True]


@pytest.mark.parametrize(("lamp", "at_odds"), [(0.0, True), (2.0, True), (5.0, False), (-5.0, False)])
def test_where_the_light_decides_faces_and_weights_are_not_at_odds(recogniser, lamp, at_odds):
    told = np.array([[0, 0.95, 0.05, 0]], np.float32)
    explained = np.array([[-2, -0.7, -2, -2, -2, 0, -2, -2, -2]], np.float32)
    said = recogniser._at_odds(told, explained, np.array([0.9]), np.array([lamp]))
    assert said.tolist() == [at_odds]


def white_letter_on(colour, content):
    """A face whose mark is the same on light and dark pieces."""
    picture = np.full((FACE, FACE, 3), colour, np.uint8)
    cv2.putText(picture, LETTERS[(content - 1) % 4], (8, 25), cv2.FONT_HERSHEY_SIMPLEX, 0.8, (230,) * 3, 2, 16)
    return Face(content, cv2.GaussianBlur(picture, (0, 0), 0.7))


@pytest.mark.parametrize("lamp", [1.0, 0.55])
def test_one_lamp_for_all_squares_tells_colours_that_neither_network_nor_marks_tell(lamp):
    faces = [white_letter_on((90, 130, 160) if content < 5 else (60, 80, 100), content) for content in range(1, 9)]
    undecided = np.zeros((STATES, TRAITS + 1), "<f4")
    undecided[1:3, -1] = 20
    told = {
        "faces": tuple(EnrolledFace(piece=str(ALL_CONTENTS[f.content]), picture=png(f.picture)) for f in faces),
        "weights": base64.b64encode(undecided.tobytes()).decode(),
        "colour_margin": 2.0,
    }
    table = np.full((PATCH, PATCH, 3), (110, 150, 180), np.uint8)
    lit = [(patch * lamp).astype(np.uint8) for patch in (*map(patch_with, faces), *[table] * 8)]
    agreed = EnrolledLight(
        spread=tuple(0.02 * np.eye(6).ravel()),
        empty=tuple(table[0, 0] / 100),
        trust=1.0,
        empty_spread=tuple(0.02 * np.eye(3).ravel()),
    )
    knows, asks = (
        EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(**told, light=light))) for light in (agreed, None)
    )
    truth = [1 << face.content for face in faces]
    assert list(knows.contents(knows.recognise(np.stack(lit))))[:8] == truth
    assert all(seen.bit_count() > 1 for seen in asks.contents(asks.recognise(np.stack(lit)))[:8])


@pytest.fixture(scope="module")
def embeddings():
    """Of a board: every other square bears a piece, the last one none."""
    bare = np.full((PATCH, PATCH, 3), (110, 150, 180), np.uint8)
    cv2.rectangle(bare, (16, 16), (55, 55), (60, 90, 110))
    board = np.stack([patch_with(FACES[1]), bare] * 4)
    return Recogniser.bundled().embed(board, Tone.of(board))


def on_board(row, embeddings):
    """The same row for all squares, but for the embeddings."""
    rows = np.repeat(row, len(embeddings), axis=0)
    rows[:, -EMBEDDING:] = embeddings
    return rows


def test_whether_there_is_a_piece_the_head_is_asked_as_well(recogniser, embeddings):
    undecided = on_board(seen_as(empty=0.5, light=0.5, worth={2: 0}), embeddings)
    piece, bare = recogniser.judge(undecided)[-2:]
    assert min(piece[2], bare[0]) > 0.9


@pytest.mark.parametrize("heard", [0.0, 0.5, 1.0])
def test_what_the_head_says_of_colours_counts_as_far_as_it_is_heard(embeddings, heard):
    knows = EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(colours_heard=heard)))
    perhaps_light = on_board(seen_as(light=0.4, dark=0.6, worth={2: 0, 6: 0}), embeddings)
    piece = knows.judge(perhaps_light)[-2]
    by_head = light_by_head(Recogniser.bundled().judge(embeddings))[-2]
    assert by_head > 2
    assert np.log(piece[2] / piece[6]) == pytest.approx(np.log(0.4 / 0.6) + heard * by_head, abs=0.02)


@pytest.mark.parametrize(("light", "dark"), [(0.5, 0.5), (0.003, 0.997)])
def test_the_head_does_not_outvote_marks_and_light_together(monkeypatch, light, dark):
    knows = EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(colours_heard=1.0, light=light_with())))
    wrong = np.full((1, CLASSES), 1e-12, np.float32)
    wrong[0, 7] = 1
    monkeypatch.setattr(Recogniser, "judge", lambda self, embeddings: np.repeat(wrong, len(embeddings), axis=0))
    monkeypatch.setattr(Agreement, "colours", in_light)
    [seen] = knows.contents(knows.judge(seen_as(light=light, dark=dark, worth={2: 0, 6: -1.5}, alike=0.97)))
    assert seen & 1 << 2


def in_light(agreement, views, states):
    """The shares when the light says that all pieces are light, as surely as it may."""
    shares = states[:, 1:3] * np.exp([4.5, -4.5])
    return shares / shares.sum(axis=1, keepdims=True), np.full(len(states), 9.0)


@pytest.mark.parametrize(("alike", "odds"), [(0.73, 1.5), (0.67, -1.5), (0.95, 11.0), (0.57, -5.0)])
def test_likeness_to_the_faces_tells_whether_there_is_a_piece(alike, odds):
    knows = EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(as_likely=0.7, likelier=50)))
    seen, in_doubt = (seen_as(empty=0.5, light=0.5, worth={2: 0}, alike=each) for each in (alike, 0.7))
    now, before = (probabilities[0, 2] / probabilities[0, 0] for probabilities in map(knows.judge, (seen, in_doubt)))
    assert np.log(now / before) == pytest.approx(odds, abs=0.1)


def test_being_unlike_the_faces_does_not_settle_what_weights_and_head_contradict_each_other_about(embeddings):
    knows = EnrolledRecogniser(Recogniser.bundled(), Look.of(enrolment(as_likely=0.7, likelier=50)))
    burnt_out = on_board(seen_as(light=1.0, worth={2: 0}, alike=0.5), embeddings)
    said = knows.contents(knows.judge(burnt_out))[-1]
    assert said & EMPTY
    assert said & 1 << 2


def test_what_the_head_sees_as_a_piece_is_not_covered_because_the_weights_suspect_it(recogniser, embeddings):
    suspected = on_board(seen_as(light=0.2, covered=0.8, worth={2: 0}), embeddings)
    assert recogniser.contents(recogniser.judge(suspected))[-2] == 1 << 2


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"backbone": "0" * 16}, "another version of the recogniser: enrol it again"),
        ({"weights": base64.b64encode(b"12345").decode()}, "damaged: enrol the set again"),
        ({"weights": base64.b64encode(np.full(464, np.nan, "<f4").tobytes()).decode()}, "damaged: enrol"),
        ({"weights": base64.b64encode(np.zeros(STATES * 100, "<f4").tobytes()).decode()}, "damaged: enrol the set"),
        ({"faces": (EnrolledFace(piece="dark pusher", picture="AAAA"),) * 8}, "damaged: enrol the set again"),
        ({"faces": (enrolment().faces[0],) * 8}, "damaged: enrol the set again"),
        ({"faces": (*enrolment().faces[:6], *enrolment().faces[:2])}, "damaged: enrol the set again"),
        ({"light": light_with(spread=1e300)}, "damaged: enrol the set again"),
        ({"light": light_with(above=0.5)}, "damaged: enrol the set again"),
        ({"light": light_with(features=4)}, "damaged: enrol the set again"),
        ({"light": light_with(features=4), "backbone": "0" * 16}, "another version of the recogniser: enrol it again"),
    ],
    ids=[
        "network",
        "weights",
        "no numbers",
        "not all of them",
        "faces",
        "one colour",
        "missing",
        "enormous",
        "askew",
        "too few",
        "of before",
    ],
)
def test_an_enrolment_that_does_not_fit_is_refused_in_one_line(changed, says):
    with pytest.raises(ProfileError, match=says):
        Look.of(enrolment(**changed))


def test_an_enrolment_goes_through_the_file(tmp_path):
    profile = Profile(name="runes", enrolment=enrolment())
    profile.write(tmp_path / "p.json")
    assert Profile.read(tmp_path / "p.json") == profile


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("weights", "not base 64!"),
        ("margin", -1),
        ("margin", "NaN"),
        ("colour_margin", 0),
        ("version", 2),
        ("faces", []),
    ],
)
def test_a_bad_field_of_an_enrolment_is_named(tmp_path, field, value):
    told = Profile(enrolment=enrolment()).model_dump(mode="json")
    told["enrolment"][field] = value
    (tmp_path / "p.json").write_text(json.dumps(told))
    with pytest.raises(ProfileError, match=f"bad field 'enrolment.{field}"):
        Profile.read(tmp_path / "p.json")


def test_every_piece_has_its_face_in_the_sample():
    assert {face.content for face in FACES} == {ALL_CONTENTS.index(Piece.parse(str(piece))) for piece in PIECES}
