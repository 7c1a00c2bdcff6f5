"""What each square holds, judged beside all the others: every square asks the whole board, twice, and then answers.

Light and dark are told by comparison, and so are a large and a small circle. The arithmetic is that of a transformer's
encoder (Vaswani et al. 2017; normalised first, as Xiong et al. 2020), over any number of squares in any order; it is
so small that matrix products do it best.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from companion.errors import VisionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ASKERS: Final = 4
"""Questions that every square asks at once."""
ROUNDS: Final = 2
_TINY: Final = np.float32(1e-5)


class Context:
    """The trained weights, from an `.npz` file whose names are those of `calibration.training.network.Head`."""

    def __init__(self, weights: bytes) -> None:
        try:
            with np.load(io.BytesIO(weights)) as file:
                self._weights: dict[str, Floats] = {name: file[name].astype(np.float32) for name in file.files}
        except (OSError, ValueError) as error:
            raise VisionError("the recogniser's head cannot be read; install the program anew") from error

    def scores(self, embeddings: Floats) -> Floats:
        """The class scores `(n, classes)` of a board's `n` squares, before softmax, from `(n, length)` embeddings."""
        squares = np.asarray(embeddings, np.float32)
        for i in range(ROUNDS):
            squares = squares + self._answers(f"rounds.{i}.", squares)
            wide = self._linear(f"rounds.{i}.wide", self._normal(f"rounds.{i}.between", squares))
            squares = squares + self._linear(f"rounds.{i}.narrow", np.maximum(wide, 0))
        return self._linear("scores", self._normal("last", squares))

    def _answers(self, name: str, squares: Floats) -> Floats:
        asked = self._linear(name + "ask", self._normal(name + "before", squares))
        questions, keys, values = asked.reshape(len(squares), 3, ASKERS, -1).transpose(1, 2, 0, 3)
        likeness = questions @ keys.transpose(0, 2, 1) / np.float32(np.sqrt(keys.shape[-1]))
        answers = softmax(likeness) @ values
        return self._linear(name + "answer", answers.transpose(1, 0, 2).reshape(squares.shape))

    def _linear(self, name: str, values: Floats) -> Floats:
        return np.asarray(values @ self._weights[name + ".weight"].T + self._weights[name + ".bias"], np.float32)

    def _normal(self, name: str, values: Floats) -> Floats:
        centred = values - values.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + _TINY)
        return np.asarray(scaled * self._weights[name + ".weight"] + self._weights[name + ".bias"], np.float32)


def softmax(scores: NDArray[Any]) -> Floats:
    """Probabilities along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float32)
