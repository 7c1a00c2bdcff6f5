r"""The lines on the cable between host and tile board: what may be said, and how it is spelt.

A line is ``$BODY*CRC4`` and a newline: CRC-16/XMODEM over BODY in four upper-case hex digits. `SPELLINGS` is the whole
protocol: one row for each message, from which both the reader (`parse`) and the writer (`line`) are made. Bytes become
bodies in a `Tokenizer`, bodies become values in `parse`; nothing here knows a port or a clock. The board's side of the
same table is ``firmware/src/wire.c``.

>>> tokens = Tokenizer()
>>> tokens.feed(b"noise $E,7,1200,3,.,S*7977\r\n")
>>> [parse(body) for body in tokens]
[Changed(seq=7, ms=1200, index=3, old='.', new='S')]
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from companion.errors import LinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROTOCOL = 1
BAUD = 115200
BOARD_NAME = "mijnlieff-board"
SEQ_MODULUS = 1 << 16

BAND_LETTERS = "!SDPUsdpu."
"""What an accept window stands for, in the order of the windows: a short, light and dark pieces, the empty square."""
DEFAULT_BANDS = (
    (0, 69), (102, 193), (223, 307), (336, 426), (469, 554),
    (583, 663), (706, 782), (813, 875), (903, 959), (987, 1023),
)  # fmt: skip
"""The accept windows that the firmware comes with, in converter codes, in the order of `BAND_LETTERS`."""
UNKNOWN = "?"
STATE_LETTERS = BAND_LETTERS + UNKNOWN

HIGHEST_CODE = 1023
"""What the converter of the board reads at most, and reads for an empty square."""
DARK = "."
PALETTE = ".LlMXBPWD?T"
"""The letters that the LEDs know; what they look like is said in `companion.tiles.light`."""

LONGEST_BODY = 1024
"""More than the longest line that a board of 128 squares can send."""


class WireError(LinkError, ValueError):
    """A line that is whole and yet says nothing that the protocol knows."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The board introduces itself, after every start and whenever it is asked."""

    seq: int
    ms: int
    protocol: int
    firmware: str
    hardware: str
    squares: int
    cause: str
    """Why it started: P power, E the reset pin (or a program opening the port), B brown-out, W watchdog."""
    boots: int
    calibrated: bool


@dataclass(frozen=True, slots=True)
class State:
    """What lies on every square."""

    seq: int
    ms: int
    letters: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What lies on one square has changed."""

    seq: int
    ms: int
    index: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Once a second: a checksum of the state, and counters since the start."""

    seq: int
    ms: int
    state_crc: int
    scans: int
    bad: int
    """Lines from the host that came damaged."""
    overruns: int
    """Bytes from the host that the board lost."""


@dataclass(frozen=True, slots=True)
class RawCodes:
    """What the converter reads on every square, 0 to 1023."""

    seq: int
    ms: int
    codes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A command has been obeyed."""

    seq: int
    ms: int
    id: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A command has not been obeyed: `why` is ``command``, ``arguments``, ``range``, ``overlap`` or ``supply``."""

    seq: int
    ms: int
    id: int
    why: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something is wrong: ``crc`` or ``long`` (a line from the host), ``arguments``, ``eeprom``, ``supply``."""

    seq: int
    ms: int
    code: str


@dataclass(frozen=True, slots=True)
class Hi:
    """Asks for a `Hello` and a `State`."""

    id: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Says that the host is there; without it the board goes dark."""

    id: int


@dataclass(frozen=True, slots=True)
class Snap:
    """Asks for a `State`."""

    id: int


@dataclass(frozen=True, slots=True)
class SendRaw:
    """Asks for `RawCodes`, ten a second, or for no more of them."""

    id: int
    on: bool


@dataclass(frozen=True, slots=True)
class Light:
    """Shows one palette letter (`companion.tiles.light`) on each square from `offset` on."""

    id: int
    offset: int
    letters: str


@dataclass(frozen=True, slots=True)
class SetBand:
    """Stages an accept window: the codes from `low` to `high` mean ``BAND_LETTERS[band]``."""

    id: int
    band: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class SaveBands:
    """Uses the staged windows from now on and keeps them; refused if two overlap."""

    id: int


@dataclass(frozen=True, slots=True)
class DefaultBands:
    """Forgets the kept windows and uses those that the firmware came with."""

    id: int


Message = Hello | State | Changed | Heartbeat | RawCodes | Acknowledged | Refused | Trouble
Command = Hi | Ping | Snap | SendRaw | Light | SetBand | SaveBands | DefaultBands

SPELLINGS: dict[type[Any], str] = {
    Hello: f"HELLO,{{seq:u16}},{{ms:u32}},{BOARD_NAME},{{protocol:u16}},{{firmware:word}},{{hardware:word}},"
    "{squares:u16},{cause:word},{boots:u32},{calibrated:flag}",
    State: "S,{seq:u16},{ms:u32},{letters:states}",
    Changed: "E,{seq:u16},{ms:u32},{index:u16},{old:state},{new:state}",
    Heartbeat: "H,{seq:u16},{ms:u32},{state_crc:hex4},{scans:u32},{bad:u16},{overruns:u16}",
    RawCodes: "R,{seq:u16},{ms:u32},{codes:numbers}",
    Acknowledged: "A,{seq:u16},{ms:u32},{id:u16}",
    Refused: "N,{seq:u16},{ms:u32},{id:u16},{why:word}",
    Trouble: "X,{seq:u16},{ms:u32},{code:word}",
    Hi: "HI,{id:u16}",
    Ping: "PING,{id:u16}",
    Snap: "SNAP,{id:u16}",
    SendRaw: "RAW,{id:u16},{on:flag}",
    Light: "LED,{id:u16},{offset:u16},{letters:palette}",
    SetBand: "CAL,{id:u16},{band:u16},{low:u16},{high:u16}",
    SaveBands: "CAL,{id:u16},SAVE",
    DefaultBands: "CAL,{id:u16},DEFAULT",
}
"""How every message is spelt. ``{field:codec}`` is a field of the value; the rest stands as it is."""


