"""``companion demo``: the worked example of the rule book, drawn, watched and refereed without any hardware."""

from __future__ import annotations

from contextlib import ExitStack

import click

from companion.commands.equipment import Equipment
from companion.commands.keeping import kept_option, open_log
from companion.commands.serving import Keys, port_option, serve, table_for
from companion.commands.sources import open_source
from companion.rules import Game


@click.command()
@port_option
@kept_option
def demo(port: int, data: str | None) -> None:
    """Play the worked example of the rule book, with its page; nothing but this program is needed.

    The game is drawn as a camera would see it, hands and all, and goes the whole way of a real one.
    """
    game = Game.start()
    with ExitStack() as open_until_done:
        log = open_until_done.enter_context(open_log(data))
        source = open_until_done.enter_context(open_source("virtual:", game.layout))
        serve({"1": table_for(Equipment((source,)), game, log, table="1")}, Keys.new(), port=port)
