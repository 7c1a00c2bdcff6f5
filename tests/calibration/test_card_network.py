"""The network that reads cards, as it is trained; only where PyTorch and ONNX are there."""

from __future__ import annotations

import json
from importlib import resources

import numpy as np
import pytest

from companion.vision.cards import CLASSES, KINDS
from companion.vision.sheets import PICTURE

pytest.importorskip("torch")
pytest.importorskip("onnx")

from calibration.training.card_network import CardNetwork, draw
from calibration.training.dataset import Split
from calibration.training.export import chain


def test_the_network_is_written_as_it_was_trained():
    models = resources.files("companion.vision") / "models"
    file = chain("cards", CardNetwork().eval(), ["cards", 3, PICTURE[1], PICTURE[0]], ["cards", CLASSES])
    assert abs(len(file) - len((models / "cards.onnx").read_bytes())) < 100
    assert set(json.loads((models / "cards.json").read_text())["rule"]) == {"least", "card"}
    assert len(KINDS) == CLASSES - 1


def test_pictures_that_could_not_all_be_kept_are_drawn_again(tmp_path, monkeypatch):
    def full_disk(path, **_arrays):
        path.write_bytes(b"PK")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", full_disk)
        with pytest.raises(OSError, match="No space left"):
            draw(tmp_path, Split.TEST, 2, near=True)
    pictures, labels = draw(tmp_path, Split.TEST, 2, near=True)
    assert len(pictures) == len(labels) > 0
