"""Training the judge: places on pictures of tables, those that are the board and those that only look like it.

In each picture many places are looked at: the board's corners, a little or rather off; its lower edge; places one
square or half a board beside it, too large or too small by a square; places that the pointer, or lines, suggest;
places anywhere. Some are mended first, by what the judge says so far, as the finder does: where that leads to something
that is no board, it has to be seen through. A place is right if no corner is farther off than a seventh of a square,
wrong from a third on; between, it is neither.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import nn

from calibration.training.pictures import GUESSES, Hands, varied
from calibration.training.scene import SIDE
from calibration.training.tensors import Chance, grid, is_convex, projected, sampled, sides, there, to_quad
from companion.vision.judge import CORNERS, FARTHEST_MEND, FLATTEST, HOME, NAMINGS, PITCH, VIEW
from companion.vision.suggestions import BRIGHT, MOST_GAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from calibration.training.pictures import Pictures

RIGHT, WRONG = 0.14, 0.33
"""Squares by which the worst corner may be off, and from which the place is wrong."""
_TOLD, _MOSTLY = 0.9, 0.5
"""Squares within which the judge shall say how far each corner is off, and what covers it."""
TRUTHS = 1 + 2 * CORNERS + CORNERS + 2
PLACES = 16
"""Places that are looked at in one picture."""
_COVERED = 0.3
"""On so many of the pictures, something is laid over the board, beside what covers it already."""
_MENDED = 0.4
"""So many places are mended first."""
_SMALLEST = 12.0
"""Least side of a place, in pixels of the canvas."""
_MOST_HALVED = 2


class Views(NamedTuple):
    """What one step learns from."""

    seen: Tensor
    """`(n, 3, VIEW, VIEW)`, as the network is shown it."""
    truths: Tensor
    """`(n, TRUTHS)`: as the network's scores, then whether the offsets count and whether the covers do."""
    counts: Tensor
    """Whether a place counts, `(n,)`."""
    chosen: Tensor
    """The numbers of the pictures, each of which has `PLACES` places, one after the other."""


def batches(pictures: Pictures, network: nn.Module, steps: int, size: int, seed: int) -> Iterator[Views]:
    """`steps` batches of `PLACES` places on each of `size` pictures; some of them mended by the network as it is."""
    chance = Chance(seed)
    hands = Hands(chance, seed)
    for some in pictures.chosen(steps, size):
        mender = copy.deepcopy(network).eval()
        for chosen in some:
            yield look(chance, hands, pictures, mender, chosen)


def look(chance: Chance, hands: Hands, pictures: Pictures, mender: nn.Module, chosen: Tensor) -> Views:
    """Many places of these pictures."""
    corners, count = pictures.corners[chosen], len(chosen)
    whole = pictures.seen[chosen].permute(0, 3, 1, 2).float()
    covered, over = hands.lay(whole, corners, _COVERED)
    seen = lab(brightened(varied(chance, covered)))
    places = draw_places(chance, pictures, chosen)
    halved = _halved(seen, places)
    with torch.no_grad(), torch.autocast(seen.device.type, torch.bfloat16):
        said = mender(toned(views(halved, places)).flatten(0, 1)).float()
    mended = mend(places, said[:, 1 : 1 + 2 * CORNERS].view(count, PLACES, CORNERS, 2))
    better = chance.happens(_MENDED, count, PLACES) & _possible(mended)
    places = torch.where(better[..., None, None], mended, places)
    truths = truth(places, corners, torch.maximum(pictures.covered[chosen], over).round())
    tones = toned(views(halved, places)).flatten(0, 1)
    shape = (len(tones), 1, 1, 1)
    grain = chance.uniform(0, 0.15, *shape) * chance.happens(0.3, *shape)
    tones = tones * (1 + 0.08 * chance.normal(*shape)) + grain * chance.normal(*tones.shape)
    return Views(tones, truths.flatten(0, 1), _possible(places).flatten().float(), chosen)


