"""What ``companion calibrate enrol`` learns of plain cubes from the empty board and the sixteen cubes.

Cubes in the two colours that the picture shows are drawn on the empty board, of any size, from any side and in any
light, by a `CubeComposer`. On these boards the weights are fitted that tell empty, a cube and covered, and the
direction in which the two colours differ (Fisher 1936); on others how near cubes of one colour stay to each other along
it, on one board and from board to board.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibration.composing import CubeComposer
from calibration.enrolment import (
    ARRANGEMENT,
    EnrolmentError,
    encoded,
    fit_states,
    refuse_other_boards,
    shows_a_piece,
    state_of,
)
from companion.profile import EnrolledCubes
from companion.vision.cubes import STATES, ColourScale, cube_fingerprint, cube_traits
from companion.vision.pieces import Tone
from companion.vision.rectify import patches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from calibration.composing import LocatedPicture
    from companion.rules import Layout
    from companion.vision.pieces import Recogniser

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]
    Vector = NDArray[np.float64]
    Flags = NDArray[np.bool_]

BOARDS = 180
"""Boards drawn to learn from."""
_MORE = 3
"""A third as many boards show how well the colours are told that were found on the others."""
_RIDGE = 0.3
"""Of a trait's variance, so much is added to that within a colour: there are hardly more cubes than traits."""
_FEWEST = 2
"""Cubes of each colour on a board that shows how near they are to each other."""
_MOST = 0.683
"""The share of what is normally distributed that is within a standard deviation."""
_CLOSER, _FARTHER = 0.7, 1.2
"""Most tables lie in better light than the boards that are drawn: cubes are so much nearer to their like. From table to
table they are farther apart: it is not known in which light they were enrolled."""
_LEAST_SPREAD = 0.02
"""Of the distance of the colours, however near all cubes are to their like."""


@dataclass(frozen=True, slots=True)
class LearntCubes:
    """Enrolled cubes, and how well they can be told apart."""

    cubes: EnrolledCubes
    colours: Vector
    """Of each cube in the picture, `(16, 3)` BGR."""
    apart: float
    """See `companion.vision.cubes.ColourScale`."""


def cube_composer(empty: LocatedPicture, pieces: LocatedPicture, layout: Layout) -> CubeComposer:
    """What measures the colours of cubes in two pictures, and draws cubes.

    Raises:
        EnrolmentError: if the layout has not the sixteen squares of the arrangement.
    """
    refuse_other_boards(layout)
    return CubeComposer.of(empty, pieces, ARRANGEMENT, layout)


def learn_cubes(composer: CubeComposer, recogniser: Recogniser, boards: int = BOARDS) -> LearntCubes:
    """Learn cubes on so many drawn boards, and some more.

    Raises:
        EnrolmentError: if the two colours are not told apart on those boards.
    """
    drawn = _drawn(composer, recogniser)
    lesson = [next(drawn) for _ in range(boards)]
    seen, laid = np.concatenate([seen for seen, _ in lesson]), np.concatenate([laid for _, laid in lesson])
    shown = shows_a_piece(laid)
    direction = _direction(seen[shown], state_of(laid[shown]) == 1)
    states = np.array([0, 1, 1, 2])[state_of(laid)]
    scale = _scale([next(drawn) for _ in range(boards // _MORE)], direction)
    cubes = EnrolledCubes(
        backbone=cube_fingerprint(),
        states=encoded(fit_states(seen, states, STATES)),
        direction=encoded(direction),
        **asdict(scale),
    )
    return LearntCubes(cubes, composer.colours, scale.apart)


def _drawn(composer: CubeComposer, recogniser: Recogniser) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    """Boards without end: the traits of the squares of each that are not half covered, and what lies there."""
    rng = np.random.default_rng(1)
    while True:
        board = composer.compose(rng)
        cut = patches(board.view, composer.layout, composer.away)
        clear = board.contents >= 0
        yield cube_traits(recogniser, cut, Tone.of(cut))[clear], board.contents[clear]


def _direction(seen: Floats, light: Flags) -> Vector:
    """The direction `(traits,)` in which cubes of two colours differ most for how much those of one colour do."""
    spread = seen.std(axis=0) + 1e-6
    toned = (seen / spread).astype(np.float64)
    means = [toned[those].mean(axis=0) for those in (light, ~light)]
    left = toned - np.where(light[:, None], *means)
    within = left.T @ left / len(left) + _RIDGE * np.eye(left.shape[1])
    return np.asarray(np.linalg.solve(within, means[0] - means[1]) / spread)


def _scale(test: list[tuple[Floats, NDArray[np.int64]]], direction: Vector) -> ColourScale:
    """How near cubes are to their like along a direction, from boards that it was not found on.

    Raises:
        EnrolmentError: if the two colours are not told apart, or no board bears enough cubes of both.
    """
    middles, halves, own = [], [], []
    for seen, laid in test:
        places = [seen[state_of(laid) == state] @ direction for state in (1, 2)]
        if min(map(len, places)) >= _FEWEST:
            light, dark = (float(each.mean()) for each in places)
            middles.append((light + dark) / 2)
            halves.append((light - dark) / 2)
            own += [(each - each.mean()) * np.sqrt(len(each) / (len(each) - 1)) for each in places]
    middle, half = (float(np.median(each)) if each else 0.0 for each in (middles, halves))
    spread = _spread(np.concatenate([*own, [0.0]]), half)
    if half <= spread:
        raise EnrolmentError("the light and the dark cubes look too much alike to be told apart in other light")
    return ColourScale(
        middle=middle,
        half=half,
        own=_CLOSER * spread,
        shift=_FARTHER * _spread(np.array(middles) - middle, half),
        stretch=_spread(np.log(np.maximum(np.array(halves) / half, _LEAST_SPREAD)), 1.0),
    )


def _spread(values: Vector, unit: float) -> float:
    """The standard deviation of `values` about 0, whatever a few of them are; not next to nothing beside the `unit`."""
    return max(float(np.quantile(np.abs(values), _MOST)), _LEAST_SPREAD * unit)
