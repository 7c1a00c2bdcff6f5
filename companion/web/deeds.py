"""The referee's hand: everything a person may do to a match, as checked requests that become deeds of a table.

A request may carry what its sender saw: which match it was, the `history`, how long that was (`plies`), whether a
player had resigned, and which question is answered (`asked`, see `companion.web.questions`). If the game has gone on
since, nothing is done, so that nobody undoes a move that he has not seen, nor answers what he has not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from companion.events import EMPTY_TEXT, parse_content
from companion.rules import MOST_SETS, Colour, Game, Layout, Piece, RulesError, Square
from companion.rules.matchtext import one_line
from companion.saying import Saying
from companion.table import Players
from companion.web import questions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError

    from companion.events import Event
    from companion.referee import Referee
    from companion.table import Deed, Table

MOST_SQUARES = 128
"""As many as the largest tile board has."""
_LONGEST_DRAWING = 400


def _blank_is_none(value: object) -> object:
    return None if value == "" else value


PlayersName = Annotated[str, Field(max_length=40), AfterValidator(lambda name: one_line(name).strip())]

Drawing = Annotated[str, StringConstraints(strip_whitespace=False)]
"""Rows whose indents belong to the drawing."""


class Request(BaseModel):
    """What every request has in common."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    match: Annotated[str | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, description="The match that was seen; refused if that is not in play any more, unless null."
    )

    plies: Annotated[int | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, ge=0, description="How many plies the history had that was seen; refused if it has more or fewer."
    )

    history: Annotated[str | None, BeforeValidator(_blank_is_none)] = Field(
        default=None,
        examples=["a1+ b3x"],
        description="The plies that were seen, as the state lists them, a space between; refused if they are others.",
    )

    resigned: Annotated[bool | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, description="Whether anyone had resigned as was seen; refused if that has changed, unless null."
    )

    asked: Annotated[str | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, description="What is answered, as the state names it; refused if that is not open any more."
    )

    def deed(self, table: Table) -> Deed:
        """What the table shall do."""

        def checked(referee: Referee, time: float) -> list[Event]:
            if self._is_outdated(referee):
                raise RulesError(Saying("the game has gone on meanwhile; look again"))
            return self.do(table, referee, time)

        return checked

    def _is_outdated(self, referee: Referee) -> bool:
        """Whether the game is not as it was seen."""
        plies = referee.game.history
        seen = (self.plies, self.history, self.resigned)
        now = (len(plies), " ".join(map(str, plies)), referee.resigned is not None)
        changed = any(was not in (None, is_) for was, is_ in zip(seen, now, strict=True))
        answered = self.asked is not None and self.asked not in questions.open_now(referee)
        return changed or answered or not self._is_match_seen(referee)

    def _is_match_seen(self, referee: Referee) -> bool:
        """Whether the match in play is the one that was seen, as far as is told."""
        return self.match in (None, referee.match)

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:
        """Do it, on the table's thread."""
        raise NotImplementedError


class Answer(Request):
    """Say what a square holds."""

    square: str = Field(examples=["a1"])
    content: str = Field(examples=["light straight", EMPTY_TEXT], description="A piece, or . for an empty square.")

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        return referee.answer(time, _square(self.square, referee), _content(self.content))


class Accept(Request):
    """Rule that the piece on a square counts, though the rules refuse it."""

    square: str = Field(examples=["a1"])
    piece: Annotated[str | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, examples=["dark pusher"], description="What it is; by default what is seen there."
    )

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        piece = None if self.piece is None else _piece(self.piece)
        return referee.accept(time, _square(self.square, referee), piece)


class Undo(Request):
    """Take the last move back; where a player has resigned, that."""

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        return referee.undo(time)


class Correct(Request):
    """Replace a past move."""

    ply: int = Field(ge=1, description="Which one, from 1; passes count.")
    move: str = Field(examples=["a3><"])
    rule_later: bool = Field(default=False, description="Accept later moves that become illegal, as rulings.")

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        return referee.correct(time, self.ply, self.move, rule_later=self.rule_later)


class Resign(Request):
    """A player gives up."""

    colour: Literal["light", "dark"]

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        return referee.resign(time, Colour(self.colour))


class Choose(Request):
    """Answer the question that is open, as the state of the table tells it."""

    choice: str = Field(description="One of the question's choices; `join` is a request of its own.")

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        return referee.choose(time, self.choice)


class Join(Request):
    """Take what lies on the board for the position of a game in progress."""

    to_move: Literal["light", "dark"]
    last: Annotated[str | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, description="The square of the last piece; none for a free play."
    )

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        last = None if self.last is None else _square(self.last, referee)
        return referee.join(time, to_move=Colour(self.to_move), last=last)