def _possible(places: Tensor) -> Tensor:
    return is_convex(places) & (sides(places).amin(-1) > _SMALLEST)


# ------------------------------------------------------------------------------------------------- places


def draw_places(chance: Chance, pictures: Pictures, chosen: Tensor) -> Tensor:
    """Places of all kinds on each of these pictures, `(b, PLACES, 4, 2)`, named in any way."""
    top, foot = pictures.corners[chosen], pictures.foot[chosen]
    has_board = there(top)
    anywhere = _anywhere(chance, pictures.size[chosen])
    shape = (len(chosen), PLACES)
    safe = torch.where(has_board[:, None, None], top, 100 + 100 * _unit(chance))
    squares = torch.where(chance.happens(0.55, *shape)[..., None, None], _shaken(chance, shape), _moved(chance, shape))
    on_board = projected(to_quad(safe)[:, None], squares / SIDE)
    low = top[:, None] + (foot - top)[:, None] * _lowered(chance, shape)[..., None]
    kind = chance.uniform(0, 1, *shape)[..., None, None]
    places = torch.where(kind < 0.14, low, torch.where(kind < 0.86, on_board, anywhere))
    places = torch.where(has_board[:, None, None, None], places, anywhere)
    suggested = there(pictures.guesses[chosen]).sum(1, keepdim=True).clamp(min=1)
    guessed = pictures.guesses[chosen[:, None], chance.number(GUESSES, *shape) % suggested]
    wanted = chance.uniform(0, 1, *shape) < torch.where(has_board, 0.3, 0.8)[:, None]
    known = (wanted & there(guessed))[..., None, None]
    places = torch.where(known, guessed + _little(chance, guessed), places)
    namings = torch.from_numpy(NAMINGS).to(top.device)[chance.number(len(NAMINGS), *shape)]
    return places.gather(2, namings[..., None].expand(*shape, CORNERS, 2))


def _little(chance: Chance, places: Tensor) -> Tensor:
    """Corners a few hundredths of a square off."""
    square = (sides(places).mean(-1) / SIDE)[..., None, None]
    return 0.03 * chance.normal(*places.shape) * square


def _shaken(chance: Chance, shape: tuple[int, int]) -> Tensor:
    """A board's corners in squares, off by some spread: all together, each alone, the whole stretched."""
    spread = chance.uniform(math.log(0.005), math.log(0.6), *shape).exp()[..., None, None]
    squares = _unit(chance) * SIDE + spread * chance.normal(*shape, 1, 2) + 0.6 * spread * chance.normal(*shape, 4, 2)
    return (squares - SIDE / 2) * (1 + 0.3 * spread * chance.normal(*shape, 1, 2)) + SIDE / 2


def _moved(chance: Chance, shape: tuple[int, int]) -> Tensor:
    """A lattice beside the board's, or with more or fewer squares than it has, in squares."""
    unit = _unit(chance)
    step = torch.where(
        chance.happens(0.8, *shape, 1), chance.one_of((-1.0, -0.5, 0.0, 0.5, 1.0), *shape, 2), chance.normal(*shape, 2)
    )
    step = torch.where((step.abs().amax(-1) > 0)[..., None], step, torch.tensor([1.0, 0.0], device=step.device))
    beside = unit * SIDE + step[..., None, :]
    ends = chance.one_of((-1.0, -0.5, 0.0, 0.0, 0.5, 1.0), *shape, 2, 2)
    ends[..., 1, :] += SIDE
    larger = ends[..., :1, :] + unit * (ends[..., 1:, :] - ends[..., :1, :])
    scaled = (unit - 0.5) * SIDE * chance.one_of((0.5, 0.75, 1.5, 2.0), *shape)[..., None, None] + SIDE / 2
    scaled = scaled + chance.one_of((-1.0, 0.0, 1.0), *shape, 1, 2)
    way = chance.uniform(0, 1, *shape)[..., None, None]
    squares = torch.where(way < 0.45, beside, torch.where(way < 0.85, larger, scaled))
    return squares + 0.03 * chance.normal(*squares.shape)


