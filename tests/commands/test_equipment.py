"""What stands at a table: its sources have names of their own, and none is there twice."""

from __future__ import annotations

import contextlib

import pytest

from companion.commands.equipment import equip
from companion.errors import SourceError
from companion.rules import Layout

LAYOUT = Layout.parse("4x4")
HIDING = "http://127.0.0.1:1/user=ann_password=secret_channel={}"
"""Where a camera is not; only the channel tells one from the other, behind what is hidden."""


def names(*texts: str) -> list[str]:
    with contextlib.ExitStack() as closing:
        equipment = equip(texts, LAYOUT, None, closing, clock=lambda: 100.0, patient=True)
        return [source.name for source in equipment.sources]


def test_sources_that_differ_only_in_what_is_hidden_are_told_apart():
    shown = "http://127.0.0.1:1/user=***"
    assert names(*map(HIDING.format, "123")) == [shown, f"{shown} (2)", f"{shown} (3)"]


@pytest.mark.parametrize("text", [HIDING.format(1), "tiles:virtual:"])
def test_a_source_that_is_given_twice_is_refused_without_its_password(text):
    with pytest.raises(SourceError, match="is given twice; once is enough") as refused:
        names(text, "http://127.0.0.1:1/", text)
    assert "secret" not in str(refused.value)
