"""Chances and geometry with tensors, on whatever device learns, for many pictures at once.

Points are in pixels, x and y, whole numbers in the middle of pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def device() -> torch.device:
    """What learns here."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Chance:
    """What is left to chance, where it is learnt."""

    def __init__(self, seed: int, where: torch.device | None = None) -> None:
        self.device = where or device()
        self._generator = torch.Generator(self.device).manual_seed(seed)

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """Numbers between these."""
        return low + (high - low) * torch.rand(shape, generator=self._generator, device=self.device)

    def normal(self, *shape: int) -> Tensor:
        """Normally distributed numbers, of deviation 1."""
        return torch.randn(shape, generator=self._generator, device=self.device)

    def number(self, below: int, *shape: int) -> Tensor:
        """Whole numbers from nothing to less than this."""
        return torch.randint(below, shape, generator=self._generator, device=self.device)

    def happens(self, share: float, *shape: int) -> Tensor:
        """Whether it happens."""
        return self.uniform(0, 1, *shape) < share

    def one_of(self, values: Sequence[float], *shape: int) -> Tensor:
        """Any of these values."""
        return torch.tensor(values, device=self.device)[self.number(len(values), *shape)]


def there(corners: Tensor) -> Tensor:
    """Which of four corners `(..., 4, 2)` are a board's: they are not finite where there is none."""
    return corners.isfinite().all(-1).all(-1)


def to_quad(corners: Tensor) -> Tensor:
    """Homographies `(..., 3, 3)` that take the unit square, from its origin to (1, 0), to four corners `(..., 4, 2)`.

    As in Heckbert, Fundamentals of Texture Mapping (1989).
    """
    first, second, third, fourth = corners.unbind(-2)
    along, down, rest = second - third, fourth - third, first - second + third - fourth
    whole = _crossed(along, down)
    g, h = (_crossed(rest, down) / whole)[..., None], (_crossed(along, rest) / whole)[..., None]
    rows = torch.stack([second - first + g * second, fourth - first + h * fourth, first], -1)
    last = torch.cat([g, h, torch.ones_like(g)], -1)
    return torch.cat([rows, last[..., None, :]], -2)


def projected(homographies: Tensor, points: Tensor) -> Tensor:
    """Points `(..., n, 2)` taken by homographies `(..., 3, 3)`."""
    seen = points @ homographies[..., :2].transpose(-1, -2) + homographies[..., None, :, 2]
    return seen[..., :2] / seen[..., 2:]


def _crossed(first: Tensor, second: Tensor) -> Tensor:
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]


def turned(angle: Tensor) -> Tensor:
    """Rotations `(n, 2, 2)` by angles `(n,)`, from x to y."""
    return torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()], -1).view(len(angle), 2, 2)


def is_convex(corners: Tensor) -> Tensor:
    """Whether four corners `(..., 4, 2)` go round something convex."""
    steps = corners.roll(-1, -2) - corners
    turns = _crossed(steps, steps.roll(-1, -2))
    return (turns > 0).all(-1) | (turns < 0).all(-1)


def sides(corners: Tensor) -> Tensor:
    """The lengths `(..., 4)` of the sides of four corners `(..., 4, 2)`."""
    return (corners.roll(-1, -2) - corners).norm(dim=-1)


def sampled(seen: Tensor, at: Tensor) -> Tensor:
    """What pictures `(b, c, height, width)` show at `(b, h, w, 2)`, in their pixels; beyond the edge, what is there."""
    size = torch.tensor([seen.shape[-1] - 1, seen.shape[-2] - 1], device=seen.device, dtype=torch.float32)
    return nn.functional.grid_sample(seen, 2 * at / size - 1, padding_mode="border", align_corners=True)


def grid(height: int, width: int, where: torch.device) -> Tensor:
    """The middles of pixels, `(height, width, 2)`."""
    y, x = torch.meshgrid(torch.arange(height, device=where), torch.arange(width, device=where), indexing="ij")
    return torch.stack([x, y], -1).float()
