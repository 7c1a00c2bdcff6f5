"""What the locator's networks are taught and how its thresholds are chosen; only where PyTorch and ONNX are there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.training.tables import Table, corner_error
from companion.vision.judge import CORNERS, HOME, PITCH, VIEW, Judge
from companion.vision.lattice import Weight, homography
from companion.vision.plane import project
from companion.vision.pointer import Pointer
from companion.vision.pose import BoardNotFound, BoardPose

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from calibration.hands import cover_board  # noqa: E402
from calibration.training import judging  # noqa: E402 - needs what may be missing
from calibration.training.export import between, chain, take_back  # noqa: E402
from calibration.training.locator import LOCATED, Find, choose_rule, measure  # noqa: E402
from calibration.training.locator_network import Judge as JudgeNetwork  # noqa: E402
from calibration.training.locator_network import Pointer as PointerNetwork  # noqa: E402
from calibration.training.pointing import heat_maps  # noqa: E402

CORNERS_SEEN = np.array([[100.0, 300.0], [310.0, 290.0], [280.0, 110.0], [120.0, 120.0]])
SQUARE = 50.0


def table() -> Table:
    return Table(Path("0.jpg"), CORNERS_SEEN, CORNERS_SEEN + np.array([0, 12]), {"covered": [], "plain": True})


def shaken(network):
    torch.manual_seed(0)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return network.eval()


def test_the_boards_own_corners_are_right_however_they_are_named():
    for corners in (CORNERS_SEEN, np.roll(CORNERS_SEEN, 1, axis=0), CORNERS_SEEN[::-1]):
        said = judging.truth(corners, table(), 1.0, set())
        assert said[0] == 1
        assert np.abs(said[1 : 1 + 2 * CORNERS]).max() < 1e-4


def test_what_is_told_of_a_corner_leads_back_to_the_truth():
    off = CORNERS_SEEN + np.array([[6, -4], [-5, 3], [2, 7], [-3, -6]])
    told = judging.truth(off, table(), 1.0, set())[1 : 1 + 2 * CORNERS].reshape(CORNERS, 2)
    assert np.abs(project(homography(HOME, off), HOME + told * PITCH) - CORNERS_SEEN).max() < 1e-3


@pytest.mark.parametrize("shift", [(SQUARE, 0), (0, -SQUARE), (SQUARE / 2, 0)])
def test_a_lattice_beside_the_board_is_wrong(shift):
    assert judging.truth(CORNERS_SEEN + shift, table(), 1.0, set())[0] == 0


def test_a_covered_corner_is_told_at_its_place():
    said = judging.truth(np.roll(CORNERS_SEEN, -1, axis=0), table(), 1.0, {"d1"})
    assert said[1 + 2 * CORNERS : 1 + 3 * CORNERS].tolist() == [1, 0, 0, 0]


def test_what_is_laid_over_a_board_hides_the_corners_under_it():
    hidden = set()
    for seed in range(12):
        image = np.full((400, 400, 3), 90, np.uint8)
        mask = cover_board(np.random.default_rng(seed), image, CORNERS_SEEN)
        assert (image[mask == 255] != 90).any(axis=1).mean() > 0.9
        hidden.update(i for i, (x, y) in enumerate(CORNERS_SEEN.astype(int)) if mask[y, x])
    assert hidden == {0, 1, 2, 3}


def test_heat_is_where_the_corners_are():
    folded = heat_maps(CORNERS_SEEN * 0.8, (320, 240))
    assert folded.shape == (12, 30, 40)
    assert folded[:4].sum() > 4
    assert heat_maps(None, (320, 240)).max() == 0


def test_opencv_and_pytorch_agree_on_the_judge_but_for_half_precision():
    network = shaken(JudgeNetwork())
    levels = [np.random.default_rng(0).integers(0, 255, (400, 400, 3)).astype(np.uint8)]
    file = chain("judge", network.layers, ["n", 3, VIEW, VIEW], ["n", 13])
    (verdict,) = Judge(file).judge(levels, [CORNERS_SEEN])
    from companion.vision.judge import toned, view  # noqa: PLC0415

    with torch.no_grad():
        scores = network(torch.from_numpy(toned(view(levels, CORNERS_SEEN)))[None])[0].numpy()
    assert verdict.score == pytest.approx(1 / (1 + np.exp(-scores[0])), abs=5e-3)


def test_the_pointer_takes_pictures_of_any_size():
    pointer = Pointer(chain("pointer", shaken(PointerNetwork()).layers, ["n", 3, "h", "w"], ["n", 12, "h8", "w8"]))
    for size in ((480, 640), (1280, 720), (130, 200)):
        heat, scale = pointer.heat(np.zeros((*size, 3), np.uint8))
        assert heat.shape[0] == 3
        assert abs(heat.shape[1] * 4 - size[0] * scale) < 8.5


@pytest.mark.parametrize(("network", "shape"), [(PointerNetwork, (2, 3, 64, 96)), (JudgeNetwork, (8, 3, VIEW, VIEW))])
def test_network_that_is_taken_back_says_what_was_exported(network, shape):
    told, again = shaken(network()), network().eval()
    seen = torch.from_numpy(np.random.default_rng(1).normal(0, 1, shape).astype(np.float32))
    take_back(again.layers, chain("network", told.layers, ["n", 3, "h", "w"], ["n", "m"]), seen)
    with torch.no_grad():
        said = told(seen)
        spread = float(said.std())
        np.testing.assert_allclose(again(seen).numpy(), said.numpy(), atol=0.02 * spread)
        np.testing.assert_allclose(again.train()(seen).numpy(), said.numpy(), atol=0.1 * spread)


def test_network_between_two_is_as_near_to_either_as_it_should_be():
    first, second = (PointerNetwork().eval() for _ in range(2))
    names = (["n", 3, "h", "w"], ["n", "m", "a", "b"])
    files = [chain("network", network.layers, *names) for network in (first, second)]
    between_them = PointerNetwork().eval()
    seen = torch.zeros(2, 3, 64, 96).normal_(generator=torch.Generator().manual_seed(0))
    take_back(between_them.layers, between(*files, 0.25), seen)
    weights = [network.layers[-1].weight.detach().numpy() for network in (first, second, between_them)]
    np.testing.assert_allclose(weights[2], 0.75 * weights[0] + 0.25 * weights[1], atol=1e-3)


def weight(lines: float) -> Weight:
    return Weight(lines, lines - 0.1, lines, 0.5 - lines / 2, 0.2, 10 + 20 * lines)


def test_a_rule_is_chosen_that_no_wrong_place_meets():
    rng = np.random.default_rng(1)
    found = []
    for i in range(60):
        wrong = [Find(3.0, float(rng.uniform(0, 0.9)), 0.3, weight(float(rng.uniform(0.1, 0.4)))) for _ in range(4)]
        right = Find(0.05, float(rng.uniform(0.7, 1)), 0.7, weight(float(rng.uniform(0.5, 0.8))))
        found.append([right, *wrong] if i % 6 else wrong)
    rule = choose_rule(found)
    told = [(rule.score(place.likely, place.support, place.weight), place.error) for seen in found for place in seen]
    assert {error for score, error in told if score >= rule.accept} == {0.05}
    assert sum(score >= rule.accept for score, _ in told) == 50
    assert 0 < rule.perhaps < rule.accept <= rule.sure <= 1


def test_what_a_finder_answers_is_counted(tmp_path):
    cv2.imwrite(str(tmp_path / "0.png"), np.zeros((400, 400, 3), np.uint8))
    plain, hard = table(), replace(table(), truth={"covered": [], "plain": False})
    bare = Table(Path("0.png"), None, None, {})
    tables = [plain, plain, hard, hard, hard, bare, bare]
    there, elsewhere = (BoardPose(tuple(map(tuple, corners)), 0.9) for corners in (CORNERS_SEEN, CORNERS_SEEN + SQUARE))
    nothing = BoardNotFound("no board here")
    answers = iter([there, there, there, elsewhere, nothing, nothing, there])
    told = measure(lambda image, layout: next(answers), [replace(each, path=tmp_path / "0.png") for each in tables])
    assert told == {"located in plain conditions": "2 of 2", "located in hard conditions": "1 of 3",
                    "falsely located": 2, "without a board": 2}  # fmt: skip


def test_errors_are_counted_in_squares_in_the_naming_that_fits_best():
    assert corner_error(np.roll(CORNERS_SEEN, 3, axis=0)[::-1], CORNERS_SEEN) == 0
    assert corner_error(CORNERS_SEEN + np.array([SQUARE, 0]), CORNERS_SEEN) > LOCATED
