"""The match log: every match, event by event, each written once and chained to the one before."""

from __future__ import annotations

import json
import secrets
import tempfile
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import sqlalchemy as sa

from companion.errors import ConflictError
from companion.saying import Saying
from companion.store import chain
from companion.store.database import Database
from companion.store.exchange import IMPORTED, already_there, opening_of, text_telling
from companion.store.records import Imported
from companion.store.retelling import events_telling, paused_by, pieces_told, undone_by
from companion.store.rows import ENDS, entries_of, every_match, game_of, latest_match, one_match, row_of
from companion.store.schema import events as event_rows
from companion.store.schema import matches as match_rows
from companion.store.schema import people as people_rows
from companion.store.schema import pictures as picture_rows
from companion.store.seat import seat
from companion.store.verifying import account_of, verified

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from companion.events import Event
    from companion.rules import Colour, Game, MatchText, Move, Piece
    from companion.store.records import Damaged, Entry, Match, Opening
    from companion.store.verifying import Account, Verification


class MatchLog:
    """All matches of a data folder, or of a hall's database.

    Any number of threads and programs may use one log at a time; what a method has written is on the disk when it
    returns. Every method raises `StoreError`, with one line for a person, when the log cannot be read or written;
    then nothing of what it was asked to write is there, and it may be asked again.

    Use `open` or `throwaway`, as a context manager.
    """

    def __init__(
        self, database: Database, clock: Callable[[], datetime], *, on_close: Callable[[], None] | None = None
    ) -> None:
        self._database = database
        self._clock = clock
        self._on_close = on_close

    @classmethod
    def open(
        cls, place: str | Path, clock: Callable[[], datetime], *, wait_s: float = 2.0, create: bool = True
    ) -> MatchLog:
        """Open a log, and bring its tables up to date.

        Args:
            place: a data folder (the log is ``matches.sqlite3`` in it), or a URL such as ``postgresql://host/name``.
            clock: gives the time now, with its zone.
            wait_s: seconds to wait for another program that is writing, or for a server to be reached.
            create: make the folder and the log if there is none; otherwise that is an error.

        """
        return cls(Database.open(place, wait_s=wait_s, create=create), clock)

    @classmethod
    def throwaway(cls, clock: Callable[[], datetime]) -> MatchLog:
        """A log in a folder of its own, which goes when the log is closed."""
        folder = tempfile.TemporaryDirectory(prefix="mijnlieff-")  # closed with the log
        try:
            return cls(Database.open(folder.name, wait_s=2.0, create=True), clock, on_close=folder.cleanup)
        except BaseException:
            folder.cleanup()
            raise

    @property
    def kept(self) -> bool:
        """Whether it outlives the program."""
        return self._on_close is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()
        if self._on_close is not None:
            self._on_close()

    def seat(self, table: str) -> AbstractContextManager[None]:
        """Hold a table, so that no other program plays at it; `StoreError` if one does already."""
        return seat(self._database, table)

    def now(self) -> str:
        """The time as the log writes it: UTC, ISO 8601, milliseconds."""
        return self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def begin(self, opening: Opening, *, started: str | None = None) -> int:
        """Open a match and return its number. `started` is when it began, as `now` told; by default, now."""
        match, people = self._opening_rows(opening, started)
        with self._database.writing(in_play=True) as connection:
            number = _file(connection, match)
            connection.execute(sa.insert(people_rows).values(match_id=number, **people))
        return number

    def append(self, match: int, events: Sequence[Event], evidence: bytes = b"", *, after: int | None = None) -> int:
        """Write events at the end of a match, all or none, and return how many it has now.

        Args:
            events: all of the match's own table.
            evidence: what the source saw when these events were decided; kept once, for all of them.
            after: how many events the match has had before. Then asking again, not knowing whether the first time
                went through, writes nothing twice; and a match that somebody else has gone on with is refused.

        """
        with self._database.writing(in_play=True) as connection:
            return self._append(connection, match, events, evidence, after)

    def matches(self, table: str | None = None) -> list[Match | Damaged]:
        """Every match, or those of one table, oldest first; one that is damaged hides no other."""
        with self._database.reading() as connection:
            return every_match(connection, table)

    def match(self, match: int) -> Match:
        """One match; `StoreError` if there is none of that number."""
        with self._database.reading() as connection:
            return one_match(connection, match)

    def latest(self, table: str) -> Match | None:
        """The match that people began last at a table, no recording that was seen there; None if there is none."""
        with self._database.reading() as connection:
            return latest_match(connection, table)

    def entries(self, match: int) -> tuple[Entry, ...]:
        """The events of a match, in order."""
        with self._database.reading() as connection:
            return entries_of(connection, match)

    def account(self, match: int, *, sound: bool = False) -> Account:
        """A match, its events and what checking it finds, all of one moment: a match in play goes on meanwhile.

        With `sound`, `StoreError` if it is not as it was written.
        """
        with self._database.reading() as connection:
            return account_of(connection, match, sound=sound)

    def game(self, match: int) -> Game:
        """The game as the events of a match tell it."""
        return game_of(self.match(match), self.entries(match))

    def resigned(self, match: int) -> Colour | None:
        """Who has ended a match by resigning; None if nobody has, or the moves have ended it since."""
        return self.match(match).resigned

    def paused(self, match: int) -> bool:
        """Whether a match was paused when its last event was written."""
        return paused_by(entry.event for entry in self.entries(match))

    def undone(self, match: int) -> list[Move]:
        """The moves of a match that were taken back since the last one was played."""
        return undone_by((entry.event for entry in self.entries(match)), self.match(match).opening.start())

    def pieces_told(self, match: int) -> set[Piece]:
        """What the moves of a match are, and have been said to be before they were corrected or taken back."""
        return pieces_told((entry.event for entry in self.entries(match)), self.match(match).opening.start())

    def match_text(self, match: int) -> MatchText:
        """A match for export, with its final hash as the tag Log; `StoreError` if it is not as it was written.

        What was let in before and no match text may have is left out: a Date that is none, an ending that the moves do
        not give.
        """
        account = self.account(match, sound=True)
        events = (entry.event for entry in account.entries)
        return text_telling(account.match, events, game_of(account.match, account.entries))

    def import_texts(self, texts: Iterable[MatchText]) -> list[Imported]:
        """Log matches that were written down elsewhere, all or none, as new matches of the table `IMPORTED`.

        One that is there already, told alike, is not logged again.
        """
        written = [(text.write(), text) for text in texts]
        filed: list[int] | None = None
        while filed is None:
            there = self.matches()
            numbers = already_there(dict(written), there, self.match_text)
            new = {told: self._unfiled(text) for told, text in written if told not in numbers}
            filed = self._file_beside(there, new.values())
        numbers |= zip(new, filed, strict=True)
        return [Imported(numbers[told], new.pop(told, None) is not None) for told, _ in written]

    def _file_beside(self, there: Iterable[Match | Damaged], new: Collection[_Unfiled]) -> list[int] | None:
        """Insert whole matches and return their numbers; None if more matches are there by now than were looked at."""
        if not new:
            return []
        with self._database.writing() as connection:  # others wait meanwhile, so the rows are made before
            latest = connection.scalar(sa.select(sa.func.max(match_rows.c.id)))
            if latest != max((match.id for match in there), default=None):
                return None
            return _file_whole(connection, new)

    def _unfiled(self, text: MatchText) -> _Unfiled:
        match, people = self._opening_rows(opening_of(text), None)
        end, events = _End(match["table_id"], 0, match["digest"]), tuple(events_telling(text, table=IMPORTED))
        rows = list(_linked(events, end, written=self.now(), evidence=""))
        return _Unfiled({**match, **_end_of(rows)}, people, rows)

    def evidence(self, match: int, digest: str) -> bytes | None:
        """What the source saw, by the digest an `Entry` has; None if it was erased."""
        query = sa.select(picture_rows.c.evidence).where(
            picture_rows.c.match_id == match, picture_rows.c.digest == digest
        )
        with self._database.reading() as connection:
            found = connection.scalar(query)
        return bytes(found) if found is not None else None

    def erase_names(self, match: int) -> None:
        """Forget who played. The chain stays sound."""
        self._erase(people_rows, match)

    def erase_pictures(self, match: int) -> int:
        """Forget what the source saw, and return how many pictures that were. The chain stays sound."""
        return self._erase(picture_rows, match)

    def verify(self, match: int, known: str | None = None) -> Verification:
        """Check every link of a match, and the names and pictures that are still there.

        A chain that was made up anew from end to end is sound too. `known`, a digest noted down elsewhere (or at least
        its first `FEWEST_DIGITS`), has to be that of one of its links.
        """
        with self._database.reading() as connection:
            return verified(connection, match, known)

    def vouch(self, match: int) -> None:
        """`StoreError` if a match is not as it was written, so that its hash stands for nothing."""
        self.verify(match).vouch()

    def _opening_rows(self, opening: Opening, started: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """The rows of a match that begins, and of who plays it, but for its number."""
        opening = opening.settled()
        people = chain.canonical({"salt": secrets.token_hex(16), "told": opening.people})
        link = chain.first_link(opening.in_chain, started=started or self.now(), people=chain.digest_of(people))
        digest = chain.digest_of(link)
        match = {"table_id": opening.table, "link": link, "digest": digest, "length": 0, "head": digest}
        return match, {"table_id": opening.table, "told": people}

    def _append(
        self, connection: sa.Connection, match: int, events: Sequence[Event], evidence: bytes, after: int | None
    ) -> int:
        end = row_of(connection, ENDS.with_for_update(), match)
        if after is not None and end.length != after:
            return _already_written(connection, match, events, after, end.length)
        seen = chain.digest_of(evidence) if evidence else ""
        rows = list(_linked(events, end, written=self.now(), evidence=seen))
        if not rows:
            return int(end.length)
        connection.execute(sa.insert(event_rows), _numbered(match, rows))
        if evidence:
            _keep(connection, match, end.table_id, seen, evidence)
        connection.execute(sa.update(match_rows).where(match_rows.c.id == match).values(_end_of(rows)))
        return int(rows[-1]["seq"])

    def _erase(self, rows: sa.Table, match: int) -> int:
        with self._database.writing() as connection:
            row_of(connection, ENDS, match)
            erased = connection.execute(sa.delete(rows).where(rows.c.match_id == match)).rowcount
        self._database.forget_erased()
        return erased


class _End(NamedTuple):
    """Where a chain ends, as `ENDS` asks for it."""

    table_id: str
    length: int
    head: str


@dataclass(frozen=True, slots=True)
class _Unfiled:
    """A whole match as its rows, but for its number."""

    match: dict[str, Any]
    people: dict[str, Any]
    events: list[dict[str, Any]]


def _file(connection: sa.Connection, match: dict[str, Any]) -> int:
    """Insert the row of a match; its number."""
    inserted = connection.execute(sa.insert(match_rows).values(match)).inserted_primary_key
    assert inserted is not None  # there is always one for a single row
    return int(inserted[0])


def _file_whole(connection: sa.Connection, matches: Collection[_Unfiled]) -> list[int]:
    """Insert whole matches, of which there is one at least; their numbers."""
    numbers = [_file(connection, each.match) for each in matches]
    filed = list(zip(numbers, matches, strict=True))
    connection.execute(sa.insert(people_rows), [{"match_id": number, **each.people} for number, each in filed])
    connection.execute(sa.insert(event_rows), [row for number, each in filed for row in _numbered(number, each.events)])
    return numbers


def _numbered(match: int, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"match_id": match, **row} for row in rows]