class Pause(Request):
    """Let what lies on the board decide nothing, or go on."""

    paused: bool

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:  # noqa: ARG002
        """Tell the referee."""
        return referee.pause(time, paused=self.paused)


class NewMatch(Request):
    """Begin another match; the one in play stays in the log as it is.

    Nothing is done when that is in play already: begun since the sender looked, and no move played yet. Any other match
    may have begun meanwhile, by itself, as soon as the board was cleared.
    """

    light: PlayersName = ""
    dark: PlayersName = ""
    exchanged: bool = Field(default=False, description="The names are exchanged: who is told as light plays Dark.")
    first: Literal["outside", "anywhere"] = "outside"
    layout: Drawing = Field(
        default="",
        max_length=_LONGEST_DRAWING,
        examples=["4x4", "..##/####/####/##.."],
        description="The board: a name, or rows of # and . from the far side, joined by /. By default the one in play.",
    )
    drawing: Drawing = Field(
        default="", max_length=_LONGEST_DRAWING, description="A drawn board; it counts for `layout`."
    )
    sets: Annotated[int | None, BeforeValidator(_blank_is_none)] = Field(
        default=None, ge=1, le=MOST_SETS, description="Sets of pieces; by default one to every sixteen squares."
    )

    def do(self, table: Table, referee: Referee, time: float) -> list[Event]:
        """Tell the table."""
        wanted = next((text for text in (self.drawing, self.layout) if text.strip()), "")
        layout = Layout.parse(wanted) if wanted else referee.game.layout
        if len(layout) > MOST_SQUARES:
            raise RulesError(
                Saying(
                    "that board has %(squares)s squares; at most %(most)s can be watched",
                    squares=len(layout),
                    most=MOST_SQUARES,
                )
            )
        game = Game.start(self.first, layout=layout, sets=self.sets)
        players = Players(self.dark, self.light) if self.exchanged else Players(self.light, self.dark)
        if not self._is_match_seen(referee) and (referee.game, table.view.players) == (game, players):
            return []
        return table.new_match(game, players)(referee, time)

    def _is_outdated(self, referee: Referee) -> bool:
        """Whether the match is the one that was seen, but has gone on; any other may be left for this all the same."""
        return self._is_match_seen(referee) and super()._is_outdated(referee)


REQUESTS: dict[str, type[Request]] = {
    "answer": Answer,
    "accept": Accept,
    "undo": Undo,
    "correct": Correct,
    "resign": Resign,
    "choose": Choose,
    "join": Join,
    "pause": Pause,
    "new": NewMatch,
}
"""Every request by the last word of its URL."""


def wrong_fields(error: ValidationError) -> list[tuple[str, Saying]]:
    """What is wrong with a request: each field, and what it must be."""
    return [
        (".".join(map(str, told["loc"])), _expected(told["type"], told["msg"], told.get("ctx", {})))
        for told in error.errors()
    ]


def _expected(kind: str, why: str, bounds: Mapping[str, object]) -> Saying:
    choices = str(bounds.get("expected")).replace("' or '", "', '")
    told_by_kind = {
        "missing": Saying("it is missing"),
        "extra_forbidden": Saying("there is no such field"),
        "literal_error": Saying("it must be one of %(choices)s", choices=choices),
        "string_too_long": Saying("it may have at most %(most)s letters", most=bounds.get("max_length")),
        "greater_than_equal": Saying("it must be at least %(least)s", least=bounds.get("ge")),
        "less_than_equal": Saying("it must be at most %(most)s", most=bounds.get("le")),
    }
    of_type = next((told for start, told in _TYPES.items() if kind.startswith(start)), Saying(why))
    return told_by_kind.get(kind, of_type)


_WHOLE, _TEXT = Saying("it must be a whole number"), Saying("it must be a text")
_TYPES = {
    "int_": _WHOLE,
    "finite_number": _WHOLE,
    "bool_": Saying("it must be true or false"),
    "string_type": _TEXT,
    "string_unicode": _TEXT,
}
"""What is said of errors whose kinds begin so."""


def _square(text: str, referee: Referee) -> Square:
    square = Square.parse(text)
    if square not in referee.game.layout:
        raise RulesError(Saying("%(square)s is not on this board", square=str(square)))
    return square


def _piece(text: str) -> Piece:
    try:
        return Piece.parse(text)
    except ValueError:
        told = Saying("%(text)s is no piece; write its colour and kind, such as dark pusher", text=repr(text))
        raise RulesError(told) from None


def _content(text: str) -> Piece | None:
    return parse_content(text) if text == EMPTY_TEXT else _piece(text)
