"""Two sources at one table: each has its say, neither is believed against the other, and either can go on alone."""

from __future__ import annotations

import dataclasses
import threading
import time

import pytest

from companion import background, events
from companion.background import JOIN_S, Background
from companion.errors import EndOfSource, RulesError, SourceError
from companion.events import parse_content
from companion.readings import ANYTHING, BoardReading, contents_of
from companion.referee import Referee
from companion.rules import Game, Layout, Piece, Square
from companion.script import READING_S, Pace, Scene, ScriptedSource, moves_by_hand
from companion.senses import Senses
from companion.settling import Settler
from companion.table import Table
from tests.ledger import Ledger
from tests.stories import told as told_in_short
from tests.test_table import SOON_S, WORKED_EXAMPLE, Feed, to_the_end

BOARD = Layout.parse("4x4")
A1 = Square.parse("a1")
EMPTY_BOARD = BoardReading(0.0, (contents_of([None]),) * 16)


class Script(ScriptedSource):
    """A told game, with a gap in the telling: where an error stands, the source is lost."""

    def __init__(self, name, readings):
        super().__init__(name, ())
        self._told = iter(readings)

    def read(self, timeout_s):
        told = next(self._told, None)
        if told is None:
            raise EndOfSource(f"{self.name} has ended")
        if isinstance(told, Exception):
            raise told
        return told


def dies_between(first_s, last_s, readings, why):
    """The readings of a source that delivers nothing between two moments."""
    return [SourceError(why) if first_s <= reading.time < last_s else reading for reading in readings]


def told_by(*sources):
    table = Table(sources[0], Referee(Game.start()), Ledger(), clock=time.monotonic, others=sources[1:])
    return table, to_the_end(table)


def whole_game():
    return list(moves_by_hand(WORKED_EXAMPLE, BOARD))


@pytest.mark.parametrize("blind", [(), (5.0, 20.0), (0.0, 12.0), (12.0, 99.0)])
@pytest.mark.parametrize("dies_first", [True, False])
def test_a_game_is_followed_whichever_of_two_sources_is_lost_and_when(blind, dies_first):
    dying = dies_between(*blind, whole_game(), "unplugged") if blind else whole_game()
    sources = [Script("script:one", dying), Script("script:two", whole_game())]
    table, told = told_by(*(sources if dies_first else sources[::-1]))
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE
    assert not [event for event in told if isinstance(event, events.SourcesDisagree | events.IllegalPlacement)]
    lost = [(event.source, event.why) for event in told if isinstance(event, events.SourceLost)]
    back = [event.source for event in told if isinstance(event, events.SourceBack)]
    assert lost == ([("script:one", "unplugged")] if blind else [])
    assert back == (["script:one"] if blind and blind[1] < 99 else [])


def test_sources_that_take_turns_in_dying_lose_no_move():
    one = dies_between(5.0, 15.0, whole_game(), "one is gone")
    two = dies_between(20.0, 30.0, whole_game(), "two is gone")
    table, told = told_by(Script("script:one", one), Script("script:two", two))
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE
    assert [event.source for event in told if isinstance(event, events.SourceLost)] == ["script:one", "script:two"]


def test_when_both_are_lost_there_is_nothing_to_see_until_one_is_back():
    scene = Scene(BOARD)
    one, two = Feed(), Feed()
    one.name, two.name = "feed:one", "feed:two"
    table = Table(one, Referee(Game.start()), Ledger(), clock=time.monotonic, others=[two])
    one.put(scene.reading())
    two.put(scene.reading(), SourceError("two is gone"))
    for _ in range(3):
        table.step(0)
    assert (table.view.lost, table.view.absent) == ("", (("feed:two", "two is gone"),))
    one.put(SourceError("one is gone"))
    table.step(0)
    assert (table.view.lost, table.view.absent) == ("one is gone; two is gone", ())
    two.put(scene.reading())
    table.step(0)
    assert (table.view.lost, table.view.absent) == ("", (("feed:one", "one is gone"),))
    kinds = [type(event).__name__ for event in table._recorder.events]
    assert kinds == ["SourceLost", "SourceLost", "SourceBack"]


def one_piece(*, misread: str | None = None, from_s: float = 0.0):
    """A light straight comes to lie on a1 after a second; from some moment on it is read as something else."""
    scene = Scene(BOARD)
    yield from scene.hold(1.0)
    for reading in scene.play(A1, Piece.parse("light straight"), Pace(rest_s=4.0)):
        if misread is None or reading.hidden or reading.time < from_s:
            yield reading
        else:
            seen = contents_of([parse_content(misread)])
            yield dataclasses.replace(reading, squares=(seen, *reading.squares[1:]))


