"""From frames to readings, with eyes that see grey squares: what moves, what is hidden, what is looked at again."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from companion.readings import ALL_CONTENTS, ANYTHING, EMPTY, contents_of
from companion.rules import Layout, Piece, Square
from companion.settling import SETTLE_S
from companion.vision.legible import BLURRED
from companion.vision.lens import Lens
from companion.vision.pieces import Looked
from companion.vision.pose import BoardNotFound, BoardPose
from companion.vision.reader import BoardReader, StillReading, photographed
from companion.vision.rectify import MARGIN, SQUARE, patches
from companion.vision.spares import BESIDE
from companion.vision.video import VideoReader
from tests.vision.drawn_lens import SIZE, STRONG

LAYOUT = Layout.parse("4x4")
SIDE = 4 * SQUARE
CORNERS = ((MARGIN, MARGIN + SIDE), (MARGIN + SIDE, MARGIN + SIDE), (MARGIN + SIDE, MARGIN), (MARGIN, MARGIN))
POSE = BoardPose(tuple((float(x), float(y)) for x, y in CORNERS), 1.0)
PLUS = Piece.parse("light straight")
GREYS = {EMPTY: 120, contents_of([PLUS]): 200, ANYTHING: 40}
B2 = Square.parse("b2")
LINES = 24
"""Between two squares of the board."""


class GreyEyes:
    """A recogniser of squares painted in one of three greys: empty, light straight, covered."""

    sides = 1
    asks_spares = False
    looks_beside = evens_light = False

    def __init__(self) -> None:
        self.looked: list[int] = []

    def embed(self, patches, tone):
        self.looked.append(len(patches))
        return patches[:, 30:42, 30:42].mean(axis=(1, 2, 3), dtype=np.float32)[:, None]

    def judge(self, embeddings):
        probabilities = np.zeros((len(embeddings), len(ALL_CONTENTS) + 1), np.float32)
        for row, grey in zip(probabilities, embeddings[:, 0], strict=True):
            nearest = min(GREYS.values(), key=lambda value: abs(value - grey))
            row[{120: 0, 200: ALL_CONTENTS.index(PLUS), 40: -1}[nearest]] = 1
        return probabilities

    def recognise(self, patches, *, mirror_too=False):
        return self.judge(self.embed(patches, None))

    def contents(self, probabilities, look):
        return tuple(sum(1 << int(i) for i in np.flatnonzero(row[:-1] > 0.5)) for row in probabilities)


class Fixed:
    """A follower of a board that never moves, or is not there."""

    def __init__(self, pose=POSE) -> None:
        self.pose = pose

    def follow(self, image, time):
        return self.pose


def picture(light: float = 1.0, **squares: int) -> np.ndarray:
    image = np.full((SIDE + 2 * MARGIN, SIDE + 2 * MARGIN, 3), 90, np.uint8)
    for square in LAYOUT:
        x, y = MARGIN + square.column * SQUARE, MARGIN + (3 - square.row) * SQUARE
        image[y : y + SQUARE, x : x + SQUARE] = squares.get(str(square), 120)
    return np.clip(image * light, 0, 255).astype(np.uint8)


@pytest.fixture
def eyes() -> GreyEyes:
    return GreyEyes()


@pytest.fixture
def reader(eyes) -> VideoReader:
    return VideoReader(BoardReader(LAYOUT, eyes, lambda image, layout: POSE), Fixed())


def watch(reader, *pictures, step_s=0.1, start=0.0):
    return [reader.read(start + i * step_s, image) for i, image in enumerate(pictures)]


def test_an_empty_board_is_read_as_empty(reader):
    (reading,) = watch(reader, picture())
    assert reading.squares == (EMPTY,) * 16
    assert reading.hidden == 0


def test_a_square_is_hidden_while_something_moves_in_it_and_read_when_it_rests(reader):
    moving, at_rest = watch(reader, picture(), picture(b2=200), picture(b2=200))[1:]
    assert moving.hidden == LAYOUT.mask([B2])
    assert moving.squares[LAYOUT.index(B2)] == ANYTHING
    assert at_rest.hidden == 0
    assert at_rest.squares[LAYOUT.index(B2)] == contents_of([PLUS])


def test_what_is_in_sight_has_not_moved_since_the_board_was_seen_before(reader):
    first, second = watch(reader, picture(), picture(b2=200))
    assert (first.still_since, second.still_since) == (None, 0.0)
    reader._follower.pose = BoardNotFound("covered")
    assert reader.read(0.2, picture()).still_since is None
    reader._follower.pose = POSE
    assert reader.read(0.3, picture()).still_since == 0.1


def test_a_hand_that_rests_hides_its_square(reader):
    reading = watch(reader, *[picture(b2=40)] * 3)[-1]
    assert reading.hidden == LAYOUT.mask([B2])


def test_a_board_at_rest_is_looked_at_once_a_second_a_few_squares_at_a_time(reader, eyes):
    watch(reader, *[picture()] * 40)
    assert sum(eyes.looked) == 4 * 16 + LINES
    assert max(eyes.looked[1:]) <= 7


def test_when_all_has_changed_at_once_all_is_seen_before_anybody_believes_what_was(reader, eyes):
    everything = picture(**{str(square): 200 for square in LAYOUT})
    readings = watch(reader, picture(), *[everything] * 9, step_s=1 / 30)
    assert max(eyes.looked[1:]) <= 4
    last = [i for i, reading in enumerate(readings) if EMPTY in reading.squares][-1]
    assert (last - 1) / 30 < SETTLE_S / 2
    assert readings[-1].squares == (contents_of([PLUS]),) * 16


@pytest.mark.parametrize("fps", [5, 7, 8, 10, 12, 15, 18, 25, 30, 60])
def test_what_was_is_not_believed_while_squares_wait_for_their_turn_however_many_pictures_there_are(reader, fps):
    everything = picture(**{str(square): 200 for square in LAYOUT})
    readings = watch(reader, picture(), *[everything] * fps, step_s=1 / fps)
    stale = [i for i, reading in enumerate(readings) if EMPTY in reading.squares and not reading.hidden]
    assert (stale[-1] - 1) / fps < 0.8 * SETTLE_S
    assert readings[-1].squares == (contents_of([PLUS]),) * 16


@pytest.mark.parametrize(("fps", "most"), [(5, 8), (8, 6), (12, 4), (15, 4), (20, 3), (30, 3)])
def test_no_more_squares_are_looked_at_in_a_picture_than_are_needed_to_see_all_in_time(reader, eyes, fps, most):
    everything = picture(**{str(square): 200 for square in LAYOUT})
    watch(reader, picture(), *[everything] * fps, step_s=1 / fps)
    assert max(eyes.looked[1:]) == most


def test_what_is_told_as_it_was_is_told_as_stale(reader):
    everything = picture(**{str(square): 200 for square in LAYOUT})
    readings = watch(reader, picture(), *[everything] * 9, step_s=1 / 30)
    for reading in readings[1:]:
        was = LAYOUT.mask(square for square, seen in zip(LAYOUT, reading.squares, strict=True) if seen == EMPTY)
        assert reading.stale == was
    assert readings[2].stale
    assert not readings[0].stale


def test_of_few_pictures_a_second_each_is_looked_at_as_a_whole(reader, eyes):
    everything = picture(**{str(square): 200 for square in LAYOUT})
    watch(reader, picture(), everything, everything, step_s=0.5)
    assert eyes.looked == [16, 16]


def test_what_has_changed_most_is_looked_at_first(reader, eyes):
    shaken = {str(square): 128 for square in LAYOUT}
    readings = watch(reader, picture(), *[picture(**shaken | {"b2": 200})] * 3, step_s=1 / 30)
    assert readings[2].squares[LAYOUT.index(B2)] == contents_of([PLUS])


class TwoSidedEyes(GreyEyes):
    """Straight, a light straight may be a diagonal; the mirror is never in doubt."""

    sides = 2

    def contents(self, probabilities, look):
        unsure = PLUS if look is Looked.TWICE else Piece.parse("light diagonal")
        more = contents_of([unsure])
        return tuple(
            seen | more if seen == contents_of([PLUS]) else seen for seen in super().contents(probabilities, look)
        )


def test_a_second_look_in_the_mirror_tells_more_before_anybody_believes_the_first():
    eyes = TwoSidedEyes()
    reader = VideoReader(BoardReader(LAYOUT, eyes, lambda image, layout: POSE), Fixed())
    readings = watch(reader, *[picture()] * 9, *[picture(b2=200)] * 6, step_s=1 / 30)
    seen = [reading.squares[LAYOUT.index(B2)] for reading in readings[10:]]
    assert seen[0] == contents_of([PLUS, Piece.parse("light diagonal")])
    assert seen[2:] == [contents_of([PLUS])] * 3


def test_what_has_changed_is_looked_at_straight_before_anything_is_looked_at_in_the_mirror():
    eyes = TwoSidedEyes()
    reader = VideoReader(BoardReader(LAYOUT, eyes, lambda image, layout: POSE), Fixed())
    watch(reader, picture(), step_s=1 / 30)
    reader.read(1 / 30, picture(b2=200))
    reading = reader.read(2 / 30, picture(b2=200))
    assert reading.squares[LAYOUT.index(B2)] != EMPTY
    assert max(eyes.looked[1:]) <= 4


def test_with_two_sides_a_board_at_rest_is_looked_at_as_often():
    eyes = TwoSidedEyes()
    watch(VideoReader(BoardReader(LAYOUT, eyes, lambda image, layout: POSE), Fixed()), *[picture()] * 60)
    assert 7 * 16 + LINES >= sum(eyes.looked) >= 6 * 16 + LINES


def test_a_board_that_was_lost_is_looked_at_as_a_whole(reader, eyes):
    reader.read(0.0, picture())
    reader._follower.pose = BoardNotFound("covered")
    reader.read(0.1, picture())
    reader._follower.pose = POSE
    reader.read(0.2, picture())
    assert eyes.looked == [16, 16]


def test_only_what_has_changed_and_its_neighbours_are_looked_at_again(reader, eyes):
    watch(reader, *[picture()] * 6)
    assert eyes.looked[0] == 16
    eyes.looked.clear()
    watch(reader, *[picture(a1=200)] * 3, start=0.6)
    assert sum(eyes.looked) <= 8


def across(*corner: int, wide: int, high: int) -> np.ndarray:
    """A bare board, with a piece whose left upper corner is so many pixels from the board's."""
    image = picture()
    left, top = np.array(corner) + MARGIN
    image[top : top + high, left : left + wide] = 200
    return image


