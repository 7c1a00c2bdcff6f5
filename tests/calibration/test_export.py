"""The exported files answer as the trained network does; only where PyTorch and ONNX are installed."""

from __future__ import annotations

import numpy as np
import pytest

from companion.vision.pieces import EMBEDDING, Looked, Recogniser, SetRule, Tone, with_relief
from companion.vision.rectify import PATCH

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")


def any_reader():
    from calibration.training.network import Reader  # noqa: PLC0415 - needs what may be missing

    torch.manual_seed(0)
    reader = Reader().eval()
    for module in reader.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return reader


def test_opencv_and_pytorch_agree():
    from calibration.training.export import export  # noqa: PLC0415

    reader = any_reader()
    patches = np.random.default_rng(0).integers(0, 255, (5, PATCH, PATCH, 3)).astype(np.uint8)
    tone = Tone.of(patches)
    recogniser = Recogniser(*export(reader), dict.fromkeys(Looked, SetRule(least=0.1, covered=0.5)))
    with torch.no_grad():
        toned = torch.from_numpy(with_relief(tone.apply(patches)))
        embeddings = reader.backbone(toned).numpy()
        probabilities = torch.softmax(reader(toned[None]), -1)[0].numpy()
    assert embeddings.shape == (5, EMBEDDING)
    np.testing.assert_allclose(recogniser.embed(patches, tone), embeddings, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(recogniser.recognise(patches), probabilities, atol=1e-3)


def test_a_restored_reader_says_what_was_exported_and_can_be_trained():
    from calibration.training.export import export, restored  # noqa: PLC0415

    reader = any_reader()
    boards = torch.from_numpy(np.random.default_rng(1).normal(0, 1, (3, 16, 4, PATCH, PATCH)).astype(np.float32))
    again = restored(*export(reader), boards)
    with torch.no_grad():
        said, said_again = reader(boards), again(boards)
        said_in_training = again.train()(boards)
    np.testing.assert_allclose(said_again.numpy(), said.numpy(), atol=0.02)
    np.testing.assert_allclose(said_in_training.numpy(), said.numpy(), atol=0.05)
