"""What comes to lie beside the board may hold what seems to lie on it: tables and hands of plain grey, from above."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
import pytest

from companion.rules import Layout, Square
from companion.vision.motion import Motion
from companion.vision.rectify import MARGIN, SQUARE

LAYOUT = Layout.parse("4x4")
SIDE = 4 * SQUARE + 2 * MARGIN
STEP_S = 0.1


def square(name: str) -> tuple[slice, slice]:
    """The middle of a square, where a piece lies or is held."""
    place = Square.parse(name)
    x, y = MARGIN + place.column * SQUARE, MARGIN + (3 - place.row) * SQUARE
    return slice(y + 8, y + SQUARE - 8), slice(x + 8, x + SQUARE - 8)


def around(name: str, reach: int) -> tuple[slice, slice]:
    """From so many pixels outside the picture's middle to its edge, beside a square of the rim."""
    rows, columns = square(name)
    place = Square.parse(name)
    if place.row == 3:
        return slice(0, reach), columns
    if place.row == 0:
        return slice(SIDE - reach, SIDE), columns
    return rows, slice(0, reach) if place.column == 0 else slice(SIDE - reach, SIDE)


def view(*things: tuple[slice, slice], light: float = 1.0, fallen: slice | None = None) -> np.ndarray:
    """A checked board on a table, with white things on it; what has `fallen` on the board is in the shade."""
    picture = np.full((SIDE, SIDE, 3), 90, np.uint8)
    for place in LAYOUT:
        x, y = MARGIN + place.column * SQUARE, MARGIN + (3 - place.row) * SQUARE
        grey = 120 + 20 * ((place.row + place.column) % 2)
        cv2.rectangle(picture, (x, y), (x + SQUARE - 1, y + SQUARE - 1), (grey,) * 3, -1)
    for thing in things:
        picture[thing] = 220
    if fallen is not None:
        picture[:, fallen] //= 2
    return np.clip(picture * light, 0, 255).astype(np.uint8)


def held(motion: Motion, *views: np.ndarray, since: float = 0.0) -> set[str]:
    """The squares that may be held after the last of these views."""
    for i, each in enumerate(views):
        motion.see(since + i * STEP_S, each)
    return {str(LAYOUT.squares[i]) for i in motion.held}


@pytest.fixture
def motion() -> Motion:
    """Of an empty board that has been at rest for three seconds."""
    motion = Motion(LAYOUT)
    assert held(motion, *[view()] * 30) == set()
    return motion


@pytest.mark.parametrize("name", ["b4", "b1", "a2", "d3"])
def test_what_comes_with_something_beside_the_board_may_be_held(motion, name):
    hand = around(name, MARGIN + 4)
    assert held(motion, *[view(square(name), hand)] * 5, since=3) == {name}


def test_what_stays_when_the_hand_has_left_lies_there(motion):
    there, hand = view(square("b4")), view(square("b4"), around("b4", MARGIN + 4))
    assert held(motion, *[hand] * 3, since=3) == {"b4"}
    assert held(motion, *[there] * 2, since=3.3) == set()


def test_a_hand_that_is_gone_with_the_next_picture_held_nothing(motion):
    assert held(motion, view(square("b4"), around("b4", MARGIN + 8)), *[view(square("b4"))] * 2, since=3) == set()


def test_what_comes_by_itself_is_not_held(motion):
    assert held(motion, *[view(square("b4"))] * 5, since=3) == set()


@pytest.mark.parametrize("name", ["b4", "b1", "a2", "d4"])
def test_a_tall_piece_that_leans_out_of_the_view_of_its_square_is_not_held(motion, name):
    """Before, it was held for 2.5 s, and anew whenever a hand passed: in quick play nothing was told any more."""
    assert held(motion, *[view(square(name), leaning(name))] * 5, since=3) == set()


@pytest.mark.parametrize("name", ["b4", "b1", "a2", "d4"])
def test_a_hand_that_reaches_over_a_tall_piece_may_hold_it(motion, name):
    assert held(motion, *[view(square(name), leaning(name), around(name, MARGIN + 4))] * 5, since=3) == {name}


def leaning(name: str) -> tuple[slice, slice]:
    """What a tall, large piece covers beyond its square, to two thirds of the rim."""
    rows, columns = (slice(part.start - 6, part.stop + 6) for part in square(name))
    near, far = slice(6, MARGIN + 20), slice(SIDE - MARGIN - 20, SIDE - 6)
    return {"b4": (near, columns), "d4": (near, columns), "b1": (far, columns), "a2": (rows, near)}[name]


def test_what_passes_a_corner_holds_nothing(motion):
    passing = slice(MARGIN + SQUARE, MARGIN + 2 * SQUARE), slice(SIDE - MARGIN, SIDE)  # right of d3
    assert held(motion, *[view(square("d4"), passing)] * 5, since=3) == set()


def test_in_the_middle_of_the_board_a_hand_hides_squares_anyway(motion):
    assert "b2" not in held(motion, *[view(square("b2"), around("b4", MARGIN + 4))] * 5, since=3)


