"""What the locator's networks are taught and how its thresholds are chosen; only where PyTorch and ONNX are there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from calibration.training.tables import Table, corner_error
from companion.vision.judge import CORNERS, HOME, PITCH, VIEW, Judge, toned, view
from companion.vision.lattice import Weight, homography, pyramid
from companion.vision.plane import project
from companion.vision.pointer import Pointer
from companion.vision.pose import BoardNotFound, BoardPose

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from calibration.training import judging  # noqa: E402 - needs what may be missing
from calibration.training.export import between, chain, take_back  # noqa: E402
from calibration.training.locator import LOCATED, Find, choose_rule, errors, told_of  # noqa: E402
from calibration.training.locator_network import Judge as JudgeNetwork  # noqa: E402
from calibration.training.locator_network import Pointer as PointerNetwork  # noqa: E402
from calibration.training.pictures import GUESSES, HEIGHT, WIDTH, Hands, Pictures, on_canvas  # noqa: E402
from calibration.training.pointing import heat_maps  # noqa: E402
from calibration.training.tensors import Chance  # noqa: E402

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


def truth(places, hidden=(0, 0, 0, 0)):
    """What the judge should say of places on one picture, `(n, TRUTHS)`."""
    corners, told = (torch.tensor(np.array(some)[None], dtype=torch.float32) for some in (CORNERS_SEEN, places))
    return judging.truth(told, corners, torch.tensor([hidden], dtype=torch.float32))[0].numpy()


def test_the_boards_own_corners_are_right_however_they_are_named():
    said = truth([CORNERS_SEEN, np.roll(CORNERS_SEEN, 1, axis=0), CORNERS_SEEN[::-1]])
    assert said[:, 0].tolist() == [1, 1, 1]
    assert np.abs(said[:, 1 : 1 + 2 * CORNERS]).max() < 1e-3


def test_what_is_told_of_a_corner_leads_back_to_the_truth():
    off = CORNERS_SEEN + np.array([[6, -4], [-5, 3], [2, 7], [-3, -6]])
    told = truth([off])[0, 1 : 1 + 2 * CORNERS].reshape(CORNERS, 2)
    assert np.abs(project(homography(HOME, off), HOME + told * PITCH) - CORNERS_SEEN).max() < 0.02
    places, offsets = (torch.tensor(some[None, None], dtype=torch.float32) for some in (off, told))
    assert np.abs(judging.mend(places, offsets)[0, 0].numpy() - CORNERS_SEEN).max() < 0.02


def test_a_lattice_beside_the_board_is_wrong():
    beside = [CORNERS_SEEN + shift for shift in ((SQUARE, 0), (0, -SQUARE), (SQUARE / 2, 0))]
    assert truth(beside)[:, 0].tolist() == [0, 0, 0]


def test_no_place_is_right_without_a_board():
    places = torch.tensor(CORNERS_SEEN[None, None], dtype=torch.float32)
    said = judging.truth(places, torch.full((1, 4, 2), torch.nan), torch.zeros(1, 4))
    assert said[0, 0, 0] == 0
    assert said[0, 0, -2:].tolist() == [0, 0]


def test_a_covered_corner_is_told_at_its_place():
    said = truth([np.roll(CORNERS_SEEN, -1, axis=0)], hidden=(0, 1, 0, 0))[0]
    assert said[1 + 2 * CORNERS : 1 + 3 * CORNERS].tolist() == [1, 0, 0, 0]


def test_place_is_flattened_and_toned_as_the_program_does():
    levels = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 255, (400, 400, 3)).astype(np.uint8), (0, 0), 4)
    told = toned(view(pyramid(cv2.cvtColor(levels, cv2.COLOR_BGR2LAB))[:1], CORNERS_SEEN))
    seen = judging.lab(torch.from_numpy(levels).permute(2, 0, 1)[None].float())
    places = torch.tensor(CORNERS_SEEN[None, None], dtype=torch.float32)
    here = judging.toned(judging.views(seen, places))[0, 0].numpy()
    assert np.abs(here - told).mean() < 0.03


def test_what_is_laid_over_a_board_hides_the_corners_under_it():
    hands = Hands(Chance(0), 0)
    seen, corners = torch.full((24, 3, HEIGHT, WIDTH), 90.0), torch.tensor(CORNERS_SEEN).float().repeat(24, 1, 1)
    corners[12:] = torch.nan
    laid, over = hands.lay(seen, corners, 1.0)
    assert ((laid[:12] - 90).abs().amax((1, 2, 3)) > 20).all()
    assert torch.equal(laid[12:], seen[12:])
    assert (over[:12].amax(0) > 0.9).all()
    assert over[12:].max() == 0


@pytest.mark.parametrize("size", [(640, 480), (480, 640), (960, 540), (300, 200)])
def test_points_lie_on_the_canvas_where_the_picture_shows_them(size):
    at = np.array([size[0] * 0.75, size[1] * 0.25]).round()
    image = np.zeros((size[1], size[0], 3), np.uint8)
    cv2.circle(image, at.astype(int).tolist(), 9, (255, 255, 255), -1)
    shown = on_canvas(image)
    assert shown.seen.shape == (HEIGHT, WIDTH, 3)
    y, x = np.nonzero(shown.seen[..., 0] > 127)
    assert np.abs(np.array([x.mean(), y.mean()]) - (shown.to_canvas[:, :2] @ at + shown.to_canvas[:, 2])).max() < 0.3


def test_pictures_that_are_drawn_and_suggested_meanwhile_are_taken_in(tmp_path):
    place = tmp_path / "tables-train"
    place.mkdir()
    for number in (0, 1):
        cv2.imwrite(str(place / f"{number}.jpg"), np.full((100, 160, 3), 50, np.uint8))
    named = {name: [10.0 * i, 5.0] for i, name in enumerate(("a1", "d1", "d4", "a4"))}
    first = {"image": "0.jpg", "corners": named, "foot": named, "covered": ["d4"], "plain": True}
    (place / "truth.jsonl").write_text(json.dumps(first) + "\n" + '{"image": "1.jp')
    pictures = Pictures([tmp_path], 3)
    assert pictures.count == 1
    assert pictures.covered[0].tolist() == [0, 0, 1, 0]
    with (place / "truth.jsonl").open("a") as lines:
        lines.write('g", "corners": null, "foot": null, "covered": [], "plain": false}\n')
    (place / "suggested.jsonl").write_text(json.dumps({"image": "1.jpg", "places": [CORNERS_SEEN.tolist()]}) + "\n")
    pictures.look_for_more()
    assert pictures.count == 2
    assert pictures.guesses[1, 0].numpy() == pytest.approx(CORNERS_SEEN)
    assert pictures.corners[1].isnan().all()


def test_what_was_suggested_is_looked_at_as_often_however_few_suggestions_there_are():
    pictures = SimpleNamespace(
        corners=torch.full((1, 4, 2), np.nan), foot=torch.full((1, 4, 2), np.nan), size=torch.tensor([[640.0, 480.0]])
    )
    pictures.guesses = torch.full((1, GUESSES, 4, 2), np.nan)
    pictures.guesses[0, 0] = torch.tensor(CORNERS_SEEN, dtype=torch.float32)
    places = judging.draw_places(Chance(3, torch.device("cpu")), pictures, torch.zeros(50, dtype=torch.long))
    near = [corner_error(place, CORNERS_SEEN) < 0.2 for place in places.flatten(0, 1).numpy()]
    assert np.mean(near) == pytest.approx(0.8, abs=0.05)


def test_nothing_to_learn_from_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        Pictures([tmp_path], 3)


def test_heat_is_where_the_corners_are():
    corners = torch.tensor(np.stack([CORNERS_SEEN * 0.75, np.full((4, 2), np.nan)])).float()
    folded = heat_maps(corners, (320, 240))
    assert folded.shape == (2, 12, 30, 40)
    heat = folded.view(2, 3, 2, 2, 30, 40).permute(0, 1, 4, 2, 5, 3).reshape(2, 3, 60, 80)[0].numpy()
    for x, y in CORNERS_SEEN * 0.75:
        assert heat[0, round((y + 0.5) / 4 - 0.5), round((x + 0.5) / 4 - 0.5)] > 0.7
    area = cv2.contourArea((CORNERS_SEEN * 0.75 / 4).astype(np.float32))
    assert heat[2].sum() == pytest.approx(area, rel=0.03)
    assert heat[1].max() > 0.7
    assert folded[1].max() == 0


def test_opencv_and_pytorch_agree_on_the_judge_but_for_half_precision():
    network = shaken(JudgeNetwork())
    levels = [np.random.default_rng(0).integers(0, 255, (400, 400, 3)).astype(np.uint8)]
    file = chain("judge", network.layers, ["n", 3, VIEW, VIEW], ["n", 13])
    (verdict,) = Judge(file).judge(levels, [CORNERS_SEEN])
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
    tables = [replace(each, path=tmp_path / "0.png") for each in (plain, plain, hard, hard, hard, bare, bare)]
    there, elsewhere = (BoardPose(tuple(map(tuple, corners)), 0.9) for corners in (CORNERS_SEEN, CORNERS_SEEN + SQUARE))
    nothing = BoardNotFound("no board here")
    answers = iter([there, there, there, elsewhere, nothing, nothing, there])
    told = told_of(errors(lambda image, layout: next(answers), tables), tables)
    assert told == {"located in plain conditions": "2 of 2", "located in hard conditions": "1 of 3",
                    "falsely located": 2, "without a board": 2}  # fmt: skip


def test_errors_are_counted_in_squares_in_the_naming_that_fits_best():
    assert corner_error(np.roll(CORNERS_SEEN, 3, axis=0)[::-1], CORNERS_SEEN) == 0
    assert corner_error(CORNERS_SEEN + np.array([SQUARE, 0]), CORNERS_SEEN) > LOCATED