BETWEEN_B2_AND_C2 = across(67, 85, wide=26, high=30)
BETWEEN_B2_AND_B3 = across(45, 67, wide=30, high=26)


@pytest.mark.parametrize(
    ("laid", "other"), [(BETWEEN_B2_AND_C2, "c2"), (BETWEEN_B2_AND_B3, "b3")], ids=["beside", "above"]
)
@pytest.mark.parametrize("step_s", [1 / 30, 0.2])
def test_two_squares_are_hidden_while_a_piece_lies_across_the_line_between_them(reader, laid, other, step_s):
    """Both were told as bare, and the next move was called illegal."""
    *_, before = watch(reader, *[picture()] * 20, step_s=step_s)
    assert before.squares == (EMPTY,) * 16
    *_, across = watch(reader, *[laid] * 20, step_s=step_s, start=20 * step_s)
    assert across.hidden == LAYOUT.mask([B2, Square.parse(other)])
    *_, taken_away = watch(reader, *[picture()] * 20, step_s=step_s, start=40 * step_s)
    assert taken_away.squares == (EMPTY,) * 16


def test_a_piece_that_is_pushed_from_a_line_onto_its_square_is_read_there_at_once(reader):
    watch(reader, *[picture()] * 10, *[BETWEEN_B2_AND_C2] * 10)
    *_, pushed = watch(reader, *[picture(b2=200)] * 2, start=2.0)
    assert pushed.squares[LAYOUT.index(B2)] == contents_of([PLUS])
    assert pushed.squares[LAYOUT.index(Square.parse("c2"))] == EMPTY


