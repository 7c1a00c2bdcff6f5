"""The disturbances: what people do at a table besides playing, and what else happens there."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from companion.rules import Colour, Game, Kind, Move, Square
from tests.bench.stress.stage import Act, Stage
from tests.bench.stress.studio import Slide, Thing
from tests.bench.stress.weather import Weather

if TYPE_CHECKING:
    from collections.abc import Sequence


def legal_plays(game: Game) -> list[Move]:
    """Every legal move."""
    hand = game.in_hand(game.to_move)
    return [Move(square, kind, game.to_move) for square in sorted(game.legal_squares()) for kind in Kind if hand[kind]]


def plain_move(stage: Stage, move: Move, after: str = "") -> Act:
    """A piece is fetched, put down, and the hand leaves."""
    yield from stage.fetch(move.colour, move.piece)
    yield from stage.put(move.colour, move.square)
    stage.commit(move, after)
    yield from stage.leave(move.colour)


# With a move ------------------------------------------------------------------------------------------------------


def hesitation(stage: Stage, game: Game, move: Move) -> Act:
    """Put down, and moved on before the hand leaves."""
    others = [play.square for play in legal_plays(game) if play.square != move.square]
    if not others:
        yield from plain_move(stage, move)
        return
    yield from stage.fetch(move.colour, move.piece)
    yield from stage.put(move.colour, others[stage.rng.integers(len(others))])
    square = next(reversed(stage.board))
    lifted = stage.board[square]
    if stage.rng.random() < 0.5:  # lets go, draws back a little
        grip = stage._grip(move.colour)
        back = -0.7 if grip > 0 else 0.7
        yield from stage.reach(move.colour, lifted.x, lifted.y - grip + back, 0.25, 0.25)
    yield from stage.wait(0.3, 1.6)
    yield from stage.lift(move.colour, square)
    yield from stage.put(move.colour, move.square)
    stage.commit(move, "hesitation")
    yield from stage.leave(move.colour)


def swap(stage: Stage, game: Game, move: Move) -> Act:
    """Another kind is played first; the player exchanges the piece on its square."""
    hand = game.in_hand(move.colour)
    others = [kind for kind in Kind if hand[kind] and kind is not move.kind]
    if not others:
        yield from plain_move(stage, move)
        return
    wrong = Move(move.square, others[stage.rng.integers(len(others))], move.colour)
    yield from stage.fetch(wrong.colour, wrong.piece)
    yield from stage.put(wrong.colour, wrong.square)
    yield from stage.leave(move.colour)
    yield from stage.wait(0.2, 2.5)
    yield from stage.lift(move.colour, move.square)
    yield from stage.put_aside(move.colour)
    yield from stage.fetch(move.colour, move.piece)
    yield from stage.put(move.colour, move.square)
    stage.commit(move, "swap")
    yield from stage.leave(move.colour)


def repaired(stage: Stage, game: Game, move: Move) -> Act:
    """First on a square that the rules forbid."""
    illegal = [square for square in game.layout if game.content(square) is None and square not in game.legal_squares()]
    if not illegal:
        yield from plain_move(stage, move)
        return
    yield from _elsewhere_first(stage, move, illegal, (1.0, 3.0), "wrong square")


def taken_back(stage: Stage, game: Game, move: Move) -> Act:
    """Played elsewhere first, and taken back after the hand had left."""
    others = [play.square for play in legal_plays(game) if play.square != move.square]
    if not others:
        yield from plain_move(stage, move)
        return
    yield from _elsewhere_first(stage, move, others, (0.2, 2.5), "taken back")


def _elsewhere_first(
    stage: Stage, move: Move, elsewhere: Sequence[Square], wait_s: tuple[float, float], why: str
) -> Act:
    """On one of these squares first; the hand leaves, waits so long, and moves the piece to where it belongs."""
    yield from stage.fetch(move.colour, move.piece)
    yield from stage.put(move.colour, elsewhere[stage.rng.integers(len(elsewhere))])
    square = next(reversed(stage.board))
    yield from stage.leave(move.colour)
    yield from stage.wait(*wait_s)
    yield from stage.lift(move.colour, square)
    yield from stage.put(move.colour, move.square)
    stage.commit(move, why)
    yield from stage.leave(move.colour)


def two_hands(stage: Stage, game: Game, move: Move) -> Act:
    """The opponent's hand is over the board meanwhile."""
    other = move.colour.other

    def point() -> Act:
        row = stage.look.layout.rows - 0.7 if other is Colour.DARK else 0.7
        yield from stage.reach(other, stage.column(0.5), row, 0.5, 0.5)
        yield from stage.wait(0.3, 1.5)
        yield from stage.leave(other)

    yield from stage.together(plain_move(stage, move, "two hands"), point())