def test_a_piece_that_one_source_does_not_see_is_not_played_until_a_person_says_so():
    camera = Script("camera:", one_piece(misread="."))
    tiles = Script("tiles:", one_piece())
    camera.settle_s = 0.0
    table, told = told_by(camera, tiles)
    assert [told_in_short(event) for event in told] == ["MatchStarted", "disagree a1", "unresolved a1"]
    assert told[1].contents == (None, Piece.parse("light straight"))
    assert told[1].words == "camera: says nothing; tiles: says light straight"
    assert [told.square for told in table.view.disagreements] == [A1]
    said = table.referee.answer(table._time, A1, Piece.parse("light straight"))
    assert [told_in_short(event) for event in said] == ["light a1+"]
    table._publish()
    assert table.view.disagreements == ()


def three_moves(*, covered=(), dirty=()):
    """a1+, a3>< and a2+, which would have been legal as the first move; nothing is told of `dirty` squares.

    An arm comes before the first move, and stays over the `covered` squares.
    """
    scene = Scene(BOARD)
    scene.misread = {Square.parse(name): ANYTHING for name in dirty}
    yield from scene.hold(1.5)
    scene.covered = set(map(Square.parse, covered))
    for name, what in (("a1", "light straight"), ("a3", "dark puller"), ("a2", "light straight")):
        yield from scene.hold(1.5)
        scene.pieces[Square.parse(name)] = Piece.parse(what)
    yield from scene.hold(3.0)


@pytest.mark.parametrize(
    "camera",
    [
        lambda: three_moves(covered=("a1", "a3")),
        lambda: dies_between(1.4, 99.0, three_moves(), "unplugged"),
    ],
)
def test_no_move_is_told_that_may_follow_those_on_dirty_contacts_which_the_camera_did_not_see(camera):
    tiles = Script("tiles:", three_moves(dirty=("a1", "a3")))
    tiles.settle_s = 0.0
    _, told = told_by(Script("camera:", camera()), tiles)
    assert "light a2+" not in [told_in_short(event) for event in told]


@pytest.mark.parametrize("misread", [".", "light diagonal"])
def test_a_misreading_of_what_has_been_played_is_told_and_disturbs_nothing(misread):
    camera = Script("camera:", one_piece(misread=misread, from_s=3.5))
    _, told = told_by(Script("tiles:", one_piece()), camera)
    assert [told_in_short(event) for event in told] == ["MatchStarted", "light a1+", "disagree a1"]


def test_a_source_whose_board_is_not_found_does_not_hold_up_the_other():
    blind = [BoardReading(reading.time, reading.squares, hidden=(1 << 16) - 1) for reading in whole_game()]
    lame = Script("camera:", blind)
    lame.trouble = "the board is not found"
    table = Table(Script("tiles:", whole_game()), Referee(Game.start()), Ledger(), clock=time.monotonic, others=[lame])
    table.start()
    for _ in range(200):
        table.step(0)
    assert (table.view.trouble, table.view.absent) == ("", (("camera:", "the board is not found"),))
    while not table.ended:
        table.step(0)
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE


def test_another_board_is_laid_out_for_all_sources_or_for_none():
    class Willing(Feed):
        def lay_out(self, layout, sets):
            self.layout, self.sets = layout, sets

    class Stubborn(Feed):
        def lay_out(self, layout, sets):
            raise RulesError("this one cannot")

    willing, stairs = Willing(), Layout.parse("8x4")
    table = Table(willing, Referee(Game.start(sets=3)), Ledger(), clock=time.monotonic, others=[Stubborn()])
    with pytest.raises(RulesError, match="this one cannot"):
        table.senses.lay_out(stairs, 2)
    assert (willing.layout, willing.sets) == (BOARD, 3)
    both = Senses([willing, Willing()], BOARD)
    both.lay_out(stairs, 2)
    willing.put(Scene(stairs).reading())
    assert len(both.look(0).snapshot.squares) == 32
    picky = Senses([willing, Feed()], BOARD)
    picky.lay_out(stairs, 3)
    with pytest.raises(RulesError, match="cannot show that"):
        picky.lay_out(BOARD, 1)
    assert (willing.layout, willing.sets) == (stairs, 3)


# In the background ----------------------------------------------------------------------------------------------------


def heard(source, count):
    """So many readings or errors of a source."""
    told = []
    while len(told) < count:
        try:
            reading = source.read(SOON_S)
        except Exception as error:  # noqa: BLE001 (they are what is looked for)
            reading = error
        assert reading is not None, "nothing came"
        told.append(reading)
    return told


def test_a_background_source_gives_everything_in_order_and_closes_what_it_reads():
    feed, scene = Feed(), Scene(BOARD)
    readings = list(scene.hold(2.0))
    feed.put(*readings[:5], SourceError("unplugged"), *readings[5:])
    with Background(feed) as source:
        told = heard(source, len(readings) + 1)
    assert [*told[:5], *told[6:]] == readings
    assert str(told[5]) == "unplugged"
    assert feed.closed


