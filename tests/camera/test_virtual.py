"""The drawn table: hands and pieces over time, its clock, and that the eyes of the program find the board in it."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

from companion.__main__ import main
from companion.camera import open_frames
from companion.camera.play import Pace, Play
from companion.camera.virtual import FRAMES_PER_S, VirtualCamera
from companion.errors import SourceError
from companion.rules import Colour, Game, Layout
from companion.vision.board import locate

EXAMPLE = "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x - b3<> b1<>"


def moments(play: Play, step_s: float = 1 / 12):
    return [play.at(time) for time in np.arange(0, play.duration_s, step_s)]


@pytest.fixture(scope="module")
def play() -> Play:
    return Play(Game.replay(EXAMPLE.split()))


def test_no_piece_is_ever_lost_or_doubled(play):
    for moment in moments(play):
        pieces = [lying.piece for lying in (*moment.lying, *([moment.held] if moment.held else []))]
        assert sorted(map(str, pieces)) == sorted(2 * [str(piece) for piece in set(pieces)])
        assert len(set(pieces)) == 8


def test_every_hand_comes_and_goes_on_its_own_side(play):
    hands = [moment.hand for moment in moments(play)]
    coming = [hand for before, hand in itertools.pairwise(hands) if hand and not before]
    going = [hand for hand, after in itertools.pairwise(hands) if hand and not after]
    for hand in coming + going:
        assert hand.y < -2 if hand.colour is Colour.LIGHT else hand.y > 6
    assert [hand.colour.value[0] for hand in coming] == list("ldldldldldllld")


def test_the_last_position_is_that_of_the_game(play):
    game = Game.replay(EXAMPLE.split())
    on_board = {(int(lying.y), int(lying.x)): lying.piece for lying in play.at(1e9).lying if 0 < lying.x < 4}
    assert on_board == {tuple(square): piece for square, piece in zip(game.layout, game.contents, strict=True) if piece}


def test_a_game_that_was_joined_begins_with_its_pieces_on_the_board():
    game = Game.replay(EXAMPLE.split()[:6])
    pieces = {square: piece for square, piece in zip(game.layout, game.contents, strict=True) if piece}
    joined = Game.from_position(pieces, to_move=Colour.LIGHT, last=game.layout.squares[6])
    first = Play(joined).at(0).lying
    assert len(first) == 16
    assert sum(0 < lying.x < 4 for lying in first) == 6


@pytest.mark.parametrize("cards", [False, True])
def test_a_piece_that_a_ruling_put_down_beyond_the_supply_is_brought_as_well(cards):
    game = Game.start().play("a1+").play("a2+").play("a3+").play("c3+").play("d4+", colour="light", ruled=True)
    drawn = Play(game, cards=cards)
    lying = drawn.at(drawn.duration_s).lying
    assert sum(each.piece == game.moves[-1].piece for each in lying) == 3


def test_a_demonstration_takes_three_quarters_of_a_minute(play):
    assert 40 < play.duration_s < 50
    assert 2 < Pace().move_s < 3.5


@pytest.mark.parametrize("layout", ["4x4", "8x4", "ring"])
def test_everything_is_in_the_picture_on_any_layout(layout, tmp_path):
    match = tmp_path / "match.mjn"
    match.write_text(f'[Layout "{Layout.parse(layout).drawing}"]\n\n*\n')
    camera = VirtualCamera(str(match))
    frame = camera.read(0)
    assert frame.image.shape == (720, 1280, 3)
    for x, y in camera.corners:
        assert 0 < x < 1280
        assert 0 < y < 720


def test_the_board_is_found_where_it_was_drawn():
    camera = VirtualCamera()
    pose = locate(camera.read(0).image, Layout.parse("4x4"))
    assert np.abs(pose.points() - camera.corners).max() < 10  # pixels; a square has 120, and hands lay plates askew


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_live_it_plays_along_with_the_clock_and_leaves_out_what_nobody_asked_for(tmp_path):
    clock = Clock()
    camera = VirtualCamera("", clock, clock.sleep)
    assert camera.read(1).time == 1000
    assert camera.read(1).time == pytest.approx(1000 + 1 / FRAMES_PER_S)
    clock.now = 1010.01
    assert camera.read(1).time == 1010
    assert camera.read(0.02) is None
    assert camera.read(1).time == pytest.approx(1010 + 1 / FRAMES_PER_S)
    clock.now = 5000
    assert camera.read(1).time == 5000


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"1. a1+ b2+", "is not a match that can be drawn: line 1, column 8"),
        (b"\xff\xfe\x00", "it is not text"),
        (b" \n", "is empty; a match that can be drawn has moves"),
    ],
)
def test_a_bad_match_is_refused_in_one_clear_line(tmp_path, content, says):
    path = tmp_path / "bad.mjn"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError) as refused:
        open_frames(f"virtual:{path}", Clock())
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_the_worked_example_is_refereed_from_pictures_alone():
    result = CliRunner().invoke(main, ["watch", "virtual:", "--json"])
    assert result.exit_code == 0, result.output
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["event"] for event in told} == {
        "MatchStarted",
        "MovePlayed",
        "PassForced",
        "LastChance",
        "GameOver",
    }
    assert told[-1]["moves"] == EXAMPLE.split()
    assert told[-1]["score"] == {"light": 4, "dark": 1}
