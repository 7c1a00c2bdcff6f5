"""Where the tops of the sixteen pieces are in the enrolment picture: discs or squares, all of one size.

A circle or a square of each size is laid on every piece's picture where its outline best follows edges that the empty
board does not have there; the shape and size on which all pieces together agree is theirs. Seen at an angle, the top of
a thick piece leans away from the middle of its square, and what follows the most edges may be the foot of the pieces,
or something between. But all pieces are as thick, so all tops `_Lean` as one, and about the middle of its top a piece
can be turned to look like its twin; about any other place it cannot. So of each shape and size some leans are kept, the
tops are looked for near there, and twins are compared where these are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

_HALVES = tuple(np.arange(0.30, 0.47, 0.025).tolist())
_TURNS = tuple(np.radians((-15, -10, -5, 0, 5, 10, 15)).tolist())
_STEP = 0.04
_REACH = 12
"""Steps that a top is looked for from the middle of its square."""
_LEANS = tuple(np.arange(-6, 7, 2) * _STEP)
_SPREADS = (0.0, 0.03, 0.06)
_LIKELY_LEANS = 4
"""Of each shape and size."""
_WANDERS = 3
"""Steps that a piece may lie from where the lean has it."""
_WANDERING = 14.0
"""How dear that is, in shares of an outline for each square of squared distance."""
_FINER_STEPS = np.arange(-0.03, 0.031, 0.01)
_FINER_HALVES = (-0.0125, 0.0, 0.0125)
_FINER_TURNS = tuple(np.radians((-2.5, 0, 2.5)).tolist())
"""By how much what was found is moved, made smaller and larger, and turned in the end."""
_POINTS = 32
_LARGER = 1.2
"""Of two outlines that fit, the larger one is more likely the piece's and the smaller one a mark's."""
_STRAIGHT = 0.8
"""The share of a square's side that is straight for sure."""
_FINE = 20
"""Pixels per square in which twins are compared."""
_RADIUS = 0.34
_TWISTS = tuple(90 * quarter + turn for quarter in range(4) for turn in (-12, -6, 0, 6, 12))
_ALIKE = 1.0
"""How much it counts how alike twins are, beside the share of the outlines that is seen."""
_CLEARLY = 0.35
"""Outlines that fit so much worse than the best are not the pieces'."""
_CLEAR = 0.8
"""The steepest edges, all but this share, are clear ones."""
_FAINT = 30.0
"""An edge that counts as none, however few others there are: what `cv2.Sobel` makes of grey levels."""
_EVEN = 1e-3
_FLAT = 30.0
"""Grey levels, over a whole disc, that count as no mark."""


@dataclass(frozen=True, slots=True)
class Top:
    """The top of a piece in its picture."""

    middle: tuple[float, float]
    turn: float
    """Radians; 0 for a disc."""
    half: float
    """Half its width in squares."""
    round: bool

    def outline(self, square: int) -> Floats:
        """Points around it, `(n, 2)`, with `square` pixels to a square."""
        points, _ = _contour(self.half, self.turn, round_=self.round, whole=True)
        return points * square + self.middle


class _Lean(NamedTuple):
    """How far the tops are from the middles of their squares, in squares of the flattened board."""

    x: float
    y: float
    spread: float
    """How much farther out they are for each square from the middle of the board, because they are nearer."""

    def at(self, places: Floats) -> Floats:
        """The middles of tops, `(n, 2)` from those of their squares, for squares at these places."""
        return np.asarray(places * self.spread + (self.x, self.y))


def find_tops(looks: Sequence[Floats], grounds: Sequence[Floats], square: int, places: Floats) -> list[Top]:
    """The top in each of `looks`.

    Args:
        looks: square pictures around the middles of the pieces' squares; those of twins follow one another.
        grounds: the same without the pieces.
        square: the pixels to a square.
        places: where the squares are, `(n, 2)` in squares from the middle of the board, x and y as in the pictures.
    """
    slopes = [_new_slopes(look, ground) for look, ground in zip(looks, grounds, strict=True)]
    small = [_shrunk(look, _FINE / square) for look in looks]
    leans = [_Lean(x, y, spread) for x, y, spread in product(_LEANS, _LEANS, _SPREADS)]
    at = np.rint(np.array([lean.at(places) for lean in leans]) / _STEP).astype(int) + _REACH
    found = [
        one
        for round_, half in product((True, False), _HALVES)
        for one in _likely(slopes, at, square, half, round_=round_)
    ]
    most = max(fits for fits, _ in found)
    _, tops = max(
        ((fits + _ALIKE * _alike(small, tops, square), tops) for fits, tops in found if fits > most - _CLEARLY),
        key=lambda one: one[0],
    )
    return _refined(slopes, tops, square)


