"""The answer to a camera that asks who is there: HTTP's Basic and Digest, each login sent once.

Theory of operation. A camera says 401 and offers one or several ways to log in, in one ``WWW-Authenticate`` header or
in many (RFC 9110, section 11.6.1). The first Digest that is understood is answered, else Basic. A 401 to that answer is
final, for a camera that is told a wrong password again and again locks the account; only where the answer was too old
(``stale=true``) is there a second. Only the scheme, machine and port of the address are told anything: a camera may
send on within itself, but nobody else learns the password.

Basic is RFC 7617. Digest is RFC 7616 with MD5 or SHA-256, and also what older cameras make of it: SHA-1, and answers
without ``qop`` as in RFC 2069. Name and password go as UTF-8.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import urllib.request
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from email.message import Message

_ALGORITHMS = {"MD5": hashlib.md5, "SHA": hashlib.sha1, "SHA-256": hashlib.sha256}
_PORTS = {"http": 80, "https": 443}
_PART = re.compile(r'(?<![\w-])(?:([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))|([\w-]+)(?=\s+[\w-]|\s*$))')
"""A field, its value with or without quotes, or the name of a way to log in, which fields follow."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way to log in that a camera offers."""

    scheme: str
    """In lower case, such as ``digest``."""
    fields: dict[str, str] = field(default_factory=dict)
    """What comes with it, such as ``realm`` and ``nonce``; their names in lower case."""

    def __str__(self) -> str:
        algorithm = self.fields.get("algorithm", "") if self.scheme == "digest" else ""
        return " ".join([self.scheme.capitalize(), *algorithm.split()])

    @property
    def understood(self) -> bool:
        """Whether `Login` can answer it."""
        if self.scheme != "digest":
            return self.scheme == "basic"
        ways = self.fields.get("qop", "auth").replace(",", " ").lower().split()
        return self.algorithm in _ALGORITHMS and "auth" in ways and {"realm", "nonce"} <= self.fields.keys()

    @property
    def algorithm(self) -> str:
        """By which Digest makes its sums."""
        return self.fields.get("algorithm", "MD5").upper()

    def sum(self, text: str) -> str:
        """What Digest makes of a text, in hexadecimal."""
        return _ALGORITHMS[self.algorithm](text.encode("latin-1"), usedforsecurity=False).hexdigest()


def challenges(headers: Message) -> list[Challenge]:
    """Every way to log in that an answer with these headers offers, in their order."""
    found: list[Challenge] = []
    for header in headers.get_all("WWW-Authenticate", []):
        for key, quoted, plain, scheme in _PART.findall(header):
            if scheme:
                found.append(Challenge(scheme.lower()))
            elif found:
                found[-1].fields[key.lower()] = re.sub(r"\\(.)", r"\1", quoted) or plain
    return found


def place(address: str) -> tuple[str, str | None, int | None]:
    """The scheme, machine and port of a URL."""
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


class Login(urllib.request.BaseHandler):
    """Tells a camera a name and a password when it asks; for one opening of the stream at `address`."""

    def __init__(self, address: str, name: str, password: str) -> None:
        self._place = place(address)
        self._name, self._password = _as_sent(name), _as_sent(password)
        self._uses: Counter[str] = Counter()
        self._renewed = False

    def http_error_401(self, request: urllib.request.Request, answer: Any, *rest: Any) -> Any:
        """What the camera answers to the login; None, which makes an error of the 401, if there is none to send."""
        understood = [challenge for challenge in challenges(rest[-1]) if challenge.understood]
        understood.sort(key=lambda challenge: challenge.scheme == "basic")
        if not understood or place(request.full_url) != self._place or self._is_final(request, understood[0]):
            return None
        answer.close()
        request.add_unredirected_header("Authorization", self._told(request, understood[0]))
        return self.parent.open(request, timeout=request.timeout)

    def _is_final(self, request: urllib.request.Request, challenge: Challenge) -> bool:
        if not request.has_header("Authorization"):
            return False
        if self._renewed or challenge.fields.get("stale", "").lower() != "true":
            return True
        self._renewed = True
        return False

    def _told(self, request: urllib.request.Request, challenge: Challenge) -> str:
        if challenge.scheme == "basic":
            both = f"{self._name}:{self._password}".encode("latin-1")
            return f"Basic {b64encode(both).decode()}"
        return self._digest(request.get_method(), request.selector or "/", challenge)

    def _digest(self, method: str, path: str, challenge: Challenge) -> str:
        """See RFC 7616, section 3.4."""
        asked = challenge.fields
        quoted = {"username": self._name, "realm": asked["realm"], "nonce": asked["nonce"], "uri": path}
        plain = {"algorithm": asked["algorithm"]} if "algorithm" in asked else {}
        middle = asked["nonce"]
        if "qop" in asked:
            self._uses[asked["nonce"]] += 1
            plain |= {"qop": "auth", "nc": f"{self._uses[asked['nonce']]:08x}"}
            quoted["cnonce"] = secrets.token_hex(8)
            middle = f"{middle}:{plain['nc']}:{quoted['cnonce']}:auth"
        who, what = f"{self._name}:{asked['realm']}:{self._password}", f"{method}:{path}"
        quoted["response"] = challenge.sum(f"{challenge.sum(who)}:{middle}:{challenge.sum(what)}")
        if "opaque" in asked:
            quoted["opaque"] = asked["opaque"]
        fields = [f'{key}="{_escaped(value)}"' for key, value in quoted.items()]
        return "Digest " + ", ".join(fields + [f"{key}={value}" for key, value in plain.items()])


def _as_sent(text: str) -> str:
    """Its UTF-8 bytes, each as one character: that is how `http.client` reads and writes headers."""
    return text.encode().decode("latin-1")


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"")
