"""What stands at a table: its sources have names of their own, and none is there twice."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

import click
import pytest

from companion.commands.equipment import by_table, equip
from companion.errors import SourceError
from companion.referee import Referee
from companion.rules import Game, Layout
from companion.table import Table
from companion.tiles import link
from tests.ledger import Ledger

if TYPE_CHECKING:
    from typing import NoReturn

PATIENCE_S = 60.0
LAYOUT = Layout.parse("4x4")
HIDING = "http://127.0.0.1:1/user=ann_password=secret_channel={}"
"""Where a camera is not; only the channel tells one from the other, behind what is hidden."""


def names(*texts: str) -> list[str]:
    with contextlib.ExitStack() as closing:
        equipment = equip(texts, LAYOUT, closing, clock=lambda: 100.0, patient=True)
        return [source.name for source in equipment.sources]


def test_sources_that_differ_only_in_what_is_hidden_are_told_apart():
    shown = "http://127.0.0.1:1/user=***"
    assert names(*map(HIDING.format, "123")) == [shown, f"{shown} (2)", f"{shown} (3)"]


@pytest.mark.parametrize("text", [HIDING.format(1), "tiles:virtual:"])
def test_a_source_that_is_given_twice_is_refused_without_its_password(text):
    with pytest.raises(SourceError, match="is given twice; once is enough") as refused:
        names(text, "http://127.0.0.1:1/", text)
    assert "secret" not in str(refused.value)


def test_a_tile_board_that_is_looked_for_keeps_nobody_waiting(monkeypatch):
    enough = threading.Event()

    def look() -> NoReturn:
        enough.wait(PATIENCE_S)
        raise SourceError("no tile board found")

    monkeypatch.setattr(link, "PortFinder", lambda wanted, clock, others, recognises: look)
    with contextlib.ExitStack() as closing:
        [board] = equip(["tiles:auto"], LAYOUT, closing, clock=time.monotonic, patient=True).sources
        table = Table(board, Referee(Game.start()), Ledger(), clock=time.monotonic)
        with table.running():
            table.do(lambda referee, time: [])
            enough.set()


def test_a_pretended_tile_board_is_read_on_the_thread_of_its_table():
    with contextlib.ExitStack() as closing:
        equipment = equip(["virtual:tiles"], LAYOUT, closing, clock=time.monotonic)
        assert [type(source) for source in equipment.sources] == [link.TileBoard]


def test_every_tile_board_knows_the_ports_of_all_others(monkeypatch):
    told = {}
    monkeypatch.setattr(
        link, "PortFinder", lambda wanted, clock, others, recognises: told.update({wanted: list(others)})
    )
    with contextlib.ExitStack() as closing:
        texts, elsewhere = ["tiles:COM3", HIDING.format(1), "tiles:COM4"], ["virtual:tiles", "tiles:auto"]
        equip(texts, LAYOUT, closing, clock=lambda: 100.0, patient=True, elsewhere=iter(elsewhere))
    assert told == {"COM3": ["COM4", "auto"], "COM4": ["COM3", "auto"]}


@pytest.mark.parametrize("source", ["tiles:/dev/ttyUSB0", "tiles:auto", "camera:0", HIDING.format(1)])
def test_a_live_source_that_is_given_to_two_tables_is_refused_without_its_password(source):
    with pytest.raises(SourceError, match="is given twice, to tables 1 and hall; once is enough") as refused:
        by_table([source, "2=camera:7", f"hall={source}"])
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("source", ["video:game.mp4", "images:stills", "virtual:", "virtual:tiles", "no-source"])
def test_a_file_may_be_given_to_several_tables(source):
    assert by_table([source, f"2={source}"]) == {"1": [source], "2": [source]}


@pytest.mark.parametrize("letter", ["L", "é", "名"])
def test_a_table_whose_name_is_too_long_for_the_log_is_refused(letter):
    """It was played at, and on PostgreSQL never recorded."""
    assert by_table([f"{letter * 64}=virtual:tiles"]) == {letter * 64: ["virtual:tiles"]}
    with pytest.raises(click.UsageError, match=f"no table can be called {letter * 65}: it has 65 letters, and 64 are"):
        by_table([f"{letter * 65}=virtual:tiles"])