def test_nobody_holds_still_for_long(motion):
    assert held(motion, *[view(square("b4"), around("b4", MARGIN + 4))] * 30, since=3) == set()


def test_a_hand_that_trembles_goes_on_holding(motion):
    hand, piece = around("b4", MARGIN + 4), square("b4")
    elsewhere = tuple(slice(part.start + 3, part.stop + 3) for part in piece)
    trembling = [view(piece, hand)] * 15 + [view(elsewhere, hand)] * 15
    assert held(motion, *trembling, *trembling, since=3) == {"b4"}


def fidgeting(seconds: float) -> list[np.ndarray]:
    """A piece held still on b4 by fingers that turn beside the board, once a second."""
    one = view(square("b4"), hand := around("b4", MARGIN + 4))
    other = one.copy()
    other[hand[0].start : MARGIN - 4, hand[1]] = 160
    return [(one, other)[int(i * STEP_S) % 2] for i in range(round(seconds / STEP_S))]


@pytest.mark.parametrize(("seconds", "still"), [(2, {"b4"}), (6, {"b4"}), (9, {"b4"}), (11, set())])
def test_fingers_that_move_beside_the_board_go_on_holding_but_not_for_ever(motion, seconds, still):
    assert held(motion, *fidgeting(seconds), since=3) == still


def test_a_hand_that_has_left_holds_nothing_though_something_was_left_there(motion):
    rows, columns = around("b4", MARGIN)
    left = slice(rows.start, rows.stop - 4), slice(columns.start, columns.start + 15)
    held(motion, *fidgeting(1.5), since=3)
    assert held(motion, *[view(square("b4"), left)] * 2, since=4.5) == set()


def test_a_hand_that_lay_there_before_holds_nothing(motion):
    arm = around("b4", MARGIN - 2)
    held(motion, *[view(arm)] * 20, since=3)
    assert held(motion, *[view(arm, square("b4"))] * 3, since=5) == set()
    assert held(motion, *[view()] * 3, since=5.3) == set()


