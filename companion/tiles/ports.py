"""Which port the tile board is on, and opening it so that it fails with advice.

A port is named by what the system calls it (``/dev/ttyUSB0``, ``/dev/serial/by-id/…``, ``COM3``,
``/dev/cu.usbserial-10``), by any URL that pyserial knows (``socket://…``, ``rfc2217://…``), or is looked for:
then only ports that look like an Arduino are opened, because opening resets whatever is there, and the first that says
HELLO is kept; people are told of those that were not asked. A board does not say which of several it is, so one that
may be another of this program is left alone.
"""

from __future__ import annotations

import errno
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import serial
from serial.tools import list_ports

from companion.address import shown
from companion.errors import LinkError, SourceError
from companion.saying import Saying, joined
from companion.tiles import wire
from companion.tiles.session import HELLO_S, NOBODY, SILENCE_S, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from serial.tools.list_ports_common import ListPortInfo

logger = logging.getLogger(__name__)

POLL_S = 0.05
"""How long `Port.receive` waits for a byte."""
SEND_S = 1.0
_AT_ONCE = 4096
"""About so many bytes are received at once at most."""

ARDUINO_VENDORS = {0x2341: "Arduino", 0x2A03: "Arduino", 0x1A86: "CH340", 0x0403: "FTDI", 0x10C4: "CP210x"}
"""USB vendors of Arduino Nanos and of the serial chips on their copies."""


class Port(Protocol):
    """A cable to a board."""

    name: str

    def receive(self) -> bytes:
        """What has come in; waits up to `POLL_S` for the first byte.

        Raises:
            LinkError: if the cable is gone; whoever reads says which.
        """
        ...

    def send(self, data: bytes) -> None:
        """Send bytes. `LinkError` as in `receive`."""
        ...

    def give_back(self, data: bytes) -> None:
        """Let the next `receive` begin with `data`, which was received before."""
        ...

    def close(self) -> None:
        """Let go of it; harmless when done twice."""
        ...


class SerialPort:
    """A port of this machine, or what a pyserial URL leads to, at 115200 8N1, for this program alone."""

    def __init__(self, name: str) -> None:
        """Open it.

        Raises:
            SourceError: if it cannot be opened; says what to do.
        """
        self.name = shown(name)
        self._given_back = b""
        try:
            self._serial = serial.serial_for_url(name, do_not_open=True)
            self._serial.baudrate = wire.BAUD
            self._serial.timeout = POLL_S
            self._serial.write_timeout = SEND_S
            if "://" not in name:
                self._serial.exclusive = True
            self._serial.open()
        except (serial.SerialException, ValueError, OSError) as error:
            raise SourceError(Saying("%(source)s: %(why)s", source=self.name, why=advice(error))) from error
        except Exception as error:  # each kind of URL fails in its own way
            why = shown(str(error))
            raise SourceError(
                Saying("%(source)s: that is no URL that leads to a port (%(why)s)", source=self.name, why=why)
            ) from error

    def receive(self) -> bytes:
        """See `Port`."""
        data: bytes
        data, self._given_back = self._given_back, b""
        if data:
            return data
        try:
            data = self._serial.read(1)
            while len(data) < _AT_ONCE and (waiting := self._serial.in_waiting):  # of a socket that is 1 at most
                data += self._serial.read(waiting)
        except (serial.SerialException, OSError, TypeError) as error:  # TypeError: closed while it was read
            raise LinkError(Saying("the port is gone; is the cable plugged in?")) from error
        return data

    def send(self, data: bytes) -> None:
        """See `Port`."""
        try:
            self._serial.write(data)
        except (serial.SerialException, OSError) as error:
            raise LinkError(Saying("the port takes no more data; is the cable plugged in?")) from error

    def give_back(self, data: bytes) -> None:
        """See `Port`."""
        self._given_back += data

    def close(self) -> None:
        """See `Port`."""
        self._serial.close()


_OPEN_ELSEWHERE = Saying("another program has this port open; close it there (a serial monitor? a second companion?)")
_NO_PORT = Saying("that is no serial port; see with `companion doctor` which ports there are")
_NO_NUMBER = Saying("its address needs a port number, as in tiles:socket://192.168.1.20:2217")
_NOT_THERE = Saying("there is no such port; plug the board in, or see with `companion doctor` which ports there are")


def advice(error: BaseException, platform: str = sys.platform) -> str:
    """What is the matter with a port that cannot be opened, and what to do, in one line."""
    text = str(error)
    number = getattr(error, "errno", None)
    denied = number == errno.EACCES or "PermissionError" in text or "Permission denied" in text
    missing = number == errno.ENOENT or "FileNotFoundError" in text or "No such file" in text
    advices = (
        ("exclusive" in text or number == errno.EBUSY, _OPEN_ELSEWHERE),
        (denied, _permission_advice(platform)),
        ("Inappropriate ioctl" in text or number == errno.EISDIR, _NO_PORT),
        ("socket://" in text and "NoneType" in text, _NO_NUMBER),
        ("refused" in text, Saying("nobody listens there")),
        (missing, _NOT_THERE),
    )
    return next((advice for fits, advice in advices if fits), shown(text))


def _permission_advice(platform: str) -> str:
    if platform.startswith("linux"):
        return Saying("no permission; run `sudo usermod -aG dialout $USER`, log out and in again")
    if platform == "win32":
        return _OPEN_ELSEWHERE
    return Saying("no permission; is another program using this port?")