def test_on_a_board_with_a_line_that_looks_like_a_piece_lines_tell_nothing(reader):
    """As where each square has a frame: the cells between the frames looked like pieces (unseen game 5117)."""
    *_, bare = watch(reader, *[BETWEEN_B2_AND_C2] * 20)
    assert bare.squares == (EMPTY,) * 16
    assert bare.hidden == 0
    both = np.maximum(BETWEEN_B2_AND_C2, across(125, 27, wide=30, high=26))
    *_, laid = watch(reader, *[both] * 20, start=2.0)
    assert laid.hidden == 0


def test_beside_a_square_that_is_burnt_out_no_line_is_looked_at(reader):
    """Its glare looks like a piece across the line: then no line of the board would tell any more."""
    watch(reader, *[picture(b2=255)] * 10, *[picture()] * 10)
    *_, laid = watch(reader, *[BETWEEN_B2_AND_B3] * 20, start=2.0)
    assert laid.hidden == LAYOUT.mask([B2, Square.parse("b3")])


def test_what_lay_around_a_board_that_was_lost_is_not_known_where_it_is_found(reader):
    held_over = across(48, 8, wide=24, high=24)
    held_over[: MARGIN + 4, MARGIN + SQUARE + 8 : MARGIN + 2 * SQUARE - 8] = 220
    watch(reader, *[picture()] * 30)
    *_, seen = watch(reader, *[held_over] * 5, start=3.0)
    assert seen.held == LAYOUT.mask([Square.parse("b4")])
    watch(reader, *[picture()] * 30, start=4.0)
    reader._follower.pose = BoardNotFound("covered")
    reader.read(7.0, picture())
    reader._follower.pose = POSE
    *_, found = watch(reader, *[held_over] * 5, start=7.1)
    assert not found.held


