"""A tile board that is not there: it speaks the protocol of the real one, and its pieces are laid by calling it.

It is a real back end, for people without the hardware and for tests; what holds for the firmware on a simulated chip
holds for it too (``tests/firmware/test_link.py`` and ``test_virtual.py`` run over both).

>>> board = VirtualBoard(16, clock=lambda: 0.0)
>>> board.put(3, "S")
>>> board.letters
'...S............'
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from companion.errors import LinkError
from companion.tiles import wire
from companion.tiles.ports import POLL_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from companion.tiles.wire import Command, Message

FIRMWARE = "virtual"
HEARTBEAT_S = 1.0
RAW_S = 0.1
HOST_GONE_S = 5.0
SCANS_PER_S = 100
NOMINAL_OHM = (0, 1500, 3300, 5600, 10_000, 15_000, 27_000, 47_000, 100_000)
PULL_UP_OHM = 10_000


def nominal_code(letter: str) -> int:
    """The code that a square reads with `letter` on it when every part is exactly what is printed on it."""
    band = wire.BAND_LETTERS.index(letter)
    if band == len(NOMINAL_OHM):
        return wire.HIGHEST_CODE
    return round(wire.HIGHEST_CODE * NOMINAL_OHM[band] / (NOMINAL_OHM[band] + PULL_UP_OHM))


class VirtualBoard:
    """A board without a board. Any thread may use it."""

    def __init__(self, squares: int, clock: Callable[[], float]) -> None:
        self.letters = wire.DARK * squares
        """What lies on it."""
        self.lights = wire.DARK * squares
        """The palette letters that its LEDs show."""
        self.bands: tuple[tuple[int, int], ...] = wire.DEFAULT_BANDS
        self._calibrated = False
        self._clock = clock
        self._lock = threading.RLock()
        self._boots = 0
        self.reset("P")

    def put(self, index: int, letter: str) -> None:
        """Lay a piece on a square, or take it away with ``.``; the protocol's letters."""
        with self._lock:
            old, self.letters = self.letters[index], self.letters[:index] + letter + self.letters[index + 1 :]
            if old != letter:
                self._say(wire.Changed(0, 0, index, old, letter))

    def rebuild(self, letters: str) -> None:
        """Be a board of as many squares, on which these pieces lie, as from before it was started; no real one can."""
        with self._lock:
            self.letters = letters
            self.reset("P")

    def reset(self, cause: str = "E") -> None:
        """Start anew, as opening the port makes an Arduino do."""
        with self._lock:
            self._boots += 1
            self._cause = cause
            self._began_s = self._heard_s = self._beat_s = self._raw_s = self._clock()
            self._seq = 0
            self._raw = False
            self._staged = list(self.bands)
            self._out = bytearray()
            self._tokens = wire.Tokenizer()
            self.lights = wire.DARK * len(self.letters)
            self._hello()
            self._say(wire.State(0, 0, self.letters))

    def hear(self, data: bytes) -> None:
        """Take bytes from the host."""
        with self._lock:
            self._tokens.feed(data)
            for body in self._tokens:
                self._obey(body)

    def speak(self) -> bytes:
        """The bytes for the host that are due by now."""
        with self._lock:
            self._keep_time()
            data, self._out = bytes(self._out), bytearray()
            return data

    def _keep_time(self) -> None:
        now = self._clock()
        if now - self._beat_s >= HEARTBEAT_S:
            self._beat_s = now
            scans = int((now - self._began_s) * SCANS_PER_S)
            self._say(wire.Heartbeat(0, 0, wire.crc(self.letters), scans, self._tokens.damaged, 0))
        if self._raw and now - self._raw_s >= RAW_S:
            self._raw_s = now
            self._say(wire.RawCodes(0, 0, tuple(map(nominal_code, self.letters))))
        if now - self._heard_s >= HOST_GONE_S:
            self.lights = wire.DARK * len(self.letters)

    def _say(self, message: Message) -> None:
        ms = int((self._clock() - self._began_s) * 1000) % (1 << 32)
        self._out += wire.line(replace(message, seq=self._seq, ms=ms))
        self._seq = (self._seq + 1) % wire.SEQ_MODULUS

    def _hello(self) -> None:
        squares = len(self.letters)
        hello = wire.Hello(
            0, 0, wire.PROTOCOL, FIRMWARE, "none", squares, self._cause, self._boots, calibrated=self._calibrated
        )
        self._say(hello)

    def _obey(self, body: str) -> None:
        words = body.split(",")
        number = _command_id(words)
        if number is None:
            self._say(wire.Trouble(0, 0, "arguments"))
            return
        self._heard_s = self._clock()
        try:
            command = wire.parse(body)
        except wire.WireError:
            known = words[0] in {"HI", "PING", "SNAP", "RAW", "LED", "CAL"}
            self._say(wire.Refused(0, 0, number, "arguments" if known else "command"))
            return
        why = "command" if isinstance(command, wire.Message) else self._do(command)
        self._say(wire.Refused(0, 0, number, why) if why else wire.Acknowledged(0, 0, number))

    def _do(self, command: Command) -> str:
        """Obey a command; why not, if not."""
        match command:
            case wire.Hi():
                self._hello()
                self._say(wire.State(0, 0, self.letters))
            case wire.Snap():
                self._say(wire.State(0, 0, self.letters))
            case wire.SendRaw(on=on):
                self._raw = on
            case wire.Light(offset=offset, letters=letters):
                return self._light(offset, letters)
            case wire.SetBand(band=band, low=low, high=high):
                return self._stage(band, low, high)
            case wire.SaveBands():
                return self._use_bands(keep=True)
            case wire.DefaultBands():
                self._staged = list(wire.DEFAULT_BANDS)
                return self._use_bands(keep=False)
        return ""

    def _light(self, offset: int, letters: str) -> str:
        if offset + len(letters) > len(self.letters):
            return "range"
        if not set(letters) <= set(wire.PALETTE):
            return "arguments"
        self.lights = self.lights[:offset] + letters + self.lights[offset + len(letters) :]
        return ""

    def _stage(self, band: int, low: int, high: int) -> str:
        if band >= len(self._staged) or max(low, high) > wire.HIGHEST_CODE:
            return "arguments"
        if low > high:
            return "range"
        self._staged[band] = (low, high)
        return ""

    def _use_bands(self, *, keep: bool) -> str:
        if any(low <= high for (_, high), (low, _) in zip(self._staged, self._staged[1:], strict=False)):
            return "overlap"
        self.bands = tuple(self._staged)
        self._calibrated = keep
        self._say(wire.State(0, 0, self.letters))  # the squares are judged anew
        return ""


