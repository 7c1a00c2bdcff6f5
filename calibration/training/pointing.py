"""Training the pointer: pictures of tables at all sizes and turns, and the heat maps that it should see in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn

from calibration.training.pictures import Hands, varied
from calibration.training.scene import SIDE
from calibration.training.tensors import Chance, grid, is_convex, projected, sampled, there, to_quad, turned
from companion.vision.pointer import CHANNELS, FINER, FLATTEST, STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from calibration.training.pictures import Pictures

_SHAPES = ((320, 240), (320, 240), (320, 184), (320, 216), (240, 320), (320, 320))
"""Widths and heights, in pixels, of the pictures in a batch."""
_WIDTH = 1.0
"""Standard deviation of a peak, in places of the heat map."""
_COVERED = 0.3
"""Of the boards, so many have something painted over them, beside what covers them already."""
_FINE = 2
"""Pixels are the mean of so many by so many places."""


def batches(pictures: Pictures, steps: int, size: int, seed: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """`steps` batches of pictures `(size, 3, h, w)`, maps `(size, CHANNELS * FINER ** 2, h / 8, w / 8)`, numbers."""
    chance = Chance(seed)
    hands = Hands(chance, seed)
    for some in pictures.chosen(steps, size):
        for chosen in some:
            shape = _SHAPES[int(chance.number(len(_SHAPES), 1))]
            yield (*sample(chance, hands, pictures, chosen, shape), chosen)


def sample(
    chance: Chance, hands: Hands, pictures: Pictures, chosen: Tensor, shape: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Pictures as the network sees them, and what it should answer."""
    corners = pictures.corners[chosen]
    whole = pictures.seen[chosen].permute(0, 3, 1, 2).float()
    covered, _ = hands.lay(whole, corners, _COVERED)
    spin, shift = _window(chance, pictures.size[chosen], pictures.on_side[chosen], corners, shape)
    back = torch.linalg.inv(spin)
    width, height = shape
    fine = (grid(height * _FINE, width * _FINE, whole.device) + 0.5) / _FINE - 0.5
    at = (fine - shift[:, None, None]) @ back.transpose(-1, -2)[:, None]
    seen = varied(chance, nn.functional.avg_pool2d(sampled(covered, at), _FINE))
    tones = toned(seen)
    count = len(chosen)
    gains = (1 + 0.08 * chance.normal(count, 1, 1, 1)) * (1 + 0.04 * chance.normal(count, 3, 1, 1))
    moved = corners @ spin.transpose(-1, -2) + shift[:, None]
    return tones * gains + 0.06 * chance.normal(count, 3, 1, 1), heat_maps(moved, shape)


def toned(seen: Tensor) -> Tensor:
    """What `companion.vision.pointer.tone` makes of pictures `(b, 3, h, w)`."""
    spread = seen[..., ::2, ::2].flatten(1).std(1, correction=0).clamp(min=FLATTEST)
    return (seen - seen.mean((2, 3), keepdim=True)) / spread[:, None, None, None]


