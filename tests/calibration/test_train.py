"""What a step of training is given; only where PyTorch is installed."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest

from calibration.training.dataset import Boards, Split, Studio
from calibration.training.truth import CLASSES
from companion.vision.pieces import Looked
from companion.vision.rectify import MARGIN, PATCH, SQUARE

torch = pytest.importorskip("torch")


def boards(answer, count=4):
    """So many blank boards, all of whose squares hold the content number `answer`."""
    side = 4 * SQUARE + 2 * MARGIN
    targets = np.zeros((count, 16, CLASSES), np.float32)
    targets[..., answer] = 1
    views = np.full((count, side, side, 3), 128, np.uint8)
    return Boards(views, targets, np.ones((count, 16), np.float32), *(np.zeros(count, np.uint8) for _ in range(4)))


@pytest.mark.parametrize(("lit", "share"), [(None, 0.0), (boards(1), 0.25)])
def test_so_many_boards_as_was_said_are_lit(lit, share):
    from calibration.training.train import Course, batches  # noqa: PLC0415 - needs what may be missing

    steps = list(batches(boards(0), lit, Course(steps=40, boards=4, lit=0.25)))
    assert all(seen.shape[:2] == (4, 16) for seen, _, _ in steps)
    traced = np.mean([targets[:, 0, 1].numpy() for _, targets, _ in steps])
    assert traced == pytest.approx(share, abs=0.1)


def test_a_mixture_is_one_or_the_other_or_between():
    from calibration.training.network import Reader  # noqa: PLC0415
    from calibration.training.train import mixed  # noqa: PLC0415

    torch.manual_seed(0)
    first, second = Reader(), Reader()
    seen = torch.randn(2, 16, 4, PATCH, PATCH)
    with torch.no_grad():
        said = [mixed(first, second, share, [seen])(seen) for share in (0.0, 0.5, 1.0)]
        alone = [mixed(reader, reader, 0.5, [seen])(seen) for reader in (first, second)]
    torch.testing.assert_close(said[0], alone[0])
    torch.testing.assert_close(said[2], alone[1])
    assert (said[1] - said[0]).abs().max() > 0.01
    assert first.training


def test_a_card_that_is_made_anew_keeps_what_it_says_of_the_training(tmp_path):
    from calibration.training.bundle import calibrate_anew  # noqa: PLC0415

    shipped = resources.files("companion.vision") / "models"
    for name in ("backbone.onnx", "head.npz", "pieces.json"):
        (tmp_path / name).write_bytes((shipped / name).read_bytes())
    for split in (Split.CALIBRATE, Split.TEST):
        some = Studio(split).boards(range(2))
        np.savez(
            tmp_path / f"{split.name.lower()}-000000.npz", **{name: getattr(some, name) for name in Boards.__slots__}
        )
    before = json.loads((tmp_path / "pieces.json").read_text(encoding="utf-8"))
    card = calibrate_anew(tmp_path, tmp_path)
    assert card == json.loads((tmp_path / "pieces.json").read_text(encoding="utf-8"))
    assert card["trained_on"] == before["trained_on"]
    assert card["sets"]["calibrated_on"] == "2 drawn boards of the calibration split"
    assert {look.value for look in Looked} <= card["sets"].keys() & card["measured_on"].keys()
