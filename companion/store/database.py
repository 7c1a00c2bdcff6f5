"""The database under the match log: opened, brought up to date, and every failure told in one line.

SQLite is set so that a commit is on the disk when it returns (write-ahead log, ``synchronous=FULL``) and so that
what is erased is overwritten (``secure_delete``). The driver's own idea of transactions is switched off: SQLAlchemy's
begin sends BEGIN, or BEGIN IMMEDIATE where something will be written, so that two writers queue up instead of one of
them failing half-way.

PostgreSQL has to be told both: without, each statement of a transaction would see what was committed just before it,
and two writers who first look whether something is there would both find that it is not. `companion.store.server` knows
how to wait for one.

Where nothing may be written (a disc, a backup, another user's folder) a log can still be read. SQLite reads a
write-ahead log (``-wal``) only together with its index (``-shm``), which it cannot make there. So with both of them it
is opened with ``mode=ro``. With neither nobody is writing, and the file is opened as it lies (``immutable``), without
locks; should it change meanwhile, what was read from it is not trusted. Anything else is a rest of a program that was
stopped while it wrote, and has to be copied to where it can be tidied up.

On a full disk that index cannot be made either, and what is to be read only is opened as it lies too.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from companion.address import shown
from companion.errors import StoreError
from companion.saying import Saying
from companion.store import server
from companion.store.schema import HEAD, VERSIONS, matches

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = "matches.sqlite3"
"""The log's file in the data folder."""

_BEGINNINGS = {
    "sqlite": {"reading": "BEGIN", "writing": "BEGIN IMMEDIATE"},
    "postgresql": {
        "reading": "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        "writing": f"SELECT pg_advisory_xact_lock({server.WRITERS})",
    },
}
"""What a transaction begins with, by what it is for."""
_PSYCOPG = "postgresql+psycopg"
_PURPOSE = "mijnlieff_purpose"
_SPARE_S = 2.0
"""A server that has taken so long to write, besides what others may be waited for, is taken to hang."""
_NO_INDEX = "SQLITE_IOERR_SHMSIZE"
"""There is no room for the index of the write-ahead log."""
_FULL = Saying("the disk is full; make room, nothing that was written is lost")
_SQLITE_TROUBLES = {
    "SQLITE_FULL": _FULL,
    _NO_INDEX: _FULL,
    "SQLITE_READONLY": Saying("it may not be written to; check who owns it, or choose another data folder"),
    "SQLITE_CANTOPEN": Saying("it cannot be opened or made; check who owns the folder, or choose another data folder"),
    "SQLITE_NOTADB": Saying("it is not a match log, or is damaged; move it away, or put a backup in its place"),
    "SQLITE_CORRUPT": Saying("it is damaged; move it away, or put a backup in its place"),
    "SQLITE_BUSY": Saying("another program is writing to it; try again when that is done"),
    "SQLITE_LOCKED": Saying("another program is writing to it; try again when that is done"),
    "SQLITE_IOERR": Saying("the disk does not answer as it should; check that it is plugged in and healthy"),
}


