"""What the tile board does, measured on the simulated chip: ``python3 -m tests.bench.tiles [--full]``.

`--full` is what the project promises: 10,000 placements at every corner of the tolerances together, and 50 whole games
through firmware, serial port, link, table and page, with cables pulled, garbage, resets and hangs. Without it, a tenth.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from companion.tiles import wire
from companion.tiles.wire import Acknowledged, Changed, Heartbeat, Light, SendRaw, Snap
from tests.firmware.games import Page, TiledTable
from tests.firmware.simulated import CYCLES_PER_S, FIRMWARE, SimulatedBoard, Speaker
from tests.firmware.test_accuracy import CORNERS, calibrate, placements, set_corner

SIZES = (16, 32, 128)
PARTS = ("speeds", "accuracy", "games")


def milliseconds(cycles: float) -> str:
    return f"{cycles * 1000 / CYCLES_PER_S:.3f} ms"


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def speeds(table: Table, squares: int, times: int) -> None:
    """Scan rate, delay from contact to event, longest wait of a received byte, LED frame."""
    dice = random.Random(squares)
    with SimulatedBoard(squares) as board:
        speaker = Speaker(board)
        speaker.start()
        beats = [message for message in speaker.listen(3.0) if isinstance(message, Heartbeat)]
        table.add_row(f"{squares} squares: scans a second", f"{beats[-1].scans - beats[-2].scans}")
        delays = []
        for number in range(times):
            speaker.listen(dice.uniform(0.05, 0.15))
            board.put(number % squares, "Ss."[number // squares % 3])
            laid_s = board.clock()
            while not any(isinstance(message, Changed) for message in listen_to_line(speaker)):
                pass
            delays.append(board.clock() - laid_s)
        table.add_row(f"{squares} squares: contact to event, median", f"{statistics.median(delays) * 1000:.1f} ms")
        table.add_row(f"{squares} squares: contact to event, p95", f"{p95(delays) * 1000:.1f} ms")
        load(speaker, squares)
        table.add_row(f"{squares} squares: longest wait of a received byte", milliseconds(board.longest_wait_cycles()))
        table.add_row(f"{squares} squares: stack never used", f"{board.unused_stack()} bytes")


def listen_to_line(speaker: Speaker) -> list[wire.Message]:
    speaker.tokens.feed(speaker.board.run_to_line(0.05))
    return [wire.parse(body) for body in speaker.tokens]


def load(speaker: Speaker, squares: int) -> None:
    """Everything at once: pictures, snapshots, raw codes, pieces coming and going."""
    speaker.say(SendRaw(1, on=True))
    for number in range(10):
        for square in range(squares):
            speaker.board.put(square, "Ss"[(number + square) % 2])
        for offset in range(0, squares, 64):
            picture = ("XT" if number % 2 else "TX") * 32
            answers = speaker.say(Light(2, offset, picture[: min(64, squares)]), listen_s=0.2)
            assert any(isinstance(answer, Acknowledged) for answer in answers)
        speaker.say(Snap(3), listen_s=0.2)


def accuracy(table: Table, tolerance: float, count: int, *, calibrated: bool, squares: int = 16) -> None:
    """Random pieces on all squares at every corner of the tolerances."""
    laid = wrong = unknown = 0
    for seed, corner in enumerate(CORNERS):
        with SimulatedBoard(squares) as board:
            speaker = Speaker(board)
            speaker.start()
            factor = set_corner(board, tolerance, corner)
            if calibrated:
                calibrate(speaker, factor)
            rounds = -(-count // (squares * len(CORNERS)))
            for i, number in enumerate(placements(speaker, factor, rounds, seed)):
                laid, wrong, unknown = (old + (number if i == j else 0) for j, old in enumerate((laid, wrong, unknown)))
    name = f"{squares} squares, {tolerance:.0%} parts, {'calibrated' if calibrated else 'as the firmware comes'}"
    table.add_row(f"{name}: placements", f"{laid}")
    table.add_row(f"{name}: misread, unknown", f"{wrong}, {unknown}")


def games(table: Table, count: int) -> None:
    """Random games with trouble on about every third move."""
    exact = moves = 0
    delays: list[float] = []
    page_delays: list[float] = []
    troubles: dict[str, int] = {}
    for seed in range(count):
        with SimulatedBoard() as board:
            board.tell("noise 4")
            tiled = TiledTable(board)
            page = Page(tiled.table)
            told = tiled.play(random.Random(seed), trouble=0.3, page=page)
            page.close()
            tiled.close()
        exact += told.exact and told.game.outcome is not None and tiled.table.referee.game.history == told.game.history
        moves += len(told.played)
        delays += told.delays_s
        page_delays += told.page_delays_s
        for name, times in told.troubles.items():
            troubles[name] = troubles.get(name, 0) + times
        print(f"game {seed + 1}: {'exact' if exact == seed + 1 else 'NOT EXACT'}", file=sys.stderr, flush=True)
    table.add_row("games exact, of", f"{exact}, {count}")
    table.add_row("moves", f"{moves}")
    table.add_row("troubles", ", ".join(f"{times} {name}" for name, times in troubles.items()))
    table.add_row("contact to view of the table, median", f"{statistics.median(delays) * 1000:.0f} ms")
    table.add_row("contact to view of the table, p95", f"{p95(delays) * 1000:.0f} ms")
    table.add_row("contact to page, median", f"{statistics.median(page_delays) * 1000:.0f} ms")
    table.add_row("contact to page, p95", f"{p95(page_delays) * 1000:.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="*", help=" or ".join(PARTS))
    parser.add_argument("--full", action="store_true")
    asked = parser.parse_args()
    if set(asked.part).difference(PARTS):
        parser.error(f"there is no such part; there are {', '.join(PARTS)}")
    full, only = asked.full, asked.part or PARTS
    subprocess.run(["make", "-s", "-C", FIRMWARE, "simulator"], check=True)
    table = Table("what", "measured", title="The tile board, in its own time")
    began = time.perf_counter()
    if "speeds" in only:
        for squares in SIZES:
            speeds(table, squares, 100 if full else 20)
    if "accuracy" in only:
        accuracy(table, 0.01, 10_000 if full else 1000, calibrated=False)
        accuracy(table, 0.05, 10_000 if full else 1000, calibrated=True)
        accuracy(table, 0.01, 10_240 if full else 1024, calibrated=False, squares=128)
    if "games" in only:
        games(table, 50 if full else 5)
    Console().print(table)
    print(f"measured in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
