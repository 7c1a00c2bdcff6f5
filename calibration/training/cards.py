"""Draws strips of table with cards on them, as `companion.vision.sheets` sees them: to learn to read cards from.

A strip holds one pile, messy as hands leave it, or a single card, or none; beside it lie things, hands reach over it,
lamps and lenses do what they do. Every rectangle that is proposed in it becomes a picture with its truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from calibration.hands import draw_hand
from calibration.textures import any_colour, noise, vary
from calibration.training.chance import draw_lens
from calibration.training.cloths import thing
from calibration.training.marks import MASK
from calibration.training.photograph import take
from calibration.training.symbols import draw_other, draw_symbol
from companion.rules import Kind
from companion.vision.sheets import PITCH, Sheet, sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Fabrics

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]

NONE: Final = len(Kind)
"""The class after all kinds: no card of these, or not to be read."""
_FINE = 2
STRIP: Final = (4.4, 6.6)
"""Width and height of a strip, in squares."""
NEAR: Final = (3.2, 3.6)
"""Of a part of it that holds a card and little more."""
_HALF_TABLE = 512
_FACE = 80
"""Pixels of a card's own picture to a square."""
SAME_CARD: Final = 0.58
"""What shares so much with a card frames it."""
_ANOTHER = 0.25
READABLE: Final = 0.05
"""A card of whose symbol no more is hidden can be read."""
ILLEGIBLE: Final = 0.22
"""And if so much is, it cannot."""
_LEAST_CONTRAST = 1.5


@dataclass(frozen=True, slots=True)
class CardLook:
    """How all cards of one game look, but for their symbols."""

    width: float
    height: float
    """In squares."""
    paper: tuple[float, float, float]
    ink: tuple[float, float, float]
    frame: tuple[float, float]
    """How far from the edge a line runs around the card, and how wide it is, in squares; width 0 for none."""
    corner: float
    """Radius of its corners, in squares."""
    size: float
    """Of the symbol, as a share of the card's width."""
    landscape: bool
    indices: bool
    """Small symbols in two corners as well."""


@dataclass(frozen=True, slots=True)
class StripShot:
    """A drawn strip and the card on top."""

    view: Bytes
    top: Sheet | None
    """Where the card on top lies, in pixels of the view; None if there is no card."""
    kind: int
    """Index into `Kind`, or `NONE` for another card."""
    hidden: float
    """How much of the symbol is out of sight."""


def draw_look(rng: Generator) -> CardLook:
    """The cards of some print."""
    width = float(rng.uniform(1.15, 2.05))
    pale = rng.random() < 0.8
    paper = vary(rng, (235, 240, 242), 10) if rng.random() < 0.5 else any_colour(rng)
    ink = vary(rng, (40, 40, 40), 15) if rng.random() < 0.4 else any_colour(rng)
    bright, dark = sorted((paper, ink), key=lambda colour: -sum(colour))
    paper, ink = (bright, dark) if pale else (dark, bright)
    if (sum(bright) + 30) / (sum(dark) + 30) < _LEAST_CONTRAST:
        return draw_look(rng)
    framed = rng.random() < 0.6
    return CardLook(
        width=width,
        height=width * float(rng.uniform(1.25, 1.65)),
        paper=paper,
        ink=ink,
        frame=(float(rng.uniform(0.03, 0.16)), float(rng.uniform(0.012, 0.05)) if framed else 0.0),
        corner=float(rng.choice((0.0, rng.uniform(0.03, 0.15)))),
        size=float(rng.uniform(0.45, 0.88)),
        landscape=bool(rng.random() < 0.2),
        indices=bool(rng.random() < 0.12),
    )


def draw_face(rng: Generator, look: CardLook, symbol: Floats) -> tuple[Bytes, Bytes, Floats]:
    """A card's picture `(high, wide, 3)`, its outline (255 on the card), and where its symbol is."""
    width, height = round(look.width * _FACE), round(look.height * _FACE)
    ink = np.zeros((height, width), np.float32)
    _stamp(ink, np.rot90(symbol) if look.landscape else symbol, (width / 2, height / 2), look.size * width)
    told = ink.copy()
    if look.indices:
        small = 0.17 * width
        for x, y in ((0.75 * small, 0.75 * small), (width - 0.75 * small, height - 0.75 * small)):
            _stamp(ink, symbol, (x, y), small)
    edge, line = look.frame
    outline = _rounded((width, height), 0, look.corner * _FACE)
    if line:
        inner, outer = (_rounded((width, height), at * _FACE, look.corner * _FACE) for at in (edge + line, edge))
        ink = np.maximum(ink, (outer.astype(np.float32) - inner) / 255)
    paper = np.array(look.paper, np.float32) * (1 + 0.02 * rng.standard_normal(3).astype(np.float32))
    face = paper + (np.array(look.ink, np.float32) - paper) * ink[..., None]
    return np.clip(face, 2, 252).astype(np.uint8), outline, told


