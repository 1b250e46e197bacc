"""Makes one network of several rounds of training: ``python -m benchmarks._mean_network ROUND.onnx ROUND.onnx... --out FILE``.

Each round of `_train_feet --go-on` went on from the one before, on other tables. The mean of their weights answers more
steadily than any of them (Izmailov and others 2018, "Averaging weights leads to wider optima and better generalization"),
and takes no longer. Rounds that each began from nothing have nothing to do with one another, and their mean is worth nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks._networks import onnx

__all__ = ["mean_network"]


def mean_network(rounds: Sequence[bytes]) -> bytes:
    """Give the network whose weights are the mean of those of several, as `_networks.as_onnx` wrote them.

    Raises
    ------
    ValueError
        If one of them is no network, or they are not built alike.
    """
    try:
        models = [onnx.load_from_string(each) for each in rounds]
    except Exception as broken:  # protobuf's own, which onnx does not name
        raise ValueError(f"no network: {broken}") from broken
    mean = models[0]
    if any(each.graph.node != mean.graph.node for each in models):
        raise ValueError("the networks are not built alike")
    for number, kept in enumerate(mean.graph.initializer):
        weights = [onnx.numpy_helper.to_array(each.graph.initializer[number]) for each in models]
        mean_weights = np.asarray(np.mean(weights, axis=0, dtype=np.float32))
        kept.CopyFrom(onnx.numpy_helper.from_array(mean_weights, kept.name))
    onnx.checker.check_model(mean)
    return bytes(mean.SerializeToString())


def main() -> None:
    """Write the mean of the networks given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks._mean_network")
    parser.add_argument(
        "rounds", nargs="+", type=Path, help="networks of which each was learnt on from another"
    )
    parser.add_argument("--out", required=True, type=Path, help="file of their mean")
    given = parser.parse_args()
    try:
        given.out.write_bytes(mean_network([each.read_bytes() for each in given.rounds]))
    except (OSError, ValueError) as fault:
        parser.error(str(fault))


if __name__ == "__main__":
    main()
