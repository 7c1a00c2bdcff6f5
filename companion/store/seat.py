"""A table belongs to one program at a time: two that went on with its match would spoil each other's log.

Where the log is a file, an empty one beside it is locked, through SQLite, as that works on every system. A database
server holds the lock itself, for as long as a connection of its own lasts. Both let go of it when a program is killed;
a server that is started again has forgotten it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from companion.errors import StoreError
from companion.store.chain import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from companion.store.database import Database

_WAIT_S = 2.0
"""A program that is being stopped may hold its table for so long."""
_LONGEST = 100
"""A table whose name takes up more characters in a file's name is called by its digest there: 255 are too many."""


@contextmanager
def seat(database: Database, table: str) -> Iterator[None]:
    """Hold `table` of a log; another program that holds it, but was killed, does not any more.

    A log that has neither a file nor a server to lock it, as SQLite's own kind of URI names it, is not held.

    Raises:
        StoreError: if another program holds it, or the file's folder cannot be written to.
    """
    if database.has_server:
        with database.locked_at_server(f"table {table}", wait_s=_WAIT_S) as is_free:
            if not is_free:
                raise _taken(table, database.name)
            yield
    elif database.file is not None:
        with _locked_beside(database.file, table):
            yield
    else:
        yield


@contextmanager
def _locked_beside(log: Path, table: str) -> Iterator[None]:
    file = log.with_name(f"{log.name}-table-{_in_a_file_name(table)}.lock")
    try:
        connection = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None)
    except sqlite3.Error as error:
        raise _unusable(file, error) from error
    with closing(connection):
        try:
            connection.execute("PRAGMA journal_mode = MEMORY")  # nothing is left beside it by who is killed
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise _unusable(file, error) from error
            raise _taken(table, str(log.parent)) from error
        yield


def _in_a_file_name(table: str) -> str:
    quoted = quote(table, safe="")
    return quoted if len(quoted) <= _LONGEST else digest_of(table)


def _taken(table: str, log: str) -> StoreError:
    return StoreError(
        f"table {table} of {log} is in play in another program: stop that one, or call this table otherwise, such as "
        "--source 2=camera:1"
    )


def _unusable(file: Path, error: Exception) -> StoreError:
    return StoreError(f"{file} cannot be written: {error}")
