"""A live source on a thread of its own, so that it never holds up another one of the same table, nor the table.

A tile board that is being looked for, or a camera that is slow to open, keeps whoever reads it waiting. Here only the
source's own thread waits. Of what it reads only a little is kept, so a table that is behind makes it wait, not grow.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Self

from companion.errors import EndOfSource, RulesError, SourceError
from companion.readings import LOST_S, READ_S
from companion.saying import Saying

if TYPE_CHECKING:
    from companion.readings import BoardReading, Source
    from companion.rules import Layout

logger = logging.getLogger(__name__)

JOIN_S = 10.0
"""How long closing waits for the source's thread."""
LAY_OUT_S = 4.0
"""A source that has not heard by then that it shall look at another board is not waited for: whoever asked the table
for that gives up after five seconds."""
_KEPT = 2


class Background:
    """A source that is read ahead; see `companion.readings.Source`. Its thread begins with the first `read`."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.live = source.live
        self.settle_s = source.settle_s
        self.may_turn = source.may_turn
        self._source = source
        self._ready: queue.Queue[BoardReading | Exception] = queue.Queue(_KEPT)
        self._wishes: queue.SimpleQueue[tuple[Layout, int, Future[None]]] = queue.SimpleQueue()
        """The layouts that it shall look at, for its thread to do."""
        self._unheard: Exception | None = None
        """What became of the source while another layout was asked for, if that was the last thing it told."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def trouble(self) -> str:
        """What the source has to say; see `companion.readings.Source`."""
        return self._source.trouble

    def read(self, timeout_s: float) -> BoardReading | None:
        """The next reading that has come; see `companion.readings.Source`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"source-{self.name}", daemon=True)
            self._thread.start()
        if self._unheard is not None:
            unheard, self._unheard = self._unheard, None
            raise unheard
        try:
            ready = self._ready.get(timeout=timeout_s) if timeout_s > 0 else self._ready.get_nowait()
        except queue.Empty:
            return None
        if isinstance(ready, Exception):
            raise ready
        return ready

    def lay_out(self, layout: Layout, sets: int) -> None:
        """Look at another board; see `companion.readings.Source`. What was read ahead of the old one is dropped.

        Raises:
            RulesError: also if the source hangs, or has ended; then it goes on with the old board. A change that is
                under way already is waited for.
        """
        if self._thread is None:
            self._source.lay_out(layout, sets)
            return
        done: Future[None] = Future()
        self._wishes.put((layout, sets, done))
        for _ in range(round(LAY_OUT_S / READ_S)):
            if done.done() or not self._thread.is_alive():
                break
            self._drop_ready()  # or else the thread might wait for room
            wait([done], READ_S)
        if done.cancel():
            raise RulesError(self._why_not())
        done.result()
        self._drop_ready()

    def _why_not(self) -> Saying:
        """Why it looks at no other board."""
        if self._thread is not None and self._thread.is_alive():
            return Saying("%(source)s does not answer; begin again when it does", source=self.name)
        return Saying("%(source)s has ended", source=self.name)

    def close(self) -> None:
        """Stop the thread and close the source; whoever closes it again does not wait again for one that hangs."""
        join_s = 0.0 if self._stop.is_set() else JOIN_S
        self._stop.set()
        if self._thread is not None:
            self._thread.join(join_s)
            if self._thread.is_alive():
                logger.error("the source %s hangs", self.name)
                return
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._grant_wishes()
                reading = self._source.read(READ_S)
            except EndOfSource as error:
                self._give(error)
                return
            except SourceError as error:
                self._give(error)
                self._stop.wait(LOST_S)
            except Exception as error:  # noqa: BLE001 (whoever reads has to know of every death)
                self._give(error)
                return
            else:
                if reading is not None:
                    self._give(reading)

    def _grant_wishes(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                layout, sets, done = self._wishes.get_nowait()
                if not done.set_running_or_notify_cancel():
                    continue
                try:
                    self._source.lay_out(layout, sets)
                except RulesError as refusal:
                    done.set_exception(refusal)
                except Exception:
                    done.set_exception(RulesError(Saying("%(source)s has ended", source=self.name)))
                    raise
                else:
                    done.set_result(None)

    def _drop_ready(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                ready = self._ready.get_nowait()
                self._unheard = ready if isinstance(ready, Exception) else None

    def _give(self, item: BoardReading | Exception) -> None:
        """Keep it until it is read; wait for room."""
        while not self._stop.is_set():
            with contextlib.suppress(queue.Full):
                self._ready.put(item, timeout=READ_S)
                return
