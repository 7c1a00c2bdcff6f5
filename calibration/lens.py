"""From pictures of the printed lens target to a model of the lens that took them; and when not to believe one.

The target is a chessboard with markers in its white squares (what OpenCV calls ChArUco), so that each of its inner
corners is known by number, also where only part of the target is seen. The corners of all pictures together say how the
lens bends lines. They do not when all pictures are alike: a flat target seen straight on looks the same through a long
lens from afar and through a wide one from nearby, and what happens at the rim of a picture is not seen in its middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from companion import mat
from companion.errors import CompanionError
from companion.profile import LensModel
from companion.vision.lens import folds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cv2.typing import MatLike
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.floating[Any]]

FEWEST_PICTURES: Final = 6
FEWEST_CORNERS: Final = 12
"""Of the target's 35 corners: a picture that shows fewer says nothing."""
ALIKE: Final = 0.02
"""Pictures in which the target's corners are on average closer than this share of the longer side are one."""
LEAST_COVERED: Final = 0.4
"""Share of the picture around which corners were seen."""
UNSURE: Final = 0.01
"""Standard error of the focal length, as a share of it, from which on pictures were too alike."""
LEAST_TILT: Final = 3.0
"""Degrees by which the target has to be tilted in two pictures: where it is level in all, any focal length fits."""
MOST_ERROR: Final = 1 / 1280
"""Root mean square error, as a share of the longer side."""
MOST_UNLIKE: Final = 1 / 4000
"""As much of it as comes from asking one lens of all pictures; of one camera it is at most half of that."""


class LensError(CompanionError, ValueError):
    """Pictures of the lens target that no lens can be measured from."""


_TOO_ALIKE = (
    "the pictures are too alike to tell what the lens does: tilt the target more, in different directions, and hold it "
    "also into the picture's corners"
)


@dataclass(frozen=True, slots=True)
class Sighting:
    """The target in one picture."""

    name: str
    size: tuple[int, int]
    """Width and height of the picture."""
    numbers: tuple[int, ...]
    """Of the corners that are seen."""
    corners: Floats
    """Where they are seen, `(n, 2)` in pixels of the upright picture."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A lens model, and what it was measured from."""

    model: LensModel
    pictures: int
    bend: float
    """How far it moves what it moves farthest, in pixels."""


