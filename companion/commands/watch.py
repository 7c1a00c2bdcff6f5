"""``companion watch``: referee a video or folder of pictures, and tell the events as they happen."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import click

from companion import events
from companion.commands.corners import corners_option
from companion.commands.equipment import equip
from companion.commands.eyes import Foreknowledge
from companion.commands.keeping import kept_option, open_log
from companion.commands.options import game_options, profile_option
from companion.commands.output import harmless, json_option, print_json
from companion.commands.signals import NAP_S, told_to_stop
from companion.commands.sources import refuse_idle_corners, seconds_from_now
from companion.referee import Referee
from companion.rules import Game
from companion.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.commands.corners import Corners
    from companion.events import Event
    from companion.profile import Profile
    from companion.rules import FirstMove, Layout, Variant


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@profile_option
@corners_option
@game_options
@kept_option
@json_option
def watch(
    sources: tuple[str, ...],
    profile: Profile | None,
    corners: Corners | None,
    first: FirstMove,
    layout: Layout,
    sets: int | None,
    variant: Variant,
    data: str | None,
    *,
    as_json: bool,
) -> None:
    """Referee SOURCE without a page: events as they happen.

    SOURCE is such as video:game.mp4, images:folder or tiles:auto. Every frame of a file is read, as fast as it can be.
    Several, such as camera:0 and tiles:auto, look at the same board. What has no end is watched until Ctrl-C.
    """
    from companion.store import Opening, Recorder  # noqa: PLC0415 (the database is slow to import)

    refuse_idle_corners(sources)
    game = Game.start(first, layout=layout, sets=sets)
    with ExitStack() as open_until_done:
        known = Foreknowledge(corners, profile, variant, sets, first)
        equipment = equip(sources, layout, open_until_done, known, clock=seconds_from_now())
        stopped = told_to_stop(open_until_done)
        log = open_until_done.enter_context(open_log(data))
        source, *others = equipment.sources
        recorder = Recorder(log, Opening.of(game, variant=variant, live=source.live))
        referee = Referee(game, variant=variant)
        table = Table(source, referee, recorder, clock=time.monotonic, others=others, lamps=equipment.lamps)
        open_until_done.enter_context(closing(table))
        _tell(table.start(), as_json=as_json)
        moved = False
        while not (table.ended or stopped()):
            news = table.step(NAP_S)
            _tell(news, as_json=as_json)
            moved = moved or any(isinstance(event, events.MovePlayed) for event in news)
        if not table.ended:
            _tell(table.finish(), as_json=as_json)
            if not source.live:
                raise click.ClickException(f"told to stop before the end of {source.name}")
        if table.view.lost:
            raise click.ClickException(table.view.lost)
        if table.view.trouble and not moved:
            raise click.ClickException(table.view.trouble)
        if table.view.trouble and not table.view.over:
            click.echo(f"at its end {table.view.trouble}", err=True)
        asked = (events.PieceUnclear, events.KindNeeded)
        if table.view.question or any(isinstance(problem.event, asked) for problem in table.view.problems):
            click.echo("nobody can answer here: open it with `companion run`, whose page asks the same", err=True)


def _tell(told: list[Event], *, as_json: bool) -> None:
    for event in told:
        if as_json:
            print_json(event.as_dict())
        else:
            click.echo(f"{event.time:8.1f} s  {harmless(in_words(event))}")


def in_words(event: Event) -> str:
    """One line for people."""
    words = _WORDS.get(type(event))
    return words(event) if words else str(event.as_dict())


def _name(colour: object) -> str:
    return str(colour).capitalize()


def _asked(event: events.PieceUnclear | events.KindNeeded, what: str) -> str:
    """A question with all that it can be; where that is one thing, whether it is that."""
    if len(event.contents) == 1:
        only = event.contents[0]
        return f"Is {'nothing' if only is None else f'a {only}'} on {event.square}?"
    contents = ", ".join("nothing" if content is None else str(content) for content in event.contents)
    return f"{what} is on {event.square}? {contents}"


def _squares(squares: tuple[object, ...]) -> str:
    return " ".join(map(str, squares))


def _turn(event: Any, what: str) -> str:
    return f"{event.ply:3d}. {what}"


def _correction(event: events.Corrected) -> str:
    if event.takes_up_again:
        return "The resignation is taken back"
    if event.position:
        return f"What lies there is taken up as the game: {event.position}"
    return f"Corrected: {' '.join(event.before)} is now {' '.join(event.after)}"


_WORDS: dict[type[Event], Callable[[Any], str]] = {
    events.MatchStarted: lambda e: (
        f"A match begins on {e.layout}; the first piece goes {e.first}."
        if e.ply == 1
        else f"The match goes on, on {e.layout}, with ply {e.ply}."
    ),
    events.MovePlayed: lambda e: _turn(e, f"{_name(e.colour)} {e.move}{'!' if e.ruled else ''}   {e.score}"),
    events.PassForced: lambda e: _turn(e, f"{_name(e.colour)} has no legal square and passes"),
    events.LastChance: lambda e: f"Last chance for {_name(e.colour)}: {_squares(e.legal)}",
    events.IllegalPlacement: lambda e: f"Illegal: a {e.content} on {e.square}: {e.words}",
    events.PieceUnclear: lambda e: _asked(e, "What"),
    events.KindNeeded: lambda e: _asked(e, "Which kind"),
    events.BoardDisturbed: lambda e: f"Disturbed: {_squares(e.squares)}",
    events.BoardRestored: lambda e: f"As it was again: {_squares(e.squares)}",
    events.MoveTakenBack: lambda e: _turn(e, f"{e.move} is taken back"),
    events.Corrected: _correction,
    events.ChoiceNeeded: lambda e: f"Not sure ({e.question}): {'; '.join(e.illegal or e.choices)}",
    events.SourceLost: lambda e: f"{e.source} is lost: {e.why}",
    events.SourceBack: lambda e: f"{e.source} is back",
    events.SourcesDisagree: lambda e: f"What is on {e.square}? {e.words}",
    events.Paused: lambda e: (
        "Paused: what lies on the board decides nothing" if e.paused else "What lies on the board counts again"
    ),
    events.Resigned: lambda e: f"{_name(e.colour)} resigns",
    events.GameOver: lambda e: f"Game over. {f'{_name(e.winner)} wins' if e.winner else 'A draw,'} {e.score}.",
    events.Unresolved: lambda e: f"Never resolved: {_squares(e.squares)}",
}