def _stamp(ink: Floats, symbol: Floats, middle: tuple[float, float], size: float) -> None:
    """Lay a symbol of this size over the ink."""
    scale = size / MASK
    lay = np.array([[scale, 0, middle[0] - size / 2], [0, scale, middle[1] - size / 2]])
    soft = cv2.GaussianBlur(symbol, (0, 0), 0.45 / scale) if scale < 0.7 else np.ascontiguousarray(symbol)
    np.maximum(ink, cv2.warpAffine(soft, lay, ink.shape[::-1], flags=cv2.INTER_LINEAR), out=ink)


def _rounded(size: tuple[int, int], inset: float, radius: float) -> Bytes:
    width, height = size
    mask, x = np.zeros((height, width), np.uint8), round(inset)
    r = max(0, round(radius - inset))
    cv2.rectangle(mask, (x + r, x), (width - 1 - x - r, height - 1 - x), 255, -1)
    cv2.rectangle(mask, (x, x + r), (width - 1 - x, height - 1 - x - r), 255, -1)
    for centre in ((x + r, x + r), (width - 1 - x - r, height - 1 - x - r)):
        cv2.circle(mask, centre, r, 255, -1, cv2.LINE_AA)
    for centre in ((width - 1 - x - r, x + r), (x + r, height - 1 - x - r)):
        cv2.circle(mask, centre, r, 255, -1, cv2.LINE_AA)
    return mask


