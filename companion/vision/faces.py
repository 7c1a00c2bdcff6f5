"""What an enrolled piece looks like from above, and how alike a patch is to it, however the piece lies.

A `Face` is a small picture of one piece's top. A `FaceMatcher` turns every face through all angles a piece may lie at
and looks for each in a patch, at every place where the top of a piece may appear. What counts is the correlation of
the marks over a disc inside the face: brightness, contrast and a lamp's slope across the piece are taken out first.
Two correlations are asked: that of the marks' shape, in whatever mixture of the three channels shows it best, because
another lamp, or a channel that is burnt out, turns dark marks pale or changes their colour; and, at the place where the
shape fits best, that of the three channels as they were enrolled. It needs no training, so it knows a mark that was
seen once.
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
_COMPONENTS = 64
_SMALL = PATCH * _COARSE // SQUARE
"""Side of a patch in these pixels."""
_FLAT = 3.0
"""Grey levels of contrast that count as none: noise on a blank thing is like no mark."""
_NOISE = 1.0
"""Standard deviation of a pixel that shows nothing, in grey levels."""


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
    """How alike their marks are, `(n, faces)`, from -1 to 1.

    A correlation that leaves as much unexplained as, in the geometric mean, those of the marks' shape and of the marks
    as they were enrolled.
    """
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
        shapes = _shapes(rough)
        self._shapes = shapes.reshape(len(faces), len(self._angles), -1)
        axes, self._turned = _compress(shapes)
        self._onto = np.concatenate([axes, self._slopes.T], axis=1)
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
        fits = self._fits(discs)
        turns = fits.max(axis=0).reshape(len(self.contents), -1).argmax(axis=1)
        faces = np.arange(len(turns))
        places = fits[:, faces * len(self._angles) + turns].argmax(axis=0)
        seen = discs[places].reshape(len(faces), 3, -1)
        rough = self._rough(seen)
        along = np.einsum("fcp,fp->fc", rough, self._shapes[faces, turns])[..., None]
        of_shape = (along.transpose(0, 2, 1) @ np.linalg.solve(_covariance(rough), along))[:, 0, 0]
        shared = np.maximum(np.einsum("fcp,fcp->f", rough, self._marks[faces, turns]), 0)
        length = np.linalg.norm(rough.reshape(len(faces), -1), axis=1)
        as_enrolled = shared / ((length + _FLAT) * (self._strength + _FLAT))
        left = np.maximum((1 - of_shape) * (1 - as_enrolled**2), 0)
        return np.sqrt(1 - np.sqrt(left)), shared / (self._strength * self._fine + _FLAT), seen.mean(axis=2) + mean

    def _fits(self, discs: NDArray[np.float32]) -> NDArray[np.float32]:
        """How well discs `(places, 3 * pixels)` show the shape of each turned face, `(places, faces * angles)`.

        That is the square of the highest correlation that any mixture of a disc's channels has with the shape, as far
        as that lies along the axes. Shapes are level, so of a slope only its part in the covariance has to be taken
        out.
        """
        channels = discs.reshape(len(discs), 3, -1)
        projected = (channels.reshape(-1, channels.shape[2]) @ self._onto).reshape(*channels.shape[:2], -1)
        along, slopes = np.split(projected, [-len(self._slopes)], axis=2)
        covariance = _covariance(channels) - np.einsum("pcs,pds->pcd", slopes, slopes)
        whitened = np.linalg.inv(np.linalg.cholesky(covariance)) @ along
        shares = (whitened.reshape(-1, whitened.shape[2]) @ self._turned).reshape(*channels.shape[:2], -1)
        return np.asarray(np.einsum("pcf,pcf->pf", shares, shares), np.float32)


def _covariance(channels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of three channels `(n, 3, pixels)` and some noise, times the pixels, `(n, 3, 3)`."""
    noise = np.float32(_NOISE**2 * channels.shape[2]) * np.eye(3, dtype=np.float32)
    return np.asarray(np.einsum("ncp,ndp->ncd", channels, channels) + noise, np.float32)


def _shapes(marks: NDArray[np.float32]) -> NDArray[np.float32]:
    """The shape of marks `(n, 3, pixels)`, `(n, pixels)`: the mixture of channels that varies most, of length 1."""
    _, mixtures = np.linalg.eigh(marks @ marks.transpose(0, 2, 1))
    shapes = np.einsum("nc,ncp->np", mixtures[:, :, -1], marks)
    return np.asarray(shapes / (np.linalg.norm(shapes, axis=1, keepdims=True) + _FLAT), np.float32)


def _compress(shapes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The directions `(pixels, components)` in which shapes differ most, and each shape in these, as columns."""
    ways, strengths, axes = np.linalg.svd(shapes, full_matrices=False)
    shares = ways[:, :_COMPONENTS] * strengths[:_COMPONENTS]
    return np.ascontiguousarray(axes[:_COMPONENTS].T), np.ascontiguousarray(shares.T)


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
