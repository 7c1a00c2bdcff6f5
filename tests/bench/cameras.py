"""What other cameras would have made of a picture."""

from __future__ import annotations

import cv2
import numpy as np


def held(image: np.ndarray, time: float, reach: float) -> np.ndarray:
    """What a picture of a steady camera is to one that sways by so many pixels, turns, tilts, and trembles."""
    height, width = image.shape[:2]
    picture = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    x, y, turn, near, tilt, nod = np.sin(np.array([0.82, 0.69, 0.57, 0.44, 0.63, 0.5]) * time + np.arange(6))
    angle, scale = np.radians(turn * reach / 17), 1 + near * reach / 1700
    way = scale * np.float32([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle = np.float32([width / 2, height / 2])
    trembles = np.random.default_rng(round(1000 * time)).normal(0, 0.04 * reach, 2)
    seen = (picture - middle) @ way.T + middle + reach * np.float32([x, y]) + trembles
    seen += np.float32([[tilt, nod], [-tilt, -nod], [tilt, nod], [-tilt, -nod]]) * reach / 2
    move = cv2.getPerspectiveTransform(picture, seen.astype(np.float32))
    return cv2.warpPerspective(image, move, (width, height), borderMode=cv2.BORDER_REFLECT)


def banded(image: np.ndarray, depth: float, count: float, phase: float) -> np.ndarray:
    """Under a lamp that flickers, taken row by row: so many bands, by this part of the light brighter and darker."""
    rows = 1 + depth * np.sin(2 * np.pi * count * np.arange(len(image)) / len(image) + phase)
    return np.clip(image * rows[:, None, None] + 0.5, 0, 255).astype(np.uint8)