class Database:
    """An open database with the newest schema. Any thread may read and write; each use takes its own connection."""

    def __init__(
        self,
        engine: sa.Engine,
        name: str,
        still: Path | None = None,
        *,
        full: StoreError | None = None,
        patience_s: float = _SPARE_S,
    ) -> None:
        self._engine = engine
        self.name = name
        """What people call it: its file, or its URL without the password."""
        self._still = still
        """A file that is read without locks, as nobody writes to it."""
        self._full = full
        """What to say to whoever wants to write, where there is no room."""
        self._patience_s = patience_s
        """How long a server may take to write a few rows."""
        self._state = _state(still)
        self.file = _file_of(engine.url)
        """The file that it is in; None if a server has it, or SQLite's own kind of URI names it."""
        self._lies: tuple[int, int] | None = None
        """Where SQLite's file lies on its disk."""

    @classmethod
    def open(cls, place: str | Path, *, wait_s: float, create: bool) -> Database:
        """Open a data folder's SQLite file, or the database a URL names, and bring it up to date.

        Raises:
            StoreError: if it cannot be opened, is no match log, or was written by a newer version; with `create` off,
                also if there is none yet, or its file is empty. With `create` off one that may not be written to, or
                lies on a full disk, is opened for reading.

        """
        url = _url(place, create=create)
        name = shown(url.render_as_string()) if "://" in str(place) else str(url.database)
        file = None if create else _file_of(url)
        if file is not None and _may_only_be_read(file):
            url = _reading(url, file)
            return cls(_engine(url, wait_s), name, file if "immutable" in url.query else None)._brought_up_to_date(file)
        try:
            return cls(_engine(url, wait_s), name, patience_s=wait_s + _SPARE_S)._brought_up_to_date(file)
        except StoreError as error:
            if file is None or _errorname(error.__cause__) != _NO_INDEX or _is_half_written(file):
                raise
            return cls(_engine(_as_it_lies(url, file), wait_s), name, file, full=error)._brought_up_to_date(file)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A connection that sees one state of the log throughout."""
        with self._told(), self._engine.connect() as connection, connection.begin():
            yield connection
        if _state(self._still) != self._state:
            raise StoreError(f"another program has written to {self.name} meanwhile; try again")

    @contextmanager
    def writing(self, *, in_play: bool = False) -> Iterator[sa.Connection]:
        """A connection whose changes are on the disk when the block has ended, or not made at all.

        With `in_play` a few rows are written, and people wait: a server that takes too long is hung up on, and then it
        is not known whether it has made them.
        """
        if self._full:
            raise self._full
        if self._lies is not None and _identity(self.file) != self._lies:
            raise StoreError(
                Saying(
                    "the match log %(name)s is not where it was; put it back, or start the program again",
                    name=self.name,
                )
            )
        with self._told(), self._engine.connect() as plain:
            connection = plain.execution_options(**{_PURPOSE: "writing"})
            limited = in_play and self.has_server
            with server.hung_up_on(plain, self._patience_s) if limited else nullcontext(), connection.begin():
                yield connection

    @contextmanager
    def locked_at_server(self, name: str, *, wait_s: float) -> Iterator[bool]:
        """Hold a lock that the server has for this name, for as long as the block, or the program, lasts.

        Gives whether it was free, or became so within `wait_s` seconds. Only with a server.
        """
        with self._told():
            plain = self._engine.connect()
        try:
            with self._told():
                free = server.lock(
                    plain.execution_options(**{_PURPOSE: "holding"}, isolation_level="AUTOCOMMIT"), name, wait_s
                )
            yield free
        finally:
            plain.invalidate()  # hangs up: the pool would keep it, and what it holds
            plain.close()

    @property
    def has_server(self) -> bool:
        """Whether a server has it, and not this machine's SQLite."""
        return self._engine.dialect.name == "postgresql"

    def forget_erased(self) -> None:
        """Take what was deleted out of SQLite's write-ahead log too."""
        if self._engine.dialect.name != "sqlite":
            return
        with self._told(), self._engine.connect() as connection:
            busy, *_ = connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (0,)
        if busy:
            raise StoreError(
                f"it is erased, but another program is reading {self.name}, so what was there is on the disk still: "
                "end that program, and erase once more"
            )

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what the driver raises into one line for a person."""
        try:
            yield
        except (SQLAlchemyError, UnicodeError) as error:
            told = Saying("the match log %(name)s cannot be used: %(why)s", name=self.name, why=_trouble(error))
            raise StoreError(told) from error

    def _brought_up_to_date(self, old: Path | None) -> Self:
        """Itself, with the newest schema; closed, where that fails."""
        try:
            self._bring_up_to_date(old)
        except BaseException:
            self.close()
            raise
        self._lies = _identity(self.file)
        return self

    def _bring_up_to_date(self, old: Path | None) -> None:
        """Give it the newest schema; `StoreError` if it is a file that was to be an `old` one, and nothing is in it."""
        with self.reading() as connection:
            current = self._version(connection)
        if current == HEAD:
            return
        if current is None and old is not None:
            raise StoreError(
                f"{old} is empty; if it was copied from where a program was writing to it, copy {old.name}-wal along "
                "with it, if not, put a backup in its place"
            )
        with self.writing() as connection:
            if self._version(connection) != HEAD:  # nobody was quicker
                _upgrade(connection)

    def _version(self, connection: sa.Connection) -> str | None:
        """The schema's version; None for an empty database. `StoreError` for one that is not ours to change."""
        tables = sa.inspect(connection).get_table_names()
        if not tables:
            return None
        if "alembic_version" not in tables or matches.name not in tables:
            raise StoreError(f"{self.name} is a database, but not a match log; choose another data folder")
        told = ", ".join(map(str, connection.scalars(sa.text("SELECT version_num FROM alembic_version"))))
        if told in VERSIONS:
            return told
        if told.isdecimal() and told > HEAD:
            raise StoreError(
                f"the match log {self.name} has version {told}, and this program knows versions up to {HEAD}; "
                f"update the program"
            )
        raise StoreError(
            f"the match log {self.name} has the version {told!r}, which there never was; put a backup in its place"
        )


