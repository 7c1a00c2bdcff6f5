"""Reads plain cubes of two colours that were enrolled: where one lies, and which of the two colours it has.

Cubes bear no marks, so their colour is all that tells them apart, in whatever light. Enrolment has found a direction in
`cube_traits` along which cubes of the two colours lie apart under many lamps. Another lamp or camera moves all cubes of
a board along it alike, and draws the two colours nearer to each other or farther apart; within a board each stays near
its like. So a board's squares are asked together: over all such lights, as likely as they are (`ColourScale`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from companion.errors import ProfileError
from companion.readings import ANYTHING, EMPTY, of_colour
from companion.rules import Colour, Kind
from companion.vision.context import softmax
from companion.vision.enrolled import LEAST, LEAST_BELIEVED, TRAITS, occupied_by_head, traits, weights_of
from companion.vision.faces import DARK, LIGHT
from companion.vision.pieces import CLASSES, COVERED, EMBEDDING, Looked, Tone, bundled_backbone, mean_look, mirrored
from companion.vision.rectify import PATCH, SQUARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from companion.profile import EnrolledCubes
    from companion.readings import Contents
    from companion.vision.pieces import Recogniser

    Floats = NDArray[np.float32]
    Patches = NDArray[np.uint8]

STATES: Final = 3
"""What the weights tell apart beside the colours: empty, a cube, covered."""
_MEASURE: Final = 1
"""The number of this way to look at cubes: what was learnt with another one is of no use."""
_FAINT: Final = 8.0
"""So many grey levels count as none: noise gives black any colour."""
_LOW_USUAL_HIGH: Final = (10, 50, 90)
"""In percent of the pixels."""
_DOWN, _ALONG = np.mgrid[:PATCH, :PATCH] - (PATCH - 1) / 2
_DISCS: Final = tuple(np.hypot(_ALONG, _DOWN + 0.1 * SQUARE) <= radius * SQUARE for radius in (0.3, 0.15))
"""Where in a patch the pixels of each disc are: a little away from the camera, as cubes lean that way."""
_COLOURS: Final = 2 * len(_DISCS) * 3 * len(_LOW_USUAL_HIGH)
CUBE_TRAITS: Final = TRAITS + _COLOURS
"""How many `cube_traits` there are."""
_COVERED: Final = 0.5
"""From this probability of *covered* on, nothing is ruled out."""
_EACH: Final = (EMPTY, of_colour(Colour.LIGHT), of_colour(Colour.DARK))
_STATES, _SCORE, _EMBEDDING = slice(STATES), STATES, slice(STATES + 1, None)
"""What is where in the rows of `CubeRecogniser.embed`."""
_TAILS: Final = 10.0
"""Degrees of freedom of Student's t distribution, of a cube about its like."""
_SHIFTS, _STRETCHES = (
    grid.ravel() for grid in np.meshgrid(np.linspace(-3.5, 3.5, 57), np.linspace(-3, 3, 19), indexing="ij")
)
"""The lights that are thought of, in standard deviations."""


def cube_fingerprint() -> str:
    """What tells the network and the colours that cubes were enrolled with from any other."""
    return hashlib.sha256(bundled_backbone() + b"cubes" + bytes([_MEASURE])).hexdigest()[:16]


def cube_traits(recogniser: Recogniser, patches: Patches, tone: Tone) -> Floats:
    """What tells cubes: `traits`, and which colours there are near the middle of each patch; `(n, CUBE_TRAITS)`."""
    return np.concatenate([traits(recogniser, patches, tone), _colours(patches, tone)], axis=1, dtype=np.float32)


