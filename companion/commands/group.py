"""A group of commands that are imported when they are used, and whose failures are one line each."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from companion.commands.output import harmless
from companion.errors import CompanionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says where there is no room, or none left for this user."""


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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the options; --help and --version are written here."""
        with _room_is_needed():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it could not do is told in one line."""
        try:
            with _room_is_needed():
                return super().invoke(ctx)
        except CompanionError as error:
            raise click.ClickException(harmless(str(error))) from error
        except click.UsageError:
            raise
        except click.ClickException as error:
            raise click.ClickException(harmless(error.message)) from error


@contextlib.contextmanager
def _room_is_needed() -> Iterator[None]:
    """A full disk, of a file or behind standard output, is told in one line."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left of it is not tried again
        raise click.ClickException("there is no room left for what is written; make room, and try again") from error
