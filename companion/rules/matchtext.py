"""A whole match as text (``.mjn``), after PGN: tags, a blank line, numbered moves, the result.

::

    [Event "Kitchen table"]
    [Light "Ann"]
    [Dark "Bo"]
    [First "outside"]
    [Layout "4x4"]
    [Sets "1"]
    [Variant "standard"]
    [Termination "normal"]
    [Result "4-1"]

    1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8.
    b3<> b1<> 4-1

A game that was joined in progress tells where: ``[Position "..../.p../D.../...."] [ToMove "light"] [Last "b3"]``, with
no Last for a free play. A resigned game has ``[Termination "resigned"]``, the score that stood as its result, and
``[Winner "dark"]``, since that score does not say who won. ``[Date "2026.11.??"]`` has ``??`` for what is not known.

Reading takes moves without numbers, too, but no wrong number: a move may be missing there.
"""

from __future__ import annotations

import calendar
import re
import textwrap
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

from companion.errors import NotationError, RulesError
from companion.rules.game import FirstMove, Game
from companion.rules.layout import STANDARD, Layout, Square
from companion.rules.notation import tokens, write_moves
from companion.rules.pieces import Colour
from companion.rules.position import parse_drawing
from companion.saying import cited

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from companion.rules.notation import MoveNumber

