"""Who may do what: everyone may look, the referee's hand is for this machine and for those who know the PIN.

- *Host*: a request for a name that is not ours is refused, so that no foreign page can reach us by a name of its own
  (DNS rebinding). An address is nobody's name: where others are let in, any by which they reach us is ours.
- *Origin*: a request that changes something must come from our own pages; so must its token, which is bound to the
  session's cookie (SameSite=Strict, HttpOnly).
- *PIN*: asked of everyone who is not on this machine. Wrong ones are counted, for each address and in all, and after
  a few of them nobody is let in for a while, however right the PIN. They are counted here and not by Flask-Limiter,
  which counts requests: a program may send the right PIN as often as it likes, and a wrong one counts the same at
  either door, the page's and the API's.
- *Content*: the policy in `HEADERS` allows no inline script or style and nothing from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import abort, request, session

from companion.web.language import _

if TYPE_CHECKING:
    from collections.abc import Callable

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
        "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
TOKEN_HEADER = "X-Companion-Token"  # noqa: S105 (the name of a header)
PIN_HEADER = "X-Companion-Pin"
TOKEN_FIELD = "token"  # noqa: S105 (the name of a form's field)
TRIES_EACH = 5
"""Wrong PINs from one address, after which it has to wait."""
TRIES_IN_ALL = 30
"""Wrong PINs from all addresses together, after which everyone has to wait."""
WAIT_S = 300.0
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-IP")


def new_pin() -> str:
    """Six digits, by chance."""
    return f"{secrets.randbelow(10**6):06}"


@dataclass(slots=True)
class Attempts:
    """Counts wrong PINs over the last `WAIT_S` seconds."""

    clock: Callable[[], float]
    _wrong: list[tuple[float, str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def exhausted(self, address: str) -> bool:
        """Whether this address has to wait."""
        with self._lock:
            start = self.clock() - WAIT_S
            self._wrong = [(when, who) for when, who in self._wrong if when > start]
            mine = sum(who == address for _, who in self._wrong)
            return mine >= TRIES_EACH or len(self._wrong) >= TRIES_IN_ALL

    def note(self, address: str) -> None:
        """Count one wrong PIN."""
        with self._lock:
            self._wrong.append((self.clock(), address))


class Gate:
    """Decides over the requests of one app.

    Args:
        pin: what has to be known off this machine; None lets nobody in from there, and takes no address but its own.
        hosts: the names, besides those of this machine itself, by which the page may be called.
        clock: monotonic seconds.
    """

    def __init__(
        self, *, clock: Callable[[], float], pin: str | None = None, hosts: frozenset[str] = frozenset()
    ) -> None:
        self._pin = pin
        self._hosts = _LOCAL_NAMES | {host.lower() for host in hosts}
        self._attempts = Attempts(clock)

    @property
    def asks_for_pin(self) -> bool:
        """Whether a PIN opens anything from where this request comes."""
        return self._pin is not None and not is_local()

    def check(self) -> None:
        """Refuse a request that is not for us, or that another page has made. Runs before every request."""
        if not self._is_ours(urlsplit(f"//{request.host}").hostname or ""):
            abort(400, _("this is not %(host)s; use the address that the terminal shows", host=request.host))
        if request.method in ("GET", "HEAD", "OPTIONS") or request.routing_exception is not None:
            return  # nothing is changed; where nothing is, Flask says so
        if request.blueprint == "api" and not request.is_json:
            abort(415, _("send JSON, with the header Content-Type: application/json"))
        origin = request.headers.get("Origin")
        if origin is None and request.is_json and "Sec-Fetch-Site" not in request.headers:
            return  # a program: no browser sends JSON to another page's address without asking us first
        if origin is None or _host_of(origin) != request.host.lower():
            abort(403, _("this request comes from another page"))

    def _is_ours(self, host: str) -> bool:
        return host in self._hosts or (self._pin is not None and _address(host) is not None)

    def may_rule(self) -> bool:
        """Whether this request comes from somebody who may use the referee's hand."""
        return is_local() or session.get("referee") is True

    def check_hand(self) -> None:
        """Refuse a request of somebody who may not use the referee's hand, or without this session's token."""
        if not self.may_rule():
            abort(403, _("the referee's hand needs the PIN; sign in first"))
        given = request.headers.get(TOKEN_HEADER) or request.form.get(TOKEN_FIELD) or ""
        if not hmac.compare_digest(given.encode(), str(session.get("token", "")).encode()) or not given:
            abort(403, _("this page is too old; load it again"))

    def check_program(self) -> None:
        """As `check_hand`, for the JSON API: a program may send the PIN along in place of a session's token."""
        if "Origin" in request.headers or TOKEN_HEADER in request.headers:
            self.check_hand()
        elif not is_local() and not self._is_right(request.headers.get(PIN_HEADER, "")):
            abort(403, _("the referee's hand needs the PIN; send it in the header %(header)s", header=PIN_HEADER))

    def token(self) -> str:
        """The token of this session, made when it is first asked for."""
        if "token" not in session:
            session["token"] = secrets.token_urlsafe(24)
            session.permanent = True
        return str(session["token"])

    def sign_in(self, pin: str) -> bool:
        """Let this session in, if the PIN is right and not too many were wrong."""
        if not self._is_right(pin):
            return False
        session.clear()
        session["referee"] = True
        self.token()
        return True

    def _is_right(self, pin: str) -> bool:
        address = request.remote_addr or ""
        if self._attempts.exhausted(address):
            abort(429, _("too many wrong PINs; wait %(minutes)s minutes", minutes=f"{WAIT_S / 60:.0f}"))
        if self._pin is None or not hmac.compare_digest(pin.strip().encode(), self._pin.encode()):
            self._attempts.note(address)
            return False
        return True


def is_local() -> bool:
    """Whether this request comes from this machine, and not through a proxy on it."""
    if any(header in request.headers for header in _FORWARDED):
        return False
    address = _address(request.remote_addr or "")
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address is not None and (mapped or address).is_loopback


def _host_of(origin: str) -> str:
    """Host and port of an Origin header; empty if it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that `text` is; None if it is a name."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