class StripDrawer:
    """Draws strips. `fabrics` are what tables are made of; `size` is in squares."""

    def __init__(self, fabrics: Fabrics, size: tuple[float, float] = STRIP) -> None:
        self._fabrics, self._size = fabrics, np.array(size)

    def draw(self, rng: Generator, kind: int | None = None, look: CardLook | None = None) -> StripShot:
        """One strip; with this card on top, or any."""
        if kind is None:
            kind = int(rng.integers(NONE)) if rng.random() < 0.72 else NONE
        look = look or draw_look(rng)
        albedo, relief = self._table(rng)
        self._clutter(rng, albedo, relief)
        if rng.random() < 0.45:
            self._board_edge(rng, albedo, relief)
        if kind == NONE and rng.random() < 0.25:
            return StripShot(self._taken(rng, albedo, relief), None, NONE, 1.0)
        middle = self._size * rng.uniform((0.28, 0.25), (0.72, 0.75))
        lying = float(rng.normal(0, 0.12)) + float(rng.choice((0, np.pi / 2, np.pi, -np.pi / 2)))
        loose = float(rng.uniform(0.02, 0.14))
        for _ in range(int(rng.integers(0, 7)) if rng.random() < 0.6 else 0):
            below = self._symbol(rng, int(rng.integers(NONE)))
            at, turn = middle + rng.normal(0, loose, 2), lying + float(rng.normal(0, 0.6 * loose))
            self._lay(albedo, relief, draw_face(rng, look, below)[:2], at, turn)
        face, outline, told = draw_face(rng, look, self._symbol(rng, kind))
        at, turn = middle + rng.normal(0, loose, 2), lying + float(rng.normal(0, 0.6 * loose))
        placed = self._lay(albedo, relief, (face, outline), at, turn)
        symbol = np.asarray(cv2.warpAffine(told, placed, albedo.shape[1::-1]), np.float32)
        hidden = self._reach_over(rng, albedo, relief, symbol) if rng.random() < 0.2 else 0.0
        scale = PITCH
        top = Sheet(at[0] * scale - 0.5, at[1] * scale - 0.5, look.width * scale, look.height * scale, turn)
        return StripShot(self._taken(rng, albedo, relief), top, kind, hidden)

    def _symbol(self, rng: Generator, kind: int) -> Floats:
        return draw_other(rng) if kind == NONE else draw_symbol(rng, list(Kind)[kind])

    def _table(self, rng: Generator) -> tuple[Bytes, Floats]:
        """The bare table's albedo, and the light that reaches it, so far all of it."""
        width, height = np.round(self._size * PITCH * _FINE).astype(int).tolist()
        cloth = self._fabrics.table(rng, _HALF_TABLE)
        albedo = np.ascontiguousarray(cloth[:height, :width])
        return albedo, np.ones((height, width), np.float32)

    def _clutter(self, rng: Generator, albedo: Bytes, relief: Floats) -> None:
        """Things of a household that lie about."""
        for _ in range(int(rng.integers(0, 3))):
            at = rng.uniform(-0.5, self._size + 0.5)
            drawing = thing(rng)
            size = float(rng.uniform(0.6, 3.2)) * _FACE / max(drawing.shape[:2])
            small = np.asarray(cv2.resize(drawing, None, fx=size, fy=size, interpolation=cv2.INTER_AREA), np.uint8)
            outline = np.full(small.shape[:2], 255, np.uint8)
            self._lay(
                albedo, relief, (small, outline), at, float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(0, 0.2))
            )

    def _board_edge(self, rng: Generator, albedo: Bytes, relief: Floats) -> None:
        """The board, which reaches a little into the strip."""
        wide, pixels = float(rng.uniform(0.02, 0.3)), PITCH * _FINE
        colour, gap = any_colour(rng), float(rng.choice((0.0, 0.04, 0.1)))
        left = albedo.shape[1] - round(wide * pixels) if rng.random() < 0.5 else 0
        right = left + round(wide * pixels)
        for row in range(4):
            top = round((1.3 + row + gap) * pixels)
            albedo[top : round((2.3 + row) * pixels), left:right] = colour
        drop = np.zeros_like(relief)
        drop[round(1.3 * pixels) : round(5.3 * pixels), left:right] = 0.35
        soft = cv2.GaussianBlur(np.roll(drop, rng.integers(-9, 10, 2), (0, 1)), (0, 0), 4)
        np.multiply(relief, 1 - soft * (drop == 0), out=relief)

    def _lay(
        self,
        albedo: Bytes,
        relief: Floats,
        drawing: tuple[Bytes, Bytes],
        at: NDArray[np.float64],
        turn: float,
        high: float = 0.02,
    ) -> NDArray[np.float64]:
        """Lay a drawing on the table, with the shadow of something so high; gives the map from it to the albedo."""
        face, _ = drawing
        scale = PITCH * _FINE / _FACE
        cosine, sine = np.cos(turn) * scale, np.sin(turn) * scale
        matrix = np.array([[cosine, -sine], [sine, cosine]])
        size = np.array(face.shape[1::-1])
        start = at * PITCH * _FINE - matrix @ ((size - 1) / 2)
        lay = np.column_stack([matrix, start])
        half, reach = np.abs(matrix) @ size / 2, 8 + 130 * high
        low = np.clip(np.floor(at * PITCH * _FINE - half - reach), 0, albedo.shape[1::-1]).astype(int)
        end = np.clip(np.ceil(at * PITCH * _FINE + half + reach), 0, albedo.shape[1::-1]).astype(int)
        if (end - low).min() > 0:
            box = slice(low[1], end[1]), slice(low[0], end[0])
            self._stick(albedo[box], relief[box], drawing, np.column_stack([matrix, start - low]), high)
        return lay

    def _stick(
        self, albedo: Bytes, relief: Floats, drawing: tuple[Bytes, Bytes], lay: NDArray[np.float64], high: float
    ) -> None:
        """Lay a drawing and its shadow into this part of the table."""
        face, outline = drawing
        size = albedo.shape[1::-1]
        mask = np.asarray(cv2.warpAffine(outline, lay, size), np.float32) / 255
        shadow = cv2.GaussianBlur(mask, (0, 0), 1.0 + high * 40)
        away = np.array([[1, 0, 2 + high * 90], [0, 1, 1.5 + high * 60]])
        relief *= 1 - 0.45 * cv2.warpAffine(shadow, away, size) * (1 - mask)
        relief += (1 - relief) * mask * 0.8
        laid = cv2.warpAffine(face, lay, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        albedo[:] = np.clip(albedo + (laid.astype(np.float32) - albedo) * mask[..., None], 0, 255)

    def _reach_over(self, rng: Generator, albedo: Bytes, relief: Floats, symbol: Floats) -> float:
        """A hand reaches over the card or near it; how much of the symbol it hides."""
        tip = rng.uniform((0.1, 0.1), (0.9, 0.9)) * albedo.shape[1::-1]
        mask = draw_hand(rng, albedo, (float(tip[0]), float(tip[1])), PITCH * _FINE)
        soft = cv2.GaussianBlur(mask.astype(np.float32) / 255, (0, 0), 12)
        relief *= 1 - 0.4 * np.roll(soft, (10, 14), (0, 1)) * (mask == 0)
        return float(symbol[mask > 0].sum() / max(symbol.sum(), 1e-6))

    def _taken(self, rng: Generator, albedo: Bytes, relief: Floats) -> Bytes:
        """The strip as a camera sees it, seen from above again."""
        height, width = relief.shape
        x, y = np.linspace(-1, 1, width, dtype=np.float32), np.linspace(-1, 1, height, dtype=np.float32)
        slope = rng.normal(0, 0.22, 2)
        field = np.exp(slope[0] * x[None] + slope[1] * y[:, None])
        if rng.random() < 0.25:
            field *= 1 - rng.uniform(0.2, 0.6) * _half_plane(rng, x, y)
        light = (albedo.astype(np.float32) / 255) ** 2 * (relief * field)[..., None]
        light *= np.exp(rng.normal(0, 0.12) * np.array([-1, 0, 1], np.float32))
        if rng.random() < 0.12:
            cx, cy = rng.uniform(-1, 1, 2)
            spot = np.exp(-(((x[None] - cx) ** 2 + (y[:, None] - cy) ** 2) / rng.uniform(0.05, 0.5)))
            light += (rng.uniform(0.05, 0.5) * spot)[..., None].astype(np.float32)
        seen_pitch = float(np.exp(rng.uniform(np.log(22), np.log(64))))
        across, along = seen_pitch, seen_pitch * float(rng.uniform(0.5, 1.0))
        small = (max(24, round(self._size[0] * across)), max(24, round(self._size[1] * along)))
        light = cv2.resize(light, small, interpolation=cv2.INTER_AREA)
        lens = draw_lens(rng, seen_pitch)
        lens = replace(lens, exposure=max(lens.exposure, 0.22))
        picture = take(np.asarray(light, np.float32), self._fabrics.static(rng, small[1], small[0]), lens)
        size = (round(self._size[0] * PITCH), round(self._size[1] * PITCH))
        shrinks = small[0] >= size[0]
        return np.asarray(
            cv2.resize(picture, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR), np.uint8
        )


def _half_plane(rng: Generator, x: Floats, y: Floats) -> Floats:
    """A shadow with an edge, 0 to 1."""
    angle, soft = float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(0.01, 0.2))
    across = np.cos(angle) * x[None] + np.sin(angle) * y[:, None] + float(rng.uniform(-0.6, 0.6))
    ragged = noise(rng, 6, 6, 64)
    wobble = cv2.resize(ragged, (across.shape[1], across.shape[0])) * 0.03
    return np.asarray(1 / (1 + np.exp(-(across + wobble) / soft)), np.float32)


