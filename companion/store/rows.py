"""What the rows of the log tell: the queries, and the matches and entries that are made of what they give.

Every function reads through a connection that somebody else has opened, so that what is asked together is one state
of the log. One match whose rows make no sense is named, and hides no other.
"""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from companion.errors import StoreError
from companion.events import Event, GameOver, Resigned
from companion.rules import Layout
from companion.store.records import TURNING_POINTS, Damaged, Entry, Match, Opening
from companion.store.retelling import game_told_by, resigned_by
from companion.store.schema import events as event_rows
from companion.store.schema import matches as match_rows
from companion.store.schema import people as people_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from companion.rules import Game

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
_GIVEN_UP = (
    sa.exists()
    .where(event_rows.c.match_id == match_rows.c.id, event_rows.c.name == Resigned.__name__)
    .correlate(match_rows)
)
_MATCHES = sa.select(
    match_rows.c.id,
    match_rows.c.link,
    match_rows.c.length,
    match_rows.c.head,
    people_rows.c.told,
    event_rows.c.link.label("latest_link"),
    event_rows.c.digest.label("latest_digest"),
    _GIVEN_UP.label("given_up"),
).select_from(
    match_rows.outerjoin(people_rows, people_rows.c.match_id == match_rows.c.id).outerjoin(
        event_rows, sa.and_(event_rows.c.match_id == match_rows.c.id, event_rows.c.seq == _LATEST)
    )
)
"""Each match with its people, where they are not erased, its latest turning point, and whether anyone has resigned."""


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
        query = query.where(_at(table))
    return [_match_or_damage(connection, row) for row in connection.execute(query).all()]


def one_match(connection: sa.Connection, match: int) -> Match:
    """One match; `StoreError` if there is none of that number, or it is damaged."""
    return _match(connection, row_of(connection, _MATCHES, match))


def latest_match(connection: sa.Connection, table: str) -> Match | None:
    """The latest match at a table that is no recording; `StoreError` if that, or one after it, is damaged."""
    query = _MATCHES.where(_at(table)).order_by(match_rows.c.id.desc())
    with connection.execute(query.execution_options(yield_per=1)) as newest_first:
        found = next((row for row in newest_first if _as_told(row).opening.live), None)
    return None if found is None else _match(connection, found)


def entries_of(connection: sa.Connection, match: int) -> tuple[Entry, ...]:
    """The events of a match, in order; `StoreError` if there is no such match, or one of them makes no sense."""
    row_of(connection, ENDS, match)
    return tuple(_entry(row) for row in links_of(connection, match))


def game_of(match: Match, entries: Iterable[Entry]) -> Game:
    """The game as the events of a match tell it; `StoreError` for the first that does not fit."""
    with _naming(match.id):
        return game_told_by((entry.event for entry in entries), match.opening.start())


@contextmanager
def _naming(match: int) -> Iterator[None]:
    """Tell which match it was whose rows make no sense."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, StoreError) as error:
        raise StoreError(f"match {match} is damaged: {error}; companion matches verify {match} tells more") from error


def _numbered(match: int) -> sa.ColumnElement[bool]:
    """Which row is that match's; none for a number that the database cannot hold, and would stumble over."""
    return match_rows.c.id == match if match <= _LARGEST else sa.false()


def _at(table: str) -> sa.ColumnElement[bool]:
    """Which rows are of a table; none for a name that is no text, as one on the command line in another encoding."""
    try:
        table.encode()
    except UnicodeEncodeError:
        return sa.false()
    return match_rows.c.table_id == table


def _match(connection: sa.Connection, row: Any) -> Match:
    """A match; where a player has resigned, its events tell whether that has ended it, or the moves have."""
    match = _as_told(row)
    if not (row.given_up and match.finished):
        return match
    with suppress(StoreError):  # `verify` tells what is wrong with them
        entries = entries_of(connection, match.id)
        match = replace(match, resigned=resigned_by(entry.event for entry in entries))
        outcome = game_of(match, entries).outcome
        if outcome is not None:  # older versions let the resignation decide
            match = replace(match, resigned=None, winner=outcome.winner)
    return match


def _as_told(row: Any) -> Match:
    """A match as its latest turning point tells it."""
    with _naming(row.id):
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
            winner=latest.winner if isinstance(latest, GameOver) else None,
            names_erased=row.told is None,
        )
        Layout.parse(match.opening.layout)
        texts = (match.started, match.opening.table, *people.values(), *match.opening.tags.values())
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("its opening has something else where a text should be")
        _ = match.began  # `ValueError` for a time that is none
    return replace(match, digest=row.latest_digest) if match.finished else match


def _match_or_damage(connection: sa.Connection, row: Any) -> Match | Damaged:
    try:
        return _match(connection, row)
    except StoreError as error:
        return Damaged(row.id, str(error))


def _entry(row: Any) -> Entry:
    with _naming(row.match_id):
        link = json.loads(row.link)
        if not isinstance(row.digest, str):
            raise TypeError(f"the digest of event {row.seq} is no text")
        return Entry(row.seq, Event.from_dict(link["event"]), link["written"], link["evidence"], row.digest)
