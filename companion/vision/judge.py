"""Whether a place in the picture is the board: judged by a small network on the flattened picture of that place.

It has seen many boards, and more places that look like one: a square beside the board, its lower edge taken for its
top, half of it, checked cloth, keyboards, windows. It also says by how much each corner is off, so that a place that is
roughly right can be mended and judged again. What it says depends on which side of a place is shown below, though it
should not: where it counts, a place is shown from all sides, and in the mirror.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

from companion.vision import lattice, networks
from companion.vision.plane import project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

SQUARES: Final = 4
"""Squares along each side of the boards that are judged."""
CORNERS: Final = 4
PITCH: Final = 16
"""Side of a square in the view that is judged, in its pixels."""
BORDER: Final = 24
"""How much is seen around the board, in the same pixels."""
VIEW: Final = SQUARES * PITCH + 2 * BORDER
"""Side of the view, in its pixels."""
HOME: Final = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float64) * SQUARES * PITCH + BORDER
"""The four corners of a place in its view."""
_ROUND = np.arange(CORNERS)
NAMINGS: Final = np.array([np.roll(way, turn) for way in (_ROUND, _ROUND[::-1]) for turn in range(CORNERS)])
"""The ways (8, 4) in which the four corners of a place can be named, going round."""
_BACK = [np.argsort(naming) for naming in NAMINGS]
"""What is told of the corners so named, in the order of the first of these ways again."""
_SUREST = 1e-9
FLATTEST: Final = 10.0
"""Least spread of lightness that a view is toned by."""
FARTHEST_MEND: Final = 0.75
"""No corner is mended by more than so many squares, each way."""


class Verdict(NamedTuple):
    """What the network says of a place."""

    corners: Floats
    """The place, (4, 2), in pixels of the picture."""
    score: float
    """From 0 to 1: how much it is the board, with these corners."""
    mended: Floats
    """The corners, moved to where the network sees them."""
    covered: Floats
    """How likely something hides each corner (4,), 0 to 1."""


class Judge:
    """Judges places. Not for sharing between threads: OpenCV's networks keep their buffers."""

    def __init__(self, network: bytes) -> None:
        self._network = networks.load(network)

    def judge(self, levels: list[Picture], places: Sequence[Floats]) -> list[Verdict]:
        """What it says of each place, four corners (4, 2) in pixels, in a Lab picture (its `lattice.pyramid`)."""
        if not places:
            return []
        self._network.setInput(np.stack([toned(view(levels, corners)) for corners in places]))
        scores = np.asarray(self._network.forward(), np.float64).reshape(len(places), 1 + 3 * CORNERS)
        return [_verdict(row, corners) for row, corners in zip(scores, places, strict=True)]

    def judge_from_all_sides(self, levels: list[Picture], places: Sequence[Floats]) -> list[Verdict]:
        """What it says of each place in the mean of eight looks: each side below, straight and in the mirror."""
        verdicts = self.judge(levels, [corners[naming] for corners in places for naming in NAMINGS])
        together = [verdicts[i : i + len(NAMINGS)] for i in range(0, len(verdicts), len(NAMINGS))]
        return [_mean(each) for each in together]


def _mean(verdicts: list[Verdict]) -> Verdict:
    """Verdicts of one place, named in each of the `NAMINGS`, as one in the first of them."""
    scores = np.array([verdict.score for verdict in verdicts]).clip(_SUREST, 1 - _SUREST)
    mended = [verdict.mended[back] for verdict, back in zip(verdicts, _BACK, strict=True)]
    covered = [verdict.covered[back] for verdict, back in zip(verdicts, _BACK, strict=True)]
    against, in_favour = np.exp(np.log([1 - scores, scores]).mean(axis=1))
    score = float(in_favour / (in_favour + against))
    return Verdict(verdicts[0].corners, score, np.mean(mended, axis=0), np.mean(covered, axis=0))


def _verdict(row: Floats, corners: Floats) -> Verdict:
    moved = HOME + row[1 : 1 + 2 * CORNERS].reshape(CORNERS, 2).clip(-FARTHEST_MEND, FARTHEST_MEND) * PITCH
    mended = project(lattice.homography(HOME, corners), moved)
    whether = 1 / (1 + np.exp(-row))
    return Verdict(corners, float(whether[0]), mended, np.asarray(whether[1 + 2 * CORNERS :]))


def view(levels: list[Picture], corners: Floats) -> Picture:
    """The flattened picture of a place, `(VIEW, VIEW, 3)`."""
    return lattice.flattened(levels, corners, HOME, (VIEW, VIEW))


def toned(seen: Picture) -> NDArray[np.float32]:
    """A view as the network wants it, `(3, VIEW, VIEW)`: colours around 0, contrasts made alike."""
    middle, spread = cv2.meanStdDev(seen)
    centred = (seen - middle[:, 0].astype(np.float32)) / np.float32(max(spread[0, 0], FLATTEST))
    return np.ascontiguousarray(centred.transpose(2, 0, 1))
