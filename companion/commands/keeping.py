"""Where matches are kept: the option ``--data``, and the log that it names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

if TYPE_CHECKING:
    from companion.store import MatchLog

APP_NAME = "mijnlieff-companion"


def _at_home(_context: click.Context, _option: click.Parameter, place: str | None) -> str | None:
    """A data folder whose ``~`` is the home it stands for; a database URL as it is."""
    if place is None or "://" in place:
        return place
    if not place:  # as a shell gives it for a variable that is not set
        raise click.BadParameter("a folder has to have a name")
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
    "--data",
    callback=_at_home,
    metavar="DIR",
    help="Keep the match in this data folder, or at this database URL. [default: not kept]",
)
"""The option --data of commands that keep nothing without it; then `data` is None."""


def open_log(data: str | None, *, create: bool = True) -> MatchLog:
    """The match log in a data folder or database; `StoreError` if there is none, with `create` off.

    None stands for one that nobody keeps: it is gone when it is closed.
    """
    from companion.store import MatchLog  # noqa: PLC0415 (slow to import, and not every command keeps a log)

    if data is None:
        return MatchLog.throwaway(_now)
    return MatchLog.open(data, _now, create=create)


def _now() -> datetime:
    return datetime.now(UTC)
