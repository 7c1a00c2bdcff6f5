"""One square over time, drawn as a line of readings, 1/10 s apiece, and what has settled at its end."""

from __future__ import annotations

import pytest

from companion.readings import ANYTHING, EMPTY, BoardReading, contents_of, possible
from companion.rules import Colour, Kind, Layout, Piece, Square
from companion.settling import Settler

LAYOUT = Layout.parse("4x4")
A1, A2 = (LAYOUT.index(Square.parse(name)) for name in ("a1", "a2"))
PLUS, CROSS = Piece.parse("light straight"), Piece.parse("light diagonal")
READINGS = {".": EMPTY, "+": contents_of([PLUS]), "x": contents_of([CROSS]), "?": contents_of([PLUS, CROSS])}
READINGS["m"] = contents_of([None, PLUS])  # maybe a piece
READINGS["~"] = ANYTHING
READINGS["P"] = READINGS["+"]  # which a hand may hold
READINGS["N"] = READINGS["+"]  # beside a hand
READINGS["o"] = EMPTY  # as it was last seen: something has changed there since

# What is read on a1 (h: hidden; n: a neighbour is hidden), what has settled there, whether it is at rest.
LINES = [
    ("....", "m?x+.", False),  # not long enough yet: anything
    (".....", ".", True),
    (".....+", ".", False),
    (".....++", ".", False),
    (".....+++++", "+", True),
    (".....+.+.+.+", ".", False),  # flickers: not at rest, keeps what it held
    ("..........+..", ".", True),  # one odd frame rules nothing out and restarts nothing
    (".....hhhh", ".", False),
    (".....hhhh+++++", "+", True),
    (".....hhhh++++", ".", False),  # seen for 0.3 s only since the hand left
    (".....hhhhhhhhhhhhhh.....", ".", True),
    ("++h++", "+", True),  # a flicker of the hand mask is an odd frame too
    (".....nnnn+++++", "+", True),
    (".....nnn+nn+", ".", False),
    ("?????", "?", True),
    ("?????+++++", "+", True),  # agreement narrows
    ("+++++?????", "+", True),  # and a worse view forgets nothing
    ("+++++hhhh?????", "?", True),  # but after a hand, only what is seen now counts
    ("?????++", "?", True),  # but not that of a few readings,
    ("?????++??", "?", True),
    ("?????+++", "?", True),
    ("?????++++", "+", True),
    ("hhhh++???", "?", True),  # which a better look may not bear out,
    ("hhhh???++", "+", True),  # or may
    ("?????xxxxx", "x", True),
    ("+++++xxxxx", "x", True),
    (".....hhhhmmmmm", "m", True),
    (".....mmmmm", ".", True),
    (".....hmmmmm", "m", True),  # also a hand in a single frame may have left something
    ("mmmmmhmmmmm", "m", True),
    ("mmmmmh?????", "?", True),
    (".....~~~~", ".", True),  # it was empty a moment ago
    (".....~~~~~", "~", True),  # what can no more be told apart may hold anything
    (".....~~~~~+++++", "+", True),
    ("+++++~~~~~", "+", True),  # but a piece that was there is not forgotten
    (".....PPPPPPPPPP", ".", False),
    (".....~~~~~PPPPPPP", "~", False),
    (".....hhhhmmmmmPPPPPPP", "m", False),
    (".....PPPPPPPPPP.....", ".", True),
    (".....PPPP+", "+", True),  # what was seen meanwhile counts as soon as the hand is gone
    ("+++++PPPPP", "+", True),  # it was there before the hand
]


def settle(line: str, step_s: float = 0.1):
    settler = Settler(LAYOUT, settle_s=0.4)
    for i, read in enumerate(line):
        hidden, held = {"h": 1 << A1, "n": 1 << A2, "N": 1 << A2}.get(read, 0), (read == "P") << A1
        squares = [EMPTY] * len(LAYOUT)
        squares[A1] = ANYTHING if read == "h" else READINGS.get(read, EMPTY)
        stale = (read == "o") << A1
        snapshot = settler.feed(BoardReading(i * step_s, tuple(squares), hidden=hidden, held=held, stale=stale))
    return snapshot


