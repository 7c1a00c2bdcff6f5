"""The files that go into the program: two networks and their card."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from calibration.training import calibrate
from calibration.training.dataset import Split, count_boards, shards_of
from calibration.training.export import export

if TYPE_CHECKING:
    from pathlib import Path

    from calibration.training.network import Reader

_CARD = "pieces.json"


def bundle(reader: Reader, folder: Path, models: Path, trained_on: dict[str, Any], jobs: int = 1) -> dict[str, Any]:
    """Export `reader` to `models`, with sets calibrated and measured on the shards in `folder`; gives the card.

    So many shards are judged at a time, as there are `jobs`. Nothing is written before all is known: thresholds
    belong to their networks.
    """
    backbone, head = export(reader)
    about = {
        "model": "backbone.onnx: a patch of 1.8 squares; head.npz: with the whole board, to nine contents and covered",
        "parameters": sum(int(np.prod(weights.shape)) for weights in reader.parameters()),
        "trained_on": trained_on
        | {"pictures": "drawn or traced by calibration.training from fixed seeds; no photograph"},
    }
    card = _card(about, (backbone, head), folder, jobs)
    (models / "backbone.onnx").write_bytes(backbone)
    (models / "head.npz").write_bytes(head)
    _write(card, models)
    return card


def write_head(reader: Reader, models: Path, trained_on: dict[str, Any]) -> None:
    """Put the head of `reader` beside the backbone in `models`; their card keeps what it and those before learnt.

    Sets have to be calibrated anew after that.
    """
    card = json.loads((models / _CARD).read_text(encoding="utf-8"))
    (models / "head.npz").write_bytes(export(reader)[1])
    before = card["trained_on"].get("head")
    head = trained_on | ({"after": before} if before else {})
    _write(card | {"trained_on": card["trained_on"] | {"head": head}}, models)


def calibrate_anew(folder: Path, models: Path, jobs: int = 1) -> dict[str, Any]:
    """Calibrate and measure the sets of the networks in `models` on the shards in `folder`; gives the new card."""
    card = json.loads((models / _CARD).read_text(encoding="utf-8"))
    networks = (models / "backbone.onnx").read_bytes(), (models / "head.npz").read_bytes()
    card = _card({name: card[name] for name in ("model", "parameters", "trained_on")}, networks, folder, jobs)
    _write(card, models)
    return card


def _write(card: dict[str, Any], models: Path) -> None:
    (models / _CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def _card(about: dict[str, Any], networks: tuple[bytes, bytes], folder: Path, jobs: int) -> dict[str, Any]:
    """The card of a backbone and a head: what is known `about` them, their sets, and how good these are."""
    calibration, test = (shards_of(folder, split) for split in (Split.CALIBRATE, Split.TEST))
    fitted, unseen = (calibrate.judge_shards(networks, shards, jobs) for shards in (calibration, test))
    rules, measured = {}, {}
    for look, (known, most_covered) in calibrate.LOOKS.items():
        rule = calibrate.rule(fitted[look], known, most_covered)
        rules[look.value] = asdict(rule)
        measured[look.value] = calibrate.measure(unseen[look], rule)
        measured[look.value]["promised to rule out, and did"] = calibrate.reliability(fitted[look], unseen[look], rule)
    return about | {
        "sets": {
            **rules,
            "promised": {
                "plain": calibrate.PROMISED,
                "hard": calibrate.PROMISED_WHEN_HARD,
                "other sets": calibrate.PROMISED_ELSEWHERE,
            },
            "calibrated_on": f"{count_boards(calibration)} drawn boards of the calibration split",
        },
        "measured_on": {"boards": f"{count_boards(test)} drawn boards of the test split, half of them plain"}
        | measured,
    }
