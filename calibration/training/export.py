"""From a trained reader to the files that the program loads, and back: the backbone as ONNX, the head as `.npz`.

Normalisation is folded into the convolutions. The graph is written node by node: it is short, it then holds nothing but
convolutions, ReLUs, sums and one matrix product, and the same weights give the same bytes. Weights are kept in half
precision.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from calibration.training.network import Head, Reader, Shortcut
from companion.vision.pieces import CHANNELS, EMBEDDING
from companion.vision.rectify import PATCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_OPSET = 13
_IR = 8


def chain(name: str, layers: nn.Sequential, inward: list[str | int], outward: list[str | int]) -> bytes:
    """Any chain of such layers as an ONNX file."""
    graph = _Graph(name, inward, outward)
    for layer in layers:
        _add(graph, layer)
    return graph.file()


def export(reader: Reader) -> tuple[bytes, bytes]:
    """The backbone as an ONNX file and the head as an `.npz` one; both take any number of squares at once."""
    backbone = _Graph("backbone", ["squares", CHANNELS, PATCH, PATCH], ["squares", EMBEDDING])
    for layer in reader.backbone.layers:
        _add(backbone, layer)
    head = io.BytesIO()
    weights = {name: _array(weight).astype(np.float16) for name, weight in reader.head.state_dict().items()}
    np.savez_compressed(head, allow_pickle=False, **weights)
    return backbone.file(), head.getvalue()


def _add(graph: _Graph, layer: nn.Module) -> None:
    match layer:
        case Shortcut():
            before = graph.last
            _add(graph, layer.inner)
            graph.add(before)
        case nn.Sequential():
            convolution, normal = layer[0], layer[1]
            assert isinstance(convolution, nn.Conv2d)
            assert isinstance(normal, nn.BatchNorm2d)
            reach = convolution.dilation[0]
            graph.convolve(*folded(convolution, normal), convolution.kernel_size[0], convolution.stride[0], reach)
            graph.node("Relu")
        case nn.Conv2d():
            assert layer.bias is not None
            graph.convolve(_array(layer.weight), _array(layer.bias), layer.kernel_size[0], layer.stride[0])
        case nn.ReLU():
            graph.node("Relu")
        case nn.Flatten():
            graph.node("Flatten", axis=1)
        case nn.Linear():
            graph.multiply(_array(layer.weight), _array(layer.bias))
        case _:
            raise TypeError(f"{type(layer).__name__} has no place in the exported graph")


def folded(convolution: nn.Conv2d, normal: nn.BatchNorm2d) -> tuple[Floats, Floats]:
    """Weights and bias of a convolution with the normalisation after it."""
    assert normal.running_var is not None
    assert normal.running_mean is not None
    scale = _array(normal.weight) / np.sqrt(_array(normal.running_var) + np.float32(normal.eps))
    weights = _array(convolution.weight) * scale[:, None, None, None]
    return weights, _array(normal.bias) - _array(normal.running_mean) * scale


def restored(backbone: bytes, head: bytes, boards: Tensor) -> Reader:
    """The reader that `export` wrote, to be trained further: what it says is the same but for half precision.

    Normalisation, which the files no longer have, is made anew from `boards`, `(b, squares, 4, PATCH, PATCH)`: it
    changes nothing there, and a few dozen of them tell what is usual.
    """
    reader = Reader().eval()
    take_back(reader.backbone.layers, backbone, boards.flatten(0, 1))
    reader.head = restored_head(head)
    return reader


def restored_head(file: bytes) -> Head:
    """The head that `export` wrote, but for half precision."""
    head, kept = Head().eval(), np.load(io.BytesIO(file))
    head.load_state_dict({name: torch.from_numpy(kept[name].astype(np.float32)) for name in kept.files})
    return head


def between(first: bytes, second: bytes, share: float) -> bytes:
    """The network between two with the same layers, as `chain` writes them: `share` of the second."""
    one, other = (onnx.load_from_string(file) for file in (first, second))
    for kept, learnt in zip(one.graph.initializer, other.graph.initializer, strict=True):
        parts = [np.asarray(numpy_helper.to_array(each), np.float32) for each in (kept, learnt)]
        mixed = (1 - share) * parts[0] + share * parts[1]
        kept.CopyFrom(numpy_helper.from_array(mixed.astype(np.float16), kept.name))
    return bytes(one.SerializeToString())


def take_back(layers: nn.Sequential, file: bytes, seen: Tensor) -> None:
    """Give a chain of layers that is not learning what `chain` wrote of one; normalisation is made anew from `seen`."""
    told = (numpy_helper.to_array(weights) for weights in onnx.load_from_string(file).graph.initializer)
    weights = (torch.from_numpy(np.asarray(array, np.float32).copy()) for array in told)
    with torch.no_grad():
        for layer in layers:
            _take_back(layer, seen, weights)
            seen = layer(seen)


def _take_back(layer: nn.Module, seen: Tensor, weights: Iterator[Tensor]) -> None:
    match layer:
        case Shortcut():
            _take_back(layer.inner, seen, weights)
        case nn.Sequential():
            convolution, normal = layer[0], layer[1]
            assert isinstance(convolution, nn.Conv2d)
            assert isinstance(normal, nn.BatchNorm2d)
            convolution.weight.copy_(next(weights))
            _normalise(normal, convolution(seen), next(weights))
        case nn.Conv2d() | nn.Linear():
            assert layer.bias is not None
            layer.weight.copy_(next(weights))
            layer.bias.copy_(next(weights))


def _normalise(normal: nn.BatchNorm2d, seen: Tensor, bias: Tensor) -> None:
    """Let `normal` do nothing but add `bias` to what is like `seen`."""
    assert normal.running_var is not None
    assert normal.running_mean is not None
    variance, mean = torch.var_mean(seen, (0, 2, 3))
    normal.running_var.copy_(variance)
    normal.running_mean.copy_(mean)
    normal.weight.copy_((variance + normal.eps).sqrt())
    normal.bias.copy_(mean + bias)


def _array(tensor: Tensor) -> Floats:
    return np.ascontiguousarray(tensor.detach().float().numpy())


class _Graph:
    """A chain of ONNX nodes; `last` names the output of the last one."""

    def __init__(self, name: str, inward: list[str | int], outward: list[str | int]) -> None:
        self._name, self._inward, self._outward = name, inward, outward
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self.last = "in"

    def node(self, kind: str, *weights: Floats, **attributes: Any) -> None:
        """Append a node that takes the last one's output and these weights."""
        number = len(self._nodes)
        names = [f"w{number}_{i}" for i in range(len(weights))]
        self._weights += [numpy_helper.from_array(w.astype(np.float16), n) for w, n in zip(weights, names, strict=True)]
        self._nodes.append(helper.make_node(kind, [self.last, *names], [f"x{number}"], **attributes))
        self.last = f"x{number}"

    def add(self, other: str) -> None:
        """Append the sum with the output of an earlier node, as `last` named it."""
        number = len(self._nodes)
        self._nodes.append(helper.make_node("Add", [self.last, other], [f"x{number}"]))
        self.last = f"x{number}"

    def convolve(self, weights: Floats, bias: Floats, kernel: int, stride: int, reach: int = 1) -> None:
        """A convolution that keeps, or by its stride divides, the side; `reach` apart are the points it looks at."""
        spread = {"dilations": [reach] * 2} if reach > 1 else {}
        pad = reach * (kernel // 2)
        self.node("Conv", weights, bias, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, **spread)

    def multiply(self, weights: Floats, bias: Floats) -> None:
        """A linear layer."""
        self.node("Gemm", weights, bias, transB=1)

    def file(self) -> bytes:
        """The finished model."""
        inward = helper.make_tensor_value_info("in", TensorProto.FLOAT, self._inward)
        outward = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, self._outward)
        graph = helper.make_graph(self._nodes, self._name, [inward], [outward], self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
