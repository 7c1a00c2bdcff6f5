"""Teaching the head alone; only where PyTorch is installed."""

from __future__ import annotations

import copy

import pytest

from calibration.training.dataset import Split, Studio, write_shards
from calibration.training.truth import CLASSES
from companion.vision.pieces import EMBEDDING

torch = pytest.importorskip("torch")


def seen(answer: int, way: float):
    """Embeddings that lean this `way`, of boards all of whose squares hold the content number `answer`."""
    from calibration.training.head import Seen  # noqa: PLC0415 - needs what may be missing

    embeddings = torch.randn(40, 16, EMBEDDING, generator=torch.Generator().manual_seed(answer))
    embeddings += way * torch.linspace(-1, 1, EMBEDDING)
    targets = torch.zeros(40, 16, CLASSES)
    targets[..., answer] = 1
    return Seen(embeddings, targets, torch.ones(40, 16))


def test_it_learns_what_is_new_and_says_of_the_rest_what_it_said():
    from calibration.training.head import Lesson, teach  # noqa: PLC0415
    from calibration.training.network import Reader  # noqa: PLC0415

    torch.manual_seed(1)
    before = Reader().eval()
    new, known = seen(1, 2.0), seen(0, -2.0)
    after = teach(copy.deepcopy(before), new, known, Lesson(steps=300, boards=8, share=1.0), lambda *_: None)
    with torch.no_grad():
        said, says = (
            [torch.softmax(reader.head(each.embeddings), -1) for each in (new, known)] for reader in (before, after)
        )
    assert says[0][..., 1].mean() > 0.8 > said[0][..., 1].mean()
    assert (says[1] - said[1]).abs().mean() < 0.01
    for mine, other in zip(before.backbone.parameters(), after.backbone.parameters(), strict=True):
        assert torch.equal(mine, other)


@pytest.mark.parametrize("older", [False, True], ids=["the one that was", "an older one"])
def test_what_comes_of_it_lies_between_a_head_from_before_and_the_one_that_has_learnt(older):
    from calibration.training.head import Lesson, teach  # noqa: PLC0415
    from calibration.training.network import Reader  # noqa: PLC0415

    torch.manual_seed(1)
    before, other = Reader().eval(), Reader().eval()
    rest = other.head if older else None
    whole, part = (
        teach(copy.deepcopy(before), seen(1, 2.0), seen(0, -2.0), Lesson(20, 8, share=share), lambda *_: None, rest)
        for share in (1.0, 0.25)
    )
    learnt, heads = False, (rest or before.head, whole.head, part.head)
    for was, all_of_it, some in zip(*(head.parameters() for head in heads), strict=True):
        assert torch.allclose(some, was + 0.25 * (all_of_it - was), atol=1e-6)
        learnt = learnt or not torch.equal(was, all_of_it)
    assert learnt


def test_looks_are_taken_at_all_boards_of_a_split(tmp_path):
    from calibration.training.head import Lesson, Seen  # noqa: PLC0415
    from calibration.training.network import Reader  # noqa: PLC0415

    boards = Studio(Split.FILLED).boards(range(3))
    list(write_shards(tmp_path, Split.FILLED, range(3)))
    some = Seen.of(Reader().eval(), tmp_path, Split.FILLED, Lesson(looks=2))
    assert some.embeddings.shape == (6, 16, EMBEDDING)
    assert some.targets[:3].cpu().numpy() == pytest.approx(boards.targets)
    assert (some.embeddings[:3] != some.embeddings[3:]).any()
    with pytest.raises(FileNotFoundError, match="no board of the train split"):
        Seen.of(Reader().eval(), tmp_path, Split.TRAIN, Lesson())
