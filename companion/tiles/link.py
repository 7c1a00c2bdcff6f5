"""The tile board as a source of readings, which comes back by itself after its cable was pulled.

Theory of operation. Whoever calls `TileBoard.read` lends it the time to talk: bytes are exchanged, pings sent and lost
cables looked for only in there, so there is no thread, and a program that stops reading stops pinging, upon which the
board goes dark. When the board is lost, `read` says so once with `SourceError`; from then on it answers None, trying to
get the board back every `RETRY_S`, and goes on with readings when it has.

What comes back may be another board: cables get exchanged where several tables stand. A board does not say which one it
is, but how often it was started, and that only grows, and not faster than a chip can start. One that was started less
often than the board of before, or far more often, is a stranger, and nothing is read of it. Its port is kept where that
has the name that was asked for, and passed by where one was looked for, until it is unplugged: opening it once more
with every try would start it as often, until it has caught up. A board that has only begun to count is believed: it may
be the one of before, that has lost its memory or was given a new chip.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Self

from companion.address import shown
from companion.errors import LinkError, RulesError, SourceError, SourceSyntaxError
from companion.readings import ANYTHING, LETTERS, BoardReading, contents_of
from companion.saying import Saying
from companion.tiles.ports import PortFinder
from companion.tiles.session import Session
from companion.tiles.virtual import VirtualBoard, VirtualPort
from companion.tiles.wire import Hello

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from companion.readings import Contents
    from companion.rules import Layout, Square
    from companion.tiles import wire
    from companion.tiles.ports import Port
    from companion.tiles.session import Request

logger = logging.getLogger(__name__)

RETRY_S = 1.0
"""How often a lost board is looked for."""
REPEAT_S = 0.1
"""How often a reading is given when nothing changes, so that whoever settles readings sees that nothing does."""
STARTS_PER_S = 10
"""No board starts more often than this, whatever its cable does: it takes a tenth of a second to start and count it."""
COUNTING_ANEW = 10
"""A board that was started so often and no more may be any board that has lost its memory."""
SETTLE_S = 0.0
"""What is left to settle of a tile reading: nothing, the board has debounced it."""

_CONTENTS: dict[str, Contents] = {letter: contents_of([content]) for content, letter in LETTERS.items()}


def contents_of_letter(letter: str) -> Contents:
    """What a square may hold that the board tells as `letter`; a short and an unknown rule nothing out."""
    return _CONTENTS.get(letter, ANYTHING)


class TileBoard:
    """A tile board on a cable; see `companion.readings.Source`.

    ::

        with open_tiles("tiles:/dev/ttyUSB0", layout, clock=time.monotonic, wait=time.sleep) as board:
            while True:
                reading = board.read(1.0)
    """

    live = True
    settle_s = SETTLE_S
    may_turn = False

    def __init__(
        self,
        name: str,
        connect: Callable[[], Port],
        layout: Layout,
        *,
        clock: Callable[[], float],
        wait: Callable[[float], None],
        patient: bool = False,
        virtual: VirtualBoard | None = None,
    ) -> None:
        """Open the port; the board itself may say HELLO later.

        `connect` opens the port, `clock` gives monotonic seconds, `wait` lets so many of them pass. If `patient`, the
        port is opened when it is read first: one that is not there yet is lost until it comes. `virtual` is the
        board itself, if it is not there.

        Raises:
            SourceError: if the port cannot be opened, unless `patient`.
        """
        self.name = name
        self._connect = connect
        self._layout = layout
        self._clock = clock
        self._wait = wait
        self.virtual = virtual
        """The board that is not there; None for a real one."""
        self._port: Port | None = None
        self._session = Session(clock())
        self._known: Hello | None = None
        """How the board has introduced itself last, whose readings were given."""
        self._stranger = False
        """Whether another board is on the port now."""
        self._readings: deque[BoardReading] = deque()
        self._told_s = float("-inf")
        self._told_letters = ""
        self._retry_s = float("-inf")
        self._complaint = ""
        self._light = ""
        if not patient:
            self._open()

    @property
    def session(self) -> Session:
        """The conversation of now, for those who want to know more of the board than its readings."""
        return self._session

    @property
    def connected(self) -> bool:
        """Whether the board is there and has said what lies on its squares."""
        return not self.lost and self._session.letters is not None

    @property
    def lost(self) -> bool:
        """Whether it has to be got back by reading: its port is closed, or another board is on it."""
        return self._port is None or self._stranger

    @property
    def trouble(self) -> str:
        """Why a square, or the whole board, cannot be read though the board is there; empty if all is well."""
        if self.lost:
            return ""  # that has been said
        if self._session.letters is None:
            return Saying("the board has not yet said what lies on it")
        if not self.unclear:
            return ""
        return Saying(
            "the board cannot tell what lies on %(squares)s; clean the contacts, or calibrate",
            squares=", ".join(map(str, self.unclear)),
        )

    @property
    def unclear(self) -> tuple[Square, ...]:
        """The squares that are shorted, or hold something that is no piece."""
        letters = self._session.letters or ""
        return tuple(square for square, letter in zip(self._layout, letters, strict=False) if letter in "!?")

    def read(self, timeout_s: float) -> BoardReading | None:
        """The next reading: at once when a square changes, else every `REPEAT_S`.

        Raises:
            SourceError: once, when the board is lost, or when the reason why it cannot be got back is another.
        """
        deadline = self._clock() + timeout_s
        while not self._readings:
            if self._port is None:
                self._get_back(deadline)
            if self._port is not None:
                self._exchange(self._port)
            if self._clock() >= deadline:
                break
        return self._readings.popleft() if self._readings else None

    def show(self, letters: str) -> None:
        """Light the squares: one letter of `companion.tiles.light` for each, in the order of the layout.

        Any thread may call it; the board is told the next time that `read` is called.
        """
        self._light = letters

    def ask(self, command: wire.Command) -> Request:
        """Send the board a command the next time that `read` is called."""
        return self._session.ask(command)

    def lay_out(self, layout: Layout, sets: int) -> None:  # noqa: ARG002 (tiles know each piece)
        """Take the squares for those of another board; see `companion.readings.Source`."""
        if layout == self._layout:
            return
        board = self._session.board
        if self.virtual is not None:
            self.virtual.rebuild(LETTERS[None] * len(layout))
        elif board is not None and board.squares != len(layout):
            raise RulesError(
                Saying(
                    "%(source)s has %(there)s squares, and %(layout)s has %(wanted)s; "
                    "choose a layout of as many, or flash the firmware for that many",
                    source=self.name,
                    there=board.squares,
                    layout=str(layout),
                    wanted=len(layout),
                )
            )
        self._layout, self._light = layout, ""
        self._readings.clear()
        self.close()
        self._retry_s = float("-inf")

    def close(self) -> None:
        """Let go of the port; the board goes dark by itself."""
        if self._port is not None:
            self._port.close()
        self._port = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self) -> None:
        self._port = self._connect()
        self._session = Session(self._clock())
        self._stranger = False

    def _get_back(self, deadline: float) -> None:
        """Look for the lost board, at most every `RETRY_S`; until `deadline` if it is not yet time."""
        now = self._clock()
        if now < self._retry_s:
            self._wait(max(0.0, min(self._retry_s, deadline) - now))
            return
        self._retry_s = now + RETRY_S
        try:
            self._open()
        except SourceError as error:
            self._complain(error.saying)

    def _complain(self, why: str) -> None:
        """Raise `SourceError`, unless that has just been said."""
        if why != self._complaint:
            self._complaint = why
            raise SourceError(why)

    def _exchange(self, port: Port) -> None:
        """Talk to the board once; listen first, lest a program that was busy take its own silence for the board's."""
        try:
            for message in self._session.receive(port.receive(), self._clock()):
                self._take(message)
            self._session.show("" if self._stranger else self._light)
            words = self._session.due(self._clock())
            if words:
                port.send(words)
        except LinkError as error:
            self._lose(error.saying)
        self._repeat()

    def _lose(self, why: str) -> None:
        self.close()
        self._retry_s = self._clock() + RETRY_S
        self._complain(Saying("%(source)s: %(why)s", source=self.name, why=why))

    def _take(self, message: wire.Message) -> None:
        if isinstance(message, Hello):
            self._recognise(message)
        board, letters = self._session.board, self._session.letters
        if board is not None and board.squares != len(self._layout):
            raise LinkError(
                Saying(
                    "this board has %(there)s squares and the layout %(layout)s has %(wanted)s; "
                    "choose the layout that fits, or flash the firmware for that many squares",
                    there=board.squares,
                    layout=str(self._layout),
                    wanted=len(self._layout),
                )
            )
        if not self._stranger and letters is not None and self._session.certain and letters != self._told_letters:
            self._tell(letters)
        logger.debug("the board says %s", message)

    def recognises(self, hello: Hello) -> bool:
        """Whether the board that says this may be the one of before, or whether none is known yet."""
        if self._known is None or hello.boots <= COUNTING_ANEW:
            return True
        since_s = self._clock() - self._told_s
        return 0 <= hello.boots - self._known.boots <= STARTS_PER_S * (1 + since_s)

    def _recognise(self, hello: Hello) -> None:
        """Make sure that it is the board of before, as far as it can be told; `SourceError` if it is another."""
        self._stranger = not self.recognises(hello)
        if self._stranger:
            why = Saying(
                "another tile board is plugged in than before; plug in the one of before, or start the program again"
            )
            self._complain(Saying("%(source)s: %(why)s", source=self.name, why=why))

    def _repeat(self) -> None:
        """Give the reading of before once more, when it has been a while."""
        letters = self._session.letters if self._session.certain else None
        if not self.lost and letters is not None and self._clock() - self._told_s >= REPEAT_S:
            self._tell(letters)

    def _tell(self, letters: str) -> None:
        self._complaint = ""
        self._known = self._session.board or self._known
        self._told_s, self._told_letters = self._clock(), letters
        squares = tuple(map(contents_of_letter, letters))
        self._readings.append(BoardReading(time=self._told_s, squares=squares, evidence=letters.encode("ascii")))


