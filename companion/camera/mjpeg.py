"""``http://…`` a camera in the network that sends MJPEG: JPEG pictures one after the other in one endless answer.

The answer is ``multipart/x-mixed-replace`` (RFC 2046 parts). Cameras differ in what they write between the pictures,
so a picture is found by its part's Content-Length, or, where there is none, by the JPEG markers at its ends. What comes
before its scan (a thumbnail, which is a JPEG picture too) is passed over by the lengths of the segments.

A camera that lets in nobody without a password is told the one in its address, ``http://name:password@camera.local``,
in the way it wants; see `companion.camera.login`. Nobody else is told it. One that does not take it is left alone for a
minute, for most lock an account at which wrong passwords keep coming.
"""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

import cv2
import numpy as np

from companion.address import shown, without_people
from companion.camera.live import LiveFrames
from companion.camera.login import Login, challenges, place
from companion.camera.pictures import listening
from companion.errors import SourceError, SourceSyntaxError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from companion.camera.frames import Clock

_ANSWER_S = 4.0
"""A stream that says nothing for so long is taken for broken; the slowest camera sends a picture more often."""
_WRONG_LOGIN_S = 60.0
"""A camera that has not taken a name and a password is not told them again for so long."""
_CHUNK = 65536
_LARGEST = 16 * 1024 * 1024
_START, _END = b"\xff\xd8", b"\xff\xd9"
_HEAD = 4
"""A marker of two bytes, and the length of its segment in two."""
_SEGMENTS = {*range(0xC0, 0xD0), *range(0xDB, 0xFF)}
"""The second bytes of the markers that a length follows, up to the scan of the picture (ITU-T T.81, table B.1)."""
_LENGTH = re.compile(rb"content-length\s*:\s*(\d+)", re.IGNORECASE)
_MOST_BROKEN = 30
_SURELY_QUIET = 30
"""If libjpeg has nothing to say of so many first pictures, nobody listens any more."""
_SENDING_ON = (301, 302, 303, 307, 308)
_DIRECT = urllib.request.ProxyHandler({})
"""A camera is in the same network: no proxy is asked for it."""


_WRITTEN = (
    "write http://camera.local/stream, or http://name:password@camera.local/stream with %2F for a / in the password"
)


def open_stream(address: str, clock: Clock, *, patient: bool = False) -> LiveFrames:
    """The pictures of the stream at `address`, a whole URL; `patient` waits for one that does not answer yet.

    Raises:
        SourceSyntaxError: if `address` names no machine, or has spaces or control characters in it.
        SourceError: if there is no stream there.
    """
    written = "".join(map(_in_url, address))
    if written != address:
        raise SourceSyntaxError(f"there is a space or a control character in {shown(written)}; write %20 for a space")
    if not _can_be_asked(address):
        raise SourceSyntaxError(f"{shown(address)} is no address of a camera; {_WRITTEN}")
    return LiveFrames(shown(address), StreamOpener(address, clock), clock, patient=patient)


def _in_url(character: str) -> str:
    return character if character.isprintable() and character != " " else quote(character, errors="surrogateescape")


def _can_be_asked(address: str) -> bool:
    try:
        parts = urlsplit(address)
        name = unquote(parts.username or "")  # goes into a header, which has one line
        return bool(parts.hostname) and parts.port != 0 and name.isprintable()
    except ValueError:
        return False


class WrongLoginError(SourceError):
    """A camera that does not take the name and the password that it was told."""


