"""When a place in a picture is believed to be the board: three opinions in, one score out.

The judge's network knows what boards look like; the pointer's, which sees the whole picture, whether this is where one
lies; the lattice's weight knows whether all lines are there, end where they should and have nothing between them. Each
is fooled by other things. A logistic regression, fitted on drawn pictures
that the networks never saw, weighs them against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.vision.lattice import Weight

    Floats = NDArray[np.floating[Any]]

SPEAKS: Final = np.array([1, 1, 1, 1, 1, 1, 1, 1, -1, -1, 1, -1, -1])
"""Which of the `features` speak for a board, and which against it."""
_CLEAR_CONTRAST = 25.0
_SUREST = 1e-6
_FAIR_SUPPORT = 0.45


@dataclass(frozen=True, slots=True)
class FinderRule:
    """How places are scored, and what the scores mean; fitted and chosen on pictures that no network has seen."""

    weights: tuple[float, ...]
    """For each of the `features`, then what is added always."""
    accept: float
    """From this score on, a place is the board."""
    sure: float
    """From this score on, no other place need be looked for."""
    perhaps: float
    """From this score on, a place may be a board that is hidden in part or seen badly."""

    def score(self, likely: float, support: float, weight: Weight) -> float:
        """From 0 to 1, how sure it is that a place is the board; see `features`."""
        evidence = float(features(likely, support, weight) @ self.weights[:-1]) + self.weights[-1]
        return float(1 / (1 + np.exp(-np.clip(evidence, -30, 30))))


def features(likely: float, support: float, weight: Weight) -> Floats:
    """What is weighed: the judge's score as a logit, the pointer's support, and how the lattice is seen.

    Lines that run on, and those between the squares' sides, count from where no board has them any more, and from where
    they are as strong as the board's own. What is seen well enough is not made better by being seen still better.
    """
    likely = min(max(likely, _SUREST), 1 - _SUREST)
    logit = float(np.log(likely / (1 - likely)))
    return np.array(
        [
            min(logit, 0.0),
            min(max(logit, 0.0), 4.0),
            min(support, _FAIR_SUPPORT),
            support,
            weight.lines,
            min(weight.inner, 0.5),
            min(weight.weakest_line, 0.3),
            min(weight.weakest_line, 0.6),
            max(weight.beyond - 0.2, 0.0),
            max(weight.between - 0.25, 0.0),
            min(weight.weakest_contrast, _CLEAR_CONTRAST) / _CLEAR_CONTRAST,
            max(weight.beyond - weight.lines + 0.3, 0.0),
            max(weight.between - weight.inner + 0.25, 0.0),
        ]
    )
