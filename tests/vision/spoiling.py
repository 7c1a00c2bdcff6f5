"""Pictures as a camera spoils them that is not in focus, or moves."""

from __future__ import annotations

import cv2
import numpy as np


def shaken(image, pixels, degrees):
    """A picture during which the camera moved so far."""
    size = 2 * int(np.ceil(pixels)) + 1
    way = np.zeros((size, size), np.float32)
    half = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]) * pixels / 2
    ends = [np.round(size // 2 + side * half).astype(int).tolist() for side in (-1, 1)]
    cv2.line(way, *ends, 1.0)
    return cv2.filter2D(image, -1, way / way.sum())


def out_of_focus(image, pixels):
    """A picture in which each point is a disc with such a radius."""
    reach = int(np.ceil(pixels))
    down, right = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = (down**2 + right**2 <= max(pixels, 0.5) ** 2).astype(np.float32)
    return cv2.filter2D(image, -1, disc / disc.sum())
