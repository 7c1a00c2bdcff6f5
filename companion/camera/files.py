"""Pictures from files: a video, or a folder of stills.

They take their clock from the file, drop nothing and are as fast as they are read.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.camera.frames import Frame
from companion.errors import EndOfSource, SourceError, SourceSyntaxError, VisionError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from numpy.typing import NDArray

_WHOLE_SHARE = 0.8
"""Containers only estimate how long they are; a file that ends before this share of it is damaged."""
_JOINED_S = 0.1
"""So long after the last frame of one recording the first of the next one is, where a file has several."""
STILL_S = 5.0
"""How long a picture of a folder is looked at, in seconds: a doubt about it has time to become a question."""
LAST_STILL_S = 25.0
"""And the last: long enough for any question."""
_STILL_STEP_S = 0.25
"""From one look at it to the next."""
PICTURE_SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".jp2", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp", ".avif"}
)
_FOREIGN_SUFFIXES = frozenset(
    {".heic", ".heif", ".jxl", ".gif", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2", ".pef"}
)
"""Pictures, such as telephones and cameras make, that are not read: a move may be on any of them."""
_HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
"""What stands at the ninth byte of a telephone's own pictures, whatever they are called (ISO/IEC 23008-12)."""
_MAY_MOVE = re.compile(rb"GIF8|\x89PNG|RIFF....WEBP|....ftypavis", re.DOTALL)
"""How files begin that may hold several pictures, one after the other in the same place."""
_JPEG, _LIBJPEG = b"\xff\xd8", b"Corrupt JPEG data: "
_PNG, _LIBPNG = b"\x89PNG", b"libpng "
_DAMAGED = (b"premature end", b"bad Huffman code", b"found marker")
"""What libjpeg says where a part is wrong or missing."""
_EXTRANEOUS = re.compile(rb"(\d+) extraneous bytes before marker 0x(?:c4|d9|da)")
"""Before the end, or before the next part of a picture that comes in several; what is skipped before it is harmless."""
_FEW_BYTES = 16
"""Fewer bytes too many are usual, and harmless; so is any number of the same ones at the end."""
_JPEG_END, _START_OF_SCAN = b"\xff\xd9", 0xDA
_STANDARD_ERROR, _ONE_AT_A_TIME = 2, Lock()


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
        self._behind = False
        """Whether the last one's stamp was before that of the frame before."""

    def next(self, stamp: float, rate: float) -> float:
        """When the next frame was taken: by its stamp, in seconds, or by so many frames a second if none has any.

        Where recordings were joined, the stamps begin anew; a single one that runs back is only odd.
        """
        self._stamped |= stamp > 0
        told = stamp if self._stamped or self.count == 0 or rate <= 0 else self.count / rate
        time, before = self._late_s + told, self._behind
        self._behind = time < self.time_s
        if self._behind:
            self._late_s += self.time_s + _JOINED_S - time if before else 0.0
            time = self.time_s + _JOINED_S
        self.time_s, self.count = time, self.count + 1
        return time


class VideoFile:
    """``video:FILE``: every frame of a video file, in the file's own time."""

    live = False

    def __init__(self, path: str) -> None:
        self.name = f"video:{path}"
        _refuse_missing(path, "video", directory=False)
        if Path(path).suffix.lower() in PICTURE_SUFFIXES:
            raise SourceError(Saying("%(path)s is a picture, not a video; give it to companion read", path=path))
        self._capture = cv2.VideoCapture(path, cv2.CAP_FFMPEG)
        self._next: Frame | None = None
        self._clock = FileClock()
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
        ends = self._capture.get(cv2.CAP_PROP_PTS) + 1  # in frames: some files begin late, and none is missing
        if max(self._clock.count, ends) < promised * _WHOLE_SHARE:
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


class StillFolder:
    """``images:FOLDER``: the pictures of a folder in the order of their names, each one for `STILL_S`.

    Each picture is given again and again in its time, for it shows a table at rest: whoever looks has time to find the
    board anew where the camera was moved, to look twice, and to ask. All are given in the size of the first, others
    with black beside them. What is no file, such as a folder or a link that leads nowhere, is no picture, whatever its
    name; nor is a hidden file. A picture of a kind that cannot be read is refused, unless one of its name that can be
    read lies beside it.
    """

    live = False

    def __init__(self, path: str) -> None:
        self.name = f"images:{path}"
        folder = Path(path)
        _refuse_missing(path, "folder", directory=True)
        files = sorted((file for file in folder.iterdir() if file.name[0] != "." and is_file(file)), key=_natural_order)
        self._pictures = [file for file in files if file.suffix.lower() in PICTURE_SUFFIXES]
        _refuse_foreign(files, {file.stem.lower() for file in self._pictures})
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


def read_picture(path: Path) -> NDArray[np.uint8]:
    """A picture file, upright (turned as its EXIF says), BGR, `(height, width, 3)`.

    Raises:
        SourceError: if the file is missing, or may not be read.
        VisionError: if it is not a picture, or several.
    """
    _refuse_missing(str(path), Saying("picture"), directory=False)
    data, complaints, moves = np.empty(0, np.uint8), b"", False
    try:
        data = np.fromfile(path, np.uint8)
        image, moves, complaints = _decoded(data)
    except (cv2.error, OSError):
        image = None
    if image is not None and _tell_of_damage(complaints, data):
        raise VisionError(Saying("%(file)s is damaged; take the picture, or copy it, once more", file=path))
    if moves:
        raise VisionError(
            Saying(
                "%(file)s holds several pictures, one after the other; save the one that shows the board as .jpg",
                file=path,
            )
        )
    foreign = path.suffix.lower() in _FOREIGN_SUFFIXES or data[8:12].tobytes() in _HEIF_BRANDS
    if image is None and foreign:
        raise VisionError(_foreign(path))
    if image is None:
        why = Saying(
            "%(file)s is not a picture that can be read; it may be damaged, or not a picture at all", file=path
        )
        raise VisionError(why)
    return np.asarray(image, np.uint8)


