"""Where a small network sees the board's corners: places for the board that lines alone do not suggest.

The network looks at the picture made small and gives heat maps, at a quarter of that size: one for the board's four
corners, which it does not tell apart, one for the other crossings of its lines, and one for all that the board covers.
Four peaks make a place when all of that supports them: where the crossings would be there is heat, inside there is
board, outside there is none. The corners are then moved to where the support is greatest, which also finds those that a
hand covers. The whole picture is looked at in two sizes, and the board found small once more, nearer; one that fills
the picture is shown with something around it, as the network knows no other; and all that once more in the mirror,
where it errs elsewhere.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

from companion.vision import networks
from companion.vision.plane import go_round, side_lengths
from companion.vision.squareness import UNIT_SQUARE, from_unit_square

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

CHANNELS: Final = 3
"""Corners, crossings, board."""
FINER: Final = 2
"""The network's map is at an eighth of its picture; each place of it holds so many by so many finer ones."""
STRIDE: Final = 4
"""Pixels of the network's picture for one place of a heat map."""
LONGEST: Final = 320
"""Longer side of the network's picture, at first."""
LONGER: Final = 544
"""The same where that does not show the board clearly."""
FLATTEST: Final = 12.0
"""Least spread of levels that a picture is toned by."""
_MULTIPLE = 8
_PEAKS = 8
_SURE_PEAKS = 5
_LEAST_HEAT = 0.05
_LEAST_BOARD = 0.4
_PLACES = 3
_ALIKE = 0.12
_SMALLEST = 4.0
"""Least side of a board in a heat map, in its places."""
_CLEAR = 0.8
"""From this support on, the picture need not be looked at larger."""
LITTLE: Final = 0.25
"""A picture of which no place is supported by as much as this hardly shows a board: of 531 drawn ones under hard
conditions all but one had more, and that one was not found."""
_STEPS = (2.0, 1.0, 0.5)
"""How far corners are moved in search of more support, in places of a heat map."""
_ROUNDS = 2
_SMOOTH = 1.0
_LOOK_AGAIN = 0.55
"""A board smaller than this part of the picture is looked at again."""
_AROUND = 0.45
"""How much is shown around it then, in parts of its size."""
_BEYOND = 0.3
"""So much is added on each side of the picture, in parts of it, where a board may fill it."""
_FILLS = 0.7
"""Such a board is at least so wide and so high, in parts of the picture: with less than a square around it."""
_SQUARES = 4
_OUTSIDE = 0.6
"""How far outside, in squares, there shall be no board."""


class Place(NamedTuple):
    """Four corners in pixels of the picture, going round, and how well the maps support them, 0 to 1."""

    support: float
    corners: Floats


class Look:
    """What the heat maps show of a picture or of a part of it."""

    def __init__(
        self, maps: Maps, scale: float, origin: tuple[int, int], least: tuple[float, float], *, mirrored: bool
    ) -> None:
        """Of the network's picture that is `scale` times as large; `origin` is its first pixel, x and y.

        Only places count that are at `least` so wide and so high.
        """
        self._maps, self._scale = maps, scale
        self._origin = np.array(origin, np.float64)
        self._least = least
        self._way = np.array([-1.0 if mirrored else 1.0, 1.0])
        places = [
            Place(place.support, ((place.corners + 0.5) * STRIDE / scale - 0.5) * self._way + self._origin)
            for place in maps.places()
        ]
        self.places = [place for place in places if self._counts(place.corners)]
        """The best places in these maps."""

    def support(self, corners: Floats) -> float:
        """How well the maps support a place, four corners (4, 2) in pixels of the picture; 0 to 1."""
        if not self._counts(corners):
            return 0.0
        return self._maps.support(((corners - self._origin) * self._way + 0.5) * self._scale / STRIDE - 0.5)

    def _counts(self, corners: Floats) -> bool:
        return bool((np.ptp(corners, axis=0) >= self._least).all())


