"""Cards beside the board: plain symbols are read out of the box, and what is no such card is never taken for one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training.cards import NONE, StripDrawer, lessons
from calibration.training.symbols import draw_other, draw_symbol
from companion.camera.green_box import card_face
from companion.errors import ProfileError
from companion.profile import EnrolledCard, LensModel
from companion.rules import Kind, Layout
from companion.vision.cards import ANY, CardReader, CardRule, card_picture
from companion.vision.lens import Lens
from companion.vision.pose import BoardPose
from companion.vision.sheets import PICTURE, Sheet, beside, sheets
from tests.vision.drawn_lens import photograph, thrown

LAYOUT = Layout.parse("4x4")
POSE = BoardPose(((440.0, 560.0), (840.0, 560.0), (840.0, 160.0), (440.0, 160.0)), 1.0)


@pytest.fixture(scope="module")
def reader():
    return CardReader.bundled()


def table(*cards, turn=0.0):
    """A photograph from above, 100 pixels to a square, with cards at these places."""
    image = np.full((720, 1280, 3), (70, 90, 110), np.uint8)
    cv2.rectangle(image, (440, 160), (840, 560), (60, 55, 50), -1)
    for face, x, y in cards:
        card = cv2.resize(face, (140, 200), interpolation=cv2.INTER_AREA)
        lay = cv2.getRotationMatrix2D((69.5, 99.5), turn, 1.0)
        lay[:, 2] += (x - 69.5, y - 99.5)
        mask = cv2.warpAffine(np.full(card.shape[:2], 255, np.uint8), lay, (1280, 720))
        image[mask > 0] = cv2.warpAffine(card, lay, (1280, 720))[mask > 0]
    noise = np.random.default_rng(1).normal(0, 2, image.shape)
    return np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + noise, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("turn", [0, 9, 178, 90])
def test_a_plain_card_is_read_on_its_own_side(reader, kind, turn):
    image = table((card_face(kind), 270, 350), turn=turn)
    left, right = beside(LAYOUT)
    assert reader.read(image, POSE, LAYOUT, left).kinds == {kind}
    assert reader.read(image, POSE, LAYOUT, right) is None


@pytest.mark.parametrize(
    ("moved", "turn", "same"), [(0.0, 0.0, True), (0.6, 0.5, True), (12.0, 0.0, False), (0.0, 8.0, False)]
)
def test_a_card_lies_as_it_did_but_for_the_light_and_a_nudge(reader, moved, turn, same):
    """A square is 100 pixels large."""
    strip = beside(LAYOUT)[0]
    before = reader.read(table((card_face(Kind.PULLER), 270, 350)), POSE, LAYOUT, strip)
    dimmed = table((card_face(Kind.PULLER), 270 + moved, 350 - moved), turn=turn) * 0.9
    now = reader.read(dimmed.astype(np.uint8), POSE, LAYOUT, strip)
    assert now.lies_as(before) is same


def test_another_card_in_the_same_place_does_not_lie_as_it_did(reader):
    one, other = (
        reader.read(table((card_face(kind), 270, 350)), POSE, LAYOUT, beside(LAYOUT)[0])
        for kind in (Kind.PULLER, Kind.PUSHER)
    )
    assert not one.lies_as(other)


@pytest.mark.parametrize(("x", "y"), [(270, 350), (1000, 300), (640, 80), (640, 640)])
def test_on_a_photograph_the_card_may_lie_on_any_side(reader, x, y):
    image = table((card_face(Kind.PULLER), x, y), turn=90 if x == 640 else 0)
    assert reader.read_around(image, POSE, LAYOUT) == {Kind.PULLER}


def test_a_card_that_a_wide_lens_shows_beyond_where_an_upright_picture_would_end_is_read():
    size, focal = (1280, 720), 700.0
    wide = LensModel(size=size, focal=(focal, focal), centre=(640, 360), distortion=(-0.25, 0.06, 0, 0, 0), error=0.1)
    to_table = np.array([[focal, 0, 640], [0, focal, 360], [0, 0, 1]])
    image = photograph(table((card_face(Kind.PULLER), 1040, 350)), to_table, wide)
    lens = Lens(wide)
    seen = thrown((POSE.points() - (640, 360)) / focal, wide)
    pose = POSE.moved(lens.straightened(seen, size))
    assert CardReader.bundled(optics=lens).read_around(image, pose, LAYOUT) == {Kind.PULLER}


def test_the_picture_of_a_card_that_is_missing_from_a_profile_is_told():
    with pytest.raises(ProfileError, match="enrolled straight card in this profile is damaged"):
        card_picture(EnrolledCard(kind="straight", picture=""))


def test_two_cards_that_differ_may_be_either(reader):
    image = table((card_face(Kind.PULLER), 270, 350), (card_face(Kind.STRAIGHT), 1000, 350))
    assert reader.read_around(image, POSE, LAYOUT) == {Kind.PULLER, Kind.STRAIGHT}


def test_a_table_without_a_card_shows_none(reader):
    assert reader.read_around(table(), POSE, LAYOUT) is None


@pytest.mark.parametrize(
    ("row", "kinds"),
    [
        ((0.999, 0.001, 0.0, 0.0, 0.0), 0b0001),
        ((0.6, 0.39, 0.0, 0.0, 0.01), 0b0011),
        ((0.5, 0.0, 0.0, 0.0, 0.5), ANY),
    ],
)
def test_what_is_not_clearly_a_card_may_be_any(row, kinds):
    assert CardRule(least=0.005, card=0.95).kinds(np.array(row, np.float32)) == kinds


class Told:
    """A judge that says what it was told to."""

    def __init__(self, *rows):
        self.rows = np.array(rows, np.float32)

    def judge(self, pictures):
        return self.rows[: len(pictures)]


CARD = Sheet(40.0, 100.0, 50.0, 70.0, 0.0)
SURE = (0.0001, 0.9998, 0.0, 0.0, 0.0001)


@pytest.mark.parametrize(
    ("others", "rows", "kinds"),
    [
        ([Sheet(100, 100, 28, 44, 0)], [(0.8, 0.0, 0.0, 0.0, 0.2)], 0b0010),  # two cubes side by side
        ([Sheet(105, 100, 48, 66, 0)], [(0.8, 0.0, 0.0, 0.0, 0.2)], ANY),  # as large as the card
        ([Sheet(40, 100, 30, 44, 0)], [(0.0, 0.97, 0.01, 0.0, 0.02)], 0b0010),  # the frame of its picture
        ([Sheet(44, 104, 74, 98, 0)], [(0.01, 0.94, 0.02, 0.0, 0.03)], 0b0010),  # the pile that it lies on
        (
            [Sheet(95, 100, 50, 70, 0), Sheet(67, 100, 74, 108, 0)],  # another card, and what is around both
            [(0.8, 0.0, 0.0, 0.0, 0.2), (0.3, 0.4, 0.05, 0.05, 0.2)],
            ANY,
        ),
    ],
)
def test_what_lies_in_around_or_beside_a_card_that_is_read(others, rows, kinds):
    view = np.zeros((211, 141, 3), np.uint8)
    reader = CardReader(Told(SURE, *rows), CardRule(least=0.003, card=0.9))
    assert reader.judged([CARD, *others], view)[0] == kinds


def test_no_drawn_strip_is_read_wrongly(reader):
    drawer, wrong = StripDrawer(Fabrics(np.random.default_rng(77), 4)), []
    for number in range(24):
        shot = drawer.draw(np.random.default_rng((77, number)))
        said = reader.judged(sheets(shot.view), shot.view)[0]
        if shot.kind == NONE or shot.hidden > 0.3:
            wrong += [number] if said.bit_count() == 1 else []
        elif said and shot.hidden < 0.05:
            wrong += [] if said >> shot.kind & 1 else [number]
    assert wrong == []


def test_lessons_show_cards_and_what_is_none():
    drawer = StripDrawer(Fabrics(np.random.default_rng(78), 4))
    rng = np.random.default_rng(5)
    told = [lesson for _ in range(6) for lesson in lessons(rng, drawer.draw(rng, kind=2))]
    assert {label for _, label in told} <= {2, NONE}
    assert 2 in {label for _, label in told}
    assert {picture.shape for picture, _ in told} == {(PICTURE[1], PICTURE[0], 3)}


def test_symbols_are_drawn_in_many_ways():
    rng = np.random.default_rng(2)
    for kind in Kind:
        drawn = [draw_symbol(rng, kind) for _ in range(6)]
        assert all(0.01 < mask.mean() < 0.9 for mask in drawn)
        assert len({mask.tobytes() for mask in drawn}) == 6
    assert draw_other(rng).shape == drawn[0].shape
