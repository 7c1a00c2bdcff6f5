"""A recorder for tables whose matches nobody keeps."""

from __future__ import annotations

from companion.store import Opening


class Ledger:
    """A recorder that keeps events in a list; a test can read it, and break it."""

    def __init__(self, opening: Opening | None = None) -> None:
        self.opening = opening or Opening()
        self.events: list = []
        self.trouble: Exception | None = None
        self.lost: Exception | None = None
        self.filed: tuple[int, str] | None = None

    def record(self, told, evidence=b""):
        self.events += told

    def flush(self):
        return True
