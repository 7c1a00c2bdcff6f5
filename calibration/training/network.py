"""The network: one patch to an embedding, and the embeddings of a board to what each square holds.

Two parts, because colour is judged in the context of the whole board: `Backbone` looks at one patch; `Head` compares
its embedding with the mean and the maximum over all squares. A square that did not change keeps its embedding.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from calibration.training.truth import CLASSES
from companion.vision.pieces import EMBEDDING

_PAIR = 2


def _conv(inward: int, outward: int, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inward, outward, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outward), nn.ReLU()
    )


class Backbone(nn.Module):
    """Patches `(n, 3, PATCH, PATCH)`, toned by `Tone`, to embeddings `(n, EMBEDDING)`."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _conv(3, 16, 5, 2),
            _conv(16, 24),
            _conv(24, 48, stride=2),
            _conv(48, 48),
            _conv(48, 80, stride=2),
            _conv(80, 80),
            _conv(80, 48, stride=2),
            nn.Flatten(),
            nn.Linear(48 * 25, EMBEDDING),
        )

    def forward(self, patches: Tensor) -> Tensor:
        """The embeddings."""
        seen: Tensor = self.layers(patches)
        return seen


class Head(nn.Module):
    """An embedding beside its board's mean and maximum, `(n, 3 * EMBEDDING)`, to class scores `(n, CLASSES)`."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.ReLU(), nn.Linear(3 * EMBEDDING, 64), nn.ReLU(), nn.Linear(64, CLASSES))

    def forward(self, in_context: Tensor) -> Tensor:
        """The scores, before softmax."""
        scores: Tensor = self.layers(in_context)
        return scores


class Reader(nn.Module):
    """Both parts, for whole boards: `(b, squares, 3, PATCH, PATCH)` to scores `(b, squares, CLASSES)`."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.head = Backbone(), Head()

    def forward(self, boards: Tensor) -> Tensor:
        """The scores, before softmax."""
        count, squares = boards.shape[:_PAIR]
        seen = self.backbone(boards.flatten(0, 1)).unflatten(0, (count, squares))
        mean = seen.mean(1, keepdim=True).expand_as(seen)
        most = seen.max(1, keepdim=True).values.expand_as(seen)
        scores: Tensor = self.head(torch.cat([seen, mean, most], 2))
        return scores


def in_context(seen: Tensor) -> Tensor:
    """Embeddings `(n, EMBEDDING)` of one board beside their mean and maximum."""
    return torch.cat([seen, seen.mean(0, keepdim=True).expand_as(seen), seen.amax(0, keepdim=True).expand_as(seen)], 1)