def _colours(patches: Patches, tone: Tone) -> Floats:
    """The colours of patches near their middle, `(n, _COLOURS)`; wherever a cube is, its colour is an extreme one.

    By how much red and blue exceed green, as shares of the brightness, and the brightness beside the board's; low,
    usual and high values of each in two discs, and the squares of these.
    """
    seen = patches.astype(np.float32)
    grey = seen.mean(axis=3)
    red, blue = ((seen[..., i] - seen[..., 1]) / (grey + _FAINT) for i in (2, 0))
    bright = np.log((grey + _FAINT) / (np.mean(tone.cast) + _FAINT))
    told = [np.percentile(each[:, disc], _LOW_USUAL_HIGH, axis=1).T for disc in _DISCS for each in (red, blue, bright)]
    values = np.concatenate(told, axis=1)
    return np.concatenate([values, values**2], axis=1, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class ColourScale:
    """Where cubes of either colour lie along the direction in which the two differ; light ones lie above."""

    middle: float
    half: float
    """How far from the middle cubes of either colour lie, in the usual light."""
    own: float
    """The standard deviation of a cube from its like on the same board."""
    shift: float
    """That of the middle from board to board."""
    stretch: float
    """That of the logarithm of `half` from board to board."""

    @property
    def apart(self) -> float:
        """How far each colour lies from between the two, in standard deviations of a cube from its like."""
        return self.half / self.own

    def shares(self, scores: Floats, cubes: Floats) -> Floats:
        """How likely each square's cube is light and dark, `(n, 2)`.

        `scores` `(n,)` are the places along the direction; `cubes` `(n,)` how likely each square bears a cube: only
        those tell of the light.
        """
        half = self.half * np.exp(self.stretch * _STRETCHES)
        away = scores[:, None] - self.middle - self.shift * _SHIFTS
        light, dark = self._fit(away - half), self._fit(away + half)
        likely = (cubes[:, None] * np.logaddexp(light, dark)).sum(axis=0) - (_SHIFTS**2 + _STRETCHES**2) / 2
        lights = softmax(likely[None])[0]
        share = (1 / (1 + np.exp(np.clip(dark - light, -50, 50)))) @ lights
        return np.asarray(np.stack([share, 1 - share], axis=1), np.float32)

    def _fit(self, away: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.asarray(-(_TAILS + 1) / 2 * np.log1p((away / self.own) ** 2 / _TAILS))


@dataclass(frozen=True, slots=True)
class CubeLook:
    """What enrolment has learnt of a set of cubes."""

    states: Floats
    """From `cube_traits`, and 1, to the scores of the `STATES`; `(STATES, CUBE_TRAITS + 1)`."""
    direction: Floats
    """From `cube_traits` to a place along the direction in which the colours differ, `(CUBE_TRAITS,)`."""
    scale: ColourScale

    @classmethod
    def of(cls, cubes: EnrolledCubes) -> Self:
        """What a profile keeps; `ProfileError` if it was made with another network or is damaged."""
        if cubes.backbone != cube_fingerprint():
            raise ProfileError("these cubes were enrolled with another version of the recogniser: enrol them again")
        try:
            states = weights_of(cubes.states).reshape(STATES, CUBE_TRAITS + 1)
            direction = weights_of(cubes.direction).reshape(CUBE_TRAITS)
        except ValueError as error:
            raise ProfileError("the enrolled cubes in this profile are damaged: enrol them again") from error
        return cls(states, direction, ColourScale(cubes.middle, cubes.half, cubes.own, cubes.shift, cubes.stretch))


class CubeRecogniser:
    """Reads patches of enrolled cubes; see `companion.vision.reader.Recogniser` for what that means."""

    sides: Final = 2
    """A cube is the same in the mirror, and a second look tells more."""
    asks_spares: Final = False
    """The set is known already."""
    looks_beside: Final = False
    """A colour is the same a little beside."""
    evens_light: Final = False
    """Colours are reckoned in the light that all squares share."""

    def __init__(self, recogniser: Recogniser, look: CubeLook) -> None:
        self._recogniser, self._look = recogniser, look

    def recognise(self, patches: Patches, *, mirror_too: bool = False) -> Floats:
        """Probabilities `(n, CLASSES)`: `ALL_CONTENTS`, then covered; all kinds of a colour are as likely.

        With `mirror_too` every patch is looked at in the mirror as well.
        """
        tone = Tone.of(patches)
        looks = [patches, mirrored(patches)] if mirror_too else [patches]
        return self._judged([self.embed(look, tone) for look in looks])

    def embed(self, patches: Patches, tone: Tone) -> Floats:
        """What `judge` asks of each patch, `(n, STATES + 1 + EMBEDDING)`.

        The probabilities of the states, the place along the direction of the colours, and the network's embedding.
        """
        seen = cube_traits(self._recogniser, patches, tone)
        states = softmax(seen @ self._look.states[:, :-1].T + self._look.states[:, -1])
        score = seen @ self._look.direction
        return np.concatenate([states, score[:, None], seen[:, :EMBEDDING]], axis=1, dtype=np.float32)

    def judge(self, embeddings: Floats) -> Floats:
        """Probabilities `(n, CLASSES)` of the squares of one board, from `embed`'s rows."""
        return self._judged([embeddings])

    def _judged(self, looks: Sequence[Floats]) -> Floats:
        """The same from one or more looks at each square; the places of cubes are theirs in the mean."""
        states = mean_look(*map(self._states, looks))
        cubes = states[:, 1]
        shares = self._look.scale.shares(np.mean([rows[:, _SCORE] for rows in looks], axis=0), cubes)
        probabilities = np.zeros((len(states), CLASSES), np.float32)
        probabilities[:, 0], probabilities[:, COVERED] = states[:, 0], states[:, 2]
        for kinds, share in ((LIGHT, shares[:, 0]), (DARK, shares[:, 1])):
            probabilities[:, kinds] = (cubes * share / len(Kind))[:, None]
        return probabilities

    def _states(self, rows: Floats) -> Floats:
        """How likely *empty*, *a cube* and *covered* are, as weights and head together say, `(n, STATES)`."""
        network = self._recogniser.judge(rows[:, _EMBEDDING])
        by_head = np.maximum(occupied_by_head(network), LEAST_BELIEVED)
        likely = np.maximum(rows[:, _STATES], LEAST_BELIEVED) * by_head
        return np.asarray(likely / likely.sum(axis=1, keepdims=True), np.float32)

    def contents(self, probabilities: Floats, look: Looked = Looked.ONCE) -> tuple[Contents, ...]:  # noqa: ARG002
        """For each patch the contents that cannot be ruled out; of a colour all kinds."""
        return tuple(map(_kept, probabilities))


def _kept(row: Floats) -> Contents:
    """What cannot be ruled out, from the probabilities `(CLASSES,)` of a square."""
    if row[COVERED] >= _COVERED:
        return ANYTHING
    likely = np.array([row[0], row[LIGHT].sum(), row[DARK].sum()])
    return sum(mask for mask, share in zip(_EACH, likely, strict=True) if share >= LEAST)