def test_a_lamp_that_dims_is_no_motion(reader):
    readings = watch(reader, *[picture(light=1 - i / 40) for i in range(9)])
    assert [reading.hidden for reading in readings] == [0] * 9


def test_noise_is_no_motion(reader):
    noise = np.random.default_rng(1)
    pictures = [np.clip(picture() + noise.normal(0, 12, picture().shape), 0, 255).astype(np.uint8) for _ in range(9)]
    assert [reading.hidden for reading in watch(reader, *pictures)] == [0] * 9


def test_everything_is_hidden_while_the_board_is_not_found(eyes):
    reader = VideoReader(
        BoardReader(LAYOUT, eyes, lambda image, layout: POSE), Fixed(BoardNotFound("a hand covers a corner"))
    )
    (reading,) = watch(reader, picture())
    assert reading.hidden == LAYOUT.all
    assert reader.why_not == "a hand covers a corner"
    assert reader.pose is None


def test_everything_is_hidden_while_the_picture_is_blurred_and_nothing_is_looked_at(reader, eyes):
    sharp, piece = picture(), picture(b2=200)
    (first,) = watch(reader, sharp)
    looks = len(eyes.looked)
    soft = watch(reader, *[cv2.GaussianBlur(piece, (0, 0), 5)] * 5, start=0.1)
    assert {reading.hidden for reading in soft} == {LAYOUT.all}
    assert (reader.why_not, len(eyes.looked)) == (BLURRED, looks)
    assert reader.unseen_s == pytest.approx(0.5)
    again = watch(reader, *[piece] * 8, start=0.6)
    assert reader.why_not == ""
    assert again[-1].squares[LAYOUT.index(B2)] == contents_of([PLUS])
    assert again[0].still_since == first.time


class EyesThatMissWhatIsSoft(GreyEyes):
    """They see a mark only where there are steps, though they be as faint as those of marks burnt into walnut."""

    def embed(self, patches, tone):
        marked = patches[:, 30:42, 30:42].std(axis=(1, 2, 3)) > 1
        return np.where(marked, 200, super().embed(patches, tone)[:, 0])[:, None].astype(np.float32)


