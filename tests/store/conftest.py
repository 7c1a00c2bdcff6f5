"""Logs to test with: a real file, and a real PostgreSQL where the environment names one that may be emptied."""

import itertools
import os
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from companion.store import MatchLog

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
POSTGRES = os.environ.get("COMPANION_TEST_POSTGRES")


@pytest.fixture
def clock():
    """A clock that is one second on at every look."""
    seconds = itertools.count()
    return lambda: NOON + timedelta(seconds=next(seconds))


@pytest.fixture
def log(tmp_path, clock):
    with MatchLog.open(tmp_path, clock, wait_s=0.01) as log:
        yield log


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a log can be opened, once for every kind of database."""
    if request.param == "sqlite":
        return str(tmp_path)
    if POSTGRES is None:
        pytest.skip("COMPANION_TEST_POSTGRES names no database")
    engine = sa.create_engine(POSTGRES, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return POSTGRES
