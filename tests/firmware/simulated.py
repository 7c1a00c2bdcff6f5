"""The firmware on a simulated chip, led from Python: its squares, its cable, its clock."""

from __future__ import annotations

import math
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from companion.errors import LinkError
from companion.tiles import wire
from companion.tiles.ports import POLL_S, SerialPort
from companion.tiles.virtual import NOMINAL_OHM

FIRMWARE = Path(__file__).parents[2] / "firmware"
SIMULATOR = FIRMWARE / "build" / "boardsim"
CYCLES_PER_S = 16_000_000
BYTE_CYCLES = 1389
"""One byte at 115200 8N1."""

OHM = dict(zip(wire.BAND_LETTERS, (*NOMINAL_OHM, None), strict=True))
"""The resistance of every content of a square; None is open."""


def hex_file(squares: int) -> Path:
    return FIRMWARE / "hex" / f"mijnlieff-{squares}.hex"


@dataclass
class LedFrame:
    """What the LEDs were last sent, and how; times in cycles of 62.5 ns."""

    frames: int
    pixels: list[tuple[int, int, int]]
    """Red, green, blue."""
    high_of_0: tuple[int, int]
    high_of_1: tuple[int, int]
    low: tuple[int, int]


class SimulatedBoard:
    """A board on a simulated chip. Time passes in it only when it is told to run."""

    def __init__(self, squares: int = 16, *, hex_path: Path | None = None, bootloader: Path | None = None) -> None:
        self.squares = squares
        program = hex_path or ("-" if bootloader else hex_file(squares))  # a boot loader alone is a blank board
        command = [str(SIMULATOR), str(program), str(squares), *([str(bootloader)] if bootloader else [])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._cycle = 0
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def tell(self, line: str) -> list[str]:
        """Send the simulator a line; the words of its answer."""
        self.post(line)
        return self._answer()

    def post(self, line: str) -> None:
        """Send a line without waiting for the answer."""
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _answer(self) -> list[str]:
        words = self._process.stdout.readline().rstrip("\n").split(" ")
        if words[0] in {"", "error"}:
            raise RuntimeError(f"the simulator says {' '.join(words)!r}")
        return words

    def clock(self) -> float:
        """The board's own time, in seconds."""
        return self._cycle / CYCLES_PER_S

    def run(self, seconds: float) -> bytes:
        """Let time pass; what the board sends meanwhile."""
        return self._pass(f"run {math.ceil(seconds * 1e6)}")

    def run_to_line(self, seconds: float) -> bytes:
        """Let time pass, but only until the board has ended a line."""
        return self._pass(f"line {round(seconds * 1e6)}")

    def _pass(self, line: str) -> bytes:
        _, cycle, sent = self.tell(line)
        self._cycle = int(cycle)
        return bytes.fromhex(sent)

    def send(self, data: bytes) -> None:
        """Let the host send bytes, at their pace; time must pass for them to arrive."""
        if data:
            self.tell(f"rx {data.hex()}")

    def put(self, square: int, letter: str, *, bounce_s: float = 0.0) -> None:
        """Lay a piece on a square, or take it away with ``.``, or short it with ``!``."""
        self.put_ohm(square, OHM[letter], bounce_s=bounce_s)

    def put_ohm(self, square: int, ohm: float | None, *, bounce_s: float = 0.0) -> None:
        self.tell(f"put {square} {'open' if ohm is None else ohm} {round(bounce_s * 1e6)}")

    def reset(self) -> None:
        """Pull the reset pin, as opening the port does."""
        self.tell("reset")

    def leds(self) -> LedFrame:
        _, frames, shown, *pulses = self.tell("leds")
        raw = bytes.fromhex(shown)
        pixels = [(raw[i + 1], raw[i], raw[i + 2]) for i in range(0, len(raw), 3)]
        low0, high0, low1, high1, low, high = map(int, pulses)
        return LedFrame(int(frames), pixels, (low0, high0), (low1, high1), (low, high))

    def longest_wait_cycles(self) -> int:
        """The longest that a received byte has waited to be taken."""
        return int(self.tell("stats")[1])

    def bytes_lost(self) -> int:
        return int(self.tell("stats")[2])

    def unused_stack(self) -> int:
        return int(self.tell("stats")[3])


class Speaker:
    """A host that says lines to a board and reads its answers, without the link that is tested elsewhere."""

    def __init__(self, board: SimulatedBoard) -> None:
        self.board = board
        self.tokens = wire.Tokenizer()

    def listen(self, seconds: float) -> list[wire.Message]:
        self.tokens.feed(self.board.run(seconds))
        return [wire.parse(body) for body in self.tokens]

    def say(self, command: wire.Command, *, listen_s: float = 0.1) -> list[wire.Message]:
        self.board.send(wire.line(command))
        return self.listen(listen_s)

    def start(self) -> list[wire.Message]:
        """What the board says until it has said what lies on its squares."""
        return self.listen(0.4 if self.board.squares <= 32 else 2.0)


class PtyPort(SerialPort):
    """A real serial port of this machine with a `SimulatedBoard` at its other end, in the board's time."""

    def __init__(self, board: SimulatedBoard) -> None:
        self.board = board
        self.heard_s = 0.0
        """When the host last heard the board, by the host's clock."""
        super().__init__(board.tell("pty")[1])
        self._serial.timeout = 0  # time passes in the board, not here
        board.reset()

    def receive(self) -> bytes:
        try:
            waiting = self._serial.in_waiting
        except OSError:
            waiting = 1  # reading it will tell
        if not waiting and not self._given_back:
            self.board._pass(f"pump {round(POLL_S * 1e6)}")
        data = super().receive()
        if data:
            self.heard_s = time.monotonic()
        return data


class SimulatedPort:
    """The cable of a `SimulatedBoard`, as `companion.tiles.ports.Port`: waiting lets the board's time pass."""

    def __init__(self, board: SimulatedBoard) -> None:
        self.name = "simulated"
        self.board = board
        self.pulled = False
        self._given_back = b""
        board.reset()

    def receive(self) -> bytes:
        self._refuse_pulled()
        data, self._given_back = self._given_back, b""
        return data or self.board.run_to_line(POLL_S)

    def send(self, data: bytes) -> None:
        self._refuse_pulled()
        self.board.send(data)

    def give_back(self, data: bytes) -> None:
        self._given_back += data

    def close(self) -> None:
        self.pulled = True

    def _refuse_pulled(self) -> None:
        if self.pulled:
            raise LinkError("the cable is pulled")
