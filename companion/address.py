"""Addresses as they may be shown and kept: without the passwords that people write into them.

What a source was opened by is on the page for everyone in the room, and in the log for good. So whatever tells an
address tells it as `shown` does, and only what connects to it has the whole.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit, urlunsplit

_HIDDEN = "***"
_PEOPLE = re.compile(r"(?<=//)(?:[^/?#\r\n]*\s)?\S*@")
"""A name and a password before the machine; to the last ``@``, for a password may have one that should be ``%40``, or a
space that should be ``%20``."""
_ANYWHERE = (
    "passw|passphrase|passcode|pwd|psw|psk|user|usr|login|token|secret|credential|sess(?:ion|id)|signature"
    "|auth(?!or(?!i[sz]))"
)
"""Stand for a secret wherever they are in a field's name; the last as in ``oauth2``, but not in ``author``."""
_AT_THE_END = "(?<!by)pass|pas|pw|key"
"""Stand for one where they end a word of the name, as in ``apiKey`` and ``admin_pass``, but not in ``keyframe``."""
_WHOLE = "creds?|pin(?:code)?|sess|sid|sig"
"""Stand for one as a whole word of the name, but not in ``design``, ``signal`` and ``spin``."""
_BEGINS, _ENDS = "(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))", "(?![a-z])"
_WORDS = rf"(?i:{_ANYWHERE})|(?i:{_AT_THE_END}){_ENDS}|{_BEGINS}(?i:{_WHOLE}){_ENDS}"
_SECRET = re.compile(rf"([?&;/][^?&;/#\s]*?(?:{_WORDS})[^?&;/#=\s]*=)[^&;#\r\n]+")
"""Further on, a field whose name says that it lets somebody in. A space does not end its value: rather too much is
hidden of a sentence than too little of a secret."""


def shown(address: str) -> str:
    """`address`, a URL or a text with one in it, with ``***`` for what lets somebody in.

    That is the name and the password before the machine, and the value of every field with a telling name, such as
    ``password`` or ``token``. A secret elsewhere, such as in the path, is not known for one, and is shown.

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
