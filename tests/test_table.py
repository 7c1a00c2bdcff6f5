"""A table in play: what it shows, what it is told to do, and what becomes of it when something breaks."""

from __future__ import annotations

import contextlib
import dataclasses
import queue
import threading
import time

import pytest

from companion import events
from companion.errors import EndOfSource, SourceError, StoreError, TableError, VisionError
from companion.pace import Paced
from companion.readings import BoardReading, contents_of
from companion.referee import Referee
from companion.rules import Colour, Game, Layout, Piece, RulesError, Square
from companion.script import READING_S, Pace, Scene, ScriptedSource, moves_by_hand
from companion.settling import SETTLE_S
from companion.store import Opening
from companion.table import PICTURE_S, RETRY_S, Players, Table
from tests.ledger import Ledger

BOARD = Layout.parse("4x4")
WORKED_EXAMPLE = [
    *("a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>", "c1x"),
    *("d2><", "d3+", "d4x", "-", "b4x", "-", "b3<>", "b1<>"),
]
SOON_S = 20.0
"""Far longer than anything here takes; a test that waits for so long has failed."""


class Feed:
    """A live source that gives what a test puts in: readings, or errors to raise."""

    name = "feed:"
    live = True
    settle_s = SETTLE_S
    may_turn = True
    trouble = ""

    def __init__(self):
        self.items = queue.SimpleQueue()
        self.closed = False

    def put(self, *items):
        for item in items:
            self.items.put(item)

    def read(self, timeout_s):
        try:
            item = self.items.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(item, Exception):
            raise item
        return item

    def lay_out(self, layout, sets):
        if len(layout) % 32 == 16:
            raise RulesError("feed: cannot show that")
        self.layout, self.sets = layout, sets

    def close(self):
        self.closed = True


def scripted(*moves: str) -> Table:
    return Table(
        ScriptedSource("script:test", moves_by_hand(moves, BOARD)),
        Referee(Game.start()),
        Ledger(),
        clock=time.monotonic,
    )


def to_the_end(table: Table) -> list[events.Event]:
    told = table.start()
    while not table.ended:
        told += table.step(0)
    return told


def wait_for(table: Table, condition):
    """The first view that fulfils a condition."""
    view = table.view
    while not condition(view):
        newer = table.wait_newer(view.revision, SOON_S)
        assert newer is not view, "nothing came"
        view = newer
    return view


def test_scripted_game_is_refereed_to_its_end_without_a_thread():
    table = scripted(*WORKED_EXAMPLE)
    told = to_the_end(table)
    assert list(map(str, table.view.game.history)) == WORKED_EXAMPLE
    assert isinstance(told[-1], events.GameOver)
    assert (table.view.over, table.view.winner, table.view.ended) == (True, Colour.LIGHT, True)


def test_every_event_is_recorded_before_a_view_shows_it():
    shown_when_recorded = []

    class Watching(Ledger):
        def record(self, told, evidence=b""):
            shown_when_recorded.append((len(table.view.game.history), [e.ply for e in told]))

    table = Table(
        ScriptedSource("script:test", moves_by_hand(["a1+", "a3><"], BOARD)),
        Referee(Game.start()),
        Watching(),
        clock=time.monotonic,
    )
    to_the_end(table)
    assert shown_when_recorded == [(0, [1]), (0, [1]), (1, [2])]


def test_revision_grows_by_one_with_every_change_and_with_nothing_else():
    table = scripted("a1+", "a3><")
    table.start()
    seen = [table.view]
    while not table.ended:
        table.step(0)
        if table.view is not seen[-1]:
            seen.append(table.view)
    assert [view.revision for view in seen] == list(range(len(seen)))
    assert [len(view.game.history) for view in seen] == [0, 1, 2, 2]
    assert [view.ended for view in seen] == [False, False, False, True]


def test_slow_viewer_gets_the_latest_view_and_skips_the_others():
    table = scripted(*WORKED_EXAMPLE)
    early = table.view.revision
    to_the_end(table)
    assert table.wait_newer(early, 0) is table.view


def test_waiting_for_nothing_gives_the_same_view_back():
    table = scripted()
    assert table.wait_newer(table.view.revision, 0) is table.view


def test_threads_that_wait_are_all_woken():
    table = Table(Feed(), Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        revision = table.view.revision
        seen = []
        waiting = [
            threading.Thread(target=lambda: seen.append(table.wait_newer(revision, SOON_S).paused)) for _ in range(20)
        ]
        for thread in waiting:
            thread.start()
        table.do(lambda referee, time: referee.pause(time, paused=True))
        for thread in waiting:
            thread.join(SOON_S)
    assert seen == [True] * 20


def test_waiting_ends_when_the_server_closes():
    table = scripted()
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(table.wait_newer(0, SOON_S)))
    waiting.start()
    while waiting.is_alive():
        table.wake()
        waiting.join(0.01)
    assert seen == [table.view]


def resign_from(names: list[str], referee: Referee, time: float) -> list[events.Event]:
    names.append(threading.current_thread().name)
    return referee.resign(time, Colour.LIGHT)


