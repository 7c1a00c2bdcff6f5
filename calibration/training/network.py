"""The network: one patch to an embedding, and the embeddings of a board to what each square holds.

Two parts, because colour, and what counts as a large circle, are judged in the context of the whole board: `Backbone`
looks at one patch; in `Head` every square looks at all the others twice before it answers. A square that did not
change keeps its embedding.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from calibration.training.truth import CLASSES
from companion.vision.context import ASKERS, ROUNDS
from companion.vision.pieces import CHANNELS, EMBEDDING

_PAIR = 2


class Convolution(nn.Sequential):
    """A convolution that keeps, or by its stride divides, the side; normalised, and cut off below nothing."""

    def __init__(self, inward: int, outward: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inward, outward, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outward), nn.ReLU()
        )


class Shortcut(nn.Module):
    """A convolution whose outcome is added to what went in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = Convolution(channels, channels)

    def forward(self, seen: Tensor) -> Tensor:
        """The sum."""
        added: Tensor = seen + self.inner(seen)
        return added


class Backbone(nn.Module):
    """Patches `(n, 4, PATCH, PATCH)`, as `with_relief` gives them, to embeddings `(n, EMBEDDING)`."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            Convolution(CHANNELS, 24, 5, 2),
            Convolution(24, 48, stride=2),
            Shortcut(48),
            Convolution(48, 80, stride=2),
            Shortcut(80),
            Shortcut(80),
            Convolution(80, 96, stride=2),
            Shortcut(96),
            Convolution(96, 40, 1),
            nn.Flatten(),
            nn.Linear(40 * 25, EMBEDDING),
        )

    def forward(self, patches: Tensor) -> Tensor:
        """The embeddings."""
        seen: Tensor = self.layers(patches)
        return seen


class Round(nn.Module):
    """Every square asks all squares, and thinks about the answers."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(EMBEDDING), nn.LayerNorm(EMBEDDING)
        self.ask, self.answer = nn.Linear(EMBEDDING, 3 * EMBEDDING), nn.Linear(EMBEDDING, EMBEDDING)
        self.wide, self.narrow = nn.Linear(EMBEDDING, 2 * EMBEDDING), nn.Linear(2 * EMBEDDING, EMBEDDING)

    def forward(self, squares: Tensor) -> Tensor:
        """Squares `(b, n, EMBEDDING)`, wiser by one round."""
        asked = self.ask(self.before(squares)).unflatten(-1, (3, ASKERS, EMBEDDING // ASKERS))
        questions, keys, values = asked.permute(2, 0, 3, 1, 4)
        answers = nn.functional.scaled_dot_product_attention(questions, keys, values)
        squares = squares + self.answer(answers.transpose(1, 2).flatten(2))
        wiser: Tensor = squares + self.narrow(torch.relu(self.wide(self.between(squares))))
        return wiser


class Head(nn.Module):
    """The embeddings of whole boards `(b, n, EMBEDDING)` to class scores `(b, n, CLASSES)`."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = nn.ModuleList(Round() for _ in range(ROUNDS))
        self.last, self.scores = nn.LayerNorm(EMBEDDING), nn.Linear(EMBEDDING, CLASSES)

    def forward(self, squares: Tensor) -> Tensor:
        """The scores, before softmax."""
        for talk in self.rounds:
            squares = talk(squares)
        scores: Tensor = self.scores(self.last(squares))
        return scores


class Reader(nn.Module):
    """Both parts, for whole boards: `(b, squares, 4, PATCH, PATCH)` to scores `(b, squares, CLASSES)`."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.head = Backbone(), Head()

    def forward(self, boards: Tensor) -> Tensor:
        """The scores, before softmax."""
        count, squares = boards.shape[:_PAIR]
        patches = boards.flatten(0, 1).to(memory_format=torch.channels_last)
        scores: Tensor = self.head(self.backbone(patches).unflatten(0, (count, squares)))
        return scores
