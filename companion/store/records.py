"""What the match log gives back: a match, how it opened, and its events."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from companion.events import Corrected, Event, GameOver, MovePlayed, MoveTakenBack, PassForced
from companion.rules import Game, Layout, MatchText, RulesError, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from companion.rules import Colour, FirstMove, Score

PUBLIC_TAGS = ("Event", "Site", "Date", "Termination", "Winner", "OriginalLog")
"""The tags of a match text that tell of no person, so they are in the chain; all others can be erased."""
_RECORDING = {"Source": "recording"}
"""Public as well, in these words only."""
_NUMBER_TAGS = ("Round", "Board", "TimeControl")
"""These tell of no person either as long as they are numbers: ``3.1``, ``40/7200:3600``. A word may be a name."""
_NUMBERS = re.compile(r"[0-9 .,:/+*?-]+")

TURNING_POINTS: dict[str, type[Event]] = {
    kind.__name__: kind for kind in (MovePlayed, PassForced, MoveTakenBack, Corrected, GameOver)
}
"""The events that change how a match stands; it is finished while the latest of them is `GameOver`.

Its start does not: it is told again whenever the match is taken up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is settled before the first piece is placed."""

    table: str = "1"
    first: FirstMove = "outside"
    layout: str = "4x4"
    """A layout's name or drawing."""
    sets: int | None = None
    """Sets of pieces; None for one to every sixteen squares."""
    variant: Variant = "standard"
    """``standard`` or ``green-box``."""
    light: str = ""
    dark: str = ""
    """The players' names; empty if not told, or erased."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Whatever else the match text shall tell: Event, Site, Date, Round…"""

    def start(self) -> Game:
        """The game before its first move; `RulesError` if the opening makes no sense."""
        return Game.start(self.first, layout=Layout.parse(self.layout), sets=self.sets)

    @classmethod
    def of(cls, game: Game, *, live: bool = True, **told: Any) -> Opening:
        """The opening of `game`, with what else is `told` of it; unless `live`, it is seen in a recording."""
        if not live:
            told["tags"] = {**told.get("tags", {}), **_RECORDING}
        return cls(first=game.first, layout=str(game.layout), sets=game.sets, **told)

    @property
    def live(self) -> bool:
        """Whether people play it, so that it can go on: a recording is over when it ends."""
        return not _RECORDING.items() <= self.tags.items()

    def settled(self) -> Opening:
        """With the number of sets and the layout's drawing filled in; `RulesError` if the opening makes no sense."""
        if self.variant not in get_args(Variant):
            raise RulesError(f"the variant is {self.variant!r}; it must be one of {', '.join(get_args(Variant))}")
        game = self.start()
        MatchText(game, self.tags)  # refuses tags that no match text can have
        return dataclasses.replace(self, layout=game.layout.drawing, sets=game.sets)

    @property
    def in_chain(self) -> dict[str, Any]:
        """What the first link tells."""
        tags = {name: value for name, value in self.tags.items() if _is_public(name, value)}
        return {
            "table": self.table,
            "first": self.first,
            "layout": self.layout,
            "sets": self.sets,
            "variant": self.variant,
            "tags": tags,
        }

    @property
    def people(self) -> dict[str, str]:
        """The tags that can be erased: the players' names, and every tag that may tell of a person."""
        names = {"Light": self.light, "Dark": self.dark}
        names |= {name: value for name, value in self.tags.items() if not _is_public(name, value)}
        return {name: value for name, value in names.items() if value}

    @classmethod
    def from_log(cls, in_chain: Mapping[str, Any], people: Mapping[str, str]) -> Opening:
        """The opening whose `in_chain` and `people` these are."""
        others = {name: value for name, value in people.items() if name not in ("Light", "Dark")}
        told = dict(in_chain) | {"tags": {**in_chain["tags"], **others}}
        return cls(**told, light=people.get("Light", ""), dark=people.get("Dark", ""))


def _is_public(tag: str, value: str) -> bool:
    if (tag, value) in _RECORDING.items():
        return True
    return tag in PUBLIC_TAGS or (tag in _NUMBER_TAGS and _NUMBERS.fullmatch(value) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One match as the log has it."""

    id: int
    opening: Opening
    started: str
    """UTC, ISO 8601."""
    length: int
    """How many events it has."""
    latest: Event | None
    """The last event that changed how the match stands."""
    digest: str
    """The final hash: the digest of the link that ended the match; of its last link while it is unfinished."""
    winner: Colour | None = None
    """Who has won, by the moves or because the other resigned; None for a draw, and while unfinished."""
    resigned: Colour | None = None
    """Who has ended the match by resigning; None if nobody has, or the moves have ended it since."""
    names_erased: bool = False

    @property
    def began(self) -> datetime:
        """When it started, in this machine's time zone."""
        return datetime.fromisoformat(self.started).astimezone()

    @property
    def finished(self) -> bool:
        """Whether the match has ended."""
        return isinstance(self.latest, GameOver)

    @property
    def score(self) -> Score | None:
        """The final score; None while unfinished."""
        return self.latest.score if isinstance(self.latest, GameOver) else None

    @property
    def plies(self) -> int:
        """How many moves and passes it has, as its latest turning point tells."""
        match self.latest:
            case GameOver(moves=moves):
                return len(moves)
            case MovePlayed(ply=ply) | PassForced(ply=ply):
                return ply
            case MoveTakenBack(ply=ply):
                return ply - 1
            case Corrected(ply=ply, after=after):
                return ply - 1 + len(after)
        return 0

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of ``companion matches list --json``."""
        opening = self.opening
        result = None
        if self.score is not None:
            result = {"score": self.score.as_dict(), "winner": str(self.winner or "draw")}
        return {
            "match": self.id,
            "table": opening.table,
            "started": self.started,
            "light": opening.light,
            "dark": opening.dark,
            "names_erased": self.names_erased,
            "first": opening.first,
            "layout": str(Layout.parse(opening.layout)),
            "sets": opening.sets,
            "variant": opening.variant,
            "tags": dict(opening.tags),
            "plies": self.plies,
            "result": result,
            "resigned": self.resigned.value if self.resigned else None,
            "log": self.digest,
        }


@dataclass(frozen=True, slots=True)
class Damaged:
    """A match whose rows make no sense."""

    id: int
    why: str
    """In one line for a person."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of ``companion matches list --json``."""
        return {"match": self.id, "damaged": self.why}


@dataclass(frozen=True, slots=True)
class Imported:
    """What has become of a match text that was to be logged."""

    match: int
    """The match that it tells."""
    new: bool
    """Whether that was not there before."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event in the log."""

    seq: int
    """1-based place in the match's chain."""
    event: Event
    written: str
    """When it was written: UTC, ISO 8601. When it happened is the event's own `time`, in source seconds."""
    evidence: str
    """The digest of what the source saw; empty if nothing was kept."""
    digest: str

    def as_dict(self) -> dict[str, Any]:
        """The event's own JSON object, and what the log adds to it."""
        return self.event.as_dict() | {
            "seq": self.seq,
            "written": self.written,
            "evidence": self.evidence,
            "digest": self.digest,
        }