def test_what_was_taken_for_bare_in_the_blur_is_not_told_when_it_is_in_focus_again():
    """Before, it was for up to a second, where steps are so low that coming into focus changes nothing much."""
    b3, left_half = LAYOUT.index(Square.parse("b3")), np.s_[:, : MARGIN + 2 * SQUARE]
    sharp = picture(**{str(square): 105 for square in LAYOUT if (square.row + square.column) % 2})
    sharp[MARGIN + SQUARE + 14 : MARGIN + SQUARE + 26 : 4, MARGIN + SQUARE + 14 : MARGIN + SQUARE + 26] += 8
    soft = sharp.copy()
    soft[left_half] = cv2.GaussianBlur(sharp, (0, 0), 6)[left_half]
    reader = VideoReader(BoardReader(LAYOUT, EyesThatMissWhatIsSoft(), lambda image, layout: POSE), Fixed())
    assert watch(reader, *[soft] * 20)[-1].hidden >> b3 & 1
    again = watch(reader, *[sharp] * 9, start=2.0)
    assert not any(reading.squares[b3] == EMPTY and not reading.stale >> b3 & 1 for reading in again)
    assert again[-1].squares[b3] == contents_of([PLUS])


def test_a_square_that_glare_burns_out_tells_nothing_and_is_not_covered(reader):
    *_, last = watch(reader, *[picture(b2=255)] * 5)
    assert last.squares[LAYOUT.index(B2)] == ANYTHING
    assert not last.hidden


def test_the_evidence_is_a_picture_of_the_board(reader):
    (reading,) = watch(reader, picture())
    assert reading.evidence.startswith(b"\xff\xd8")


def test_a_photograph_is_read_where_the_board_is_found(eyes):
    found = BoardReader(LAYOUT, eyes, lambda image, layout: POSE).read(picture(b2=200, c3=40))
    assert isinstance(found, StillReading)
    assert found.squares[LAYOUT.index(B2)] == contents_of([PLUS])
    assert found.hidden == LAYOUT.mask([Square.parse("c3")])


class EyesThatNoteTheLook(GreyEyes):
    """They say after which look they were asked what may be ruled out."""

    def contents(self, probabilities, look):
        self.look = look
        return super().contents(probabilities, look)


@pytest.mark.parametrize(
    ("pieces", "sets", "look"),
    [
        ({"b2": 200, "c3": 200}, None, Looked.PHOTOGRAPH),
        ({}, None, Looked.PHOTOGRAPH),
        ({"b2": 200, "c3": 200, "d4": 200}, None, Looked.PHOTOGRAPH),
        ({"b2": 200, "c3": 200, "d4": 200}, 2, Looked.TWICE),
    ],
)
def test_as_much_as_in_a_photograph_is_ruled_out_only_where_the_supply_was_heeded(pieces, sets, look):
    eyes = EyesThatNoteTheLook()
    BoardReader(LAYOUT, eyes, lambda image, layout: POSE, sets=sets).read(picture(**pieces))
    assert eyes.look is look


class EyesThatLookBeside(GreyEyes):
    """They note the patches that they are shown, and ask to be shown them from places that are a little off."""

    looks_beside = True

    def __init__(self):
        super().__init__()
        self.shown = []

    def recognise(self, patches, *, mirror_too=False):
        self.shown.append(patches[:, 4:-4, 4:-4])
        return super().recognise(patches, mirror_too=mirror_too)


def test_a_photograph_is_looked_at_from_places_around_the_corners_that_were_found():
    """Before, what was told in doubt hung on a few hundredths of a square."""
    eyes, top_view = EyesThatLookBeside(), picture(b2=200)
    photographed(eyes, top_view, LAYOUT, 0, 1)
    straight = patches(top_view, LAYOUT)
    for shift, shown in zip(((0, 2), (0, -2), (2, 0), (-2, 0)), eyes.shown, strict=True):
        assert np.array_equal(np.roll(straight, shift, axis=(1, 2))[:, 4:-4, 4:-4], shown)


