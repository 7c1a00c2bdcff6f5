"""Addresses as they may be shown and kept: without the passwords that people write into them.

What a source was opened by is on the page for everyone in the room, and in the log for good. So whatever tells an
address tells it as `shown` does, and only what connects to it has the whole.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit, urlunsplit

_HIDDEN = "***"
_PEOPLE = re.compile(r"(?<=//)\S*@")
"""A name and a password before the machine; to the last ``@``, for a password may have one that should be ``%40``."""
_WORDS = "pas|pwd|pw|user|usr|login|token|key|secret|auth|sig"
_SECRET = re.compile(rf"([?&;/][^?&;/#=\s]*(?:{_WORDS})[^?&;/#=\s]*=)[^&;#\s]+", re.IGNORECASE)
"""Further on, a field whose name says that it lets somebody in."""


def shown(address: str) -> str:
    """`address`, a URL or a text with one in it, with ``***`` for every name, password and token.

    >>> shown("http://ann:secret@camera.local/stream?size=vga&token=1234")
    'http://***@camera.local/stream?size=vga&token=***'
    """
    return _SECRET.sub(rf"\1{_HIDDEN}", _PEOPLE.sub(f"{_HIDDEN}@", address))


def without_people(address: str) -> tuple[str, str | None, str]:
    """A URL without its name and password; the name, None if there is none; the password.

    Raises:
        ValueError: if it is no URL.
    """
    parts = urlsplit(address)
    plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    return plain, None if parts.username is None else unquote(parts.username), unquote(parts.password or "")
