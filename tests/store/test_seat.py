"""A table belongs to one program at a time, wherever the log is."""

from contextlib import contextmanager

import pytest

from companion.errors import StoreError
from companion.store import FILE_NAME, MatchLog, seat


@contextmanager
def seated(place, clock, table):
    with MatchLog.open(place, clock) as log, log.seat(table):
        yield


def refusal(place, clock, table):
    with pytest.raises(StoreError) as refused, seated(place, clock, table):
        pass
    return str(refused.value)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(seat, "_WAIT_S", 0.05)


def test_a_table_is_one_program_s_until_that_is_done(place, clock):
    """In a database that a URL names any number of programs played at one table, and all but one recorded nothing."""
    with seated(place, clock, "1"):
        assert "table 1 of " in refusal(place, clock, "1")
        assert "is in play in another program: stop that one, or call" in refusal(place, clock, "1")
        with seated(place, clock, "2"):
            pass
    with seated(place, clock, "1"):
        pass


def test_a_table_is_the_same_whether_a_folder_or_a_url_names_the_log(tmp_path, clock):
    url = f"sqlite:///{tmp_path / FILE_NAME}"
    with seated(url, clock, "1"):
        refusal(tmp_path, clock, "1")
        with seated(f"sqlite:///{tmp_path / 'another.db'}", clock, "1"):
            pass


@pytest.mark.parametrize("name", ["名" * 64, "é" * 64, "T-é", "名" * 63 + "字"])
def test_a_table_may_have_any_name_that_the_log_takes(place, clock, name):
    """A file's name has 255 bytes at most, and ``%E5%90%8D`` for one letter was too much."""
    with seated(place, clock, name), seated(place, clock, "名" * 62):
        refusal(place, clock, name)
