"""The app as every page and every answer knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from apiflask import APIFlask
from flask import abort, current_app
from flask.json.provider import DefaultJSONProvider

from companion.web.language import _

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

    from companion.table import Table
    from companion.web.gate import Gate
    from companion.web.live import Fragments
    from companion.web.tiles import LooseTiles


class _Json(DefaultJSONProvider):
    """JSON as Flask reads and writes it."""

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value that `s` spells; `ValueError` also for one that is nested too deeply to be read."""
        try:
            return super().loads(s, **kwargs)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error


class Companion(APIFlask):
    """The app that answers, and what it was made with: see `companion.web.app.create_app`."""

    json_provider_class = _Json
    tables: Mapping[str, Table]
    tiles: Mapping[str, LooseTiles]
    gate: Gate
    boot: str
    """By chance, anew at every start: whoever knows another one has to load the page again."""
    closing: threading.Event
    """Set when every live stream has to end."""
    fragments: Fragments

    def end_streams(self) -> None:
        """End every live stream, now."""
        self.closing.set()
        for table in self.tables.values():
            table.wake()

    def table(self, name: str) -> Table:
        """The table of that id; 404 if there is none."""
        found = self.tables.get(name)
        if found is None:
            abort(404, _("there is no table %(name)s here", name=name))
        return found


def this_app() -> Companion:
    """The app that the request in progress was sent to."""
    return cast("Companion", current_app._get_current_object())  # type: ignore[attr-defined]
