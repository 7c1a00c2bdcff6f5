"""Boards of other layouts as people read and watch them: offset, with a hole, in pieces, and one of 32 squares."""

from __future__ import annotations

import json
import math
import random

import cv2
import pytest

from companion.camera.play import Play
from companion.camera.studio import Studio
from companion.rules import Game, Kind, Layout, MatchText, Move
from tests.commands.test_watch import companion

OFFSET = "####./####./.####/.####"
APART = "##.##/##.##/...../##.##/##.##"
ISLANDS = "####..##/####..##/..####../..####../##..####/##..####"
"""Offset, with gaps, not all connected, of 32 squares."""


def some_game(layout: Layout, seed: int) -> Game:
    """A random game to its end."""
    chance, game = random.Random(seed), Game.start(layout=layout)
    while game.outcome is None:
        hand = game.in_hand(game.to_move)
        kinds = [kind for kind in Kind if hand[kind]]
        game = game.play(Move(chance.choice(sorted(game.legal_squares())), chance.choice(kinds), game.to_move))
    return game


def corners_text(studio: Studio) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in studio.corners)


@pytest.mark.parametrize("drawing", [OFFSET, APART, "ring", ISLANDS])
@pytest.mark.parametrize("given", [False, True], ids=["found", "given"])
def test_a_finished_game_on_another_board_is_read_from_one_photograph(drawing, given, tmp_path):
    layout = Layout.parse(drawing)
    game = some_game(layout, 5)
    play = Play(game)
    studio = Studio(layout, play.at(0).lying)
    cv2.imwrite(str(tmp_path / "end.png"), studio.picture(play.at(play.duration_s), 1))
    corners = ["--corners", corners_text(studio)] if given else []
    done = companion("read", str(tmp_path / "end.png"), "--layout", drawing, "--json", *corners)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    square_px = math.dist(*studio.corners[:2]) / layout.columns
    for found, true in zip(told["corners"].values(), studio.corners, strict=True):
        assert math.dist(found, true) < 0.3 * square_px  # where there is no plate, a corner is far from what is seen
    lies = {str(s): [str(piece) if piece else "."] for s, piece in zip(layout, game.contents, strict=True)}
    assert told["squares"] == lies
    assert told["score"] == {"light": game.score.light, "dark": game.score.dark}


@pytest.mark.slow
@pytest.mark.parametrize(("drawing", "given"), [(OFFSET, False), (APART, True), (ISLANDS, False)])
def test_a_whole_game_on_another_board_is_refereed_from_pictures_alone(drawing, given, tmp_path):
    layout = Layout.parse(drawing)
    game = some_game(layout, 5)
    (tmp_path / "match.mjn").write_text(MatchText(game).write())
    corners = ["--corners", corners_text(Studio(layout, Play(game).at(0).lying))] if given else []
    done = companion("watch", f"virtual:{tmp_path / 'match.mjn'}", "--layout", drawing, "--json", *corners)
    assert (done.returncode, done.stderr) == (0, "")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[-1]["moves"] == [str(ply) for ply in game.history]
    assert {event["event"] for event in told} <= {"MatchStarted", "MovePlayed", "PassForced", "LastChance", "GameOver"}
