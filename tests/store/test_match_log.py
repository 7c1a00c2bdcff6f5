"""The match log as a whole, on every kind of database it works with."""

import dataclasses
import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import events
from companion.errors import RulesError, StoreError
from companion.rules import Colour, Game, Layout, MatchText, Piece, Score, Square, parse_moves
from companion.store import FILE_NAME, IMPORTED, Imported, MatchLog, Opening
from companion.store.retelling import events_telling
from companion.store.verifying import verified
from tests.store.conftest import NOON
from tests.store.playing import EXAMPLE, example_events, one_of_each, random_match
from tests.stories import NEARLY_OVER, Scene

PATIENCE_S = 30
ANN_AND_BEN = Opening(light="Ann", dark="Ben", tags={"Event": "Kitchen cup", "Arbiter": "Zoe"})


def test_what_was_logged_is_read_back_by_the_next_program(place, clock):
    with MatchLog.open(place, clock) as log:
        match = log.begin(ANN_AND_BEN)
        log.append(match, one_of_each()[:5], b"first picture")
        log.append(match, one_of_each()[5:])
    with MatchLog.open(place, clock) as log:
        entries = log.entries(match)
        assert [entry.event for entry in entries] == list(one_of_each())
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        assert log.evidence(match, entries[0].evidence) == b"first picture"
        assert {entry.evidence for entry in entries[5:]} == {""}
        assert {entry.written for entry in entries[:5]} == {"2026-05-01T12:00:01.000Z"}
        told = log.match(match)
        assert told.started == "2026-05-01T12:00:00.000Z"
        assert told.opening == dataclasses.replace(ANN_AND_BEN, layout="####/####/####/####", sets=1)
        assert log.verify(match).sound


def test_every_kind_of_event_is_tried():
    assert {type(event).__name__ for event in one_of_each()} == set(events.EVENTS)


def test_finished_match_tells_its_result_and_final_hash(place, clock):
    with MatchLog.open(place, clock) as log:
        match = log.begin(ANN_AND_BEN)
        log.append(match, example_events())
        result = log.match(match)
        assert (result.finished, result.score, result.winner, result.plies) == (True, Score(4, 1), Colour.LIGHT, 16)
        assert result.digest == log.entries(match)[-1].digest
        log.append(match, [events.BoardDisturbed(time=99.0, ply=16, squares=())])
        assert log.match(match).digest == result.digest, "clearing up does not change the hash that was shown"
        assert log.match(match).length == result.length + 1


def test_matches_are_listed_by_table(place, clock):
    with MatchLog.open(place, clock) as log:
        numbers = [log.begin(Opening(table=table)) for table in ("1", "2", "1")]
        assert [match.id for match in log.matches()] == numbers
        assert [match.id for match in log.matches("1")] == [numbers[0], numbers[2]]
        assert log.matches("3") == []


@pytest.mark.parametrize(
    ("told", "resumed"),
    [
        (example_events()[:1], True),
        (example_events()[:7], True),
        (example_events(), False),
        ([*example_events(), events.BoardDisturbed(time=9.0, ply=16, squares=())], False),
        ([*example_events(), events.MoveTakenBack(time=9.0, ply=16, move="b1<>")], True),
    ],
    ids=["just begun", "in play", "ended", "ended and cleared up", "ended and taken back"],
)
def test_latest_match_of_a_table_is_resumed_unless_it_has_ended(log, told, resumed):
    log.begin(Opening(table="1"))
    match = log.begin(Opening(table="1"))
    log.begin(Opening(table="2"))
    log.append(match, told)
    found = log.latest("1")
    assert (found.id, not found.finished) == (match, resumed)


def test_nothing_to_resume_at_a_new_table(log):
    assert log.latest("7") is None


def test_no_table_has_a_name_that_is_no_text(place, clock):
    """As a shell gives what somebody wrote in another encoding."""
    with MatchLog.open(place, clock) as log:
        log.begin(Opening())
        assert log.matches("\udcff") == []
        assert log.latest("\udcff") is None