@pytest.mark.parametrize(("line", "settled", "at_rest"), LINES)
def test_line_of_readings_settles(line, settled, at_rest):
    snapshot = settle(line)
    expected = ANYTHING if settled == "m?x+." else READINGS[settled]
    assert possible(snapshot.squares[A1].contents) == possible(expected)
    assert (not snapshot.unsettled >> A1 & 1) == at_rest


@pytest.mark.parametrize(
    ("line", "held"),
    [(".....PPPPP", True), (".....PPPPP+", False), (".....PPPPPh", False), ("+++++PPPPP", False), (".....PP", False)],
)
def test_what_would_have_settled_but_for_a_hand_is_told(line, held):
    assert settle(line).held == held << A1


@pytest.mark.parametrize("step_s", [0.01, 1 / 30, 1 / 12, 0.2, 1.0])
def test_settling_takes_the_same_time_at_any_frame_rate(step_s):
    before = "." * round(2 / step_s) + "h" * max(2, round(0.3 / step_s))
    needed = round(0.4 / step_s + 0.4999) + 1
    done = next(n for n in range(1, 200) if settle(before + "+" * n, step_s).squares[A1].contents == READINGS["+"])
    assert done <= needed
    assert (done - 1) * step_s >= 0.4 - 1e-6


@pytest.mark.parametrize(
    ("step_s", "looked_for", "readings"), [(0.125, True, 4), (0.125, False, 5), (0.2, True, 2), (0.25, True, 3)]
)
def test_what_did_not_move_was_there_a_reading_earlier_unless_that_is_long_ago(step_s, looked_for, readings):
    settler, seen = Settler(LAYOUT, settle_s=0.4), 0
    settler.feed(BoardReading(0, (EMPTY,) * 16))
    for i in range(1, 12):
        hidden = i < 5
        squares = (ANYTHING if hidden else READINGS["+"], *(EMPTY,) * 15)
        since = (i - 1) * step_s if looked_for else None
        snapshot = settler.feed(BoardReading(i * step_s, squares, hidden=int(hidden) << A1, still_since=since))
        seen += not hidden and snapshot.squares[A1].contents != READINGS["+"]
    assert seen + 1 == readings


def test_what_was_there_a_reading_earlier_is_dated_to_then_and_counts_once():
    settler = Settler(LAYOUT, settle_s=0.4)
    for i, read in enumerate(".....hhh+++++"):
        squares = (ANYTHING if read == "h" else READINGS[read], *(EMPTY,) * 15)
        reading = BoardReading(i / 10, squares, hidden=(read == "h") << A1, still_since=max(0, i - 1) / 10)
        square = settler.feed(reading).squares[A1]
    assert (round(square.after, 6), round(square.since, 6)) == (0.4, 0.7)


def test_times_bracket_the_change_even_behind_a_hand():
    square = settle(".....hhhhhh+++++").squares[A1]
    assert (round(square.after, 6), round(square.since, 6)) == (0.4, 1.1)


def test_a_piece_that_looks_otherwise_after_a_hand_may_have_lain_there_before():
    assert settle(".....hhh?????hhh+++++").squares[A1].after == pytest.approx(0.4)
    assert settle("+++++hhhxxxxx").squares[A1].after == pytest.approx(0.4)


@pytest.mark.parametrize("line", [".....o+++++", ".....ho+++++", ".....ooo++++++"])
def test_a_square_that_was_not_looked_at_since_it_changed_is_not_known_to_have_been_empty_then(line):
    assert settle(line).squares[A1].after == pytest.approx(0.4)
    assert settle(line.replace("o", ".")).squares[A1].after > 0.45


def test_what_may_be_a_piece_and_proves_to_be_one_may_have_come_at_any_time_between():
    settled = settle(".....hhhmmmmm++++").squares[A1]
    assert (settled.since, settled.after) == (pytest.approx(1.3), pytest.approx(0.4))


def test_a_change_that_lasts_is_dated_to_its_first_frame():
    square = settle("......+++++").squares[A1]
    assert (round(square.after, 6), round(square.since, 6)) == (0.5, 0.6)


