"""``companion watch``: referee a video or folder of pictures, and tell the events as they happen."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click
from companion.commands._shared import json_option, open_log, print_json

from companion import events
from companion.commands.sight import corners_option, game_options, open_source
from companion.events import Event, content_text
from companion.referee import Referee
from companion.rules import Game
from companion.table import Table

if TYPE_CHECKING:
    from companion.commands.sight import Corners
    from companion.rules import FirstMove, Layout

_POLL_S = 1.0


@click.command()
@click.argument("source")
@corners_option
@game_options
@click.option("--data", metavar="DIR", help="Keep the match in this data folder. [default: not kept]")
@json_option
def watch(
    source: str,
    corners: Corners | None,
    first: FirstMove,
    layout: Layout,
    sets: int | None,
    variant: str,
    data: str | None,
    *,
    as_json: bool,
) -> None:
    """Referee SOURCE without a page: events as they happen.

    SOURCE is such as video:game.mp4 or images:folder. Every frame of a file is read, as fast as it can be.
    """
    game = Game.start(first, layout=layout, sets=sets)
    with ExitStack() as open_until_done:
        readings = open_until_done.enter_context(open_source(source, layout, corners))
        folder = data or open_until_done.enter_context(tempfile.TemporaryDirectory(prefix="companion-"))
        log = open_until_done.enter_context(open_log(folder))
        table = Table(readings, Referee(game, variant=variant), log.recorder())
        _tell(table.start(), as_json=as_json)
        while not table.ended:
            _tell(table.step(_POLL_S), as_json=as_json)
        _tell_if_never_seen(readings)


def _tell_if_never_seen(readings: object) -> None:
    """A board that was never found is no quiet game: say so."""
    reader = getattr(readings, "reader", None)
    if reader is not None and reader.pose is None:
        raise click.ClickException(f"the board was never found: {reader.why_not}. Give its --corners")


def _tell(told: list[Event], *, as_json: bool) -> None:
    for event in told:
        if as_json:
            print_json(event.as_dict())
        else:
            click.echo(f"{event.time:8.1f} s  {in_words(event)}")


def in_words(event: Event) -> str:  # noqa: PLR0911 (a table of events)
    """One line for people."""
    match event:
        case events.MatchStarted():
            return f"A match begins on {event.layout}; the first piece goes {event.first}."
        case events.MovePlayed():
            return f"{event.ply:3d}. {_name(event.colour)} {event.move}{'!' if event.ruled else ''}   {event.score}"
        case events.PassForced():
            return f"{event.ply:3d}. {_name(event.colour)} has no legal square and passes"
        case events.LastChance():
            return f"Last chance for {_name(event.colour)}: {_squares(event.legal)}"
        case events.IllegalPlacement():
            return f"Illegal: {event.content} on {event.square}: {event.words}"
        case events.PieceUnclear() | events.KindNeeded():
            return f"What is on {event.square}? {', '.join(map(content_text, event.contents))}"
        case events.BoardDisturbed():
            return f"Disturbed: {_squares(event.squares)}"
        case events.BoardRestored():
            return f"As it was again: {_squares(event.squares)}"
        case events.MoveTakenBack():
            return f"{event.ply:3d}. {event.move} was taken back"
        case events.ChoiceNeeded():
            return f"Not sure ({event.question}): {'; '.join(event.choices)}"
        case events.GameOver():
            winner = f"{_name(event.winner)} wins" if event.winner else "A draw"
            return f"Game over. {winner} {event.score}."
        case events.Unresolved():
            return f"Never resolved: {_squares(event.squares)}"
        case _:
            return str(event.as_dict())


def _name(colour: object) -> str:
    return str(colour).capitalize()


def _squares(squares: tuple[object, ...]) -> str:
    return " ".join(map(str, squares))
