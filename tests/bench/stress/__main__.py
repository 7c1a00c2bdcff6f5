"""Whole games with disturbances, and hours without a move, in pictures: what goes wrong, how often, and how late?

    python -m tests.bench.stress [--games N] [--hours H] [--full] [--keep FILE]

Every game and every quiet stretch has its number and is always the same. What was watched is kept in FILE, line by line,
and not watched again: a run that was stopped goes on. ``--full`` is 200 games and 10 hours.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections import defaultdict
from pathlib import Path

import cv2

from tests.bench.stress.watching import eyes, watch_game, watch_quiet

MINUTES = 5
"""Of one quiet stretch."""


def known(path: Path) -> dict[tuple[str, int], dict]:
    """The verdicts that are kept, by kind and seed."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["kind"], row["seed"]): row for row in rows}


def watched(path: Path, games: int, hours: float) -> list[dict]:
    """Every verdict that is wanted; what is missing is watched now."""
    rows, reader = known(path), None
    wanted = [("game", seed) for seed in range(games)]
    wanted += [("quiet", seed) for seed in range(math.ceil(hours * 60 / MINUTES))]
    for key in wanted:
        if key not in rows:
            reader = reader or eyes()
            kind, seed = key
            verdict = watch_game(seed, reader) if kind == "game" else watch_quiet(seed, MINUTES, reader)
            rows[key] = verdict.row()
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[key]) + "\n")
            print(f"{kind} {seed}: {verdict.outcome} {verdict.blame} ({verdict.cost_s} s)", flush=True)
            for line in (*verdict.wrong, *verdict.asked):
                print(f"    {line}", flush=True)
    return [rows[key] for key in wanted]


def percentile(values: list[float], percent: int) -> float:
    """Nan for none."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)] if values else float("nan")


def print_games(rows: list[dict]) -> None:
    """The games, as a whole and by disturbance."""
    count = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("exact", "asked", "stuck", "wrong")}
    print(f"\n{len(rows)} games: " + ", ".join(f"{n} {outcome}" for outcome, n in count.items()))
    delays = [delay for row in rows for _, delay in row["delays"]]
    print(f"hand off the board to committed move, {len(delays)} moves: ", end="")
    print(f"p50 {percentile(delays, 50):.2f} s, p95 {percentile(delays, 95):.2f} s, most {max(delays):.2f} s")
    by_fps = defaultdict(list)
    for row in rows:
        by_fps[row["fps"]] += [delay for _, delay in row["delays"]]
    print("p95 by frames a second: " + ", ".join(f"{fps}: {percentile(d, 95):.2f}" for fps, d in sorted(by_fps.items())))
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
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--hours", type=float, default=0.5)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("stress.jsonl"), metavar="FILE")
    parser.add_argument("--nice", type=int, default=15, help="how far to stand back for other work")
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    os.nice(asked.nice)
    games, hours = (200, 10.0) if asked.full else (asked.games, asked.hours)
    rows = watched(asked.keep, games, hours)
    print_games([row for row in rows if row["kind"] == "game"]) if games else None
    print_quiet([row for row in rows if row["kind"] == "quiet"]) if hours else None
    cost = sum(row["cost_s"] for row in rows)
    print(f"watching took {cost / 60:.1f} minutes of one core for {sum(r['seconds'] for r in rows) / 3600:.2f} hours of video")


if __name__ == "__main__":
    main()
