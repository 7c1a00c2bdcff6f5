"""Pictures from files: a video, or a folder of stills.

They take their clock from the file, drop nothing and are as fast as they are read.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.camera.frames import Frame
from companion.camera.pictures import (
    HEIF_SUFFIXES,
    PICTURE_SUFFIXES,
    read_picture,
    refuse_foreign,
    refuse_missing,
)
from companion.errors import EndOfSource, SourceError, VisionError
from companion.saying import Saying

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WHOLE_SHARE = 0.8
"""Containers only estimate how long they are; a file that ends before this share of it is damaged."""
_COUNTED, _WHOLE_SHARE_COUNTED = frozenset({".mp4", ".mov", ".m4v"}), 0.98
"""But these list every frame, and those that show nothing, at their ends, are few."""
_INTERLACED = b"Cannot convert interlaced"
"""FFmpeg says so of pictures that OpenCV then gives all the same, and which are black, or whatever was there before."""
_ONE_PICTURE = "import sys, cv2; cv2.VideoCapture(sys.argv[1], cv2.CAP_FFMPEG).read()"
_ANSWER_S = 20.0
"""So long FFmpeg is listened to at most."""
_AV1 = b"AV01"
_LONGEST_GAP_S = 60.0
"""Stamps that run on by more between two frames are another recording's, or damaged."""
_JOINED_S = 0.1
"""So long after the last frame of one recording the first of the next one is, where a file has several."""
STILL_S = 5.0
"""How long a picture of a folder is looked at, in seconds: a doubt about it has time to become a question."""
LAST_STILL_S = 25.0
"""And the last: long enough for any question."""
_STILL_STEP_S = 0.25
"""From one look at it to the next."""


class FileClock:
    """The times of a video's frames, which run on, whatever their stamps do."""

    def __init__(self) -> None:
        self.count = 0
        """So many frames have come."""
        self.time_s = 0.0
        """When the last one was taken."""
        self._stamped = False
        """Whether any of them had a time stamp."""
        self._late_s = 0.0
        """What stamps that began anew are added to."""
        self._odd = False
        """Whether the last one's stamp was before that of the frame before, or far after it."""

    def next(self, stamp: float, rate: float) -> float:
        """When the next frame was taken: by its stamp, in seconds, or by so many frames a second if none has any.

        Where recordings were joined, the stamps begin anew, or far on; a single one that does so is only odd.
        """
        self._stamped |= stamp > 0
        told = stamp if self._stamped or self.count == 0 or rate <= 0 else self.count / rate
        time, before = self._late_s + told, self._odd
        self._odd = time < self.time_s or (self.count > 0 and time > self.time_s + _LONGEST_GAP_S)
        if self._odd:
            self._late_s += self.time_s + _JOINED_S - time if before else 0.0
            time = self.time_s + _JOINED_S
        self.time_s, self.count = time, self.count + 1
        return time