def _end_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the row of a match tells of the end of its chain, after these events."""
    return {"length": rows[-1]["seq"], "head": rows[-1]["digest"]}


def _linked(events: Sequence[Event], end: Any, *, written: str, evidence: str) -> Iterator[dict[str, Any]]:
    """A row for each event, but for its match's number, linked to the end of the chain."""
    previous = end.head
    for seq, event in enumerate(events, start=end.length + 1):
        if event.table != end.table_id:
            raise ValueError(f"the match is played at table {end.table_id}, not at {event.table}")
        told = event.as_dict()
        link = chain.event_link(told, seq=seq, previous=previous, written=written, evidence=evidence)
        previous = chain.digest_of(link)
        yield {
            "seq": seq,
            "table_id": event.table,
            "name": told["event"],
            "link": link,
            "digest": previous,
        }


def _already_written(connection: sa.Connection, match: int, events: Sequence[Event], after: int, length: int) -> int:
    """The match's length, if `events` are exactly what follows its first `after`."""
    query = sa.select(event_rows.c.link).where(event_rows.c.match_id == match, event_rows.c.seq > after)
    there = [json.loads(link)["event"] for link in connection.scalars(query.order_by(event_rows.c.seq))]
    if there != [json.loads(chain.canonical(event.as_dict())) for event in events]:
        raise ConflictError(
            Saying(
                "match %(match)s has %(there)s events where %(expected)s were expected: another program writes to it; "
                "stop one, and begin a new match",
                match=match,
                there=length,
                expected=after,
            )
        )
    return length


def _keep(connection: sa.Connection, match: int, table: str, digest: str, evidence: bytes) -> None:
    same = sa.select(picture_rows.c.digest).where(picture_rows.c.match_id == match, picture_rows.c.digest == digest)
    if connection.execute(same).one_or_none() is None:
        connection.execute(
            sa.insert(picture_rows).values(match_id=match, digest=digest, table_id=table, evidence=evidence)
        )