def _window(
    chance: Chance, size: Tensor, on_side: Tensor, corners: Tensor, shape: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """The affine maps `(b, 2, 2)` and `(b, 2)` from canvases to what the network is shown: all of a picture, or part.

    Half of those with a board show it nearer, half of those without one a part.
    """
    count, shown = len(size), torch.tensor(shape, device=size.device, dtype=torch.float32)
    has_board, near = there(corners), chance.happens(0.5, count)
    scale = (shown / torch.where(on_side[:, None], size.flip(1), size)).amin(1) * chance.uniform(0.9, 1.25, count)
    middle, target = size / 2, shown / 2 + 0.03 * chance.normal(count, 2) * shown
    own = torch.where(has_board[:, None, None], corners, 0.0)
    extent = (own.amax(1) - own.amin(1)).amax(1).clamp(min=1.0)
    nearer = chance.uniform(0.4, 0.9, count) * min(shape) / extent
    room = ((shown - (extent * nearer)[:, None]) / 2).clamp(min=0)
    closer = has_board & near
    part = ~has_board & near
    middle = torch.where(part[:, None], chance.uniform(0.2, 0.8, count, 2) * size, middle)
    scale = torch.where(part, scale * chance.uniform(1, 3, count), scale)
    scale = torch.where(closer, nearer, scale)
    middle = torch.where(closer[:, None], own.mean(1), middle)
    target = torch.where(closer[:, None], shown / 2 + chance.uniform(-1, 1, count, 2) * room, target)
    angle = torch.where(chance.happens(0.3, count), chance.uniform(0, 2 * math.pi, count), 0.12 * chance.normal(count))
    mirror = torch.diag_embed(torch.stack([chance.one_of((-1.0, 1.0), count), torch.ones_like(angle)], -1))
    spin = scale[:, None, None] * (turned(angle) @ mirror @ turned(-math.pi / 2 * on_side))
    return spin, target - (spin @ middle[..., None])[..., 0]


def heat_maps(corners: Tensor, shape: tuple[int, int]) -> Tensor:
    """What the pointer should see, folded as its scores are: `(b, CHANNELS * FINER ** 2, h / 8, w / 8)`.

    `corners` are `(b, 4, 2)`, in pixels of the network's picture; not finite without a board.
    """
    width, height = shape[0] // STRIDE, shape[1] // STRIDE
    has_board = there(corners)[:, None, None]
    somewhere = torch.tensor([[-9.0, -9], [-8, -9], [-8, -8], [-9, -8]], device=corners.device) * width
    places = (torch.where(has_board, corners, somewhere) + 0.5) / STRIDE - 0.5
    lines = torch.arange(SIDE + 1, device=corners.device) / SIDE
    crossings = torch.cartesian_prod(lines, lines)
    at_corners = ((crossings == 0) | (crossings == 1)).all(-1)
    to_places = to_quad(places)
    seen = projected(to_places, crossings[None])
    x, y = (torch.arange(n, device=corners.device, dtype=torch.float32) for n in (width, height))
    along = torch.exp(-((seen[..., :1] - x) ** 2) / (2 * _WIDTH**2))
    down = torch.exp(-((seen[..., 1:] - y) ** 2) / (2 * _WIDTH**2))
    peaks = down[..., :, None] * along[..., None, :]
    parts = [peaks[:, at_corners].amax(1), peaks[:, ~at_corners].amax(1), _inside(places, height, width)]
    maps = torch.stack(parts, 1)
    count = len(corners)
    folded = maps.view(count, CHANNELS, height // FINER, FINER, width // FINER, FINER).permute(0, 1, 3, 5, 2, 4)
    return folded.reshape(count, CHANNELS * FINER**2, height // FINER, width // FINER)


def _inside(corners: Tensor, height: int, width: int) -> Tensor:
    """How much of each place is within four corners `(b, 4, 2)` that go round: `(b, height, width)`."""
    steps = corners.roll(-1, 1) - corners
    outward = torch.stack([steps[..., 1], -steps[..., 0]], -1) / steps.norm(dim=-1, keepdim=True).clamp(min=1e-3)
    way = torch.sign((outward * (corners - corners.mean(1, keepdim=True))).sum(-1))
    at = grid(height, width, corners.device)
    beyond = torch.einsum("hwc,bec->behw", at, outward) - (outward * corners).sum(-1)[..., None, None]
    return (0.5 - (beyond * way[..., None, None]).amax(1)).clamp(0, 1) * is_convex(corners)[:, None, None]


def judged(scores: Tensor, maps: Tensor) -> Tensor:
    """Cross entropy of each picture, weighted by how wrong it is: many cold places shall not drown few peaks."""
    plain = nn.functional.binary_cross_entropy_with_logits(scores, maps, reduction="none")
    weight = (torch.sigmoid(scores.detach()) - maps).abs().square()
    peaks = 2 * FINER**2
    points = (plain * weight)[:, :peaks].sum((1, 2, 3))
    board = plain[:, peaks:].mean((1, 2, 3))
    return points / 10 + 3 * board