def fidget(stage: Stage, game: Game, move: Move) -> Act:
    """The hand puts the piece down, lingers, and sets it straight."""
    yield from stage.fetch(move.colour, move.piece)
    yield from stage.put(move.colour, move.square)
    yield from stage.wait(0.1, 0.8)
    yield from _shifted(stage, move.colour, move.square, 0.08, 0.2)
    stage.commit(move, "set straight")
    yield from stage.leave(move.colour)


WITH_MOVE = {
    "hesitation": hesitation,
    "swap": swap,
    "wrong square": repaired,
    "taken back": taken_back,
    "two hands": two_hands,
    "set straight": fidget,
}


# Several things at once -------------------------------------------------------------------------------------------


def quick_reply(stage: Stage, weather: Weather, game: Game, moves: Sequence[Move]) -> Act:
    """Two moves while a hand is over the board all the time: the reply comes before the first hand has left."""
    first, second = moves

    def linger() -> Act:
        yield from stage.fetch(first.colour, first.piece)
        yield from stage.put(first.colour, first.square)
        stage.commit(first, "quick reply")
        while len(stage.played) < 2:
            yield
        yield from stage.leave(first.colour)

    def reply() -> Act:
        yield from stage.wait(0.6)
        yield from stage.fetch(second.colour, second.piece)
        while not stage.played:
            yield
        yield from stage.put(second.colour, second.square)
        stage.commit(second, "quick reply")
        yield from stage.leave(second.colour)

    if first.colour is second.colour:
        for move in moves:
            yield from plain_move(stage, move)
    else:
        yield from stage.together(linger(), reply())


def lamp_meanwhile(stage: Stage, weather: Weather, game: Game, moves: Sequence[Move]) -> Act:
    """A lamp goes on or off while a piece is put down."""
    yield from _meanwhile(stage, weather, moves, "lamp", (1.0, 2.2))


def bump_meanwhile(stage: Stage, weather: Weather, game: Game, moves: Sequence[Move]) -> Act:
    """The camera is knocked while a hand is over the board."""
    yield from _meanwhile(stage, weather, moves, "camera_bump", (0.6, 2.0))


def turn_meanwhile(stage: Stage, weather: Weather, game: Game, moves: Sequence[Move]) -> Act:
    """The camera is turned by a quarter between two moves."""
    before, after = moves
    yield from plain_move(stage, before)
    yield from stage.wait(0.7)
    yield from stage.wait(weather.camera_turn(stage.time) + 1.5)
    yield from plain_move(stage, after, "camera turned")


def slide_under_hand(stage: Stage, weather: Weather, game: Game, moves: Sequence[Move]) -> Act:
    """The sleeve of the playing hand pushes the board."""
    before, after = moves
    yield from plain_move(stage, before)
    yield from stage.wait(0.7)

    def push() -> Act:
        yield from stage.wait(0.3, 0.6)
        yield from slide(stage, weather)

    yield from stage.together(plain_move(stage, after, "pushed meanwhile"), push())


def long_rest(stage: Stage, weather: Weather, game: Game, moves: Sequence[Move]) -> Act:
    """A hand lies at the edge of the board for a minute, in which the other player goes on."""
    before, after = moves
    waits = after.colour.other

    def lie() -> Act:
        row = 0.1 if waits is Colour.LIGHT else stage.look.layout.rows - 0.1
        yield from stage.reach(waits, stage.column(0.3), row, 0.05, 0.6)
        yield from stage.wait(60)
        yield from stage.leave(waits)

    def play() -> Act:
        yield from stage.wait(30)
        yield from plain_move(stage, after, "a hand rests")

    yield from plain_move(stage, before)
    yield from stage.wait(0.7)
    yield from stage.together(lie(), play())