class MjpegParser:
    """Cuts a stream into pictures: feed it bytes as they come, iterate over what is whole."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, more: bytes) -> None:
        """Take the next bytes.

        Raises:
            SourceError: if no picture ends in what would be an absurdly large one.
        """
        self._waiting += more
        if len(self._waiting) > _LARGEST:
            raise SourceError(Saying("what it sends is no stream of JPEG pictures"))

    def __iter__(self) -> Iterator[bytes]:
        while (picture := self._next()) is not None:
            yield picture

    def _next(self) -> bytes | None:
        start = self._waiting.find(_START)
        if start < 0:
            return None
        told = _LENGTH.findall(self._waiting, 0, start)
        end = start + int(told[-1]) if told else self._end_of(start)
        if end is None or end > len(self._waiting):
            return None
        picture = bytes(self._waiting[start:end])
        del self._waiting[:end]
        return picture

    def _end_of(self, start: int) -> int | None:
        """Where the picture ends that begins at `start`; None if that has not come yet."""
        at = start + len(_START)
        while self._waiting[at : at + 1] == b"\xff" and set(self._waiting[at + 1 : at + 2]) <= _SEGMENTS:
            if len(self._waiting) < at + _HEAD:
                return None
            at += 2 + int.from_bytes(self._waiting[at + 2 : at + _HEAD])
        last = self._waiting.find(_END, at)
        return None if last < 0 else last + len(_END)


class StreamOpener:
    """Connects to the stream at `address`, as often as it is called; after a wrong login it waits before the next."""

    def __init__(self, address: str, clock: Clock) -> None:
        self._address = address
        self._clock = clock
        self._wrong = ""
        self._next_login = float("-inf")

    def __call__(self) -> MjpegCapture:
        """A new connection.

        Raises:
            WrongLoginError: if the name and the password in the address are not taken, or were not a short while ago.
            SourceError: if nobody answers, or the answer is no MJPEG stream.
        """
        if self._clock() < self._next_login:
            raise WrongLoginError(self._wrong)
        try:
            return MjpegCapture(self._address)
        except WrongLoginError as error:
            self._wrong, self._next_login = error.saying, self._clock() + _WRONG_LOGIN_S
            raise


class MjpegCapture:
    """One connection to a stream.

    Raises:
        WrongLoginError: if the name and the password in `address` are not taken.
        SourceError: if nobody answers, or the answer is no MJPEG stream.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._answer = _ask(address)
        self._parser = MjpegParser()
        self._broken = 0
        """How many pictures there were, one after the other, that cannot be decoded."""
        self._decodings = 0
        """How often a picture was decoded."""
        self._commented = False
        """Whether libjpeg had something to say of any, as it may again; nobody needs to read it."""

    def grab(self) -> NDArray[np.uint8] | None:
        """The next picture that can be decoded; see `companion.camera.live.Capture`."""
        encoded = next(iter(self._parser), None)
        if encoded is None:
            self._parser.feed(self._more())
            return None
        image = self._decoded_unheard(encoded)
        self._broken = self._broken + 1 if image is None else 0
        if self._broken >= _MOST_BROKEN:
            raise SourceError(Saying("its pictures cannot be decoded"))
        return image

    def close(self) -> None:
        """Hang up."""
        self._answer.close()

    def _decoded_unheard(self, encoded: bytes) -> NDArray[np.uint8] | None:
        said: list[bytes] = []
        with ExitStack() as ears:
            if self._commented or self._decodings < _SURELY_QUIET:
                with suppress(OSError):  # nowhere to listen, or nothing is said anywhere
                    ears.enter_context(listening(said))
            image = _decoded(encoded)
        self._decodings += 1
        self._commented |= bool(said)
        return image

    def _more(self) -> bytes:
        try:
            more = self._answer.read1(_CHUNK)
        except TimeoutError as error:
            raise SourceError(Saying("it sends no pictures")) from error
        except (OSError, http.client.HTTPException) as error:
            raise SourceError(Saying("the connection broke: %(why)s", why=_reason(error))) from error
        if not more:
            raise SourceError(Saying("it has closed the connection"))
        return more


def _decoded(encoded: bytes) -> NDArray[np.uint8] | None:
    try:
        image = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if image is None else np.asarray(image, np.uint8)


def _ask(address: str) -> http.client.HTTPResponse:
    """The answer of whoever is at `address`, if it is a stream."""
    try:
        answer = _opened(address)
    except urllib.error.HTTPError as error:
        with error:
            raise _refusal(address, error) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise SourceError(
            Saying("%(address)s does not answer: %(why)s", address=shown(address), why=_reason(error))
        ) from error
    sent = answer.headers.get_content_type()
    if sent != "multipart/x-mixed-replace":
        answer.close()
        why = _instead(sent)
        raise SourceError(Saying("%(address)s is not an MJPEG stream: %(why)s", address=shown(address), why=why))
    assert isinstance(answer, http.client.HTTPResponse)
    return answer


