"""What a step of training is given; only where PyTorch is installed."""

from __future__ import annotations

import json
from importlib import resources

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.training.dataset import BOARD, Boards, Split, Studio
from calibration.training.truth import CLASSES
from companion.vision.pieces import Looked, Tone, with_relief
from companion.vision.rectify import MARGIN, PATCH, SQUARE, patches

torch = pytest.importorskip("torch")


def boards(answer, count=4):
    """So many blank boards, all of whose squares hold the content number `answer`."""
    side = 4 * SQUARE + 2 * MARGIN
    targets = np.zeros((count, 16, CLASSES), np.float32)
    targets[..., answer] = 1
    views = np.full((count, side, side, 3), 128, np.uint8)
    return Boards(views, targets, np.ones((count, 16), np.float32), *(np.zeros(count, np.uint8) for _ in range(4)))


def write(folder, split, first, some):
    np.savez(folder / f"{split}-{first:06d}.npz", **{name: getattr(some, name) for name in Boards.__slots__})


def pile(folder, **course):
    from calibration.training.train import Course, Pile  # noqa: PLC0415 - needs what may be missing

    course = Course(**{"steps": 40, "boards": 4} | course)
    return Pile(folder, course), course


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_so_many_boards_as_was_said_are_lit(tmp_path, share):
    from calibration.training.train import batches  # noqa: PLC0415

    write(tmp_path, "train", 0, boards(0))
    if share:
        write(tmp_path, "lit", 0, boards(1))
    steps = list(batches(*pile(tmp_path, lit=0.25)))
    assert all(seen.shape[:2] == (4, 16) for _, seen, _, _ in steps)
    traced = np.mean([targets[:, 0, 1].cpu().numpy() for _, _, targets, _ in steps])
    assert traced == pytest.approx(share, abs=0.1)


def test_where_all_boards_are_lit_it_is_learnt_from_these(tmp_path):
    write(tmp_path, "lit", 0, boards(1))
    some, _ = pile(tmp_path)
    assert set(some.choose(50, torch.Generator().manual_seed(1)).tolist()) <= {0, 1, 2, 3}


def test_boards_that_are_drawn_while_others_are_learnt_from_are_learnt_from_too(tmp_path):
    write(tmp_path, "train", 0, boards(0))
    growing, _ = pile(tmp_path)
    write(tmp_path, "train", 250, boards(1, 2))
    write(tmp_path, "train", 500, boards(2, 3))
    assert len(growing) == 4
    growing.look_for_more()
    growing.look_for_more()
    assert growing.known.targets[:, 0].argmax(1).tolist() == [0] * 4 + [1] * 2 + [2] * 3


def test_the_worse_the_reader_was_at_a_board_the_more_often_it_is_chosen(tmp_path):
    write(tmp_path, "train", 0, boards(0))
    some, _ = pile(tmp_path, hard=0.5)
    for _ in range(50):
        some.remember(torch.arange(4), torch.tensor([0.0, 0.0, 0.0, 9.0]))
    chosen = some.choose(4000, torch.Generator().manual_seed(1))
    assert np.bincount(chosen.numpy(), minlength=4) / 4000 == pytest.approx([0.125, 0.125, 0.125, 0.625], abs=0.05)


def test_a_look_without_any_variation_is_what_the_program_sees():
    from calibration.training import looks  # noqa: PLC0415

    some = Studio(Split.TRAIN).boards(range(6))
    seen = looks.cut(torch.from_numpy(some.views).permute(0, 3, 1, 2).float())
    mine = looks.with_relief(looks.toned(looks.turned(seen, torch.from_numpy(some.aways).long())))
    for view, away, look in zip(some.views, some.aways.tolist(), mine.numpy(), strict=True):
        cut = patches(view, BOARD, away)
        assert np.abs(with_relief(Tone.of(cut).apply(cut)) - look).max() < 0.01


def test_a_picture_is_blurred_as_opencv_blurs_it():
    from calibration.training.looks import blurred  # noqa: PLC0415

    noise = np.random.default_rng(1).uniform(0, 255, (2, 60, 60)).astype(np.float32)
    mine = blurred(torch.from_numpy(noise)[:, None], torch.tensor([0.7, 5.0]))[:, 0].numpy()
    theirs = np.stack([cv2.GaussianBlur(noise[0], (0, 0), 0.7), cv2.GaussianBlur(noise[1], (0, 0), 5.0)])
    inner = (slice(None), slice(20, -20), slice(20, -20))
    assert np.abs(mine - theirs)[inner].max() < 1


def test_nothing_is_learnt_of_squares_that_a_spot_of_light_has_made_white(monkeypatch):
    from calibration.training import looks  # noqa: PLC0415

    monkeypatch.setattr(looks, "_VEILED", 1.0)
    some, ones = boards(0, 64), torch.ones(64, 16)
    bright = torch.from_numpy(some.views) + 90
    _, weights = looks.Looks(torch.device("cpu"), 3)(bright, torch.from_numpy(some.aways), ones)
    assert 0.05 < float((weights == 0).float().mean()) < 0.95
    assert set(weights.unique().tolist()) == {0.0, 1.0}


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
        write(tmp_path, split.name.lower(), 0, some)
    before = json.loads((tmp_path / "pieces.json").read_text(encoding="utf-8"))
    card = calibrate_anew(tmp_path, tmp_path)
    assert card == json.loads((tmp_path / "pieces.json").read_text(encoding="utf-8"))
    assert card["trained_on"] == before["trained_on"]
    assert card["sets"]["calibrated_on"] == "2 drawn boards of the calibration split"
    assert {look.value for look in Looked} <= card["sets"].keys() & card["measured_on"].keys()


def test_networks_stay_what_they_were_where_no_thresholds_can_be_found_for_new_ones(tmp_path):
    pytest.importorskip("onnx")
    from calibration.training.bundle import bundle  # noqa: PLC0415
    from calibration.training.network import Reader  # noqa: PLC0415

    models = tmp_path / "models"
    models.mkdir()
    (models / "backbone.onnx").write_bytes(b"of before")
    with pytest.raises(FileNotFoundError, match="no shard of the calibrate split"):
        bundle(Reader().eval(), tmp_path, models, {})
    assert [path.read_bytes() for path in models.iterdir()] == [b"of before"]


@pytest.mark.parametrize(("there", "says"), [(False, "make it with `learn"), (True, "no shard of the calibrate split")])
def test_what_a_bundle_is_made_of_is_named_in_one_line_where_it_is_missing(tmp_path, there, says):
    pytest.importorskip("onnx")
    from calibration.training.__main__ import main  # noqa: PLC0415
    from calibration.training.network import Reader  # noqa: PLC0415

    if there:
        torch.save({"weights": Reader().state_dict()}, tmp_path / "reader.pt")
    result = CliRunner().invoke(main, ["bundle", str(tmp_path), "--models", str(tmp_path)])
    assert result.exit_code == 1
    assert says in result.stderr
