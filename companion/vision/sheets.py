"""Finds what is shaped like a card on the table beside the board.

A strip of the table is seen from straight above. Every patch of one brightness or colour in it, and everything that an
edge goes around, whose hull nearly fills a rectangle of a card's size and shape may be a card; so may a pile of them, a
little messy, as one rectangle around it. Many are proposed, few are cards: `companion.vision.cards` looks at each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion.vision.lens import PINHOLE
from companion.vision.rectify import pixels_per_square

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from companion.rules import Layout
    from companion.vision.lens import Optics

    Floats = NDArray[np.floating[Any]]
    Image = NDArray[np.uint8]

PITCH: Final = 32
"""Pixels to a square in the view of a strip."""
CARD: Final = (40, 56)
"""Width and height of a card in its picture, in pixels."""
RIM: Final = 4
"""What is seen around the card in its picture, on each side."""
PICTURE: Final = (CARD[0] + 2 * RIM, CARD[1] + 2 * RIM)
"""Width and height of a card's picture."""
MOST: Final = 10
"""No more things than this are proposed in one strip."""
_REACH = 4.4
"""How far from the board cards are looked for, in squares."""
_BEYOND = 1.3
"""How far a strip goes on past the ends of its side of the board."""
_FINEST = 3
_SHORT = (0.85, 2.7)
"""Of the shorter side of a card, in squares."""
_SLENDER = (1.08, 2.0)
"""Of the longer side, in shorter ones."""
_LEAST_FILLED = 0.84
_LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8)
_THIN = np.ones((9, 9), np.uint8)
"""What is narrower than this is thin, in pixels of the view."""
_PLAIN = 8.0
"""A channel that differs by less than this over the strip shows nothing."""
_INNER = 0.8
_ONE_THING = 0.7
"""Where a rectangle and the worthiest one cover so much of the smaller of both, they frame the same thing."""
_SAME = 0.85
"""Rectangles that share this much of what they cover together are the same thing."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A part of the table beside the board, in squares from the outer corner of a1, x along the columns."""

    left: float
    near: float
    right: float
    far: float

    def size(self, pitch: int = PITCH) -> tuple[int, int]:
        """Width and height of its view with so many pixels to a square."""
        return round((self.right - self.left) * pitch), round((self.far - self.near) * pitch)

    def to_picture(self, corners: Floats, layout: Layout, pitch: int = PITCH) -> NDArray[np.float64]:
        """The homography `(3, 3)` from its view to the picture that has the board at `corners`."""
        outline = np.array([[0, 0], [layout.columns, 0], [layout.columns, layout.rows], [0, layout.rows]])
        in_view = (outline - (self.left, self.far)) * (pitch, -pitch) - 0.5
        lay = cv2.getPerspectiveTransform(in_view.astype(np.float32), np.asarray(corners, np.float32))
        return np.asarray(lay, np.float64)


def beside(layout: Layout) -> tuple[Strip, Strip]:
    """Where the piles lie: Light's to the left of the board, Dark's to the right."""
    near, far = -_BEYOND, layout.rows + _BEYOND
    return Strip(-_REACH, near, 0.0, far), Strip(layout.columns, near, layout.columns + _REACH, far)


def around(layout: Layout) -> tuple[Strip, ...]:
    """All four sides of the board: where a card lies on a photograph of which nobody knows whose side is whose."""
    left, right = -_BEYOND, layout.columns + _BEYOND
    return (*beside(layout), Strip(left, -_REACH, right, 0.0), Strip(left, layout.rows, right, layout.rows + _REACH))


