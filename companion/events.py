"""What happens at a table, as frozen values: the one vocabulary of referee, log, page, lights and command line.

What a person does is an event, never an exception. Every event knows its `table`, its `time` (source seconds of
the frame or packet that decided it) and the `ply` it belongs to (1-based; passes count). `as_dict` is the JSON
contract of `companion watch --json`; `from_dict` reads it back.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from companion.rules import Colour, Content, FirstMove, Piece, RefusalReason, Score, Square, Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import Field

EMPTY_TEXT = "."
QuestionKind = Literal["order", "start", "new", "correct"]
"""What is asked about the board as a whole: `ChoiceNeeded` says it of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened at a table."""

    time: float
    """Source seconds of the frame or packet that decided it."""
    table: str = "1"
    ply: int
    """The ply it belongs to: the one just played, or the one awaited. 1-based, passes count."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of the contract."""
        told = {
            "event": type(self).__name__,
            "time": round(self.time, 3),
            "table": self.table,
            "ply": self.ply,
        }
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in told}
        return told | {name: _plain(value) for name, value in own.items()}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Event:
        """The event that `as_dict` told; a field that has a default may be left out.

        Raises:
            ValueError: for an unknown event, or a field that is missing or does not fit; the message names it.

        """
        kind = EVENTS.get(str(told.get("event")))
        if kind is None:
            raise ValueError(f"{told.get('event')!r} is not an event; known are {', '.join(EVENTS)}")
        return kind(**{field.name: _field(kind, field, told) for field in fields(kind) if _is_told(field, told)})


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchStarted(Event):
    """A match begins, or goes on after the program was restarted."""

    first: FirstMove
    layout: str
    variant: Variant = "standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePlayed(Event):
    """A piece was committed."""

    colour: Colour
    move: str
    """Square and mark, such as ``a3><``."""
    score: Score
    """The running score after it."""
    ruled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PassForced(Event):
    """A player has no legal square and passes."""

    colour: Colour


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChance(Event):
    """The opponent has placed their last piece: one more piece, and the game ends."""

    colour: Colour
    legal: tuple[Square, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IllegalPlacement(Event):
    """A piece lies where it may not. Nothing later is committed while it does."""

    square: Square
    content: Piece
    reason: RefusalReason
    legal: tuple[Square, ...]
    words: str = ""
    """The refusal in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceUnclear(Event):
    """A piece has come to lie on `square`, and the reading leaves more than one possibility that matters."""

    square: Square
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindNeeded(Event):
    """The colour of a new piece is known and its kind is not: its card has to be seen, or a person has to say."""

    square: Square
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardDisturbed(Event):
    """Pieces of the game are gone from `squares`, or others lie there."""

    squares: tuple[Square, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRestored(Event):
    """What was disturbed on `squares` is as the game has it again."""

    squares: tuple[Square, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveTakenBack(Event):
    """The last move was undone by its player or a person; `ply` is the one that is free again."""

    move: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Event):
    """A person changed what the game holds: a past move, the whole position, or that a player gave up."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    """Moves and passes as texts, from the first that differs; where none does, a resignation was taken back."""
    position: str = ""
    """Where the whole position was set: what lies there, as `Position.write` tells it; empty for a corrected move."""

    @property
    def takes_up_again(self) -> bool:
        """Whether a resignation was taken back."""
        return not (self.before or self.after or self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceNeeded(Event):
    """The program cannot decide and asks a person.

    `question` is ``order`` (several pieces, more than one legal order; or the last ones are missing, and may have been
    lifted or played elsewhere), ``start`` (the board does not fit the game when the program starts), ``new`` (the board
    was emptied in mid-game) or ``correct`` (a correction would make later moves illegal; the answer is the correction
    once more with those ruled, or the choice ``resume``).
    """

    question: QuestionKind
    choices: tuple[str, ...]
    """What answers it; ``join`` needs more to be said."""
    squares: tuple[Square, ...] = ()
    illegal: tuple[str, ...] = ()
    """The later moves that a correction would make illegal; in older logs they are the choices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLost(Event):
    """A camera or tile board stopped delivering, or still does not, for a reason that is another."""

    source: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBack(Event):
    """A lost source delivers again."""

    source: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesDisagree(Event):
    """Two sources of one table contradict each other about `square`; neither is believed against the other."""

    square: Square
    contents: tuple[Content, ...]
    """What lies there by the word of one or the other."""
    words: str = ""
    """What each of them says, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused(Event):
    """From now on what lies on the board decides nothing, or something again."""

    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Resigned(Event):
    """A player gave up; `GameOver` follows."""

    colour: Colour


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOver(Event):
    """The game has ended."""

    moves: tuple[str, ...]
    score: Score
    winner: Colour | None

    def as_dict(self) -> dict[str, Any]:
        """As every event, with a winner of None told as ``draw``."""
        return super(GameOver, self).as_dict() | {"winner": str(self.winner) if self.winner else "draw"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved(Event):
    """The source has ended while pieces still lay on `squares` that were never committed."""

    squares: tuple[Square, ...]


EVENTS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (
        MatchStarted, MovePlayed, PassForced, LastChance, IllegalPlacement, PieceUnclear, KindNeeded, BoardDisturbed,
        BoardRestored, MoveTakenBack, Corrected, ChoiceNeeded, SourceLost, SourceBack, SourcesDisagree, Paused,
        Resigned, GameOver, Unresolved,
    )
}  # fmt: skip
"""Every event by its name."""


def content_text(content: Content) -> str:
    """``"."`` for an empty square, else the piece's words: the text of every JSON output."""
    return EMPTY_TEXT if content is None else str(content)


def parse_content(text: str) -> Content:
    """The content that `content_text` told; `ValueError` if it is none."""
    return None if text == EMPTY_TEXT else Piece.parse(text)


def _plain(value: Any) -> Any:
    """`value` as JSON has it."""
    if isinstance(value, Score):
        return value.as_dict()
    if isinstance(value, Square | Colour | Piece):  # before tuple: a square is one
        return str(value)
    if isinstance(value, tuple):
        return [content_text(item) if item is None else _plain(item) for item in value]
    return value


def _is_told(field: Field[Any], told: Mapping[str, Any]) -> bool:
    return field.name in told or field.default is MISSING


def _field(kind: type[Event], field: Field[Any], told: Mapping[str, Any]) -> Any:
    if field.name not in told:
        raise ValueError(f"{kind.__name__} lacks its field {field.name!r}")
    value = told[field.name]
    try:
        return _READERS.get(field.name, _text)(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"{value!r} does not fit the field {field.name!r} of {kind.__name__}") from None


def _exactly(*kinds: type) -> Callable[[Any], Any]:
    """A reader for what JSON itself has; a bool is no number here."""

    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise TypeError
        return value

    return read


_text = _exactly(str)
_whole = _exactly(int)
_list = _exactly(list, tuple)


def _one_of(words: tuple[str, ...]) -> Callable[[Any], Any]:
    """A reader for one of these words."""
    return lambda value: words[words.index(value)]


def _each(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda values: tuple(map(read, _list(values)))


_READERS: dict[str, Callable[[Any], Any]] = {
    "time": _exactly(int, float),
    "ply": _whole,
    "square": Square.parse,
    "squares": _each(Square.parse),
    "legal": _each(Square.parse),
    "colour": Colour,
    "content": Piece.parse,
    "contents": _each(parse_content),
    "moves": _each(_text),
    "before": _each(_text),
    "after": _each(_text),
    "choices": _each(_text),
    "illegal": _each(_text),
    "ruled": _exactly(bool),
    "paused": _exactly(bool),
    "reason": _one_of(get_args(RefusalReason)),
    "question": _one_of(get_args(QuestionKind)),
    "score": lambda points: Score(_whole(points["light"]), _whole(points["dark"])),
    "first": _one_of(get_args(FirstMove)),
    "variant": _one_of(get_args(Variant)),
    "winner": lambda text: None if text == "draw" else Colour(text),
}
"""How a field is read back, by its name, which means the same in every event; any other is a text."""
