"""The files that go into the program: two networks and their card."""

from __future__ import annotations

import json
from dataclasses import asdict
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
    (models / "head.npz").write_bytes(head)
    recogniser = Recogniser(backbone, head, _UNDECIDED)
    calibration, test = (read_shards(folder, split) for split in (Split.CALIBRATE, Split.TEST))
    rules, measured = {}, {}
    for look in (calibrate.once, calibrate.twice):
        fitted, unseen = (calibrate.judge(recogniser, boards, look) for boards in (calibration, test))
        rules[look.__name__] = calibrate.rule(fitted)
        measured[look.__name__] = calibrate.measure(unseen, rules[look.__name__])
        measured[look.__name__]["promised to rule out, and did"] = calibrate.reliability(fitted, unseen)
    photographs = calibrate.judge(recogniser, test, calibrate.photograph)
    measured["photograph"] = calibrate.measure(photographs, rules["twice"])
    card = {
        "model": "backbone.onnx: a patch of 1.8 squares; head.npz: with the whole board, to nine contents and covered",
        "parameters": sum(int(np.prod(weights.shape)) for weights in reader.parameters()),
        "trained_on": trained_on
        | {"pictures": "drawn or traced by calibration.training from fixed seeds; no photograph"},
        "sets": {
            **{name: asdict(rule) for name, rule in rules.items()},
            "promised": {"plain": calibrate.PROMISED, "hard": calibrate.PROMISED_WHEN_HARD},
            "calibrated_on": f"{len(calibration)} drawn boards of the calibration split",
        },
        "measured_on": {"boards": f"{len(test)} drawn boards of the test split, half of them plain"} | measured,
    }
    (models / "pieces.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card
