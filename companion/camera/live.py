"""What a live source has in common, whatever delivers its pictures: a thread, the newest picture, and watchfulness.

Theory of operation. One named thread opens the device and takes picture after picture; only the newest is kept, so
whoever reads is never behind. A picture that is black, or exactly like the one before for a while, is not passed on:
every sensor has noise, so equal pictures mean that the device hangs. Whatever the reason, `read` says it when no good
picture has come for `LOST_S`, or for longer where one of the last came as slowly. The thread closes a device that fails
or freezes and tries to open it anew until it is told to stop.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from companion.camera.frames import Frame
from companion.errors import SourceError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from companion.camera.frames import Clock

    Image = NDArray[np.uint8]

logger = logging.getLogger(__name__)

LOST_S = 1.5
"""A source is lost when no good picture has come for so long."""
_MUCH_LATER = 3.0
"""Nor is one that is slower, before so many times as long as two of its last pictures were apart."""
_LAST_PICTURES = 10
"""So many tell the pace at which they come, which need not be even: some cameras send several at once."""
_FROZEN_S = 1.0
"""A picture that has not changed for so long is frozen; less than `LOST_S`, so that the reason is known by then."""
_REOPEN_FROZEN_S = 4.0
_RETRY_S = 0.5
_JOIN_S = 5.0
_BLACKEST = 8.0
"""No pixel of a black picture is much brighter than this, of 255."""


class Capture(Protocol):
    """A device that has been opened. It belongs to one thread."""

    def grab(self) -> Image | None:
        """The next picture, BGR, `(height, width, 3)`; waits for it, but not for long.

        None where it is not there yet, and is to be asked for again.

        Raises:
            SourceError: if there is none; then it is closed, and opened anew.
        """
        ...

    def close(self) -> None:
        """Let go of the device."""
        ...


class LiveFrames:
    """The newest picture of a device, and word of why there is none.

    Args:
        name: the text it was opened by, as it may be shown.
        open_capture: opens the device, or raises `SourceError` with the reason.
        clock: monotonic seconds.
        patient: a device that is not there yet is waited for, as one that was lost.

    Raises:
        SourceError: if the device cannot be opened now, unless `patient`.
    """

    live = True

    def __init__(self, name: str, open_capture: Callable[[], Capture], clock: Clock, *, patient: bool = False) -> None:
        self.name = name
        self._open = open_capture
        self._clock = clock
        self._newer = threading.Condition()
        self._newest: Frame | None = None
        self._last: Image | None = None
        """What was seen last, on any connection: what sends pictures may go on sending that one to new ones, too."""
        self._why = ""
        self._good = clock()
        self._lost_s = LOST_S
        self._stop = threading.Event()
        first = None if patient else open_capture()
        self._thread = threading.Thread(target=self._run, args=(first,), name=f"capture {name}", daemon=True)
        self._thread.start()

    def read(self, timeout_s: float) -> Frame | None:
        """The newest picture that was not read before; None when there is none within `timeout_s`.

        Raises:
            SourceError: while no good picture has come for `LOST_S`, or in a slow camera's own time, with the reason.
        """
        with self._newer:
            self._newer.wait_for(lambda: self._newest is not None, timeout_s)
            frame, self._newest = self._newest, None
            if frame is None and (self._clock() - self._good >= self._lost_s or not self._thread.is_alive()):
                why = self._why or Saying("it sends no pictures")
                raise SourceError(
                    why if why.startswith(self.name) else Saying("%(source)s: %(why)s", source=self.name, why=why)
                )
            return frame

    def close(self) -> None:
        """Stop the thread, which closes the device; waits no longer than a few seconds."""
        self._stop.set()
        self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            logger.warning("%s does not stop; it is left to itself", self._thread.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # The thread ---------------------------------------------------------------------------------------------------

    def _run(self, capture: Capture | None) -> None:
        try:
            while not self._stop.is_set():
                try:
                    capture = capture or self._open()
                    self._take_pictures(capture)
                except SourceError as error:
                    self._complain(error.saying)
                if capture is not None:
                    capture.close()
                    capture = None
                self._stop.wait(_RETRY_S)
        except Exception as fault:
            logger.exception("%s has died", self._thread.name)
            self._complain(Saying("reading it failed: %(why)s; start the program again", why=str(fault)))

    def _take_pictures(self, capture: Capture) -> None:
        """Until told to stop, or until the device hangs."""
        apart: deque[float] = deque(maxlen=_LAST_PICTURES)
        changed = self._clock()
        while not self._stop.is_set():
            image = capture.grab()
            if image is None:
                continue
            now = self._clock()
            equal = self._last is not None and np.array_equal(image, self._last)
            if not equal:
                apart.append(now - changed if self._last is not None else 0.0)
                self._last, changed = image, now
            if _is_black(image):
                self._complain(Saying("its picture is black: take off the lens cap, or make light"))
            elif not equal:
                self._pass_on(Frame(now, image), pace_s=max(apart))
            elif now - changed >= _FROZEN_S:
                self._complain(Saying("its picture is frozen: plug it out and in again, or restart what sends it"))
            if now - changed >= _REOPEN_FROZEN_S:
                return

    def _pass_on(self, frame: Frame, *, pace_s: float) -> None:
        """Give a picture away; on this connection another has come in so long at most of late."""
        with self._newer:
            self._newest, self._good, self._why = frame, frame.time, ""
            self._lost_s = max(LOST_S, _MUCH_LATER * pace_s)
            self._newer.notify_all()

    def _complain(self, why: str) -> None:
        with self._newer:
            if why != self._why:
                logger.warning("%s: %s", self.name, why)
            self._why = why


def _is_black(image: Image) -> bool:
    return float(image[::8, ::8].max(initial=0)) <= _BLACKEST
