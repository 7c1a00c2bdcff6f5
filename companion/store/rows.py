"""What the rows of the log tell: the queries, and the matches and entries that are made of what they give.

Every function reads through a connection that somebody else has opened, so that what is asked together is one state
of the log. One match whose rows make no sense is named, and hides no other.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from companion.errors import StoreError
from companion.events import Event
from companion.rules import Layout
from companion.store.records import TURNING_POINTS, Damaged, Entry, Match, Opening
from companion.store.schema import events as event_rows
from companion.store.schema import matches as match_rows
from companion.store.schema import people as people_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 2**31 - 1
"""No match has a larger number: it is the largest `Integer` of PostgreSQL."""

ENDS = sa.select(match_rows.c.table_id, match_rows.c.length, match_rows.c.head)
"""Where each chain ends."""

_LATEST = (
    sa.select(sa.func.max(event_rows.c.seq))
    .where(event_rows.c.match_id == match_rows.c.id, event_rows.c.name.in_(TURNING_POINTS))
    .correlate(match_rows)
    .scalar_subquery()
)
_MATCHES = sa.select(
    match_rows.c.id,
    match_rows.c.link,
    match_rows.c.length,
    match_rows.c.head,
    people_rows.c.told,
    event_rows.c.link.label("latest_link"),
    event_rows.c.digest.label("latest_digest"),
).select_from(
    match_rows.outerjoin(people_rows, people_rows.c.match_id == match_rows.c.id).outerjoin(
        event_rows, sa.and_(event_rows.c.match_id == match_rows.c.id, event_rows.c.seq == _LATEST)
    )
)
"""Each match with its people, where they are not erased, and its latest turning point."""


def row_of(connection: sa.Connection, query: sa.Select[Any], match: int) -> Any:
    """The one row that a query of `matches` gives for a match; `StoreError` if there is none of that number."""
    row = connection.execute(query.where(_numbered(match))).one_or_none()
    if row is None:
        raise StoreError(f"there is no match {match} in the log; companion matches list shows those there are")
    return row


def links_of(connection: sa.Connection, match: int) -> list[Any]:
    """The rows of a match's events, in order."""
    query = sa.select(event_rows).where(event_rows.c.match_id == match).order_by(event_rows.c.seq)
    return list(connection.execute(query))


def every_match(connection: sa.Connection, table: str | None = None) -> list[Match | Damaged]:
    """Every match, or those of one table, oldest first."""
    query = _MATCHES.order_by(match_rows.c.id)
    if table is not None:
        query = query.where(match_rows.c.table_id == table)
    return [_match_or_damage(row) for row in connection.execute(query)]


def one_match(connection: sa.Connection, match: int) -> Match:
    """One match; `StoreError` if there is none of that number, or it is damaged."""
    return _match(row_of(connection, _MATCHES, match))


def newest_first(connection: sa.Connection, table: str) -> Iterator[Match]:
    """The matches of a table, each read when it is asked for; `StoreError` at the first that is damaged."""
    query = _MATCHES.where(match_rows.c.table_id == table).order_by(match_rows.c.id.desc())
    return map(_match, connection.execute(query.execution_options(yield_per=1)))


def entries_of(connection: sa.Connection, match: int) -> tuple[Entry, ...]:
    """The events of a match, in order; `StoreError` if there is no such match, or one of them makes no sense."""
    row_of(connection, ENDS, match)
    return tuple(_entry(row) for row in links_of(connection, match))


@contextmanager
def naming(match: int) -> Iterator[None]:
    """Tell which match it was whose rows make no sense."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, StoreError) as error:
        raise StoreError(f"match {match} is damaged: {error}; companion matches verify {match} tells more") from error


def _numbered(match: int) -> sa.ColumnElement[bool]:
    """Which row is that match's; none for a number that the database cannot hold, and would stumble over."""
    return match_rows.c.id == match if match <= _LARGEST else sa.false()


def _match(row: Any) -> Match:
    with naming(row.id):
        first = json.loads(row.link)
        people = json.loads(row.told)["told"] if row.told is not None else {}
        latest = Event.from_dict(json.loads(row.latest_link)["event"]) if row.latest_link is not None else None
        match = Match(
            id=row.id,
            opening=Opening.from_log(first["match"], people),
            started=first["started"],
            length=row.length,
            latest=latest,
            digest=row.head,
            names_erased=row.told is None,
        )
        Layout.parse(match.opening.layout)
        texts = (match.started, match.opening.table, *people.values(), *match.opening.tags.values())
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("its opening has something else where a text should be")
    return replace(match, digest=row.latest_digest) if match.finished else match


def _match_or_damage(row: Any) -> Match | Damaged:
    try:
        return _match(row)
    except StoreError as error:
        return Damaged(row.id, str(error))


def _entry(row: Any) -> Entry:
    with naming(row.match_id):
        link = json.loads(row.link)
        if not isinstance(row.digest, str):
            raise TypeError(f"the digest of event {row.seq} is no text")
        return Entry(row.seq, Event.from_dict(link["event"]), link["written"], link["evidence"], row.digest)
