"""Games with disturbances, and hours without a move, in pictures: what goes wrong, how often, and how late?

    python -m tests.bench.stress [--games N] [--swaying N] [--hunting N] [--banded N] [--held N] [--boxes N]
                                 [--clips N] [--imagined N] [--hours H] [--first N] [--full]

*Games* are whole ones, *swaying* those in which the shadows of leaves sway over the board, *hunting* those before a
camera that loses focus every few seconds, *banded* those under lamps of which bands roll over the picture, *held*
those before a camera that somebody holds, *boxes* those of the Green Box; a *clip* is one disturbance in mid-game and
a move, all disturbances in turn; *imagined* games have no pixels but readings by an eye that errs (see `eye`), so that
settling and the referee meet thousands. Every one has its number and is always the same. What was watched is kept in
FILE, line by line, and not watched again: a run that was stopped goes on. ``--full`` is 200 games, 40 under leaves, 40
out of focus, 40 in bands, 40 by hand, 40 of the Green Box, and 10 hours.

*Exact*: the game as it was played, and nobody was asked anything. *Wrong*: a move was told that did not lie there then,
or that was not the next, or the game ends otherwise, in silence. *Stuck*: told of as illegal or unresolved to the end,
but not asked about.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections import defaultdict
from functools import partial
from pathlib import Path

import cv2

from tests.bench.stress.eye import Errors
from tests.bench.stress.watching import GAMES, eyes, imagine_game, watch_box, watch_clip, watch_game, watch_quiet

MINUTES = 1
"""Of one quiet stretch."""
ERRORS = Errors(odd=0.02, unsure=0.01, blind=0.0)
"""Of imagined eyes; worse than the ones that ship, but for hands that they do not notice."""
WATCH = {
    **{kind: partial(watch_game, kind=kind) for kind in GAMES},
    "box": watch_box,
    "clip": watch_clip,
    "imagined": lambda seed, _: imagine_game(seed, ERRORS),
    "quiet": lambda seed, reader: watch_quiet(seed, MINUTES, reader),
}
FORTY = {"swaying": "swaying", "hunting": "hunting", "banded": "banded", "held": "held", "box": "boxes"}
"""The kinds of which a full run watches forty, and their options."""
NAMES = {
    "game": "whole games",
    "swaying": "whole games in the shadow of leaves",
    "hunting": "whole games before a camera that loses focus",
    "banded": "whole games in bands of light",
    "held": "whole games before a camera in the hand",
    "box": "whole games of the Green Box",
    "clip": "clips of one disturbance",
    "imagined": "games imagined without pixels",
}


def known(path: Path) -> dict[tuple[str, int], dict]:
    """The verdicts that are kept, by kind and seed."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["kind"], row["seed"]): row for row in rows}


def watched(path: Path, wanted: list[tuple[str, int]]) -> list[dict]:
    """The verdicts that are wanted, by kind and number; what is missing is watched now."""
    rows, reader = known(path), None
    for kind, seed in wanted:
        if (kind, seed) in rows:
            continue
        reader = reader or eyes()
        verdict = WATCH[kind](seed, reader)
        rows[kind, seed] = verdict.row()
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[kind, seed]) + "\n")
        print(f"{kind} {seed}: {verdict.outcome} {verdict.blame} ({verdict.cost_s} s)", flush=True)
        for line in (*verdict.wrong, *verdict.asked):
            print(f"    {line}", flush=True)
    return [rows[key] for key in wanted]


