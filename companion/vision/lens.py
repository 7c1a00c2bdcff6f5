"""What a lens does to straight lines, and how it is undone: for pictures, for points, and for views of the board.

Two spaces, both in pixels. *Upright* points are where the picture shows something. *Straight* points are where a camera
with the same focal length would show it whose lens bends nothing; there a board's sides are straight, so all reasoning
about boards is done there. Nobody pays for a whole straight picture who looks at a small view of it: the view is taken
from the upright picture at once, along lines bent as the lens bends them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import cv2
import numpy as np

from companion.errors import VisionError
from companion.saying import Saying
from companion.vision.plane import project

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.profile import LensModel

    Floats = NDArray[np.floating[Any]]
    Image = NDArray[np.uint8]
    Size = tuple[int, int]
    _Way = tuple[Any, Any]

_OTHER_SHAPE = 0.01
"""Pictures whose sides' ratios differ by less are one picture, larger or smaller."""
_STEP = 8
"""So many pixels of a view apart, the way back into the picture is computed; in between it is all but straight."""
_WIDEST = 4.0
"""Tangent of the angle off the lens's axis up to which a model is looked at: 76 degrees."""
_MOST_BEYOND = 0.4
"""A straight picture reaches so far beyond the upright one at most, of its longer side."""
_WAYS_KEPT = 4
"""As many as one frame takes, and one."""
_PRECISELY = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 200, 1e-9)


class Optics(Protocol):
    """What is known of a camera's lens. Sizes are (width, height) of the upright picture."""

    def straight(self, image: Image) -> Image:
        """The straight picture of all that an upright BGR picture shows; black where it shows nothing."""
        ...

    def straight_size(self, size: Size) -> Size:
        """The size of the straight picture of an upright one."""
        ...

    def straightened(self, points: Floats, size: Size) -> Floats:
        """Upright points `(n, 2)` in the straight picture."""
        ...

    def bent(self, points: Floats, size: Size) -> Floats:
        """Straight points `(n, 2)` in the upright picture."""
        ...

    def view(self, image: Image, to_straight: Floats, size: Size, border: int = cv2.BORDER_CONSTANT) -> Image:
        """A view of `size` of an upright picture; the homography `to_straight` takes its pixels to straight points."""
        ...


class Pinhole:
    """A lens that bends nothing, or of which nothing is known: straight and upright are one."""

    def straight(self, image: Image) -> Image:
        """The picture itself."""
        return image

    def straight_size(self, size: Size) -> Size:
        """The size itself."""
        return size

    def straightened(self, points: Floats, size: Size) -> Floats:  # noqa: ARG002 (see Optics)
        """The points themselves."""
        return points

    def bent(self, points: Floats, size: Size) -> Floats:  # noqa: ARG002 (see Optics)
        """The points themselves."""
        return points

    def view(self, image: Image, to_straight: Floats, size: Size, border: int = cv2.BORDER_CONSTANT) -> Image:
        """See `Optics.view`."""
        how = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(cv2.warpPerspective(image, to_straight, size, flags=how, borderMode=border), np.uint8)


PINHOLE: Final = Pinhole()


