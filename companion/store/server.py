"""A hall's PostgreSQL: how long it is waited for, and what is locked there.

A server can hang, or be cut off without a word, and people must not wait for it with their next move. What it is asked
for a game in play is written in a few seconds, or it is hung up on: only the client can do that, as a server whose disk
hangs heeds no time limit of its own. Reading has no limit, for a long log takes long; there only a cut line is noticed.
The server for its part gives up a client that is gone, so that nobody waits for what that had locked.
"""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITERS = int.from_bytes(b"mijnlief", "big")
"""The number of the lock for which all that write to a log queue up."""
_KEPT_ALIVE = {"idle": 8, "interval": 4, "count": 3}
"""Seconds of silence until either end asks whether the other is there, seconds between asking, and how often."""
_CUT_OFF_S = 20
"""What was sent and not acknowledged for so long will not be: as long as asking takes."""
_ABANDONED_S = 60
"""The server gives up a client that has said nothing for so long in the middle of a transaction."""
_LOCK_NOT_AVAILABLE = "55P03"
"""What PostgreSQL calls it when a lock was waited for in vain (its manual, appendix A)."""
_NO_ANSWER = Saying("its server does not answer; check that it runs, and that this machine reaches it")
_LOCKED = Saying("another program is writing to it; try again when that is done")


class NoAnswer(SQLAlchemyError):  # noqa: N818 (nobody outside the store meets it)
    """The server took too long, and was hung up on."""


def guarded(url: sa.URL, wait_s: float) -> sa.URL:
    """The URL of a server, with how long it and what others have locked are waited for, where that tells nothing else.

    The names are those of libpq (the manual of PostgreSQL, 34.1.2) and of the server (20.3.2 and 20.11.1).
    """
    told = url.normalized_query
    session = {
        "lock_timeout": f"{1000 * wait_s:.0f}ms",
        "idle_in_transaction_session_timeout": f"{_ABANDONED_S}s",
        **{f"tcp_keepalives_{which}": number for which, number in _KEPT_ALIVE.items()},
    }
    client = {
        "connect_timeout": f"{max(2, round(wait_s))}",  # of 1 libpq makes 2
        "tcp_user_timeout": f"{1000 * _CUT_OFF_S}",
        **{f"keepalives_{which}": f"{number}" for which, number in _KEPT_ALIVE.items()},
    }
    options = [*(f"-c {name}={value}" for name, value in session.items()), *told.get("options", ())]
    new = {name: value for name, value in client.items() if name not in told}
    return url.update_query_dict({**new, "options": " ".join(options)})


@contextmanager
def hung_up_on(connection: sa.Connection, after_s: float) -> Iterator[None]:
    """Hang up on the server when the block takes longer than `after_s` seconds, which ends it; then `NoAnswer`."""
    driver_connection, late = connection.connection.driver_connection, threading.Event()

    def hang_up() -> None:
        late.set()
        _hang_up(driver_connection)

    bell = threading.Timer(after_s, hang_up)
    bell.name, bell.daemon = "hangs-up", True
    bell.start()
    try:
        yield
    except DBAPIError as error:
        if late.is_set():
            raise NoAnswer from error
        raise
    finally:
        bell.cancel()
        bell.join()


def _hang_up(driver_connection: Any) -> None:
    """End psycopg's connection from another thread than the one that waits for it."""
    with suppress(OSError):
        if not driver_connection.closed:
            line = socket.socket(fileno=driver_connection.fileno())
            try:
                line.shutdown(socket.SHUT_RDWR)
            finally:
                line.detach()  # it is not ours to close


def lock(connection: sa.Connection, name: str, wait_s: float) -> bool:
    """Lock a name, for the schema that `connection` sees. Whether it was free, or became so within `wait_s` seconds."""
    number = "hashtextextended(concat_ws('/', current_schema(), CAST(:name AS text)), 0)"
    connection.exec_driver_sql(f"SET lock_timeout = {1000 * wait_s:.0f}")
    try:
        connection.execute(sa.text(f"SELECT pg_advisory_lock({number})"), {"name": name})
    except DBAPIError as error:
        if not _is_locked(error):
            raise
        return False
    return True


def trouble(error: BaseException) -> str:
    """What is wrong with a server, in words for a person; empty where the error itself has to tell."""
    if isinstance(error, NoAnswer) or (isinstance(error, DBAPIError) and _timed_out(error)):
        return _NO_ANSWER
    return _LOCKED if isinstance(error, DBAPIError) and _is_locked(error) else ""


def _timed_out(error: DBAPIError) -> bool:
    return type(error.orig).__name__ == "ConnectionTimeout"  # psycopg's, which is not there for SQLite alone


def _is_locked(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", "") == _LOCK_NOT_AVAILABLE