def test_an_odd_reading_does_not_make_a_square_restless_but_a_hand_and_a_change_do():
    lines = {"......+": False, ".....hhhh+": True, ".....hhhh+++++": False, ".....++": True, ".....+++++": False}
    assert {line: bool(settle(line).restless >> A1 & 1) for line in lines} == lines


@pytest.mark.parametrize("line", [".....++.++", ".....+.+++", ".....+++.++", ".....hhhh.+++++"])
def test_an_odd_reading_after_a_piece_or_a_hand_was_seen_does_not_show_that_it_came_later(line):
    square = settle(line).squares[A1]
    assert (square.contents, square.after) == (READINGS["+"], pytest.approx(0.4))
    assert square.after < square.since


def settled_on(line: str):
    return settle(line).squares[A1].contents


def test_a_piece_that_could_not_be_told_for_long_is_told_only_by_what_lasts_as_long():
    unclear = "." * 5 + "?" * 30
    assert settled_on(unclear + "+" * 20) == READINGS["?"]
    assert settled_on(unclear + "+" * 30) == READINGS["+"]
    assert settled_on(unclear + "+" * 12 + "?" * 6 + "+" * 18) == READINGS["?"]
    assert settled_on(unclear + "+" * 12 + "hhhh" + "+" * 9) == READINGS["?"]  # a hand makes nothing clear at once
    assert settled_on(unclear + "+" * 12 + "hhhh" + "+" * 20) == READINGS["+"]


def test_what_may_be_no_piece_at_all_makes_no_doubtful_piece_clear_sooner_than_a_clear_one_does():
    unclear = "." * 5 + "?" * 100
    assert settled_on(unclear + "+" * 6) == settled_on(unclear + "m" * 6) == READINGS["?"]


def test_doubt_about_a_piece_lasts_five_seconds_at_most_and_goes_with_the_piece():
    unclear = "." * 5 + "?" * 200
    assert settled_on(unclear + "+" * 49) == READINGS["?"]
    assert settled_on(unclear + "+" * 52) == READINGS["+"]
    assert settled_on(unclear + "....." + "+++++") == READINGS["+"]
    assert settled_on(unclear + "hhhh....." + "hhhh+++++") == READINGS["+"]


def test_beside_a_hand_that_rests_for_long_what_is_seen_counts():
    assert settled_on("....." + "n" * 40 + "N" * 9) == EMPTY
    assert settled_on("....." + "n" * 50 + "N" * 6) == READINGS["+"]
    assert settled_on("....." + "n" * 50 + ".n" + "N" * 6) == EMPTY  # it has moved


def test_a_reading_of_another_board_is_refused():
    with pytest.raises(ValueError, match="zip"):
        Settler(LAYOUT).feed(BoardReading(0, (EMPTY,) * 4))


def cards_seen(*seen: tuple[float, set[Kind] | None]) -> list[frozenset[Kind] | None]:
    """What is settled of Light's card after each reading of it; None is a hand, or no card."""
    settler, told = Settler(Layout.parse("4x4"), settle_s=0.4), []
    for time, kinds in seen:
        cards = {} if kinds is None else {Colour.LIGHT: frozenset(kinds)}
        told.append(settler.feed(BoardReading(time, (EMPTY,) * 16, cards=cards)).cards.get(Colour.LIGHT))
    return told


ARROW, BRICKS = {Kind.STRAIGHT}, {Kind.PULLER}


def test_a_card_is_believed_when_it_has_been_seen_for_long_enough():
    assert cards_seen((0.0, ARROW), (0.2, ARROW), (0.4, ARROW)) == [None, None, frozenset(ARROW)]


def test_a_hand_over_a_card_begins_its_time_anew():
    assert cards_seen((0.0, ARROW), (0.2, None), (0.4, ARROW), (0.6, ARROW)) == [None] * 4


def test_a_card_that_is_read_in_two_ways_may_be_either():
    assert cards_seen((0.0, ARROW), (0.2, BRICKS), (0.4, ARROW))[-1] == ARROW | BRICKS
    assert cards_seen((0.0, BRICKS), (0.2, ARROW), (0.4, ARROW), (0.7, ARROW))[-1] == ARROW