def _new_slopes(look: Floats, ground: Floats) -> Floats:
    """The gradient of the steepest new edge of any channel at each pixel, `(height, width, 2)`, about 1 on clear edges.

    New is an edge that is seen and that the ground has not. Where a piece hides an edge of the ground, none is seen.
    """
    seen, before = _gradients(look), _gradients(ground)
    changed = np.linalg.norm(seen - before, axis=3) / np.maximum(np.linalg.norm(seen, axis=3), _EVEN)
    new = seen * np.minimum(changed, 1)[..., None]
    steepest = np.linalg.norm(new, axis=3).argmax(axis=2)[..., None, None]
    slope = np.take_along_axis(new, steepest, 2)[:, :, 0]
    clear = np.quantile(np.linalg.norm(slope, axis=2), _CLEAR)
    return np.asarray(slope / max(float(clear), _FAINT))


def _gradients(picture: Floats) -> Floats:
    """Across and down, of each channel, `(height, width, 3, 2)`."""
    soft = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 1.5)
    return np.asarray(np.stack([cv2.Sobel(soft, cv2.CV_32F, 1, 0), cv2.Sobel(soft, cv2.CV_32F, 0, 1)], axis=-1))


def _likely(
    slopes: Sequence[Floats], at: NDArray[np.int_], square: int, half: float, *, round_: bool
) -> Iterator[tuple[float, list[Top]]]:
    """The tops of this shape and size where they lean so that most of their outlines is seen, and how much of them is.

    `at` are the places of each lean, `(leans, n, 2)`, column and row in `_fits`.
    """
    fits, turns = _fits(slopes, half, square, round_=round_)
    near = _best_near(fits)[np.arange(len(slopes)), at[..., 1], at[..., 0]].mean(axis=1) * (1 + _LARGER * half)
    for lean in near.argsort()[-_LIKELY_LEANS:]:
        yield (
            float(near[lean]),
            _tops(fits, turns, at[lean], square, (slopes[0].shape[0] - 1) / 2, half, round_=round_),
        )


def _refined(slopes: Sequence[Floats], tops: list[Top], square: int) -> list[Top]:
    """The tops, moved, turned, and all of them grown or shrunk a little to where their outlines fit best."""
    sizes = [
        [_moved(slope, replace(top, half=top.half + more), square) for slope, top in zip(slopes, tops, strict=True)]
        for more in _FINER_HALVES
    ]
    best = max(sizes, key=lambda size: np.mean([fit for fit, _ in size]) * (1 + _LARGER * size[0][1].half))
    return [top for _, top in best]


def _moved(slope: Floats, top: Top, square: int) -> tuple[float, Top]:
    """How well the outline of a top fits at best near where it is, and the top there."""
    away = np.stack(np.meshgrid(_FINER_STEPS, _FINER_STEPS), axis=-1).reshape(-1, 2)
    places, dear = away * square + top.middle, _WANDERING * (away**2).sum(axis=1)
    best: tuple[float, Top] = (-np.inf, top)
    for turn in (0.0,) if top.round else top.turn + np.array(_FINER_TURNS):
        fits = _follows(slope, top.half, float(turn), places[:, None], square, round_=top.round) - dear
        i = int(fits.argmax())
        if fits[i] > best[0]:
            x, y = places[i].tolist()
            best = float(fits[i]), replace(top, middle=(x, y), turn=float(turn))
    return best


def _fits(slopes: Sequence[Floats], half: float, square: int, *, round_: bool) -> tuple[Floats, Floats]:
    """How well an outline of this size fits at each place of each picture, `(n, rows, columns)`, and how it is turned.

    Places are `_STEP` apart, the middle of the picture in their middle.
    """
    steps = np.arange(-_REACH, _REACH + 1) * _STEP
    places = np.stack(np.meshgrid(steps, steps), axis=-1)[:, :, None] * square + (slopes[0].shape[0] - 1) / 2
    fits = np.full((len(slopes), len(steps), len(steps)), -1.0)
    turns = np.zeros_like(fits)
    for turn in (0.0,) if round_ else _TURNS:
        for fit, turned, slope in zip(fits, turns, slopes, strict=True):
            now = _follows(slope, half, turn, places, square, round_=round_)
            turned[now > fit] = turn
            np.maximum(fit, now, out=fit)
    return fits, turns


