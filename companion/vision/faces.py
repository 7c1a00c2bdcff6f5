"""What an enrolled piece looks like from above, and how alike a patch is to it, however the piece lies.

A `Face` is a small picture of one piece's top. A `FaceMatcher` turns every face through all angles a piece may lie at
and looks for each in a patch, at every place where the top of a piece may appear. What counts is the correlation of
the marks over a disc inside the face: brightness, contrast and a lamp's slope across the piece are taken out first,
the three colours together. It needs no training, so it knows a mark that was seen once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion.readings import ALL_CONTENTS
from companion.vision.rectify import PATCH, SQUARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

FACE = 33
"""Side of a face's picture, in pixels of the top view."""
_COARSE = 25
"""Pixels per square in which faces are compared."""
_RADIUS = 0.34
"""Of the disc that is compared, in squares."""
_LEAN = (0.40, 0.25)
"""How far from the middle of its patch a top is looked for, upwards and downwards, in squares."""
_ASIDE = 0.28
ANGLES = tuple(90 * quarter + turn for quarter in range(4) for turn in (-18, -12, -6, 0, 6, 12, 18))
_COMPONENTS = 128
_SMALL = PATCH * _COARSE // SQUARE
"""Side of a patch in these pixels."""
_FLAT = 3.0
"""Grey levels of contrast that count as none: noise on a blank thing is like no mark."""


@dataclass(frozen=True, slots=True)
class Face:
    """The top of one piece as it was enrolled."""

    content: int
    """Index into `companion.readings.ALL_CONTENTS`."""
    picture: NDArray[np.uint8]
    """`(FACE, FACE, 3)` BGR, `SQUARE` pixels to a square, the piece in the middle."""


class FaceMatcher:
    """Compares patches with faces."""

    def __init__(self, faces: Sequence[Face], angles: Sequence[float] = ANGLES) -> None:
        """`angles` are those that things may be turned by, in degrees."""
        self.contents = np.array([face.content for face in faces])
        """The content of each face, `(faces,)`."""
        self._reach = int(np.ceil(_RADIUS * _COARSE))
        along = np.arange(-self._reach, self._reach + 1)
        x, y = np.meshgrid(along, along)
        self._disc = np.hypot(x, y) <= _RADIUS * _COARSE
        slopes = np.stack([np.ones(int(self._disc.sum())), x[self._disc], y[self._disc]])
        self._slopes = (slopes / np.linalg.norm(slopes, axis=1, keepdims=True)).astype(np.float32)
        self._angles = tuple(angles)
        self._axes, self._turned = self._compress(faces)
        self._onto = np.concatenate([self._axes, np.kron(np.eye(3, dtype=np.float32), self._slopes).T], axis=1)
        self._places = self._discs()

    def likeness(self, patches: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The best correlation of each patch `(n, PATCH, PATCH, 3)` with each face, `(n, faces)`, from -1 to 1."""
        found = [(self._windows(patch) @ self._turned).max(axis=0) for patch in patches]
        best = np.array(found, np.float32).reshape(len(patches), len(self.contents), len(self._angles))
        return np.asarray(best.max(axis=2), np.float32)

    def _compress(self, faces: Sequence[Face]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The directions in which turned faces differ most, and each turned face in these."""
        turned = np.array([self._turn(face.picture, angle) for face in faces for angle in self._angles])
        ways, strengths, axes = np.linalg.svd(turned, full_matrices=False)
        shares = ways[:, :_COMPONENTS] * strengths[:_COMPONENTS]
        return np.ascontiguousarray(axes[:_COMPONENTS].T), np.ascontiguousarray(shares.T)

    def _turn(self, picture: NDArray[np.uint8], angle: float) -> NDArray[np.float32]:
        scale, middle = _COARSE / SQUARE, (FACE - 1) / 2
        motion = np.asarray(cv2.getRotationMatrix2D((middle, middle), angle, scale), np.float64)
        motion[:, 2] += self._reach - middle
        side = 2 * self._reach + 1
        soft = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 0.45 / scale)
        seen = cv2.warpAffine(soft, motion, (side, side), borderMode=cv2.BORDER_REPLICATE)
        discs = np.asarray(seen, np.float32)[self._disc].T[None]
        return np.asarray(self._levelled(discs)[0], np.float32)

    def _levelled(self, discs: Floats) -> NDArray[np.float32]:
        """Discs `(n, 3, pixels)` as unit vectors `(n, 3 * pixels)`, brightness and slope taken out."""
        rough = discs - (discs @ self._slopes.T) @ self._slopes
        flat = rough.reshape(len(rough), -1)
        return np.asarray(flat / (np.linalg.norm(flat, axis=1, keepdims=True) + _FLAT), np.float32)

    def _discs(self) -> NDArray[np.intp]:
        """Where in a small patch, flattened, the pixels of the disc at every place are: `(places, 3 * pixels)`."""
        middle, side = (_SMALL - 1) / 2 - self._reach, 2 * self._reach + 1
        top, bottom = max(0, int(middle - _LEAN[0] * _COARSE)), int(middle + _LEAN[1] * _COARSE) + 1
        left, right = max(0, int(middle - _ASIDE * _COARSE)), int(middle + _ASIDE * _COARSE) + 2
        pixels = np.arange(_SMALL * _SMALL * 3).reshape(_SMALL, _SMALL, 3)
        seen = np.lib.stride_tricks.sliding_window_view(pixels, (side, side), (0, 1))[top:bottom, left:right]
        at = seen.reshape(-1, 3, side, side)[:, :, self._disc]
        return np.ascontiguousarray(at.reshape(len(at), -1))

    def _windows(self, patch: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The discs at every place of a patch, levelled, `(places, axes)`, of which there are at most `_COMPONENTS`.

        As `_levelled(discs) @ _axes` would give them; but faces are level, so nothing of a slope lies along the axes,
        and only the length of what is left without it has to be known.
        """
        small = cv2.resize(patch, (_SMALL, _SMALL), interpolation=cv2.INTER_AREA).astype(np.float32)
        discs = np.take(small - small.mean(axis=(0, 1)), self._places)
        shares = discs @ self._onto
        along, slopes = np.split(shares, [self._axes.shape[1]], axis=1)
        left = np.einsum("ij,ij->i", discs, discs) - np.einsum("ij,ij->i", slopes, slopes)
        return np.asarray(along / (np.sqrt(np.maximum(left, 0))[:, None] + _FLAT), np.float32)


def by_content(likeness: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much worse than the best face each face explains a patch: `(n, faces)`, 0 for the best, else negative.

    The logarithm of the ratio of what is left unexplained; twice as much noise left is -0.69.
    """
    explained = -np.log(1 - np.clip(likeness, 0, 0.999) ** 2)
    return np.asarray(explained - explained.max(axis=1, keepdims=True), np.float32)


def best_of_content(values: NDArray[np.float32], contents: NDArray[Any]) -> NDArray[np.float32]:
    """The best value of each content's faces, `(n, len(ALL_CONTENTS))`; -1 where a content has no face."""
    best = np.full((len(values), len(ALL_CONTENTS)), -1, np.float32)
    for content in set(contents.tolist()):
        best[:, content] = values[:, contents == content].max(axis=1)
    return best