def test_what_people_do_is_done_on_the_tables_thread_and_shown():
    table = Table(Feed(), Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        names = []
        view = table.do(lambda referee, time: resign_from(names, referee, time))
    assert names == ["table-1"]
    assert view.winner is Colour.DARK
    assert [type(e) for e in table._recorder.events] == [events.MatchStarted, events.Resigned, events.GameOver]


def test_what_the_rules_refuse_changes_nothing():
    table = Table(Feed(), Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        before = table.view
        with pytest.raises(RulesError, match="no move to take back"):
            table.do(lambda referee, time: referee.undo(time))
        assert table.view is before


def test_stopped_table_refuses_at_once():
    feed = Feed()
    table = Table(feed, Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        pass
    assert feed.closed
    with pytest.raises(TableError, match="has stopped"):
        table.do(lambda referee, time: referee.undo(time))


def test_table_whose_source_hangs_says_so():
    let_go = threading.Event()

    class Hanging(Feed):
        def read(self, timeout_s):
            let_go.wait(SOON_S)

    table = Table(Hanging(), Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        with pytest.raises(TableError, match="feed: may hang"):
            table.do(lambda referee, time: referee.undo(time), timeout_s=0.01)
        let_go.set()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_broken_table_reports_its_death(caplog):
    feed = Feed()
    feed.put(ZeroDivisionError("a bug"))
    table = Table(feed, Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        assert wait_for(table, lambda view: view.broken).broken == "a bug"
        with pytest.raises(TableError):
            table.do(lambda referee, time: referee.undo(time))
    assert "table 1 has stopped" in caplog.text


@pytest.mark.parametrize(("trouble", "traced"), [(VisionError("wrong corners"), False), (KeyError("a bug"), True)])
def test_only_a_bug_leaves_a_traceback(caplog, trouble, traced):
    feed = Feed()
    feed.put(trouble)
    table = Table(feed, Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        wait_for(table, lambda view: view.broken)
    assert f"table 1 has stopped: {trouble}" in caplog.text
    assert ("Traceback" in caplog.text) == traced


def test_lost_source_is_told_once_and_comes_back_with_the_game():
    feed, scene = Feed(), Scene(BOARD)
    feed.put(SourceError("unplugged"), SourceError("unplugged"))
    table = Table(feed, Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        assert wait_for(table, lambda view: view.lost).lost == "unplugged"
        feed.put(scene.reading())
        assert wait_for(table, lambda view: not view.lost).revision == 2
    assert [type(e).__name__ for e in table._recorder.events] == ["MatchStarted", "SourceLost", "SourceBack"]


def test_a_lost_source_that_is_lost_for_another_reason_says_so_and_each_reason_is_told_once():
    feed, scene = Feed(), Scene(BOARD)
    reasons = ["nobody listens there", "it has 32 squares", "it has 32 squares", "nobody listens there"]
    table = Table(feed, Referee(Game.start()), Ledger(), clock=time.monotonic)
    shown = []
    for why in reasons:
        feed.put(SourceError(why))
        table.step(0)
        shown.append(table.view.lost)
    assert shown == reasons
    feed.put(scene.reading(), SourceError("nobody listens there"))
    table.step(0)
    table.step(0)
    told = [getattr(event, "why", "") for event in table._recorder.events]
    assert told == [*reasons[:2], "", reasons[0]]


class FullDisk(Ledger):
    """A recorder that writes nothing until a test makes room."""

    def __init__(self):
        super().__init__()
        self.full = True
        self.waiting = []

    def record(self, told, evidence=b""):
        self.waiting += told
        self.flush()

    def flush(self):
        self.trouble = StoreError("disk full") if self.full else None
        if not self.full:
            self.events += self.waiting
            self.waiting = []
        return not self.full


@pytest.mark.parametrize("silence", [EndOfSource("over"), SourceError("unplugged"), None], ids=["end", "loss", "calm"])
def test_what_could_not_be_recorded_is_tried_again_though_the_source_is_silent(silence):
    now, feed, disk = [100.0], Feed(), FullDisk()
    feed.put(silence)
    table = Table(feed, Referee(Game.start()), disk, clock=lambda: now[0])
    told = [*table.start(), *table.step(0)]
    disk.full = False
    now[0] += RETRY_S - 0.1
    told += table.step(0)
    assert (disk.events, table.view.unrecorded) == ([], "disk full")
    now[0] += 0.2
    told += table.step(0)
    assert (disk.events, table.view.unrecorded) == (told, "")


def test_what_could_not_be_recorded_is_tried_again_by_the_thread_after_the_end():
    now, disk = [100.0], FullDisk()
    source = ScriptedSource("script:test", moves_by_hand(["a1+"], BOARD))
    table = Table(source, Referee(Game.start()), disk, clock=lambda: now[0])
    with table.running():
        assert wait_for(table, lambda view: view.ended).unrecorded == "disk full"
        disk.full = False
        now[0] += RETRY_S
        wait_for(table, lambda view: not view.unrecorded)
    assert [type(e) for e in disk.events] == [events.MatchStarted, events.MovePlayed]


def test_what_could_not_be_recorded_is_tried_a_last_time_when_the_table_closes():
    disk = FullDisk()
    table = Table(Feed(), Referee(Game.start()), disk, clock=lambda: 0.0)
    with table.running():
        wait_for(table, lambda view: view.unrecorded)
        disk.full = False
    assert [type(e) for e in disk.events] == [events.MatchStarted]
    assert not table.view.unrecorded


def test_what_is_lost_when_the_table_closes_is_told():
    feed = Feed()
    table = Table(feed, Referee(Game.start()), FullDisk(), clock=lambda: 0.0)
    table.start()
    with pytest.raises(TableError, match="the match at table 1 is not recorded to its end: disk full"):
        table.close()
    assert feed.closed


def test_what_will_never_be_recorded_is_told_to_the_end():
    feed, ledger = Feed(), Ledger()
    table = Table(feed, Referee(Game.start()), ledger, clock=lambda: 0.0)
    ledger.lost = StoreError("another program writes to it")
    table.start()
    assert (table.view.unrecorded, table.view.never_recorded) == ("", "another program writes to it")
    with pytest.raises(TableError, match="the match at table 1 is not recorded to its end: another program writes"):
        table.close()
    assert feed.closed


def test_pictures_are_shown_with_every_change_and_else_once_a_while():
    readings = [
        BoardReading(i * READING_S, (contents_of([None]),) * 16, evidence=b"\xff\xd8picture %d" % i) for i in range(25)
    ]
    table = Table(ScriptedSource("script:test", readings), Referee(Game.start()), Ledger(), clock=time.monotonic)
    shown = set()
    table.start()
    while not table.ended:
        table.step(0)
        shown.add(table.view.picture.number)
    assert PICTURE_S == 1.0
    assert shown == {1, 2, 3}
    assert table.view.picture.jpeg == b"\xff\xd8picture 24"


def test_new_match_has_its_players_and_its_own_log():
    table = Table(Feed(), Referee(Game.start()), Ledger(Opening(light="Ann", dark="Ben")), clock=time.monotonic)
    game = Game.start("anywhere")
    with table.running():
        view = table.do(table.new_match(game, Players("Cleo", "Dan")))
        with pytest.raises(RulesError, match="cannot show that"):
            table.do(table.new_match(Game.start(layout=Layout.parse("8x2")), Players()))
    assert (view.game, view.players) == (game, Players("Cleo", "Dan"))
    assert (table._recorder.opening.light, table._recorder.opening.dark) == ("Cleo", "Dan")
    assert [type(event) for event in table._recorder.events] == [events.MatchStarted] * 2


def test_new_match_on_another_board_is_read_and_logged_as_such():
    feed, stairs = Feed(), Layout.parse("8x4")
    feed.put(dataclasses.replace(Scene(BOARD).reading(), evidence=b"\xff\xd8the old board"))
    table = Table(feed, Referee(Game.start()), Ledger(), clock=time.monotonic)
    with table.running():
        wait_for(table, lambda view: view.picture)
        view = table.do(table.new_match(Game.start(layout=stairs, sets=3), Players()))
        assert (view.game.layout, view.picture, feed.layout, feed.sets) == (stairs, None, stairs, 3)
        scene = Scene(stairs)
        feed.put(*scene.hold(1), *scene.play(Square.parse("h4"), Piece.parse("light pusher"), Pace()))
        assert str(wait_for(table, lambda view: view.game.history).game.history[0]) == "h4<>"
    assert (table._recorder.opening.layout, table._recorder.opening.sets) == ("8x4", 3)


def test_several_tables_play_in_one_process():
    tables = [Table(Feed(), Referee(Game.start(), table=name), Ledger(), clock=time.monotonic) for name in ("1", "2")]
    with tables[0].running(), tables[1].running():
        tables[1].do(lambda referee, time: referee.resign(time, Colour.DARK))
        assert [table.view.over for table in tables] == [False, True]


def test_file_is_played_as_fast_as_it_was_recorded():
    now = [100.0]
    source = Paced(
        ScriptedSource("script:test", moves_by_hand(["a1+"], BOARD)),
        clock=lambda: now[0],
        sleep=lambda s: now.__setitem__(0, now[0] + s),
    )
    when = []
    with contextlib.suppress(EndOfSource):
        while True:
            reading = source.read(0.05)
            if reading is not None:
                when.append((reading.time, now[0] - 100.0))
    assert len(when) > 50
    assert all(abs(told - real) < 1e-6 for told, real in when)


@pytest.mark.parametrize("settle_s", [0.0, 0.4, 1.0])
def test_a_piece_is_believed_after_the_time_that_its_source_needs(settle_s):
    source = ScriptedSource("script:test", moves_by_hand(["a1+"], BOARD))
    source.settle_s = settle_s
    table = Table(source, Referee(Game.start()), Ledger(), clock=time.monotonic)
    played = [event.time for event in to_the_end(table) if isinstance(event, events.MovePlayed)]
    hand_gone_s = 1.5 + 0.5 + 0.3
    assert played == pytest.approx([hand_gone_s + settle_s], abs=1.5 * READING_S)