def _follows(slope: Floats, half: float, turn: float, places: Floats, square: int, *, round_: bool) -> Floats:
    """The share of an outline that follows edges, its middle at each of `places`, `(..., 1, 2)` in pixels."""
    points, normals = _contour(half, turn, round_=round_)
    at = np.rint(points * square + places).astype(int).clip(0, slope.shape[0] - 1)
    along = np.abs((slope[at[..., 1], at[..., 0]] * normals).sum(axis=-1))
    return np.asarray(np.minimum(along, 1).mean(axis=-1))


def _wander() -> Floats:
    """How dear it is to lie so many steps, down and across, from where the lean has a top; infinitely if too far."""
    steps = np.arange(-_WANDERS, _WANDERS + 1)
    squared = steps[:, None] ** 2 + steps[None] ** 2
    return np.where(squared <= _WANDERS**2, _WANDERING * _STEP**2 * squared, np.inf)


def _best_near(fits: Floats) -> Floats:
    """The best that fits near each place, as near counts more."""
    dear, (rows, columns) = _wander(), fits.shape[1:]
    padded = np.pad(fits, ((0, 0), (_WANDERS, _WANDERS), (_WANDERS, _WANDERS)), constant_values=-1.0)
    return np.asarray(
        np.max(
            [padded[:, y : y + rows, x : x + columns] - dear[y, x] for y, x in np.argwhere(np.isfinite(dear))], axis=0
        )
    )


def _tops(
    fits: Floats, turns: Floats, at: NDArray[np.int_], square: int, middle: float, half: float, *, round_: bool
) -> list[Top]:
    """The best top of each picture near the place, column and row, where the lean has it."""
    found = []
    for fit, turned, (column, row) in zip(fits, turns, at, strict=True):
        near = np.pad(fit, _WANDERS, constant_values=-1.0)[row:, column:][: 2 * _WANDERS + 1, : 2 * _WANDERS + 1]
        down, across = np.unravel_index(int((near - _wander()).argmax()), near.shape)
        y, x = row + int(down) - _WANDERS, column + int(across) - _WANDERS
        place = ((x - _REACH) * _STEP * square + middle, (y - _REACH) * _STEP * square + middle)
        found.append(Top(place, float(turned[y, x]), half, round_))
    return found


def _alike(looks: Sequence[Floats], tops: Sequence[Top], square: int) -> float:
    """How alike twins are on average, from 0 to 1, when they are turned about the middles of their tops.

    `looks` have `_FINE` pixels to a square, the tops' places `square`.
    """
    places = [(np.array(top.middle) + 0.5) * _FINE / square - 0.5 for top in tops]
    near = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    best = []
    for one, other, at, its_at in zip(looks[::2], looks[1::2], places[::2], places[1::2], strict=False):
        still = [_disc(one, at + shift, 0.0) for shift in near]
        turned = [_disc(other, its_at, twist) for twist in _TWISTS]
        best.append((np.array(still) @ np.array(turned).T).max())
    return float(np.mean(best)) if best else 0.0


def _shrunk(look: Floats, share: float) -> Floats:
    return np.asarray(cv2.resize(look, None, fx=share, fy=share, interpolation=cv2.INTER_AREA), np.float32)


def _disc(look: Floats, centre: Floats, turn: float) -> Floats:
    """What is seen around a place, in pixels, turned; brightness and contrast taken out."""
    reach = int(np.ceil(_RADIUS * _FINE))
    motion = np.asarray(cv2.getRotationMatrix2D((float(centre[0]), float(centre[1])), turn, 1.0), np.float64)
    motion[:, 2] += reach - centre
    side = 2 * reach + 1
    seen = cv2.warpAffine(look, motion, (side, side), borderMode=cv2.BORDER_REPLICATE)
    along = np.arange(-reach, reach + 1)
    disc = seen[np.hypot(along[:, None], along[None]) <= _RADIUS * _FINE]
    flat = (disc - disc.mean(axis=0)).ravel()
    return np.asarray(flat / (np.linalg.norm(flat) + _FLAT))


def _contour(half: float, turn: float, *, round_: bool, whole: bool = False) -> tuple[Floats, Floats]:
    """Points on the outline around the origin and their normals, in squares."""
    if round_:
        angle = np.arange(_POINTS) * 2 * np.pi / _POINTS
        normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return normals * half, normals
    along = np.linspace(-1, 1, _POINTS // 4) * (1.0 if whole else _STRAIGHT)
    ones = np.ones_like(along)
    sides = [(along, -ones), (ones, along), (-along, ones), (-ones, -along)]
    points = np.concatenate([np.stack(side, axis=1) for side in sides]) * half
    normals = np.repeat(np.array([[0.0, -1], [1, 0], [0, 1], [-1, 0]]), len(along), axis=0)
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return points @ spin, normals @ spin