def test_game_is_rebuilt_from_its_events(place, clock):
    with MatchLog.open(place, clock) as log:
        match = log.begin(Opening())
        log.append(match, example_events())
        assert log.game(match) == Game.replay(parse_moves(EXAMPLE))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), batches=st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_any_game_in_any_batches_is_read_back_and_rebuilt(shared_log, seed, batches):
    told, game = random_match(seed)
    match = shared_log.begin(Opening.of(game.beginning))
    left, sizes = list(told), iter(batches * len(told))
    while left:
        size = next(sizes)
        shared_log.append(match, left[:size], b"picture %d" % len(left))
        left = left[size:]
    assert [entry.event.as_dict() for entry in shared_log.entries(match)] == [event.as_dict() for event in told]
    assert shared_log.game(match) == game
    assert shared_log.match(match).plies == (len(game.history) if told else 0)
    assert shared_log.verify(match).sound


@pytest.fixture(scope="module")
def shared_log(tmp_path_factory):
    with MatchLog.open(tmp_path_factory.mktemp("log"), lambda: NOON) as log:
        yield log


def test_what_the_referee_tells_rebuilds_its_game(log):
    scene = Scene()
    scene.play("a1+", "a3><", "a2+")
    scene.events += scene.referee.correct(scene.time, 2, "a4x", rule_later=True)
    scene.events += scene.referee.undo(scene.time)
    match = log.begin(Opening.of(scene.game.beginning))
    log.append(match, scene.events)
    assert log.game(match) == scene.game
    assert {"Corrected", "MoveTakenBack"} <= {type(event).__name__ for event in scene.events}


def test_a_match_that_went_on_after_a_resignation_ends_by_the_rules(log):
    scene = Scene()
    scene.play("a1+")
    scene.events += [*scene.referee.resign(scene.time, Colour.DARK), *scene.referee.undo(scene.time)]
    match = log.begin(Opening.of(scene.game.beginning))
    log.append(match, scene.events)
    assert log.resigned(match) is None
    assert not log.match(match).finished
    assert log.match(match).plies == 1
    assert log.game(match) == scene.game


def test_match_joined_in_progress_is_rebuilt(log):
    scene = Scene()
    scene.put("b2", "Lx")
    scene.put("c3", "D+")
    scene.put("d4", "L<>")
    scene.look(2)
    scene.events += scene.referee.join(scene.time, to_move=Colour.DARK, last=Square.parse("d4"))
    scene.play("a1+")
    match = log.begin(Opening())
    log.append(match, scene.events)
    assert log.game(match) == scene.game
    assert log.game(match).content(Square.parse("c3")) == Piece.parse("dark straight")
    assert str(log.game(match).history[0]) == "a1+"
    again = MatchText.read(log.match_text(match).write())
    assert again.game == scene.game
    assert log.game(imported(log, unhashed(again, Light="Ann"))) == scene.game


def test_resigned_match_names_its_winner(log):
    scene = Scene()
    scene.play("a1+", "a3><")
    scene.events += scene.referee.resign(scene.time, Colour.LIGHT)
    match = log.begin(Opening())
    log.append(match, scene.events)
    text = log.match_text(match)
    assert (text.tags["Termination"], text.winner) == ("resigned", Colour.DARK)
    assert log.match(match).winner is Colour.DARK
    again = log.match(imported(log, unhashed(text, Light="Ann")))
    assert (again.finished, again.winner, again.score) == (True, Colour.DARK, Score(0, 0))


def test_a_resigned_match_that_is_corrected_stays_resigned(log):
    scene = Scene()
    scene.play("a1+", "a3><")
    scene.events += scene.referee.resign(scene.time, Colour.LIGHT)
    scene.events += scene.referee.correct(scene.time, 2, "a3<>")
    match = log.begin(Opening())
    log.append(match, scene.events)
    assert (log.match(match).finished, log.match(match).winner) == (True, Colour.DARK)
    assert log.match_text(match).tags["Termination"] == "resigned"
    assert [str(ply) for ply in log.game(match).history] == ["a1+", "a3<>"]


