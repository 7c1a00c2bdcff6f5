"""A picture in, a reading of the board out: locate, rectify, see what moves, recognise.

The parts that look at pixels come in through the constructor, so that each can be replaced: a `Locator` finds the
board, a `Recogniser` says what each patch may show. What is done here is what needs time: a square in which something
moves is hidden, and a board on which nothing has changed since it was last recognised is not recognised again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import cv2
import numpy as np

from companion.readings import ANYTHING, BoardReading
from companion.vision.board import BoardNotFound, BoardPose
from companion.vision.rectify import MARGIN, SQUARE, patches, rectify

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.readings import Contents
    from companion.rules import Layout

    Image = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

COVERED = -1
"""The column of a recogniser's probabilities that says that a hand or another thing covers the square."""
_MOVING_SHARE = 0.04
"""A square is moving when this share of it has changed since the last frame."""
_CHANGED_SHARE = 0.01
"""A square has changed when this share of it is not as it was when it was last recognised."""
_NOISE_FACTOR = 6.0
_LEAST_CHANGE = 10.0
"""Grey levels that a pixel has to change by, at least, to count as changed."""
_REFRESH_S = 1.0
_SEARCH_S = 0.5
_MOSTLY = 0.5
_STILL_TURNS = 8
"""There is time to look at a photograph from all sides."""


class Recogniser(Protocol):
    """What says what patches show; see `companion.vision.pieces` for the one that ships."""

    def recognise(self, patches: Image, *, turns: int = 1) -> Floats:
        """Probabilities `(n, 10)`: `ALL_CONTENTS`, then covered; for patches `(n, PATCH, PATCH, 3)` of one board.

        `turns` is from how many sides, at most eight, each patch is looked at.
        """
        ...

    def contents(self, probabilities: Floats) -> tuple[Contents, ...]:
        """For each patch the contents that cannot be ruled out."""
        ...


class Locator(Protocol):
    """What finds the board in a picture; see `companion.vision.board.locate`."""

    def __call__(self, image: Image, layout: Layout, /) -> BoardPose | BoardNotFound:
        """Where the board is, or why it is not found."""
        ...


@dataclass(frozen=True, slots=True)
class StillReading:
    """What one photograph shows."""

    pose: BoardPose
    squares: tuple[Contents, ...]
    """In the order of `Layout.squares`."""
    hidden: int
    """Covered squares, as bits of the layout; they may hold anything."""


@dataclass(frozen=True, slots=True)
class BoardReader:
    """Reads single photographs of one kind of board."""

    layout: Layout
    recogniser: Recogniser
    locate: Locator

    def read(self, image: Image) -> StillReading | BoardNotFound:
        """Find the board in `image` (BGR, `(height, width, 3)`) and read its squares."""
        pose = self.locate(image, self.layout)
        if isinstance(pose, BoardNotFound):
            return pose
        squares, hidden = self.squares(rectify(image, pose.points(), self.layout), turns=_STILL_TURNS)
        return StillReading(pose, squares, hidden)

    def squares(self, top_view: Image, *, turns: int = 1) -> tuple[tuple[Contents, ...], int]:
        """What each square may hold, and the mask of the covered ones."""
        probabilities = self.recogniser.recognise(patches(top_view, self.layout), turns=turns)
        covered = probabilities[:, COVERED] > _MOSTLY
        contents = self.recogniser.contents(probabilities)
        hidden = sum(1 << i for i, is_covered in enumerate(covered) if is_covered)
        return tuple(ANYTHING if hidden >> i & 1 else seen for i, seen in enumerate(contents)), hidden


class VideoReader:
    """Reads the frames of one camera, in order."""

    def __init__(self, reader: BoardReader) -> None:
        self.layout = reader.layout
        self.pose: BoardPose | None = None
        self.why_not = ""
        """Why the board is not found, while it is not."""
        self._reader = reader
        self._motion = _Motion(reader.layout)
        self._searched = float("-inf")
        self._recognised = float("-inf")
        self._seen: tuple[tuple[Contents, ...], int] = ((), 0)
        self._evidence = b""

    def read(self, time: float, image: Image) -> BoardReading:
        """Read one frame, taken at `time` (source seconds); BGR, `(height, width, 3)`.

        While the board is not found, everything is hidden.
        """
        pose = self._located(time, image)
        if pose is None:
            everything = self.layout.all
            return BoardReading(time, (ANYTHING,) * len(self.layout), hidden=everything)
        top_view = rectify(image, pose.points(), self.layout)
        moving, changed = self._motion.see(top_view)
        if changed or time - self._recognised >= _REFRESH_S:
            self._seen = self._reader.squares(top_view)
            self._evidence = _jpeg(top_view)
            self._motion.keep()
            self._recognised = time
        squares, covered = self._seen
        hidden = moving | covered
        return BoardReading(
            time,
            tuple(ANYTHING if hidden >> i & 1 else contents for i, contents in enumerate(squares)),
            hidden=hidden,
            evidence=self._evidence,
        )

    def _located(self, time: float, image: Image) -> BoardPose | None:
        if self.pose is None and time - self._searched >= _SEARCH_S:
            self._searched = time
            found = self._reader.locate(image, self.layout)
            if isinstance(found, BoardNotFound):
                self.why_not = found.why
            else:
                self.pose = found
        return self.pose


class _Motion:
    """What moves on the board, and what is not as it was when it was last recognised."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._last: NDArray[np.int16] | None = None
        self._kept: NDArray[np.int16] | None = None

    def see(self, top_view: Image) -> tuple[int, int]:
        """The masks of the squares that move, and of those that have changed since `keep`."""
        grey = cv2.GaussianBlur(cv2.cvtColor(top_view, cv2.COLOR_BGR2GRAY), (0, 0), 1.5).astype(np.int16)
        moving = self._differing(grey, self._last, _MOVING_SHARE) if self._last is not None else 0
        changed = self._differing(grey, self._kept, _CHANGED_SHARE) if self._kept is not None else self._layout.all
        self._last = grey
        return moving, changed

    def keep(self) -> None:
        """Take what was seen last for what is known."""
        self._kept = self._last

    def _differing(self, grey: NDArray[np.int16], before: NDArray[np.int16] | None, share: float) -> int:
        if before is None:
            return self._layout.all
        difference = grey - before
        difference -= np.int16(np.median(difference[::4, ::4]))  # a lamp or a cloud changes all of it alike
        size = np.abs(difference)
        noise = float(np.median(size[::4, ::4])) * 1.5
        changed = size > max(_LEAST_CHANGE, _NOISE_FACTOR * noise)
        mask = 0
        for i, square in enumerate(self._layout.squares):
            x = MARGIN + square.column * SQUARE
            y = MARGIN + (self._layout.rows - 1 - square.row) * SQUARE
            if changed[y : y + SQUARE, x : x + SQUARE].mean() > share:
                mask |= 1 << i
        return mask


def _jpeg(image: Image) -> bytes:
    done, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return encoded.tobytes() if done else b""