def flatten(image: Image, corners: Floats, layout: Layout, strip: Strip, *, optics: Optics = PINHOLE) -> Image:
    """The view of a strip from above, `(height, width, 3)`, far side on top; plain where the picture ends.

    `image` is BGR, `corners` are those of the board in it, as for `companion.vision.rectify.rectify`. Large pictures
    are averaged down from a view up to `_FINEST` times as large.
    """
    finer = max(1, min(_FINEST, round(pixels_per_square(corners, layout) / PITCH)))
    lay, size = strip.to_picture(corners, layout, PITCH * finer), strip.size(PITCH * finer)
    view = optics.view(image, lay, size)
    view[(view == 0).all(axis=2)] = np.median(image[::16, ::16].reshape(-1, 3), axis=0)
    return np.asarray(view if finer == 1 else cv2.resize(view, strip.size(), interpolation=cv2.INTER_AREA), np.uint8)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A rectangle in the view of a strip that may be a card."""

    x: float
    y: float
    """Its middle, in pixels of the view."""
    width: float
    height: float
    """Its shorter and its longer side."""
    turn: float
    """How far its longer side is from upright, clockwise, in radians."""
    filled: float = 1.0
    """How much of the rectangle the thing fills."""

    @property
    def corners(self) -> NDArray[np.float64]:
        """Its corners, `(4, 2)`: upper left, upper right, lower right, lower left as the card stands."""
        half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (self.width / 2, self.height / 2)
        return half @ self._rotation.T + (self.x, self.y)

    @property
    def _rotation(self) -> NDArray[np.float64]:
        cosine, sine = np.cos(self.turn), np.sin(self.turn)
        return np.array([[cosine, -sine], [sine, cosine]])

    def picture(self, view: Image) -> Image:
        """What it shows, upright and `CARD` large with its `RIM`, `(PICTURE[1], PICTURE[0], 3)`."""
        shrunk = min(self.width / CARD[0], self.height / CARD[1])
        soft = cv2.GaussianBlur(view, (0, 0), 0.4 * shrunk) if shrunk > 1.2 else view  # noqa: PLR2004
        scale = np.array([self.width / CARD[0], self.height / CARD[1]])
        matrix = self._rotation * scale
        start = np.array([self.x, self.y]) - matrix @ ((np.array(PICTURE) - 1) / 2)
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        lay = np.column_stack([matrix, start])
        return np.asarray(cv2.warpAffine(soft, lay, PICTURE, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8)

    @property
    def area(self) -> float:
        """In pixels of the view."""
        return self.width * self.height

    def shared(self, other: Sheet) -> float:
        """How much of what both cover together both cover, from 0 to 1."""
        both = self._common(other)
        return both / (self.area + other.area - both)

    def nested(self, other: Sheet) -> float:
        """How much of the smaller of both both cover, from 0 to 1."""
        return self._common(other) / min(self.area, other.area)

    def _common(self, other: Sheet) -> float:
        one, two = (((s.x, s.y), (s.width, s.height), float(np.degrees(s.turn))) for s in (self, other))
        _, region = cv2.rotatedRectangleIntersection(one, two)
        return 0.0 if region is None else float(cv2.contourArea(cv2.convexHull(region)))


def sheets(view: Image) -> list[Sheet]:
    """What may be a card in a view, the best filled first."""
    found: list[Sheet] = []
    candidates = sorted(_rectangles(view), key=lambda sheet: -sheet.filled)
    for sheet in candidates:
        if len(found) == MOST:
            break
        if all(sheet.shared(other) < _SAME for other in found):
            found.append(sheet)
    return found


def things(found: Sequence[Sheet], worth: Floats, least: float) -> Iterator[list[int]]:
    """Which of the sheets of one view frame the same thing, worthiest first; without those worth less than `least`.

    A card's outline, the line around its picture and the pile under it are so many looks at one card.
    """
    left = [int(i) for i in np.argsort(-worth) if worth[i] >= least]
    while left:
        same = [i for i in left if i == left[0] or found[i].nested(found[left[0]]) >= _ONE_THING]
        yield same
        left = [i for i in left if i not in same]


def within(found: Sequence[Sheet], lay: Floats, picture: tuple[int, int]) -> list[Sheet]:
    """The sheets that a picture of this width and height shows, but for their rims; `lay` is from view to picture."""
    shown = []
    for sheet in found:
        inner = (sheet.corners - (sheet.x, sheet.y)) * _INNER + (sheet.x, sheet.y)
        seen = np.column_stack([inner, np.ones(4)]) @ np.asarray(lay, np.float64).T
        points = seen[:, :2] / seen[:, 2:]
        if (seen[:, 2] > 0).all() and (points > 0).all() and (points < picture).all():
            shown.append(sheet)
    return shown


def _rectangles(view: Image) -> Iterator[Sheet]:
    for drawing in _drawings(view):
        contours, _ = cv2.findContours(drawing, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
        for contour in contours:
            sheet = _around(contour)
            if sheet is not None:
                yield sheet


def _drawings(view: Image) -> Iterator[Image]:
    """Black and white pictures of the view in which a card may be one white or one black thing.

    Each also without what is thin in white and in black: a card is parted there from what it touches.
    """
    for drawing in _levels_and_edges(view):
        yield drawing
        for without in (cv2.MORPH_OPEN, cv2.MORPH_CLOSE):
            yield np.asarray(cv2.morphologyEx(drawing, without, _THIN), np.uint8)


def _levels_and_edges(view: Image) -> Iterator[Image]:
    soft = cv2.GaussianBlur(view, (0, 0), 1.0)
    lab = cv2.cvtColor(soft, cv2.COLOR_BGR2LAB)
    for number, channel in enumerate(cv2.split(lab)):
        low, high = np.percentile(channel[::2, ::2], (2, 98))
        if high - low >= _PLAIN:
            for level in _LEVELS if number == 0 else _LEVELS[1:4]:
                threshold = low + level * (high - low)
                yield np.asarray(cv2.threshold(channel, threshold, 255, cv2.THRESH_BINARY)[1], np.uint8)
    strength = float(np.percentile(np.abs(cv2.Sobel(lab[..., 0], cv2.CV_32F, 1, 0)), 90))
    for share in (1.0, 2.5):
        edges = cv2.Canny(lab[..., 0], max(8.0, share * strength / 2), max(20.0, share * strength))
        yield np.asarray(cv2.dilate(edges, np.ones((3, 3), np.uint8)), np.uint8)


def _around(contour: NDArray[Any]) -> Sheet | None:
    _, _, wide, high = cv2.boundingRect(contour)
    if min(wide, high) < _SHORT[0] * PITCH or max(wide, high) > 1.6 * _SHORT[1] * PITCH:
        return None
    hull = cv2.convexHull(contour)
    (x, y), (width, height), angle = cv2.minAreaRect(hull)
    if width > height:
        width, height, angle = height, width, angle + 90
    filled = float(cv2.contourArea(hull)) / max(width * height, 1.0)
    if not _SHORT[0] * PITCH <= width <= _SHORT[1] * PITCH or filled < _LEAST_FILLED:
        return None
    if not _SLENDER[0] <= height / width <= _SLENDER[1]:
        return None
    upright = (angle + 90) % 180 - 90
    return Sheet(x, y, width, height, float(np.radians(upright)), filled)