def test_a_resigned_match_that_a_correction_plays_to_its_end_comes_back_as_it_is_exported(log):
    scene = Scene()
    scene.play(*NEARLY_OVER)
    scene.events += scene.referee.resign(scene.time, scene.game.to_move)
    scene.events += scene.referee.correct(scene.time, len(NEARLY_OVER), "d3x")
    match = log.begin(Opening())
    log.append(match, scene.events)
    again = MatchText.read(log.match_text(match).write())
    assert again.tags["Termination"] == "normal"
    assert log.match(match).winner is again.winner is scene.game.outcome.winner


def resigned_and_then_played_to_the_end_by_a_correction():
    """The game, and what versions told of it that let nothing decide but the resignation."""
    scene = Scene()
    scene.play(*NEARLY_OVER)
    quitter = scene.game.to_move
    scene.events += scene.referee.resign(scene.time, quitter)
    scene.events += scene.referee.correct(scene.time, len(NEARLY_OVER), "d3x")
    *told, over = (event for event in scene.events if event != events.Corrected(**here(event), before=(), after=()))
    assert scene.game.outcome.winner is not quitter.other
    return scene.game, [*told, dataclasses.replace(over, winner=quitter.other)]


def here(event):
    return {"time": event.time, "table": event.table, "ply": event.ply}


def test_the_moves_decide_a_resigned_match_that_an_older_version_corrected_to_its_end(log):
    game, told = resigned_and_then_played_to_the_end_by_a_correction()
    match = log.begin(Opening())
    log.append(match, told)
    again = MatchText.read(log.match_text(match).write())
    assert (again.game, again.tags["Termination"]) == (game, "normal")
    assert log.import_texts([again]) == [Imported(match, new=False)]
    assert log.resigned(match) is None
    [listed] = log.matches()
    assert listed == log.match(match)
    assert listed.winner is again.winner is game.outcome.winner
    assert listed.as_dict()["result"] == {"score": game.score.as_dict(), "winner": "draw"}


def test_a_resignation_counts_where_the_moves_make_no_game(log):
    match = log.begin(Opening())
    astray = events.MoveTakenBack(time=0.0, ply=9, move="a1+")
    log.append(match, [astray, *events_telling(RESIGNED, table="1")])
    assert [(found.winner, found.resigned) for found in log.matches()] == [(Colour.DARK, Colour.LIGHT)]


@pytest.mark.parametrize(
    ("moves", "told", "exported"),
    [
        (EXAMPLE, {"Termination": "resigned", "Winner": "dark"}, {"Termination": "normal"}),
        (EXAMPLE, {"Termination": "abandoned", "Winner": "light"}, {"Termination": "normal", "Winner": "light"}),
        (EXAMPLE, {"Winner": "draw"}, {"Termination": "normal"}),
        ("a1+ a3><", {"Termination": "normal", "Winner": "light"}, {}),
        ("a1+ a3><", {"Termination": "abandoned", "Winner": "light"}, {"Termination": "abandoned"}),
    ],
)
def test_an_ending_that_an_older_version_let_in_and_the_moves_do_not_give_is_not_exported(log, moves, told, exported):
    match = imported(log, MatchText(Game.replay(parse_moves(moves)), told))
    again = MatchText.read(log.match_text(match).write())
    assert {name: again.tags.get(name) for name in ("Termination", "Winner") if name in again.tags} == exported
    assert log.import_texts([again]) == [Imported(match, new=False)]


def test_layouts_and_sets_are_kept(log):
    game = Game.start("anywhere", layout=Layout.parse("8x4"), sets=3)
    match = log.begin(Opening.of(game, variant="green-box"))
    assert log.game(match) == game
    assert log.match(match).opening.variant == "green-box"


