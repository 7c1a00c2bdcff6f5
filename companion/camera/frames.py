"""What every source of pictures gives, and how it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Clock = Callable[[], float]
"""Monotonic seconds."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture and when it was taken."""

    time: float
    """Seconds of the source's own clock."""
    image: NDArray[np.uint8]
    """BGR, `(height, width, 3)`, upright. Whoever reads it does not write to it."""


class FrameSource(Protocol):
    """Where frames come from; the contract is that of `companion.readings.Source`, with frames for readings."""

    name: str
    """The text it was opened by, as `companion.address.shown` tells it."""
    live: bool
    """Whether its clock is the world's."""

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame; None when there is none within `timeout_s`.

        Raises:
            EndOfSource: after the last frame of a file.
            SourceError: if the device is lost; reading again tries to get it back.
        """
        ...

    def close(self) -> None:
        """Let go of the device or file; harmless when done twice."""
        ...