class Sight:
    """What the pointer sees in one picture, straight and in the mirror; it looks as soon as that is asked."""

    def __init__(self, pointer: Pointer, image: Picture, hint: float) -> None:
        self._pointer, self._image, self._hint = pointer, image, hint

    @cached_property
    def _straight(self) -> list[Look]:
        return self._pointer.looks(self._image, self._hint, mirrored=False)

    @cached_property
    def _mirrored(self) -> list[Look]:
        hint = LITTLE if self.at_a_glance < LITTLE else self._hint
        return self._pointer.looks(self._image, hint, mirrored=True)

    @property
    def at_a_glance(self) -> float:
        """How well the best place is supported that is seen straight, 0 to 1; 0 if none is."""
        best = _best(self._straight)
        return best.support if best else 0.0

    @cached_property
    def places(self) -> list[Place]:
        """Best first, by what one look shows of them."""
        places = [place for look in self._straight + self._mirrored for place in look.places]
        return sorted(places, key=lambda place: -place.support)

    def support(self, corners: Floats) -> float:
        """How well a place is supported, four corners (4, 2) in pixels of the picture; 0 to 1.

        It is the mean of both ways of looking, in each of them what the look shows that is most for it.
        """
        ways = (self._straight, self._mirrored)
        return sum(max(look.support(corners) for look in looks) for looks in ways) / len(ways)


class Pointer:
    """Looks at pictures. Not for sharing between threads: OpenCV's networks keep their buffers."""

    def __init__(self, network: bytes) -> None:
        self._network = networks.load(network)

    def see(self, image: Picture, hint: float = 0.0) -> Sight:
        """What is to be seen in a BGR picture (height, width, 3).

        Where the first look shows no place that is supported by as much as `hint`, it is not looked at more closely.
        """
        return Sight(self, image, hint)

    def looks(self, image: Picture, hint: float, *, mirrored: bool) -> list[Look]:
        """Look at a BGR picture (height, width, 3), or at its mirror image, as often as it needs; see `see`."""
        looks = [self._look(image, LONGEST, mirrored=mirrored)]
        best = _best(looks)
        if (best.support if best else 0.0) < hint:
            return looks
        if best is None or best.support < _CLEAR:
            looks += [self._look(image, LONGER, mirrored=mirrored), self._look_beyond(image, mirrored=mirrored)]
            best = _best(looks)
        if best is not None and _size(best.corners) < _LOOK_AGAIN * max(image.shape[:2]):
            left, top, right, bottom = _around(best.corners, image.shape)
            looks.append(self._look(image[top:bottom, left:right], LONGEST, (left, top), mirrored=mirrored))
        return looks

    def _look(
        self,
        part: Picture,
        longest: int,
        at: tuple[int, int] = (0, 0),
        least: tuple[float, float] = (0.0, 0.0),
        *,
        mirrored: bool,
    ) -> Look:
        """One look at a part of the picture that begins there, for places that are at `least` so wide and so high."""
        shown = part[:, ::-1] if mirrored else part
        heat, scale = self.heat(np.ascontiguousarray(shown), longest)
        origin = (at[0] + part.shape[1] - 1, at[1]) if mirrored else at
        return Look(Maps(heat), scale, origin, least, mirrored=mirrored)

    def _look_beyond(self, image: Picture, *, mirrored: bool) -> Look:
        """One look for a board that fills the picture, which goes on beyond its edges as it ends there."""
        height, width = image.shape[:2]
        down, right = round(_BEYOND * height), round(_BEYOND * width)
        wider = np.asarray(cv2.copyMakeBorder(image, down, down, right, right, cv2.BORDER_REPLICATE), np.uint8)
        return self._look(wider, LONGEST, (-right, -down), (_FILLS * width, _FILLS * height), mirrored=mirrored)

    def heat(self, image: Picture, longest: int = LONGEST) -> tuple[Floats, float]:
        """The maps `(CHANNELS, height, width)`, 0 to 1, of a BGR picture; and the network picture's scale."""
        scale = longest / max(image.shape[:2])
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        toned = tone(np.asarray(cv2.resize(image, size, interpolation=way), np.uint8))
        below, beside = -size[1] % _MULTIPLE, -size[0] % _MULTIPLE
        padded = np.pad(toned, ((0, below), (0, beside), (0, 0)))
        self._network.setInput(np.ascontiguousarray(padded.transpose(2, 0, 1)[None]))
        return finer(np.asarray(self._network.forward())[0]), scale


def _best(looks: list[Look]) -> Place | None:
    return max((place for look in looks for place in look.places), key=lambda place: place.support, default=None)


def tone(picture: Picture) -> NDArray[np.float32]:
    """The picture around 0, its brightness and contrast made alike."""
    spread = max(float(picture[::2, ::2].std()), FLATTEST)
    return np.asarray((picture.astype(np.float32) - picture.mean(axis=(0, 1))) / spread, np.float32)


