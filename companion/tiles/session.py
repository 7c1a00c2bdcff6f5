"""The conversation with one tile board: what the host knows of it, and what it says next. No port, no clock.

Theory of operation. Bytes that came in are given to `receive` together with the time; `due` answers with the bytes that
have to go out now. Both keep to these rules:

- A session begins `WAITING`: opening a port resets an Arduino, so for `HELLO_S` a HELLO is awaited. Any other line
  shows that the board was not reset, and silence that it was missed; then the host says HI.
- A HELLO makes it `LIVE`. One that comes in mid-game is a reset of the board: nothing that was known of it counts any
  more, so the squares are asked for again, and the LEDs and the wish for raw codes are told again. So they are after a
  gap in the sequence numbers, behind which a HELLO may have been lost, and after `DARK_S` in which the board may have
  heard nothing, upon which it goes dark.
- The squares are asked for (SNAP) whenever they may not be what the board has: after a gap in the sequence numbers, an
  event that does not fit, or a heartbeat whose checksum of the state is another.
- One command is outstanding at a time; it is repeated after `ANSWER_S`, `TRIES` times in all. Every command is
  absolute, so a repeated one does no harm.
- A board that says nothing for `SILENCE_S`, or answers nothing though it speaks, is lost: `LinkError`.

Every board line is numbered; so are commands, by an id that its answer names.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from companion.errors import LinkError
from companion.saying import Saying
from companion.tiles import wire
from companion.tiles.wire import (
    DARK,
    Acknowledged,
    Changed,
    Heartbeat,
    Hello,
    Hi,
    Light,
    Ping,
    RawCodes,
    Refused,
    SendRaw,
    Snap,
    State,
    Tokenizer,
    Trouble,
    WireError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

HELLO_S = 3.0
ANSWER_S = 0.3
TRIES = 3
PING_S = 1.0
SILENCE_S = 3.0
DARK_S = 5.0
"""A board that has heard nothing for so long is dark."""
LIGHT_CHUNK = 64
"""How many squares are lit by one command."""
NOBODY = Saying(
    "no tile board answers within %(seconds)s s; is its firmware flashed?", seconds=f"{HELLO_S + SILENCE_S:.0f}"
)
"""What is said of a port on which nothing is that says HELLO."""
_UNSURE = " "
"""Stands for the letter of an LED of which it is not known what it shows."""


class Stage(Enum):
    """How far the conversation has come."""

    WAITING = "waiting for HELLO"
    ASKED = "asked with HI"
    LIVE = "live"


@dataclass(slots=True)
class Request:
    """A command and what has become of it."""

    command: wire.Command
    answer: Acknowledged | Refused | None = None
    dropped: bool = False
    """The board was reset before it answered: nobody knows whether it obeyed, and it is not told again."""
    tries: int = 0
    sent_s: float = field(default=float("-inf"))

    @property
    def done(self) -> bool:
        """Whether the board has answered, or never will."""
        return self.dropped or self.answer is not None


@dataclass(slots=True)
class Counters:
    """What went wrong on the cable, for people who look for the reason."""

    gaps: int = 0
    """Lines of the board that never came, as its numbers show."""
    senseless: int = 0
    """Lines that came whole and said nothing known."""
    snapshots_asked: int = 0
    resets: int = 0
    repeats: int = 0
    refusals: int = 0


class Session:
    """One conversation, from the opening of a port to its end."""

    def __init__(self, now: float) -> None:
        self.stage = Stage.WAITING
        self.board: Hello | None = None
        """Who it is, once it has said so."""
        self.letters: str | None = None
        """What lies on the squares, None while that is not known."""
        self.certain = False
        """Whether no line was lost, or came twice, since `letters` were told as a whole."""
        self.codes: tuple[int, ...] = ()
        """The last raw codes."""
        self.counters = Counters()
        self._tokens = Tokenizer()
        self._began_s = self._heard_s = now
        self._expected_seq: int | None = None
        self._queue: deque[Request] = deque()
        self._outstanding: Request | None = None
        self._next_id = 1
        self._pinged_s = now
        self._reached_s = now
        """When the last command was said that the board is known to have heard."""
        self._snapshot_wanted = False
        self._raw_wanted = False
        self._raw_told = False
        self._light_wanted = ""
        self._light_told = ""

    @property
    def damaged(self) -> int:
        """How many stretches of bytes were no whole line."""
        return self._tokens.damaged

    # What comes in ------------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> Iterator[wire.Message]:
        """Take bytes, and go through the messages in them; after each, the session knows what it says.

        Raises:
            LinkError: when the board speaks another protocol.
        """
        self._tokens.feed(data)
        for body in self._tokens:
            try:
                message = wire.parse(body)
            except WireError as error:
                self._refuse_other_protocol(body)
                self.counters.senseless += 1
                logger.warning("the board said something strange: %s", error)
                continue
            if isinstance(message, wire.Message):
                self._take(message, now)
                yield message

    def _refuse_other_protocol(self, body: str) -> None:
        words = body.split(",")
        if words[0] == "HELLO" and wire.BOARD_NAME in words:
            raise LinkError(
                Saying(
                    "the board speaks a protocol that this program does not know (%(said)s); "
                    "flash the firmware that came with this program, see firmware/README.md",
                    said=body,
                )
            )

    def _take(self, message: wire.Message, now: float) -> None:
        self._heard_s = now
        if isinstance(message, Hello):
            self._greet(message)
        elif self.stage is Stage.WAITING:
            self._ask_who_it_is()
        self._check_sequence(message.seq)
        match message:
            case State():
                self._take_state(message)
            case Changed():
                self._take_change(message)
            case Heartbeat():
                if self.letters is None or wire.crc(self.letters) != message.state_crc:
                    self._doubt()
            case RawCodes():
                self.codes = message.codes
            case Acknowledged() | Refused():
                self._take_answer(message, now)
            case Trouble():
                logger.warning("the board complains: %s", message.code)

    def _greet(self, hello: Hello) -> None:
        if hello.protocol != wire.PROTOCOL:
            raise LinkError(
                Saying(
                    "the board speaks protocol %(theirs)s and this program protocol %(ours)s; "
                    "flash the firmware that came with this program, see firmware/README.md",
                    theirs=hello.protocol,
                    ours=wire.PROTOCOL,
                )
            )
        known = self.board
        if known is not None and (hello.boots != known.boots or hello.seq < (self._expected_seq or 0)):
            self.counters.resets += 1
            self._forget()
        self.board = hello
        self.stage = Stage.LIVE
        self._expected_seq = hello.seq
        self._snapshot_wanted |= self.letters is None

    def _forget(self) -> None:
        """The board has started anew: it knows nothing of what was said, and what was known of it is old."""
        self.letters = None
        if self._outstanding is not None:
            self._outstanding.dropped = True
            self._outstanding = None
        self._light_told = ""
        self._raw_told = False

    def _ask_who_it_is(self) -> None:
        self.stage = Stage.ASKED
        self.ask(Hi(0))

    def _check_sequence(self, seq: int) -> None:
        if self._expected_seq is not None and seq != self._expected_seq:
            self.counters.gaps += (seq - self._expected_seq) % wire.SEQ_MODULUS
            self._doubt()
            self._tell_again()
        self._expected_seq = (seq + 1) % wire.SEQ_MODULUS

    def _doubt(self) -> None:
        """Something has happened that was not told, or was told twice: what lies there has to be told as a whole."""
        self.certain, self._snapshot_wanted = False, True

    def _tell_again(self) -> None:
        """The board may show something else than it was told, and send no codes: it is told again what is wished."""
        self._light_told = _UNSURE * len(self._light_told)
        self._raw_told &= not self._raw_wanted

    def _take_state(self, state: State) -> None:
        if self.board is None:
            return  # how many squares it has is not known yet; it is asked again once it has said
        if len(state.letters) != self.board.squares:
            self.counters.senseless += 1
            return
        self.letters = state.letters
        self.certain, self._snapshot_wanted = True, False

    def _take_change(self, change: Changed) -> None:
        letters = self.letters
        if letters is None:
            return
        if change.index >= len(letters) or letters[change.index] != change.old:
            self._doubt()
        if change.index < len(letters):
            self.letters = letters[: change.index] + change.new + letters[change.index + 1 :]

    def _take_answer(self, answer: Acknowledged | Refused, now: float) -> None:
        request = self._outstanding
        if request is None or request.command.id != answer.id:
            return  # the answer to a repeat, which has been answered before
        self._outstanding = None
        request.answer = answer
        if now - self._reached_s >= DARK_S:
            self._tell_again()
        self._reached_s = self._pinged_s
        if isinstance(answer, Refused):
            self.counters.refusals += 1
            logger.warning("the board refuses %s: %s", wire.spell(request.command), answer.why)

    # What goes out ------------------------------------------------------------------------------------------------

    def ask(self, command: wire.Command) -> Request:
        """Queue a command, whose id is given to it here; the request tells what has become of it."""
        request = Request(replace(command, id=self._next_id))
        self._next_id = self._next_id % (wire.SEQ_MODULUS - 1) + 1
        self._queue.append(request)
        return request

    def show(self, letters: str) -> None:
        """Show palette letters, one a square; only the latest wish counts."""
        self._light_wanted = letters

    def send_raw(self, *, on: bool) -> None:
        """Ask for raw codes, ten times a second, or for no more of them."""
        self._raw_wanted = on

    def due(self, now: float) -> bytes:
        """The bytes that are to be sent at this moment.

        Raises:
            LinkError: when the board is silent, or does not answer.
        """
        self._check_alive(now)
        if self._outstanding is None:
            self._outstanding = self._next_request(now)
        request = self._outstanding
        if request is None or now - request.sent_s < ANSWER_S:
            return b""
        if request.tries == TRIES:
            if self._heard_s <= request.sent_s:
                return b""  # it is silent altogether, which has its own end
            asked = wire.spell(request.command)
            raise LinkError(Saying("the board does not answer %(command)s, though it can be heard", command=asked))
        self.counters.repeats += request.tries > 0
        request.tries += 1
        request.sent_s = now
        return wire.line(request.command)

    def _check_alive(self, now: float) -> None:
        if self.stage is Stage.WAITING and now - self._began_s >= HELLO_S:
            self._heard_s = now
            self._ask_who_it_is()
        elif self.stage is not Stage.WAITING and now - self._heard_s >= SILENCE_S:
            raise LinkError(
                NOBODY
                if self.board is None
                else Saying("the board has said nothing for %(seconds)s s", seconds=f"{SILENCE_S:.0f}")
            )

    def _next_request(self, now: float) -> Request | None:
        """What to say next, the most urgent first; who it is, again and again until it has said so."""
        if self.stage is Stage.ASKED and not self._queue and now - self._pinged_s >= PING_S:
            self.ask(Hi(0))
        if self.stage is Stage.LIVE and not self._queue:
            command = self._wish(now)
            if command is not None:
                self.ask(command)
        if not self._queue:
            return None
        self._pinged_s = now  # every command shows that the host is there
        return self._queue.popleft()

    def _wish(self, now: float) -> wire.Command | None:
        if self._snapshot_wanted:
            self._snapshot_wanted = False
            self.counters.snapshots_asked += 1
            return Snap(0)
        if self._light_wanted != self._light_told:
            return self._next_light()
        if self._raw_wanted != self._raw_told:
            self._raw_told = self._raw_wanted
            return SendRaw(0, on=self._raw_wanted)
        return Ping(0) if now - self._pinged_s >= PING_S else None

    def _next_light(self) -> Light:
        """The next stretch of the LEDs that is not shown yet."""
        wanted = self._light_wanted
        told = self._light_told.ljust(len(wanted), DARK)
        start = next((i for i, (old, new) in enumerate(zip(told, wanted, strict=False)) if old != new), 0)
        start -= start % LIGHT_CHUNK
        chunk = wanted[start : start + LIGHT_CHUNK]
        self._light_told = (told[:start] + chunk + told[start + LIGHT_CHUNK :])[: len(wanted)]
        return Light(0, start, chunk)
