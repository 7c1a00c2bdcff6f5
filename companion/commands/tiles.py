"""``companion calibrate tiles``: pieces laid on a tile board, kind by kind; what they read makes its windows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from calibration import tiles as workshop
from calibration.tiles import KINDS, PRINTED, TilesError, collect, empty_sighting, fit_windows, sighting, table
from companion.commands.sight import layout_option, wrong_usage
from companion.errors import SourceError
from companion.tiles.link import open_tiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.tiles import Seen, Window
    from companion.rules import Layout
    from companion.tiles.link import TileBoard

LISTEN_S = 2.0
START_S = 8.0


@click.command()
@click.option("--source", default="tiles:auto", show_default=True, metavar="S", help="The board, such as tiles:COM3.")
@layout_option
@click.option("--default", "forget", is_flag=True, help="Forget the calibration and use the windows of the firmware.")
@click.option("--dry-run", is_flag=True, help="Show the windows and store nothing.")
def tiles(source: str, layout: Layout, *, forget: bool, dry_run: bool) -> None:
    """Fit a tile board to the resistors of its pieces.

    Lays out each of the eight kinds in turn, shows how far apart they read, and stores that in the board.
    """
    if forget and dry_run:
        raise click.UsageError("--default stores, and --dry-run does not: give one of them")
    with wrong_usage():
        board = open_tiles(source, layout, clock=time.monotonic, wait=time.sleep)
    with board:
        _wait_for(board)
        if forget:
            workshop.forget(board)
            click.echo("The board uses the windows of its firmware again.")
            return
        board.session.send_raw(on=True)
        windows = _guide(board)
        click.echo(table(windows))
        if dry_run:
            return
        workshop.store(board, windows)
        click.echo("Stored. The board uses these windows from now on.")


def _wait_for(board: TileBoard) -> None:
    end = time.monotonic() + START_S
    while not board.connected:
        board.read(0.05)
        if time.monotonic() > end:
            raise SourceError(f"{board.name} does not say what lies on it; unplug it and plug it in again")


def _guide(board: TileBoard) -> Sequence[Window]:
    click.echo("Take every piece off the board.", err=True)
    empty = _ask(board, "empty")
    kinds = []
    for kind, printed in zip(KINDS, PRINTED, strict=True):
        click.echo(f"Lay every {kind} ({printed}), and nothing else, on any squares.", err=True)
        kinds.append(_ask(board, kind))
    return fit_windows(kinds, empty)


def _ask(board: TileBoard, name: str) -> Seen:
    """Wait for a person, and look; again, if what is seen makes no sense."""
    while True:
        click.prompt("Then press Enter", default="", show_default=False, prompt_suffix=" ", err=True)
        _drain(board)
        samples = collect(board, LISTEN_S, time.monotonic)
        try:
            return empty_sighting(samples) if name == "empty" else sighting(name, samples)
        except TilesError as error:
            click.echo(f"{error}. Once more.", err=True)


def _drain(board: TileBoard) -> None:
    """Take what has been sent while a person was at work; the board may even have gone to sleep and come back."""
    for _ in range(20):
        board.read(0.05)