def is_there(place: str | Path) -> bool:
    """Whether there is a log to open at `place`; a database server is taken to have one.

    So is what cannot be one: opening it tells why.
    """
    try:
        if "://" not in str(place):
            return (Path(place) / FILE_NAME).exists() or Path(place).is_file()
        file = _file_of(_named(str(place)))
        return file is None or file.exists() or not os.access(file.parent, os.W_OK)
    except (OSError, StoreError):  # a folder that nobody lets us look into, or no URL: opening it tells why
        return True


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command  # noqa: PLC0415 (slow to import, and a log that is up to date does not need it)
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", "companion.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _url(place: str | Path, *, create: bool) -> sa.URL:
    by_url = "://" in str(place)
    if not create and not is_there(place):
        where = f"at {shown(str(place))}" if by_url else f"in {Path(place)}"
        raise StoreError(f"there is no match log {where} yet; watch or run a game first, or check --data")
    if by_url:
        return _named(str(place))
    folder = Path(place)
    try:
        is_file = folder.is_file()
        if create and not is_file:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the data folder {folder} cannot be used: {error.strerror}; choose another") from error
    if is_file:
        raise StoreError(f"{folder} is a file; --data takes the folder that has {FILE_NAME} in it")
    return sa.URL.create("sqlite", database=str(folder / FILE_NAME))


def _file_of(url: sa.URL) -> Path | None:
    """The file that a database is in; None if a server has it, or SQLite's own kind of URI names it."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith("file:"):
        return None
    return Path(url.database)


def _may_only_be_read(file: Path) -> bool:
    return os.access(file, os.R_OK) and not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK))


def _reading(url: sa.URL, file: Path) -> sa.URL:
    """The URL that opens SQLite's `file` without writing anything to it or beside it."""
    if _beside(file, "-wal").exists() and _beside(file, "-shm").exists():
        return _uri(url, file, mode="ro")
    if _is_half_written(file):
        raise StoreError(
            f"{file} was left in the middle of writing, and may not be written to; copy its whole folder to where you "
            "may write, and give that with --data"
        )
    return _as_it_lies(url, file)


def _as_it_lies(url: sa.URL, file: Path) -> sa.URL:
    """The URL that opens SQLite's `file`, which nobody is writing to, without locks."""
    return _uri(url, file, immutable="1")


def _uri(url: sa.URL, file: Path, **how: str) -> sa.URL:
    return url.set(database=file.absolute().as_uri(), query={"uri": "true", **how})


