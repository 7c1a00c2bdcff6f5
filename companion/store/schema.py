"""The tables of the match log as they are now, and the name of that schema.

The chain is in `matches` (its first link) and `events` (all others). `people` and `pictures` hold what the chain knows
by digest only, so that it can be erased. Every row carries the id of the table that was played at.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text

VERSIONS = ("0001",)
"""The migrations that made these tables, in order."""
HEAD = VERSIONS[-1]
"""The one that a log has to have seen."""

_HEX = String(64)
TABLE_LETTERS = 64
"""So many letters, of any script, the id of a table has at most."""
_TABLE_ID = String(TABLE_LETTERS)

metadata = MetaData()

matches = Table(
    "matches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("table_id", _TABLE_ID, nullable=False, index=True),
    Column("link", Text, nullable=False),
    Column("digest", _HEX, nullable=False),
    Column("length", Integer, nullable=False),
    Column("head", _HEX, nullable=False),
)
"""One row a match. `link` never changes; `length` and `head` tell where its chain of events ends."""

events = Table(
    "events",
    metadata,
    Column("match_id", Integer, ForeignKey("matches.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("table_id", _TABLE_ID, nullable=False),
    Column("name", String(32), nullable=False),
    Column("link", Text, nullable=False),
    Column("digest", _HEX, nullable=False),
)
"""One row an event, written once. `seq` is 1-based; `name` is the event's, for queries."""

people = Table(
    "people",
    metadata,
    Column("match_id", Integer, ForeignKey("matches.id"), primary_key=True),
    Column("table_id", _TABLE_ID, nullable=False),
    Column("told", Text, nullable=False),
)
"""Who played: one row a match, until it is erased."""

pictures = Table(
    "pictures",
    metadata,
    Column("match_id", Integer, ForeignKey("matches.id"), primary_key=True),
    Column("digest", _HEX, primary_key=True),
    Column("table_id", _TABLE_ID, nullable=False),
    Column("evidence", LargeBinary, nullable=False),
)
"""What the source saw when events were decided: a JPEG, or a raw line."""
