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

FACE = 33
"""Side of a face's picture, in pixels of the top view."""
_COARSE = 20
"""Pixels per square in which faces are looked for; where they are found, they are compared in all pixels."""
_SOFT = 0.6
"""And so much blurred, in those pixels: thin marks would else be missed that lie between two places."""
_RADIUS = 0.34
"""Of the disc that is compared, in squares."""
_LEAN = 0.12
"""How far above the middle of its patch a top is in the middle of all places where it is looked for, in squares."""
_ASIDE, _ALONG = 0.42, 0.36
"""How far from there it is looked for, across and along: within an ellipse."""
MEASURE = 4
"""The number of this way to compare: what was learnt with another one is of no use."""
ANGLES = tuple(90 * quarter + turn for quarter in range(4) for turn in (-18, -12, -6, 0, 6, 12, 18))
_EVERY = 2
"""Every second angle is looked for; where one is found, those before and after it are compared, too."""
LIGHT, DARK = slice(1, 1 + len(Kind)), slice(1 + len(Kind), len(ALL_CONTENTS))
"""Which of `ALL_CONTENTS` are pieces of these colours, kind by kind."""
_COMPONENTS = 64
_FLAT = 3.0
"""Grey levels of contrast that count as none: noise on a blank thing is like no mark."""
_ANYWHERE = 1e-4
"""Of a mark that is seen nowhere each pixel is as much a part as of what is beside it."""
_NOISE = 0.4
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
    """Patches beside faces, each face turned as and at the place where its shape fits the patch best."""

    alike: NDArray[np.float32]
    """How alike their marks are, `(n, faces)`, from 0 to 1.

    A correlation that leaves as much unexplained as, in the geometric mean, those of the marks' shape and of the marks
    as they were enrolled.
    """
    marks: NDArray[np.float32]
    """The mean colour of the patch where the face has its mark, `(n, faces, 3)` BGR."""
    beside: NDArray[np.float32]
    """The same beside the mark, `(n, faces, 3)` BGR."""
    middle: NDArray[np.float32]
    """The mean colour of the middle of the patch, `(n, 3)`; what is not compared has this one only."""

    def rows(self) -> NDArray[np.float32]:
        """All of it in one row for each patch, `(n, 3 + 7 * faces)`."""
        parts = (self.middle, self.alike, self.marks, self.beside)
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)

    @classmethod
    def of(cls, rows: NDArray[np.float32]) -> Self:
        """What `rows` gave."""
        faces = (rows.shape[1] - 3) // 7
        middle, alike, marks, beside = np.split(rows, (3, 3 + faces, 3 + 4 * faces), axis=1)
        return cls(alike, marks.reshape(-1, faces, 3), beside.reshape(-1, faces, 3), middle)