def _foreign(path: Path) -> Saying:
    """What to say of a picture of a kind that cannot be read, such as telephones take; it may be named otherwise."""
    if path.suffix.lower() in _FOREIGN_SUFFIXES:
        return Saying("%(file)s is a picture of a kind that cannot be read; save such pictures as .jpg", file=path)
    return Saying(
        "%(file)s is a picture of a kind that cannot be read, whatever its name; save it as .jpg, not only rename it",
        file=path,
    )


def _moves(data: NDArray[np.uint8]) -> bool:
    """Whether a file that can be read holds more than one picture, of which nobody knows which one counts."""
    several = 2
    if not _MAY_MOVE.match(data[:12].tobytes()):
        return False
    _, animation = cv2.imdecodeanimation(data, count=several)
    return len(animation.frames) == several


def _tell_of_damage(complaints: bytes, data: NDArray[np.uint8]) -> bool:
    """Whether what libjpeg says of a file means that a part of its picture is wrong.

    Who has lost the thread has bytes left that tell nothing; some cameras fill the end of their files, too.
    """
    if any(wrong in complaints for wrong in _DAMAGED):
        return True
    most = max(map(int, _EXTRANEOUS.findall(complaints)), default=0)
    if most < _FEW_BYTES:
        return False
    whole = data.tobytes()
    end = whole.find(_JPEG_END, _scan_of(whole))
    return len(set(whole[max(0, end - most) : max(0, end)])) != 1


def _scan_of(jpeg: bytes) -> int:
    """Where the picture itself begins, behind all that is told of it, such as a smaller picture."""
    at = len(_JPEG)
    while (at := jpeg.find(b"\xff", at)) >= 0 and at + 4 <= len(jpeg) and jpeg[at + 1] != _START_OF_SCAN:
        at += 1 if jpeg[at + 1] in (0, 0xFF) else 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    return max(at, 0)


def _decoded(data: NDArray[np.uint8]) -> tuple[cv2.typing.MatLike | None, bool, bytes]:
    """The picture, if it is one, whether it is only the first of several, and what the decoder said of it.

    Of a JPEG that is damaged in its middle libjpeg makes a picture all the same, and only says so on standard error.
    What libpng says there helps nobody: a PNG that is damaged is no picture. Whatever else is said comes through.
    """
    with ExitStack() as listening:
        lines: list[bytes] = []
        if data[:4].tobytes().startswith((_JPEG, _PNG)):
            with suppress(OSError):  # nowhere to listen, or nothing is said anywhere
                listening.enter_context(_listening(lines))
        image = cv2.imdecode(data, cv2.IMREAD_COLOR)
        moves = image is not None and _moves(data)
    return image, moves, b"".join(line for line in lines if line.startswith(_LIBJPEG))


@contextmanager
def _listening(lines: list[bytes]) -> Iterator[None]:
    """What is said on standard error, line by line; what neither libjpeg nor libpng says comes through."""
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as heard:
        standard_error = os.dup(_STANDARD_ERROR)
        os.dup2(heard.fileno(), _STANDARD_ERROR)
        try:
            yield
        finally:
            os.dup2(standard_error, _STANDARD_ERROR)
            os.close(standard_error)
        heard.seek(0)
        lines += heard.readlines()
        with suppress(OSError):
            os.write(_STANDARD_ERROR, b"".join(line for line in lines if not line.startswith((_LIBJPEG, _LIBPNG))))


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


def _refuse_foreign(files: Iterable[Path], names: Container[str]) -> None:
    """Refuse pictures that cannot be read; those of these `names` were saved so that they can."""
    for file in files:
        if file.suffix.lower() in _FOREIGN_SUFFIXES and file.stem.lower() not in names:
            raise SourceError(_foreign(file))


def _refuse_missing(named: str, what: str, *, directory: bool) -> None:
    if not named:
        raise SourceSyntaxError(f"no {what} is named; write its path after the colon")
    path = Path(named)
    try:
        there, folder = path.exists(), path.is_dir()
    except OSError as error:
        raise SourceError(Saying("%(path)s cannot be looked at: %(why)s", path=path, why=error.strerror)) from error
    if not there:
        raise SourceError(Saying("there is no %(what)s %(path)s", what=what, path=path))
    if folder != directory:
        found = Saying("a folder") if folder else Saying("a file")
        raise SourceError(Saying("%(path)s is %(found)s, not a %(what)s", path=path, found=found, what=what))
    if not folder and not path.is_file():
        raise SourceError(Saying("%(path)s is a device or a pipe, not a %(what)s", path=path, what=what))
    if not os.access(path, os.R_OK):
        raise SourceError(Saying("%(path)s may not be read; change its permissions", path=path))


def _natural_order(file: Path) -> list[tuple[int, str]]:
    """``2.jpg`` before ``10.jpg``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", file.name.lower())]
