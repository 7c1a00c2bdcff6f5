"""Sources of readings, opened by the texts that name them."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from companion.commands.eyes import NOTHING_KNOWN, video_reader
from companion.commands.options import is_given
from companion.errors import SourceSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from companion.camera import VirtualCamera
    from companion.camera.frames import Clock
    from companion.commands.eyes import Foreknowledge
    from companion.readings import Source
    from companion.rules import Layout
    from companion.vision.video import VideoReader


def seconds_from_now() -> Callable[[], float]:
    """The clock of live sources: monotonic seconds since this was asked for, as the program starts."""
    start = time.monotonic()
    return lambda: time.monotonic() - start


def open_source(
    text: str,
    layout: Layout,
    known: Foreknowledge = NOTHING_KNOWN,
    *,
    patient: bool = False,
    clock: Clock = time.monotonic,
    others: Iterable[str] = (),
) -> Source:
    """The source of readings that `text` names; if `patient`, a live one that is not there yet is lost until it comes.

    A live source goes by `clock`, which gives seconds that never run back. `others` are the texts of all other sources
    of this program.

    Raises:
        UsageError: if the text names no source.
        SourceError: if it cannot be opened.
        VisionError: if the corners that are `known` cannot be the corners of a board.
    """
    with wrong_usage():
        if is_tile_board(text):
            from companion.tiles.link import open_tiles  # noqa: PLC0415 (a camera needs no serial port)

            return open_tiles(text, layout, clock=clock, wait=time.sleep, patient=patient, others=others)
        return _opened(text, layout, known, clock, patient=patient)


def _opened(text: str, layout: Layout, known: Foreknowledge, clock: Clock, *, patient: bool) -> Source:
    from companion.camera import Camera, VirtualCamera, open_frames  # noqa: PLC0415 (OpenCV is slow to import)

    def reader_for(wanted: Layout) -> VideoReader:
        return video_reader(wanted, known if wanted == layout else replace(known, corners=None))

    frames = open_frames(text, clock, patient=patient, others=("tiles",))
    try:
        if isinstance(frames, VirtualCamera):
            _refuse_another_game(frames, layout, known)
        return Camera(frames, reader_for(layout), reader_for=reader_for)
    except Exception:
        frames.close()
        raise


def _refuse_another_game(drawn: VirtualCamera, layout: Layout, known: Foreknowledge) -> None:
    """Wrong usage if a game is drawn that is not the one to be refereed."""
    name, game = drawn.name, drawn.game
    if game.layout != layout:
        raise click.UsageError(
            f"{name} draws a game on {game.layout}, and not on {layout}: start with --layout '{game.layout}'"
        )
    if drawn.variant != known.variant:
        raise click.UsageError(f"{name} draws a {drawn.variant} game: start with --variant {drawn.variant}")
    if (game.first, known.first) == ("anywhere", "outside"):
        raise click.UsageError(f"{name} draws a game whose first piece goes anywhere: start with --first anywhere")
    if game.sets != (known.sets or layout.default_sets):
        raise click.UsageError(f"{name} draws a game with other pieces: start with --sets {game.sets}")


@contextlib.contextmanager
def wrong_usage() -> Iterator[None]:
    """Within it, a text that names no source is a `UsageError`."""
    try:
        yield
    except SourceSyntaxError as error:
        raise click.UsageError(str(error)) from error


def is_tile_board(source: str) -> bool:
    """Whether a source's name is that of a tile board, which shows no pictures."""
    return source.startswith("tiles:") or source in ("tiles", "virtual:tiles")


def refuse_idle_corners(sources: Iterable[str]) -> None:
    """Wrong usage if somebody gave corners and no source looks at pictures; those of a profile may lie idle."""
    if is_given("corners") and all(map(is_tile_board, sources)):
        raise click.UsageError("a tile board needs no corners: leave out --corners")
