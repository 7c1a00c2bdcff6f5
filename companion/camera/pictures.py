"""One picture file, upright as its maker meant it, or why it is none.

What cannot be read, is damaged, or holds several pictures of which nobody knows which one counts, is refused by name.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import cv2
import numpy as np

from companion.errors import SourceError, SourceSyntaxError, VisionError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

HEIF_SUFFIXES = frozenset({".heic", ".heif", ".hif"})
"""Pictures as telephones keep them; what others are to read is often saved beside them under the same name."""
PICTURE_SUFFIXES = HEIF_SUFFIXES | frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".jp2", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp", ".avif"}
)
_FOREIGN_SUFFIXES = frozenset({".jxl", ".gif", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".raf", ".orf", ".rw2", ".pef"})
"""Pictures, such as cameras make, that are not read: a move may be on any of them."""
_VIDEO_SUFFIXES = frozenset({".mp4", ".mov", ".m4v", ".mkv", ".webm", ".avi", ".ts", ".mts", ".m2ts", ".3gp"})
_HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
"""What stands at the ninth byte of a telephone's own pictures, whatever they are called (ISO/IEC 23008-12)."""
_MAY_MOVE = re.compile(rb"GIF8|\x89PNG|RIFF....WEBP|....ftypavis", re.DOTALL)
"""How files begin that may hold several pictures, one after the other in the same place."""
_TIFF, _PAGES, _SMALLER = re.compile(rb"II\*\0|MM\0\*"), 8, 0.25
"""So does this one; but what has less than so much of the first one's pixels is only the same once more."""
_AVIF, _AVIF_HEAD = b"ftypavif", 65536
"""What stands at the fifth byte of an AVIF, and in how many bytes all is told that is said of its picture."""
_AVIF_TURNS = re.compile(rb"\0\0\0\x09(irot|imir)(.)", re.DOTALL)
"""The boxes near the beginning of an AVIF that tell how it lies (ISO/IEC 23008-12, 6.5.10 and 6.5.12)."""
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


def read_picture(path: Path) -> NDArray[np.uint8]:
    """A picture file, upright (turned as its EXIF, or its container, says), BGR, `(height, width, 3)`.

    Raises:
        SourceError: if the file is missing, or may not be read.
        VisionError: if it is not a picture, or several.
    """
    refuse_missing(str(path), Saying("picture"), directory=False)
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
    if image is None:
        raise VisionError(_unreadable(path))
    return np.asarray(image, np.uint8)


def _unreadable(path: Path) -> Saying:
    """What to say of what is no picture that can be read."""
    if path.suffix.lower() in _FOREIGN_SUFFIXES:
        return _foreign(path)
    if path.suffix.lower() in _VIDEO_SUFFIXES:
        return Saying(
            "%(file)s is a video, not a picture; to companion watch, or calibrate check, it is video:%(file)s",
            file=path,
        )
    return Saying("%(file)s is not a picture that can be read; it may be damaged, or not a picture at all", file=path)


def _foreign(path: Path) -> Saying:
    """What to say of a picture of a kind that cannot be read, such as cameras take."""
    return Saying("%(file)s is a picture of a kind that cannot be read; save such pictures as .jpg", file=path)


def _moves(data: NDArray[np.uint8]) -> bool:
    """Whether a file that can be read holds more than one picture, of which nobody knows which one counts."""
    several = 2
    if _TIFF.match(data[:4].tobytes()):
        _, pages = cv2.imdecodemulti(data, cv2.IMREAD_COLOR, range=(0, _PAGES))
        return any(page.size > _SMALLER * pages[0].size for page in pages[1:])
    if not _MAY_MOVE.match(data[:12].tobytes()):
        return False
    _, animation = cv2.imdecodeanimation(data, count=several)
    return len(animation.frames) == several


def _as_its_container_says(image: cv2.typing.MatLike, turns: Mapping[bytes, bytes]) -> cv2.typing.MatLike:
    """An AVIF's picture, turned and mirrored as boxes beside it say, whatever its EXIF does (ISO/IEC 23000-22, 7.3.6).

    First by so many quarter turns anticlockwise; then top and bottom are exchanged, or left and right.
    """
    turned = np.rot90(image, turns[b"irot"][0] & 3 if b"irot" in turns else 0)
    return np.ascontiguousarray(np.flip(turned, turns[b"imir"][0] & 1) if b"imir" in turns else turned)


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
    if data[8:12].tobytes() in _HEIF_BRANDS and (seen := _heif(data)) is not None:
        return *seen, b""
    with ExitStack() as ears:
        lines: list[bytes] = []
        if data[:4].tobytes().startswith((_JPEG, _PNG)):
            with suppress(OSError):  # nowhere to listen, or nothing is said anywhere
                ears.enter_context(listening(lines))
        is_avif = data[4:12].tobytes() == _AVIF
        turns = dict(_AVIF_TURNS.findall(data[:_AVIF_HEAD].tobytes())) if is_avif else {}
        image = cv2.imdecode(data, cv2.IMREAD_COLOR | (cv2.IMREAD_IGNORE_ORIENTATION if turns else 0))
        moves = image is not None and _moves(data)
    if image is not None and turns:
        image = _as_its_container_says(image, turns)
    return image, moves, b"".join(line for line in lines if line.startswith(_LIBJPEG))


def _heif(data: NDArray[np.uint8]) -> tuple[cv2.typing.MatLike, bool] | None:
    """A telephone's own picture, and whether it is one of several, if that is what this file is, and whole."""
    import pi_heif  # noqa: PLC0415 (slow to import, and few pictures are such)

    try:
        file = pi_heif.open_heif(BytesIO(data.tobytes()))
        image = np.asarray(file.to_pillow().convert("RGB"))[..., ::-1]
    except (ValueError, EOFError, RuntimeError, SyntaxError):
        return None
    pixels = [math.prod(each.size) for each in file]
    others = pixels[: file.primary_index] + pixels[file.primary_index + 1 :]
    return np.ascontiguousarray(image), any(other > _SMALLER * pixels[file.primary_index] for other in others)


@contextmanager
def listening(lines: list[bytes]) -> Iterator[None]:
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


def refuse_foreign(files: Iterable[Path], names: Container[str]) -> None:
    """Refuse pictures that cannot be read; those of these `names` were saved so that they can."""
    for file in files:
        if file.suffix.lower() in _FOREIGN_SUFFIXES and file.stem.lower() not in names:
            raise SourceError(_foreign(file))


def refuse_missing(named: str, what: str, *, directory: bool) -> None:
    """Refuse the path of a file, or of a folder, by its name if there is none, it is the other, or may not be read.

    `what` it is to be is told, too.

    Raises:
        SourceError: why it cannot be used.
    """
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
