"""What every command has in common: its group, its common options, its output and how it fails."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import platformdirs
from click.core import ParameterSource

from companion.errors import CompanionError, NotationError
from companion.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from companion.rules import MatchText
    from companion.store import MatchLog

APP_NAME = "mijnlieff-companion"
_ANY_WIDTH = 100_000
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines, what turns the direction of writing, and halves of letters."""


class Lazy(NamedTuple):
    """A command that is imported when it is used, so that help and start-up stay quick."""

    target: str
    """``package.module:name`` of the click command."""
    help: str
    """The line that help shows for it."""


class LazyGroup(click.Group):
    """A group whose commands are `Lazy`, and whose failures are one line each.

    A `CompanionError` from any command below ends the program with ``Error: …`` and exit code 1.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, Lazy] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the table."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None if there is none."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.lazy[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing the lazy ones."""
        rows = [(name, lazy.help) for name, lazy in self.lazy.items()]
        for name in super().list_commands(ctx):
            command = super().get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str(formatter.width)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it could not do is told in one line."""
        try:
            return super().invoke(ctx)
        except CompanionError as error:
            raise click.ClickException(harmless(str(error))) from error
        except click.UsageError:
            raise
        except click.ClickException as error:
            raise click.ClickException(harmless(error.message)) from error
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left of it is not tried again
            raise click.ClickException("there is no room left for what is written; make room, and try again") from error


class FileName(click.ParamType[str]):
    """The name of a file, or ``-``; never empty, as a shell gives it for a variable that is not set."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        if not value:
            self.fail("a file has to have a name", param, ctx)
        return value


def _at_home(_context: click.Context, _option: click.Parameter, place: str | None) -> str | None:
    """A data folder whose ``~`` is the home it stands for; a database URL as it is."""
    if place is None or "://" in place:
        return place
    try:
        return str(Path(place).expanduser())
    except RuntimeError as error:
        raise click.BadParameter(f"nobody here has the home that {place!r} names") from error


data_option = click.option(
    "--data",
    default=lambda: platformdirs.user_data_dir(APP_NAME, appauthor=False),
    callback=_at_home,
    metavar="DIR",
    help="The data folder, or a database URL. [default: this user's data folder]",
)
"""The option --data, given to the command as `data`."""

kept_option = click.option(
    "--data", callback=_at_home, metavar="DIR", help="Keep the match in this data folder. [default: not kept]"
)
"""The option --data of commands that keep nothing without it; then `data` is None."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, and nothing else.")
"""The option --json, given to the command as `as_json`."""


def is_given(option: str) -> bool:
    """Whether somebody wrote this option: its value is neither the default nor out of a profile."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def utc_now() -> datetime:
    """The clock that commands hand down."""
    return datetime.now(UTC)


def seconds_from_now() -> Callable[[], float]:
    """The clock of live sources: monotonic seconds since this was asked for, as the program starts."""
    start = time.monotonic()
    return lambda: time.monotonic() - start


def open_log(data: str, *, create: bool = True) -> MatchLog:
    """The match log in a data folder or database; `StoreError` if there is none, with `create` off."""
    from companion.store import MatchLog  # noqa: PLC0415 (slow to import, and not every command keeps a log)

    return MatchLog.open(data, utc_now, create=create)


def console() -> Console:
    """Where tables are printed: texts as they are, and no wider than the terminal where there is one."""
    from rich.console import Console  # noqa: PLC0415 (slow to import, and most commands print plain lines)

    width = None if sys.stdout.isatty() else _ANY_WIDTH
    return Console(markup=False, emoji=False, highlight=False, width=width)


def harmless(text: str) -> str:
    """`text` on one line; what a terminal would obey instead of showing it is written out, as Python would."""
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def print_json(told: Mapping[str, Any]) -> None:
    """One JSON object as one line on standard output, flushed; in ASCII, which every terminal and pipe can carry."""
    click.echo(json.dumps(told))


def read_text(path: str) -> str:
    """The text of a file, or of standard input for ``-``; a `ClickException` in one line if it cannot be read."""
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path} is not a text file in UTF-8") from error
    except OSError as error:
        raise click.ClickException(f"{path} cannot be read: {error.strerror}") from error


def read_match(path: str) -> MatchText:
    """The match text in a file, or on standard input for ``-``; a `ClickException` in one line if there is none."""
    from companion.rules.matchtext import MatchText, is_blank  # noqa: PLC0415 (help does not need the rules)

    text = read_text(path)
    if is_blank(text):
        raise click.ClickException(f"{path} is empty; a match text has moves, or at least tags")
    try:
        return MatchText.read(text)
    except NotationError as error:
        raise click.ClickException(f"{path}, {error}") from error


def write_text(path: str, text: str) -> None:
    """Write a file whole, or standard output for ``-``; a `ClickException` in one line if it cannot be written."""
    try:
        if path == "-":
            click.echo(text, nl=False)
        else:
            write_whole(path, text)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from error
