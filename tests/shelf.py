"""Folders that may be read and not written to, as on a disc or in a backup, and disks that are full.

Not by root either, who always may.
"""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NOBODY = 65534
_LEAST_BYTES = 3
"""An empty index of a write-ahead log is so long; on a full disk too, as there it takes up no room."""


@contextmanager
def only_read(folder: Path) -> Iterator[None]:
    """Nothing in `folder` can be written to. What root alone may read, such as modules, has to be read before."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    was_root = os.geteuid() == 0
    if was_root:
        os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        yield
    finally:
        if was_root:
            os.setresuid(0, 0, 0)
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)


@contextmanager
def no_room() -> Iterator[None]:
    """Files can be made and read, and next to nothing can be written to one, as on a full disk."""
    limit, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LEAST_BYTES, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
