"""What stands at a table: the sources that look at its board, and the lights that show there what is going on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from companion.address import shown
from companion.background import Background
from companion.commands.eyes import NOTHING_KNOWN
from companion.commands.sources import open_source
from companion.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import ExitStack

    from companion.camera.frames import Clock
    from companion.commands.eyes import Foreknowledge
    from companion.readings import Source
    from companion.rules import Layout
    from companion.table import Lamp
    from companion.tiles.virtual import VirtualBoard

FIRST_TABLE = "1"
_OF_A_TABLE = re.compile(r"([\w-]+)=(.+)")


@dataclass(frozen=True, slots=True)
class Equipment:
    """What stands at one table."""

    sources: tuple[Source, ...]
    lamps: tuple[Lamp, ...] = ()
    virtual: VirtualBoard | None = None
    """The tile board that is not there, whose pieces are laid on the page."""


def by_table(texts: Iterable[str]) -> dict[str, list[str]]:
    """The sources of every table: ``2=camera:1`` looks at table 2, one without a table at the first.

    Raises:
        UsageError: if a table has the name that the log keeps for imported matches, or one too long for the log.
        SourceError: if a live source is given to two tables; a file may be.
    """
    from companion.store import IMPORTED, TABLE_LETTERS  # noqa: PLC0415 (the database is slow to import)

    tables: dict[str, list[str]] = {}
    for text in texts:
        named = _OF_A_TABLE.fullmatch(text)
        table, source = named.groups() if named else (FIRST_TABLE, text)
        if table == IMPORTED:
            raise click.UsageError(f"no table can be called {IMPORTED}: that is where imported matches are kept")
        if len(table) > TABLE_LETTERS:
            raise click.UsageError(
                f"no table can be called {table}: it has {len(table)} letters, and {TABLE_LETTERS} are the most"
            )
        tables.setdefault(table, []).append(source)
    if len(tables) > 1:
        _refuse_shared(tables)
    return tables


def _refuse_shared(tables: Mapping[str, Sequence[str]]) -> None:
    from companion.camera import LIVE_SOURCES  # noqa: PLC0415 (OpenCV is slow to import)

    seats: dict[str, str] = {}
    for table, texts in tables.items():
        for text in texts:
            first = seats.setdefault(text, table)
            if first != table and text.partition(":")[0] in (*LIVE_SOURCES, "tiles"):
                raise SourceError(f"{shown(text)} is given twice, to tables {first} and {table}; once is enough")


def equip(
    texts: Sequence[str],
    layout: Layout,
    closing: ExitStack,
    known: Foreknowledge = NOTHING_KNOWN,
    *,
    clock: Clock,
    patient: bool = False,
    elsewhere: Iterable[str] = (),
) -> Equipment:
    """Open all sources of one table; `closing` closes them.

    Several are read each on a thread of its own, and so is a real tile board alone: it may have to be looked for on one
    port after the other, and what people do on the page shall not wait for that.

    Args:
        clock: what live sources go by, in seconds.
        patient: a live source that is not there yet is lost until it comes.
        elsewhere: the sources of all other tables.

    Raises:
        UsageError: if a text names no source.
        SourceError: if one cannot be opened, or cannot be compared with the others.
        VisionError: if the corners that are `known` cannot be the corners of a board.
    """
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice:
        raise SourceError(f"{shown(twice)} is given twice; once is enough")
    everywhere = (*texts, *elsewhere)
    sources = [
        closing.enter_context(
            open_source(
                text,
                layout,
                known,
                patient=patient,
                clock=clock,
                others=[other for other in everywhere if other != text],
            )
        )
        for text in texts
    ]
    _tell_apart(sources)
    if len(sources) == 1 and not texts[0].startswith("tiles:"):
        return _equipment(sources, sources)
    recorded = next((source.name for source in sources if not source.live), None)
    if recorded:
        raise SourceError(f"{recorded} has a clock of its own, so no other source can look at the same table with it")
    return _equipment(sources, [closing.enter_context(Background(source)) for source in sources])


def _tell_apart(sources: Sequence[Source]) -> None:
    """Number those of one name: what their texts differ in is not shown."""
    names = [source.name for source in sources]
    for place, source in enumerate(sources):
        if before := names[:place].count(source.name):
            source.name = f"{source.name} ({before + 1})"


def _equipment(opened: Sequence[Source], read: Sequence[Source]) -> Equipment:
    if not any("tiles" in source.name for source in opened):
        return Equipment(tuple(read))
    from companion.lamp import TileLamp  # noqa: PLC0415 (a camera needs no serial port)
    from companion.tiles.link import TileBoard  # noqa: PLC0415

    boards = [source for source in opened if isinstance(source, TileBoard)]
    virtual = next((board.virtual for board in boards if board.virtual), None)
    return Equipment(tuple(read), tuple(map(TileLamp, boards)), virtual)
