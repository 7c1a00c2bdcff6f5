"""Files that are written whole, or stay as they are."""

from __future__ import annotations

import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, a text in UTF-8; what was in it is lost only when all is written.

    A device is written to as it is, and so is a file beside which nobody may put another.

    Raises:
        OSError: if it cannot be written.

    """
    path, data = Path(path), content.encode() if isinstance(content, str) else content
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            path.write_bytes(data)
            return
    file = path.resolve()  # a link stays one
    fresh = file.with_name(f".{secrets.token_hex(4)}.new")
    try:
        fresh.touch(exist_ok=False)
    except PermissionError:
        if not file.exists():
            raise
        file.write_bytes(data)  # nobody may put one beside it
        return
    try:
        if file.exists():
            shutil.copymode(file, fresh)  # before anything is in it
        fresh.write_bytes(data)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