def test_a_source_that_hangs_does_not_hold_up_whoever_reads_it():
    let_go = threading.Event()

    class Hanging(Feed):
        def read(self, timeout_s):
            let_go.wait(SOON_S)

    hanging, feed = Background(Hanging()), Feed()
    table = Table(hanging, Referee(Game.start()), Ledger(), clock=time.monotonic, others=[feed])
    feed.put(EMPTY_BOARD)
    table.step(0)
    assert table._time == 0.0
    assert table.senses.disagreements == ()
    let_go.set()
    hanging.close()


def test_a_source_that_hangs_is_waited_for_once_though_it_is_closed_twice(monkeypatch):
    let_go, waited_s = threading.Event(), []

    class Hanging(Feed):
        def read(self, timeout_s):
            let_go.wait(SOON_S)

    hanging = Background(Hanging())
    hanging.read(0)
    monkeypatch.setattr(hanging._thread, "join", waited_s.append)
    hanging.close()
    hanging.close()
    assert waited_s == [JOIN_S, 0.0]
    let_go.set()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fault_in_the_background_comes_out_where_it_is_read():
    feed = Feed()
    feed.put(ZeroDivisionError("a bug"))
    with Background(feed) as source:
        assert isinstance(heard(source, 1)[0], ZeroDivisionError)


def test_after_another_layout_nothing_of_the_old_board_is_read():
    feed, stairs = Feed(), Layout.parse("8x4")
    old, new = Scene(BOARD), Scene(stairs)
    feed.put(*old.hold(10 * READING_S))
    with Background(feed) as source:
        heard(source, 1)
        source.lay_out(stairs, 2)
        assert feed.layout == stairs
        while feed.items.qsize():
            source.read(0)
        feed.put(*new.hold(1.0))
        sizes = [len(reading.squares) for reading in heard(source, 12)]
    assert sizes[-9:] == [32] * 9


def test_another_layout_is_looked_at_though_nobody_makes_room_for_what_was_read_ahead():
    feed, stairs = Feed(), Layout.parse("8x4")
    feed.put(*Scene(BOARD).hold(10 * READING_S))
    with Background(feed) as source:
        heard(source, 1)
        while feed.items.qsize() > 6:  # two are kept, and its thread waits with a third
            time.sleep(0.01)
        source.lay_out(stairs, 2)
    assert feed.layout == stairs


def test_a_source_that_is_lost_while_another_layout_is_asked_for_is_told_as_lost():
    feed = Feed()
    feed.put(*Scene(BOARD).hold(2 * READING_S), SourceError("unplugged"))
    with Background(feed) as source:
        heard(source, 1)
        while feed.items.qsize():
            time.sleep(0.01)
        source.lay_out(Layout.parse("8x4"), 2)
        [lost] = heard(source, 1)
    assert str(lost) == "unplugged"


def test_a_source_that_hangs_does_not_hold_up_whoever_asks_for_another_layout(monkeypatch):
    monkeypatch.setattr(background, "LAY_OUT_S", 0.2)
    feed, asked, go_on = Feed(), [], threading.Event()
    monkeypatch.setattr(feed, "read", lambda timeout_s: go_on.wait() and None)
    monkeypatch.setattr(feed, "lay_out", lambda *layout: asked.append(layout))
    with Background(feed) as source:
        source.read(0)
        with pytest.raises(RulesError, match="does not answer"):
            source.lay_out(Layout.parse("8x4"), 2)
        go_on.set()
        monkeypatch.setattr(background, "LAY_OUT_S", SOON_S)
        source.lay_out(BOARD, 1)
    assert asked == [(BOARD, 1)]


def test_a_source_that_has_ended_looks_at_no_other_layout():
    feed = Feed()
    feed.put(EndOfSource("over"))
    with Background(feed) as source:
        heard(source, 1)
        with pytest.raises(RulesError, match="has ended"):
            source.lay_out(Layout.parse("8x4"), 2)


def test_a_fault_while_another_layout_is_asked_for_is_told_to_who_asks_and_to_who_reads(monkeypatch):
    feed = Feed()
    feed.put(Scene(BOARD).reading())
    monkeypatch.setattr(feed, "lay_out", lambda *layout: {}[layout])
    with Background(feed) as source:
        heard(source, 1)
        with pytest.raises(RulesError, match="has ended"):
            source.lay_out(Layout.parse("8x4"), 2)
        [fault] = heard(source, 1)
    assert isinstance(fault, KeyError)


def as_lies_turned(reading, quarters):
    """What a camera tells of the board when it was turned clockwise before it: its squares go by other names."""
    layout, turns = BOARD, BOARD.turned(quarters)
    seen = [None] * len(layout)
    for i, place in enumerate(turns):
        seen[place] = reading.squares[i]
    covered = layout.mask(layout.squares[turns[layout.index(square)]] for square in layout.squares_in(reading.hidden))
    return dataclasses.replace(reading, squares=tuple(seen), hidden=covered)