def _opened(address: str) -> Any:
    """What answers at `address`, to the name and the password in it."""
    plain, name, password = without_people(address)
    handlers: list[urllib.request.BaseHandler] = [_DIRECT]
    if name is not None:
        handlers.append(Login(plain, name, password))
    return urllib.request.build_opener(*handlers).open(plain, timeout=_ANSWER_S)


def _refusal(address: str, error: urllib.error.HTTPError) -> SourceError:
    refused = f"{error.code} {error.reason}"
    if error.code in (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN):
        return _login_refusal(address, error, refused)
    if error.code == http.HTTPStatus.NOT_FOUND:
        return SourceError(
            Saying(
                "%(address)s is not there (%(refused)s); look up the path of the stream in the camera's manual",
                address=shown(address),
                refused=error.code,
            )
        )
    if error.code in _SENDING_ON:
        return SourceError(_lost_on_the_way(address, error))
    return SourceError(Saying("%(address)s refuses: %(refused)s", address=shown(address), refused=refused))


def _lost_on_the_way(address: str, error: urllib.error.HTTPError) -> Saying:
    """Why nobody follows where a camera sends on to."""
    scheme = urlsplit(error.url).scheme  # of what was not followed, or of the last that was
    if scheme not in ("http", "https"):
        return Saying(
            "%(address)s sends on to an address that begins with %(scheme)s:, not with http:; "
            "look up the path of the stream in the camera's manual",
            address=shown(address),
            scheme=scheme,
        )
    if "Location" not in error.headers:
        return Saying(
            "%(address)s sends on (%(refused)s), and does not say where; "
            "look up the path of the stream in the camera's manual",
            address=shown(address),
            refused=error.code,
        )
    return Saying(
        "%(address)s sends on again and again (%(refused)s); look up the path of the stream in the camera's manual",
        address=shown(address),
        refused=error.code,
    )


def _login_refusal(address: str, error: urllib.error.HTTPError, refused: str) -> SourceError:
    where = shown(address)
    if urlsplit(address).username is None:
        return SourceError(
            Saying(
                "%(address)s wants a password (%(refused)s); write http://name:password@ before its name",
                address=where,
                refused=refused,
            )
        )
    if place(error.url) != place(address):
        return SourceError(
            Saying(
                "%(address)s sends on to %(there)s, which wants a password; if that is the camera, give that address",
                address=where,
                there=shown(error.url),
            )
        )
    offered = challenges(error.headers)
    if offered and not any(challenge.understood for challenge in offered):
        return SourceError(
            Saying(
                "%(address)s wants a login by %(wanted)s; choose Basic or Digest (MD5) in the camera's settings",
                address=where,
                wanted=", ".join(map(str, offered)),
            )
        )
    return WrongLoginError(
        Saying(
            "%(address)s wants another name or password (%(refused)s); look them up in the camera's settings",
            address=where,
            refused=refused,
        )
    )


def _instead(sent: str) -> str:
    if sent == "text/html":
        return Saying("it is a web page; look for the address of the stream itself, often ending in /video or /stream")
    if sent.startswith("image/"):
        return Saying("it is a single picture; look for the address of the stream, often ending in /video or /stream")
    return Saying("it sends %(what)s", what=sent)


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return Saying("it takes too long; is it switched on, and in this network?")
    if isinstance(cause, socket.gaierror):
        return Saying("there is no machine of that name; check the name, and the network")
    if isinstance(cause, ConnectionRefusedError):
        return Saying("nothing listens on that port; start the camera's server, or check the port")
    if isinstance(cause, ssl.SSLError):
        return Saying("its certificate is not trusted (%(why)s); use http://", why=cause.reason)
    if isinstance(cause, OSError) and cause.strerror:
        return Saying("%(why)s; check the network", why=cause.strerror)
    return shown(str(cause)) or type(cause).__name__
