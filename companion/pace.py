"""A file played as fast as it was recorded: each reading is held back until its time has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.readings import BoardReading, Source
    from companion.rules import Layout


class Paced:
    """A file source, in real time; it drops nothing, so a machine that is too slow falls behind.

    Args:
        source: what is played. Its clock stays its own.
        clock: monotonic seconds.
        sleep: waits for so many seconds.
    """

    def __init__(self, source: Source, clock: Callable[[], float], sleep: Callable[[float], object]) -> None:
        self.name = source.name
        self.live = False
        self.settle_s = source.settle_s
        self.may_turn = source.may_turn
        self._source = source
        self._clock = clock
        self._sleep = sleep
        self._offset: float | None = None
        """What has to be added to the file's time to get the clock's."""
        self._next: BoardReading | None = None

    @property
    def trouble(self) -> str:
        """What the source has to say; see `companion.readings.Source`."""
        return self._source.trouble

    def read(self, timeout_s: float) -> BoardReading | None:
        """The next reading, when it is due; see `companion.readings.Source`."""
        if self._next is None:
            self._next = self._source.read(timeout_s)
        if self._next is None:
            return None
        now = self._clock()
        if self._offset is None:
            self._offset = now - self._next.time
        early_s = self._next.time + self._offset - now
        if early_s > 0:
            self._sleep(min(early_s, timeout_s))
        if early_s > timeout_s:
            return None
        reading, self._next = self._next, None
        return reading

    def lay_out(self, layout: Layout, sets: int) -> None:
        """See `companion.readings.Source`; a file keeps to the board that it shows."""
        self._source.lay_out(layout, sets)

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