def target() -> cv2.aruco.CharucoBoard:
    """The lens target as OpenCV knows it, lengths in millimetres."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, mat.LENS_DICTIONARY))
    return cv2.aruco.CharucoBoard(mat.LENS_SQUARES, mat.LENS_SQUARE_MM, mat.LENS_MARKER_MM, dictionary)


def target_picture(pixels_per_mm: float) -> Bytes:
    """The lens target in black and white, `(height, width)`, without a border."""
    size = [round(n * mat.LENS_SQUARE_MM * pixels_per_mm) for n in mat.LENS_SQUARES]
    return np.asarray(target().generateImage((size[0], size[1])), np.uint8)


def find_target(image: Bytes, name: str) -> Sighting:
    """The target's corners in an upright BGR picture; none if it is not seen."""
    found: Any = cv2.aruco.CharucoDetector(target()).detectBoard(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    corners, numbers = found[:2]
    seen = () if numbers is None else tuple(int(number) for number in np.ravel(numbers))
    places = np.asarray(corners if seen else [], np.float64).reshape(-1, 2)
    return Sighting(name, (image.shape[1], image.shape[0]), seen, places)


def measure(sightings: Sequence[Sighting]) -> Measured:
    """The lens that took these pictures.

    Raises:
        LensError: if it cannot be told from them: which pictures, why, and what to do.
    """
    _refuse_other_sizes(sightings)
    good = _refuse_unseen(sightings)
    _refuse_alike(good)
    _refuse_uncovered(good)
    return _fitted(good)


def _refuse_other_sizes(sightings: Sequence[Sighting]) -> None:
    for other in sightings[1:]:
        first = sightings[0]
        if other.size != first.size:
            raise LensError(
                f"{first.name} is {_by(first.size)} pixels and {other.name} {_by(other.size)}: all pictures have to "
                "come from one camera, held one way, at one size"
            )


def _refuse_unseen(sightings: Sequence[Sighting]) -> list[Sighting]:
    good = [sighting for sighting in sightings if len(sighting.numbers) >= FEWEST_CORNERS]
    if len(good) >= FEWEST_PICTURES:
        return good
    unseen = ", ".join(sighting.name for sighting in sightings if len(sighting.numbers) < FEWEST_CORNERS)
    raise LensError(
        f"{len(good)} of {len(sightings)} pictures show the lens target well enough, at least {FEWEST_PICTURES} are "
        "needed" + (f"; it is not seen, or too small, dark or blurred, in {unseen}" if unseen else "; take ten")
    )


def _refuse_alike(sightings: Sequence[Sighting]) -> None:
    different: list[Sighting] = []
    for sighting in sightings:
        if all(_apart(sighting, other) > ALIKE for other in different):
            different.append(sighting)
    if len(different) < FEWEST_PICTURES:
        raise LensError(
            f"the {len(sightings)} pictures show only {len(different)} different views of the lens target, at least "
            f"{FEWEST_PICTURES} are needed: tilt and move it between pictures"
        )


def _apart(one: Sighting, other: Sighting) -> float:
    """The mean distance of the corners that both show, as a share of the longer side; 1 if there are none."""
    places = dict(zip(one.numbers, one.corners, strict=True))
    steps = [xy - places[number] for number, xy in zip(other.numbers, other.corners, strict=True) if number in places]
    return float(np.linalg.norm(steps, axis=1).mean()) / max(one.size) if steps else 1.0


def _refuse_uncovered(sightings: Sequence[Sighting]) -> None:
    seen = np.concatenate([sighting.corners for sighting in sightings]).astype(np.float32)
    width, height = sightings[0].size
    share = cv2.contourArea(cv2.convexHull(seen)) / (width * height)
    if share < LEAST_COVERED:
        raise LensError(
            f"the lens target was held only in {share:.0%} of the picture, at least {LEAST_COVERED:.0%} are needed: "
            "hold it nearer, and also into the picture's corners"
        )


def _fitted(sightings: Sequence[Sighting]) -> Measured:
    known = np.asarray(target().getChessboardCorners(), np.float32)
    there = [known[list(sighting.numbers)] for sighting in sightings]
    seen = [sighting.corners.astype(np.float32) for sighting in sightings]
    size = sightings[0].size
    try:
        error, camera, distortion, turns, _, spreads, _, errors = cv2.calibrateCameraExtended(
            there, seen, size, np.eye(3), np.zeros(5), flags=cv2.CALIB_FIX_K3
        )
    except cv2.error as trouble:
        raise LensError(
            "no lens explains these pictures: take new ones, of the target glued on something flat"
        ) from trouble
    _refuse_unlike(float(error), np.ravel(errors), sightings)
    apart = [_off_each(x, y, camera, distortion) for x, y in zip(there, seen, strict=True)]
    _refuse_several(float(error), apart, np.ravel(errors), sightings)
    _refuse_level(turns)
    focal = float(camera[0, 0]), float(camera[1, 1])
    centre = float(camera[0, 2]), float(camera[1, 2])
    k1, k2, p1, p2, k3 = (float(value) for value in np.ravel(distortion)[:5])
    try:
        model = LensModel(
            size=size, focal=focal, centre=centre, distortion=(k1, k2, p1, p2, k3), error=round(float(error), 4)
        )
    except ValueError as trouble:  # no lens is like that: something is not told by these pictures
        raise LensError(_TOO_ALIKE) from trouble
    corners = np.concatenate(seen)
    _refuse_unsure(model, float(max(np.ravel(spreads)[:2] / focal)))
    straight = cv2.undistortPoints(corners[:, None], camera, distortion, P=camera).reshape(-1, 2)
    return Measured(model, len(sightings), float(np.linalg.norm(straight - corners, axis=1).max()))


def _refuse_unlike(error: float, errors: Floats, sightings: Sequence[Sighting]) -> None:
    if error <= MOST_ERROR * max(sightings[0].size):
        return
    worst = sightings[int(np.argmax(errors))].name
    raise LensError(
        f"no one lens explains these pictures: corners lie {error:.1f} pixels off, most in {worst}; glue the target on "
        "something flat, keep focus and zoom as they are, and leave out blurred pictures. If all that is so, the lens "
        "may be a fish-eye, which bends more than can be undone: set the camera to a narrower view"
    )


def _off_each(there: Floats, seen: Floats, camera: MatLike, distortion: MatLike) -> Floats:
    """How far corners `(n, 2)` of one picture lie off in pixels `(n,)`, where only the bend is that of all pictures.

    Without the bend a flat target is in perspective, whatever the focal length: which perspective is free here.
    """
    straight = cv2.undistortPoints(seen[:, None], camera, distortion)
    perspective, _ = cv2.findHomography(there[:, :2], straight, 0)
    rays = cv2.convertPointsToHomogeneous(cv2.perspectiveTransform(there[:, None, :2], perspective))
    bent, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), camera, distortion)
    return np.asarray(np.linalg.norm(bent.reshape(-1, 2) - seen, axis=1))


def _refuse_several(error: float, apart: Sequence[Floats], errors: Floats, sightings: Sequence[Sighting]) -> None:
    """Refuse pictures that each are fine, and want lenses that differ: of so much `error`, little is left `apart`."""
    left = float(np.mean(np.concatenate(apart) ** 2))
    if error**2 - left <= (MOST_UNLIKE * max(sightings[0].size)) ** 2:
        return
    more = [together**2 - np.mean(off**2) for together, off in zip(errors, apart, strict=True)]
    worst = sightings[int(np.argmax(more))].name
    raise LensError(
        f"each of these pictures is fine, but no one lens explains them all, {worst} least: take all with one camera "
        "at one zoom and focus, and keep camera and target still"
    )


def _refuse_level(turns: Sequence[MatLike]) -> None:
    tilts = sorted(float(np.degrees(np.arccos(min(1.0, abs(cv2.Rodrigues(turn)[0][2, 2]))))) for turn in turns)
    if tilts[-2] < LEAST_TILT:
        raise LensError(_TOO_ALIKE)


def _refuse_unsure(model: LensModel, spread: float) -> None:
    width, height = model.size
    rim = np.array([[x, y] for x in (0, width / 2, width - 1) for y in (0, height / 2, height - 1)], np.float64)
    if spread > UNSURE or folds(model, rim):
        raise LensError(_TOO_ALIKE)


def _by(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"