@pytest.mark.parametrize(
    "opening",
    [
        Opening(layout="#"),
        Opening(sets=0),
        Opening(first="middle"),
        Opening(variant="red box"),
        Opening(tags={"no name": ""}),
    ],
)
def test_opening_that_makes_no_sense_is_refused(log, opening):
    with pytest.raises(RulesError):
        log.begin(opening)
    assert log.matches() == []


def test_match_text_tells_players_and_hash_and_reads_back(log):
    match = log.begin(ANN_AND_BEN)
    log.append(match, example_events())
    text = MatchText.read(log.match_text(match).write())
    assert text.game == log.game(match)
    assert dict(text.tags) == {
        "Event": "Kitchen cup",
        "Date": "2026.05.01",
        "Light": "Ann",
        "Dark": "Ben",
        "Arbiter": "Zoe",
        "Variant": "standard",
        "Termination": "normal",
        "Log": log.match(match).digest,
    }


def test_what_was_let_in_as_a_date_and_is_none_is_not_exported(log):
    match = log.begin(Opening(table=IMPORTED, tags={"Date": "2026-13-45", "Round": "3"}))
    text = MatchText.read(log.match_text(match).write())
    assert ("Date" in text.tags, text.tags["Round"]) == (False, "3")
    assert log.match(match).opening.tags["Date"] == "2026-13-45"


def test_imported_match_is_as_it_was_exported_and_keeps_its_first_hash(log, tmp_path, clock):
    match = log.begin(ANN_AND_BEN)
    log.append(match, example_events())
    text = log.match_text(match)
    with MatchLog.open(tmp_path / "elsewhere", clock) as other:
        number = imported(other, text)
        again = other.match_text(number)
        assert [entry.event.as_dict() | {"table": "1"} for entry in other.entries(number)] == [
            event.as_dict() for event in example_events()
        ]
        assert [found.id for found in other.matches(IMPORTED)] == [number]
    assert again.game == text.game
    assert again.tags["OriginalLog"] == text.tags["Log"]
    assert {**again.tags, "Log": ""} == {**text.tags, "Log": "", "OriginalLog": text.tags["Log"]}


TOLD = MatchText.read(f'[Date "2026.04.30"]\n[Light "Ann"]\n[Dark "Ben"]\n[Round "2"]\n\n{EXAMPLE}')
UNFINISHED = MatchText.read('[Light "Ann"]\n\n1. a1+ a3><')
RESIGNED = MatchText.read('[Light "Ann"]\n[Termination "resigned"]\n[Winner "dark"]\n\n1. a1+ a3><')
JOINED = MatchText.read('[Position "P.../S.../dpu./spud"] [ToMove "light"] [Last "a1"]\n\n1. - d4+')


def imported(log, text):
    """The number of a match that is new in the log."""
    [found] = log.import_texts([text])
    assert found.new
    return found.match


def unhashed(text, **tags):
    """A match text without its hash, as if nobody had logged it."""
    return MatchText(text.game, {name: told for name, told in text.tags.items() if name != "Log"} | tags)


@pytest.mark.parametrize("text", [TOLD, UNFINISHED, RESIGNED, JOINED, MatchText(Game.start())])
def test_match_is_imported_once_however_often_that_is_asked(log, text):
    first = imported(log, text)
    assert log.import_texts([text]) == [Imported(first, new=False)]
    assert log.import_texts([MatchText.read(log.match_text(first).write())]) == [Imported(first, new=False)]
    log.erase_names(first)
    assert log.import_texts([text]) == [Imported(first, new=False)]
    assert len(log.matches()) == 1


def test_match_that_is_told_twice_at_once_is_imported_once(log):
    other = MatchText(TOLD.game, {"Light": "Cat"})
    assert log.import_texts([TOLD, other, TOLD]) == [Imported(1, True), Imported(2, True), Imported(1, False)]


