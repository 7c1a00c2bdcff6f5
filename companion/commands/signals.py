"""Ctrl-C, and whoever else ends the program politely: it is noted, and heeded where nothing is left half done.

Waiting is done without a lock, and in naps. A signal that came while the main thread held the lock of what it waits
with would make it wait for itself for ever; one that comes just before it falls asleep, or to another thread, does not
wake it: Python heeds that when it wakes by itself.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

NAP_S = 0.2
"""After so long at most, a signal is heeded."""


def told_to_stop(running: ExitStack) -> Callable[[], bool]:
    """Whether the program has been told to stop; signals are as they were when `running` has ended."""
    told: list[int] = []

    def on_signal(number: int, frame: Any) -> None:  # noqa: ARG001
        told.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        running.callback(signal.signal, number, signal.signal(number, on_signal))
    return lambda: bool(told)


def wait_until(told: Callable[[], bool]) -> None:
    """Nap until it is so."""
    while not told():
        time.sleep(NAP_S)
