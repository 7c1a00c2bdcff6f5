"""The server: cheroot, in this process, with a thread for every viewer that follows a live stream.

Chosen by experiment; the figures and the reasons are in ``docs/server.md``.
"""

from __future__ import annotations

import errno
import logging
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

from cheroot.workers.threadpool import ThreadPool
from cheroot.wsgi import Server

from companion.errors import ServerError

if TYPE_CHECKING:
    from companion.web.companion import Companion

logger = logging.getLogger(__name__)

FEWEST_THREADS = 8
MOST_THREADS = 1200
"""One viewer takes one; who comes after that many has to wait."""
BACKLOG = 512
"""So many may knock at once, as they do when the program was restarted."""
CLOSE_S = 2.0


class GrowingPool(ThreadPool):
    """Threads for connections: a new one whenever none is idle, so that streams never hold up a request."""

    def grow(self, amount: int) -> None:
        """Add threads, without waiting until they run."""
        pool: Any = self  # cheroot's stubs leave out what a subclass needs
        budget = max(pool.max - len(pool._threads), 0)
        pool._threads.extend(pool._spawn_worker() for _ in range(min(amount, budget)))

    def put(self, obj: Any) -> None:
        """Hand a connection to a thread."""
        if self.idle <= self.qsize:
            self.grow(FEWEST_THREADS)
        super().put(obj)


class _Server(Server):
    """cheroot, with this program's log; it keeps why it could not listen, which cheroot tells as text only."""

    refusal: OSError | None = None

    def bind(self, *address: Any) -> Any:
        """Take an address."""
        try:
            return super().bind(*address)
        except OSError as error:
            self.refusal = error
            raise

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        """Log what went wrong; that a viewer has gone in the middle of a request is none of ours."""
        if isinstance(sys.exception(), OSError):
            logger.debug(msg)
        else:
            logger.log(level, msg, exc_info=traceback)


class Serving:
    """The app on one address, from `open` to `close`."""

    def __init__(self, app: Companion, host: str, port: int) -> None:
        self._app = app
        self._server: Any = _Server(
            (host, port), app, numthreads=FEWEST_THREADS, max=MOST_THREADS, request_queue_size=BACKLOG
        )
        self._server.requests = GrowingPool(self._server, min=FEWEST_THREADS, max=MOST_THREADS)
        self._server.shutdown_timeout = CLOSE_S
        self._thread = threading.Thread(target=self._server.serve, name=f"server-{port}", daemon=True)
        self.host = host
        self.port = port

    def open(self) -> Self:
        """Listen, and serve in a thread of its own.

        Raises:
            ServerError: if the address cannot be had.
        """
        try:
            self._server.prepare()
        except OSError as error:
            refusal = self._server.refusal or error
            in_use = refusal.errno == errno.EADDRINUSE
            why = "it is in use, perhaps by another companion" if in_use else refusal.strerror or refusal
            raise ServerError(f"port {self.port} cannot be had: {why}; choose another with --port") from error
        self.port = self._server.bind_addr[1]
        self._thread.start()
        return self

    def close(self) -> None:
        """End every live stream and stop listening, within a few seconds."""
        self._app.end_streams()
        self._server.stop()
        self._thread.join(CLOSE_S)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *exception: object) -> None:
        self.close()
