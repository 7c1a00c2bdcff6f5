"""Tile boards are sources of the command line."""

import pytest

from companion.commands.sight import open_source
from companion.errors import SourceError
from companion.rules import Layout
from companion.tiles.link import TileBoard

LAYOUT = Layout.parse("4x4")


def test_a_tile_board_is_opened_by_its_text():
    with open_source("virtual:tiles", LAYOUT, None) as source:
        assert isinstance(source, TileBoard)
        assert source.read(1.0).evidence == b"." * 16


@pytest.mark.parametrize(
    ("text", "why"),
    [("tiles", "names no port"), ("tiles:", "names no port"), ("tiles:/dev/no-such-port", "no such port")],
)
def test_a_tile_board_that_is_not_there_is_one_clear_line(text, why):
    with pytest.raises(SourceError, match=why):
        open_source(text, LAYOUT, None)
