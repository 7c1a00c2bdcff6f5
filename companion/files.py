"""Files that are written whole, or stay as they are; and texts that are read whole, if they have an end."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    from io import FileIO
    from typing import IO


LONGEST_TEXT = 64 * 2**20
"""No text that people name is longer than this, in characters: that is a video, or a device that never ends."""


def read_whole(path: str | Path, encoding: str = "utf-8") -> str:
    """The text of a file.

    Raises:
        OSError: if it cannot be read, or is longer than any text (`LONGEST_TEXT`).
        UnicodeDecodeError: if it is none.
    """
    with Path(path).open(encoding=encoding) as file:
        return whole(file)


def whole(file: IO[AnyStr]) -> AnyStr:
    """All that a file has from here on; `OSError` if that is more than any text has (`LONGEST_TEXT`)."""
    text = file.read(LONGEST_TEXT + 1)
    if len(text) > LONGEST_TEXT:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return text


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, a text in UTF-8; what was in it is lost only when all is written.

    A device is written to as it is, and so is a file beside which nobody may put another.

    Raises:
        OSError: if it cannot be written.

    """
    path, data = Path(path), content.encode() if isinstance(content, str) else content
    if not _is_regular(path):
        path.write_bytes(data)
        return
    file = path.resolve()  # a link stays one
    try:
        fresh = _fresh_beside(file)
    except PermissionError:
        if not file.exists():
            raise
        _overwrite(file, data)
        return
    try:
        if file.exists():
            shutil.copymode(file, fresh)  # before anything is in it
        fresh.write_bytes(data)
        with fresh.open("r+b") as there:
            os.fsync(there.fileno())  # or else a power cut may leave the name with nothing in it
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def try_to_write(path: str | Path) -> None:
    """Make sure that `write_whole` may write a file, as far as that can be told before; nothing is written.

    Raises:
        OSError: if it may not.
    """
    if not _is_regular(Path(path)):
        return
    file = Path(path).resolve()
    try:
        _fresh_beside(file).unlink()
    except PermissionError:
        if not file.exists():
            raise
        with file.open("r+b"):
            pass


def _is_regular(path: Path) -> bool:
    """Whether it is a file, or will be one: no device, and no pipe."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _fresh_beside(file: Path) -> Path:
    """A new file in the same folder."""
    fresh = file.with_name(f".{secrets.token_hex(4)}.new")
    fresh.touch(exist_ok=False)
    return fresh


def _overwrite(file: Path, data: bytes) -> None:
    """Write into a file beside which nobody may put another; what was in it is put back if that fails."""
    before = file.read_bytes()
    with file.open("r+b", buffering=0) as there:
        try:
            _fill(there, data)
        except BaseException:
            there.seek(0)
            _fill(there, before)  # there is room for that: it was there
            raise


def _fill(file: FileIO, data: bytes) -> None:
    """Put these bytes into an open file, from where it is, and nothing after them."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
