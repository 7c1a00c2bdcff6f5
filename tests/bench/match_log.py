"""What the match log costs: ``python3 tests/bench/match_log.py [FOLDER]``, FOLDER on the disk to be measured."""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from companion.rules import Game, MatchText, parse_moves
from companion.store import MatchLog, Opening
from companion.store.retelling import events_telling

EXAMPLE = "1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8. b3<> b1<>"
GAME = MatchText(Game.replay(parse_moves(EXAMPLE)))
TOLD = tuple(events_telling(GAME, table="1"))
PICTURE = bytes(range(256)) * 400
MATCHES = 1000


def now() -> datetime:
    return datetime.now(UTC)


def timed(deed: Callable[[], object]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    deed()
    return (time.perf_counter() - start) * 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as name:
        table = Table("what", "times", "median ms", "slowest ms")

        def row(what: str, *ms: float) -> None:
            table.add_row(what, str(len(ms)), f"{statistics.median(ms):.1f}", f"{max(ms):.1f}")

        row("open a new log, migrations and their import included", timed(lambda: MatchLog.open(name, now).close()))
        row("open it again", *(timed(lambda: MatchLog.open(name, now).close()) for _ in range(20)))
        with MatchLog.open(name, now) as log:
            match = log.begin(Opening(light="Ann", dark="Ben"))
            row("append one event, on the disk", *(timed(lambda e=e: log.append(match, [e])) for e in TOLD * 10))
            seen = log.begin(Opening())
            pictures = [PICTURE + bytes([i]) for i in range(len(TOLD))]
            row(
                "append one event with a picture of 100 kB",
                *(timed(lambda e=e, p=p: log.append(seen, [e], p)) for e, p in zip(TOLD, pictures, strict=True)),
            )
            row("verify a match with its pictures", *(timed(lambda: log.verify(seen)) for _ in range(20)))
            row("rebuild a game", *(timed(lambda: log.game(seen)) for _ in range(20)))
            texts = [MatchText(GAME.game, {"Round": str(i)}) for i in range(MATCHES)]  # alike, they would be one match
            row(f"import {MATCHES} matches at once", timed(lambda: log.import_texts(texts)))
            row(f"list {MATCHES} matches", *(timed(log.matches) for _ in range(5)))
            row("find the match to resume among them", *(timed(lambda: log.latest("1")) for _ in range(20)))
            size = sum(file.stat().st_size for file in Path(name).iterdir())
    console = Console()
    console.print(table)
    console.print(f"{size / 1e6:.1f} MB on disk")


if __name__ == "__main__":
    main()