def test_a_game_in_play_is_written_while_an_import_is_being_prepared(log, tmp_path, clock):
    playing, written = log.begin(Opening()), iter(example_events())

    def time_in_which_a_move_is_played():
        log.append(playing, [next(written)])
        return clock()

    with MatchLog.open(tmp_path, time_in_which_a_move_is_played, wait_s=0.01) as importing:
        importing.import_texts([TOLD, MatchText(TOLD.game, {"Light": "Cat"})])
    assert len(log.entries(playing)) > 2
    assert all(log.verify(match.id).sound for match in log.matches())


def test_a_match_that_another_program_imports_while_it_is_being_prepared_is_imported_once(log, tmp_path, clock):
    def time_in_which_it_is_imported():
        log.import_texts([TOLD])
        return clock()

    with MatchLog.open(tmp_path, time_in_which_it_is_imported, wait_s=0.01) as importing:
        assert importing.import_texts([TOLD, UNFINISHED]) == [Imported(1, new=False), Imported(2, new=True)]
    assert len(log.matches()) == 2


def test_match_that_was_played_here_is_not_imported(log):
    match = log.begin(ANN_AND_BEN)
    log.append(match, example_events())
    text = log.match_text(match)
    assert log.import_texts([text, unhashed(text)]) == [Imported(match, False)] * 2
    log.append(match, [events.MoveTakenBack(time=9.0, ply=16, move="b1<>")])
    assert imported(log, text)


@pytest.mark.parametrize(
    "other",
    [
        MatchText(TOLD.game, TOLD.tags | {"Light": "Cat"}),
        MatchText(TOLD.game, TOLD.tags | {"Date": "2026.05.01"}),
        MatchText(TOLD.game, TOLD.tags | {"Round": "3"}),
        MatchText(TOLD.game, TOLD.tags | {"Arbiter": "Zoe"}),
        MatchText(TOLD.game, TOLD.tags | {"Variant": "green-box"}),
        MatchText(TOLD.game, TOLD.tags | {"Log": "c0ffee"}),
        MatchText(Game.replay(TOLD.game.history, first="anywhere"), TOLD.tags),
        MatchText(TOLD.game.after(9), {"Light": "Ann", "Dark": "Ben"}),
    ],
)
def test_match_that_differs_in_anything_is_another(log, other):
    assert imported(log, TOLD) != imported(log, other)


def test_matches_of_two_logs_are_told_apart_by_their_hashes(log):
    one, two = (MatchText(UNFINISHED.game, {"Log": digest}) for digest in ("c0ffee", "decade"))
    assert log.import_texts([one, two, one]) == [Imported(1, True), Imported(2, True), Imported(1, False)]
    assert log.import_texts([two, one]) == [Imported(2, False), Imported(1, False)]


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ([events.MovePlayed(time=0.0, ply=1, colour=Colour.DARK, move="a1+", score=Score(0, 0))], "Light's turn"),
        ([events.MoveTakenBack(time=0.0, ply=1, move="a1+")], "cannot have been taken back"),
        ([events.Corrected(time=0.0, ply=1, before=("a1+",), after=())], "not in a1+"),
        ([events.MovePlayed(time=0.0, ply=1, colour=Colour.LIGHT, move="a1", score=Score(0, 0))], "no mark"),
        ([events.Corrected(time=0.0, ply=1, before=(), after=(), position="..../.... light")], "no position"),
    ],
)
def test_events_that_tell_no_game_are_named(log, told, problem):
    match = log.begin(Opening())
    log.append(match, told)
    with pytest.raises(StoreError, match=rf"match {match} .*event 1 \(.*{problem}"):
        log.game(match)


@pytest.mark.parametrize("number", [99, 2**31, 10**20])
def test_unknown_match_is_one_clear_line(log, number):
    for ask in (log.match, log.entries, log.game, log.match_text, log.verify, log.erase_names, log.erase_pictures):
        with pytest.raises(StoreError, match=rf"^there is no match {number} in the log"):
            ask(number)
    with pytest.raises(StoreError, match=rf"^there is no match {number} in the log"):
        log.append(number, example_events())


def test_event_of_another_table_is_a_mistake_of_the_program(log):
    match = log.begin(Opening(table="1"))
    with pytest.raises(ValueError, match="table 1, not at 2"):
        log.append(match, example_events(table="2"))
    assert log.entries(match) == ()


