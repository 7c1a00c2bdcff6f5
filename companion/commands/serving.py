"""What `run` and `demo` have in common: tables that play in real time, and the page that shows them until Ctrl-C."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import secrets
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.commands.options import WholeNumber
from companion.commands.output import harmless
from companion.commands.signals import told_to_stop, wait_until
from companion.errors import StoreError, TableError
from companion.files import write_whole
from companion.pace import Paced
from companion.readings import LETTERS
from companion.referee import Referee
from companion.store import Opening, Recorder
from companion.table import Table
from companion.web import Gate, create_app
from companion.web.gate import new_pin
from companion.web.serve import Serving

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from companion.commands.equipment import Equipment
    from companion.rules import Game, Variant
    from companion.store import Match, MatchLog
    from companion.table import TableView
    from companion.tiles.virtual import VirtualBoard

KEYS_FILE = "keys.json"
PORT = 8000
_ANYWHERE = "0.0.0.0"  # noqa: S104 (only with --lan, and then the PIN guards it)
_HERE = "127.0.0.1"
_NOBODY = ("192.0.2.1", 9)
"""An address that no machine has (RFC 5737): asking for the way there sends nothing."""
_ROUTES = Path("/proc/net/fib_trie")
"""Where Linux tells all its routes, those to its own addresses too; elsewhere only the likeliest address is known."""
_OWN_ROUTE = re.compile(r"\|-- ([\d.]+)\n +/32 host LOCAL")

port_option = click.option(
    "--port", type=WholeNumber(0, 65535), default=PORT, show_default=True, help="Where the page is; 0 for any free."
)
"""The option --port, given to the command as `port`."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What lets people in: made at the first start, and kept, so that a restart throws nobody out."""

    secret_key: str
    """Signs the sessions."""
    pin: str

    @classmethod
    def kept(cls, folder: Path) -> Keys:
        """Those in `folder`, or new ones that are written there; `StoreError` if that cannot be done."""
        file = folder / KEYS_FILE
        try:
            if file.exists() and file.stat().st_size:  # an empty one is of a first start that was broken off
                told = json.loads(file.read_text(encoding="utf-8"))
                return cls(str(told["secret_key"]), str(told["pin"]))
            folder.mkdir(parents=True, exist_ok=True)
            keys = cls.new()
            file.touch(mode=0o600)
            file.chmod(0o600)  # nobody else's, before anything is in it
            write_whole(file, json.dumps({"secret_key": keys.secret_key, "pin": keys.pin}))
        except OSError as error:
            raise StoreError(
                f"{file} cannot be read or written: {error.strerror}; check who owns {folder}, or choose another data "
                "folder"
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(f"{file} is damaged; delete it, and a new PIN is made") from error
        return keys

    @classmethod
    def new(cls) -> Keys:
        """By chance."""
        return cls(secrets.token_hex(32), new_pin())


def table_for(
    equipment: Equipment,
    game: Game,
    log: MatchLog,
    *,
    table: str,
    variant: Variant = "standard",
    wanted: bool = False,
) -> Table:
    """A table with this equipment: live sources go on with the table's last match, a file starts its own.

    A match that was interrupted goes on on its own board. One that has ended is shown as long as its pieces lie there.

    Args:
        wanted: somebody asked for `game` or `variant`; then a match of another kind in which nothing was played gives
            way.

    Raises:
        UsageError: if the match that was interrupted is of another variant than the equipment was opened for.
    """
    source, *others = equipment.sources
    opening = Opening.of(game, live=source.live, table=table, variant=variant)
    last = _last_match(log, table) if source.live else None
    if last is None or (wanted and _gives_way(last, log, game, variant)):
        referee, recorder = _begun(game, log, opening)
    elif last.finished:
        referee, recorder = _recalled(last, game, log, opening)
    else:
        referee, recorder = _resumed(last, game, log, opening)
        for each in equipment.sources:
            each.lay_out(referee.game.layout, referee.game.sets)
        if equipment.virtual is not None:  # its pieces are gone, which stay on any other
            equipment.virtual.rebuild("".join(LETTERS[content] for content in referee.game.contents))
    paced = source if source.live else Paced(source, time.monotonic, time.sleep)
    return Table(paced, referee, recorder, clock=time.monotonic, others=others, lamps=equipment.lamps)


def _last_match(log: MatchLog, table: str) -> Match | None:
    """The match that people began last at a table; None, and people are told, if it is not as it was written."""
    try:
        last = log.latest(table)
        if last is not None:
            log.vouch(last.id)
    except StoreError as damage:
        click.echo(harmless(f"table {table} begins another match: {damage}"), err=True)
        return None
    return last


def _gives_way(last: Match, log: MatchLog, game: Game, variant: Variant) -> bool:
    """Whether a match is where it began, with no piece on the board and no result, and began otherwise than `game`."""
    began = last.opening.start()
    nothing_played = not last.finished and not last.plies and log.game(last.id) == began
    return nothing_played and (began, last.opening.variant) != (game, variant)


def _begun(game: Game, log: MatchLog, opening: Opening) -> tuple[Referee, Recorder]:
    """A match of its own."""
    return Referee(game, table=opening.table, variant=opening.variant), Recorder(log, opening)


def _resumed(last: Match, game: Game, log: MatchLog, opening: Opening) -> tuple[Referee, Recorder]:
    """The match that was interrupted; people are told if it is played otherwise than `game` would be.

    Raises:
        UsageError: if it is of another variant.
    """
    table, variant = opening.table, last.opening.variant
    if variant != opening.variant:
        raise click.UsageError(
            f"the match that was interrupted at table {table} is {variant}: start with --variant {variant} to go on "
            "with it, or to end it on the page"
        )
    played = log.game(last.id)
    if (played.layout, played.first, played.sets) != (game.layout, game.first, game.sets):
        click.echo(
            f"table {table}: the match that was interrupted goes on, on its own board (layout {played.layout}, first "
            f"{played.first}, sets {played.sets}); to play otherwise begin a new match on the page",
            err=True,
        )
    referee = Referee(played, table=table, variant=variant)
    referee.paused = log.paused(last.id)
    referee.take_up(log.undone(last.id), log.pieces_told(last.id))
    return referee, Recorder(log, last.opening, resume=last)


def _recalled(last: Match, game: Game, log: MatchLog, opening: Opening) -> tuple[Referee, Recorder]:
    """The match that has ended, and after it `game` for the same players.

    It is `game` alone if that is on another board, with other sets, or of another variant: the sources look for that.
    """
    ended = log.game(last.id)
    if (ended.layout, ended.sets, last.opening.variant) != (game.layout, game.sets, opening.variant):
        return _begun(game, log, opening)
    referee = Referee(game, table=opening.table, variant=opening.variant)
    referee.paused = log.paused(last.id)
    referee.recall(ended, log.resigned(last.id))
    after_it = replace(opening, light=last.opening.light, dark=last.opening.dark)
    return referee, Recorder(log, after_it, resume=last)


def serve(
    tables: Mapping[str, Table],
    keys: Keys,
    *,
    port: int,
    lan: bool = False,
    tiles: Mapping[str, VirtualBoard] | None = None,
) -> None:
    """Run the tables and their page until the program is told to stop.

    A table that stops before is told on the page, which stays.

    Raises:
        TableError: after the end, if a table had stopped before it, or its recording had broken off.
    """
    addresses = own_addresses() if lan else ()
    gate = Gate(clock=time.monotonic, pin=keys.pin if lan else None, hosts=frozenset(addresses))
    app = create_app(tables, gate, secret_key=keys.secret_key, tiles=tiles)
    with ExitStack() as running:
        running.callback(_leave_hanging, tables.values())
        stopped = told_to_stop(running)
        # the port first: where another companion has it, that one's match is not touched
        serving = running.enter_context(Serving(app, _ANYWHERE if lan else _HERE, port))
        for table in tables.values():
            running.enter_context(table.running())
        _tell_where(serving.port, keys.pin, addresses)
        wait_until(stopped)
    failed = "; ".join(filter(None, (_failure(table.view) for table in tables.values())))
    if failed:
        raise TableError(failed)


def _failure(view: TableView) -> str:
    """Why a table could not do what it was started for; empty if it could. A live source that is lost may come back."""
    if view.broken:
        return f"table {view.table} has stopped: {view.broken}"
    return f"table {view.table}: {view.lost}" if view.lost and view.recorded else ""


def _leave_hanging(tables: Iterable[Table]) -> None:
    """End without more ado if a table's thread is still in a driver or OpenCV: they crash when Python is torn down."""
    if any(table.alive for table in tables):
        atexit.register(os._exit, 1)


def _tell_where(port: int, pin: str, addresses: Sequence[str]) -> None:
    click.echo(f"The page is at http://{_HERE}:{port}/  (Ctrl-C stops it)", err=True)
    if addresses:
        where = "  ".join(f"http://{address}:{port}/" for address in addresses)
        click.echo(f"In this network: {where}", err=True)
        click.echo(f"The PIN of the referee's hand is {pin}", err=True)


def own_addresses(routes: Path = _ROUTES) -> tuple[str, ...]:
    """By what this machine can be called in its network: its addresses, the likeliest first, and its names."""
    addresses: list[str] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(_NOBODY)
        addresses.append(way.getsockname()[0])
    with contextlib.suppress(OSError):
        addresses += _OWN_ROUTE.findall(routes.read_text(encoding="ascii"))
    outward = [address for address in addresses if not address.startswith("127.")]
    name = socket.gethostname().lower()
    return tuple(dict.fromkeys([*outward, name, f"{name.removesuffix('.local')}.local"]))