def test_what_is_known_outlives_an_arm_that_rested_there(motion):
    held(motion, *[view(around("b4", MARGIN - 2))] * 20, since=3)
    assert held(motion, view(around("c3", SIDE // 2)), *[view(square("b4"))] * 3, since=5) == set()


def test_what_is_known_is_what_lay_there_last_before_an_arm_rested_there():
    motion, cup = Motion(LAYOUT), around("b4", MARGIN - 2)
    held(motion, *[view(cup)] * 20, *[view()] * 20, *[view(around("b4", MARGIN - 4))] * 20)
    assert held(motion, view(around("c3", SIDE // 2)), *[view(square("b4"))] * 3, since=6) == set()


@pytest.mark.parametrize("change", [{"light": 0.6}, {"fallen": slice(0, SIDE * 3 // 4)}])
def test_under_another_lamp_too_a_piece_lies_there_when_the_hand_has_left(motion, change):
    hand = view(square("b4"), around("b4", MARGIN + 4), **change)
    held(motion, view(**change), *[hand] * 3, since=3)
    assert held(motion, *[view(square("b4"), **change)] * 2, since=3.4) == set()


def test_under_another_lamp_a_piece_that_comes_by_itself_is_not_held(motion):
    dim = {"fallen": slice(0, SIDE * 3 // 4)}
    assert held(motion, *[view(square("a3"), **dim)] * 3, since=3) == set()


def test_what_was_around_a_board_that_was_lost_is_not_known(motion):
    motion.forget()
    assert held(motion, *[view(square("b4"), around("b4", MARGIN + 4))] * 3, since=3) == set()


def test_beside_a_square_that_touches_a_gap_with_a_corner_only_nothing_is_held():
    layout = Layout.parse("####./####./######/######/..####/..####")
    motion = Motion(layout)
    table = np.full((layout.rows * SQUARE + 2 * MARGIN, layout.columns * SQUARE + 2 * MARGIN, 3), 90, np.uint8)
    for i in range(30):
        motion.see(i * STEP_S, table)
    piece, d4 = table.copy(), layout.index(Square.parse("d4"))
    y, x = MARGIN + 2 * SQUARE, MARGIN + 3 * SQUARE
    piece[y + 8 : y + SQUARE - 8, x + 8 : x + SQUARE - 8] = 220
    came = [motion.see(3 + i * STEP_S, piece)[0][d4] for i in range(3)]
    assert (came, motion.held) == ([True, False, False], [])


def test_beside_an_irregular_board_hands_come_over_its_gaps():
    layout = Layout.parse("..##/####/##..")
    motion, table = Motion(layout), np.full((3 * SQUARE + 2 * MARGIN, SIDE, 3), 90, np.uint8)
    for i in range(30):
        motion.see(i * STEP_S, table)
    hand = table.copy()
    b3, b2 = slice(MARGIN, MARGIN + SQUARE), slice(MARGIN + SQUARE + 8, MARGIN + 2 * SQUARE - 8)
    b = slice(MARGIN + SQUARE + 4, MARGIN + 2 * SQUARE - 4)
    hand[b3, b] = hand[b2, b] = 220
    for i in range(3):
        motion.see(3 + i * STEP_S, hand)
    assert [str(layout.squares[i]) for i in motion.held] == ["b2"]


def swaying(time: float, *, softness: float, things: tuple[tuple[slice, slice], ...] = ()) -> np.ndarray:
    """A board with things on it, half of it in a shadow that sways once a second by a third of a square either way."""
    edge = SIDE / 2 + SQUARE / 3 * np.sin(2 * np.pi * time)
    left = 0.75 + 0.25 * np.tanh((np.arange(SIDE) - edge) / softness)
    noise = np.random.default_rng(int(time * 1000)).normal(0, 1.5, (SIDE, SIDE, 3))
    return np.clip(view(*things) * left[None, :, None] + noise, 0, 255).astype(np.uint8)


def moving(motion: Motion, pictures: Iterable[tuple[float, np.ndarray]]) -> set[str]:
    """The squares in which something moves in any of these pictures."""
    moves = [motion.see(time, picture)[0] for time, picture in pictures]
    return {str(LAYOUT.squares[i]) for each in moves for i in np.flatnonzero(each)}


def times(begin: float, end: float) -> list[float]:
    """Of all frames between."""
    return [i * STEP_S for i in range(round(begin / STEP_S), round(end / STEP_S))]


SWEPT = {f"{column}{row}" for column in "bc" for row in "1234"}


def test_a_shadow_that_sways_moves_nothing_when_it_is_known_for_light():
    motion = Motion(LAYOUT)
    assert moving(motion, ((t, swaying(t, softness=5)) for t in times(0, 1))) == SWEPT
    assert moving(motion, ((t, swaying(t, softness=5)) for t in times(2, 6))) == set()


def test_a_shadow_with_a_hard_edge_may_be_a_thing():
    motion = Motion(LAYOUT)
    for begin in (0, 3):
        assert moving(motion, ((t, swaying(t, softness=0.5)) for t in times(begin, begin + 3))) == SWEPT


def test_a_thing_that_comes_in_a_swaying_shadow_moves_and_beside_it_light_has_to_be_known_anew():
    motion, piece = Motion(LAYOUT), (square("b2"),)
    moving(motion, ((t, swaying(t, softness=5)) for t in times(0, 3)))
    came = [(t, swaying(t, softness=5, things=piece)) for t in times(3, 8)]
    beside = {name for name in SWEPT if name[1] in "123"}
    assert moving(motion, came[:10]) == beside
    assert moving(motion, came[20:]) == set()


def test_beside_a_thing_that_fidgets_in_a_swaying_shadow_nothing_is_taken_for_light():
    motion, unsure, (rows, columns) = Motion(LAYOUT), Motion(LAYOUT), square("b2")
    aside = rows, slice(columns.start + 2, columns.stop + 2)
    beside = [LAYOUT.index(Square.parse(name)) for name in SWEPT if name[1] in "123"]
    for t in times(0, 8):
        picture = swaying(t, softness=5, things=((aside if t % 1 < 0.5 else (rows, columns)),) if t >= 3 else ())
        moves, all_moves = motion.see(t, picture)[0], unsure.see(t, picture)[0]
        unsure.forget()
        if t >= 3:
            assert [moves[i] for i in beside] == [all_moves[i] for i in beside]


def test_when_nothing_has_moved_for_long_light_has_to_be_known_anew():
    motion = Motion(LAYOUT)
    moving(motion, ((t, swaying(t, softness=5)) for t in times(0, 3)))
    moving(motion, ((t, swaying(3, softness=5)) for t in times(3, 15)))
    assert moving(motion, ((t, swaying(t, softness=5)) for t in times(15, 16))) == SWEPT


def test_where_the_board_lies_anew_light_has_to_be_known_anew():
    motion = Motion(LAYOUT)
    moving(motion, ((t, swaying(t, softness=5)) for t in times(0, 3)))
    motion.forget()
    assert moving(motion, ((t, swaying(t, softness=5)) for t in times(3, 4))) == SWEPT


def test_a_thing_that_comes_while_the_lamp_grows_brighter_moves_and_nothing_else_does():
    motion, brighter = Motion(LAYOUT), view(square("b2")) + np.uint8(30)
    moving(motion, ((t, view()) for t in times(0, 1)))
    assert moving(motion, [(1, brighter)]) == {"b2"}


def test_only_of_squares_that_are_kept_it_is_known_how_they_are_now():
    motion, places = Motion(LAYOUT), [LAYOUT.index(Square.parse(name)) for name in ("b2", "c3")]
    motion.see(0, view())
    motion.keep(list(range(len(LAYOUT))))
    pieces = view(square("b2"), square("c3"))
    _, changes = motion.see(STEP_S, pieces)
    assert (changes[places] > 0.1).all()
    motion.keep(places[:1])
    _, changes = motion.see(2 * STEP_S, pieces)
    assert changes[places[0]] == 0
    assert changes[places[1]] > 0.1
