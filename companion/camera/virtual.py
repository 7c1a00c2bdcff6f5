"""``virtual:`` a camera over a table that is only drawn: the worked example of the rule book, or any match text.

A hand takes a piece from beside the board every three seconds; the worked example is over after 46 seconds.
In a match of the Green Box it puts down a cube, and lays a card.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from companion.camera.frames import Frame
from companion.camera.green_box import GreenBoxStudio
from companion.camera.play import Play
from companion.camera.studio import Studio
from companion.errors import EndOfSource, NotationError, SourceError
from companion.files import read_whole
from companion.rules import Game, MatchText
from companion.rules.matchtext import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from companion.camera.frames import Clock
    from companion.rules import Kind

    Image = NDArray[np.uint8]

WORKED_EXAMPLE = "a1+ a3>< a2+ a4<> b2>< c2+ c3<> c1x d2>< d3+ d4x - b4x - b3<> b1<>"
"""The game that the rule book plays; Light wins 4-1."""
FRAMES_PER_S = 12


class VirtualCamera:
    """A drawn game, 12 frames a second.

    Args:
        text: what stands after ``virtual:``: nothing for the worked example, or the path of a match text.
        clock: makes it live: it plays along with this clock from the first `read` on, leaves out what nobody asked for
            in time, and sees the last position for ever. Without one it is a file: every frame, as fast as it is asked
            for, the same every time, with an end.
        sleep: waits for so many seconds; needed with a clock.
        card_faces: what is printed on the cards of the Green Box, BGR; by default the plain symbols.
    """

    def __init__(
        self,
        text: str = "",
        clock: Clock | None = None,
        sleep: Callable[[float], object] | None = None,
        card_faces: Mapping[Kind, Image] | None = None,
    ) -> None:
        self.name = f"virtual:{text}"
        self.live = clock is not None
        match = _match(text)
        self.variant = match.variant
        """What is played: ``standard`` or ``green-box``."""
        cards = self.variant == "green-box"
        self.game = match.game
        """The game that is drawn, by its own rules."""
        self.play = Play(self.game, cards=cards)
        lying = self.play.at(0).lying
        self._studio = GreenBoxStudio(self.play.layout, lying, card_faces) if cards else Studio(self.play.layout, lying)
        self._clock, self._sleep = clock, sleep
        self._began: float | None = None
        self._next = 0
        self._last = math.ceil(self.play.duration_s * FRAMES_PER_S)

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """Where the outer corners of the board's top, at a1, d1, d4 and a4, are in its pictures."""
        return self._studio.corners

    def read(self, timeout_s: float) -> Frame | None:
        """The next frame; see `FrameSource.read`."""
        number = self._next
        if self._clock is not None:
            if not self._due(self._clock, timeout_s):
                return None
            number = self._number(self._clock())
        elif number > self._last:
            raise EndOfSource(f"{self.name} has ended")
        self._next = number + 1
        time = number / FRAMES_PER_S
        return Frame((self._began or 0.0) + time, self._studio.picture(self.play.at(time), number))

    def close(self) -> None:
        """Nothing to let go of."""

    def _due(self, clock: Clock, timeout_s: float) -> bool:
        """Wait for the next frame's time; whether it has come."""
        if self._began is None:
            self._began = clock()
        early_s = self._began + self._next / FRAMES_PER_S - clock()
        if early_s > 0 and self._sleep is not None:
            self._sleep(min(early_s, timeout_s))
        return early_s <= timeout_s

    def _number(self, now: float) -> int:
        assert self._began is not None
        return max(self._next, math.floor((now - self._began) * FRAMES_PER_S))


def _match(text: str) -> MatchText:
    if not text:
        return MatchText(Game.replay(WORKED_EXAMPLE.split()))
    path = Path(text)
    try:
        told = read_whole(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SourceError(f"cannot read the match {path}: {why}") from error
    if is_blank(told):
        raise SourceError(f"{path} is empty; a match that can be drawn has moves, or at least tags")
    try:
        return MatchText.read(told)
    except NotationError as error:
        raise SourceError(f"{path} is not a match that can be drawn: {error}") from error
