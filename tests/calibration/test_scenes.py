"""The drawn boards that the recogniser learns from: what is drawn, and what is said about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from calibration.textures import Fabrics
from calibration.training.calibrate import PROMISED, Judged, judge, judge_shards, measure, reliability, rule
from calibration.training.chance import draw_board, draw_scene, draw_set
from calibration.training.dataset import Split, Studio, count_boards, read_shard, shards_of, write_shards
from calibration.training.marks import MarkStyle, mark
from calibration.training.render import render
from calibration.training.scene import SIDE, Family, colours_told, plain
from calibration.training.truth import CLASSES, COVERED, JUDGED
from companion.readings import ALL_CONTENTS
from companion.rules import Kind
from companion.vision.pieces import Looked, Recogniser, SetRule


@pytest.fixture(scope="module")
def fabrics():
    return Fabrics(np.random.default_rng(1), count=3)


def scene_like(accept, first=0):
    """The first scene from `first` on that `accept` accepts."""
    return next(s for s in (draw_scene(np.random.default_rng(seed)) for seed in range(first, first + 500)) if accept(s))


def photograph(scene, fabrics, seed=3):
    return render(np.random.default_rng(seed), scene, fabrics)


def test_the_same_seed_draws_the_same_picture(fabrics):
    scene = draw_scene(np.random.default_rng(8))
    first, again = photograph(scene, fabrics), photograph(scene, fabrics)
    assert np.array_equal(first.image, again.image)
    assert np.array_equal(first.targets, again.targets)


def test_the_truth_says_what_stands_on_each_square(fabrics):
    scene = scene_like(lambda s: plain(s) and s.pieces.family is Family.DIAGRAM and len(s.placed) > 9)
    photo = photograph(scene, fabrics)
    standing = {piece.square: piece for piece in scene.placed if piece.square is not None}
    for square in np.flatnonzero(photo.weights):
        content = ALL_CONTENTS[int(photo.targets[square].argmax())]
        piece = standing.get(int(square))
        assert (content is None) if piece is None else (content.kind, content.colour) == (piece.kind, piece.colour)


def test_a_plain_cube_may_be_any_kind_of_its_colour(fabrics):
    scene = scene_like(lambda s: plain(s) and s.pieces.family is Family.CUBES and colours_told(s) and len(s.placed) > 9)
    photo = photograph(scene, fabrics)
    occupied = [t for t, w in zip(photo.targets, photo.weights, strict=True) if w == JUDGED and t[0] == 0]
    assert occupied
    assert all(sorted(target[target > 0].tolist()) == [0.25] * 4 for target in occupied)


def test_a_lone_colour_that_is_neither_light_nor_dark_may_be_either(fabrics):
    scene = scene_like(
        lambda s: plain(s) and not colours_told(s) and not s.pieces.blank and s.placed[0].square is not None
    )
    photo = photograph(scene, fabrics)
    judged = [t for t, w in zip(photo.targets, photo.weights, strict=True) if w == JUDGED and t[0] == 0]
    assert judged
    assert all(sorted(target[target > 0].tolist()) == [0.5, 0.5] for target in judged)


def test_a_hand_covers_what_is_under_it_and_only_that(fabrics):
    scene = scene_like(lambda s: s.hands == 0)
    bare = photograph(scene, fabrics)
    assert not bare.targets[:, COVERED].any()
    covered = [photograph(replace(scene, hands=2), fabrics, seed).targets[:, COVERED].sum() for seed in range(6)]
    assert 0 < max(covered) < 16


def test_a_mark_that_nobody_can_read_is_not_judged(fabrics):
    scene = scene_like(lambda s: plain(s) and s.pieces.family is Family.HOPWOOD and len(s.placed) > 9)
    night = replace(scene, lens=replace(scene.lens, exposure=1e-4))
    pieces = [piece.square for piece in scene.placed if piece.square is not None]
    assert (photograph(scene, fabrics).weights[pieces] == JUDGED).any()
    assert not (photograph(night, fabrics).weights[pieces] == JUDGED).any()


@pytest.mark.parametrize("outline", [True, False])
def test_marks_look_the_same_after_a_quarter_turn(outline):
    for seed in range(5):
        style = MarkStyle.draw(np.random.default_rng(seed), outline=outline)
        for kind in Kind:
            drawn = mark(style, kind)
            assert np.abs(drawn - np.rot90(drawn)).mean() < 0.02


def test_the_pushers_circle_is_larger_than_the_pullers():
    for seed in range(50):
        style = MarkStyle.draw(np.random.default_rng(seed), outline=seed % 4 == 0)
        assert style.small < 0.79 * style.big


@pytest.mark.parametrize("family", list(Family))
def test_sets_can_be_told_apart_by_colour(family):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        bodies = draw_set(rng, family, draw_board(rng, family)).bodies
        light, dark = (np.array(body.colour) for body in bodies.values())
        assert np.abs(light - dark).sum() > 30


def test_shards_are_kept_and_read_back(tmp_path):
    (path,) = write_shards(tmp_path, Split.TEST, range(2))
    before = path.stat().st_mtime_ns
    assert [p.stat().st_mtime_ns for p in write_shards(tmp_path, Split.TEST, range(2))] == [before]
    assert shards_of(tmp_path, Split.TEST) == [path]
    boards = read_shard(path)
    assert len(boards) == count_boards([path]) == 2
    assert boards.targets.shape == (2, 16, CLASSES)
    with pytest.raises(FileNotFoundError, match="draw them first"):
        shards_of(tmp_path, Split.TRAIN)


def test_who_asks_for_more_boards_than_before_gets_them_all(tmp_path):
    (few,) = write_shards(tmp_path, Split.TEST, range(1))
    first = read_shard(few)
    (more,) = write_shards(tmp_path, Split.TEST, range(2))
    assert more == few
    assert count_boards([more]) == 2
    assert np.array_equal(read_shard(more).views[:1], first.views)
    list(write_shards(tmp_path, Split.TEST, range(1)))
    assert count_boards([more]) == 2


def test_shards_are_judged_side_by_side_as_one_by_one(tmp_path):
    shards = [path for first in (0, 250) for path in write_shards(tmp_path, Split.TEST, range(first, first + 1))]
    models = resources.files("companion.vision") / "models"
    networks = ((models / "backbone.onnx").read_bytes(), (models / "head.npz").read_bytes())
    together = judge_shards(networks, shards, jobs=2)
    assert together.keys() == set(Looked)
    for look, judged in together.items():
        alone = [judge(Recogniser.bundled(), read_shard(path), look) for path in shards]
        for name in Judged.__slots__:
            np.testing.assert_array_equal(getattr(judged, name), np.concatenate([getattr(one, name) for one in alone]))


def test_boards_can_be_photographed_in_another_way(tmp_path):
    def brightly(rng, scene, fabrics):
        photo = render(rng, scene, fabrics)
        return replace(photo, image=np.full_like(photo.image, 200))

    (path,) = write_shards(tmp_path, Split.LIT, range(250, 252), brightly)
    boards = read_shard(path)
    assert boards.views.max() == 200
    alike = Studio(Split.LIT).boards(range(250, 252))
    np.testing.assert_array_equal(boards.targets, alike.targets)


def test_shards_do_not_overlap(tmp_path):
    with pytest.raises(ValueError, match="multiples of 250, not at 100"):
        list(write_shards(tmp_path, Split.TEST, range(100, 102)))


def test_splits_share_no_scene():
    assert Studio(Split.TRAIN).scene(0).camera != Studio(Split.TEST).scene(0).camera


def answers(truth_share, count=4000):
    """`count` squares with a light straight, of which the classifier is so sure in turn; else it takes it for dark."""
    return told(1, 5, truth_share, count)


def told(truth, other, truth_share, count=4000):
    """`count` squares that bear `truth`; the classifier gives it these probabilities in turn, and `other` the rest."""
    said, targets = np.zeros((2, count, CLASSES), np.float32)
    said[:, truth] = np.resize(truth_share, count)
    said[:, other] = 1 - said[:, truth]
    targets[:, truth] = 1
    return Judged(said, targets, np.zeros(count, np.uint8), *np.ones((2, count), bool))


KNOWN = 0.7
UNDECIDED = SetRule(least=0.0, covered=0.5, known=KNOWN)


def test_the_threshold_keeps_its_promise_on_what_it_was_calibrated_on():
    rng = np.random.default_rng(0)
    judged = answers(rng.beta(2, 0.2, 4000).astype(np.float32))
    found = measure(judged, rule(judged, KNOWN))["all"]
    assert found["wrong"] <= PROMISED
    assert found["right"] > 0


@pytest.mark.parametrize(("mistakes_in", "kept"), [(500, False), (100, True)])
def test_less_is_promised_of_sets_that_are_not_ordinary(mistakes_in, kept):
    """Of one mistake in 500 squares of such sets nothing is said; of one in 100 more than is promised."""
    judged = answers([0.999] * (mistakes_in - 1) + [0.2])
    mistaken = np.arange(4000) % mistakes_in == mistakes_in - 1
    others = replace(judged, ordinary=np.zeros(4000, bool))
    assert rule(judged, KNOWN).least == pytest.approx(0.2)
    assert (rule(others, KNOWN).least == pytest.approx(0.2)) == kept
    assert measure(others, rule(others, KNOWN))["all"]["wrong"] == (0.0 if kept else mistaken.mean())


def light_cubes(light_shares, count=4000):
    """`count` squares that bear light cubes, whose colour the classifier takes for light so surely in turn."""
    shares = np.resize(light_shares, count)[:, None].astype(np.float32)
    said, targets = np.zeros((2, count, CLASSES), np.float32)
    said[:, 1:5], said[:, 5:9], targets[:, 1:5] = shares / 4, (1 - shares) / 4, 1 / 4
    return Judged(said, targets, np.zeros(count, np.uint8), *np.ones((2, count), bool))


def test_a_colour_is_ruled_out_as_a_whole_by_whoever_asks_for_colour_and_mark_one_by_one():
    judged = light_cubes([0.97] * 99 + [0.06])
    assert rule(judged, known=1.0).least == pytest.approx(0.06)
    assert rule(judged, known=0.7).least == pytest.approx(0.015)
    assert measure(judged, rule(judged, known=1.0))["all"]["wrong"] == 0.0


def test_bare_wood_that_is_taken_for_a_piece_now_and_then_costs_no_piece_its_sureness():
    """A knot looks like a ring; none may lie there already if that is a fifth as likely as what is asked for else."""
    knots = told(0, 4, [0.999] * 499 + [0.02])
    assert rule(knots, KNOWN).least == pytest.approx(0.1)
    assert measure(knots, rule(knots, KNOWN))["all"]["wrong"] == 0.0


def test_a_sure_classifier_needs_no_wide_sets():
    judged = answers([0.999])
    assert measure(judged, rule(judged, KNOWN))["all"]["right"] == 1.0


def test_what_was_promised_is_held_against_what_happened():
    rng = np.random.default_rng(1)
    fitted, unseen = (answers(rng.beta(2, 0.2, 4000).astype(np.float32)) for _ in range(2))
    for promised, observed in reliability(fitted, unseen, UNDECIDED).items():
        assert observed == pytest.approx(float(promised), abs=3e-3)


def test_promises_are_made_on_boards_that_bear_one_sets_pieces():
    studio = Studio(Split.CALIBRATE)
    for number in range(40):
        lying = Counter((piece.colour, piece.kind) for piece in studio.scene(number).placed)
        assert max(lying.values(), default=0) <= 2


def test_spare_pieces_lie_beside_the_board_in_rows_anywhere_or_nowhere():
    studio = Studio(Split.TRAIN)
    spares = [[p for p in studio.scene(number).placed if p.square is None] for number in range(60)]
    assert {0, 1, 2, 9} <= {min(len(some), 9) for some in spares}
    beyond = [max(abs(p.x - SIDE / 2), abs(p.y - SIDE / 2)) - SIDE / 2 for some in spares for p in some]
    assert min(beyond) > 0.3


def test_some_sets_have_thick_pieces():
    studio = Studio(Split.TRAIN)
    heights = [scene.pieces.height for scene in map(studio.scene, range(80)) if scene.pieces.family is Family.DIAGRAM]
    assert 0.05 < np.mean(np.array(heights) > 0.34) < 0.3


def test_what_is_ruled_out_is_counted_as_wrong():
    found = measure(answers([0.1]), SetRule(least=0.5, covered=0.5))["all"]
    assert (found["right"], found["wrong"]) == (0.0, 1.0)