def _is_half_written(file: Path) -> bool:
    """Whether what was written last lies beside SQLite's `file`, and not in it."""
    return any(rest.exists() and rest.stat().st_size for rest in (_beside(file, "-wal"), _beside(file, "-journal")))


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _state(file: Path | None) -> tuple[int, int] | None:
    """What changes when a file is written to."""
    told = _stat(file)
    return (told.st_mtime_ns, told.st_size) if told else None


def _identity(file: Path | None) -> tuple[int, int] | None:
    """What tells a file from another of its name."""
    told = _stat(file)
    return (told.st_dev, told.st_ino) if told else None


def _stat(file: Path | None) -> os.stat_result | None:
    """What is told of a file; None if it is gone, with whatever it was on."""
    try:
        return file.stat() if file else None
    except OSError:
        return None


def _named(place: str) -> sa.URL:
    """The database that a URL names."""
    try:
        url = sa.make_url(place)
        if url.get_backend_name() != "sqlite":  # whose file may have a name in any encoding
            place.encode()
    except (SQLAlchemyError, ValueError):
        raise StoreError("the database URL cannot be read; write postgresql://user:password@host/database") from None
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername=_PSYCOPG)
    if url.get_backend_name() == "sqlite" and _is_in_memory(url):
        raise StoreError(
            f"{shown(place)} is a database in memory, and keeps nothing; give a folder, or a file as "
            "sqlite:///matches.sqlite3"
        )
    return url


def _is_in_memory(url: sa.URL) -> bool:
    """Whether SQLite would forget it all when the program ends."""
    name = (url.database or ":memory:").removeprefix("file:")
    return name.startswith(":memory:") or url.query.get("mode") == "memory"


def _engine(url: sa.URL, wait_s: float) -> sa.Engine:
    is_sqlite = url.get_backend_name() == "sqlite"
    if url.drivername == _PSYCOPG:
        url = server.guarded(url, wait_s)
    try:
        engine = sa.create_engine(url, connect_args={"timeout": wait_s} if is_sqlite else {})
    except ImportError as error:
        raise StoreError(
            f"{url.drivername} needs the module {error.name}; for PostgreSQL: {sys.executable} -m pip install "
            "'psycopg[binary]'"
        ) from error
    except SQLAlchemyError as error:
        where, why = shown(url.render_as_string()), " ".join(shown(str(error)).split())
        raise StoreError(f"{where} is no database this program knows: {why}") from error
    if is_sqlite:
        sa.event.listen(engine, "connect", _set_up_sqlite)
    if engine.dialect.name in _BEGINNINGS:
        sa.event.listen(engine, "begin", _begin)
    return engine


def _set_up_sqlite(driver_connection: Any, _record: object) -> None:
    driver_connection.isolation_level = None
    driver_connection.text_factory = lambda text: text.decode(errors="replace")  # a damaged text hides no other row
    cursor = driver_connection.cursor()
    for setting in ("foreign_keys=ON", "synchronous=FULL", "fullfsync=ON", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {setting}")
    if cursor.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with suppress(sqlite3.OperationalError):  # another program is just doing it, or this disk cannot: safe anyway
            cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    purpose = connection.get_execution_options().get(_PURPOSE, "reading")
    if purpose in _BEGINNINGS[connection.dialect.name]:
        connection.exec_driver_sql(_BEGINNINGS[connection.dialect.name][purpose])


def _errorname(error: BaseException | None) -> str:
    """SQLite's own name for what went wrong; empty if it was not SQLite."""
    return str(getattr(error.orig, "sqlite_errorname", "")) if isinstance(error, DBAPIError) else ""


def _trouble(error: SQLAlchemyError | UnicodeError) -> str:
    if isinstance(error, UnicodeDecodeError):  # from sqlite3: what SQLite said itself cites something damaged
        return _SQLITE_TROUBLES["SQLITE_CORRUPT"]
    if words := server.trouble(error):
        return words
    cause = error.orig if isinstance(error, DBAPIError) else error
    name = _errorname(error)
    for prefix, words in _SQLITE_TROUBLES.items():
        if name.startswith(prefix):
            return words
    return " ".join(str(cause).split()) or type(cause).__name__