def finer(scores: Floats) -> Floats:
    """The network's scores `(CHANNELS * FINER ** 2, h, w)` as heat maps `(CHANNELS, FINER * h, FINER * w)`."""
    height, width = scores.shape[1:]
    parts = scores.reshape(CHANNELS, FINER, FINER, height, width).transpose(0, 3, 1, 4, 2)
    return np.asarray(1 / (1 + np.exp(-parts.reshape(CHANNELS, FINER * height, FINER * width))))


class Maps:
    """Heat maps `(CHANNELS, height, width)`, and what they support; all points are in places of the map."""

    def __init__(self, heat: Floats) -> None:
        self._heat = heat
        near = [cv2.dilate(part, np.ones((3, 3), np.uint8)) for part in heat[:2]]
        self._near: Floats = np.array([*near, heat[2]], np.float64)
        """Corners and crossings, each of which may be a place off; and board."""

    def support(self, corners: Floats) -> float:
        """How well they support four corners (4, 2), 0 to 1."""
        return float(_support(self._near, corners[None])[0])

    def places(self) -> list[Place]:
        """The places that they support best."""
        guesses = self._guesses()
        guesses = guesses[_possible(guesses)]
        found = map(Place, _support(self._near, guesses).tolist(), guesses)
        kept: list[Place] = []
        for place in sorted(found, key=lambda place: -place.support):
            if all(_apart(place.corners, other.corners) > _ALIKE * _size(other.corners) for other in kept):
                kept.append(place)
            if len(kept) == _PLACES:
                break
        smooth = self._near.copy()
        smooth[:2] = [cv2.GaussianBlur(part, (0, 0), _SMOOTH) for part in self._near[:2]]
        climbed = [_climbed(smooth, place.corners) for place in kept]
        return sorted(climbed, key=lambda place: -place.support)

    def _guesses(self) -> Floats:
        """Any four corners that are seen, three and what would be the fourth, and the board's outline: (n, 4, 2)."""
        peaks = _peaks(self._heat[0])
        guesses = [np.array(four) for four in itertools.combinations(peaks, 4)]
        for three in itertools.combinations(peaks[:_SURE_PEAKS], 3):
            guesses += [np.array([*three, three[i] + three[(i + 1) % 3] - three[(i + 2) % 3]]) for i in range(3)]
        guesses += _outlines(self._heat[2])
        return _in_order(np.array(guesses).reshape(-1, 4, 2))


def _climbed(maps: Floats, corners: Floats) -> Place:
    """The place with its corners moved, one by one, for as long as that gives more support."""
    best = Place(float(_support(maps, corners[None])[0]), corners)
    for step in _STEPS:
        for _ in range(_ROUNDS):
            better = _moved(maps, best, step * _MOVES)
            if better is best:
                break
            best = better
    return best


def _moved(maps: Floats, place: Place, moves: Floats) -> Place:
    """The place after those of these moves (n, 4, 2), one after the other, that give more support."""
    moved = place.corners + moves
    supports = np.where(_possible(moved), _support(maps, moved), -np.inf)
    better = supports > place.support
    if not better.any():
        return place
    first = int(better.argmax())
    return _moved(maps, Place(float(supports[first]), moved[first]), moves[first + 1 :])


def _peaks(part: Floats) -> list[Floats]:
    """Local maxima, best first, each (2,) x and y between places."""
    highest = (part >= cv2.dilate(part, np.ones((3, 3), np.uint8))) & (part > _LEAST_HEAT)
    ys, xs = np.nonzero(highest)
    order = np.argsort(-part[ys, xs])[:_PEAKS]
    padded = np.pad(part, 1)
    around = np.arange(-1, 2)
    peaks = []
    for x, y in zip(xs[order], ys[order], strict=True):
        window = padded[y : y + 3, x : x + 3]
        total = float(window.sum())
        peaks.append(np.array([x + float(window.sum(0) @ around) / total, y + float(window.sum(1) @ around) / total]))
    return peaks


