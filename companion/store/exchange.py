"""Matches that leave the log as match texts and come in as such, and how one that is there already is known again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.errors import StoreError
from companion.events import GameOver
from companion.rules import MatchText
from companion.rules.matchtext import is_date
from companion.store.records import Match, Opening
from companion.store.retelling import ending_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from companion.events import Event
    from companion.rules import Game
    from companion.store.records import Damaged

IMPORTED = "import"
"""The table id of matches that were not played at a table of this program."""
_HASHES = ("Log", "OriginalLog")
"""The tags of a match text that tell in which log it was written down."""


def text_telling(match: Match, events: Iterable[Event], game: Game) -> MatchText:
    """A match for export, with its final hash as the tag Log.

    A Date that is none, and an ending that the moves do not give, which were let in before, are left out: no match text
    may have them.
    """
    opening = match.opening
    date = "" if opening.table == IMPORTED else f"{match.began:%Y.%m.%d}"
    tags = {"Date": date, "Variant": opening.variant, "Light": opening.light, "Dark": opening.dark}
    tags |= ending_of(events) | {**opening.tags, "Log": match.digest}
    if not is_date(tags["Date"]):
        del tags["Date"]
    return MatchText(game, {name: value for name, value in tags.items() if value}).as_its_moves_end()


def opening_of(text: MatchText) -> Opening:
    """How a match opens that comes in as `text`. Its own log's hash is kept, as the tag OriginalLog."""
    tags = dict(text.tags)
    light, dark, variant = tags.pop("Light", ""), tags.pop("Dark", ""), tags.pop("Variant")
    original = tags.pop("Log", "")
    if original:
        tags.setdefault("OriginalLog", original)
    return Opening.of(text.game, table=IMPORTED, variant=variant, light=light, dark=dark, tags=tags)


def already_there(
    texts: Mapping[str, MatchText], matches: Iterable[Match | Damaged], exported: Callable[[int], MatchText]
) -> dict[str, int]:
    """The first of `matches` that each text tells, if there is one; by the text as it is written.

    `exported` gives the text of a match in the log; `StoreError` if it is not as it was written.
    """
    told_by = {told: tuple(map(str, text.game.history)) for told, text in texts.items()}
    there: dict[str, int] = {}
    for match in matches:
        if not isinstance(match, Match):
            continue
        likely = [told for told, moves in told_by.items() if told not in there and _may_tell(moves, match)]
        logged = _exported_if_sound(match, exported) if likely else None
        if logged is None:
            continue
        for told in likely:
            if _tells_the_same(texts[told], logged, names_erased=match.names_erased):
                there[told] = match.id
    return there


def _exported_if_sound(match: Match, exported: Callable[[int], MatchText]) -> MatchText | None:
    try:
        return exported(match.id)
    except StoreError:  # what is not as it was written is not there any more
        return None


def _may_tell(moves: tuple[str, ...], match: Match) -> bool:
    """Whether `match` went as these moves, as far as its latest turning point knows."""
    return match.latest.moves == moves if isinstance(match.latest, GameOver) else match.plies == len(moves)


def _tells_the_same(text: MatchText, logged: MatchText, *, names_erased: bool) -> bool:
    """Whether `text` tells the match that was exported as `logged`: alike in every move and tag.

    Names count unless they are erased. Hashes tell apart what was logged in two places; where they are the same, the
    day does not count: it may be another one in another time zone.
    """
    same_log = not _hashes(text).isdisjoint(_hashes(logged))
    left_out = {*(opening_of(text).people if names_erased else ()), *(("Date",) if same_log else ())}
    alike = (text.game, _told_apart_by(text, left_out)) == (logged.game, _told_apart_by(logged, left_out))
    return alike and (same_log or not _hashes(text))


def _told_apart_by(text: MatchText, left_out: Container[str]) -> dict[str, str]:
    """The tags that another match would tell otherwise."""
    told = {name: value for name, value in text.tags.items() if value and name not in _HASHES and name not in left_out}
    return {"Termination": "abandoned"} | told


def _hashes(text: MatchText) -> set[str]:
    return {text.tags[name] for name in _HASHES if text.tags.get(name)}
