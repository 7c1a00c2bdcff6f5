"""Which colour the pieces of a board have, told by the light in which they would have to lie.

Each face shows what its piece looked like at enrolment. If a piece that is seen now is light, one lamp must be there;
if it is dark, another: the `Views` of a square are by how much it is brighter than either face in each channel, and how
much more its mark stands out. All squares of a board lie under one lamp and before one camera, the empty ones too, so
the colours are those for which they agree best. What is seen in a light is proportional to what was seen at enrolment,
but for a veil that lies over everything and for how strong the camera makes colours; so how a mark stands out from its
piece tells as much of the light as the piece. How closely squares agree is learnt at enrolment, from boards put
together (`Agreement`). Colours are BGR, in hundreds of grey levels, and covariances in the squares of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from companion.vision.context import softmax
from companion.vision.faces import best_face

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.vision.faces import Comparison, FaceMatcher

    Floats = NDArray[np.floating]

FEATURES: Final = 6
"""Of a view: how much brighter are B, G and R, and how much more does the mark stand out in each."""
_UNIT: Final = 100.0
"""So many grey levels are 1 in all that follows."""
_CLOSER: Final = 0.5
"""Of the variance of pieces on the boards that enrolment puts together, the share it has on a table: those boards lie
in worse light than most."""
_TAILS: Final = 6.0
"""Degrees of freedom of Student's t distribution: a shadow or a glare now and then proves nothing."""
_EMPTY_WEIGHS: Final = 0.25
"""What lies around a piece is in another light now and then, and an empty square is often larger than what is seen."""
_LIGHTS: Final = (0.7, 0.4, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.6, 0.3)
"""The usual standard deviations of what makes a light: how much brighter it is, and B, G and R besides, as shares; how
much of a veil there is, and in B, G and R besides; how much stronger colours are, and how much sharper marks, as
shares."""
_BRIGHTER, _CHANNELS, _VEIL, _VEILS, _COLOURS, _SHARPER = 0, slice(1, 4), 4, slice(5, 8), 8, 9
"""What is where in a light."""
_USUAL_LIGHT: Final = np.diag(1 / np.square(_LIGHTS))
_ROUNDS: Final = 4
_SURER: Final = 3.0
"""Squares are asked first as if what they seem to be were told by so many: who begins undecided stays it."""
_MOST: Final = 9.0
"""The most that the light changes the logarithm of the odds of a colour by."""
_LEAST: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Views:
    """The light in which each square of a board would have to lie."""

    pieces: Floats
    """If it bears a light piece, and if it bears a dark one, `(n, 2, FEATURES)`."""
    ways: Floats
    """How these follow from a light, `(n, 2, FEATURES, lights)`."""
    empty: Floats
    """If it is empty, its colour, `(n, 3)`."""

    @classmethod
    def of(cls, matcher: FaceMatcher, seen: Comparison) -> Self:
        """From a comparison with the faces."""
        best = np.stack([best_face(seen.alike, matcher.contents, dark=dark) for dark in (False, True)], axis=1)
        rows = np.arange(len(best))[:, None]
        known = _colour_and_step(matcher.marks[best], matcher.beside[best])
        now = _colour_and_step(seen.marks[rows, best], seen.beside[rows, best])
        return cls(np.concatenate(now, axis=2) - np.concatenate(known, axis=2), ways_of(*known), seen.middle / _UNIT)

    def those(self, squares: NDArray[np.bool_]) -> Views:
        """What these squares say."""
        return Views(self.pieces[squares], self.ways[squares], self.empty[squares])

    def only_empty_but(self, squares: NDArray[np.bool_]) -> Views:
        """The same, but that only these squares may bear pieces: then `pieces` and `ways` are theirs alone."""
        return Views(self.pieces[squares], self.ways[squares], self.empty)

    def as_they_are(self, colours: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """What pieces of these `colours`, 0 for light and 1 for dark, say, and how that follows from a light."""
        rows = np.arange(len(colours))
        return self.pieces[rows, colours], self.ways[rows, colours]


def _colour_and_step(marks: Floats, beside: Floats) -> tuple[Floats, Floats]:
    """The colour of pieces, and by how much their marks are brighter, `(..., 3)`, from those at and beside the mark."""
    return np.asarray((marks + beside) / (2 * _UNIT)), np.asarray((marks - beside) / _UNIT)


def ways_of(colours: Floats, steps: Floats | float = 0.0) -> Floats:
    """How what is seen of things of these `colours`, whose marks are by these `steps` brighter, follows from a light.

    Both `(..., 3)`, in the light of enrolment; `(..., FEATURES, lights)`, to be multiplied by a light.
    """
    ways = np.zeros((*colours.shape[:-1], FEATURES, len(_LIGHTS)))
    for rows, seen in ((slice(3), colours), (slice(3, FEATURES), np.broadcast_to(steps, colours.shape))):
        ways[..., rows, _BRIGHTER] = seen
        ways[..., rows, _CHANNELS] = seen[..., None] * np.eye(3)
        ways[..., rows, _COLOURS] = seen - seen.mean(axis=-1, keepdims=True)
    ways[..., :3, _VEIL] = 1
    ways[..., :3, _VEILS] = np.eye(3)
    ways[..., 3:, _SHARPER] = steps
    return ways


@dataclass(frozen=True, slots=True)
class Agreement:
    """How closely the squares of one board agree about their light."""

    spread: Floats
    """The covariance of what pieces say that the others do not foresee, `(FEATURES, FEATURES)`."""
    empty: Floats
    """An empty square's colour in the light of enrolment, `(3,)`."""
    empty_spread: Floats
    """The covariance of that, `(3, 3)`."""
    trust: float
    """What log odds that follow from it have to be multiplied by."""

    def colours(self, views: Views, states: Floats) -> tuple[Floats, Floats]:
        """The shares of light and dark `(n, 2)`, and by how much the light alone speaks for light, as log odds `(n,)`.

        `states` holds how likely each square is empty, light or dark besides, `(n, 3 or more)`. The squares are asked
        twice, from what they seem to be and from the opposite; the two answers count as they fit the squares, and what
        the squares seem to be counts once for all of them, as a lamp deceives about all alike: where all pieces may be
        of the other colour under another lamp, the light decides nothing. Nor does it where there surely is no piece.
        """
        bare, pieces = states[:, 0], states[:, 1:3].sum(axis=1)
        known = np.maximum(states[:, 1:3] / np.maximum(pieces, 1e-12)[:, None], _LEAST)
        known /= known.sum(axis=1, keepdims=True)
        shares, told, asked = known.copy(), np.zeros(len(known)), pieces > 0
        fits, answers, speaks = self._answers(views.only_empty_but(asked), bare, pieces[asked], known[asked], asked)
        weights = softmax(fits)
        shares[asked], told[asked] = np.tensordot(weights, answers, 1), weights @ speaks
        return np.asarray(shares), told

    def against_others(self, views: Views, colours: NDArray[np.integer]) -> Floats:
        """By how much each of these pieces says its own colour beside the others, as log odds.

        `colours` holds 0 for light and 1 for dark, `(n,)`. What `trust` is learnt from.
        """
        rows = np.arange(len(colours))
        fits = self._fits(views, *_told_by_others(*_told_by(*views.as_they_are(colours), self.spread)), self.spread)
        return np.asarray(fits[rows, colours] - fits[rows, 1 - colours])

    @property
    def _spread(self) -> Floats:
        return np.asarray(_CLOSER * self.spread)

    @property
    def _way_of_empty(self) -> Floats:
        return ways_of(self.empty)[:3]

    def _answers(
        self, views: Views, bare: Floats, pieces: Floats, known: Floats, asked: NDArray[np.bool_]
    ) -> tuple[Floats, Floats, Floats]:
        """How well the squares agree in the end, `(2,)`, and `colours` of those that are `asked`, `(2, n, ...)`.

        `pieces`, what is `known` of colours, and those of the views, are of the squares that are asked; the rest is of
        all.
        """
        told_by_pieces = _ToldByPieces.of(views, self._spread)
        sure_of_empty, said_by_empty = self._said_by_empty(views, bare)
        besides = sure_of_empty[~asked].sum(axis=0), said_by_empty[~asked].sum(axis=0)
        surer, likely = softmax(_SURER * np.log(known)), np.log(known)
        shares = np.stack([surer, surer[:, ::-1]])
        for _ in range(_ROUNDS):
            sure, said = told_by_pieces.as_sure_of(shares, pieces)
            sure, said = sure + sure_of_empty[asked], said + said_by_empty[asked]
            fits = self._fits(views, *_told_by_others(sure, said, *besides), self._spread)
            told = np.clip(self.trust * (fits[..., 0] - fits[..., 1]), -_MOST, _MOST)
            shares = softmax(likely + np.stack([told, -told], axis=-1) / 2)
        agree = self._likelihood(views, bare, pieces, _told_by_all(sure, said, *besides))
        return agree + _mean(shares * likely, pieces), shares, told

    @staticmethod
    def _fits(views: Views, light: Floats, unsure: Floats, spread: Floats) -> Floats:
        """How well each square, seen as either colour, fits a light of a covariance, `(..., n, 2)`.

        `light` is `(..., n, lights, 1)` and `unsure` `(..., n, lights, lights)`.
        """
        away = views.pieces[..., None] - views.ways @ light[..., None, :, :]
        spread = spread + views.ways @ unsure[..., None, :, :] @ views.ways.swapaxes(-1, -2)
        squared = (away * np.linalg.solve(spread, away)).sum(axis=(-1, -2))
        return np.asarray(_fit(squared, FEATURES) - np.linalg.slogdet(spread)[1] / 2)

    def _said_by_empty(self, views: Views, bare: Floats) -> tuple[Floats, Floats]:
        """What empty squares say about the light; see `_told_by`."""
        away = views.empty - self.empty
        sure, said = _told_by(away, self._way_of_empty, self.empty_spread)
        weights = (_EMPTY_WEIGHS * bare)[:, None, None]
        return weights * sure, weights * said

    def _likelihood(self, views: Views, bare: Floats, pieces: Floats, lights: Floats) -> Floats:
        """How likely it is that the squares look as they do in each of these lights `(m, lights)`, as logarithms."""
        away = views.pieces - (views.ways @ lights[:, None, None, :, None])[..., 0]
        empty = views.empty - self.empty - (lights @ self._way_of_empty.T)[:, None]
        fits = _fit(_squared(away, np.linalg.inv(self._spread)), FEATURES)
        empty_fits = _fit(_squared(empty, np.linalg.inv(self.empty_spread)), 3)
        fit = np.logaddexp(fits[..., 0], fits[..., 1]) @ pieces + _EMPTY_WEIGHS * (empty_fits @ bare)
        return np.asarray(fit - ((lights @ _USUAL_LIGHT) * lights).sum(axis=1) / 2)


@dataclass(frozen=True, slots=True)
class _ToldByPieces:
    """What each square tells of the light if it bears a light piece, and if it bears a dark one; see `_told_by`."""

    sure: Floats
    said: Floats
    less_sure: Floats
    """How much less sure it is for each part of variance along the way between the two, `(n, 2, lights, lights)`."""
    said_less: Floats
    apart: Floats
    """How far the two are from each other, squared and in standard deviations, `(n,)`."""

    @classmethod
    def of(cls, views: Views, spread: Floats) -> Self:
        """What views tell that are as they should be but for a covariance."""
        apart = (views.pieces[:, 0] - views.pieces[:, 1])[:, None]
        along = np.linalg.inv(spread) @ apart[..., None]
        less = views.ways.swapaxes(-1, -2) @ along
        said_less = less * (views.pieces[..., None, :] @ along)
        squared = (apart[..., None, :] @ along)[:, 0, 0, 0]
        return cls(*_told_by(views.pieces, views.ways, spread), less @ less.swapaxes(-1, -2), said_less, squared)

    def as_sure_of(self, shares: Floats, pieces: Floats) -> tuple[Floats, Floats]:
        """What squares that are `pieces` so likely tell, their colours being light and dark by `shares` `(..., n, 2)`.

        Who does not know the colour of a piece does not know what it says along the way between the two: in an inverse
        covariance that is one term more (Sherman and Morrison).
        """
        unsure = shares[..., 0] * shares[..., 1]
        loose = (unsure / (1 + unsure * self.apart))[..., None, None, None]
        weights = (pieces[:, None] * shares)[..., None, None]
        sure, said = self.sure - loose * self.less_sure, self.said - loose * self.said_less
        return (weights * sure).sum(axis=-3), (weights * said).sum(axis=-3)


def left_by_others(seen: Floats, ways: Floats, spread: Floats) -> Floats:
    """What of views `(n, FEATURES)` the light that the others tell leaves unexplained, `(n, FEATURES)`."""
    light, _ = _told_by_others(*_told_by(seen, ways, spread))
    return np.asarray(seen - (ways @ light)[..., 0])


def light_of(seen: Floats, ways: Floats, spread: Floats) -> Floats:
    """The light that all these views `(n, FEATURES)` tell together, `(lights,)`."""
    return _told_by_all(*_told_by(seen, ways, spread))


def _told_by(seen: Floats, ways: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """How sure views `(..., features)` are of a light, `(..., lights, lights)`, and that times what they say it is."""
    onto = ways.swapaxes(-1, -2) @ np.linalg.inv(spread)
    return onto @ ways, onto @ seen[..., None]


def _told_by_all(sure: Floats, said: Floats, also: Floats | float = 0.0, says: Floats | float = 0.0) -> Floats:
    """The light that all squares tell together, `(..., lights)`; from `_told_by`, `(..., n, lights, lights or 1)`.

    What others tell besides, `(lights, lights or 1)`, is that they are `also` so sure, and what that `says`.
    """
    return np.asarray(np.linalg.solve(_USUAL_LIGHT + also + sure.sum(axis=-3), says + said.sum(axis=-3))[..., 0])


def _told_by_others(
    sure: Floats, said: Floats, also: Floats | float = 0.0, says: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """For each square the light that all others tell, `(..., n, lights, 1)`, and its covariance; see `_told_by_all`."""
    unsure = np.linalg.inv(_USUAL_LIGHT + also + sure.sum(axis=-3, keepdims=True) - sure)
    return unsure @ (says + said.sum(axis=-3, keepdims=True) - said), unsure


def _squared(away: Floats, inverse: Floats) -> Floats:
    """Squared distances of `away` `(..., features)`."""
    return np.asarray((away[..., None, :] @ inverse @ away[..., None])[..., 0, 0])


def _fit(distance: Floats, features: int) -> Floats:
    """The logarithm of a t distribution's density, but for what is the same for all, at a squared distance."""
    return np.asarray(-(_TAILS + features) / 2 * np.log1p(distance / _TAILS))


def _mean(values: Floats, weights: Floats) -> Floats:
    return np.asarray((weights * values.sum(axis=-1)).sum(axis=-1) / max(weights.sum(), _LEAST))
