"""A game from photographs that were taken by hand.

    python -m tests.bench.stills [GAMES] [--turn DEGREES] [--tilt DEGREES]

Every game is drawn as for the stress (`tests.bench.stress`), with other numbers; after each move one picture is taken
when no hand is there, from elsewhere every time: turned around the board and tilted by up to so many degrees either way
from where the first was taken, and in other light. `companion watch images:FOLDER` has to tell the game from them.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from tests.bench.stress.shows import Show, disturbed_game
from tests.bench.stress.studio import Studio

FIRST = 920
"""No other bench watches games from this number on."""
QUIET = 2
"""So many frames without a hand before a picture is taken."""


def photographs(show: Show, seed: int, turn: float, tilt: float) -> list[np.ndarray]:
    """The empty board and the board after each move; `turn` and `tilt` in radians."""
    stage, look, rng = show.stage, show.look, np.random.default_rng((77, seed))
    taken: list[np.ndarray] = []
    quiet = 0
    for _ in show.moments():
        quiet = 0 if stage.hands else quiet + 1
        if quiet >= QUIET and len(stage.board) >= len(taken):
            held = replace(
                look, tilt=max(0, look.tilt + rng.uniform(-tilt, tilt)), turn=look.turn + rng.uniform(-turn, turn)
            )
            studio = Studio(held if taken else look, np.random.default_rng((5, 4, seed)))
            picture, _ = studio.picture(stage.moment(), show.weather.light(stage.time, hands=0), len(taken))
            light = rng.uniform(0.8, 1.15) * rng.uniform(0.95, 1.05, 3)
            taken.append(np.clip(picture * light, 0, 255).astype(np.uint8))
        stage.seen(hand_on_board=bool(stage.hands))
    return taken


def watched(pictures: list[np.ndarray]) -> list[dict]:
    """What the program tells of these pictures."""
    with tempfile.TemporaryDirectory() as folder:
        for number, picture in enumerate(pictures):
            cv2.imwrite(str(Path(folder) / f"{number:02}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 90])
        command = [sys.executable, "-m", "companion", "watch", f"images:{folder}", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(arguments: list[str]) -> None:
    """Print a line for each game, and how many were told as they were played."""
    parser = argparse.ArgumentParser()
    parser.add_argument("games", type=int, nargs="?", default=20)
    parser.add_argument("--turn", type=float, default=12.0)
    parser.add_argument("--tilt", type=float, default=6.0)
    asked = parser.parse_args(arguments)
    exact = 0
    for seed in range(FIRST, FIRST + asked.games):
        show = disturbed_game(seed, calm=True)
        told = watched(photographs(show, seed, math.radians(asked.turn), math.radians(asked.tilt)))
        played = [move.plain for move in show.end.moves]
        heard = [event["move"] for event in told if event["event"] == "MovePlayed"]
        right = heard == played
        over = [event["score"] for event in told if event["event"] == "GameOver"]
        score = over[-1:] == [show.end.score.as_dict()]
        others = [
            event["event"]
            for event in told
            if event["event"] in ("PieceUnclear", "ChoiceNeeded", "MoveTakenBack", "Unresolved")
        ]
        exact += right
        print(
            f"game {seed}: {'exact' if right else 'score right' if score else 'not finished' if not over else 'wrong'}",
            *others,
            flush=True,
        )
    print(f"{exact} of {asked.games} told as they were played")


if __name__ == "__main__":
    main(sys.argv[1:])
