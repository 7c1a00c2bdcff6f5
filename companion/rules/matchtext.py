"""A whole match as text (``.mjn``), after PGN: tags, a blank line, numbered moves, the result."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from companion.errors import LayoutError, NotationError, RulesError
from companion.rules.game import Game
from companion.rules.layout import STANDARD, Layout
from companion.rules.notation import tokens, write_moves

if TYPE_CHECKING:
    from collections.abc import Mapping

    from companion.rules.game import FirstMove

UNFINISHED = "*"
TAG_ORDER = (
    "Event",
    "Site",
    "Date",
    "Light",
    "Dark",
    "First",
    "Layout",
    "Sets",
    "Variant",
    "Termination",
    "Result",
    "Log",
)
"""The tags every match is written with, in this order; any further ones follow."""
TERMINATIONS = ("normal", "resigned", "abandoned")
VARIANTS = ("standard", "green-box")
_GAME_TAGS = {"First", "Layout", "Sets", "Result"}
_TAG = re.compile(r'\s*\[\s*([A-Za-z][A-Za-z0-9_]*)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
_RESULT = re.compile(r"\*|\d+-\d+")
_COLUMNS_PER_LINE = 80


@dataclass(frozen=True)
class MatchText:
    """A game and what is told about it. The tags that the game itself knows are not kept twice."""

    game: Game
    tags: Mapping[str, str] = field(default_factory=dict)
    """Every other tag, such as Event, Light, Termination."""

    @property
    def result(self) -> str:
        """The final score as ``4-1``, or ``*`` while unfinished."""
        return str(self.game.score) if self.game.outcome else UNFINISHED

    def write(self) -> str:
        """The text, ending in a newline; `MatchText.read` reads it back equal."""
        game = self.game
        tags = {"Variant": "standard", "Termination": "normal" if game.outcome else "abandoned"}
        tags |= self.tags
        tags |= {
            "First": game.first,
            "Layout": str(game.layout),
            "Sets": str(game.sets),
            "Result": self.result,
        }
        names = [name for name in TAG_ORDER if name in tags]
        names += [name for name in tags if name not in TAG_ORDER]
        head = "".join(f'[{name} "{_escaped(tags[name])}"]\n' for name in names)
        return f"{head}\n{_wrapped(f'{write_moves(game.history)} {self.result}'.strip())}\n"

    @classmethod
    def read(cls, text: str) -> MatchText:
        """Read a match.

        Raises:
            NotationError: for a bad tag, move or result, an illegal move, or a result that the moves do not give; always
                with line and column.

        """
        tags, places, body, body_line = _head(text)
        first = _checked(tags, places, "First", ("outside", "anywhere"), "outside")
        _checked(tags, places, "Termination", TERMINATIONS, "normal")
        _checked(tags, places, "Variant", VARIANTS, "standard")
        moves, result, result_place = _split_result(body, body_line)
        game = _played(_start(tags, places, first), moves, body_line)
        match = cls(game, {name: value for name, value in tags.items() if name not in _GAME_TAGS})
        for claimed, (line, column) in (
            (result, result_place),
            (tags.get("Result"), places.get("Result", (1, 1))),
        ):
            if claimed not in (None, UNFINISHED, match.result):
                raise NotationError(
                    f"the result is given as {claimed}, but the moves give {match.result}",
                    line=line,
                    column=column,
                )
        return match


def _head(text: str) -> tuple[dict[str, str], dict[str, tuple[int, int]], str, int]:
    """Tags, their places, the text of the moves, and the line it starts on."""
    tags: dict[str, str] = {}
    places: dict[str, tuple[int, int]] = {}
    lines = text.removeprefix("\ufeff").splitlines()
    number = 0
    for number, line in enumerate(lines, start=1):
        position = 0
        while (match := _TAG.match(line, position)) is not None:
            name, value = match.groups()
            if name in tags:
                raise NotationError(f"the tag {name} stands twice", line=number, column=match.start() + 1)
            tags[name], places[name] = _unescaped(value), (number, match.start() + 1)
            position = match.end()
        rest = line[position:]
        if rest.lstrip().startswith("["):
            column = position + len(rest) - len(rest.lstrip()) + 1
            raise NotationError(f'{rest.strip()!r} is no tag; write [Name "value"]', line=number, column=column)
        if rest.strip():
            blank = " " * position  # keeps the columns of a move that follows a tag on one line
            return tags, places, "\n".join([blank + rest, *lines[number:]]), number
    return tags, places, "", max(number, 1)


def _checked(
    tags: Mapping[str, str],
    places: Mapping[str, tuple[int, int]],
    name: str,
    allowed: tuple[str, ...],
    default: str,
) -> str:
    value = tags.get(name, default)
    if value not in allowed:
        line, column = places[name]
        raise NotationError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}", line=line, column=column)
    return value


def _start(tags: Mapping[str, str], places: Mapping[str, tuple[int, int]], first: str) -> Game:
    line, column = places.get("Layout", (1, 1))
    try:
        layout = Layout.parse(tags.get("Layout", STANDARD))
    except LayoutError as error:
        raise NotationError(str(error), line=line, column=column) from None
    line, column = places.get("Sets", (1, 1))
    try:
        sets = int(tags["Sets"]) if "Sets" in tags else None
    except ValueError:
        raise NotationError(f"Sets is {tags['Sets']!r}; it must be a number", line=line, column=column) from None
    rule: FirstMove = "anywhere" if first == "anywhere" else "outside"
    try:
        return Game.start(rule, layout=layout, sets=sets)
    except RulesError as error:
        raise NotationError(str(error), line=line, column=column) from None


def _split_result(body: str, body_line: int) -> tuple[str, str | None, tuple[int, int]]:
    """The moves without the result at their end, the result, and where it stands."""
    stripped = body.rstrip()
    words = stripped.rsplit(maxsplit=1)
    if not words or not _RESULT.fullmatch(words[-1]):
        return body, None, (body_line, 1)
    start = len(stripped) - len(words[-1])
    before = stripped[:start]
    place = (body_line + before.count("\n"), start - (before.rfind("\n") + 1) + 1)
    return before, words[-1], place


def _played(game: Game, moves: str, first_line: int) -> Game:
    for told, token in enumerate(tokens(moves, first_line=first_line)):
        try:
            game = game.extend_from(told, token.ply)
        except RulesError as error:
            raise NotationError(str(error), line=token.line, column=token.column) from None
    return game


def _wrapped(moves: str) -> str:
    return textwrap.fill(moves, _COLUMNS_PER_LINE, break_long_words=False, break_on_hyphens=False)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)