def _lowered(chance: Chance, shape: tuple[int, int]) -> Tensor:
    """How far each corner is taken for the one below it, `(*shape, 4)`: all, each in part, or those of one side."""
    way = chance.number(3, *shape)[..., None]
    first = chance.number(CORNERS, *shape)[..., None]
    at = torch.arange(CORNERS, device=chance.device)
    side = ((at - first) % CORNERS < CORNERS / 2).float()
    return torch.where(
        way == 0, torch.ones_like(side), torch.where(way == 1, chance.uniform(0, 1, *shape, CORNERS), side)
    )


def _anywhere(chance: Chance, size: Tensor) -> Tensor:
    shape = (len(size), PLACES)
    middle = chance.uniform(0.1, 0.9, *shape, 2) * size[:, None]
    reach = chance.uniform(math.log(0.08), math.log(0.5), *shape).exp() * size.amin(1)[:, None]
    angle = chance.uniform(0, 2 * math.pi, *shape)[..., None] + math.pi / 2 * torch.arange(4, device=size.device)
    flat = torch.stack([angle.cos(), angle.sin() * chance.uniform(0.5, 1, *shape)[..., None]], -1)
    return middle[..., None, :] + flat * reach[..., None, None] * chance.uniform(0.85, 1.15, *shape, 4, 1)


def _unit(chance: Chance) -> Tensor:
    return torch.tensor([[0.0, 0], [1, 0], [1, 1], [0, 1]], device=chance.device)


# ------------------------------------------------------------------------------------------------- views


def to_view(places: Tensor) -> Tensor:
    """Homographies `(..., 3, 3)` from pixels of a place's view to those of its picture."""
    return to_quad(places) @ torch.linalg.inv(to_quad(_home(places.device)))


def _home(where: torch.device) -> Tensor:
    """A place's corners in its view."""
    return torch.from_numpy(HOME).float().to(where)


def views(seen: Tensor, places: Tensor) -> Tensor:
    """The flattened pictures `(b, n, 3, VIEW, VIEW)` of places `(b, n, 4, 2)` in pictures `(b, 3, height, width)`."""
    count, each = places.shape[:2]
    at = projected(to_view(places), grid(VIEW, VIEW, places.device).view(1, 1, -1, 2))
    at = at.nan_to_num(-1e4).clamp(-1e4, 1e4).view(count, each * VIEW, VIEW, 2)
    return sampled(seen, at).view(count, 3, each, VIEW, VIEW).transpose(1, 2)


def _halved(seen: Tensor, places: Tensor) -> Tensor:
    """The pictures as coarse as is fit for their places: halved as often as `lattice.flattened` would."""
    side = sides(places).mean(-1).median(1).values
    times = torch.log2(side.clamp(min=1) / (SIDE * PITCH)).add(0.3).floor().clamp(0, _MOST_HALVED)
    found = seen
    for level in range(1, _MOST_HALVED + 1):
        coarse = nn.functional.avg_pool2d(seen, 2**level)
        coarse = nn.functional.interpolate(coarse, seen.shape[-2:], mode="bilinear")
        found = torch.where((times == level)[:, None, None, None], coarse, found)
    return found


def brightened(bgr: Tensor) -> Tensor:
    """Pictures `(b, 3, h, w)`, dim ones as bright as `companion.vision.suggestions.in_lab` makes them."""
    bright = bgr[..., ::8, ::8].amax(1).flatten(1).quantile(0.98, dim=1)
    return (bgr * (BRIGHT / bright.clamp(min=1)).clamp(1, MOST_GAIN)[:, None, None, None]).clamp(0, 255)


