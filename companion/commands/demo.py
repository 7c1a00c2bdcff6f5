"""``companion demo``: the worked example of the rule book, played on the page without any hardware."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack

import click

from companion.commands._shared import open_log
from companion.commands.serving import Keys, port_option, serve, table_for
from companion.rules import Game
from companion.script import ScriptedSource, moves_by_hand

WORKED_EXAMPLE = "1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8. b3<> b1<>"


@click.command()
@port_option
@click.option("--data", metavar="DIR", help="Keep the match in this data folder. [default: not kept]")
def demo(port: int, data: str | None) -> None:
    """Play the worked example of the rule book, with its page; nothing but this program is needed."""
    game = Game.start()
    with ExitStack() as open_until_done:
        folder = data or open_until_done.enter_context(tempfile.TemporaryDirectory(prefix="companion-"))
        log = open_until_done.enter_context(open_log(folder))
        source = ScriptedSource("the worked example", moves_by_hand(WORKED_EXAMPLE, game.layout))
        serve({"1": table_for(source, game, log, table="1")}, Keys.new(), port=port)
