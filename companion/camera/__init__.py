"""Pictures over time: a camera, a stream, a file, a drawn table; and a camera that reads the board in them.

A frame source is opened by a text, such as ``camera:0``, ``http://camera.local/stream``, ``video:game.mp4``,
``images:folder`` or ``virtual:``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from companion.address import shown
from companion.camera.devices import open_camera
from companion.camera.files import StillFolder, VideoFile, is_file
from companion.camera.frames import Frame, FrameSource
from companion.camera.mjpeg import open_stream
from companion.camera.pictures import read_picture
from companion.camera.virtual import VirtualCamera
from companion.errors import RulesError, SourceError, SourceSyntaxError, VisionError
from companion.saying import Saying
from companion.settling import SETTLE_S
from companion.vision.legible import BLURRED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from companion.camera.frames import Clock
    from companion.readings import BoardReading
    from companion.rules import Layout
    from companion.vision.video import VideoReader

__all__ = [
    "FILE_SOURCES",
    "LIVE_SOURCES",
    "Camera",
    "Frame",
    "FrameSource",
    "VirtualCamera",
    "is_file",
    "open_frames",
    "read_picture",
]

FILE_SOURCES: dict[str, Callable[[str], FrameSource]] = {
    "video": VideoFile,
    "images": StillFolder,
    "virtual": VirtualCamera,
}
"""How to open what has its own clock, by the word before the colon."""
LIVE_SOURCES: dict[str, Callable[[str, Clock, bool], FrameSource]] = {
    "camera": lambda rest, clock, patient: open_camera(rest, clock, patient=patient),
    "http": lambda rest, clock, patient: open_stream(f"http:{rest}", clock, patient=patient),
    "https": lambda rest, clock, patient: open_stream(f"https:{rest}", clock, patient=patient),
}
"""How to open what lives by the world's clock."""
_INSTEAD_OF_PHONE = "let an app on the phone make it a network camera (MJPEG), and give its address: http://…"


def open_frames(text: str, clock: Clock, *, patient: bool = False, others: Iterable[str] = ()) -> FrameSource:
    """Open a frame source by its text.

    Args:
        text: what people write, such as ``camera:0``.
        clock: monotonic seconds, for sources that live by the world's clock; a file has its own.
        patient: a live source that is not there yet is no error; it is lost until it comes.
        others: the words of sources without pictures that whoever asks knows too, for the message.

    Raises:
        SourceSyntaxError: if the text names no source.
        SourceError: if it is not there, or cannot be read.
    """
    scheme, colon, rest = text.partition(":")
    if colon and scheme in FILE_SOURCES:
        return FILE_SOURCES[scheme](rest)
    if colon and scheme in LIVE_SOURCES:
        return LIVE_SOURCES[scheme](rest, clock, patient)
    if scheme == "phone":
        raise SourceSyntaxError(f"{shown(text)!r} is not a source; {_INSTEAD_OF_PHONE}")
    known = ", ".join(f"{name}:…" for name in (*FILE_SOURCES, *LIVE_SOURCES, *others))
    hint = f"; did you mean video:{text}?" if is_file(Path(text)) else ""
    raise SourceSyntaxError(f"{shown(text)!r} is not a source; known are {known}{hint}")


_LOST_S = 5.0
"""A board that was seen is told as not found when it has not been seen for so long."""


class Camera:
    """A frame source and the reader of its pictures, as a source of board readings."""

    settle_s = SETTLE_S
    may_turn = True

    def __init__(
        self, frames: FrameSource, reader: VideoReader, *, reader_for: Callable[[Layout], VideoReader] | None = None
    ) -> None:
        """`reader_for` makes the reader of another board; without it the camera keeps to the one it has."""
        self.name = frames.name
        self.live = frames.live
        self.reader = reader
        self._reader_for = reader_for
        self._frames = frames

    @property
    def trouble(self) -> str:
        """Why the board is not seen, while it is not, if that is more than a hand in passing."""
        why = self.reader.why_not
        if not why or self.reader.unseen_s < _LOST_S:
            return ""
        if why == BLURRED:
            return why
        if "corners" in why or self.reader.pose is not None:
            return Saying("the board is not found: %(why)s", why=why)
        return Saying("the board is not found: %(why)s; give its corners", why=why)

    def read(self, timeout_s: float) -> BoardReading | None:
        """The reading of the next frame; see `companion.readings.Source`.

        A live camera is lost while its pictures cannot be worked with, such as those of a telephone that was turned.
        """
        frame = self._frames.read(timeout_s)
        if frame is None:
            return None
        try:
            return self.reader.read(frame.time, frame.image)
        except VisionError as error:
            if not self.live:
                raise
            raise SourceError(Saying("%(source)s: %(why)s", source=self.name, why=error.saying)) from error

    def lay_out(self, layout: Layout, sets: int) -> None:
        """Look for another board; see `companion.readings.Source`."""
        if layout == self.reader.layout:
            self.reader.expect(sets)
            return
        if not self.live or self._reader_for is None:
            raise RulesError(
                Saying(
                    "%(source)s shows a board of %(seen)s; for %(layout)s, watch a camera or a tile board",
                    source=self.name,
                    seen=str(self.reader.layout),
                    layout=str(layout),
                )
            )
        self.reader = self._reader_for(layout)
        self.reader.expect(sets)

    def close(self) -> None:
        """Close the frame source."""
        self._frames.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