def percentile(values: list[float], percent: int) -> float:
    """Nan for none."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)] if values else float("nan")


def print_games(what: str, rows: list[dict]) -> None:
    """The games, as a whole and by disturbance."""
    count = {
        outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("exact", "asked", "stuck", "wrong")
    }
    print(f"\n{len(rows)} {what}: " + ", ".join(f"{n} {outcome}" for outcome, n in count.items()))
    delays = [delay for row in rows for _, delay in row["delays"]]
    if asked := sum(row.get("kinds", 0) for row in rows):
        due = sum(row.get("due", 0) for row in rows)
        print(f"asked which kind a cube is: {asked} times, {due} of them after the same card twice in a row")
    print(f"hand off the board to committed move, {len(delays)} moves: ", end="")
    print(f"p50 {percentile(delays, 50):.2f} s, p95 {percentile(delays, 95):.2f} s, most {max(delays):.2f} s")
    calm = [delay for row in rows for act, delay in row["delays"] if act != "quick moves"]
    print(
        f"  where the next player waited for the hand to go: p95 {percentile(calm, 95):.2f} s, most {max(calm):.2f} s"
    )
    by_fps = defaultdict(list)
    for row in rows:
        by_fps[row["fps"]] += [delay for _, delay in row["delays"]]
    print(
        "p95 by frames a second: " + ", ".join(f"{fps}: {percentile(d, 95):.2f}" for fps, d in sorted(by_fps.items()))
    )
    print(f"{'disturbance':<22}{'times':>6}{'asked':>7}{'stuck':>7}{'wrong':>7}{'p50 s':>8}{'p95 s':>8}")
    blamed = defaultdict(lambda: defaultdict(int))
    times, late = defaultdict(int), defaultdict(list)
    for row in rows:
        blamed[row["blame"]][row["outcome"]] += 1
        for act in row["acts"]:
            times[act] += 1
        for act, delay in row["delays"]:
            late[act or "nothing"].append(delay)
    for name in sorted({*times, *blamed, *late} - {""}):
        bad = blamed[name]
        figures = f"{percentile(late[name], 50):>8.2f}{percentile(late[name], 95):>8.2f}" if late[name] else ""
        print(f"{name:<22}{times[name]:>6}{bad['asked']:>7}{bad['stuck']:>7}{bad['wrong']:>7}{figures}")


def print_quiet(rows: list[dict]) -> None:
    """The hours without a move."""
    hours = sum(row["seconds"] for row in rows) / 3600
    moves = sum(len(row["wrong"]) for row in rows)
    questions = sum(len(row["asked"]) for row in rows)
    told = sum("IllegalPlacement" in line for row in rows for line in row["told"])
    print(f"\n{hours:.2f} hours without a move: {moves} false moves ({moves / hours:.2f} an hour), ", end="")
    print(f"{questions} questions, {told} illegal placements told of")
    unseen = sum(row["unseen_s"] for row in rows) / 3600
    print(f"the board was out of sight or just moved for {100 * unseen / hours:.1f} % of the time")


def main() -> None:
    """Watch, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=0)
    for option in FORTY.values():
        parser.add_argument(f"--{option}", type=int, default=0)
    parser.add_argument("--clips", type=int, default=58)
    parser.add_argument("--imagined", type=int, default=100)
    parser.add_argument("--hours", type=float, default=0.25)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number that each begins with")
    parser.add_argument("--full", action="store_true", help="all kinds, and many of each")
    parser.add_argument("--keep", type=Path, default=Path("stress.jsonl"), metavar="FILE")
    parser.add_argument("--nice", type=int, default=15, help="how far to stand back for other work")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    os.nice(asked.nice)
    wanted = {"game": 200 if asked.full else asked.games, "clip": asked.clips, "imagined": asked.imagined}
    wanted |= {kind: 40 if asked.full else getattr(asked, option) for kind, option in FORTY.items()}
    wanted["quiet"] = math.ceil((10.0 if asked.full else asked.hours) * 60 / MINUTES)
    numbers = [(kind, asked.first + i) for kind, number in wanted.items() for i in range(number)]
    rows = watched(asked.keep, numbers)
    for kind, name in NAMES.items():
        if wanted[kind]:
            print_games(name, [row for row in rows if row["kind"] == kind])
    if wanted["quiet"]:
        print_quiet([row for row in rows if row["kind"] == "quiet"])
    print(f"watching took {sum(row['cost_s'] for row in rows) / 60:.1f} minutes of one core")


if __name__ == "__main__":
    main()