def open_tiles(
    text: str,
    layout: Layout,
    *,
    clock: Callable[[], float],
    wait: Callable[[float], None],
    patient: bool = False,
    others: Iterable[str] = (),
) -> TileBoard:
    """Open ``tiles:PORT``, ``tiles:auto`` or ``virtual:tiles``.

    `others` are the texts of all other sources of this program, whose tile boards are never taken for this one; the
    other arguments are those of `TileBoard`.

    Raises:
        SourceSyntaxError: if `text` names no port of a tile board.
        SourceError: if the port cannot be opened, or no board is found; says what to do.
    """
    if text == "virtual:tiles":
        board = VirtualBoard(len(layout), clock)
        return TileBoard(text, lambda: VirtualPort(board, wait), layout, clock=clock, wait=wait, virtual=board)
    kind, _, wanted = text.partition(":")
    if kind != "tiles" or not wanted:
        raise SourceSyntaxError(
            f"{text!r} names no port of a tile board; write tiles:auto, tiles:/dev/ttyUSB0 or tiles:COM3"
        )
    elsewhere = [other.removeprefix("tiles:") for other in others if other.startswith("tiles:")]
    opened: list[TileBoard] = []
    finder = PortFinder(
        wanted, clock, others=elsewhere, recognises=lambda hello: all(source.recognises(hello) for source in opened)
    )
    opened.append(TileBoard(shown(text), finder, layout, clock=clock, wait=wait, patient=patient))
    return opened[0]
