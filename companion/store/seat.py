"""A table belongs to one program at a time: two that went on with its match would spoil each other's log."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from companion.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAIT_S = 2.0
"""A program that is being stopped may hold its table for so long."""


@contextmanager
def seat(folder: str | Path, table: str) -> Iterator[None]:
    """Hold `table` of a data folder; another program that holds it, but was killed, does not any more.

    What is locked is an empty SQLite file, as that works on every system.

    Raises:
        StoreError: if another program holds it, or the folder cannot be written to.
    """
    folder = Path(folder)
    file = folder / f"table-{quote(table, safe='')}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(file, timeout=_WAIT_S, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(file, error) from error
    with closing(connection):
        try:
            connection.execute("PRAGMA journal_mode = MEMORY")  # nothing is left beside it by who is killed
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise _unusable(file, error) from error
            raise StoreError(
                f"table {table} of {folder} is in play in another program: stop that one, or call this table "
                "otherwise, such as --source 2=camera:1"
            ) from error
        yield


def _unusable(file: Path, error: Exception) -> StoreError:
    return StoreError(f"{file} cannot be written: {error}")
