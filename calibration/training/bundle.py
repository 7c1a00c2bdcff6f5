"""The files that go into the program: two networks and their card."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from calibration.training import calibrate
from calibration.training.dataset import Split, read_shards
from calibration.training.export import export
from companion.vision.pieces import Recogniser, SetRule

if TYPE_CHECKING:
    from pathlib import Path

    from calibration.training.network import Reader

_UNDECIDED = SetRule(least=0.0, covered=1.0)


def bundle(reader: Reader, folder: Path, models: Path, trained_on: dict[str, Any]) -> dict[str, Any]:
    """Export `reader` to `models`, with sets calibrated and measured on the shards in `folder`; gives the card."""
    backbone, head = export(reader)
    (models / "backbone.onnx").write_bytes(backbone)
    (models / "head.onnx").write_bytes(head)
    recogniser = Recogniser(backbone, head, _UNDECIDED)
    calibration, test = (read_shards(folder, split) for split in (Split.CALIBRATE, Split.TEST))
    rule = calibrate.rule(calibrate.judge(recogniser, calibration))
    card = {
        "model": "backbone.onnx: a patch of 1.8 squares; head.onnx: with the whole board, to nine contents and covered",
        "parameters": sum(int(np.prod(weights.shape)) for weights in reader.parameters()),
        "trained_on": trained_on | {"pictures": "drawn by calibration.training from fixed seeds; no photograph"},
        "sets": {
            "least": rule.least,
            "covered": rule.covered,
            "promised": calibrate.PROMISED,
            "calibrated_on": f"{len(calibration)} drawn boards of the calibration split",
        },
        "measured_on": {"boards": f"{len(test)} drawn boards of the test split, as hard as the training ones"}
        | calibrate.measure(calibrate.judge(recogniser, test), rule),
    }
    (models / "pieces.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card
