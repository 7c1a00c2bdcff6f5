"""Training the pointer: pictures of tables at all sizes and turns, and the heat maps that it should see in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import torch

from calibration.hands import cover_board
from calibration.training.scene import SIDE
from companion.vision.plane import project
from companion.vision.pointer import CHANNELS, FINER, STRIDE, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray
    from torch import Tensor

    from calibration.training.tables import Table

    Floats = NDArray[np.float32]
    Picture = NDArray[np.uint8]

_SHAPES = ((320, 240), (320, 240), (320, 184), (320, 216), (240, 320), (320, 320))
"""Widths and heights, in pixels, of the pictures in a batch."""
_WIDTH = 1.0
"""Standard deviation of a peak, in places of the heat map."""
_COVERED = 0.25
"""Of the boards, so many have something painted over them, beside what covers them already."""
_UPRIGHT = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float64)
_CROSSINGS = np.array([[x, y] for x in range(SIDE + 1) for y in range(SIDE + 1)], np.float64) / SIDE
_AT_CORNERS = np.isin(_CROSSINGS, (0.0, 1.0)).all(axis=1)


def batches(tables: Sequence[Table], steps: int, size: int, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
    """`steps` batches of pictures `(size, 3, h, w)` and maps `(size, CHANNELS * FINER ** 2, h / 8, w / 8)`."""
    rng = np.random.default_rng((seed, 1))
    order: list[int] = []
    for _ in range(steps):
        while len(order) < size:
            order += rng.permutation(len(tables)).tolist()
        chosen, order = order[:size], order[size:]
        shape = _SHAPES[rng.integers(len(_SHAPES))]
        drawn = [sample(rng, tables[i], shape) for i in chosen]
        yield (
            torch.from_numpy(np.stack([picture for picture, _ in drawn])),
            torch.from_numpy(np.stack([maps for _, maps in drawn])),
        )


def sample(rng: Generator, table: Table, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """One picture as the network sees it, and what it should answer."""
    image = table.image()
    if table.corners is not None and rng.random() < _COVERED:
        cover_board(rng, image, table.corners)
    warp = _window(rng, image.shape[1::-1], table.corners, shape)
    shrink = float(np.sqrt(abs(np.linalg.det(warp[:, :2]))))
    if shrink < 0.7:
        small = cv2.resize(image, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        back = np.diag([image.shape[1] / small.shape[1], image.shape[0] / small.shape[0], 1.0])
        seen = cv2.warpAffine(small, (np.vstack([warp, [0, 0, 1]]) @ back)[:2], shape, borderMode=cv2.BORDER_REPLICATE)
    else:
        seen = cv2.warpAffine(image, warp, shape, borderMode=cv2.BORDER_REPLICATE)
    toned = tone(_varied(rng, np.asarray(seen, np.uint8)))
    toned *= rng.normal(1, 0.08) * rng.normal(1, 0.04, 3).astype(np.float32)
    toned += rng.normal(0, 0.06, 3).astype(np.float32)
    corners = None if table.corners is None else table.corners @ warp[:, :2].T + warp[:, 2]
    return np.ascontiguousarray(toned.transpose(2, 0, 1), np.float32), heat_maps(corners, shape)


def _window(
    rng: Generator, size: tuple[int, ...], corners: NDArray[np.float64] | None, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """The affine map (2, 3) from a picture of `size` to what the network is shown: all of it, or the board nearer."""
    near = corners is not None and rng.random() < 0.5
    scale = min(shape[0] / size[0], shape[1] / size[1]) * rng.uniform(0.9, 1.25)
    middle = np.array(size, np.float64) / 2
    target = np.array(shape, np.float64) / 2 + rng.normal(0, 0.03, 2) * shape
    if near and corners is not None:
        extent = float(np.ptp(corners, axis=0).max())
        scale = rng.uniform(0.4, 0.9) * min(shape) / extent
        middle = corners.mean(axis=0)
        room = np.maximum((np.array(shape) - extent * scale) / 2, 0)
        target = np.array(shape) / 2 + rng.uniform(-1, 1, 2) * room
    elif corners is None and rng.random() < 0.5:
        scale *= rng.uniform(1, 3)
        middle = rng.uniform(0.2, 0.8, 2) * size
    angle = rng.normal(0, 0.12) if rng.random() < 0.7 else rng.uniform(0, 2 * np.pi)
    mirror = -1 if rng.random() < 0.5 else 1
    spin = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag([mirror, 1])
    return np.column_stack([spin, target - spin @ middle])


def _varied(rng: Generator, picture: Picture) -> Picture:
    if rng.random() < 0.3:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.3, 1.1))), np.uint8)
    if rng.random() < 0.3:
        noise = rng.normal(0, rng.uniform(1, 10), picture.shape)
        picture = np.asarray(np.clip(picture + noise, 0, 255), np.uint8)
    if rng.random() < 0.4:
        power = float(np.exp(rng.normal(0, 0.3)))
        table = (255 * (np.arange(256) / 255) ** power).astype(np.uint8)
        picture = np.asarray(cv2.LUT(picture, table), np.uint8)
    return picture


def heat_maps(corners: NDArray[np.float64] | None, shape: tuple[int, int]) -> Floats:
    """What the pointer should see, folded as its scores are: `(CHANNELS * FINER ** 2, h / 8, w / 8)`."""
    width, height = shape[0] // STRIDE, shape[1] // STRIDE
    maps = np.zeros((CHANNELS, height, width), np.float32)
    if corners is not None:
        places = (corners + 0.5) / STRIDE - 0.5
        grid = cv2.getPerspectiveTransform(_UPRIGHT.astype(np.float32), places.astype(np.float32))
        crossings = project(np.asarray(grid, np.float64), _CROSSINGS)
        for channel, points in enumerate((crossings[_AT_CORNERS], crossings[~_AT_CORNERS])):
            maps[channel] = _peaks(points, width, height)
        cv2.fillConvexPoly(maps[2], np.round(places * 16).astype(np.int32), 1.0, cv2.LINE_AA, 4)
    folded = maps.reshape(CHANNELS, height // FINER, FINER, width // FINER, FINER).transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(folded.reshape(CHANNELS * FINER**2, height // FINER, width // FINER))


def _peaks(points: NDArray[np.floating[Any]], width: int, height: int) -> Floats:
    x, y = np.arange(width)[None, :], np.arange(height)[:, None]
    seen = np.zeros((height, width))
    for px, py in points:
        seen = np.maximum(seen, np.exp(-((x - px) ** 2 + (y - py) ** 2) / (2 * _WIDTH**2)))
    return np.asarray(seen, np.float32)


def judged(scores: Tensor, maps: Tensor) -> Tensor:
    """Cross entropy, weighted by how wrong the answer is, so that the many cold places do not drown the few peaks."""
    plain = torch.nn.functional.binary_cross_entropy_with_logits(scores, maps, reduction="none")
    weight = (torch.sigmoid(scores.detach()) - maps).abs().square()
    peaks = 2 * FINER**2
    points = (plain * weight)[:, :peaks].sum() / len(scores)
    board = plain[:, peaks:].mean()
    return points / 10 + 3 * board