def lab(bgr: Tensor) -> Tensor:
    """Pictures `(b, 3, h, w)`, 0 to 255, in Lab as OpenCV keeps it in eight bits."""
    level = bgr / 255
    linear = torch.where(level > 0.04045, ((level + 0.055) / 1.055) ** 2.4, level / 12.92)
    to_xyz = torch.tensor(_TO_XYZ, device=bgr.device)
    xyz = torch.einsum("oc,bchw->bohw", to_xyz, linear.flip(1))
    cube = torch.where(xyz > 0.008856, xyz.clamp(min=1e-6) ** (1 / 3), 7.787 * xyz + 16 / 116)
    x, y, z = cube.unbind(1)
    return torch.stack([255 / 100 * (116 * y - 16), 500 * (x - y) + 128, 200 * (y - z) + 128], 1)


_TO_XYZ = [
    [0.412453 / 0.950456, 0.357580 / 0.950456, 0.180423 / 0.950456],
    [0.212671, 0.715160, 0.072169],
    [0.019334 / 1.088754, 0.119193 / 1.088754, 0.950227 / 1.088754],
]
"""From linear red, green and blue, each row by its white."""


def toned(seen: Tensor) -> Tensor:
    """What `companion.vision.judge.toned` makes of views `(b, n, 3, VIEW, VIEW)`."""
    spread = seen[:, :, 0].flatten(2).std(2, correction=0).clamp(min=FLATTEST)
    return (seen - seen.mean((3, 4), keepdim=True)) / spread[:, :, None, None, None]


def mend(places: Tensor, off: Tensor) -> Tensor:
    """Places `(b, n, 4, 2)` with their corners moved by so many squares of their own, `(b, n, 4, 2)`."""
    return projected(to_view(places), _home(places.device) + off.clamp(-FARTHEST_MEND, FARTHEST_MEND) * PITCH)


# ------------------------------------------------------------------------------------------------- truth


def truth(places: Tensor, corners: Tensor, hidden: Tensor) -> Tensor:
    """What the judge should say of places `(b, n, 4, 2)`: `(b, n, TRUTHS)`.

    `corners` are the boards' (b, 4, 2), not finite where there is none, and `hidden` which of them cannot be seen.
    """
    home, namings = _home(places.device), torch.from_numpy(NAMINGS).to(places.device)
    has_board = there(corners)
    own = torch.where(has_board[:, None, None], corners, -1e4 + 100 * home / VIEW)
    orders = own[:, namings]
    best = (orders[:, None] - places[:, :, None]).norm(dim=-1).amax(-1).argmin(-1)
    rows = torch.arange(len(places), device=places.device)[:, None]
    off = (projected(torch.linalg.inv(to_view(places)), orders[rows, best]) - home) / PITCH
    off = off.nan_to_num(100.0).clamp(-100, 100)
    worst = torch.where(has_board[:, None], off.norm(dim=-1).amax(-1), 100.0)
    right = ((WRONG - worst) / (WRONG - RIGHT)).clamp(0, 1)
    covers = hidden[:, namings][rows, best]
    counts = torch.stack([worst < _TOLD, worst < _MOSTLY], -1).float()
    return torch.cat([right[..., None], off.flatten(2), covers, counts], -1)


def judged(scores: Tensor, truths: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """How wrong the judge is about right and wrong, offsets and covers; and, of each place, about the first alone."""
    whether = counts * nn.functional.binary_cross_entropy_with_logits(scores[:, 0], truths[:, 0], reduction="none")
    offsets = slice(1, 1 + 2 * CORNERS)
    off = nn.functional.smooth_l1_loss(scores[:, offsets], truths[:, offsets], reduction="none", beta=0.1)
    covers = slice(1 + 2 * CORNERS, 1 + 3 * CORNERS)
    over = nn.functional.binary_cross_entropy_with_logits(scores[:, covers], truths[:, covers], reduction="none")
    told, seen = truths[:, -2] * counts, truths[:, -1] * counts
    return (
        whether.sum() / counts.sum().clamp(min=1)
        + 2 * (off.mean(1) * told).sum() / told.sum().clamp(min=1)
        + 0.3 * (over.mean(1) * seen).sum() / seen.sum().clamp(min=1)
    ), whether