def _meanwhile(stage: Stage, weather: Weather, moves: Sequence[Move], what: str, when_s: tuple[float, float]) -> Act:
    before, after = moves

    def happen() -> Act:
        yield from stage.wait(*when_s)
        yield from stage.wait(getattr(weather, what)(stage.time))

    yield from plain_move(stage, before)
    yield from stage.wait(0.7)
    yield from stage.together(plain_move(stage, after, what.replace("_", " ") + " meanwhile"), happen())


AT_ONCE = {
    "quick reply": quick_reply,
    "lamp meanwhile": lamp_meanwhile,
    "bump meanwhile": bump_meanwhile,
    "camera turned": turn_meanwhile,
    "pushed meanwhile": slide_under_hand,
    "hand rests a minute": long_rest,
}
"""Of two moves, and what happens with them."""


# Between moves ----------------------------------------------------------------------------------------------------


def _anyone(stage: Stage) -> Colour:
    return list(Colour)[stage.rng.integers(2)]


def hover(stage: Stage, weather: Weather) -> Act:
    """A hand comes, thinks over some squares, and goes."""
    who = _anyone(stage)
    for _ in range(stage.rng.integers(1, 4)):
        x, y = stage.place()
        yield from stage.reach(who, x, y, float(stage.rng.uniform(0.25, 0.9)), 0.5)
        yield from stage.wait(0.1, 2.2)
    yield from stage.leave(who)


def hover_with_piece(stage: Stage, weather: Weather) -> Act:
    """A piece is carried over the board, and put back to the others."""
    who = _anyone(stage)
    pieces = [piece for piece, left in stage.spares.items() if left and piece.colour is who]
    if not pieces:
        return
    yield from stage.fetch(who, pieces[stage.rng.integers(len(pieces))])
    for _ in range(stage.rng.integers(1, 3)):
        x, y = stage.place()
        yield from stage.reach(who, x, y, float(stage.rng.uniform(0.3, 0.8)), 0.6)
        yield from stage.wait(0.1, 1.8)
    yield from stage.put_aside(who)
    yield from stage.leave(who)


def reach_over(stage: Stage, weather: Weather) -> Act:
    """A hand goes over the whole board to something behind it."""
    who = _anyone(stage)
    beyond = stage.look.layout.rows + 1.2 if who is Colour.LIGHT else -1.2
    yield from stage.reach(who, stage.column(0.0), beyond, 0.6, 0.8)
    yield from stage.wait(0.2, 1.2)
    yield from stage.leave(who, 0.8)


def rest(stage: Stage, weather: Weather) -> Act:
    """A hand lies on the edge of the board for a while."""
    who = _anyone(stage)
    row = 0.35 if who is Colour.LIGHT else stage.look.layout.rows - 0.35
    yield from stage.reach(who, stage.column(0.3), row, 0.05, 0.6)
    yield from stage.wait(1.0, 5.0)
    yield from stage.leave(who)


def _some_square(stage: Stage) -> Square | None:
    squares = sorted(stage.board)
    return squares[stage.rng.integers(len(squares))] if squares else None


def _shifted(stage: Stage, who: Colour, square: Square, how_far: float, how_turned: float) -> Act:
    """A hand that is on a piece shifts and turns it; it stays on its square."""
    held = stage.board.pop(square)
    stage._hold(who, held)
    dx, dy = (float(v) for v in stage.rng.uniform(-how_far, how_far, 2))
    x = min(max(held.x + dx, square.column + 0.42), square.column + 0.58)
    y = min(max(held.y + dy, square.row + 0.42), square.row + 0.58)
    turn = float(stage.rng.uniform(-how_turned, how_turned))
    yield from stage.reach(who, x, y - stage._grip(who), 0.0, 0.3, turn=turn)
    stage.board[square] = replace(stage.hands[who][1], z=0.0)
    stage._hold(who, None)


