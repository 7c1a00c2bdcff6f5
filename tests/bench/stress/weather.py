"""Lamps, clouds, people's shadows, what the camera makes of them, and bumps against it: the light at any second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.bench.stress.studio import Leaves, Light


@dataclass(frozen=True, slots=True)
class _Change:
    start: float
    end: float
    gain: tuple[float, float, float]


class Weather:
    """Feed it with changes as they begin; each answers with how long it lasts."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._gain = np.ones(3)
        self._changes: list[_Change] = []
        self._shades: list[tuple[float, float, Callable[[float], tuple[float, float, float, float]]]] = []
        self._bumps: list[tuple[float, np.ndarray, np.ndarray]] = []
        self._shift = np.zeros(2)
        self._turns: list[tuple[float, float, float]] = []
        self._coupling = float(rng.choice((0.0, rng.uniform(0.02, 0.15))))
        """How far a hand in the picture makes the automatic exposure open up."""
        self._opened = 0.0
        self._last = 0.0
        self._flicker: tuple[float, float] = (-1.0, 0.0)
        self._leaves: Callable[[float], Leaves] | None = None
        self._blur: Callable[[float], float] = lambda time: 0.0
        self._bands: Callable[[float], tuple[float, float, float] | None] = lambda time: None

    def light(self, time: float, *, hands: int) -> Light:
        """How the table is lit and seen now; times must not run back."""
        self._opened += (self._coupling * hands - self._opened) * min(1.0, (time - self._last) / 0.5)
        self._last = time
        gain = self._gain * (1 + self._opened)
        for change in self._changes:
            share = np.clip((time - change.start) / max(change.end - change.start, 1e-6), 0, 1)
            gain = gain * np.array(change.gain) ** share
        if time < self._flicker[0]:
            gain = gain * (1 + self._flicker[1] * np.sin(40 * time))
        self._shades = [shade for shade in self._shades if time < shade[1]]
        shades = tuple(path((time - start) / (end - start)) for start, end, path in self._shades if time >= start)
        gains = tuple(float(np.clip(g, 0.3, 1.6)) for g in gain)
        leaves = self._leaves(time) if self._leaves else None
        shift, turned = self._shaken(time), self._turned(time)
        return Light(gains, shades, leaves, shift, turned, self._blur(time), self._bands(time))

    def _turned(self, time: float) -> float:
        return sum((min(1.0, (time - start) / lasts) * degrees for start, lasts, degrees in self._turns), 0.0)

    def _shaken(self, time: float) -> tuple[float, float]:
        shift = self._shift.copy()
        for start, jerk, stays in self._bumps:
            since = time - start
            shift += stays * min(1.0, since / 0.15) + jerk * np.exp(-since / 0.12) * np.cos(25 * since)
        return (float(shift[0]), float(shift[1])) if np.abs(shift).max() > 0.05 else (0.0, 0.0)

    def _fade(self, time: float, seconds: float, gain: np.ndarray) -> float:
        """All of it towards `gain` of what it was at first, so that it does not drift away for ever."""
        now = self._gain.copy()
        for change in self._changes:
            now = now * np.array(change.gain)
        self._changes.append(_Change(time, time + seconds, tuple(gain / now)))
        if len(self._changes) > 6:
            done = self._changes.pop(0)
            self._gain = self._gain * np.array(done.gain)
        return seconds

    def lamp(self, time: float) -> float:
        """A lamp goes on or off, and the camera makes up for a part of it."""
        factor = float(self._rng.choice((self._rng.uniform(0.5, 0.8), 1.0, self._rng.uniform(1.1, 1.3))))
        warm = float(self._rng.normal(0, 0.06))
        colour = np.array([1 - warm, 1, 1 + warm])
        self._fade(time, 0.05, factor * colour)
        return self._fade(time + 0.1, float(self._rng.uniform(0.4, 1.5)), factor**0.5 * colour)

    def cloud(self, time: float) -> float:
        """The daylight goes or comes slowly."""
        return self._fade(time, float(self._rng.uniform(0.8, 4)), np.full(3, self._rng.uniform(0.6, 1.15)))

    def exposure_step(self, time: float) -> float:
        """The automatic exposure jumps."""
        return self._fade(time, 0.02, np.full(3, self._rng.uniform(0.8, 1.2)))

    def white_balance(self, time: float) -> float:
        """The automatic white balance wanders."""
        return self._fade(time, float(self._rng.uniform(1, 4)), np.exp(self._rng.normal(0, 0.06, 3)))

    def flicker(self, time: float) -> float:
        """A lamp flickers for some seconds."""
        lasts = float(self._rng.uniform(1, 4))
        self._flicker = (time + lasts, float(self._rng.uniform(0.01, 0.06)))
        return lasts

    def person(self, time: float) -> float:
        """Somebody walks by or bends over the table: a shadow comes and goes, or stays for a while."""
        lasts, depth = float(self._rng.uniform(1, 6)), float(self._rng.uniform(0.15, 0.5))
        start, end = self._rng.uniform(-0.4, 1.4, (2, 2))
        stop = self._rng.uniform(0.1, 0.9, 2)
        radius = float(self._rng.uniform(0.12, 0.5))
        stays = self._rng.random() < 0.5

        def path(share: float) -> tuple[float, float, float, float]:
            if stays:
                come, go = min(1.0, share / 0.25), max(0.0, (share - 0.75) / 0.25)
                x, y = start + (stop - start) * come + (end - stop) * go
            else:
                x, y = start + (end - start) * share
            fade = min(1.0, share / 0.1, (1 - share) / 0.1)
            return float(x), float(y), radius, depth * fade

        self._shades.append((time, time + lasts, path))
        return lasts

    def sway(self, square: float, shape: float) -> None:
        """From now on the shadows of leaves sway over a part of the board, in the middle of the picture.

        `square` is the side of a square, `shape` the picture's height, in shares of its width.
        """
        rng, count = self._rng, int(self._rng.integers(3, 14))
        middle = np.array([0.5, shape / 2]) + rng.uniform(-1.8, 1.8, 2) * square
        spots = middle + rng.normal(0, rng.uniform(0.6, 2.5) * square, (count, 2))
        long, narrow, degrees = (
            rng.uniform(0.2, 0.7, count) * square,
            rng.uniform(0.5, 1, count),
            rng.uniform(0, 180, count),
        )
        left, softness = float(rng.uniform(0.45, 0.85)), float(rng.uniform(2, 8))
        often, reach, ratio = rng.uniform(0.15, 1.3), rng.uniform(0.08, 0.5) * square, rng.uniform(0.5, 0.9)
        late, wind = rng.normal(0, 0.5, (2, count)), rng.uniform(0, 2 * np.pi)
        along, across = np.array([np.cos(wind), np.sin(wind)]), np.array([-np.sin(wind), np.cos(wind)])

        def leaves(time: float) -> Leaves:
            far = reach * (0.6 + 0.4 * np.sin(0.7 * time))
            there = np.sin(2 * np.pi * often * time + late[0])[:, None] * along
            beside = 0.5 * np.sin(2 * np.pi * often * ratio * time + late[1])[:, None] * across
            now = spots + far * (there + beside)
            each = np.column_stack([now, long, long * narrow, degrees])
            return Leaves(tuple(map(tuple, each.tolist())), left, softness)

        self._leaves = leaves

    def hunt(self, square: float) -> None:
        """From now on the camera loses focus every few seconds, and finds it again.

        `square` is the side of a square in shares of the picture's width.
        """
        rng, count = self._rng, 500
        lasts, most = rng.uniform(0.4, 3, count), rng.uniform(0.05, 0.25, count) * square
        starts = np.cumsum(rng.uniform(1.5, 8, count) + np.concatenate([[0], lasts[:-1]]))
        steep = rng.uniform(1, 4, count)

        def blur(time: float) -> float:
            share = np.clip((time - starts) / lasts, 0, 1)
            return float((most * np.minimum(1, steep * 2 * np.minimum(share, 1 - share))).max())

        self._blur = blur

    def pulse(self) -> None:
        """From now on the lamps flicker faster than the camera takes its rows: bands roll over the picture."""
        rng = self._rng
        depth, count = float(rng.uniform(0.03, 0.25)), float(rng.choice((rng.uniform(1, 4), rng.uniform(4, 12))))
        speed = float(rng.choice((rng.uniform(-1, 1), rng.uniform(-60, 60))))
        self._bands = lambda time: (depth, count, speed * time)

    def camera_turn(self, time: float) -> float:
        """Somebody turns the camera by a quarter."""
        lasts = float(self._rng.uniform(0.5, 1.5))
        self._turns.append((time, lasts, float(self._rng.choice((-90, 90)))))
        return lasts

    def camera_bump(self, time: float) -> float:
        """Somebody knocks against the camera or the table; it may stay where it was knocked to."""
        jerk = self._rng.normal(0, 6, 2)
        target = np.clip(self._rng.normal(0, 9, 2), -14, 14) * float(self._rng.random() < 0.6)
        now = self._shift + sum((stays for _, _, stays in self._bumps), np.zeros(2))
        self._bumps = [(start, np.zeros(2), stays) for start, _, stays in self._bumps]
        self._bumps.append((time, jerk, target - now if target.any() else np.zeros(2)))
        if len(self._bumps) > 5:
            self._shift = self._shift + self._bumps.pop(0)[2]
        return 0.5
