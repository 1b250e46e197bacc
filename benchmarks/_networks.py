"""Convolutional networks: built of steps, trained by one descent, and written so that OpenCV runs them.

PyTorch and onnx are had from here: a program that imports them ends with one line where they are not installed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

try:
    import onnx
    import torch
    from torch import nn
    from torch.nn import functional
except ModuleNotFoundError as missing:
    sys.exit(f"benchmarks: training needs {missing.name}, which is not installed: pip install -e '.[train]'")

__all__ = ["Descent", "as_onnx", "functional", "network", "nn", "onnx", "take_over", "torch"]

_LEAK = 0.1
_RISE = 0.1  # of all steps, in which the rate rises
_STEEPEST = 5.0


def network(
    layers: int,
    steps: Sequence[tuple[int, int, int]],
    stride: int,
    answers: int,
    dropped: float,
    *,
    to_the_rim: bool = False,
) -> nn.Sequential:
    """Build a network that answers for every `stride`-th place of layers.

    Parameters
    ----------
    layers
        That it is given.
    steps
        Of each, the side of the square it looks at, how far apart its points are, and of how many units it is.
    stride
        From one place that is looked at to the next.
    answers
        Numbers for each place.
    dropped
        Share of the last step's units that are left out at random in training.
    to_the_rim
        Whether places are answered for whose surroundings are cut off.
    """
    given = layers
    built: list[nn.Module] = []
    for side, apart, units in steps:
        around = apart * (side // 2) if to_the_rim else 0
        at_once = 1 if built else stride
        built += [
            nn.Conv2d(given, units, side, stride=at_once, dilation=apart, padding=around),
            nn.LeakyReLU(_LEAK),
        ]
        given = units
    return nn.Sequential(*built, nn.Dropout2d(dropped), nn.Conv2d(given, answers, 1))


def take_over(nets: Sequence[nn.Sequential], model: bytes) -> None:
    """Give networks the weights of those that `as_onnx` wrote."""
    kept = [onnx.numpy_helper.to_array(each) for each in onnx.load_from_string(model).graph.initializer]
    own = [weights for net in nets for weights in net.parameters()]
    if [tuple(each.shape) for each in own] != [each.shape for each in kept]:
        raise ValueError("the network that is there is built otherwise: train from nothing")
    for weights, values in zip(own, kept, strict=True):
        weights.data = torch.from_numpy(values.copy())


class Descent:
    """Adam with decaying weights, and a rate that rises once and falls."""

    def __init__(self, net: nn.Module, rate: float, decay: float, steps: int) -> None:
        self._weights = list(net.parameters())
        self._adam = torch.optim.AdamW(self._weights, lr=rate, weight_decay=decay)
        self._rate = torch.optim.lr_scheduler.OneCycleLR(
            self._adam, rate, total_steps=steps + 1, pct_start=_RISE
        )

    def step(self, loss: torch.Tensor) -> float:
        """Take one step, and give the loss."""
        self._adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._weights, _STEEPEST)
        self._adam.step()
        self._rate.step()
        return float(loss.detach())


def as_onnx(nets: Sequence[nn.Sequential], name: str) -> bytes:
    """Write networks as ONNX, as one that says what they say on the average.

    It is given ``layers``, shape (tables, layers, rows, columns), and answers with ``cells``.
    """
    given, said = "layers", "cells"
    nodes, kept, answers = [], [], []
    for member, net in enumerate(nets):
        seen = given
        for number, step in enumerate(net):
            told = f"network_{member}_step_{number}"
            if isinstance(step, nn.Conv2d):
                names = [f"{told}_weights", f"{told}_bias"]
                assert step.bias is not None, "`network` builds all with one"
                kept += [
                    onnx.numpy_helper.from_array(values.detach().contiguous().numpy(), label)
                    for values, label in zip((step.weight, step.bias), names, strict=True)
                ]
                assert not isinstance(step.padding, str), "`network` pads by so many places"
                shape: dict[str, Any] = {
                    "kernel_shape": step.kernel_size,
                    "strides": step.stride,
                    "dilations": step.dilation,
                    "pads": [*step.padding, *step.padding],
                }
                nodes.append(onnx.helper.make_node("Conv", [seen, *names], [told], **shape))
            elif isinstance(step, nn.LeakyReLU):
                nodes.append(onnx.helper.make_node("LeakyRelu", [seen], [told], alpha=step.negative_slope))
            else:  # what drops units does so in training only
                continue
            seen = told
        answers.append(seen)
    nodes.append(onnx.helper.make_node("Mean", answers, [said]))
    kind, first, last = onnx.TensorProto.FLOAT, nets[0][0], nets[0][-1]
    assert isinstance(first, nn.Conv2d) and isinstance(last, nn.Conv2d), "`network` begins and ends with one"
    graph = onnx.helper.make_graph(
        nodes,
        name,
        [onnx.helper.make_tensor_value_info(given, kind, ["tables", first.in_channels, "rows", "columns"])],
        [onnx.helper.make_tensor_value_info(said, kind, ["tables", last.out_channels, "down", "across"])],
        kept,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
