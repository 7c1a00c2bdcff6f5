"""The match log: every real-world match, move by move, with what the source saw.

>>> from datetime import UTC, datetime
>>> from companion.store import MatchLog, Opening
>>> with MatchLog.throwaway(clock=lambda: datetime.now(UTC)) as log:
...     match = log.begin(Opening(table="1", light="Ann", dark="Ben"))
...     log.verify(match).sound
True

A table in play writes through a `Recorder`, which outlives a full disk; `MatchLog.seat` keeps other programs away.

From the bottom: `schema` and `chain` say what is written, `database` holds it, `records` are what is read back; `rows`
asks for it, and `retelling` goes from events to a game and back; `verifying` checks a match against its chain, and
`exchange` is about match texts, out and in, and `seat` about who plays at a table; `log` has all this behind it.
"""

from companion.store.database import FILE_NAME, is_there
from companion.store.exchange import IMPORTED
from companion.store.log import MatchLog
from companion.store.recorder import Recorder
from companion.store.records import Damaged, Entry, Imported, Match, Opening
from companion.store.schema import TABLE_LETTERS
from companion.store.verifying import Account, Verification

__all__ = [
    "FILE_NAME",
    "IMPORTED",
    "TABLE_LETTERS",
    "Account",
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