class VideoFile:
    """``video:FILE``: every frame of a video file, in the file's own time."""

    live = False

    def __init__(self, path: str) -> None:
        self.name = f"video:{path}"
        refuse_missing(path, "video", directory=False)
        if Path(path).suffix.lower() in PICTURE_SUFFIXES:
            raise SourceError(Saying("%(path)s is a picture, not a video; give it to companion read", path=path))
        self._capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
        self._clock, self._over = FileClock(), False
        self._whole_share = _WHOLE_SHARE_COUNTED if Path(path).suffix.lower() in _COUNTED else _WHOLE_SHARE
        if not self._capture.isOpened():
            raise SourceError(f"{path} is not a video that can be read; it may be damaged, or not a video at all")
        self._promised = max(0, int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        self._coming = [frame for frame in (self._grab(), self._grab()) if frame is not None]
        if why := self._why_blind(path):
            self.close()
            raise SourceError(f"{path} {why}")

    def read(self, timeout_s: float) -> Frame | None:  # noqa: ARG002 (a file never keeps one waiting)
        """The next frame.

        Raises:
            EndOfSource: after the last.
            SourceError: once, if the file breaks off long before the end that it promises.
        """
        frame = self._coming.pop(0) if self._coming else None if self._over else self._grab()
        if frame is not None:
            return frame
        self._over, promised, self._promised = True, self._promised, 0
        if max(self._clock.count, self._ends()) < promised * self._whole_share - 1:
            raise SourceError(
                Saying(
                    "%(source)s breaks off after %(seconds)s s: %(count)s of %(promised)s frames could be read; "
                    "it is damaged",
                    source=self.name,
                    seconds=f"{self._clock.time_s:.0f}",
                    count=self._clock.count,
                    promised=promised,
                )
            )
        raise EndOfSource(f"{self.name} has ended")

    def close(self) -> None:
        """Close the file."""
        self._capture.release()

    def _ends(self) -> float:
        """Where the last frame was, counted at the rate that the file tells; uneven frames are fewer than that.

        By its stamp, for some files begin late; where FFmpeg makes no such number of it, by the time since the first.
        """
        since_first = self._clock.time_s * self._capture.get(cv2.CAP_PROP_FPS)
        return float(max(self._capture.get(cv2.CAP_PROP_PTS), since_first)) + 1

    def _why_blind(self, path: str) -> str:
        """Why no picture can be decoded, and what helps; empty if they can be."""
        kind = int(self._capture.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little")
        if not self._coming and kind == _AV1:
            return f"is coded as AV1, which cannot be read; first: ffmpeg -i {quote(path)} new.mp4"
        if not self._coming:
            return "has no picture in it; it may be empty or damaged"
        if np.array_equal(self._coming[0].image, self._coming[-1].image) and _is_interlaced(path):
            return f"is interlaced, which cannot be read; first: ffmpeg -i {quote(path)} -vf yadif new.mp4"
        return ""

    def _grab(self) -> Frame | None:
        try:
            there, image = self._capture.read()
        except cv2.error:  # it will not get better: the file breaks off here
            return None
        if not there:
            return None
        stamp = float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) / 1000
        rate = float(self._capture.get(cv2.CAP_PROP_FPS))
        return Frame(self._clock.next(stamp, rate), np.asarray(image, np.uint8))


def _is_interlaced(path: str) -> bool:
    """Whether that is why all pictures of a video are the same. Only FFmpeg knows, to which this program has no ear."""
    hears = {**os.environ, "OPENCV_FFMPEG_LOGLEVEL": "16"}
    ask = [sys.executable, "-P", "-c", _ONE_PICTURE, path]
    try:
        asked = subprocess.run(ask, env=hears, capture_output=True, timeout=_ANSWER_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return _INTERLACED in asked.stdout + asked.stderr


class StillFolder:
    """``images:FOLDER``: the pictures of a folder in the order of their names, each one for `STILL_S`.

    Each picture is given again and again in its time, for it shows a table at rest: whoever looks has time to find the
    board anew where the camera was moved, to look twice, and to ask. All are given in the size of the first, others
    with black beside them. What is no file, such as a folder or a link that leads nowhere, is no picture, whatever its
    name; nor is a hidden file. A picture of a kind that cannot be read is refused, unless one of its name that can be
    read lies beside it; then a telephone's own one is passed over, too.
    """

    live = False

    def __init__(self, path: str) -> None:
        self.name = f"images:{path}"
        folder = Path(path)
        refuse_missing(path, "folder", directory=True)
        files = sorted((file for file in folder.iterdir() if file.name[0] != "." and is_file(file)), key=_natural_order)
        pictures = [file for file in files if file.suffix.lower() in PICTURE_SUFFIXES]
        saved = {file.stem.lower() for file in pictures if file.suffix.lower() not in HEIF_SUFFIXES}
        self._pictures = [
            file for file in pictures if file.suffix.lower() not in HEIF_SUFFIXES or file.stem.lower() not in saved
        ]
        refuse_foreign(files, {file.stem.lower() for file in self._pictures})
        if not self._pictures:
            raise SourceError(f"{path} has no picture in it; put .jpg or .png files there")
        self._given = 0
        self._until = 0.0
        self._image: NDArray[np.uint8] | None = None

    def read(self, timeout_s: float) -> Frame | None:  # noqa: ARG002 (a file never keeps one waiting)
        """The next picture.

        Raises:
            EndOfSource: after the last.
            SourceError: once, if one cannot be read; it is the last then, for a move may be missing.
        """
        time = self._given * _STILL_STEP_S
        if time >= self._until:
            if not self._pictures:
                raise EndOfSource(f"{self.name} has ended")
            self._image = self._opened(self._pictures.pop(0), self._image)
            self._until += STILL_S if self._pictures else LAST_STILL_S
        assert self._image is not None
        self._given += 1
        return Frame(time, self._image)

    def close(self) -> None:
        """Nothing to close: no file stays open."""

    def _opened(self, picture: Path, before: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
        try:
            image = read_picture(picture)
        except (SourceError, VisionError) as error:
            self._pictures = []
            raise SourceError(Saying("%(source)s breaks off: %(why)s", source=self.name, why=error.saying)) from error
        return image if before is None else _in_size_of(before, image)


def is_file(path: Path) -> bool:
    """Whether a file is there; where one may not look, there is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _in_size_of(before: NDArray[np.uint8], image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The whole image in the size of the one before, black beside it where the shapes differ."""
    (wanted_height, wanted_width), (height, width) = before.shape[:2], image.shape[:2]
    scale = min(wanted_width / width, wanted_height / height)
    size = max(1, min(wanted_width, round(width * scale))), max(1, min(wanted_height, round(height * scale)))
    if size != (width, height):
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        image = np.asarray(cv2.resize(image, size, interpolation=how), np.uint8)
    left, top = (wanted_width - size[0]) // 2, (wanted_height - size[1]) // 2
    right, bottom = wanted_width - size[0] - left, wanted_height - size[1] - top
    return np.asarray(cv2.copyMakeBorder(image, top, bottom, left, right, cv2.BORDER_CONSTANT), np.uint8)


def _natural_order(file: Path) -> tuple[list[tuple[int, str]], str]:
    """``2.jpg`` before ``10.jpg``, and ``photo.jpg`` before ``photo (1).jpg``."""
    name = [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", file.stem.lower())]
    return name, file.suffix.lower()
