"""The network that reads cards, as it is trained; only where PyTorch and ONNX are there."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from companion.vision.cards import CLASSES, KINDS
from companion.vision.sheets import PICTURE

pytest.importorskip("torch")
pytest.importorskip("onnx")

from calibration.training.card_network import CardNetwork
from calibration.training.export import chain


def test_the_network_is_written_as_it_was_trained():
    models = resources.files("companion.vision") / "models"
    file = chain("cards", CardNetwork().eval(), ["cards", 3, PICTURE[1], PICTURE[0]], ["cards", CLASSES])
    assert abs(len(file) - len((models / "cards.onnx").read_bytes())) < 100
    assert set(json.loads((models / "cards.json").read_text())["rule"]) == {"least", "card"}
    assert len(KINDS) == CLASSES - 1