def nudge(stage: Stage, weather: Weather) -> Act:
    """A piece is pushed a little."""
    square, who = _some_square(stage), _anyone(stage)
    if square is None:
        return
    yield from stage.grab(who, stage.board[square])
    yield from _shifted(stage, who, square, 0.12, 0.12)
    yield from stage.leave(who)


def turned(stage: Stage, weather: Weather) -> Act:
    """A piece is turned on its square by some quarter, as somebody reads it."""
    square, who = _some_square(stage), _anyone(stage)
    if square is None:
        return
    yield from stage.grab(who, stage.board[square])
    stage._hold(who, stage.board.pop(square))
    held = stage.hands[who][1]
    quarter = 0.0 if stage.look.pieces.round else math.pi / 2
    yield from stage.reach(who, held.x, held.y - stage._grip(who), 0.0, 0.5, turn=quarter)
    stage.board[square] = replace(stage.hands[who][1], z=0.0)
    stage._hold(who, None)
    yield from stage.leave(who)


def lifted(stage: Stage, weather: Weather) -> Act:
    """A piece is taken away, looked at, and put back."""
    square, who = _some_square(stage), _anyone(stage)
    if square is None:
        return
    yield from stage.lift(who, square)
    if stage.rng.random() < 0.5:
        side = -0.8 if who is Colour.LIGHT else stage.look.layout.rows + 0.8
        yield from stage.reach(who, stage.column(0.5), side, 0.6, 0.5)
    else:
        held = stage.hands[who][1]
        yield from stage.reach(who, held.x, held.y, 0.7, 0.3)
    yield from stage.wait(0.3, 3.0)
    yield from stage.put(who, square)
    yield from stage.leave(who)


def cup(stage: Stage, weather: Weather) -> Act:
    """A cup is put beside the board; an older one goes."""
    who = _anyone(stage)
    x, away = stage.column(0.0), float(stage.rng.uniform(0.75, 1.2))
    y = -away if who is Colour.LIGHT else stage.look.layout.rows + away
    yield from stage.reach(who, x, y, 0.3, 0.6)
    colour = tuple(float(v) for v in stage.rng.uniform(40, 230, 3))
    stage.things[:] = [Thing(x, y, float(stage.rng.uniform(0.3, 0.45)), float(stage.rng.uniform(0.2, 0.7)), colour)]
    yield from stage.wait(0.3)
    yield from stage.leave(who)


def slide(stage: Stage, weather: Weather) -> Act:
    """A sleeve or an elbow pushes the board."""
    start = stage.slide
    dx, dy = (float(v) for v in stage.rng.normal(0, 0.15, 2))
    turn = float(stage.rng.normal(0, 0.03))
    end = Slide(
        min(max(start.x + dx, -0.25), 0.25),
        min(max(start.y + dy, -0.25), 0.25),
        min(max(start.turn + turn, -0.08), 0.08),
    )
    for share in stage.during(0.35):
        stage.slide = Slide(
            *(a + (b - a) * share for a, b in ((start.x, end.x), (start.y, end.y), (start.turn, end.turn)))
        )
        yield


def pause(stage: Stage, weather: Weather) -> Act:
    """Somebody thinks."""
    yield from stage.wait(6, 14)


def _weather(name: str):
    def act(stage: Stage, weather: Weather) -> Act:
        yield from stage.wait(getattr(weather, name)(stage.time) * float(stage.rng.uniform(0.1, 1.1)))

    act.__doc__ = f"The {name.replace('_', ' ')}."
    return act


LIGHTS = ("lamp", "cloud", "exposure_step", "white_balance", "person", "camera_bump", "flicker")
BETWEEN = {
    "hover": hover,
    "hover with a piece": hover_with_piece,
    "reach over": reach_over,
    "resting hand": rest,
    "nudge": nudge,
    "turned": turned,
    "lifted and returned": lifted,
    "cup": cup,
    "board slides": slide,
    "thinking": pause,
    **{name.replace("_", " "): _weather(name) for name in LIGHTS},
}
