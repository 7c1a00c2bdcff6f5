"""What commands print: tables, lines that no terminal obeys, and with ``--json`` one object per line."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

_ANY_WIDTH = 100_000
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines, what turns the direction of writing, and halves of letters."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line, and nothing else.")
"""The option --json, given to the command as `as_json`."""


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
