"""``companion matches analyse``: what each move of a match gave away, where it turned, and what would have held.

With ``--json``, one object for each move:

- ``ply`` (1-based, passes count), ``colour``, ``move``, and the ``score`` after it
- ``before`` and ``after``: the margin, Light minus Dark, with best play by both
- ``given_away``: points, never negative, and 0 for a ruling; ``best``: every best move; ``exact``

then one for the match:

- ``moves`` (how many), ``over``, ``margin`` (with best play from where it stands), ``winner`` by that margin
  (``light|dark|draw``), ``exact``
- ``turning_point``: the ply of the last move that changed who wins with best play, or null
- ``best_line`` in notation and ``best_line_from``, the ply where it starts; null if all was played
  out and nothing was given away; while it is not over, the line from where it stands
- ``resigned``: who gave up where the moves end (``light|dark``); null if nobody did, or the text does not say who
- ``sentence``: the same for people
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from companion.analysis import Analyst, analyse_match, margin_bars, margin_svg
from companion.commands.keeping import data_option, open_log
from companion.commands.named_files import FileName, read_match, write_text
from companion.commands.output import console, json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.analysis import MatchAnalysis, MoveAnalysis
    from companion.rules import MatchText

_MANY = 4
"""The table names so many best moves; of more, it says how many there are."""


def _finite(_context: click.Context, _option: click.Parameter, seconds: float) -> float:
    if not math.isfinite(seconds):
        raise click.BadParameter(f"{seconds} is no number of seconds")
    return seconds


@click.command()
@click.argument("match", type=FileName(), metavar="MATCH|FILE")
@click.option(
    "--svg",
    "drawing",
    type=FileName(),
    metavar="FILE",
    help="Draw the margin, move by move, into this file; for -, to standard output, and nothing else there.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    callback=_finite,
    default=1.0,
    show_default=True,
    help="How long to think about each position of boards too large to be known.",
)
@data_option
@json_option
def analyse(match: str, drawing: str | None, seconds: float, data: str, *, as_json: bool) -> None:
    """Show what each move of a match gave away, and where it turned.

    MATCH is the number of a match in the log, FILE a match text (.mjn), or - for standard input. On the 4x4 board
    with one set all values are exact; else they are estimates, and said to be.
    """
    if drawing == "-" and as_json:
        raise click.UsageError("--svg - and --json would both go to standard output; give --svg a file")
    text = load_match(match, data)
    patience = _Patience(seconds, time.monotonic)
    watched = Console(stderr=True)
    with Progress(console=watched, transient=True, disable=not watched.is_terminal) as progress:
        task = progress.add_task("Analysing", total=None)

        def tell(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)
            patience.begin()

        found = analyse_match(text, Analyst(stop=patience.is_over), progress=tell)
    if drawing is not None:
        write_text(drawing, margin_svg(found))
    if as_json:
        _print_json(found)
    elif drawing != "-":
        _print_table(found)


def load_match(match: str, data: str) -> MatchText:
    """The match with that number in the log, or the one in that file.

    Raises:
        ClickException: if the file cannot be read or is no match text, or no match has such a number.
        StoreError: if the log has no such match.

    """
    if match.isascii() and match.isdigit():
        try:
            number = int(match)
        except ValueError:  # Python reads no number of thousands of digits
            raise click.ClickException(
                f"there is no match of {len(match)} digits in the log; companion matches list shows those there are"
            ) from None
        with open_log(data, create=False) as log:
            return log.match_text(number)
    return read_match(match)


class _Patience:
    """How long to think about one position."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """Start to think about another position."""
        self._end = self._clock() + self._seconds

    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._clock() >= self._end


def _print_json(found: MatchAnalysis) -> None:
    for move in found.moves:
        print_json(move.as_dict())
    print_json(found.as_dict())


def _print_table(found: MatchAnalysis) -> None:
    table = Table("Ply", "Player", "Move", "Score", "Value", "Gave away", "Best", box=None)
    for column in (0, 3, 4, 5):
        table.columns[column].justify = "right"
    for move in found.moves:
        table.add_row(*_row(move), style="bold" if move is found.turning_point else None)
    page = console()
    page.print(table)
    page.print(f"\n{margin_bars(found)}\n")
    page.print(found.sentence, soft_wrap=True)


def _row(move: MoveAnalysis) -> list[str]:
    best = move.before.best
    named = " ".join(map(str, best[:_MANY])) + (f" and {len(best) - _MANY} more" if len(best) > _MANY else "")
    return [
        str(move.ply),
        str(move.move.colour).capitalize(),
        str(move.move),
        str(move.score),
        f"{move.after.margin:+d}" if move.after.margin else "0",
        str(move.given_away) if move.given_away else "",
        "" if move.move.ruled or not move.given_away else named,
    ]
