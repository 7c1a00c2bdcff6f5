"""Games with disturbances, single disturbances, and minutes in which nobody moves: their frames, and their truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from companion.camera.frames import Frame
from companion.rules import Game, Layout, Move
from tests.bench.cameras import held
from tests.bench.stress.acts import AT_ONCE, BETWEEN, WITH_MOVE, legal_plays, plain_move
from tests.bench.stress.look import STANDARD, Look, draw_green_box, draw_look
from tests.bench.stress.stage import Act, Stage
from tests.bench.stress.studio import Studio
from tests.bench.stress.weather import Weather

_BETWEEN, _MEANWHILE = 0.25, 0.2
"""Of the Green Box: the shares of moves before which something happens, and with which."""
_CARD_FIRST = 0.3
_OF_CUBES = ("hesitation", "wrong square", "taken back", "two hands", "set straight")
_BEFORE_AND_AFTER_S = 7.0
"""Nobody plays for so long where leaves sway."""
_SWAYS = (0.005, 0.04)
"""Of the picture's width: how far a camera that is held sways."""
_QUICK = 0.15
"""The share of moves after which the opponent does not wait for the hand to be gone."""


@dataclass
class Show:
    """Frames to be watched, and what is true of them so far."""

    look: Look
    stage: Stage
    rng: np.random.Generator
    """For the grain of what is drawn."""
    weather: Weather
    start: Game
    """The game as it stands in the first frame."""
    end: Game
    """And after the last."""
    act: Act

    def frames(self) -> Iterator[Frame]:
        """Every frame, in order."""
        studio, stage = Studio(self.look, self.rng), self.stage
        for _ in self.moments():
            light = self.weather.light(stage.time, hands=len(stage.hands))
            picture, on_board = studio.picture(stage.moment(), light, stage.frame)
            stage.seen(hand_on_board=on_board)
            yield Frame(stage.time, picture)

    def moments(self) -> Iterator[None]:
        """Go on by a frame each time; whoever looks has to tell the stage (`Stage.seen`)."""
        stage = self.stage
        while True:
            yield
            stage.frame += 1
            stage.time = stage.frame * stage.step_s
            if next(self.act, StopIteration) is StopIteration:
                return


@dataclass
class HeldShow(Show):
    """Seen by a camera that somebody holds in the hand."""

    reach: float
    """How far it sways, in pixels."""

    def frames(self) -> Iterator[Frame]:
        """Every frame, in order."""
        for frame in super().frames():
            yield Frame(frame.time, held(frame.image, frame.time, self.reach))


def disturbed_game(seed: int, layout: Layout = STANDARD, *, calm: bool = False) -> Show:
    """A random game by two people at a real table; if `calm`, they do nothing but play."""
    rng = np.random.default_rng((5, 1, seed))
    look = draw_look(rng, layout)
    stage, weather = Stage(look, rng), Weather(rng)
    end = _random_game(rng, Game.start("outside", layout=layout), 99)
    act = _calm_game(stage, end) if calm else _game(stage, weather, end)
    return Show(look, stage, np.random.default_rng((5, 4, seed)), weather, _beginning(end), end, act)


def swaying_game(seed: int) -> Show:
    """A random game in the shadow of leaves that sway, by two people who do nothing but play."""
    rng = np.random.default_rng((5, 7, seed))
    look = draw_look(rng)
    stage, weather = Stage(look, rng), Weather(rng)
    width, height = look.size
    weather.sway(look.square, height / width)
    end = _random_game(rng, Game.start("outside"), 99)
    act = _calm_game(stage, end, _BEFORE_AND_AFTER_S)
    return Show(look, stage, np.random.default_rng((5, 4, seed)), weather, _beginning(end), end, act)


def hunting_game(seed: int) -> Show:
    """A random game by two people who do nothing but play, before a camera that loses focus now and then."""
    rng = np.random.default_rng((5, 8, seed))
    look = draw_look(rng)
    stage, weather = Stage(look, rng), Weather(rng)
    weather.hunt(look.square)
    end = _random_game(rng, Game.start("outside"), 99)
    return Show(look, stage, np.random.default_rng((5, 4, seed)), weather, _beginning(end), end, _calm_game(stage, end))


def banded_game(seed: int) -> Show:
    """A random game by two people at a real table, under lamps of which bands roll over the picture."""
    show = disturbed_game(seed)
    show.weather.pulse()
    return show


def held_game(seed: int) -> Show:
    """A random game by two people at a real table, before a camera that a third holds in the hand."""
    show = disturbed_game(seed)
    reach = float(np.random.default_rng((5, 9, seed)).uniform(*_SWAYS)) * show.look.size[0]
    return HeldShow(**vars(show), reach=reach)


def green_box(seed: int) -> Show:
    """A random game of the Green Box, by two people at a real table."""
    rng = np.random.default_rng((5, 6, seed))
    look = draw_green_box(rng)
    stage, weather = Stage(look, rng), Weather(rng)
    end = _random_game(rng, Game.start("anywhere", layout=look.layout), 99)
    act = _with_cards(stage, weather, end)
    return Show(look, stage, np.random.default_rng((5, 4, seed)), weather, _beginning(end), end, act)


def quiet_stretch(seed: int, minutes: float) -> Show:
    """So many minutes with hands, shadows, lamps and bumps, and no move."""
    rng = np.random.default_rng((5, 2, seed))
    look = draw_look(rng)
    stage, weather = Stage(look, rng), Weather(rng)
    game = _random_game(rng, Game.start("outside"), int(rng.integers(0, 12)))
    for move in _moves(game):
        stage.board[move.square] = _laid(stage, move)
    act = _nothing(stage, weather, 60 * minutes)
    return Show(look, stage, np.random.default_rng((5, 4, seed)), weather, game, game, act)


