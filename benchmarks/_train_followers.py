"""Fits what tells a push from a ricochet: ``python -m benchmarks._train_followers CASES``.

CASES is what was seen of filmed shots, one a line, as `benchmarks._fall_cases` writes it. A logistic
regression (`benchmarks._logistic`) is fitted to their falls. How it does is told with each tenth of the shots left out in turn;
the weights printed are of all, for `vision.causes.followers`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._fall_cases import FallCase, read_cases
from benchmarks._logistic import fit_logistic
from game.montecassino import Cause
from vision.causes.drags import find_drags
from vision.causes.followers import measures

FloatArray = NDArray[np.float64]

_FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A fall that was not direct, of a shot by which others had moved before or in the same picture."""

    shot: str
    measured: FloatArray
    ricochet: bool


def examples_of(case: FallCase) -> Iterator[Example]:
    """Give the examples of one shot."""
    drags = find_drags(case.topplings, case.pushes, case.standing, frame_us=case.frame_us)
    for fall in case.topplings:
        cause = case.truth.get(fall.soldier.square)
        if cause not in {Cause.RICOCHET, Cause.DRAGGED}:
            continue
        measured = measures(
            fall,
            [*case.topplings, *case.pushes],
            drags,
            case.standing,
            case.track,
            frame_us=case.frame_us,
            shot_from_mm=case.shot_from_mm,
        )
        if measured is not None:
            yield Example(case.name, measured, cause is Cause.RICOCHET)


def fit(examples: Sequence[Example]) -> tuple[FloatArray, float]:
    """Fit weights and an offset."""
    table = np.array([example.measured for example in examples])
    struck = np.array([example.ricochet for example in examples], dtype=np.float64)
    return fit_logistic(table, struck, np.ones(len(struck)))


def left_out(examples: Sequence[Example]) -> FloatArray:
    """Give the log odds of a ricochet for each, from a fit that did not know its shot."""
    shots = sorted({example.shot for example in examples})
    order = np.random.default_rng(0).permutation(len(shots)) % _FOLDS
    fold = dict(zip(shots, order, strict=True))
    odds = np.zeros(len(examples))
    for k in range(_FOLDS):
        weights, offset = fit([example for example in examples if fold[example.shot] != k])
        for i, example in enumerate(examples):
            if fold[example.shot] == k:
                odds[i] = example.measured @ weights + offset
    return odds


def main() -> None:
    """Fit, say how well it does on what was left out, and print the weights."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks._train_followers", description=__doc__)
    parser.add_argument("cases", type=Path, help="what was seen of filmed shots (fall_cases.jsonl)")
    cases = parser.parse_args().cases
    try:
        examples = [example for case in read_cases(cases) for example in examples_of(case)]
    except OSError as fault:
        parser.error(str(fault))
    except (ValueError, KeyError, TypeError) as fault:
        parser.error(f"{cases}: not as benchmarks._fall_cases writes it: {fault!r}")
    if len({example.shot for example in examples}) < _FOLDS:
        parser.error(
            f"{cases}: too few shots to learn from, expected {_FOLDS} or more with a push or a ricochet"
        )
    odds = left_out(examples)
    struck = np.array([example.ricochet for example in examples])
    print(
        f"{len(examples)} falls, {int(struck.sum())} of them by ricochet; each judged by a fit that did not know its shot:"
    )
    print(
        f"{int(((odds > 0) != struck).sum())} wrong, mean log loss {np.mean(np.logaddexp(0, odds) - struck * odds):.4f}"
    )
    weights, offset = fit(examples)
    print(f"_WEIGHTS = ({', '.join(f'{weight:.3f}' for weight in weights)})")
    print(f"_OFFSET = {offset:.3f}")


if __name__ == "__main__":
    main()
