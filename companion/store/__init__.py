"""The match log: every real-world match, move by move, with what the source saw.

>>> from datetime import UTC, datetime
>>> from companion.store import MatchLog, Opening
>>> with MatchLog.throwaway(clock=lambda: datetime.now(UTC)) as log:
...     match = log.begin(Opening(table="1", light="Ann", dark="Ben"))
...     log.verify(match).sound
True

A table in play writes through a `Recorder`, which outlives a full disk.
"""

from companion.store.chain import Verification
from companion.store.database import FILE_NAME, is_there
from companion.store.log import IMPORTED, MatchLog
from companion.store.recorder import Recorder
from companion.store.records import Damaged, Entry, Imported, Match, Opening

__all__ = [
    "FILE_NAME",
    "IMPORTED",
    "Damaged",
    "Entry",
    "Imported",
    "Match",
    "MatchLog",
    "Opening",
    "Recorder",
    "Verification",
    "is_there",
]