UNFINISHED = "*"
DRAW = "draw"
TAG_ORDER = (
    "Event", "Site", "Date", "Light", "Dark", "First", "Layout", "Sets", "Position", "ToMove", "Last", "Variant",
    "Source", "Termination", "Winner", "Result", "Log",
)  # fmt: skip
"""Tags are written in this order; any further ones follow."""
Variant = Literal["standard", "green-box"]
"""How kinds are seen: on the piece itself, or on a card beside the board."""
TERMINATIONS = ("normal", "resigned", "abandoned")
WINNERS = (*(colour.value for colour in Colour), DRAW)
_CHOICES: dict[str, tuple[str, ...]] = {
    "First": get_args(FirstMove),
    "ToMove": tuple(colour.value for colour in Colour),
    "Variant": get_args(Variant),
    "Termination": TERMINATIONS,
    "Winner": WINNERS,
}
_GAME_TAGS = {"First", "Layout", "Sets", "Position", "ToMove", "Last", "Result"}
_TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TAG = re.compile(rf'\s*\[\s*({_TAG_NAME.pattern})\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
_RESULT = re.compile(r"\*|[0-9]+-[0-9]+")
_ANOTHER = re.compile(rf'(\[\s*{_TAG_NAME.pattern}\s+")|\S\s+({_RESULT.pattern})(?!\S)')
"""What only another match can have among its moves: a tag, or a result that is not the last word."""
_SETS = re.compile(r"[1-9][0-9]{0,3}")
_DATE = re.compile(
    r"(?P<year>[0-9]{4}|\?{4})(?:(?P<dot>[./-])(?P<month>[0-9]{1,2}|\?\?)(?:(?P=dot)(?P<day>[0-9]{1,2}|\?\?))?)?"
)
_LEAP_YEAR = 2000
_MONTHS = 12
_COLUMNS_PER_LINE = 80
_BOM = "\ufeff"
"""Some editors put it before a text."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
"""Unicode's control and format characters, and halves of characters."""
_JOINERS = "\u200c\u200d"
"""Some scripts, and some pictures of people, need them."""


@dataclass(frozen=True)
class MatchText:
    """A game and what is told about it.

    Raises:
        RulesError: for a tag whose name could not be read back.

    """

    game: Game
    tags: Mapping[str, str] = field(default_factory=dict)
    """Every tag but those that the game itself knows, which are left out. Variant is ``standard`` unless told, and
    the Termination of a finished game ``normal``. A value is one line, see `one_line`."""

    def __post_init__(self) -> None:
        told = {"Variant": "standard"} | ({"Termination": "normal"} if self.game.outcome else {}) | dict(self.tags)
        for name in told:
            if not _TAG_NAME.fullmatch(name):
                raise RulesError(f"{name!r} is no name for a tag; use letters, digits and _, a letter first")
        kept = {name: one_line(value) for name, value in told.items() if name not in _GAME_TAGS}
        object.__setattr__(self, "tags", kept)

    @property
    def variant(self) -> Variant:
        """How kinds are seen."""
        return "green-box" if self.tags["Variant"] == "green-box" else "standard"

    @property
    def resigned(self) -> bool:
        """Whether a player gave up before the end."""
        return self.tags.get("Termination") == "resigned"

    @property
    def result(self) -> str:
        """The score as ``4-1``, final or when a player resigned; ``*`` while unfinished."""
        return str(self.game.score) if self.game.outcome or self.resigned else UNFINISHED

    @property
    def winner(self) -> Colour | None:
        """Who won, by points or because the other resigned; None for a draw, or where it is open or not told."""
        if self.game.outcome:
            return self.game.outcome.winner
        winner = self.tags.get("Winner", DRAW)
        return Colour(winner) if self.resigned and winner != DRAW else None

    def as_its_moves_end(self) -> MatchText:
        """The same match without a Winner or Termination that its moves do not give, as `read` refuses it."""
        unfit = dict(_unfit_ending(self))
        return MatchText(self.game, {name: value for name, value in self.tags.items() if name not in unfit})

    def write(self) -> str:
        """The text, ending in a newline; `MatchText.read` reads it back equal."""
        tags = {**self.tags, **_tags_of(self.game), "Result": self.result}
        names = [name for name in TAG_ORDER if name in tags]
        names += [name for name in tags if name not in TAG_ORDER]
        head = "".join(f'[{name} "{_escaped(tags[name])}"]\n' for name in names)
        return f"{head}\n{_wrapped(f'{write_moves(self.game.history)} {self.result}'.strip())}\n"

    @classmethod
    def read(cls, text: str) -> MatchText:
        """Read a match.

        Raises:
            NotationError: for a bad tag, move or result, an illegal move, a wrong move number, a result, winner or
                termination that the moves do not give, or a second match; always with line and column.

        """
        tags, body, body_line = _head(text)
        moves, result, (line, column) = _split_result(body, body_line)
        _refuse_another(moves, body_line)
        match = cls(_played(_beginning(tags), moves, body_line), tags.values)
        if result not in (None, UNFINISHED, match.result):
            raise NotationError(_contradiction("result", result, match.result), line=line, column=column)
        if tags.get("Result", UNFINISHED) not in (UNFINISHED, match.result):
            tags.refuse("Result", _contradiction("result", tags.get("Result"), match.result))
        for tag, why in _unfit_ending(match):
            tags.refuse(tag, why)
        return match


class _Tags:
    """The tags of a text and where each of them stands, so that a bad one can be pointed at."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, name: str, value: str, *, line: int, column: int) -> None:
        if name in self.values:
            raise NotationError(f"the tag {name} stands twice", line=line, column=column)
        self.values[name], self._places[name] = value, (line, column)
        if name in _CHOICES and value not in _CHOICES[name]:
            self.refuse(name, f"{name} is {cited(value)}; it must be one of {', '.join(_CHOICES[name])}")
        if name == "Date" and value and not is_date(value):
            told = "write year, month and day, such as 2026.11.23, with ?? for what is not known"
            self.refuse(name, f"{name} is {cited(value)}; {told}")

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.values.get(name, default)

    def refuse(self, name: str, message: str) -> NoReturn:
        line, column = self._places[name]
        raise NotationError(message, line=line, column=column)


def is_blank(text: str) -> bool:
    """Whether there is nothing in a text, not even a tag: a match can be read from it, but nobody wrote one."""
    return not text.removeprefix(_BOM).strip()


def is_date(text: str) -> bool:
    """Whether the calendar has this day: ``2026.11.23``, after PGN, also with - or /.

    What is not known is ``????`` or ``??``; month and day may be left out as well.
    """
    told = _DATE.fullmatch(text.strip())
    if told is None:
        return False
    known = {name: int(part) for name, part in told.groupdict().items() if part and part.isdecimal()}
    year, month, day = known.get("year", _LEAP_YEAR), known.get("month", 1), known.get("day", 1)
    return year > 0 and 1 <= month <= _MONTHS and 1 <= day <= calendar.monthrange(year, month)[1]


def one_line(text: str) -> str:
    """`text` without what cannot be seen, such as control characters and marks that turn it; breaks are spaces."""
    plain = re.sub(r"\s", " ", " ".join(text.splitlines()))
    return "".join(letter for letter in plain if not _is_unseen(letter)).strip(_JOINERS)


def _is_unseen(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSEEN and letter not in _JOINERS


def _tags_of(game: Game) -> dict[str, str]:
    """The tags that the game itself knows."""
    tags = {"First": game.first, "Layout": str(game.layout), "Sets": str(game.sets)}
    if game.joined is not None:
        tags |= {"Position": game.joined.drawing(game.layout), "ToMove": game.joined.to_move.value}
        tags |= {"Last": str(game.joined.last)} if game.joined.last is not None else {}
    return tags


def _head(text: str) -> tuple[_Tags, str, int]:
    """The tags, the text of the moves, and the line it starts on."""
    tags = _Tags()
    lines = text.removeprefix(_BOM).splitlines()
    for number, line in enumerate(lines, start=1):
        position = 0
        while (match := _TAG.match(line, position)) is not None:
            tags.add(match[1], _unescaped(match[2]), line=number, column=line.index("[", position) + 1)
            position = match.end()
        rest = line[position:]
        if rest.lstrip().startswith("["):
            column = line.index("[", position) + 1
            raise NotationError(f'{cited(rest.strip())} is no tag; write [Name "value"]', line=number, column=column)
        if rest.strip():
            blank = " " * position  # keeps the columns of a move that follows a tag on one line
            return tags, "\n".join([blank + rest, *lines[number:]]), number
    return tags, "", max(len(lines), 1)


def _beginning(tags: _Tags) -> Game:
    """The game before its first ply."""
    first: FirstMove = "anywhere" if tags.get("First") == "anywhere" else "outside"
    layout, sets = _layout(tags), _sets(tags)
    if "Position" not in tags.values:
        for name in ("ToMove", "Last"):
            if name in tags.values:
                tags.refuse(name, f"{name} belongs to a Position, and there is none")
        return Game.start(first, layout=layout, sets=sets)
    if "ToMove" not in tags.values:
        tags.refuse("Position", 'a Position needs to say whose turn it is; add [ToMove "light"] or [ToMove "dark"]')
    to_move, last = Colour(tags.get("ToMove")), _last(tags)
    try:
        pieces = parse_drawing(tags.values["Position"], layout)
        return Game.from_position(pieces, to_move=to_move, last=last, first=first, layout=layout, sets=sets)
    except RulesError as error:
        tags.refuse("Position", str(error))


def _layout(tags: _Tags) -> Layout:
    try:
        return Layout.parse(tags.get("Layout") or STANDARD)
    except RulesError as error:
        tags.refuse("Layout", str(error))


def _sets(tags: _Tags) -> int | None:
    told = tags.get("Sets")
    if told is None:
        return None
    if not _SETS.fullmatch(told):
        tags.refuse("Sets", f"Sets is {cited(told)}; it must be a number from 1 to 9999")
    return int(told)


def _last(tags: _Tags) -> Square | None:
    told = tags.get("Last")
    if told is None:
        return None
    try:
        return Square.parse(told)
    except NotationError as error:
        tags.refuse("Last", error.message)


def _contradiction(what: str, told: str | None, given: str) -> str:
    truth = f"the moves give {given}"
    if given == UNFINISHED:
        instead = "write *, or" if what == "result" else "leave it out, or write"
        truth = f'after these moves the game is not over; {instead} [Termination "resigned"] where a player gave up'
    return f"the {what} is given as {told}, but {truth}"


def _unfit_ending(match: MatchText) -> Iterator[tuple[str, str]]:
    """Each of Winner and Termination that does not fit how the moves end, and why."""
    termination, winner = match.tags.get("Termination"), match.tags.get("Winner")
    if match.game.outcome:
        if winner not in (None, _winner_word(match.winner)):
            yield "Winner", _contradiction("winner", winner, _winner_word(match.winner))
        if termination not in (None, "normal"):
            told = f"the match is said to be {termination}, but its moves play it to the end; leave Termination out"
            yield "Termination", told
        return
    if termination == "normal":
        yield "Termination", _contradiction("termination", termination, UNFINISHED)
    if winner is not None and not match.resigned:
        yield "Winner", _contradiction("winner", winner, UNFINISHED)


def _winner_word(winner: Colour | None) -> str:
    return winner.value if winner else DRAW


def _split_result(body: str, body_line: int) -> tuple[str, str | None, tuple[int, int]]:
    """The moves without the result at their end, the result, and where it stands."""
    stripped = body.rstrip().removesuffix("#").rstrip()
    words = stripped.rsplit(maxsplit=1)
    if not words or not _RESULT.fullmatch(words[-1]):
        return body, None, (body_line, 1)
    start = len(stripped) - len(words[-1])
    return stripped[:start], words[-1], _place(stripped, start, body_line)


def _place(text: str, start: int, first_line: int) -> tuple[int, int]:
    """The line and column of what starts there."""
    return first_line + text.count("\n", 0, start), start - text.rfind("\n", 0, start)


def _refuse_another(moves: str, first_line: int) -> None:
    if found := _ANOTHER.search(moves):
        line, column = _place(moves, found.start(found.lastindex or 0), first_line)
        message = "a match ends here and another begins; put each into a file of its own"
        raise NotationError(message, line=line, column=column)


def _played(game: Game, moves: str, first_line: int) -> Game:
    for told, token in enumerate(tokens(moves, first_line=first_line)):
        try:
            game = game.extend_from(told, token.ply)
        except RulesError as error:
            raise NotationError(str(error), line=token.line, column=token.column) from None
        _check_number(token.number, game, told)
    return game


def _check_number(number: MoveNumber | None, game: Game, told: int) -> None:
    """Refuse a number that stands before the wrong entry of a game's history, the one after the first `told`."""
    dark_began = game.history[0].colour is Colour.DARK
    move = (told + dark_began) // 2 + 1
    if number is not None and number.digits != str(move):
        message = f"this is move {move}, not {number.digits}; a move is missing, stands twice, or has a wrong number"
        raise NotationError(message, line=number.line, column=number.column)


def _wrapped(moves: str) -> str:
    return textwrap.fill(moves, _COLUMNS_PER_LINE, break_long_words=False, break_on_hyphens=False)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)