def test_asking_again_writes_nothing_twice(place, clock):
    with MatchLog.open(place, clock) as log:
        match = log.begin(Opening())
        told = example_events()
        assert log.append(match, told[:3], after=0) == 3
        assert log.append(match, told[:3], after=0) == 3
        assert log.append(match, told[3:5], after=3) == 5
        assert [entry.event for entry in log.entries(match)] == list(told[:5])
        with pytest.raises(StoreError, match="another program writes to it"):
            log.append(match, told[4:5], after=3)
        assert log.match(match).length == 5


def test_many_tables_write_at_once(place, clock):
    """One log, eight threads, each with its own match: all is there, in order, and sound."""
    told = example_events()

    def play(log):
        match = log.begin(Opening())
        for event in told:
            log.append(match, [event], b"x")
        return match

    with MatchLog.open(place, clock, wait_s=30) as log, ThreadPoolExecutor(8) as threads:
        for match in list(threads.map(play, [log] * 8)):
            assert [entry.event for entry in log.entries(match)] == list(told)
            assert log.verify(match).sound


def at_once(do, times=3):
    """What `do` gives to each of several threads that do it at the same moment."""
    start = threading.Barrier(times, timeout=PATIENCE_S)

    def together(number):
        start.wait()
        return do(number)

    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(together, range(times)))


def test_programs_that_import_the_same_matches_at_once_log_each_once(place, clock):
    """On PostgreSQL both logged them all: neither saw what the other was just about to commit."""
    texts = [MatchText(TOLD.game, {"Light": str(number)}) for number in range(20)]
    with MatchLog.open(place, clock, wait_s=PATIENCE_S) as log:
        imported_by = at_once(lambda _: [found.match for found in log.import_texts(texts)])
        assert imported_by == [list(range(1, 21))] * 3
        assert len(log.matches()) == 20


def test_what_is_read_together_is_one_state_of_the_log(place, clock):
    """On PostgreSQL a match in play was called broken: its events were read later than what they have to add up to."""
    with MatchLog.open(place, clock) as log:
        match = log.begin(Opening())
        with log._database.reading() as connection:
            assert verified(connection, match).events == 0
            log.append(match, example_events()[:3])
            assert verified(connection, match).events == 0
        assert log.verify(match).events == 3


def test_export_of_a_match_in_play_is_of_one_moment(place, clock):
    """Another program plays a move, or takes it back, after each query: the hash was that of other moves."""
    move = events.MovePlayed(time=0.0, ply=1, colour=Colour.LIGHT, move="a1+", score=Score(0, 0))
    deeds = itertools.cycle([move, events.MoveTakenBack(time=0.0, ply=1, move="a1+")])
    with MatchLog.open(place, clock) as playing, MatchLog.open(place, clock) as log:
        match = playing.begin(Opening())

        def another_deed(*_query):
            playing.append(match, [next(deeds)])

        sa.event.listen(log._database._engine, "after_cursor_execute", another_deed)
        text = log.match_text(match)
        assert len(text.game.history) == playing.verify(match, text.tags["Log"]).known % 2
        account = log.account(match)
        assert account.match.length == len(account.entries) == account.found.events < playing.match(match).length


def test_throwaway_log_leaves_nothing(clock, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with MatchLog.throwaway(clock) as log:
        match = log.begin(Opening())
        log.append(match, example_events())
        assert list(tmp_path.glob(f"*/{FILE_NAME}"))
    assert list(tmp_path.iterdir()) == []


def test_match_and_entries_are_json(log):
    match = log.begin(ANN_AND_BEN)
    log.append(match, one_of_each())
    assert json.loads(json.dumps(log.match(match).as_dict()))["tags"]["Arbiter"] == "Zoe"
    for entry in log.entries(match):
        told = json.loads(json.dumps(entry.as_dict()))
        assert events.Event.from_dict(told) == entry.event
