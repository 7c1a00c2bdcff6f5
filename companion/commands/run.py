"""``companion run``: the referee with its page."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

from companion.commands.corners import corners_option
from companion.commands.equipment import by_table, equip
from companion.commands.eyes import Foreknowledge
from companion.commands.keeping import APP_NAME, data_option, open_log
from companion.commands.options import game_options, is_given, profile_option
from companion.commands.serving import Keys, port_option, serve, table_for
from companion.commands.sources import refuse_idle_corners, seconds_from_now
from companion.rules import Game

if TYPE_CHECKING:
    from companion.commands.corners import Corners
    from companion.profile import Profile
    from companion.rules import FirstMove, Layout, Variant

DEFAULT_SOURCE = "camera:0"


@click.command()
@click.option(
    "--source",
    "sources",
    multiple=True,
    default=(DEFAULT_SOURCE,),
    show_default=True,
    metavar="S",
    help="What looks at the board, such as camera:0, tiles:auto or video:game.mp4. Several look at the same board; "
    "2=camera:1 looks at that of table 2.",
)
@click.option("--lan", is_flag=True, help="Let others in this network look; the referee's hand asks them for the PIN.")
@port_option
@profile_option
@corners_option
@game_options
@data_option
def run(
    sources: tuple[str, ...],
    port: int,
    profile: Profile | None,
    corners: Corners | None,
    first: FirstMove,
    layout: Layout,
    sets: int | None,
    variant: Variant,
    data: str,
    *,
    lan: bool,
) -> None:
    """Referee a game, and show it on a page that everyone in the room can follow.

    An interrupted match goes on where it was. A camera or a tile board that is not there yet is waited for. Files are
    played in real time, and never resumed.
    """
    seats = by_table(sources)
    refuse_idle_corners(chain.from_iterable(seats.values()))
    game = Game.start(first, layout=layout, sets=sets)
    known = Foreknowledge(corners, profile, variant, sets, first)
    wanted = any(map(is_given, ("first", "layout", "sets", "variant")))
    with ExitStack() as open_until_done:
        log = open_until_done.enter_context(open_log(data))
        keys = Keys.kept(_folder(data))
        tables, tiles, clock = {}, {}, seconds_from_now()
        for table, texts in seats.items():
            equipment = equip(
                texts,
                layout,
                open_until_done,
                known,
                patient=True,
                clock=clock,
                elsewhere=chain.from_iterable(there for other, there in seats.items() if other != table),
            )
            if equipment.sources[0].live:
                open_until_done.enter_context(log.seat(table))
            tables[table] = table_for(equipment, game, log, table=table, variant=variant, wanted=wanted)
            if equipment.virtual is not None:
                tiles[table] = equipment.virtual
        if profile is not None and profile.name:
            click.echo(f"The set is {profile.name}.", err=True)
        serve(tables, keys, port=port, lan=lan, tiles=tiles)


def _folder(data: str) -> Path:
    """Where the keys are kept: with the matches, unless those are in a database elsewhere."""
    return Path(platformdirs.user_data_dir(APP_NAME, appauthor=False) if "://" in data else data)
