"""A whole game of the Green Box, as a camera sees it: cubes on loose tiles, and two piles of cards that grow."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.enrolment import ARRANGEMENT
from companion import events
from companion.__main__ import main
from companion.camera import green_box
from companion.camera.frames import Frame
from companion.camera.green_box import card_face
from companion.camera.play import Card, Lying, Moment, Play
from companion.camera.virtual import VirtualCamera
from companion.camera.woods import Wood
from companion.commands.eyes import Foreknowledge, video_reader
from companion.commands.options import GREEN_BOX
from companion.errors import EndOfSource
from companion.profile import Profile
from companion.referee import Referee
from companion.rules import Colour, Game, Kind, MatchText, Piece, Square
from companion.settling import Settler

WHOLE = "b4+ b1>< a1>< b2+ a2x c4x b3>< c3>< d4<> a3<> d3+ d1+ d2x c1x - c2<> a4<>"
OPENING = "b4+ b1>< a1>< b2+ a2x"
"""No player lays the same card twice in a row."""


def match(tmp_path, moves):
    path = tmp_path / "game.mjn"
    game = Game.replay(moves.split(), first="anywhere")
    path.write_text(MatchText(game, {"Variant": GREEN_BOX}).write())
    return path


def refereed(camera, profile=None, truth=None):
    """What a referee says of a drawn game to its end; what it asks is answered by the `truth` of each square."""
    layout, told = camera.play.layout, []
    reader = video_reader(layout, Foreknowledge(profile=profile, variant=GREEN_BOX))
    settler, referee = Settler(layout), Referee(Game.start("anywhere"), variant=GREEN_BOX)
    while True:
        try:
            frame = camera.read(0)
        except EndOfSource:
            return told
        said = referee.see(settler.feed(reader.read(frame.time, frame.image)))
        for event in said:  # an answer may lead to the next question
            if isinstance(event, events.KindNeeded) and truth:
                said += referee.answer(frame.time, event.square, truth[event.square])
        told += said


def moves(told):
    return [str(event.move) for event in told if isinstance(event, events.MovePlayed)]


def test_a_card_is_laid_for_every_cube_on_its_players_side():
    play = Play(Game.replay(OPENING.split(), first="anywhere"), cards=True)
    cards = [lying for lying in play.at(1e9).lying if isinstance(lying.piece, Card)]
    assert [(str(lying.piece.colour), str(lying.piece.kind)) for lying in cards] == [
        ("light", "straight"),
        ("dark", "puller"),
        ("light", "puller"),
        ("dark", "straight"),
        ("light", "diagonal"),
    ]
    assert all(lying.x < 0 if lying.piece.colour is Colour.LIGHT else lying.x > 4 for lying in cards)


def test_cubes_and_cards_are_put_down_one_at_a_time():
    play = Play(Game.replay(OPENING.split(), first="anywhere"), cards=True)
    counts = []
    for time in np.arange(0, play.duration_s, 1 / 12):
        lying = play.at(time).lying
        cards = sum(isinstance(thing.piece, Card) for thing in lying)
        counts.append((sum(0 < thing.x < 4 for thing in lying), cards))
    steps = list(dict.fromkeys(counts))
    assert steps == [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (2, 3), (3, 3), (4, 3), (4, 4), (5, 4), (5, 5)]


def test_the_table_is_drawn_with_its_piles(tmp_path):
    camera = VirtualCamera(str(match(tmp_path, OPENING)))
    studio, bare, last = camera._studio, camera.play.at(0), camera.play.at(1e9)
    changed = np.abs(studio.picture(last, 0).astype(int) - studio.picture(bare, 0)).max(axis=2) > 60
    left, right = (int(camera.corners[i][0]) for i in (0, 1))
    assert changed[:, :left].mean() > 0.02
    assert changed[:, right:].mean() > 0.02


@pytest.mark.slow
def test_a_whole_game_is_refereed_from_pictures_and_what_they_do_not_tell_is_asked(tmp_path):
    game = Game.replay(WHOLE.split(), first="anywhere")
    kinds = {move.square: move.piece for move in game.moves}
    told = refereed(VirtualCamera(str(match(tmp_path, WHOLE))), truth=kinds)
    assert isinstance(told[-1], events.GameOver)
    assert told[-1].moves == tuple(WHOLE.split())
    assert {type(event) for event in told[:-1]} <= {
        events.MovePlayed,
        events.PassForced,
        events.LastChance,
        events.KindNeeded,
    }
    assert Counter(type(event) for event in told)[events.KindNeeded] <= 4


@pytest.mark.slow
def test_watch_reads_the_piles_of_the_green_box(tmp_path):
    path = match(tmp_path, OPENING)
    options = ["--variant", GREEN_BOX, "--first", "anywhere", "--json"]
    result = CliRunner().invoke(main, ["watch", f"virtual:{path}", *options])
    assert result.exit_code == 0, result.output
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["move"] for event in told if event["event"] == "MovePlayed"] == OPENING.split()


class GoesOn:
    """A camera that, when its game has ended, sees what lies there in the end change: for so many seconds each."""

    def __init__(self, camera, *scenes):
        self._camera, self.play = camera, camera.play
        self._frames = [Moment(lying) for lying, seconds in scenes for _ in range(seconds * 12)]
        self._number = 0

    def read(self, timeout_s):
        try:
            frame = self._camera.read(timeout_s)
        except EndOfSource:
            if not self._frames:
                raise
            image = self._camera._studio.picture(self._frames.pop(0), self._number)
            frame = Frame(self._number / 12, image)
        self._number += 1
        return frame


@pytest.mark.slow
def test_the_card_beneath_one_that_is_taken_off_the_pile_is_no_cubes(tmp_path):
    """Dark lays a cube and no card, and takes the last card off the own pile, for longer than to look at it."""
    camera = VirtualCamera(str(match(tmp_path, OPENING)))
    end = camera.play.at(1e9).lying
    spare = next(i for i, lying in enumerate(end) if lying.piece == Piece(Colour.DARK, Kind.DIAGONAL))
    with_cube = (*end[:spare], *end[spare + 1 :], replace(end[spare], x=2.5, y=3.5))
    cards = [i for i, lying in enumerate(end) if isinstance(lying.piece, Card) and lying.piece.colour is Colour.DARK]
    without = (*with_cube[: cards[-1] - 1], *with_cube[cards[-1] :])
    told = refereed(GoesOn(camera, (with_cube, 1), (without, 8)))
    assert moves(told) == OPENING.split()
    assert [event.square for event in told if isinstance(event, events.KindNeeded)] == [Square.parse("c4")]


def unreadable(kind):
    """A card whose kind nothing tells: the same blot on all of them."""
    face = np.full_like(card_face(kind), 215)
    cv2.ellipse(face, (face.shape[1] // 2, face.shape[0] // 2), (40, 55), 30, 0, 360, (60, 40, 40), -1)
    return face


@pytest.mark.slow
def test_cards_that_cannot_be_read_are_asked_about_and_what_is_answered_is_played(tmp_path):
    camera = VirtualCamera(str(match(tmp_path, OPENING)), card_faces={kind: unreadable(kind) for kind in Kind})
    game = Game.replay(OPENING.split(), first="anywhere")
    told = refereed(camera, truth={ply.square: ply.piece for ply in game.history})
    assert moves(told) == OPENING.split()
    assert Counter(type(event) for event in told) == {events.KindNeeded: 5, events.MovePlayed: 5}


YELLOW = Wood((60, 190, 225), (45, 150, 180), (0, 0, 0), 0.01, 0.01)
BLUE = Wood((120, 60, 30), (90, 45, 22), (0, 0, 0), 0.02, 0.02)


@pytest.mark.slow
def test_cubes_whose_colours_nobody_would_guess_are_played_with_once_they_were_enrolled(tmp_path, monkeypatch):
    monkeypatch.setattr(green_box, "_CUBES", {Colour.LIGHT: BLUE, Colour.DARK: YELLOW})
    camera = VirtualCamera(str(match(tmp_path, OPENING)))
    cubes = [
        Lying(piece, square.column + 0.5, square.row + 0.5, 0.0, 0.02 * i)
        for i, (piece, square) in enumerate(zip(ARRANGEMENT, camera.play.layout, strict=True))
    ]
    for name, lying in (("empty", []), ("cubes", cubes)):
        cv2.imwrite(str(tmp_path / f"{name}.png"), camera._studio.picture(Moment(tuple(lying)), 0))
    pictures = ["--empty", str(tmp_path / "empty.png"), "--pieces", str(tmp_path / "cubes.png")]
    profile = tmp_path / "box.json"
    done = CliRunner().invoke(main, ["calibrate", "enrol", *pictures, "--variant", GREEN_BOX, "-o", str(profile)])
    assert done.exit_code == 0, done.output
    assert "Light's are blue and Dark's yellow" in done.output
    truth = {ply.square: ply.piece for ply in Game.replay(OPENING.split(), first="anywhere").history}
    told = refereed(camera, Profile.read(profile), truth)
    assert moves(told) == OPENING.split()
    guessed = refereed(VirtualCamera(str(tmp_path / "game.mjn")), truth=truth)
    assert moves(guessed) != OPENING.split()


def letter(kind):
    """The art of another print."""
    face = np.full_like(card_face(kind), (210, 225, 235))
    text = {Kind.STRAIGHT: "S", Kind.DIAGONAL: "K", Kind.PUSHER: "W", Kind.PULLER: "4"}[kind]
    cv2.putText(face, text, (30, 155), cv2.FONT_HERSHEY_DUPLEX, 4.2, (60, 30, 130), 14, cv2.LINE_AA)
    return face


@pytest.mark.slow
def test_other_art_is_read_once_it_was_enrolled(tmp_path):
    arguments = []
    for kind in Kind:
        picture = cv2.copyMakeBorder(letter(kind), 60, 60, 60, 60, cv2.BORDER_CONSTANT, value=(40, 60, 50))
        cv2.imwrite(str(tmp_path / f"{kind}.png"), picture)
        arguments += ["--card", f"{kind}={tmp_path / f'{kind}.png'}"]
    done = CliRunner().invoke(main, ["calibrate", "enrol", *arguments, "-o", str(tmp_path / "box.json")])
    assert done.exit_code == 0, done.output
    camera = VirtualCamera(str(match(tmp_path, OPENING)), card_faces={kind: letter(kind) for kind in Kind})
    game = Game.replay(OPENING.split(), first="anywhere")
    truth = {ply.square: ply.piece for ply in game.history}
    told = refereed(camera, Profile.read(tmp_path / "box.json"), truth)
    assert moves(told) == OPENING.split()
    assert sum(isinstance(event, events.KindNeeded) for event in told) <= 2
