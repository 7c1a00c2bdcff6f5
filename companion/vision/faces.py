"""What an enrolled piece looks like from above, and how alike a patch is to it, however the piece lies.

A `Face` is a small picture of one piece's top. A `FaceMatcher` turns every face through all angles a piece may lie at
and looks for each in a patch, at every place where the top of a piece may appear. What counts is the correlation of
the marks over a disc inside the face: brightness, contrast and a lamp's slope across the piece are taken out first,
the three colours together. It needs no training, so it knows a mark that was seen once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import cv2
import numpy as np

from companion.readings import ALL_CONTENTS
from companion.rules import Kind
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Patches beside faces, each face turned as and at the place where it is most like the patch."""

    alike: NDArray[np.float32]
    """The correlation of their marks, `(n, faces)`, from -1 to 1."""
    marks: NDArray[np.float32]
    """How strong the face's marks are in the patch, in grey levels, `(n, faces)`."""
    levels: NDArray[np.float32]
    """The mean colour of the patch there, `(n, faces, 3)` BGR."""
    middle: NDArray[np.float32]
    """The mean colour of the middle of the patch, `(n, 3)`; what is not compared has this one only."""

    def rows(self) -> NDArray[np.float32]:
        """All of it in one row for each patch, `(n, 3 + 5 * faces)`."""
        parts = (self.middle, self.alike, self.marks, self.levels)
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)

    @classmethod
    def of(cls, rows: NDArray[np.float32]) -> Self:
        """What `rows` gave."""
        faces = (rows.shape[1] - 3) // 5
        middle, alike, marks, levels = np.split(rows, (3, 3 + faces, 3 + 2 * faces), axis=1)
        return cls(alike, marks, levels.reshape(-1, faces, 3), middle)


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
        discs = np.array([self._turn(face.picture, angle) for face in faces for angle in self._angles])
        rough = self._rough(discs)
        self._marks = rough.reshape(len(faces), len(self._angles), 3, -1)
        """Each face's marks at each angle, brightness and slope taken out, `(faces, angles, 3, pixels)`."""
        self._strength = np.asarray(
            np.linalg.norm(self._marks.reshape(*self._marks.shape[:2], -1), axis=2).mean(axis=1)
        )
        self._fine = np.sqrt(3 * self._marks.shape[3])
        self.levels = np.asarray(discs[:: len(self._angles)].mean(axis=2), np.float32)
        """The mean colour of each face, `(faces, 3)` BGR."""
        self.marks = np.asarray(self._strength / self._fine, np.float32)
        """How strong its marks are, in grey levels, `(faces,)`."""
        self._axes, self._turned = self._compress(rough)
        self._onto = np.concatenate([self._axes, np.kron(np.eye(3, dtype=np.float32), self._slopes).T], axis=1)
        self._places = self._discs()
        reach = slice(_SMALL // 2 - self._reach, _SMALL // 2 + self._reach + 1)
        self._middle = np.zeros((_SMALL, _SMALL), np.bool_)
        self._middle[reach, reach] = self._disc

    def likeness(self, patches: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The best correlation of each patch `(n, PATCH, PATCH, 3)` with each face, `(n, faces)`, from -1 to 1."""
        return self.compare(patches).alike

    def compare(self, patches: NDArray[np.uint8], those: NDArray[np.bool_] | None = None) -> Comparison:
        """How patches `(n, PATCH, PATCH, 3)` compare with the faces; only `those`, the others are like none."""
        faces = len(self.contents)
        alike, marks = np.zeros((2, len(patches), faces), np.float32)
        levels, middle = np.zeros((len(patches), faces, 3), np.float32), np.zeros((len(patches), 3), np.float32)
        for i, patch in enumerate(patches):
            small = cv2.resize(patch, (_SMALL, _SMALL), interpolation=cv2.INTER_AREA).astype(np.float32)
            middle[i] = small[self._middle].mean(axis=0)
            if those is None or those[i]:
                alike[i], marks[i], levels[i] = self._compared(small)
        return Comparison(alike, marks, levels, middle)

    def _compress(self, rough: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The directions in which turned faces differ most, and each turned face in these."""
        flat = rough.reshape(len(rough), -1)
        turned = flat / (np.linalg.norm(flat, axis=1, keepdims=True) + _FLAT)
        ways, strengths, axes = np.linalg.svd(turned, full_matrices=False)
        shares = ways[:, :_COMPONENTS] * strengths[:_COMPONENTS]
        return np.ascontiguousarray(axes[:_COMPONENTS].T), np.ascontiguousarray(shares.T)

    def _turn(self, picture: NDArray[np.uint8], angle: float) -> NDArray[np.float32]:
        """The disc of a face that is turned, `(3, pixels)`."""
        scale, middle = _COARSE / SQUARE, (FACE - 1) / 2
        motion = np.asarray(cv2.getRotationMatrix2D((middle, middle), angle, scale), np.float64)
        motion[:, 2] += self._reach - middle
        side = 2 * self._reach + 1
        soft = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), 0.45 / scale)
        seen = cv2.warpAffine(soft, motion, (side, side), borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(seen, np.float32)[self._disc].T

    def _rough(self, discs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Discs `(..., 3, pixels)`, brightness and slope taken out."""
        return np.asarray(discs - (discs @ self._slopes.T) @ self._slopes, np.float32)

    def _discs(self) -> NDArray[np.intp]:
        """Where in a small patch, flattened, the pixels of the disc at every place are: `(places, 3 * pixels)`."""
        middle, side = (_SMALL - 1) / 2 - self._reach, 2 * self._reach + 1
        top, bottom = max(0, int(middle - _LEAN[0] * _COARSE)), int(middle + _LEAN[1] * _COARSE) + 1
        left, right = max(0, int(middle - _ASIDE * _COARSE)), int(middle + _ASIDE * _COARSE) + 2
        pixels = np.arange(_SMALL * _SMALL * 3).reshape(_SMALL, _SMALL, 3)
        seen = np.lib.stride_tricks.sliding_window_view(pixels, (side, side), (0, 1))[top:bottom, left:right]
        at = seen.reshape(-1, 3, side, side)[:, :, self._disc]
        return np.ascontiguousarray(at.reshape(len(at), -1))

    def _compared(
        self, small: NDArray[np.float32]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """How alike, how strongly marked and of which mean colour a small patch is, for each face; see `Comparison`."""
        mean = small.mean(axis=(0, 1))
        discs = np.take(small - mean, self._places)
        fits = self._along(discs) @ self._turned
        turns = fits.max(axis=0).reshape(len(self.contents), -1).argmax(axis=1)
        faces = np.arange(len(turns))
        places = fits[:, faces * len(self._angles) + turns].argmax(axis=0)
        seen = discs[places].reshape(len(faces), 3, -1)
        rough = self._rough(seen)
        shared = np.einsum("fcp,fcp->f", rough, self._marks[faces, turns])
        energy = np.einsum("fcp,fcp->f", rough, rough)
        alike = shared / ((np.sqrt(energy) + _FLAT) * (self._strength + _FLAT))
        marks = np.maximum(shared, 0) / (self._strength * self._fine + _FLAT)
        return alike, marks, seen.mean(axis=2) + mean

    def _along(self, discs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Discs `(places, 3 * pixels)`, levelled and of length 1, along the axes, of which there are `_COMPONENTS`.

        Faces are level, so nothing of a slope lies along the axes, and only the length of what is left without it has
        to be known.
        """
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


def best_face(alike: NDArray[np.float32], contents: NDArray[Any], *, dark: bool) -> NDArray[np.intp]:
    """Which face of a colour each patch is most like, `(n,)`, from how `alike` they are, `(n, faces)`."""
    faces = np.flatnonzero(_is_dark(contents) == dark)
    return np.asarray(faces[alike[:, faces].argmax(axis=1)])


def _is_dark(contents: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(contents > len(Kind), np.bool_)
