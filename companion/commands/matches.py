"""``companion matches``: look at, take out, bring in, check and erase what the match log has."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from companion.commands.group import Lazy, LazyGroup
from companion.commands.keeping import data_option, open_log
from companion.commands.named_files import FileName, read_match, write_text
from companion.commands.options import WholeNumber
from companion.commands.output import console, harmless, json_option, print_json
from companion.commands.watch import in_words
from companion.errors import StoreError
from companion.rules import Layout
from companion.store import IMPORTED, Damaged, Match, is_there
from companion.store.chain import FEWEST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from companion.rules import MatchText
    from companion.store import Account, Entry, MatchLog

SLOW_COMMANDS = {
    "analyse": Lazy("companion.commands.analyse:analyse", "Show what each move gave away, and where the match turned."),
}
"""The commands that are slow to import."""

_HASH = re.compile(rf"[0-9A-Fa-f]{{{FEWEST_DIGITS},64}}")

_LONGEST_TABLE = 1000
"""So many events are laid out as a table at most, which takes half a millisecond a row."""

match_argument = click.argument("match", type=WholeNumber(min=1), metavar="MATCH")
"""The number of one match, as `list` shows it."""


def _checked_hash(_context: click.Context, _option: click.Parameter, known: str | None) -> str | None:
    if known is not None and not _HASH.fullmatch(known):
        raise click.BadParameter(
            f"{known!r} is no final hash; give it as matches show tells it, at least its first {FEWEST_DIGITS} digits"
        )
    return known


@click.group(cls=LazyGroup, lazy=SLOW_COMMANDS)
def matches() -> None:
    """The matches that were played."""


@matches.command("list")
@click.option("--table", help="Only the matches of this table.")
@data_option
@json_option
@click.pass_context
def list_matches(ctx: click.Context, data: str, table: str | None, as_json: bool) -> None:
    """List all matches, oldest first."""
    found: list[Match | Damaged] = []
    if there := is_there(data):
        with open_log(data, create=False) as log:
            found = log.matches(table)
    damaged = [match for match in found if isinstance(match, Damaged)]
    if as_json:
        for match in found:
            print_json(match.as_dict())
    elif found:
        console().print(_list_table([match for match in found if isinstance(match, Match)]))
    if not found:
        nothing = "No matches yet" if table is None else f"No matches of table {harmless(table)}"
        click.echo(f"{nothing}." if there else f"No matches yet: there is no match log in {data}.", err=True)
    for match in damaged:
        click.echo(f"Error: {harmless(match.why)}", err=True)
    if damaged:
        ctx.exit(1)


@matches.command()
@match_argument
@data_option
@json_option
def show(match: int, data: str, as_json: bool) -> None:
    """Show one match, event by event."""
    with open_log(data, create=False) as log:
        account = log.account(match)
    if as_json:
        for line in _json_lines(account):
            print_json(line)
    else:
        page = console()
        page.print(_title(account.match))
        _print_events(page, account.entries)
        page.print(_ending(account.match), soft_wrap=True)
    if not account.found.sound:
        raise click.ClickException(f"match {match} is not as it was written: {account.found.broken}")


@matches.command()
@match_argument
@click.option(
    "-o",
    "--output",
    type=FileName(),
    default="-",
    metavar="FILE",
    help="Write to this file. [default: standard output]",
)
@click.option("--format", "form", type=click.Choice(["mjn", "json"]), default="mjn", show_default=True)
@data_option
def export(match: int, output: str, form: str, data: str) -> None:
    """Write one match as match text or as JSON.

    JSON has one object per line: the match, then its events. A match that is not as it was written is not exported.
    """
    with open_log(data, create=False) as log:
        write_text(output, log.match_text(match).write() if form == "mjn" else _json_text(log, match))


@matches.command("import")
@click.argument("files", type=FileName(), nargs=-1, required=True, metavar="FILE...")
@data_option
@json_option
def import_matches(files: tuple[str, ...], data: str, as_json: bool) -> None:
    """Bring match texts into the log, one match a file.

    All of them are brought in, or none where one is wrong. One that is there already, with the same moves, names and
    all else that is told, is not brought in again.
    """
    texts = [_match_text(file) for file in files]
    with open_log(data) as log:
        for file, found in zip(files, log.import_texts(texts), strict=True):
            if as_json:
                print_json({"file": file, "match": found.match, "new": found.new})
            else:
                click.echo(f"{file} is match {found.match}{'' if found.new else ' already'}.")


@matches.command()
@click.argument("numbers", type=WholeNumber(min=1), nargs=-1, metavar="[MATCH]...")
@click.option(
    "--log",
    "known",
    metavar="HASH",
    callback=_checked_hash,
    help="Check that this final hash is in the match, and say where.",
)
@data_option
@json_option
@click.pass_context
def verify(ctx: click.Context, numbers: tuple[int, ...], known: str | None, data: str, as_json: bool) -> None:
    """Check that matches are as they were written: these, or all."""
    if known is not None and len(numbers) != 1:
        raise click.UsageError("--log needs exactly one MATCH")
    broken, other, unread = [], False, False
    with open_log(data, create=False) as log:
        for number in numbers or [match.id for match in log.matches()]:
            try:
                found = log.verify(number, known)
            except StoreError as error:
                unread = True
                click.echo(f"Error: {harmless(str(error))}", err=True)
                continue
            if as_json:
                print_json(found.as_dict())
            else:
                click.echo(harmless(str(found)))
            other = found.other is not None
            broken += [] if found.sound else [str(number)]
    if other:
        raise click.ClickException("the hash that was given is that of another match")
    if broken:
        raise click.ClickException(f"not as it was written: match {', '.join(broken)}")
    if unread:
        ctx.exit(1)


@matches.command()
@match_argument
@click.option("--names", is_flag=True, help="Forget who played.")
@click.option("--pictures", is_flag=True, help="Forget what the camera saw.")
@data_option
def erase(match: int, names: bool, pictures: bool, data: str) -> None:
    """Erase names or pictures of a match for good. Its events stay, and can still be verified."""
    if not (names or pictures):
        raise click.UsageError("say what to erase: --names, --pictures or both")
    with open_log(data, create=False) as log:
        if names:
            log.erase_names(match)
            click.echo(f"The names of match {match} are erased.")
        if pictures:
            count = log.erase_pictures(match)
            click.echo(f"Pictures of match {match} erased: {count}.")


def _match_text(file: str) -> MatchText:
    match = read_match(file)
    if match.resigned and match.winner is None:
        raise click.ClickException(f'{file} does not say who resigned; add [Winner "light"] or [Winner "dark"] to it')
    return match


def _json_lines(account: Account) -> Iterator[dict[str, Any]]:
    yield account.match.as_dict()
    for entry in account.entries:
        yield entry.as_dict()


def _json_text(log: MatchLog, match: int) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in _json_lines(log.account(match, sound=True)))


def _list_table(found: list[Match]) -> Table:
    table = _table("Match", "Started", "Table", "Light", "Dark", "Plies", "Result")
    for column in table.columns[:2]:
        column.no_wrap = True
    for match in found:
        players = (_player(match, match.opening.light), _player(match, match.opening.dark))
        told = (_when(match), match.opening.table, *players)
        table.add_row(str(match.id), *map(harmless, told), str(match.plies), _result(match))
    return table


def _print_events(page: Console, entries: tuple[Entry, ...]) -> None:
    """One a line below headings; as a table, whose columns a terminal folds, unless there are too many for that."""
    headings = ("#", "Time", "What happened")
    rows = [(str(entry.seq), _clock_face(entry.event.time), harmless(in_words(entry.event))) for entry in entries]
    if len(rows) > _LONGEST_TABLE:
        lines = [headings, *rows]
        seq_width, time_width = (max(len(line[column]) for line in lines) for column in (0, 1))
        click.echo("\n".join(f"{seq:{seq_width}}  {time:{time_width}}  {what}" for seq, time, what in lines))
        return
    table = _table(*headings)
    for row in rows:
        table.add_row(*row)
    page.print(table)


def _table(*headings: str) -> Table:
    table = Table(*headings, box=None, pad_edge=False)
    for column, heading in zip(table.columns, headings, strict=True):
        column.overflow, column.min_width = "fold", len(heading)
    return table


def _title(match: Match) -> Text:
    opening = match.opening
    players = f"{_player(match, opening.light)} (light) against {_player(match, opening.dark)} (dark)"
    rules = f"first move {opening.first}, layout {Layout.parse(opening.layout)}, sets {opening.sets}, {opening.variant}"
    place = f"table {opening.table}, {_when(match)}"
    return Text.assemble((f"Match {match.id}", "bold"), harmless(f": {players}, {place}"), f"\n{rules}\n")


def _ending(match: Match) -> Text:
    return Text.assemble("\n", (_result(match), "bold"), harmless(f", log {match.digest}"))


def _player(match: Match, name: str) -> str:
    return "(erased)" if match.names_erased else name or "-"


def _result(match: Match) -> str:
    if match.score is None:
        return "unfinished"
    result = f"{match.score} {match.winner or 'draw'}"
    return f"{result}, {match.resigned} resigned" if match.resigned else result


def _when(match: Match) -> str:
    """The minute it began, by this machine's clock; of a match from elsewhere the day it tells, if it does."""
    if match.opening.table == IMPORTED:
        return match.opening.tags.get("Date", "date unknown").replace(".", "-")
    return f"{match.began:%Y-%m-%d %H:%M}"


def _clock_face(seconds: float) -> str:
    minutes, tenths = divmod(round(10 * seconds), 600)
    return f"{minutes}:{tenths / 10:04.1f}"
