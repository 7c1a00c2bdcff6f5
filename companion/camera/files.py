"""Pictures from files: a video, or a folder of stills.

They take their clock from the file, drop nothing and are as fast as they are read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.camera.frames import Frame
from companion.errors import EndOfSource, SourceError, VisionError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from numpy.typing import NDArray

_WHOLE_SHARE = 0.8
"""Containers only estimate how many frames they hold; a file with fewer than this share of them is damaged."""
STILL_S = 1.0
"""How long each picture of a folder is taken to lie on the table, in seconds."""
PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp"})
_FOREIGN_SUFFIXES = frozenset(
    {".heic", ".heif", ".avif", ".gif", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2", ".pef"}
)
"""Pictures, such as telephones and cameras make, that are not read: a move may be on any of them."""
_FOREIGN = "is a picture of a kind that cannot be read; save such pictures as .jpg"


class VideoFile:
    """``video:FILE``: every frame of a video file, in the file's own time."""

    live = False

    def __init__(self, path: str) -> None:
        self.name = f"video:{path}"
        _refuse_missing(Path(path), "video", directory=False)
        self._capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
        self._next: Frame | None = None
        self._count = 0
        if not self._capture.isOpened():
            raise SourceError(f"{path} is not a video that can be read; it may be damaged, or not a video at all")
        self._promised = max(0, int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        self._next = self._grab()
        if self._next is None:
            self.close()
            raise SourceError(f"{path} has no picture in it; it may be empty or damaged")

    def read(self, timeout_s: float) -> Frame | None:  # noqa: ARG002 (a file never keeps one waiting)
        """The next frame.

        Raises:
            EndOfSource: after the last.
            SourceError: once, if the file breaks off long before the end that it promises.
        """
        frame, self._next = self._next, None
        if frame is None:
            frame = self._grab()
        if frame is not None:
            return frame
        promised, self._promised = self._promised, 0
        if self._count < promised * _WHOLE_SHARE:
            raise SourceError(
                Saying(
                    "%(source)s breaks off: %(count)s of %(promised)s frames could be read; it is damaged",
                    source=self.name,
                    count=self._count,
                    promised=promised,
                )
            )
        raise EndOfSource(f"{self.name} has ended")

    def close(self) -> None:
        """Close the file."""
        self._capture.release()

    def _grab(self) -> Frame | None:
        try:
            there, image = self._capture.read()
        except cv2.error:  # it will not get better: the file breaks off here
            return None
        if not there:
            return None
        frame = Frame(self._time(), np.asarray(image, np.uint8))
        self._count += 1
        return frame

    def _time(self) -> float:
        """The file's time stamp, or the frame rate's where a file has none."""
        stamp = float(self._capture.get(cv2.CAP_PROP_POS_MSEC)) / 1000
        rate = float(self._capture.get(cv2.CAP_PROP_FPS))
        if stamp > 0 or self._count == 0 or rate <= 0:
            return stamp
        return self._count / rate


class StillFolder:
    """``images:FOLDER``: the pictures of a folder in the order of their names, each one for `STILL_S`.

    Each picture is given twice, at the start and in the middle of its time: it shows a table at rest. All are given in
    the size of the first. What is no file, such as a folder or a link that leads nowhere, is no picture, whatever its
    name. A picture of a kind that cannot be read is refused, unless one of its name that can be read lies beside it.
    """

    live = False

    def __init__(self, path: str) -> None:
        self.name = f"images:{path}"
        folder = Path(path)
        _refuse_missing(folder, "folder", directory=True)
        files = sorted((file for file in folder.iterdir() if is_file(file)), key=_natural_order)
        self._pictures = [file for file in files if file.suffix.lower() in PICTURE_SUFFIXES]
        _refuse_foreign(files, {file.stem.lower() for file in self._pictures})
        if not self._pictures:
            raise SourceError(f"{path} has no picture in it; put .jpg or .png files there")
        self._given = 0
        self._image: NDArray[np.uint8] | None = None

    def read(self, timeout_s: float) -> Frame | None:  # noqa: ARG002 (a file never keeps one waiting)
        """The next picture.

        Raises:
            EndOfSource: after the last.
            SourceError: once, if one cannot be read or is of another shape than the first; it is the last then, for a
                move may be missing.
        """
        number, again = divmod(self._given, 2)
        if number >= len(self._pictures):
            raise EndOfSource(f"{self.name} has ended")
        if not again or self._image is None:
            self._image = self._opened(self._pictures[number], self._image)
        self._given += 1
        return Frame((number + again / 2) * STILL_S, self._image)

    def close(self) -> None:
        """Nothing to close: no file stays open."""

    def _opened(self, picture: Path, before: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
        try:
            image = read_picture(picture)
            return image if before is None else _in_size_of(before, image, picture)
        except (SourceError, VisionError) as error:
            self._pictures = []
            raise SourceError(Saying("%(source)s breaks off: %(why)s", source=self.name, why=error.saying)) from error


def is_file(path: Path) -> bool:
    """Whether a file is there; where one may not look, there is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_picture(path: Path) -> NDArray[np.uint8]:
    """A picture file, upright (turned as its EXIF says), BGR, `(height, width, 3)`.

    Raises:
        SourceError: if the file is missing, or may not be read.
        VisionError: if it is not a picture.
    """
    _refuse_missing(path, Saying("picture"), directory=False)
    try:
        image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    except (cv2.error, OSError):
        image = None
    if image is None and path.suffix.lower() in _FOREIGN_SUFFIXES:
        raise VisionError(f"{path} {_FOREIGN}")
    if image is None:
        why = Saying(
            "%(file)s is not a picture that can be read; it may be damaged, or not a picture at all", file=path
        )
        raise VisionError(why)
    return np.asarray(image, np.uint8)


def _in_size_of(before: NDArray[np.uint8], image: NDArray[np.uint8], name: Path) -> NDArray[np.uint8]:
    """The image in the size of the one before; `VisionError` if that is of another shape, give or take a pixel."""
    (wanted_height, wanted_width), (height, width) = before.shape[:2], image.shape[:2]
    if (height, width) == (wanted_height, wanted_width):
        return image
    if abs(width * wanted_height - wanted_width * height) > max(width, wanted_width):
        raise VisionError(
            Saying(
                "%(file)s has %(size)s pixels, those before it %(sizes)s; let all show the table from the same place, "
                "in one shape",
                file=name,
                size=f"{width} x {height}",
                sizes=f"{wanted_width} x {wanted_height}",
            )
        )
    how = cv2.INTER_AREA if width > wanted_width else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image, (wanted_width, wanted_height), interpolation=how), np.uint8)


def _refuse_foreign(files: Iterable[Path], names: Container[str]) -> None:
    """Refuse pictures that cannot be read; those of these `names` were saved so that they can."""
    for file in files:
        if file.suffix.lower() in _FOREIGN_SUFFIXES and file.stem.lower() not in names and file.name[0] != ".":
            raise SourceError(f"{file} {_FOREIGN}")


def _refuse_missing(path: Path, what: str, *, directory: bool) -> None:
    try:
        there, folder = path.exists(), path.is_dir()
    except OSError as error:
        raise SourceError(Saying("%(path)s cannot be looked at: %(why)s", path=path, why=error.strerror)) from error
    if not there:
        raise SourceError(Saying("there is no %(what)s %(path)s", what=what, path=path))
    if folder != directory:
        found = Saying("a folder") if folder else Saying("a file")
        raise SourceError(Saying("%(path)s is %(found)s, not a %(what)s", path=path, found=found, what=what))
    if not os.access(path, os.R_OK):
        raise SourceError(Saying("%(path)s may not be read; change its permissions", path=path))


def _natural_order(file: Path) -> list[tuple[int, str]]:
    """``2.jpg`` before ``10.jpg``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", file.name.lower())]
