"""What a network is shown of a board, each time another way: shifted, in the mirror, in other light, with more noise.

All of it is done with tensors, on whatever device learns, for many boards at once. Without any variation the outcome
is what `companion.vision.pieces` makes of a top view.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn

from calibration.training.photograph import WHITE
from calibration.training.tensors import Chance
from companion.vision.pieces import AROUND, FAINTEST, FLATTEST
from companion.vision.rectify import BLACKEST, MARGIN, PATCH, SQUARE

if TYPE_CHECKING:
    from torch import Tensor

_SHIFTED = 0.5
_LOST = 0.04
"""How often a board's far side is taken for another one."""
_EVENED = 0.15
"""How often a camera brings light and dark parts of the picture nearer to each other, as telephones do."""
_SHADED, _VEILED, _SLANTING = 0.12, 0.08, 0.2
"""How often the edge of a shadow lies across the board, a spot of light, and light that comes from one side."""
_SOFT = 0.1
_GRAINY = 0.3
_GAMMA = 2.2
_BURNT_OUT = 0.3
"""From this share of its pixels on that only the spot of light has made white, nothing is to be learnt of a square."""


class Looks:
    """Looks at boards; its chances come from one generator."""

    def __init__(self, device: torch.device, seed: int) -> None:
        self._chance = Chance(seed, device)

    def __call__(self, views: Tensor, aways: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """The network's input `(b, 16, 4, PATCH, PATCH)` and what squares count, `(b, 16)`, in this light.

        `views` is `(b, side, side, 3)` uint8 as `rectify` gives them, `aways` `(b,)` as `away_side`, and `weights`
        `(b, 16)` how far each square counts.
        """
        seen = views.permute(0, 3, 1, 2).float()
        seen = self._shifted(seen)
        seen, burnt = self._lit(seen)
        seen = self._softened(self._evened(seen)).clamp(0, 255)
        lost = self._chance.happens(_LOST, len(views))
        toward = torch.where(lost, self._chance.number(4, len(views)), aways.long())
        patches = turned(cut(seen), toward)
        mirror = self._chance.happens(0.5, len(views))[:, None, None, None, None]
        patches = torch.where(mirror, patches.flip(-1), patches)
        return with_relief(self._noisy(toned(patches))), weights * (burnt < _BURNT_OUT)

    def _shifted(self, seen: Tensor) -> Tensor:
        """Half of them moved by a pixel or so, and drawn out a little."""
        count, side = len(seen), seen.shape[-1]
        moved = self._chance.happens(_SHIFTED, count)[:, None, None]
        way = self._chance.normal(count, 2, 3)
        way = way * torch.tensor([0.008, 0.008, 1.2 / side], device=self._chance.device) * moved
        way = way + torch.eye(2, 3, device=self._chance.device)
        grid = nn.functional.affine_grid(way, list(seen.shape), align_corners=False)
        return nn.functional.grid_sample(seen, grid, padding_mode="border", align_corners=False)

    def _lit(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """The boards in other light, and what share of each square that has made white, `(b, 16)`."""
        count, side = len(seen), seen.shape[-1]
        linear = (seen / 255) ** _GAMMA
        places = torch.linspace(-1, 1, side, device=self._chance.device)
        angle = self._chance.uniform(0, 2 * math.pi, count)[:, None, None]
        across = places[None, None] * angle.cos() + places[None, :, None] * angle.sin()
        edge = (across - self._chance.uniform(-0.8, 0.8, count)[:, None, None]) / self._chance.uniform(
            0.01, 0.3, count
        )[:, None, None]
        depth = self._chance.uniform(0.2, 0.75, count) * self._chance.happens(_SHADED, count)
        slope = self._chance.uniform(0.0, 0.6, count) * self._chance.happens(_SLANTING, count)
        light = (1 - depth[:, None, None] * torch.sigmoid(edge)) * torch.exp(slope[:, None, None] * across.flip(-1))
        x, y = (self._chance.uniform(-0.9, 0.9, count)[:, None, None] for _ in range(2))
        away = (places[None, None] - x) ** 2 + (places[None, :, None] - y) ** 2
        strength = self._chance.uniform(0.05, 1.0, count) * self._chance.happens(_VEILED, count)
        radius = self._chance.uniform(0.15, 0.7, count)[:, None, None]
        veil = strength[:, None, None] * torch.exp(-away / (2 * radius**2))
        relit = 255 * (linear * light[:, None] + veil[:, None]).clamp(0, 1) ** (1 / _GAMMA)
        changed = ((depth > 0) | (slope > 0) | (strength > 0))[:, None, None, None]
        relit = torch.where(changed, relit.round(), seen)
        burnt = ((relit.amin(1) >= WHITE) & (seen.amin(1) < WHITE)).float()[:, None]
        inner = burnt[..., MARGIN:-MARGIN, MARGIN:-MARGIN]
        return relit, nn.functional.avg_pool2d(inner, SQUARE).flip(-2).flatten(1)

    def _evened(self, seen: Tensor) -> Tensor:
        """What `companion.vision.rectify.evened` does to some of them."""
        chosen = self._chance.happens(_EVENED, len(seen)).nonzero()[:, 0]
        if not len(chosen):
            return seen
        some = seen[chosen]
        around = blurred(some, self._chance.uniform(6, 40, len(some))).mean(1, keepdim=True) + BLACKEST
        share = self._chance.uniform(0.05, 0.4, len(some))[:, None, None, None]
        return seen.index_copy(0, chosen, some * (around.mean((1, 2, 3), keepdim=True) / around) ** share)

    def _softened(self, seen: Tensor) -> Tensor:
        chosen = self._chance.happens(_SOFT, len(seen)).nonzero()[:, 0]
        if not len(chosen):
            return seen
        return seen.index_copy(0, chosen, blurred(seen[chosen], self._chance.uniform(0.3, 0.9, len(chosen))))

    def _noisy(self, patches: Tensor) -> Tensor:
        """Toned patches `(b, 16, 3, PATCH, PATCH)` with other gains and offsets, some grainy."""
        count = len(patches)
        gains = (1 + 0.04 * self._chance.normal(count, 1, 3, 1, 1)) * (
            1 + 0.08 * self._chance.normal(count, 1, 1, 1, 1)
        )
        grain = self._chance.uniform(0, 0.12, count) * self._chance.happens(_GRAINY, count)
        noise = self._chance.normal(*patches.shape) * grain[:, None, None, None, None]
        return patches * gains + 0.06 * self._chance.normal(count, 1, 3, 1, 1) + noise


def blurred(seen: Tensor, sigma: Tensor) -> Tensor:
    """Pictures `(b, c, side, side)`, each blurred by its own standard deviation, in pixels."""
    steps = torch.arange(seen.shape[-1], device=seen.device, dtype=torch.float32)
    weights = torch.exp(-((steps[None, :, None] - steps[None, None]) ** 2) / (2 * sigma[:, None, None] ** 2))
    weights = (weights / weights.sum(-1, keepdim=True))[:, None]
    return weights @ seen @ weights.transpose(-1, -2)


def cut(seen: Tensor) -> Tensor:
    """One patch for each square, `(b, 16, 3, PATCH, PATCH)`, a1 first, from top views `(b, 3, side, side)`."""
    start = MARGIN - (PATCH - SQUARE) // 2
    inner = seen[..., start : seen.shape[-2] - start, start : seen.shape[-1] - start]
    tiles = inner.unfold(2, PATCH, SQUARE).unfold(3, PATCH, SQUARE).flip(2)
    return tiles.permute(0, 2, 3, 1, 4, 5).flatten(1, 2)


def turned(patches: Tensor, aways: Tensor) -> Tensor:
    """Patches with the side that is away from the camera on top, by `aways`, `(b,)`."""
    found = torch.empty_like(patches)
    for turn in range(4):
        some = (aways == turn).nonzero()[:, 0]
        found.index_copy_(0, some, patches[some].rot90(turn, (-2, -1)))
    return found


def toned(patches: Tensor) -> Tensor:
    """What `companion.vision.pieces.Tone` makes of boards of patches `(b, 16, 3, PATCH, PATCH)`."""
    grey = patches[..., ::3, ::3].mean(2).flatten(1)
    spread = grey.std(1, correction=0).clamp(min=FLATTEST)
    return (patches - grey.mean(1)[:, None, None, None, None]) / spread[:, None, None, None, None]


def with_relief(patches: Tensor) -> Tensor:
    """What `companion.vision.pieces.with_relief` makes of them."""
    grey = patches.mean(2).flatten(0, 1)[:, None]
    single = torch.eye(grey.shape[-1], device=grey.device)[None]
    share = nn.functional.avg_pool1d(nn.functional.pad(single, (AROUND // 2,) * 2, mode="reflect"), AROUND, 1)[0]
    mean, square = (share.T @ part @ share for part in (grey, grey * grey))
    relief = (grey - mean) / ((square - mean * mean).clamp(min=0) + FAINTEST**2).sqrt()
    return torch.cat([patches, relief.unflatten(0, patches.shape[:2])], 2)