class PortFinder:
    """Opens the port of one tile board, and finds it again when it comes back under another name."""

    def __init__(
        self,
        wanted: str,
        clock: Callable[[], float],
        *,
        others: Iterable[str] = (),
        recognises: Callable[[wire.Hello], bool] = lambda hello: True,  # noqa: ARG005 (nobody is known yet)
        opener: Callable[[str], Port] = SerialPort,
        listing: Callable[[], Iterable[ListPortInfo]] = list_ports.comports,
    ) -> None:
        """`wanted` is the name of a port, a URL, or ``auto``; `others` are those of this program's other boards.

        `recognises` tells, by how it introduces itself, whether a board may be the one that is looked for.
        """
        self.wanted = usual_name(wanted)
        self._others = [usual_name(other) for other in others if "://" not in other]
        self._clock = clock
        self._opener = opener
        self._listing = listing
        self._known = ""
        """The port on which it was last; empty before it was on any."""
        self._recognises = recognises
        self._strangers: set[str] = set()
        """The ports on which other boards are than the one that is looked for."""
        self._told: list[str] = []
        """The ports of which people have been told last that a board may be there, too."""

    def __call__(self) -> Port:
        """The open port.

        Raises:
            SourceError: if there is none; says what to do.
        """
        try:
            return self._find(self._likely()) if self.wanted == "auto" else self._open(self.wanted)
        except SourceError as error:
            if self.wanted == "auto" or "://" in self.wanted or not self._known or self.wanted in self._listed():
                raise
            likely = self._likely()
            try:
                return self._find(likely)  # it was there and is not there now: it may have been plugged in elsewhere
            except SourceError as elsewhere:
                raise (elsewhere if likely else error) from None

    def _likely(self) -> list[str]:
        """The ports that look like an Arduino, each by the name that will stay the same when others come and go."""
        ports = [port for port in self._listing() if port.vid in ARDUINO_VENDORS]
        ports.sort(key=lambda port: (list(ARDUINO_VENDORS).index(port.vid or 0), port.device))
        return [lasting_name(port.device) for port in ports]

    def _find(self, likely: Sequence[str]) -> Port:
        """The first likely port on which a tile board says HELLO, open. Every other one is closed again.

        Raises:
            SourceError: if there is none.
        """
        tried: list[str] = []
        self._strangers &= set(likely)
        for name in likely:
            if name in self._strangers:
                tried.append(_is_another(name))
                continue
            if not self._may_be_its(name):
                tried.append(Saying("%(source)s: that may be another tile board of this program", source=name))
                continue
            try:
                port = self._opener(name)
            except SourceError as error:
                tried.append(error.saying)
                continue
            try:
                hello = self._await_hello(port)
            except LinkError as error:
                port.close()
                tried.append(Saying("%(source)s: %(why)s", source=name, why=error.saying))
                continue
            if not self._recognises(hello):
                port.close()
                self._strangers.add(name)
                tried.append(_is_another(name))
                continue
            self._known = name
            self._tell_of([other for other in likely[likely.index(name) + 1 :] if self._may_be_its(other)])
            return port
        others = joined(tried) or Saying("no port looks like an Arduino")
        raise SourceError(
            Saying(
                "no tile board found (%(others)s); plug it in, or name its port: tiles:/dev/ttyUSB0, tiles:COM3",
                others=others,
            )
        )

    def _tell_of(self, unasked: list[str]) -> None:
        """Tell people, once, of ports on which a board may be, too, when one was found before they were asked."""
        if unasked and unasked != self._told:
            logger.warning(
                "found a tile board on %s; another may be on %s, which was not asked: to use that, write tiles:%s",
                self._known,
                " and ".join(unasked),
                unasked[0],
            )
        self._told = unasked

    def _open(self, name: str) -> Port:
        port = self._opener(name)
        self._known = name
        return port

    def _may_be_its(self, name: str) -> bool:
        """Whether no other board has that port; one that is missing may have come back on any but ours."""
        others = set(map(lasting_name, self._others))
        return name not in others and (self._known in ("", name) or others <= self._listed())

    def _await_hello(self, port: Port) -> wire.Hello:
        """Listen until a board has said HELLO, which can be received once more.

        Raises:
            LinkError: if none does that this program can talk to.
        """
        began = self._clock()
        session = Session(began)
        seen = b""
        while session.board is None:
            now = self._clock()
            if now - began >= HELLO_S + SILENCE_S:
                raise LinkError(NOBODY)
            port.send(session.due(now))
            data = port.receive()
            seen += data
            list(session.receive(data, self._clock()))
        port.give_back(seen)
        return session.board

    def _listed(self) -> set[str]:
        """All ports that there are, by each of their names."""
        devices = {port.device for port in self._listing()}
        return devices | set(map(lasting_name, devices))


def usb_ports() -> list[ListPortInfo]:
    """The serial ports of this machine that a USB cable leads to, by name."""
    return sorted((port for port in list_ports.comports() if port.vid is not None), key=lambda port: port.device)


def usual_name(name: str) -> str:
    """The name to open for what a person wrote: on macOS the calling-out side of a port, on Windows in capitals."""
    if name.startswith("/dev/tty."):  # would wait for a carrier that never comes
        return name.replace("/dev/tty.", "/dev/cu.", 1)
    return name.upper() if name[:3].lower() == "com" and name[3:].isdigit() else name


def lasting_name(device: str, directory: Path = Path("/dev/serial/by-id")) -> str:
    """The name below ``/dev/serial/by-id`` that leads to `device`, where the system keeps such names."""
    for link in sorted(directory.glob("*")):
        if link.resolve() == Path(device).resolve():
            return str(link)
    return device


def _is_another(name: str) -> Saying:
    """What to say of a port on which a board is, but not the one that is looked for."""
    return Saying("%(source)s: that is another tile board than before", source=name)
