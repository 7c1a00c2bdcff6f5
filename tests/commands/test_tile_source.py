"""Tile boards are sources of the command line."""

import time

import click
import pytest

from companion.commands.sources import open_source
from companion.errors import SourceError
from companion.rules import Layout
from companion.tiles.link import TileBoard

LAYOUT = Layout.parse("4x4")


def test_a_tile_board_is_opened_by_its_text():
    with open_source("virtual:tiles", LAYOUT) as source:
        assert isinstance(source, TileBoard)
        assert source.read(1.0).evidence == b"." * 16


def test_a_live_source_goes_by_the_clock_it_is_given():
    with open_source("virtual:tiles", LAYOUT, clock=lambda: time.monotonic() + 1e6) as source:
        assert source.read(1.0).time > 1e6


@pytest.mark.parametrize(
    ("text", "why"),
    [("tiles", "names no port"), ("tiles:", "names no port")],
)
def test_a_tile_board_without_a_port_is_wrong_usage(text, why):
    with pytest.raises(click.UsageError, match=why):
        open_source(text, LAYOUT)


def test_what_is_no_source_is_told_that_there_are_tile_boards_too():
    with pytest.raises(click.UsageError, match=r"'tape:1' is not a source; known are video:…, .*, tiles:…$"):
        open_source("tape:1", LAYOUT)


def test_a_tile_board_that_is_not_there_is_one_clear_line_or_waited_for():
    with pytest.raises(SourceError, match="no such port"):
        open_source("tiles:/dev/no-such-port", LAYOUT)
    with open_source("tiles:/dev/no-such-port", LAYOUT, patient=True) as source:
        assert source.trouble == ""
