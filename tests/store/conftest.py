"""Logs to test with: a real file, and a real PostgreSQL."""

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from companion.store import MatchLog
from tests.store import postgresql

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    """A clock that is one second on at every look."""
    seconds = itertools.count()
    return lambda: NOON + timedelta(seconds=next(seconds))


@pytest.fixture
def log(tmp_path, clock):
    with MatchLog.open(tmp_path, clock, wait_s=0.01) as log:
        yield log


@pytest.fixture(scope="session")
def server(tool):
    """The URL of a server's database; it is for one test at a time."""
    with postgresql.throw_away(Path(tool("initdb")).resolve().parent) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a log can be opened, once for every kind of database."""
    if request.param == "sqlite":
        return str(tmp_path)
    server = request.getfixturevalue("server")
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return server.render_as_string(hide_password=False)