def clip(name: str, seed: int) -> Show:
    """One disturbance on a board in mid-game, and the next move, or two."""
    rng = np.random.default_rng((5, 3, seed))
    look = draw_look(rng)
    stage, weather = Stage(look, rng), Weather(rng)
    end = _random_game(rng, Game.start("outside"), int(rng.integers(3, 12)))
    moves, shown = _moves(end), 2 if name in AT_ONCE else 1
    before, played = moves[:-shown], moves[-shown:]
    start = Game.start("outside")
    for move in before:
        stage.board[move.square] = _laid(stage, move)
        stage.lay[move.square].append((0.0, move.piece))
        start = start.play(move)
    act = _one(stage, weather, start, played, name)
    return Show(look, stage, np.random.default_rng((5, 4, seed)), weather, start, end, act)


def _one(stage: Stage, weather: Weather, game: Game, moves: list[Move], name: str) -> Act:
    yield from stage.wait(0.8)
    stage.note(name)
    if name in AT_ONCE:
        yield from AT_ONCE[name](stage, weather, game, moves)
    elif name in WITH_MOVE:
        yield from WITH_MOVE[name](stage, game, moves[0])
    else:
        yield from BETWEEN[name](stage, weather)
        yield from stage.wait(0.5)
        yield from plain_move(stage, moves[0])
    yield from stage.wait(1.5)


def _moves(game: Game):
    return [ply for ply in game.history if str(ply) != "-"]


def _laid(stage: Stage, move):
    spare = stage.spares[move.piece].pop()
    return stage._loosely(type(spare)(move.piece, move.square.column + 0.5, move.square.row + 0.5, 0.0, 0.0))


def _beginning(game: Game) -> Game:
    return Game.start(game.first, layout=game.layout)


def _random_game(rng: np.random.Generator, game: Game, most: int) -> Game:
    for _ in range(most):
        if game.outcome is not None:
            break
        plays = legal_plays(game)
        game = game.play(plays[rng.integers(len(plays))])
    return game


def _game(stage: Stage, weather: Weather, end: Game) -> Act:
    yield from stage.wait(1.2, 2.5)
    game = _beginning(end)
    with_move, between = list(WITH_MOVE), list(BETWEEN)
    leaving: Act = iter(())
    for move in _moves(end):
        if move.colour in stage.hands:  # after a pass the same hand plays again
            yield from leaving
        what = stage.rng.random()
        if what < 0.3:
            yield from leaving
            leaving = iter(())
            name = between[stage.rng.integers(len(between))]
            stage.note(name)
            yield from BETWEEN[name](stage, weather)
            yield from stage.wait(0.3, 1.0)
        if what > 0.72:
            yield from leaving
            name = with_move[stage.rng.integers(len(with_move))]
            stage.note(name)
            yield from WITH_MOVE[name](stage, game, move)
            leaving = iter(())
        else:
            yield from stage.together(leaving, _fetch_and_put(stage, move))
            leaving = stage.leave(move.colour)
            if stage.rng.random() > _QUICK:
                yield from leaving
                yield from stage.wait(0.4, 1.5)
            else:
                stage.note("quick moves")
                stage.played[-1].after = "quick moves"
        game = game.play(move)
    yield from leaving
    yield from stage.wait(2.5)


def _calm_game(stage: Stage, end: Game, around_s: float = 0.0) -> Act:
    yield from stage.wait(1.2 + around_s)
    for move in _moves(end):
        yield from plain_move(stage, move)
        yield from stage.wait(0.8, 1.2)
    yield from stage.wait(1.0 + around_s)


def _with_cards(stage: Stage, weather: Weather, end: Game) -> Act:
    """A cube and its card for every move, now and then the card first."""
    yield from stage.wait(1.2, 2.5)
    game = _beginning(end)
    for move in _moves(end):
        what = stage.rng.random()
        if what < _BETWEEN:
            name = list(BETWEEN)[stage.rng.integers(len(BETWEEN))]
            stage.note(name)
            yield from BETWEEN[name](stage, weather)
            yield from stage.wait(0.3, 1.0)
        card_first = stage.rng.random() < _CARD_FIRST
        if card_first:
            yield from _card(stage, move)
        if what > 1 - _MEANWHILE:
            name = _OF_CUBES[stage.rng.integers(len(_OF_CUBES))]
            stage.note(name)
            yield from WITH_MOVE[name](stage, game, move)
        else:
            yield from plain_move(stage, move)
        if not card_first:
            yield from stage.wait(0.1, 1.2)
            yield from _card(stage, move)
        yield from stage.wait(0.6, 1.5)
        game = game.play(move)
    yield from stage.wait(2.5)


def _card(stage: Stage, move: Move) -> Act:
    yield from stage.lay_card(move.colour, move.kind)
    if stage.played and stage.played[-1].move == move:  # not before both lie there
        stage.played[-1].put, stage.played[-1].off = stage.time, None
    yield from stage.leave(move.colour)


def _fetch_and_put(stage: Stage, move) -> Act:
    yield from stage.fetch(move.colour, move.piece)
    yield from stage.put(move.colour, move.square)
    stage.commit(move)


def _nothing(stage: Stage, weather: Weather, seconds: float) -> Act:
    yield from stage.wait(1.5)
    names = list(BETWEEN)
    while stage.time < seconds:
        name = names[stage.rng.integers(len(names))]
        stage.note(name)
        yield from BETWEEN[name](stage, weather)
        yield from stage.wait(0.5, 4)
