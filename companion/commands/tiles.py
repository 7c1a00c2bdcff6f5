"""``companion calibrate tiles``: pieces laid on a tile board, kind by kind; what they read makes its windows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import click

from calibration import tiles as workshop
from calibration.tiles import (
    KINDS,
    PRINTED,
    TilesError,
    collect,
    empty_sighting,
    fit_windows,
    sighting,
    table,
    tell_apart,
)
from companion.commands.options import layout_option
from companion.commands.sources import wrong_usage
from companion.errors import SourceError
from companion.tiles.link import open_tiles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from calibration.tiles import Seen, Window
    from companion.camera.frames import Clock
    from companion.rules import Layout
    from companion.tiles.link import TileBoard

_T = TypeVar("_T")

LISTEN_S = 2.0
START_S = 8.0
BACK_S = 120.0
"""How long a board that was lost is waited for."""
BACK = "b"
"""What a person types to measure the kind before again."""


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
        bench = Bench(board, layout, clock=time.monotonic, enter=_enter)
        windows = bench.measure()
        click.echo(table(windows))
        if dry_run:
            return
        bench.store(windows)
        click.echo("Stored. The board uses these windows from now on.")


def _wait_for(board: TileBoard) -> None:
    end = time.monotonic() + START_S
    while not board.connected:
        board.read(0.05)
        if time.monotonic() > end:
            raise SourceError(f"{board.name} does not say what lies on it; unplug it and plug it in again")


def _enter() -> str:
    """What a person has typed, who is done."""
    typed: str = click.prompt("Then press Enter", default="", show_default=False, prompt_suffix=" ", err=True)
    return typed.strip()


class Bench:
    """A tile board, and a person who lays on it what is asked for. A cable that was pulled costs nothing measured."""

    def __init__(self, board: TileBoard, layout: Layout, *, clock: Clock, enter: Callable[[], str]) -> None:
        """`clock` gives monotonic seconds, and `enter` waits until a person is done, and answers what he has typed."""
        self._board = board
        self._layout = layout
        self._clock = clock
        self._enter = enter

    def measure(self) -> list[Window]:
        """Ask for every kind in turn, and for one that makes no sense at once again; the windows that fit.

        However that ends, the board tells no more codes then.

        Raises:
            SourceError: if the board is lost and does not come back, or tells no codes.
        """
        try:
            return self._measured()
        finally:
            workshop.hush(self._board)

    def _measured(self) -> list[Window]:
        empty = self._empty()
        kinds: list[Seen] = []
        while len(kinds) < len(KINDS):
            kind, printed = KINDS[len(kinds)], PRINTED[len(kinds)]
            _say(f"Lay every {kind} ({printed}), and nothing else, on any squares.")
            if self._enter() == BACK and kinds:
                kinds.pop()
                continue
            try:
                kinds.append(self._kind(kind, kinds, empty))
            except TilesError as error:
                _say(_ended(str(error)))
                _say(f"Once more; or type {BACK} to lay {kinds[-1].name} again." if kinds else "Once more.")
        return fit_windows(kinds, empty)

    def store(self, windows: Sequence[Window]) -> None:
        """Make the board keep the windows; as often as a person wants to try, if it does not."""
        while True:
            try:
                if self._board.lost:
                    self._get_back()
                return self._through_blinks(lambda: workshop.store(self._board, windows))
            except SourceError as error:
                _say(f"{_ended(str(error))} What was measured is kept: it can be stored again, until Ctrl-C.")
                self._enter()

    def _empty(self) -> Seen:
        while True:
            _say("Take every piece off the board.")
            self._enter()
            try:
                return empty_sighting(self._samples(), self._layout)
            except TilesError as error:
                _say(_ended(str(error)))

    def _kind(self, kind: str, before: Sequence[Seen], empty: Seen) -> Seen:
        seen = sighting(kind, self._samples(), self._layout)
        _say(f"{kind.capitalize()}: {seen}.")
        tell_apart(seen, before, empty)
        return seen

    def _samples(self) -> list[tuple[int, ...]]:
        return self._through_blinks(lambda: _listen(self._board, self._clock))

    def _through_blinks(self, do: Callable[[], _T]) -> _T:
        """Do something; from the beginning if the board is lost meanwhile, as soon as it is back."""
        while True:
            try:
                return do()
            except SourceError as error:
                if not self._board.lost:
                    raise
                _say(f"{_ended(str(error))} What was measured is kept.")
                self._get_back()

    def _get_back(self) -> None:
        end = self._clock() + BACK_S
        while not self._board.connected:
            if self._clock() > end:
                raise SourceError(f"{self._board.name} was lost, and has not come back within {BACK_S:.0f} s")
            try:
                self._board.read(0.05)
            except SourceError as error:
                _say(_ended(str(error)))
        _say("The board is back.")


def _listen(board: TileBoard, clock: Clock) -> list[tuple[int, ...]]:
    """The codes of now; what has been sent while a person was at work is taken, and left out."""
    board.session.send_raw(on=True)
    for _ in range(20):
        board.read(0.05)
    return collect(board, LISTEN_S, clock)


def _say(text: str) -> None:
    click.echo(text, err=True)


def _ended(text: str) -> str:
    return text if text.endswith("?") else f"{text}."
