"""A hall's PostgreSQL that hangs, is locked, or cannot be reached: play goes on, and is recorded when it is back."""

import select
import socket
import threading
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from companion.errors import StoreError
from companion.store import MatchLog, Opening, Recorder, database
from tests.store.playing import example_events

NO_ANSWER = "its server does not answer; check that it runs, and that this machine reaches it$"


on_a_server = pytest.mark.parametrize("place", ["postgresql"], indirect=True)


class Wire:
    """A line to the server, on which nothing is carried while it is `cut`; neither end is told."""

    def __init__(self, to):
        self._to = to
        self._here = socket.create_server(("127.0.0.1", 0))
        self.port = self._here.getsockname()[1]
        self.cut, self.done = False, False
        self._ends = {}

    def run(self):
        while not self.done:
            ends = [] if self.cut else [self._here, *self._ends]
            for end in select.select(ends, [], [], 0.01)[0]:
                if end is self._here:
                    near, far = self._here.accept()[0], socket.create_connection(self._to)
                    self._ends |= {near: far, far: near}
                elif end in self._ends:
                    self._carry(end)

    def _carry(self, end):
        other = self._ends[end]
        if sent := end.recv(65536):
            other.sendall(sent)
            return
        for each in (end, other):
            del self._ends[each]
            each.close()

    def close(self):
        for each in (self._here, *self._ends):
            each.close()


@contextmanager
def wire_to(url):
    """A `Wire` to the server that `url` names, and the URL through it."""
    wire = Wire((url.host, url.port or 5432))
    thread = threading.Thread(target=wire.run)
    thread.start()
    try:
        yield wire, url.set(host="127.0.0.1", port=wire.port).render_as_string(hide_password=False)
    finally:
        wire.done = True
        thread.join()
        wire.close()


@pytest.fixture
def hall(place, monkeypatch):
    """A server's URL, of which a game in play is soon tired."""
    monkeypatch.setattr(database, "_SPARE_S", 0.3)
    return sa.make_url(place)


@on_a_server
def test_a_server_that_hangs_holds_up_no_game_and_records_it_when_it_is_back(hall, clock):
    told = example_events()
    with wire_to(hall) as (wire, url), MatchLog.open(url, clock, wait_s=0.2) as log:
        recorder = Recorder(log)
        recorder.record(told[:3])
        wire.cut = True
        recorder.record(told[3:5])
        assert recorder.behind == 2
        assert str(recorder.trouble).endswith(NO_ANSWER.removesuffix("$"))
        wire.cut = False
        recorder.record(told[5:])
        assert (recorder.behind, recorder.trouble) == (0, None)
        assert log.verify(recorder.match).events == len(told)


def test_a_server_that_takes_calls_and_says_nothing_is_told(clock):
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        pytest.raises(StoreError, match=NO_ANSWER),
    ):
        MatchLog.open(f"postgresql://ann:secret@127.0.0.1:{mute.getsockname()[1]}/x", clock, wait_s=0.1)


@on_a_server
def test_a_log_that_another_program_has_locked_is_told_and_can_be_asked_again(hall, clock):
    with MatchLog.open(hall.render_as_string(hide_password=False), clock, wait_s=0.05) as log:
        match = log.begin(Opening())
        other = sa.create_engine(hall)
        for locked in ("LOCK TABLE matches IN EXCLUSIVE MODE", database._BEGINNINGS["postgresql"]["writing"]):
            with other.connect() as connection:
                connection.exec_driver_sql(locked)
                with pytest.raises(StoreError, match="another program is writing to it; try again"):
                    log.append(match, example_events(), after=0)
                assert log.entries(match) == (), "reading goes on"
        other.dispose()
        assert log.append(match, example_events(), after=0) == 19


@on_a_server
def test_what_a_url_tells_of_waiting_counts(hall, clock):
    url = hall.update_query_dict({"options": "-c lock_timeout=7s", "connect_timeout": "9"})
    with MatchLog.open(url.render_as_string(hide_password=False), clock) as log, log._database.reading() as connection:
        assert connection.scalar(sa.text("SHOW lock_timeout")) == "7s"
        assert connection.scalar(sa.text("SHOW idle_in_transaction_session_timeout")) == "1min"
        assert log._database._engine.url.query["connect_timeout"] == "9"


@on_a_server
def test_reading_takes_as_long_as_it_takes(hall, clock):
    url = hall.render_as_string(hide_password=False)
    with MatchLog.open(url, clock, wait_s=0.05) as log, log._database.reading() as connection:
        connection.execute(sa.text("SELECT pg_sleep(1)"))
