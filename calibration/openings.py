"""Make the opening book: ``python -m calibration.openings``.

First every position with two pieces of each colour that play can lead to is solved, then every position with three
pieces, for the sake of referees' rulings (127,000 ranks in all). The values are kept in a work folder as they are
found, so the work can be stopped at any time and goes on where it was. One position in every `CHECK_EVERY` is solved
again by the plain search of `companion.analysis`; a disagreement stops the work.

Needs ``requirements/training.txt``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.console import Console
from rich.progress import track

from calibration.opening_positions import Placed, book_ranks
from companion.analysis.book import RANKS, UNKNOWN, unrank, write_book
from companion.analysis.search import search
from companion.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calibration.solver import FastSolver

CHECK_EVERY = 1_000
_BOOK = Path(__file__).parent.parent / "companion" / "analysis" / "openings.bin"


def value_of(solver: FastSolver, placed: Placed, guess: int) -> int:
    """The value of `placed` for the player to move, who may have to pass."""
    sign = 1 if placed.replies else -1
    return sign * solver.value(placed.position, sign * guess)


def open_values(work: Path) -> np.memmap[tuple[int], np.dtype[np.int8]]:
    """The values found so far, one byte a rank, kept in `work`."""
    work.mkdir(parents=True, exist_ok=True)
    path = work / "openings.values"
    missing = RANKS - (path.stat().st_size if path.exists() else 0)
    with path.open("ab") as file:
        file.write(bytes([UNKNOWN & 255]) * missing)
    return np.memmap(path, np.int8, "r+", shape=(RANKS,))


def solve(numbers: Iterable[int], values: np.memmap[tuple[int], np.dtype[np.int8]]) -> None:
    """Fill in those values of the ranks in `numbers` that are missing.

    Raises:
        SystemExit: if a value that is checked proves wrong.

    """
    solver, guess = _fast_solver(), 0
    for done, number in enumerate(numbers, start=1):
        placed = Placed(*_told(number))
        if values[number] == UNKNOWN:
            values[number] = guess = value_of(solver, placed, guess)
        if done % CHECK_EVERY == 0:
            _check(placed, int(values[number]))
            values.flush()
    values.flush()


def _fast_solver() -> FastSolver:
    try:
        from calibration.solver import FastSolver  # noqa: PLC0415 (writing the book so far does without)
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is not installed: pip install -r requirements/training.txt") from None
    return FastSolver()


def _told(number: int) -> tuple[int, int, int, int, int, int]:
    told = unrank(number)
    assert told is not None
    return told


def _check(placed: Placed, value: int) -> None:
    again = search(placed.position, 0, {})
    if value != (again if placed.replies else -again):
        raise SystemExit(f"{placed}: the compiled search says {value}, the plain one {again}; nothing is written")


@click.command()
@click.option(
    "--work", type=click.Path(path_type=Path), default=Path("build/openings"), help="Where unfinished work is kept."
)
@click.option("--out", type=click.Path(path_type=Path), default=_BOOK, help="The book file to write.")
@click.option("--so-far", is_flag=True, help="Write what is known by now; the program searches for the rest.")
def main(work: Path, out: Path, *, so_far: bool) -> None:
    """Make the opening book, from nothing or from where it was left."""
    console = Console(stderr=True)
    values = open_values(work)
    if not so_far:
        solve(track(list(book_ranks()), "Solving openings", console=console), values)
    write_whole(out, write_book(values.tobytes()))
    console.print(f"{out}: {np.count_nonzero(values != UNKNOWN)} positions, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