def turned_from(second, readings, quarters):
    """The board is turned by two hands that cover all of it, in one second."""
    for reading in readings:
        if reading.time < second:
            yield reading
        elif reading.time < second + 1:
            yield dataclasses.replace(reading, squares=(ANYTHING,) * 16, hidden=BOARD.all)
        else:
            yield as_lies_turned(reading, quarters)


@pytest.mark.parametrize("quarters", [1, 2, 3])
@pytest.mark.parametrize("second", [13.0, 26.0, 39.0])
def test_a_board_that_is_turned_in_mid_game_keeps_its_squares(second, quarters):
    readings = list(moves_by_hand(WORKED_EXAMPLE, BOARD, pace=Pace(rest_s=2.5)))
    table, told = told_by(Script("camera:", turned_from(second, readings, quarters)))
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE
    assert not {"asks", "illegal", "unclear", "taken"} & {told_in_short(event).split()[0] for event in told}


def test_a_board_that_is_turned_again_is_known_again():
    once = turned_from(13.0, moves_by_hand(WORKED_EXAMPLE, BOARD, pace=Pace(rest_s=2.5)), 1)
    table, _ = told_by(Script("camera:", turned_from(26.0, once, 2)))
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE


def test_a_camera_on_the_other_side_sees_the_game_that_goes_on():
    readings = [reading for reading in whole_game() if reading.time > 20.5]
    camera = Script("camera:", (as_lies_turned(reading, 2) for reading in readings))
    table = Table(camera, Referee(Game.replay(WORKED_EXAMPLE[:8])), Ledger(), clock=time.monotonic)
    told = to_the_end(table)
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE
    assert "ChoiceNeeded" not in {type(event).__name__ for event in told}


def test_only_the_source_that_sees_it_turned_is_told():
    turned = turned_from(13.0, moves_by_hand(WORKED_EXAMPLE, BOARD, pace=Pace(rest_s=2.5)), 2)
    straight = list(moves_by_hand(WORKED_EXAMPLE, BOARD, pace=Pace(rest_s=2.5)))
    table, told = told_by(Script("tiles:", straight), Script("camera:", turned))
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE
    assert "SourcesDisagree" not in {type(event).__name__ for event in told}


def lies_turned(moves, quarters, *, but=(), variant="standard"):
    """What the referee says of the position after these moves, when the board is turned and `but` is changed on it."""
    scene = Scene(BOARD)
    game = Game.replay(moves)
    scene.pieces = {square: piece for square, piece in zip(BOARD, game.contents, strict=True) if piece is not None}
    for square, what in but:
        scene.pieces[Square.parse(square)] = Piece.parse(what)
    settler = Settler(BOARD)
    for reading in scene.hold(1.0):
        snapshot = settler.feed(as_lies_turned(reading, quarters))
    return Referee(game, variant=variant).lies_turned(snapshot)


def test_how_a_board_lies_is_told_only_where_that_is_sure():
    six = WORKED_EXAMPLE[:6]
    assert [lies_turned(six, quarters) for quarters in range(4)] == [0, 1, 2, 3]
    assert lies_turned(six, 2, but=[("d4", "dark pusher")]) == 2, "a piece more may just have been played"
    more = [("d4", "dark pusher"), ("d3", "light pusher"), ("d1", "dark straight"), ("b4", "light straight")]
    assert lies_turned(six, 2, but=more[:3]) == 2
    assert lies_turned(six, 2, but=more) == 0
    assert lies_turned(six, 2, but=[("a1", "dark pusher")]) == 0, "another piece lies there"
    assert lies_turned(six[:2], 2) == 0, "two pieces may have been moved"
    assert lies_turned(six, 2, variant="green-box") == 0, "nobody knows whose pile is whose then"


def test_a_turn_that_brings_a_piece_to_another_of_its_kind_is_no_taking_back():
    assert lies_turned(["c4<>", "c2<>", "a3<>"], 1) == 1, "only two pieces lie elsewhere"
    assert lies_turned(["d2x", "c1<>", "a2<>", "b4<>"], 2) == 2


@pytest.mark.parametrize(
    ("drawing", "turns"), [("8x2", (0, 2)), ("ring", (0, 1, 2, 3)), ("stairs", (0, 2)), ("4x4", (0, 1, 2, 3))]
)
def test_a_board_covers_itself_after_some_turns(drawing, turns):
    layout = Layout.parse(drawing)
    assert tuple(quarters for quarters in range(4) if layout.turned(quarters)) == turns
    assert layout.turned(0) == tuple(range(len(layout)))
    assert sorted(layout.turned(2)) == list(range(len(layout)))