def lessons(rng: Generator, shot: StripShot) -> Iterator[tuple[Bytes, int]]:
    """The pictures that a strip proposes, and what each shows; what is half right is left out."""
    proposed = sheets(shot.view)
    for sheet in proposed:
        common = 0.0 if shot.top is None else shared(sheet, shot.top)
        if common >= SAME_CARD and shot.hidden <= READABLE:
            yield sheet.picture(shot.view), shot.kind
        elif common <= _ANOTHER or shot.hidden >= ILLEGIBLE:
            yield sheet.picture(shot.view), NONE
    if shot.top is not None and shot.hidden <= READABLE:
        yield _jittered(rng, shot.top).picture(shot.view), shot.kind


def shared(sheet: Sheet, top: Sheet) -> float:
    """How much two sheets have in common; none if the one lies across the other."""
    across = abs(np.sin(sheet.turn - top.turn))
    return 0.0 if across > 0.6 else sheet.shared(top)


def _jittered(rng: Generator, sheet: Sheet) -> Sheet:
    """About there, as a pile's outline is about its top card's."""
    move = rng.normal(0, 0.04, 2) * sheet.width
    grow = np.exp(rng.normal(0.03, 0.06, 2))
    return replace(
        sheet,
        x=sheet.x + move[0],
        y=sheet.y + move[1],
        width=sheet.width * grow[0],
        height=sheet.height * grow[1],
        turn=sheet.turn + float(rng.normal(0, 0.06)),
    )


def near_lessons(rng: Generator, shot: StripShot) -> Iterator[tuple[Bytes, int]]:
    """The card on top as piles and slips frame it, once right and once wrong."""
    if shot.top is None:
        return
    if shot.hidden <= READABLE:
        yield _jittered(rng, shot.top).picture(shot.view), shot.kind
    aside = rng.choice((-1, 1), 2) * rng.uniform(0.3, 1.0, 2) * shot.top.width
    lost = replace(_jittered(rng, shot.top), x=shot.top.x + aside[0], y=shot.top.y + aside[1])
    if shot.hidden >= ILLEGIBLE or lost.shared(shot.top) <= _ANOTHER:
        yield lost.picture(shot.view), NONE
