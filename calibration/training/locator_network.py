"""The locator's two networks: one that points at the board's corners, one that judges and mends a place for it.

Both are chains of convolutions, so that they export as the recogniser's do. The *pointer* looks at a whole picture
and gives a map, at an eighth of its size, of three things: corners of the board (which is which cannot be told), the
other crossings of its lines, and what the board covers. The *judge* looks at the flattened picture of one place and
says whether that is the board, how far each corner is off, and which corners are covered.
"""

from __future__ import annotations

from torch import Tensor, nn

from companion.vision.judge import CORNERS, VIEW
from companion.vision.pointer import CHANNELS, FINER


def _conv(inward: int, outward: int, kernel: int = 3, stride: int = 1, reach: int = 1) -> nn.Sequential:
    pad = reach * (kernel // 2)
    return nn.Sequential(
        nn.Conv2d(inward, outward, kernel, stride, pad, dilation=reach, bias=False), nn.BatchNorm2d(outward), nn.ReLU()
    )


class Pointer(nn.Module):
    """Pictures `(n, 3, h, w)` to scores `(n, CHANNELS * FINER ** 2, h / 8, w / 8)`, before the sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _conv(3, 16, 5, 2),
            _conv(16, 32, stride=2),
            _conv(32, 40),
            _conv(40, 64, stride=2),
            _conv(64, 64),
            *(_conv(64, 64, reach=reach) for reach in (2, 4, 8, 4, 2)),
            _conv(64, 64),
            nn.Conv2d(64, CHANNELS * FINER**2, 1),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        """The scores."""
        scores: Tensor = self.layers(pictures)
        return scores


class Judge(nn.Module):
    """Views `(n, 3, VIEW, VIEW)` to scores `(n, 1 + 2 * CORNERS + CORNERS)`.

    The first says whether it is the board, then come x and y by which each corner is off, in squares, then whether each
    corner is covered.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _conv(3, 16, stride=2),
            _conv(16, 24, stride=2),
            _conv(24, 32),
            _conv(32, 48, stride=2),
            _conv(48, 48),
            _conv(48, 64, stride=2),
            _conv(64, 32, 1),
            nn.Flatten(),
            nn.Linear(32 * (VIEW // 16) ** 2, 48),
            nn.ReLU(),
            nn.Linear(48, 1 + 3 * CORNERS),
        )

    def forward(self, views: Tensor) -> Tensor:
        """The scores."""
        scores: Tensor = self.layers(views)
        return scores
