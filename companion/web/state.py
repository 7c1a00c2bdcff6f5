"""A table as JSON: what the page shows, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from companion.events import content_text
from companion.readings import possible
from companion.rules import Colour, Variant
from companion.web import questions, reasons, words
from companion.web.names import as_written

if TYPE_CHECKING:
    from companion.events import ChoiceNeeded
    from companion.referee import Problem
    from companion.table import TableView

ColourName = Literal["light", "dark"]


class ScoreState(BaseModel):
    """Points of both players."""

    light: int
    dark: int


class LineState(BaseModel):
    """A scoring line."""

    colour: ColourName
    squares: list[str]
    points: int


class ProblemState(BaseModel):
    """A piece that holds up the game."""

    square: str
    contents: list[str] = Field(description="What it may be.")
    event: dict[str, Any] = Field(description="The event that told of it, as in companion watch --json.")
    asked: str = Field(description="What an answer to it may send back, lest it answers something else.")


class NoticeState(BaseModel):
    """Something people are told now, in the words of the page."""

    kind: str
    title: str
    text: str


class QuestionState(BaseModel):
    """What the program cannot decide: the event that told of it, as in companion watch --json."""

    event: str
    time: float
    table: str
    ply: int
    question: Literal["order", "start", "new", "correct"] = Field(
        description="The order of moves, or whether the last ones stand; a board that does not fit the game; "
        "a cleared board; or a correction."
    )
    choices: list[str] = Field(
        description="What `choose` takes. Only `join` is a request of its own, as more has to be said. "
        "A correction is answered as well by the same `correct` with `rule_later`."
    )
    squares: list[str]
    illegal: list[str] = Field(description="The later moves that a correction would make illegal.")
    asked: str = Field(description="What an answer to it may send back, lest it answers another question.")


class FiledState(BaseModel):
    """A match that has ended, in the log."""

    match: int = Field(description="Its number.")
    log: str = Field(description="Its final hash, 64 hex digits.")


class TableState(BaseModel):
    """Everything there is to know of a table now."""

    table: str
    boot: str = Field(description="Changes when the program was restarted; revisions count anew then.")
    revision: int
    match: str = Field(description="Another one for every match, and when the program was restarted.")
    first: str
    layout: str
    variant: Variant
    players: dict[ColourName, str]
    history: list[str] = Field(description="Moves, and - for a pass.")
    board: dict[str, str] = Field(description="What the game has on each square; . for nothing.")
    in_hand: dict[ColourName, dict[str, int]]
    to_move: ColourName | None
    legal: list[str]
    explanation: str
    score: ScoreState
    lines: list[LineState]
    over: bool
    winner: Literal["light", "dark", "draw"] | None
    resigned: ColourName | None
    paused: bool
    problems: list[ProblemState]
    disturbed: list[str]
    to_lift: list[str] = Field(description="Squares whose piece has to leave before this game or the next goes on.")
    unseen: list[str] = Field(description="Squares covered since the start; before all were seen nothing is decided.")
    unread: list[str] = Field(description="Squares in the open of which nothing could be told yet, not even if empty.")
    out_of_sight: list[str] = Field(description="Squares that were not seen at rest for long, in mid-game.")
    question: QuestionState | None
    notices: list[NoticeState]
    source: str
    lost: str = Field(description="Why the source delivers nothing; empty while it does.")
    trouble: str = Field(description="Why nothing can be read though it delivers; empty if all is well.")
    absent: dict[str, str] = Field(description="Sources that are of no use while another is, and why.")
    disagreements: dict[str, str] = Field(description="Squares that the sources contradict each other about, and how.")
    stopped: str = Field(description="Why the table has stopped for good; empty while it runs.")
    ended: bool = Field(description="The source was a file and has been read to its end.")
    unrecorded: str = Field(description="Why events are not on disk, or never will be; empty if all are.")
    filed: FiledState | None = Field(
        description="What a match that has ended is kept as; null before, or if it is not."
    )


def state_of(view: TableView, boot: str) -> TableState:
    """The state that `view` shows."""
    game, score = view.game, view.game.score
    over_as = view.winner.value if view.winner else "draw"
    explanation = words.reason(view) if view.over or view.paused else reasons.explanation(view)
    return TableState.model_validate({
        "table": view.table,
        "boot": boot,
        "revision": view.revision,
        "match": view.match,
        "first": game.first,
        "layout": str(game.layout),
        "variant": view.variant,
        "players": {"light": view.players.light, "dark": view.players.dark},
        "history": [str(ply) for ply in game.history],
        "board": {str(square): content_text(game.content(square)) for square in game.layout},
        "in_hand": {
            colour.value: {kind.value: left for kind, left in game.in_hand(colour).items()} for colour in Colour
        },
        "to_move": game.to_move.value if game.to_move and not view.over else None,
        "legal": [] if view.over else [str(square) for square in sorted(game.legal_squares())],
        "explanation": as_written(explanation),
        "score": score.as_dict(),
        "lines": [
            {"colour": line.colour.value, "squares": [str(square) for square in line.squares], "points": line.points}
            for line in score.lines
        ],
        "over": view.over,
        "winner": over_as if view.over else None,
        "resigned": view.resigned.value if view.resigned else None,
        "paused": view.paused,
        "problems": [_problem(problem) for problem in view.problems],
        "disturbed": [str(square) for square in sorted(view.disturbed)],
        "to_lift": [str(square) for square in sorted(view.to_lift)],
        "unseen": [str(square) for square in sorted(view.unseen)],
        "unread": [str(square) for square in sorted(view.unread)],
        "out_of_sight": [str(square) for square in sorted(view.out_of_sight)],
        "question": _question(view.question) if view.question else None,
        "notices": [
            {"kind": told.kind, "title": as_written(told.title), "text": as_written(told.text)}
            for told in words.notices(view)
        ],
        "source": view.source,
        "lost": view.lost,
        "trouble": view.trouble,
        "absent": dict(view.absent),
        "disagreements": {str(told.square): str(told) for told in view.disagreements},
        "stopped": view.broken,
        "ended": view.ended,
        "unrecorded": view.unrecorded or view.never_recorded,
        "filed": None if view.filed is None else dict(zip(("match", "log"), view.filed, strict=True)),
    })  # fmt: skip


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "square": str(problem.square),
        "contents": [content_text(content) for content in possible(problem.contents)],
        "event": problem.event.as_dict(),
        "asked": questions.about_square(problem),
    }


def _question(question: ChoiceNeeded) -> dict[str, Any]:
    return {**question.as_dict(), "asked": questions.about_choice(question)}