class _Codec(NamedTuple):
    """How one kind of field is written."""

    pattern: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


def _read_u16(text: str) -> int:
    return _below(int(text), 1 << 16)


def _read_u32(text: str) -> int:
    return _below(int(text), 1 << 32)


def _below(number: int, limit: int) -> int:
    if number >= limit:
        raise ValueError(f"{number} is not below {limit}")
    return number


def _read_numbers(text: str) -> tuple[int, ...]:
    return tuple(_read_u16(word) for word in text.split(","))


_STATE = re.escape(STATE_LETTERS)
_CODECS = {
    "u16": _Codec(r"\d+", _read_u16, str),
    "u32": _Codec(r"\d+", _read_u32, str),
    "hex4": _Codec(r"[0-9A-F]{4}", lambda text: int(text, 16), "{:04X}".format),
    "word": _Codec(r"[!-+\--~]+", str, str),  # printable, no comma, no blank
    "flag": _Codec(r"0*[01]", lambda text: text.endswith("1"), lambda flag: str(int(flag))),
    "state": _Codec(f"[{_STATE}]", str, str),
    "states": _Codec(f"[{_STATE}]+", str, str),
    "palette": _Codec(r"[^,]*", str, str),  # which of them an LED knows, the board says
    "numbers": _Codec(r"\d+(?:,\d+)*", _read_numbers, lambda numbers: ",".join(map(str, numbers))),
}
_FIELD = re.compile(r"\{(\w+):(\w+)\}")


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One row of the table, ready to read and to write."""

    kind: type[Any]
    fields: dict[str, _Codec]
    pattern: re.Pattern[str]
    template: str

    @classmethod
    def of(cls, kind: type[Any], spelling: str) -> _Spelling:
        fields = {name: _CODECS[codec] for name, codec in _FIELD.findall(spelling)}
        pattern = _FIELD.sub(lambda found: f"(?P<{found[1]}>{_CODECS[found[2]].pattern})", spelling)
        return cls(kind, fields, re.compile(pattern, re.ASCII), _FIELD.sub(r"{\1}", spelling))

    def read(self, body: str) -> Any:
        """The value that `body` spells, or None if it is spelt otherwise; `ValueError` for a number out of range."""
        found = self.pattern.fullmatch(body)
        return found and self.kind(**{name: codec.read(found[name]) for name, codec in self.fields.items()})

    def write(self, value: Any) -> str:
        return self.template.format(**{name: codec.write(getattr(value, name)) for name, codec in self.fields.items()})


_BY_KIND = {kind: _Spelling.of(kind, spelling) for kind, spelling in SPELLINGS.items()}


def crc(text: str) -> int:
    """The CRC-16/XMODEM of `text`, which is ASCII."""
    return binascii.crc_hqx(text.encode("ascii"), 0)


def spell(value: Message | Command) -> str:
    """The body that says `value`."""
    return _BY_KIND[type(value)].write(value)


def frame(body: str) -> bytes:
    """The line around `body`."""
    return f"${body}*{crc(body):04X}\n".encode("ascii")


def line(value: Message | Command) -> bytes:
    """The whole line that says `value`, as it goes over the cable."""
    return frame(spell(value))


def parse(body: str) -> Message | Command:
    """The value that `body` says; `WireError` if it says nothing that the protocol knows."""
    name = body.partition(",")[0]
    for kind, spelling in _BY_KIND.items():
        if SPELLINGS[kind].partition(",")[0] != name:
            continue
        try:
            value = spelling.read(body)
        except ValueError as error:
            raise WireError(f"{body!r}: {error}") from None
        if value is not None:
            return value  # type: ignore[no-any-return]
    raise WireError(f"{body!r} is no message of protocol {PROTOCOL}")


class Tokenizer:
    """Takes bytes as they come and is iterated for the bodies of the lines that came whole.

    Whatever stands between lines, and every line whose checksum is wrong, is left out and counted in `damaged`; the
    next ``$`` begins anew.
    """

    def __init__(self) -> None:
        self.damaged = 0
        """How many stretches of bytes were no whole line."""
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        """Add bytes, in any portions."""
        self._bytes += data

    def __iter__(self) -> Iterator[str]:
        while True:
            raw, newline, rest = self._bytes.partition(b"\n")
            if not newline:
                break
            self._bytes = rest
            body = self._body(bytes(raw))
            if body is not None:
                yield body
        if len(self._bytes) > LONGEST_BODY:
            self._bytes.clear()
            self.damaged += 1

    def _body(self, raw: bytes) -> str | None:
        before, dollar, content = raw.replace(b"\r", b"").rpartition(b"$")
        self.damaged += bool(before)
        body, _, digits = content.rpartition(b"*")
        if dollar and body.isascii() and digits == b"%04X" % binascii.crc_hqx(body, 0):
            return body.decode("ascii")
        self.damaged += bool(content)
        return None
