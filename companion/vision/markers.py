"""The printed mat in a picture: its markers say exactly where the board is, and which side is Light's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from companion import mat

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEWEST = 3
"""Markers that have to agree; a pattern in a cloth may look like one, not like three in their places."""
_OFF_MM = 1.5
"""How far a marker's corner may be from its place on the mat."""


def mat_corners(image: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """The corners a1, d1, d4, a4 of the board on a printed mat, `(4, 2)` in pixels of the BGR picture; None if unseen.

    Some markers may be hidden; at least three have to be seen.
    """
    seen, numbers = _markers(image)
    known = {marker.number: marker for marker in mat.MARKERS}
    chosen = [i for i, number in enumerate(numbers) if number in known]
    if len(chosen) < _FEWEST:
        return None
    on_mat = np.array([known[numbers[i]].corners() for i in chosen], np.float64).reshape(-1, 2)
    in_picture = np.concatenate([seen[i] for i in chosen]).astype(np.float64)
    to_mat, fits = cv2.findHomography(in_picture, on_mat, cv2.RANSAC, _OFF_MM)
    if to_mat is None or np.count_nonzero(fits.reshape(-1, 4).all(axis=1)) < _FEWEST:
        return None
    corners = np.array(mat.BOARD_CORNERS, np.float64).reshape(-1, 1, 2)
    return np.asarray(cv2.perspectiveTransform(corners, np.linalg.inv(to_mat)), np.float64).reshape(4, 2)


def _markers(image: NDArray[np.uint8]) -> tuple[list[NDArray[np.float32]], list[int]]:
    """The corners `(4, 2)` and the number of each marker of the mat's dictionary in the picture."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, mat.DICTIONARY))
    how = cv2.aruco.DetectorParameters()
    how.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    found: Any = cv2.aruco.ArucoDetector(dictionary, how).detectMarkers(image)
    corners, numbers, _ = found
    if numbers is None:
        return [], []
    return [np.asarray(one, np.float32).reshape(4, 2) for one in corners], [int(n) for n in np.ravel(numbers)]