class Lens:
    """A measured lens, for pictures of the size it was measured with, or of the same shape."""

    def __init__(self, model: LensModel) -> None:
        self._model = model
        self._fitted: dict[Size, _Fitted] = {}
        self._ways: dict[tuple[Size, Size, bytes], _Way] = {}

    def straight(self, image: Image) -> Image:
        """See `Optics.straight`."""
        return self.view(image, np.eye(3), self.straight_size(_size(image)))

    def straight_size(self, size: Size) -> Size:
        """See `Optics.straight_size`."""
        return self._for(size).straight_size

    def straightened(self, points: Floats, size: Size) -> Floats:
        """See `Optics.straightened`."""
        return self._for(size).straightened(points)

    def bent(self, points: Floats, size: Size) -> Floats:
        """See `Optics.bent`."""
        return self._for(size).bent(points)

    def view(self, image: Image, to_straight: Floats, size: Size, border: int = cv2.BORDER_CONSTANT) -> Image:
        """See `Optics.view`."""
        way = self._way(_size(image), to_straight, size)
        return np.asarray(cv2.remap(image, *way, cv2.INTER_LINEAR, borderMode=border), np.uint8)

    def _way(self, image_size: Size, to_straight: Floats, size: Size) -> _Way:
        """Where each pixel of a view lies in the picture; kept, because most boards do not move from frame to frame."""
        key = (image_size, size, to_straight.tobytes())
        if key not in self._ways:
            if len(self._ways) >= _WAYS_KEPT:
                del self._ways[next(iter(self._ways))]
            way = self._for(image_size).way(to_straight, size)
            whole, parts = cv2.convertMaps(way, np.empty(0), cv2.CV_16SC2)
            self._ways[key] = whole, parts
        return self._ways[key]

    def _for(self, size: Size) -> _Fitted:
        """The lens for pictures of this size.

        Raises:
            VisionError: for a picture of another shape, or a model that folds the picture.
        """
        if size not in self._fitted:
            self._fitted[size] = _Fitted.to(self._model, size)
        return self._fitted[size]


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A lens model in the pixels of one picture size."""

    camera: Floats
    """From rays to upright pixels, but for the distortion; (3, 3)."""
    distortion: Floats
    to_straight: Floats
    """From rays to straight pixels; (3, 3)."""
    straight_size: Size
    reach: float
    """How far off the axis rays are known; tangent of the angle."""

    @classmethod
    def to(cls, model: LensModel, size: Size) -> _Fitted:
        scale = np.array(size) / np.array(model.size)
        if abs(scale[0] / scale[1] - 1) > _OTHER_SHAPE:
            raise VisionError(
                Saying(
                    "the profile's lens was measured in pictures of %(measured)s pixels, this one has %(size)s, "
                    "another shape; set the camera as it was, or measure again: companion calibrate lens",
                    measured=_by(model.size),
                    size=_by(size),
                )
            )
        camera = np.eye(3)
        camera[[0, 1], [0, 1]] = np.array(model.focal) * scale
        camera[:2, 2] = (np.array(model.centre) + 0.5) * scale - 0.5
        distortion = np.array(model.distortion, np.float64)
        reach = rays_known(model.distortion)
        rim = _rim(size)
        rays = _rays(rim, camera, distortion)
        if folds(model, rim / scale) or not np.isfinite(rays).all():
            raise VisionError(
                Saying("the profile's lens folds the picture; measure it again: companion calibrate lens")
            )
        return cls(camera, distortion, *_straight_frame(rays, camera, size), reach)

    def straightened(self, points: Floats) -> Floats:
        return project(self.to_straight, _rays(points, self.camera, self.distortion))

    def bent(self, points: Floats) -> Floats:
        """Straight points in the upright picture; those that no light comes from lie outside of it."""
        rays = project(np.linalg.inv(self.to_straight), points)
        off_axis = np.hypot(rays[:, 0], rays[:, 1])
        rays = rays * np.minimum(1.0, self.reach / np.maximum(off_axis, 1e-9))[:, None]
        there = np.column_stack([rays, np.ones(len(rays))])
        seen, _ = cv2.projectPoints(there, np.zeros(3), np.zeros(3), self.camera, self.distortion)
        return np.asarray(seen, np.float64).reshape(-1, 2)

    def way(self, to_straight: Floats, size: Size) -> NDArray[np.float32]:
        """Where each pixel of a view lies in the upright picture, `(height, width, 2)`."""
        across, down = (np.arange(-1, math.ceil(side / _STEP) + 1) * _STEP + (_STEP - 1) / 2 for side in size)
        nodes = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
        bent = self.bent(project(to_straight, nodes)).astype(np.float32).reshape(len(down), len(across), 2)
        fine = cv2.resize(bent, (len(across) * _STEP, len(down) * _STEP), interpolation=cv2.INTER_LINEAR)
        return np.ascontiguousarray(fine[_STEP : _STEP + size[1], _STEP : _STEP + size[0]])


def rays_known(distortion: tuple[float, ...]) -> float:
    """How far off the axis, as a tangent, a lens model throws rays further out the further out they come from."""
    k1, k2, _, _, k3 = distortion
    off_axis = np.linspace(0, _WIDEST, 4001)
    slope = 1 + 3 * k1 * off_axis**2 + 5 * k2 * off_axis**4 + 7 * k3 * off_axis**6
    turns = np.flatnonzero(slope <= 0)
    return float(off_axis[max(0, int(turns[0]) - 1)] if len(turns) else _WIDEST)


def folds(model: LensModel, points: Floats) -> bool:
    """Whether upright points `(n, 2)`, at the size of the model, lie where it throws no ray, or two."""
    k1, k2, _, _, k3 = model.distortion
    reach = rays_known(model.distortion)
    most = reach * (1 + k1 * reach**2 + k2 * reach**4 + k3 * reach**6)
    thrown = (points - np.array(model.centre)) / np.array(model.focal)
    return bool(np.hypot(thrown[:, 0], thrown[:, 1]).max() >= most)


def _straight_frame(rays: Floats, camera: Floats, size: Size) -> tuple[Floats, Size]:
    """The frame that holds these rays: from rays to its pixels, and its size."""
    seen, most = project(camera, rays), _MOST_BEYOND * max(size)
    low = np.maximum(np.floor(seen.min(axis=0)), -most)
    high = np.minimum(np.ceil(seen.max(axis=0)), np.array(size) - 1 + most)
    to_straight = camera.copy()
    to_straight[:2, 2] -= low
    width, height = (high - low).astype(int) + 1
    return to_straight, (int(width), int(height))


def _rim(size: Size, count: int = 40) -> Floats:
    """Points around a picture's edge."""
    along = np.linspace(0, 1, count)
    zero, one = np.zeros(count), np.ones(count)
    sides = ((along, zero), (along, one), (zero, along), (one, along))
    return np.asarray(np.concatenate([np.stack(side, axis=1) for side in sides]) * (np.array(size) - 1))


def _rays(points: Floats, camera: Floats, distortion: Floats) -> Floats:
    """The rays, as tangents (n, 2), that a lens throws on upright points."""
    seen = np.asarray(points, np.float64).reshape(-1, 1, 2)
    found = cv2.undistortPoints(seen, camera, distortion, criteria=_PRECISELY)
    return np.asarray(found, np.float64).reshape(-1, 2)


def _size(image: Image) -> Size:
    return image.shape[1], image.shape[0]


def _by(size: Size) -> str:
    return f"{size[0]} x {size[1]}"
