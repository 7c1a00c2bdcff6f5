"""The live stream: every viewer is sent the table as it is now, again whenever it changes, and a beat in between.

Server-sent events. An unnamed message is the whole live part of the page, ready to be put in place; ``picture`` names
the newest picture; ``beat`` comes every `BEAT_S` seconds, so that a page that hears nothing knows that it is cut off.
What is sent is rendered once for all who look at it in the same way.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from companion.rules import Colour
    from companion.table import Table, TableView

BEAT_S = 4.0
"""A page counts itself cut off after three beats that did not come."""
_MOST_KEPT = 64


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody looks at a table."""

    side: Colour
    language: str
    referee: bool


class Fragments:
    """Renders each view once for every look, for however many viewers."""

    def __init__(self, render: Callable[[TableView, Look], str]) -> None:
        self._render = render
        self._kept: dict[tuple[str, Look], tuple[TableView, bytes]] = {}
        self._lock = threading.Lock()

    def message(self, view: TableView, look: Look) -> bytes:
        """The message that shows `view`."""
        key = (view.table, look)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] is not view:
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                kept = self._kept[key] = (view, _message(self._render(view, look)))
            return kept[1]


def stream(table: Table, show: Callable[[TableView], bytes], closing: threading.Event) -> Iterator[bytes]:
    """What one viewer is sent, until he goes or the server closes."""
    shown: TableView | None = None
    while not closing.is_set():
        view = table.view if shown is None else table.wait_newer(shown.revision, BEAT_S)
        if view is shown:
            yield _named("beat", str(view.revision))
        elif view.picture and shown and shown.picture and _without_picture(view) == _without_picture(shown):
            yield _named("picture", str(view.picture.number))
        else:
            yield show(view)
        shown = view


def _without_picture(view: TableView) -> TableView:
    return replace(view, picture=None, revision=0)


def _message(html: str) -> bytes:
    lines = (line.strip() for line in html.splitlines())
    return "".join(f"data: {line}\n" for line in lines if line).encode() + b"\n"


def _named(event: str, data: str) -> bytes:
    return f"event: {event}\ndata: {data}\n\n".encode()
