"""A table's log while the disk comes and goes."""

import pytest

from companion import events
from companion.errors import RulesError
from companion.rules import Colour, Score
from companion.store import MatchLog, Opening, Recorder
from tests.store.playing import example_events
from tests.store.test_database import pragma

TOLD = example_events()


def written(log, match):
    return [entry.event for entry in log.entries(match)]


def test_match_begins_with_the_event_that_says_so(log):
    recorder = Recorder(log, Opening(light="Ann"))
    assert recorder.match is None
    recorder.record(
        [events.MatchStarted(time=0.0, table="7", ply=1, first="anywhere", layout="8x2", variant="green-box")]
    )
    opening = log.match(recorder.match).opening
    assert (opening.table, opening.first, opening.variant, opening.light) == ("7", "anywhere", "green-box", "Ann")
    assert opening.layout == "########/########"


def test_events_are_on_disk_when_they_are_recorded(log):
    recorder = Recorder(log)
    for told in TOLD:
        recorder.record([told], b"picture")
        assert written(log, recorder.match)[-1] == told
        assert (recorder.behind, recorder.trouble) == (0, None)
    recorder.record([])
    assert written(log, recorder.match) == list(TOLD)


def test_full_disk_stops_no_game_and_loses_nothing(log):
    recorder = Recorder(log)
    recorder.record(TOLD[:2])
    pragma(log, "max_page_count=1")
    recorder.record(TOLD[2:3], b"picture" * 20_000)
    recorder.record(TOLD[3:5], b"another" * 20_000)
    assert recorder.behind == 3
    assert "the disk is full" in str(recorder.trouble)
    assert not recorder.flush()
    assert written(log, recorder.match) == list(TOLD[:2])
    pragma(log, "max_page_count=1000000")
    recorder.record(TOLD[5:])
    assert (recorder.behind, recorder.trouble) == (0, None)
    assert written(log, recorder.match) == list(TOLD)
    entries = log.entries(recorder.match)
    assert log.evidence(recorder.match, entries[2].evidence) == b"picture" * 20_000
    assert log.evidence(recorder.match, entries[3].evidence) == b"another" * 20_000
    assert log.verify(recorder.match).sound


def test_match_that_began_on_a_full_disk_is_written_later_with_its_own_time(log):
    recorder = Recorder(log)
    pragma(log, "query_only=ON")
    recorder.record(TOLD[:4])
    recorder.record(TOLD[4:])
    assert recorder.match is None
    assert recorder.behind == len(TOLD) + 1
    pragma(log, "query_only=OFF")
    assert recorder.flush()
    assert written(log, recorder.match) == list(TOLD)
    assert log.match(recorder.match).started == "2026-05-01T12:00:00.000Z"
    assert log.entries(recorder.match)[0].written > "2026-05-01T12:00:00.000Z"


def test_next_match_at_the_table_begins_in_the_middle_of_a_batch(log):
    recorder = Recorder(log, Opening(light="Ann", dark="Ben", sets=2))
    recorder.record(TOLD[:-1])
    first = recorder.match
    recorder.record([TOLD[-1], *TOLD[:3]], b"picture")
    assert written(log, first) == list(TOLD)
    assert recorder.match == first + 1
    assert written(log, recorder.match) == list(TOLD[:3])
    assert log.match(recorder.match).opening == log.match(first).opening
    recorder.opening = Opening(light="Cleo")
    recorder.record(TOLD)
    assert log.match(recorder.match).opening.light == "Cleo"


def test_unfinished_match_goes_on_where_it_was(log):
    Recorder(log).record(TOLD[:4])
    resumed = log.latest("1")
    recorder = Recorder(log, resume=resumed)
    recorder.record(TOLD[:1])
    assert log.match(resumed.id).plies == resumed.plies == 3
    recorder.record(TOLD[4:])
    assert recorder.match == resumed.id
    assert written(log, resumed.id) == [*TOLD[:4], TOLD[0], *TOLD[4:]]
    assert str(log.game(resumed.id).score) == "4-1"
    recorder.record(TOLD[:1])
    assert recorder.match == resumed.id + 1


def test_match_that_has_ended_has_a_number_and_a_final_hash_until_it_goes_on_or_the_next_begins(log):
    recorder = Recorder(log)
    recorder.record(TOLD[:-1])
    assert recorder.filed is None
    recorder.record([TOLD[-1]])
    assert recorder.filed == (recorder.match, log.match(recorder.match).digest)
    assert Recorder(log, resume=log.latest("1")).filed == recorder.filed
    recorder.record([events.SourceLost(time=9.0, ply=17, source="camera:0", why="unplugged")])
    assert recorder.filed == (recorder.match, log.match(recorder.match).digest)
    recorder.record([events.MoveTakenBack(time=9.0, ply=16, move="b1<>")])
    assert recorder.filed is None
    recorder.record([TOLD[-2], TOLD[-1]])
    assert recorder.filed
    recorder.record(TOLD[:1])
    assert recorder.filed is None


def test_match_is_filed_once_it_is_on_disk_and_only_in_a_log_that_stays(log, clock):
    recorder = Recorder(log)
    recorder.record(TOLD[:-1])
    pragma(log, "query_only=ON")
    recorder.record([TOLD[-1]])
    assert (recorder.behind, recorder.filed) == (1, None)
    pragma(log, "query_only=OFF")
    assert recorder.flush()
    assert recorder.filed == (recorder.match, log.match(recorder.match).digest)
    assert written(log, recorder.match) == list(TOLD)
    with MatchLog.throwaway(clock) as other:
        nobodys = Recorder(other)
        nobodys.record(TOLD)
        assert (nobodys.behind, nobodys.filed) == (0, None)


def test_events_before_any_match_are_kept_too(log):
    recorder = Recorder(log)
    recorder.record([events.SourceLost(time=0.0, ply=1, source="camera:0", why="unplugged")])
    assert len(written(log, recorder.match)) == 1


def test_second_program_on_the_same_match_is_told(log):
    Recorder(log).record(TOLD[:1])
    one, two = (Recorder(log, resume=log.latest("1")) for _ in range(2))
    one.record(TOLD[1:2])
    two.record([events.MovePlayed(time=0.0, ply=1, colour=Colour.LIGHT, move="a2+", score=Score(0, 0))])
    assert two.behind == 1
    assert "another program writes to it" in str(two.trouble)
    assert len(written(log, one.match)) == 2


def test_match_that_another_program_went_on_with_does_not_stop_the_next_one(log, caplog):
    Recorder(log).record(TOLD[:1])
    one, two = (Recorder(log, resume=log.latest("1")) for _ in range(2))
    one.record(TOLD[1:2])
    two.record([TOLD[0], TOLD[2]])
    assert (two.behind, two.lost, caplog.messages) == (2, None, [])
    pragma(log, "query_only=ON")
    two.record(TOLD[:1])
    pragma(log, "query_only=OFF")
    two.record(TOLD[1:])
    assert (two.behind, two.trouble) == (0, None)
    assert "match 1 has 2 events where 1 were expected" in str(two.lost)
    assert two.match == one.match + 1
    assert written(log, two.match) == list(TOLD)
    assert written(log, one.match) == list(TOLD[:2])
    assert len(caplog.messages) == 1
    assert "never will be: 2; match 1 has 2 events where 1 were expected" in caplog.messages[0]


def test_opening_that_makes_no_sense_is_a_mistake_of_the_program(log):
    with pytest.raises(RulesError):
        Recorder(log, Opening(sets=0)).record(TOLD[:1])