def _command_id(words: list[str]) -> int | None:
    """The id of a command, None if it has none."""
    digits = "".join(words[1:2])
    number = int(digits) if digits.isascii() and digits.isdigit() else wire.SEQ_MODULUS
    return number if number < wire.SEQ_MODULUS else None


class VirtualPort:
    """The cable of a `VirtualBoard`; opening it resets the board, as with the real one."""

    def __init__(self, board: VirtualBoard, wait: Callable[[float], None]) -> None:
        self.name = "virtual:tiles"
        self.board = board
        self._wait = wait
        self._open = True
        self._given_back = b""
        board.reset()

    def receive(self) -> bytes:
        """See `companion.tiles.ports.Port`."""
        self._refuse_closed()
        data, self._given_back = self._given_back + self.board.speak(), b""
        if data:
            return data
        self._wait(POLL_S)
        return self.board.speak()

    def send(self, data: bytes) -> None:
        """See `companion.tiles.ports.Port`."""
        self._refuse_closed()
        self.board.hear(data)

    def give_back(self, data: bytes) -> None:
        """See `companion.tiles.ports.Port`."""
        self._given_back += data

    def close(self) -> None:
        """See `companion.tiles.ports.Port`."""
        self._open = False

    def _refuse_closed(self) -> None:
        if not self._open:
            raise LinkError("the port is closed")
