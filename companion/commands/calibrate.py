"""``companion calibrate``: the commands of the workshop."""

from __future__ import annotations

import click

from companion.commands.group import Lazy, LazyGroup

COMMANDS = {
    "enrol": Lazy("companion.commands.enrol:enrol", "Learn the pieces of any set from two pictures."),
    "lens": Lazy(
        "companion.commands.lens:lens", "Measure how a wide lens bends lines, from pictures of the lens target."
    ),
    "check": Lazy("companion.commands.check:check", "Go or no-go before a game, and what to improve."),
    "tiles": Lazy("companion.commands.tiles:tiles", "Fit the accept windows of a tile board to its pieces."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def calibrate() -> None:
    """What is done once, before the first game."""