def test_a_photograph_without_a_board_says_why(eyes):
    assert BoardReader(LAYOUT, eyes, lambda image, layout: BoardNotFound("no board here")).read(
        picture()
    ) == BoardNotFound("no board here")


class EyesThatCompare(GreyEyes):
    """By itself a light straight may be a diagonal as well; beside three spare pieces it is known which."""

    asks_spares = True

    def __init__(self, beside: str = "light diagonal") -> None:
        super().__init__()
        self.beside = contents_of([Piece.parse(beside)])
        self.compared = False

    def judge(self, embeddings):
        self.compared = len(embeddings) > len(LAYOUT)
        return super().judge(embeddings)

    def contents(self, probabilities, look):
        alone = contents_of([PLUS, Piece.parse("light diagonal")])
        unsure = self.beside if self.compared else alone
        return tuple(unsure if seen == contents_of([PLUS]) else seen for seen in super().contents(probabilities, look))


@pytest.fixture
def looks_around(monkeypatch):
    """The times at which spare pieces were searched for; three are found each time."""
    times = []

    def find(judging, top_view, layout, away, tone, squares):
        assert top_view.shape == (SIDE + 2 * BESIDE, SIDE + 2 * BESIDE, 3)
        times.append(len(times))
        return np.full((3, 1), 200, np.float32)

    monkeypatch.setattr("companion.vision.video.find_spares", find)
    return times


def comparing(eyes) -> VideoReader:
    return VideoReader(BoardReader(LAYOUT, eyes, lambda image, layout: POSE), Fixed())


def test_a_mark_that_stays_unclear_is_compared_with_those_of_the_spare_pieces(looks_around):
    reading = watch(comparing(EyesThatCompare()), picture(), picture(b2=200), picture(b2=200))[-1]
    assert reading.squares[LAYOUT.index(B2)] == contents_of([Piece.parse("light diagonal")])
    assert len(looks_around) == 1


def test_spare_pieces_tell_no_colour_and_nothing_that_is_clear(looks_around):
    seen = watch(comparing(EyesThatCompare("dark diagonal")), *[picture(b2=200)] * 3)[-1].squares
    assert seen[LAYOUT.index(B2)] == contents_of([Piece.parse("light diagonal")])
    assert seen[0] == EMPTY
    seen = watch(comparing(EyesThatCompare("dark puller")), *[picture(b2=200)] * 3)[-1].squares
    assert seen[LAYOUT.index(B2)] == contents_of([PLUS, Piece.parse("light diagonal")])


def test_while_all_is_clear_nobody_looks_around(looks_around):
    watch(comparing(EyesThatCompare()), *[picture()] * 9)
    assert looks_around == []


def test_while_a_mark_is_unclear_spare_pieces_are_looked_for_now_and_then(looks_around):
    watch(comparing(EyesThatCompare("dark puller")), *[picture(b2=200)] * 120)
    assert len(looks_around) == 3


def test_spare_pieces_are_looked_for_soon_when_another_mark_is_unclear(looks_around):
    watch(comparing(EyesThatCompare("dark puller")), *[picture(b2=200)] * 15, *[picture(b2=200, d4=200)] * 15)
    assert len(looks_around) == 2


def test_beside_a_board_that_was_lost_spare_pieces_are_looked_for_anew(looks_around, monkeypatch):
    reader = comparing(EyesThatCompare())
    assert watch(reader, *[picture(b2=200)] * 3)[-1].squares[LAYOUT.index(B2)] == DIAGONAL
    monkeypatch.setattr("companion.vision.video.find_spares", lambda *_: np.zeros((0, 1), np.float32))
    reader._follower.pose = BoardNotFound("covered")
    reader.read(0.3, picture())
    reader._follower.pose = POSE
    assert watch(reader, *[picture(b2=200)] * 3, start=0.4)[-1].squares[LAYOUT.index(B2)] == EITHER


