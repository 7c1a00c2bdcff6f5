"""Whether a match is as it was written: its rows against its chain, and a digest that was noted down elsewhere.

`companion.store.chain` knows what a link must be; here is what the log has in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from companion.errors import StoreError
from companion.events import GameOver
from companion.store import chain
from companion.store.records import TURNING_POINTS
from companion.store.rows import entries_of, links_of, one_match, row_of
from companion.store.schema import events as event_rows
from companion.store.schema import matches as match_rows
from companion.store.schema import people as people_rows
from companion.store.schema import pictures as picture_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from companion.store.records import Entry, Match


@dataclass(frozen=True, slots=True)
class Verification:
    """What checking a match's chain has found."""

    match: int
    events: int
    """How many events the match has."""
    digest: str
    """The digest of the last link, as the log tells it."""
    final: int
    """The event whose digest is the match's final hash."""
    known: int | None = None
    """The event whose digest was asked for, 0 for the opening; None if none was, or it is not in the chain."""
    other: int | None = None
    """The match that has the digest that was asked for, where this one, as it was written, has not."""
    broken: str = ""
    """The first thing that does not fit, in words; empty if the chain is sound."""
    names_erased: bool = False
    pictures: int = 0
    """How many different pictures the chain knows."""
    pictures_erased: int = 0

    @property
    def sound(self) -> bool:
        """Whether everything that is still there is as it was written, and has the digest that was asked for."""
        return not self.broken

    def vouch(self) -> None:
        """`StoreError` if the match is not as it was written, so that its hash stands for nothing."""
        if not self.sound:
            raise StoreError(
                f"match {self.match} is not as it was written: {self.broken}; put a backup of the log in its place"
            )

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of ``companion matches verify --json``."""
        return {
            "match": self.match,
            "sound": self.sound,
            "events": self.events,
            "log": self.digest,
            "final": self.final,
            "known": self.known,
            "other": self.other,
            "broken": self.broken,
            "names_erased": self.names_erased,
            "pictures": self.pictures,
            "pictures_erased": self.pictures_erased,
        }

    def __str__(self) -> str:
        erased = ["names"] * self.names_erased
        if self.pictures_erased:
            erased.append(f"{self.pictures_erased} of {self.pictures} pictures")
        note = f" (erased: {', '.join(erased)})" if erased else ""
        if self.broken:
            verdict = "" if self.other else "BROKEN, "
            return f"Match {self.match}: {verdict}{self.broken}{note}"
        return f"Match {self.match}: sound, {self.events} events, {self.digest}{note}{self._known_in_words}"

    @property
    def _known_in_words(self) -> str:
        if self.known is None:
            return ""
        place = f"event {self.known}" if self.known else "the opening"
        rank = (
            "the final one" if self.known == self.final else f"not the final one, which is that of event {self.final}"
        )
        return f"; the hash that was given is that of {place}, {rank}"


@dataclass(frozen=True, slots=True)
class Account:
    """All that the log tells of a match at one moment."""

    match: Match
    entries: tuple[Entry, ...]
    found: Verification
    """What checking its chain has found."""


def account_of(connection: sa.Connection, match: int, *, sound: bool = False) -> Account:
    """All of a match; `StoreError` if its rows make no sense, or, with `sound`, are not as they were written."""
    found = verified(connection, match)
    if sound:
        found.vouch()
    return Account(one_match(connection, match), entries_of(connection, match), found)


def verified(connection: sa.Connection, match: int, known: str | None = None) -> Verification:
    """Check every link of a match, the names and pictures that are still there, and that `known` is among its digests.

    `StoreError` if there is no match of that number.
    """
    row, links = row_of(connection, sa.select(match_rows), match), links_of(connection, match)
    told = connection.scalars(sa.select(people_rows.c.told).where(people_rows.c.match_id == match)).all()
    pictures = connection.execute(
        sa.select(picture_rows.c.digest, picture_rows.c.evidence).where(picture_rows.c.match_id == match)
    )
    kept = {picture.digest: _as_bytes(picture.evidence) for picture in pictures}
    found = _checked(row, links, told, kept)
    if known is None or not found.sound:
        return found
    return _identified(connection, found, known, [row.digest, *(event.digest for event in links)])


def _checked(row: Any, links: Sequence[Any], told: Sequence[str], kept: dict[str, bytes]) -> Verification:
    broken, names_erased, seen = "", False, set[str]()
    try:
        first = chain.check_first(row.link, row.digest, row.table_id)
        seen = _check_events(row, links)
        names_erased = not chain.check_contents("who played", first["people"], told)
        for digest in sorted(seen & kept.keys()):
            chain.check_contents("a picture", digest, [kept[digest]])
    except chain.ChainBroken as finding:
        broken = str(finding)
    except (KeyError, TypeError):
        broken = "a link lacks what every link tells"
    return Verification(
        match=row.id,
        events=len(links),
        digest=row.head,
        final=_final(links),
        broken=broken,
        names_erased=names_erased,
        pictures=len(seen),
        pictures_erased=len(seen - kept.keys()),
    )


def _identified(connection: sa.Connection, found: Verification, known: str, digests: Iterable[str]) -> Verification:
    """What was found of a sound match, and which of its `digests` is the one that was noted down elsewhere."""
    place = chain.place_of(known, digests)
    if place is not None:
        return replace(found, known=place)
    other = _match_with(connection, known)
    whose = f"; it is that of match {other}" if other else ""
    return replace(found, other=other, broken=f"the hash {known} is not in it{whose}")


def _match_with(connection: sa.Connection, known: str) -> int | None:
    """The first match with a digest that starts like this one; None if there is none, or too little is known."""
    if len(known) < chain.FEWEST_DIGITS:
        return None
    openings = sa.select(match_rows.c.id).where(match_rows.c.digest.startswith(known.lower(), autoescape=True))
    others = sa.select(event_rows.c.match_id).where(event_rows.c.digest.startswith(known.lower(), autoescape=True))
    return min(connection.scalars(sa.union(openings, others)), default=None)


def _final(links: Sequence[Any]) -> int:
    """The event whose digest is the final hash, as `Match.digest` is: the one that ended the match, or the last."""
    latest = next((event for event in reversed(links) if event.name in TURNING_POINTS), None)
    return int(latest.seq) if latest and latest.name == GameOver.__name__ else len(links)


def _check_events(row: Any, links: Sequence[Any]) -> set[str]:
    """The digests of all evidence in a chain; `ChainBroken` for the first link that does not fit."""
    previous, seen = row.digest, set[str]()
    for expected, event in enumerate(links, start=1):
        link = chain.check_event(
            event.link,
            event.digest,
            seq=event.seq,
            expected_seq=expected,
            name=event.name,
            table=event.table_id,
            previous=previous,
        )
        previous = event.digest
        seen.add(link["evidence"])
    chain.check_end(length=row.length, head=row.head, found=len(links), digest=previous)
    return seen - {""}


def _as_bytes(evidence: bytes | memoryview | str) -> bytes:
    """What a column of bytes gives; a text only where somebody put one there."""
    return evidence.encode() if isinstance(evidence, str) else bytes(evidence)
