"""What a step of training is given; only where PyTorch is installed."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.training.dataset import Boards
from calibration.training.truth import CLASSES
from companion.vision.rectify import MARGIN, SQUARE

torch = pytest.importorskip("torch")


def boards(answer, count=4):
    """So many blank boards, all of whose squares hold the content number `answer`."""
    side = 4 * SQUARE + 2 * MARGIN
    targets = np.zeros((count, 16, CLASSES), np.float32)
    targets[..., answer] = 1
    views = np.full((count, side, side, 3), 128, np.uint8)
    return Boards(views, targets, np.ones((count, 16), np.float32), *(np.zeros(count, np.uint8) for _ in range(4)))


@pytest.mark.parametrize(("data", "lit"), [([boards(0)], 0.0), ([boards(0), boards(1)], 0.25)])
def test_so_many_boards_as_was_said_are_lit(data, lit):
    from calibration.training.train import Course, batches  # noqa: PLC0415 - needs what may be missing

    steps = list(batches(data, Course(steps=40, boards=4, lit=0.25)))
    assert all(seen.shape[:2] == (4, 16) for seen, _, _ in steps)
    share = np.mean([targets[:, 0, 1].numpy() for _, targets, _ in steps])
    assert share == pytest.approx(lit, abs=0.1)
