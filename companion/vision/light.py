"""Which colour the pieces of a board have, told by the light in which they would have to lie.

Each face shows what its piece looked like at enrolment. If a piece that is seen now is light, one lamp must be there;
if it is dark, another: the `Views` of a square are how much brighter it is than either face, channel by channel, and
how much stronger its marks are. All squares of a board lie under one lamp, the empty ones too, so the colours are those
for which they agree best. How closely squares agree is learnt at enrolment, from boards put together (`Agreement`).
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

FEATURES: Final = 4
"""Of a view: the logarithms of the gain of B, G and R, and of that of the marks."""
DIM: Final = 4.0
"""So many grey levels are dark, whatever their colour."""
_DOUBT: Final = 1.5
"""Squares agree less well on a table than on the boards that enrolment puts together."""
_TAILS: Final = 6.0
"""Degrees of freedom of Student's t distribution: a shadow or a glare now and then proves nothing."""
_EMPTY_WEIGHS: Final = 0.3
"""What lies around a piece is in another light now and then, and an empty square is often larger than what is seen."""
_USUAL_LIGHT: Final = np.eye(FEATURES)
"""The inverse of the covariance of lights, before anything is seen: twice or half as bright is nothing unusual."""
_ROUNDS: Final = 4
_MOST: Final = 9.0
"""The most that the light changes the logarithm of the odds of a colour by."""
_LEAST: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Views:
    """The light in which each square of a board would have to lie."""

    pieces: Floats
    """If it bears a light piece, and if it bears a dark one, `(n, 2, FEATURES)`."""
    empty: Floats
    """If it is empty, the logarithm of its colour, `(n, 3)`."""

    @classmethod
    def of(cls, matcher: FaceMatcher, seen: Comparison) -> Self:
        """From a comparison with the faces."""
        levels = np.log(np.maximum(seen.levels, 0) + DIM) - np.log(matcher.levels + DIM)
        marks = np.log(seen.marks + 1) - np.log(matcher.marks + 1)
        views = np.concatenate([levels, marks[..., None]], axis=2)
        rows = np.arange(len(views))
        best = [best_face(seen.alike, matcher.contents, dark=dark) for dark in (False, True)]
        return cls(np.stack([views[rows, face] for face in best], axis=1), np.log(seen.middle + DIM))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How closely the squares of one board agree about their light."""

    spread: Floats
    """The covariance of what pieces say, `(FEATURES, FEATURES)`."""
    empty: Floats
    """The logarithm of an empty square's colour in the light of enrolment, `(3,)`."""
    empty_spread: Floats
    """The covariance of that, `(3, 3)`."""
    trust: float
    """What log odds that follow from it have to be multiplied by."""

    def colours(self, views: Views, states: Floats) -> tuple[Floats, Floats]:
        """The shares of light and dark `(n, 2)`, and by how much the light alone speaks for light, as log odds `(n,)`.

        `states` holds how likely each square is empty, light or dark besides, `(n, 3 or more)`. The squares are asked
        twice, from what they seem to be and from the opposite; the two answers count as they fit the squares, and what
        the squares seem to be counts once for all of them, as a lamp deceives about all alike: where all pieces may be
        of the other colour under another lamp, the light decides nothing.
        """
        bare, pieces = states[:, 0], states[:, 1:3].sum(axis=1)
        known = np.maximum(states[:, 1:3] / np.maximum(pieces, 1e-12)[:, None], _LEAST)
        known /= known.sum(axis=1, keepdims=True)
        empty = self._said_by_empty(views, bare)
        answers = [self._answer(views, bare, pieces, known, empty, begin) for begin in (known, known[:, ::-1])]
        weights = softmax(np.array([fit for fit, _, _ in answers]))
        shares = sum(weight * shares for weight, (_, shares, _) in zip(weights, answers, strict=True))
        told = sum(weight * told for weight, (_, _, told) in zip(weights, answers, strict=True))
        return np.asarray(shares), np.asarray(told)

    def against_others(self, pieces: Floats, colours: NDArray[np.integer]) -> Floats:
        """By how much each of these `pieces` `(n, 2, FEATURES)` says its own colour beside the others, as log odds.

        `colours` holds 0 for light and 1 for dark, `(n,)`. What `trust` is learnt from.
        """
        rows = np.arange(len(pieces))
        own = pieces[rows, colours]
        others = (own.sum(axis=0) - own) / max(len(own) - 1, 1)
        away = pieces - others[:, None]
        fits = _fit(np.einsum("nci,ij,ncj->nc", away, np.linalg.inv(_DOUBT * self.spread), away), FEATURES)
        return np.asarray(fits[rows, colours] - fits[rows, 1 - colours])

    def _answer(
        self, views: Views, bare: Floats, pieces: Floats, known: Floats, by_empty: tuple[Floats, Floats], shares: Floats
    ) -> tuple[float, Floats, Floats]:
        """How well the squares agree in the end, and `colours`, when their colours are taken for `shares` first."""
        spread, apart = _DOUBT * self.spread, views.pieces[:, 0] - views.pieces[:, 1]
        (empty, said_empty), told = by_empty, np.zeros(len(pieces))
        all_sure, all_said = _USUAL_LIGHT, np.zeros((FEATURES, 1))
        for _ in range(_ROUNDS):
            unsure = (shares[:, 0] * shares[:, 1])[:, None, None] * apart[:, :, None] * apart[:, None]
            sure = pieces[:, None, None] * np.linalg.inv(spread + unsure) + empty
            said = (sure - empty) @ (shares[:, :, None] * views.pieces).sum(axis=1)[:, :, None] + said_empty
            all_sure, all_said = _USUAL_LIGHT + sure.sum(axis=0), said.sum(axis=0)
            others = np.linalg.inv(all_sure - sure)
            away = views.pieces - (others @ (all_said - said))[:, None, :, 0]
            fits = _fit(np.einsum("nci,nij,ncj->nc", away, np.linalg.inv(spread + others), away), FEATURES)
            told = np.clip(self.trust * (fits[:, 0] - fits[:, 1]), -_MOST, _MOST)
            shares = softmax(np.log(known) + np.stack([told, -told], axis=1) / 2)
        light = np.linalg.solve(all_sure, all_said)[:, 0]
        return self._likelihood(views, bare, pieces, light) + _mean(shares * np.log(known), pieces), shares, told

    def _said_by_empty(self, views: Views, bare: Floats) -> tuple[Floats, Floats]:
        """How sure empty squares are of the light, `(n, FEATURES, FEATURES)`, and that times what they say it is."""
        sure = np.zeros((len(bare), FEATURES, FEATURES))
        sure[:, :3, :3] = (_EMPTY_WEIGHS * bare)[:, None, None] * np.linalg.inv(_DOUBT * self.empty_spread)
        light = np.pad(views.empty - self.empty, ((0, 0), (0, FEATURES - 3)))
        return sure, sure @ light[:, :, None]

    def _likelihood(self, views: Views, bare: Floats, pieces: Floats, light: Floats) -> float:
        """How likely it is that the squares look as they do in this light, as a logarithm."""
        away, empty = views.pieces - light, views.empty - self.empty - light[:3]
        inverse, empty_inverse = (np.linalg.inv(_DOUBT * each) for each in (self.spread, self.empty_spread))
        fits = _fit(np.einsum("nci,ij,ncj->nc", away, inverse, away), FEATURES)
        empty_fits = _fit(np.einsum("ni,ij,nj->n", empty, empty_inverse, empty), 3)
        fit = (pieces * np.logaddexp(*fits.T)).sum() + _EMPTY_WEIGHS * (bare * empty_fits).sum()
        return float(fit - light @ _USUAL_LIGHT @ light / 2)


def _fit(distance: Floats, features: int) -> Floats:
    """The logarithm of a t distribution's density, but for what is the same for all, at a squared distance."""
    return np.asarray(-(_TAILS + features) / 2 * np.log1p(distance / _TAILS))


def _mean(values: Floats, weights: Floats) -> float:
    return float((weights * values.sum(axis=1)).sum() / max(weights.sum(), _LEAST))