class FaceMatcher:
    """Compares patches with faces."""

    def __init__(self, faces: Sequence[Face], angles: Sequence[float] = ANGLES) -> None:
        """`angles` are those that things may be turned by, in degrees."""
        self.contents = np.array([face.content for face in faces])
        """The content of each face, `(faces,)`."""
        self._search = _Search(faces, angles[::_EVERY])
        self._scale = _Scale(SQUARE)
        discs = np.array([[self._scale.turned(face.picture, angle) for angle in angles] for face in faces])
        self._marks = self._scale.levelled(discs)
        """Each face's marks at each angle, brightness and slope taken out, `(faces, angles, 3, pixels)`."""
        self._shapes = _towards_marks(_shapes(self._marks), self._marks)
        self._strength = np.asarray(np.linalg.norm(self._marks, axis=(2, 3)))
        """How strong they are, `(faces, angles)`: turned by no right angle, thin ones are softer."""
        self._where = _mark_and_beside(self._shapes)
        """Where their mark is, and what is beside it, each `(faces, angles, pixels)`."""
        self.marks, self.beside = (_colours(discs, where).mean(axis=1) for where in self._where)
        """The mean colour of each face's mark, and what there is beside it, `(faces, 3)` BGR."""
        self._middle = self._scale.disc(PATCH // 2 - self._scale.reach, PATCH // 2 - self._scale.reach)

    def likeness(self, patches: NDArray[np.uint8]) -> NDArray[np.float32]:
        """How alike each patch `(n, PATCH, PATCH, 3)` is to each face, `(n, faces)`; see `Comparison.alike`."""
        return self.compare(patches).alike

    def compare(self, patches: NDArray[np.uint8], those: NDArray[np.bool_] | None = None) -> Comparison:
        """How patches `(n, PATCH, PATCH, 3)` compare with the faces; only `those`, the others are like none."""
        faces = len(self.contents)
        alike, middle = np.zeros((len(patches), faces), np.float32), np.zeros((len(patches), 3), np.float32)
        marks, beside = np.zeros((2, len(patches), faces, 3), np.float32)
        for i, patch in enumerate(patches):
            middle[i] = np.take(patch, self._middle).reshape(3, -1).mean(axis=1, dtype=np.float32)
            if those is None or those[i]:
                alike[i], marks[i], beside[i] = self._compared(patch.astype(np.float32), *self._search.find(patch))
        return Comparison(alike, marks, beside, middle)

    def _compared(
        self, seen: NDArray[np.float32], found: NDArray[np.intp], at: NDArray[np.intp]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """How alike what is seen is, and of which colours at and beside the mark, for each face: a `Comparison`.

        `found` are the angles and `at` the places that `_Search.find` names.
        """
        faces = np.arange(len(found))
        turns = (found[:, None] * _EVERY + np.arange(1 - _EVERY, _EVERY)) % self._marks.shape[1]
        places, which = np.unique(at, return_inverse=True)  # many faces fit best at the same place
        discs = np.take(seen, self._scale.discs_near(self._search.scale, self._search.at[places]))
        discs = discs.reshape(len(places), -1, 3, self._scale.pixels)
        rough = self._scale.levelled(discs)
        along = rough[which].reshape(len(faces), -1, self._scale.pixels) @ self._shapes[faces[:, None], turns].mT
        along = along.reshape(len(faces), -1, 3, turns.shape[1])
        inverse = np.linalg.inv(_covariance(rough).astype(np.float64))[which]
        of_shape = np.minimum(np.einsum("fsct,fscd,fsdt->fst", along, inverse, along), 1)
        place, turn = np.divmod(of_shape.reshape(len(faces), -1).argmax(axis=1), turns.shape[1])
        turned = turns[faces, turn]
        here, marks = rough[which, place], self._marks[faces, turned]
        shared = np.maximum(np.einsum("fcp,fcp->f", here, marks), 0)
        as_enrolled = shared / ((np.linalg.norm(here, axis=(1, 2)) + _FLAT) * (self._strength[faces, turned] + _FLAT))
        left = (1 - of_shape[faces, place, turn]) * (1 - np.minimum(as_enrolled, 1) ** 2)
        mark, beside = (_colours(discs[which, place], where[faces, turned]) for where in self._where)
        return np.sqrt(1 - np.sqrt(left)), mark, beside


class _Scale:
    """Discs in pictures that have so many pixels to a square."""

    def __init__(self, square: int, soft: float = 0.0) -> None:
        """`soft` is by how much pictures are blurred, in these pixels."""
        self.square, self._side, self._soft = square, PATCH * square // SQUARE, soft
        self.reach = int(np.ceil(_RADIUS * square))
        along = np.arange(-self.reach, self.reach + 1)
        x, y = np.meshgrid(along, along)
        self._inside = np.hypot(x, y) <= _RADIUS * square
        self.pixels = int(self._inside.sum())
        slopes = np.stack([np.ones(self.pixels), x[self._inside], y[self._inside]])
        self._slopes = (slopes / np.linalg.norm(slopes, axis=1, keepdims=True)).astype(np.float32)
        """Even brightness, and a slope across and down, each of length 1, `(3, pixels)`."""
        at = (x + y * self._side)[self._inside] + self.reach * (self._side + 1)
        self._at = (3 * at + np.arange(3)[:, None]).ravel()

    def disc(self, x: int, y: int) -> NDArray[np.intp]:
        """Where in a patch, flattened, the pixels of the disc are whose box begins at x and y, `(3 * pixels,)`."""
        return np.asarray(self._at + 3 * (x + y * self._side))

    def discs_near(self, coarse: _Scale, at: NDArray[np.intp]) -> NDArray[np.intp]:
        """The same of all discs that are one in a `coarse` scale, its box at `(n, 2)`; `(n, discs, 3 * pixels)`."""
        finer = self.square // coarse.square
        boxes = ((at + coarse.reach) * finer)[:, None] + np.arange(finer)[:, None] - self.reach
        starts = boxes[:, None, :, 0] + self._side * boxes[:, :, None, 1]
        return np.asarray(self._at + 3 * starts.reshape(len(at), -1, 1))

    def shrunk(self, patch: NDArray[np.uint8]) -> NDArray[np.float32]:
        """A patch in this scale, about 0."""
        small = cv2.resize(patch, (self._side, self._side), interpolation=cv2.INTER_AREA).astype(np.float32)
        small = cv2.GaussianBlur(small, (0, 0), self._soft).astype(np.float32)
        return np.asarray(small - small.mean(axis=(0, 1)), np.float32)

    def turned(self, picture: NDArray[np.uint8], angle: float) -> NDArray[np.float32]:
        """The disc of a face that is turned, `(3, pixels)`."""
        scale, middle, side = self.square / SQUARE, (FACE - 1) / 2, 2 * self.reach + 1
        motion = np.asarray(cv2.getRotationMatrix2D((middle, middle), angle, scale), np.float64)
        motion[:, 2] += self.reach - middle
        soft = cv2.GaussianBlur(picture.astype(np.float32), (0, 0), float(np.hypot(0.25, self._soft)) / scale)
        seen = cv2.warpAffine(soft, motion, (side, side), borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(seen, np.float32)[self._inside].T

    def levelled(self, discs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Discs `(..., pixels)`, brightness and slope taken out."""
        return np.asarray(discs - (discs @ self._slopes.T) @ self._slopes, np.float32)


class _Search:
    """Looks for faces at every place of a patch and every angle, coarsely."""

    def __init__(self, faces: Sequence[Face], angles: Sequence[float]) -> None:
        self.scale, self._angles = _Scale(_COARSE, _SOFT), len(angles)
        discs = np.array([self.scale.turned(face.picture, angle) for face in faces for angle in angles])
        self._axes, self._turned = _compress(_shapes(self.scale.levelled(discs)))
        along = np.arange(PATCH * _COARSE // SQUARE - 2 * self.scale.reach)
        at = np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2)
        away = (at - along.mean()) / _COARSE + (0, _LEAN)
        self.at = at[np.hypot(away[:, 0] / _ASIDE, away[:, 1] / _ALONG) <= 1]
        """The places: where the disc's box begins, x and y, `(places, 2)`."""
        self._places = np.stack([self.scale.disc(x, y) for x, y in self.at.tolist()])

    def find(self, patch: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The indices of the angle and the place at which each face fits a patch `(PATCH, PATCH, 3)` best, `(faces,)`.

        The places are those of `at`.
        """
        fits = self._fits(np.take(self.scale.shrunk(patch), self._places))
        turns = fits.max(axis=0).reshape(-1, self._angles).argmax(axis=1)
        of_faces = fits[:, np.arange(len(turns)) * self._angles + turns]
        return turns, of_faces.argmax(axis=0)

    def _fits(self, discs: NDArray[np.float32]) -> NDArray[np.float32]:
        """How well discs `(places, 3 * pixels)` show the shape of each turned face, `(places, faces * angles)`.

        That is the square of the highest correlation that any mixture of a disc's channels has with the shape, as far
        as that lies along the axes. Discs are levelled first: where one is as good as even, what is left of it is
        rounding, and its covariance none, when slopes are taken out of that only.
        """
        channels = self.scale.levelled(discs.reshape(len(discs), 3, -1))
        along = (channels.reshape(-1, channels.shape[2]) @ self._axes).reshape(*channels.shape[:2], -1)
        whitened = _inverse(np.linalg.cholesky(_covariance(channels))) @ along
        shares = (whitened.reshape(-1, whitened.shape[2]) @ self._turned).reshape(*channels.shape[:2], -1)
        return np.asarray(np.einsum("pcf,pcf->pf", shares, shares), np.float32)


def _covariance(channels: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of three channels `(..., 3, pixels)` and some noise, times the pixels, `(..., 3, 3)`."""
    noise = np.float32(_NOISE**2 * channels.shape[-1]) * np.eye(3, dtype=np.float32)
    return np.asarray(np.einsum("...cp,...dp->...cd", channels, channels) + noise, np.float32)


def _inverse(lower: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of lower triangular matrices `(n, 3, 3)`; of so many so small ones the library takes four times as long."""
    (a, _, _), (b, c, _), (d, e, f) = lower.transpose(1, 2, 0)
    inverse = np.zeros_like(lower)
    inverse[:, 0, 0], inverse[:, 1, 1], inverse[:, 2, 2] = 1 / a, 1 / c, 1 / f
    inverse[:, 1, 0], inverse[:, 2, 1], inverse[:, 2, 0] = -b / (a * c), -e / (c * f), (b * e - c * d) / (a * c * f)
    return inverse


def _shapes(marks: NDArray[np.float32]) -> NDArray[np.float32]:
    """The shape of marks `(..., 3, pixels)`, `(..., pixels)`: the mixture that varies most, of length 1."""
    _, mixtures = np.linalg.eigh(marks @ marks.swapaxes(-1, -2))
    shapes = np.einsum("...c,...cp->...p", mixtures[..., -1], marks)
    return np.asarray(shapes / (np.linalg.norm(shapes, axis=-1, keepdims=True) + _FLAT), np.float32)


def _towards_marks(shapes: NDArray[np.float32], marks: NDArray[np.float32]) -> NDArray[np.float32]:
    """Shapes `(faces, angles, pixels)` that are greater than 0 at the mark, not beside it, at each angle alike.

    The mark is what takes less room.
    """
    channels = np.einsum("facp,fap->fac", marks, shapes)
    turned_over = np.einsum("fac,fc->fa", channels, channels[:, 0]) * (shapes[:, :1] ** 3).sum(axis=2) < 0
    return np.asarray(np.where(turned_over[..., None], -shapes, shapes), np.float32)


def _mark_and_beside(shapes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The shares that the pixels of shapes `(..., pixels)` have in their mark, and in what is beside it.

    That is where they are above 0, and below. A slope of the light across the disc makes no difference between the two;
    in a blank shape all pixels have the same share in both.
    """
    mark, beside = np.maximum(shapes, 0) + _ANYWHERE, np.maximum(-shapes, 0) + _ANYWHERE
    return mark / mark.sum(axis=-1, keepdims=True), beside / beside.sum(axis=-1, keepdims=True)


def _colours(discs: NDArray[np.float32], where: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean colours `(..., 3)` of discs `(..., 3, pixels)` where the pixels have these shares, `(..., pixels)`."""
    return np.asarray(np.einsum("...cp,...p->...c", discs, where))


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


def by_kind(explained: NDArray[np.float32], others_say: float) -> NDArray[np.float32]:
    """What `by_content` gave, but the marks on the pieces of the other colour tell the kind as well, by `others_say`.

    On most sets the pieces of both colours bear the same marks. The mean of the two, where a content's own faces say 1;
    only contents of one colour compare with each other.
    """
    told = explained.copy()
    for own, others in ((LIGHT, DARK), (DARK, LIGHT)):
        told[:, own] = (explained[:, own] + others_say * explained[:, others]) / (1 + others_say)
    return told


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
