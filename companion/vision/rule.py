"""When a place in a picture is believed to be the board: three opinions in, one score out.

The judge's network knows what boards look like; the pointer's, which sees the whole picture, whether this is where one
lies; the lattice's weight knows whether all lines are there and end where they should. Each is fooled by other things.
A logistic regression, fitted on drawn pictures that the networks never saw, weighs them against each other. Only lines
as clear as if ruled, of which the judge is sure, count whatever the pointer sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.vision.lattice import Weight

    Floats = NDArray[np.floating[Any]]

SPEAKS: Final = np.array([1, 1, 1, 1, -1])
"""Which of the `features` speak for a board, and which against it."""
_SUREST = 1e-6
_SUREST_LOGIT = 4.0
_FOR_ITSELF, _ALL_CLEAR, _ENDING = 0.998, 0.5, 0.3
"""From the first score of the judge on, a place is believed as much as the judge believes it, if even its weakest line
is as clear as the second, and its lines end, to the third. So a bare board of paper is found from low, to which the
judge gives more than 0.998: the pointer knows none that is so thin. Of 47 wrong places in drawn pictures that the judge
gave over 0.9 none had a weakest line of more than 0.34; a window of many panes, to which it gave 0.996, has 0.57."""
_RUN_ON = 0.3
"""Lines that run on beyond the board count from where they are weaker than its own by no more than this."""


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

    @classmethod
    def of_card(cls, card: dict[str, Any]) -> FinderRule:
        """The rule that stands on the card of the finder's networks."""
        return cls(**card["rule"] | {"weights": tuple(card["rule"]["weights"])})

    def score(self, likely: float, support: float, weight: Weight) -> float:
        """From 0 to 1, how sure it is that a place is the board; see `features`."""
        evidence = float(features(likely, support, weight) @ self.weights[:-1]) + self.weights[-1]
        score = float(1 / (1 + np.exp(-np.clip(evidence, -30, 30))))
        ruled = likely >= _FOR_ITSELF and weight.weakest_line >= _ALL_CLEAR and weight.beyond <= _ENDING
        return max(score, likely) if ruled else score


def features(likely: float, support: float, weight: Weight) -> Floats:
    """What is weighed: the judge's score as a logit, the pointer's support, and how the lattice is seen.

    That the judge is against it weighs otherwise than that it is for it; it cannot be more for it than much.
    """
    likely = min(max(likely, _SUREST), 1 - _SUREST)
    logit = float(np.log(likely / (1 - likely)))
    runs_on = max(weight.beyond - weight.lines + _RUN_ON, 0.0)
    return np.array([min(logit, 0.0), min(max(logit, 0.0), _SUREST_LOGIT), support, weight.lines, runs_on])
