"""The hash chain of a match: what its links are made of, and how they are checked.

A link is a text: canonical JSON (keys sorted, no spaces, ASCII). Its digest is the SHA-256 of that text, in hex. The
first link tells the match's opening and when it began; every other tells one event, the digest of its evidence, when
it was written, and the digest of the link before. So a digest vouches for everything up to it, and anyone can check it
with a dozen lines of any language.

Names and pictures are in no link, only their digests are: erasing them leaves the chain sound. Names are short enough
to be guessed from their digest, so what is digested starts with a random salt, which is erased with them.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FORMAT = 1
"""The version of the links' own form, told in every first link."""
FEWEST_DIGITS = 8
"""So many hex digits of a digest, or more, tell it apart from others."""


def canonical(told: Mapping[str, Any]) -> str:
    """The one text for a JSON object; `ValueError` for NaN and infinities, which JSON does not have."""
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest_of(content: str | bytes) -> str:
    """SHA-256 in lower-case hex; a text counts as its UTF-8 bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def first_link(opening: Mapping[str, Any], *, started: str, people: str) -> str:
    """The link that opens a match; `people` is the digest of the salted names."""
    return canonical({"format": FORMAT, "match": opening, "people": people, "started": started})


def event_link(event: Mapping[str, Any], *, seq: int, previous: str, written: str, evidence: str) -> str:
    """The link for one event; `evidence` is a digest, or empty where nothing was seen."""
    return canonical({"event": event, "evidence": evidence, "previous": previous, "seq": seq, "written": written})


class ChainBroken(Exception):  # noqa: N818 (a finding, not a failure)
    """A link that does not fit. The message says which and why; `verifying` reports it."""


def check_first(link: str, digest: str, table: str) -> dict[str, Any]:
    """The first link's content; `ChainBroken` if it is not what was written."""
    told = _checked_text("the opening", link, digest)
    if told["match"]["table"] != table:
        raise ChainBroken(f"the opening is filed under table {table}, but was written for {told['match']['table']}")
    return told


def check_event(
    link: str, digest: str, *, seq: int, expected_seq: int, name: str, table: str, previous: str
) -> dict[str, Any]:
    """An event link's content; `ChainBroken` if it, or what it is filed under, is not what was written."""
    if seq != expected_seq:
        raise ChainBroken(f"event {expected_seq} is missing")
    place = f"event {seq}"
    told = _checked_text(place, link, digest)
    if told["previous"] != previous or told["seq"] != seq:
        raise ChainBroken(f"{place} does not follow the one before it")
    for what, filed, written in (("table", table, told["event"]["table"]), ("name", name, told["event"]["event"])):
        if filed != written:
            raise ChainBroken(f"{place} is filed under the {what} {filed}, but was written as {written}")
    return told


def check_end(*, length: int, head: str, found: int, digest: str) -> None:
    """`ChainBroken` if the chain does not end where the log says it does."""
    if found < length:
        raise ChainBroken(f"event {found + 1} is missing")
    if (found, digest) != (length, head):
        raise ChainBroken(f"the log tells of {length} events and ends in {head}, but there are {found}")


def place_of(known: str, digests: Iterable[str]) -> int | None:
    """Which of `digests` was noted down elsewhere, in full or by `FEWEST_DIGITS` or more; None if none was."""
    for place, digest in enumerate(digests):
        if len(known) >= FEWEST_DIGITS and digest.startswith(known.lower()):
            return place
    return None


def check_contents(what: str, expected: str, contents: Iterable[str | bytes]) -> bool:
    """Whether `contents` (one, or none where it was erased) is there; `ChainBroken` if it is not what was written."""
    for content in contents:
        if digest_of(content) != expected:
            raise ChainBroken(f"{what} was changed")
        return True
    return False


def _checked_text(place: str, link: str, digest: str) -> dict[str, Any]:
    if digest_of(link) != digest:
        raise ChainBroken(f"{place} was changed")
    try:
        told: dict[str, Any] = json.loads(link)
    except (ValueError, RecursionError):
        raise ChainBroken(f"{place} is not JSON") from None
    return told