def _outlines(board: Floats) -> list[Floats]:
    """The largest region that is board, as four corners, if it has four."""
    regions, _ = cv2.findContours((board > _LEAST_BOARD).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not regions:
        return []
    largest = cv2.convexHull(max(regions, key=cv2.contourArea))
    corners = cv2.approxPolyN(largest, 4, epsilon_percentage=-1.0, ensure_convex=False) if len(largest) >= 4 else None  # noqa: PLR2004
    return [] if corners is None else [np.asarray(corners, np.float64).reshape(-1, 2)]


def _in_order(corners: Floats) -> Floats:
    """Corners (n, 4, 2), each four in the order in which they go round."""
    step = corners - corners.mean(axis=1, keepdims=True)
    order = np.argsort(np.arctan2(step[..., 1], step[..., 0]), axis=1)
    return np.asarray(np.take_along_axis(corners, order[..., None], axis=1))


def _possible(corners: Floats) -> NDArray[np.bool_]:
    """Which of these places (n, 4, 2) may be a board's."""
    lengths = side_lengths(corners)
    least = lengths.min(axis=1)
    return np.asarray((least > _SMALLEST) & (lengths.max(axis=1) < 4 * least) & go_round(corners))


def _grid() -> tuple[Floats, Floats, Floats]:
    """Crossings that are no corners, middles of squares, and points outside, in squares."""
    lines = np.arange(_SQUARES + 1, dtype=np.float64)
    crossings = np.array([(x, y) for x in lines for y in lines if not {x, y} <= {0, _SQUARES}])
    middles = np.array([(x, y) for x in lines[:-1] + 0.5 for y in lines[:-1] + 0.5])
    beyond = (-_OUTSIDE, _SQUARES + _OUTSIDE)
    outside = np.array([p for x in lines[:-1] + 0.5 for far in beyond for p in ((x, far), (far, x))])
    return crossings, middles, outside


_PARTS = (UNIT_SQUARE * _SQUARES, *_grid())
"""Where a place is looked at, in squares."""
_WITHIN = np.insert(np.concatenate(_PARTS[1:]) / _SQUARES, 2, 1, axis=1)
"""All of these but its corners, in sides of the board, homogeneous."""
_OF = np.repeat(np.eye(len(_PARTS)), [len(part) for part in _PARTS], axis=0)
"""Of which part each of these points is, `(points, parts)`."""
_MEAN = _OF / _OF.sum(axis=0)
"""The mean over each part, of what is seen at all points."""
_MAP = (_OF @ (0, 1, 2, 2)).astype(np.intp)
"""In which map each point is looked up."""
_WAYS = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], np.float64)
_MOVES = np.einsum("ac,wx->awcx", np.eye(len(UNIT_SQUARE)), _WAYS).reshape(-1, *UNIT_SQUARE.shape)
"""Each corner alone, each way, `(16, 4, 2)`."""


def _support(maps: Floats, corners: Floats) -> Floats:
    """How well the maps, corners and crossings of which may be a place off, support each of these places (n, 4, 2)."""
    with np.errstate(invalid="ignore"):
        at = np.rint(np.concatenate([corners, _points_within(corners)], axis=1))
    inside = np.logical_and.reduce((at >= 0) & (at < (maps.shape[2], maps.shape[1])), axis=-1)
    along, down = np.moveaxis(np.where(inside[..., None], at, 0).astype(np.intp), -1, 0)
    at_corners, at_crossings, at_middles, outside = ((maps[_MAP, down, along] * inside) @ _MEAN).T
    return np.asarray(0.3 * at_corners + 0.35 * at_crossings + 0.35 * np.maximum(0.0, at_middles - outside))


def _points_within(corners: Floats) -> Floats:
    """Where the points `_WITHIN` are in each of these places (n, 4, 2): `(n, points, 2)`, not finite on a horizon."""
    seen = _WITHIN @ from_unit_square(corners).swapaxes(-1, -2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(seen[..., :2] / seen[..., 2:])


def _apart(corners: Floats, other: Floats) -> float:
    return min(float(np.abs(np.roll(corners, turn, axis=0) - other).max()) for turn in range(4))


def _size(corners: Floats) -> float:
    return float(np.ptp(corners, axis=0).max())


def _around(corners: Floats, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """The part of a picture, left, top, right and bottom, that shows a place and some of its surroundings."""
    reach = _AROUND * _size(corners)
    low = np.maximum(corners.min(axis=0) - reach, 0).astype(int)
    high = np.minimum(corners.max(axis=0) + reach, (shape[1], shape[0])).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
