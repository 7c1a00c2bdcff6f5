"""Places for a board that the lines of a picture suggest, and the board that lines alone tell.

Straight segments suggest how the table lies (`plane`); on each flattened table a comb of the board's lines is slid
about (`lattice.search`); the best places can then be fitted (`lattice.fit`) and weighed (`lattice.weigh`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np

from companion.vision import lattice, plane
from companion.vision.squareness import misfit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.vision.mesh import Mesh

    Floats = NDArray[np.floating[Any]]
    Picture = NDArray[np.uint8]

FITTED = 1280
"""Longer side of the picture in which places are fitted and judged."""
_SEARCHED = 960
"""Longer side of the picture in which views and candidates are looked for."""
_VIEWS = 8
FEW_VIEWS = 4
"""So many of the ways in which the table may lie are enough where nothing else is like a board: of nine bare boards of
paper of which the pointer sees next to nothing, as many are found with three."""
_PER_VIEW = 12
_BEST_OF_VIEW = 2
_BEST_OF_REST = 8
MISFIT = 0.25
"""What is farther than this from a board's shape is none (`squareness.misfit`); 547 true ones, drawn and sampled, are
at most 0.16 away, a board taken together with the pieces that lie on both sides of it, from 0.4 on."""
BRIGHT = 220.0
MOST_GAIN = 4.0


def in_lab(image: Picture, longest: int) -> tuple[Picture, float]:
    """The picture in 8-bit Lab, at most `longest` pixels long, dim ones brightened; and its scale."""
    scale = min(1.0, longest / max(image.shape[:2]))
    if scale < 1:
        image = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    bright = float(np.percentile(image[::8, ::8].max(axis=2), 98))
    gain = min(MOST_GAIN, BRIGHT / max(bright, 1.0))
    if gain > 1:
        image = np.asarray(cv2.convertScaleAbs(image, alpha=gain), np.uint8)
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2LAB), np.uint8), scale


class FittedPicture(NamedTuple):
    """A picture in which places are fitted and judged: in Lab, and not longer than `FITTED`."""

    levels: list[Picture]
    """Its `lattice.pyramid`."""
    scale: float
    """Its pixels for one of the picture itself."""

    @classmethod
    def of(cls, image: Picture) -> FittedPicture:
        """Made of a BGR picture (height, width, 3)."""
        lab, scale = in_lab(image, FITTED)
        return cls(lattice.pyramid(lab), scale)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, in its pixels."""
        height, width, _ = self.levels[0].shape
        return width, height


class LinesSeen:
    """The lines of a picture, and how the table may lie because of them: worked out once, for any mesh."""

    def __init__(self, image: Picture) -> None:
        lab, self._scale = in_lab(image, _SEARCHED)
        self._views = plane.views(plane.segments(lab), (lab.shape[1], lab.shape[0]), _VIEWS)
        self._smooth = np.asarray(cv2.GaussianBlur(lab, (0, 0), 0.8), np.uint8)

    def suggest(self, mesh: Mesh, views: int = _VIEWS) -> list[Floats]:
        """Corners (4, 2), in pixels of the picture, of places where lines suggest a board with this mesh.

        The best under each of so many `views` come first, lest one cloth crowd out all else; then the best of the rest.
        """
        found = [lattice.search(self._smooth, view, _PER_VIEW, mesh) for view in self._views[:views]]
        chosen = [candidate for places in found for candidate in places[:_BEST_OF_VIEW]]
        rest = [candidate for places in found for candidate in places[_BEST_OF_VIEW:]]
        rest.sort(key=lambda candidate: -candidate.evidence)
        return [candidate.corners / self._scale for candidate in chosen + rest[:_BEST_OF_REST]]

    def tell(self, picture: FittedPicture, mesh: Mesh) -> tuple[float, Floats]:
        """The likeliest place and how likely it is, 0 to 1; its corners (4, 2) in pixels of `picture`."""
        levels = picture.levels
        fitted = [lattice.fit(levels, corners * picture.scale, mesh) for corners in self.suggest(mesh)]
        shape, size = (mesh.columns, mesh.rows), picture.size
        fitted = [corners for corners in fitted if plane.goes_round(corners) and misfit(corners, shape, size) < MISFIT]
        judged = [(lattice.likeness(lattice.weigh(levels, corners, mesh)), corners) for corners in fitted]
        return max(judged, key=lambda pair: pair[0], default=(0.0, mesh.corners))
