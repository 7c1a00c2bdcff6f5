"""What lens, sensor and file do to the light: exposure, white, blur, shake, noise, sharpening, JPEG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibration.training.scene import Lens

    Floats = NDArray[np.float32]

WHITE = 250
"""From this level on in all three channels, a pixel of a picture shows nothing but white."""
_SHAKEN = 1.5


def take(light: Floats, static: Floats, lens: Lens) -> NDArray[np.uint8]:
    """The picture `(height, width, 3)` BGR that `lens` makes of linear `light`, with noise from `static`."""
    exposed = _expose(light, lens)
    smeared = _smear(exposed, lens)
    noisy = _add_noise(smeared, static, lens)
    picture = np.clip(noisy * 255, 0, 255).astype(np.uint8)
    if lens.sharpen:
        soft = cv2.GaussianBlur(picture, (0, 0), 1.2)
        picture = np.asarray(cv2.addWeighted(picture, 1 + lens.sharpen, soft, -lens.sharpen, 0), np.uint8)
    if lens.jpeg:
        _, file = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, lens.jpeg])
        picture = np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), np.uint8)
    return np.asarray(picture, np.uint8)


def _expose(light: Floats, lens: Lens) -> Floats:
    bright = float(np.percentile(light[::4, ::4, 1], 92)) + 1e-4
    white = light[::4, ::4].reshape(-1, 3).mean(axis=0)
    balance = (white.mean() / (white + 1e-4)) ** 0.35
    height, width = light.shape[:2]
    y, x = np.linspace(-1, 1, height, dtype=np.float32), np.linspace(-1, 1, width, dtype=np.float32)
    fall = 1 - lens.vignette * (x[None] ** 2 + y[:, None] ** 2) / 2
    linear = light * (fall[..., None] * (lens.exposure / bright * balance).astype(np.float32))
    grey = linear.mean(axis=2, keepdims=True)
    linear = np.clip(grey + (linear - grey) * lens.saturation, 0, 1.3)
    coded = cv2.pow(np.minimum(linear, 1.0), 1 / lens.gamma)
    curve = coded * coded * (3 - 2 * coded)
    return np.asarray(coded + lens.contrast * (curve - coded), np.float32)


def _smear(picture: Floats, lens: Lens) -> Floats:
    blurred = cv2.GaussianBlur(picture, (0, 0), lens.blur)
    length, angle = lens.shake
    if length > _SHAKEN:
        size = int(length) | 1
        kernel = np.zeros((size, size), np.float32)
        half, dx, dy = size // 2, np.cos(angle) * size / 2, np.sin(angle) * size / 2
        cv2.line(
            kernel, (round(half - dx), round(half - dy)), (round(half + dx), round(half + dy)), 1.0, 1, cv2.LINE_AA
        )
        blurred = cv2.filter2D(blurred, -1, kernel / kernel.sum())
    return np.asarray(blurred, np.float32)


def _add_noise(picture: Floats, static: Floats, lens: Lens) -> Floats:
    """Sensor noise, stronger in the dark parts after gamma, perhaps smeared by denoising."""
    noise = static
    if lens.noise_blur:
        noise = np.asarray(cv2.GaussianBlur(noise, (0, 0), lens.noise_blur) * (1 + lens.noise_blur), np.float32)
    return np.asarray(picture + noise * ((1.25 - 0.6 * picture) * np.float32(lens.noise / 255)), np.float32)