class EyesThatDoubt(GreyEyes):
    """A mark is somewhat more like a straight than a diagonal; spare pieces are surely straights."""

    asks_spares = True
    spare_grey = 220

    def judge(self, embeddings):
        probabilities = super().judge(embeddings)
        straight, diagonal = ALL_CONTENTS.index(PLUS), ALL_CONTENTS.index(Piece.parse("light diagonal"))
        unsure = (probabilities[:, straight] == 1) & (embeddings[:, 0] != self.spare_grey)
        probabilities[unsure, straight], probabilities[unsure, diagonal] = 0.7, 0.3
        return probabilities

    def contents(self, probabilities, look):
        return tuple(sum(1 << int(i) for i in np.flatnonzero(row[:-1] > 0.05)) for row in probabilities)


@pytest.fixture
def spares(monkeypatch):
    """The greys of the spare pieces that are found."""
    greys = [EyesThatDoubt.spare_grey] * 2
    monkeypatch.setattr(
        "companion.vision.video.find_spares", lambda *_: np.array(greys, np.float32).reshape(len(greys), 1)
    )
    return greys


EITHER, DIAGONAL = contents_of([PLUS, Piece.parse("light diagonal")]), contents_of([Piece.parse("light diagonal")])


def test_with_both_straights_beside_the_board_a_mark_on_it_is_a_diagonal(spares):
    seen = watch(comparing(EyesThatDoubt()), *[picture(b2=200)] * 3)[-1].squares
    assert seen[LAYOUT.index(B2)] == DIAGONAL
    spares.pop()
    seen = watch(comparing(EyesThatDoubt()), *[picture(b2=200)] * 3)[-1].squares
    assert seen[LAYOUT.index(B2)] == EITHER


def test_with_two_sets_in_play_two_straights_beside_the_board_say_nothing(spares):
    reader = comparing(EyesThatDoubt())
    reader.expect(2)
    assert watch(reader, *[picture(b2=200)] * 3)[-1].squares[LAYOUT.index(B2)] == EITHER


def test_what_the_spare_pieces_leave_holds_while_they_are_played_and_until_the_square_changes(spares):
    reader = comparing(EyesThatDoubt())
    watch(reader, *[picture(b2=200)] * 3)
    spares.clear()
    later = [reader.read(1 + i / 10, picture(b2=200, d4=200)).squares for i in range(30)]
    assert later[-1][LAYOUT.index(B2)] == DIAGONAL
    assert later[-1][LAYOUT.index(Square.parse("d4"))] == EITHER
    lifted_and_back = [picture(d4=200), picture(d4=200), picture(b2=200, d4=200), picture(b2=200, d4=200)]
    assert [reader.read(5 + i / 10, each) for i, each in enumerate(lifted_and_back)][-1].squares[
        LAYOUT.index(B2)
    ] == EITHER


@pytest.mark.parametrize(("sets", "seen"), [(None, DIAGONAL), (1, DIAGONAL), (2, EITHER)])
def test_in_a_photograph_no_more_pieces_lie_than_the_sets_have(sets, seen):
    sure = EyesThatDoubt.spare_grey
    reader = BoardReader(LAYOUT, EyesThatDoubt(), lambda image, layout: POSE, sets=sets)
    assert reader.read(picture(b2=200, a4=sure, d4=sure)).squares[LAYOUT.index(B2)] == seen


def test_beside_plain_cubes_nobody_looks_for_marks(looks_around):
    reader = BoardReader(LAYOUT, EyesThatCompare(), lambda image, layout: POSE, cubes=True)
    watch(VideoReader(reader, Fixed()), *[picture(b2=200)] * 9)
    assert looks_around == []


def test_another_board_is_told_in_pixels_of_the_picture_that_the_lens_made(eyes):
    lens, size = Lens(STRONG), SIZE
    image = np.zeros((size[1], size[0], 3), np.uint8)
    beside = BoardPose(tuple((x + 40, y) for x, y in POSE.corners), 1.0)
    pose = BoardPose(POSE.corners, 1.0, another=beside.corners)
    found = BoardReader(LAYOUT, eyes, lambda image, layout: pose, lens).upright(pose, image)
    assert found.another is not None
    assert np.allclose(found.points(), lens.bent(pose.points(), size))
    assert np.allclose(found.another, lens.bent(beside.points(), size))
