"""Fits what tells a push from a ricochet: ``python -m benchmarks._train_followers CASES``.

CASES is what was seen of filmed shots, one a line, as ``tests/unit/vision/fall_cases.py`` writes it. A logistic
regression with a small ridge is fitted to their falls. How it does is told with each tenth of the shots left out in turn;
the weights printed are of all, for `vision.causes.followers`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from game.montecassino import Cause, Side, Square
from vision.causes.drags import find_drags
from vision.causes.followers import measures
from vision.outcome import Push, Soldier, Standing, Toppling

FloatArray = NDArray[np.float64]

_FOLDS = 10
_RIDGE = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A fall that was not direct, of a shot by which others had moved before or in the same picture."""

    shot: str
    measured: FloatArray
    ricochet: bool


def filmed(path: Path) -> list[Example]:
    """Give the examples of shots that were filmed."""
    found: list[Example] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        kept: dict[str, Any] = json.loads(line)
        soldiers = {row[0]: Soldier(Square.parse(row[0]), Side(row[1]), *row[2:]) for row in kept["soldiers"]}
        falls = [
            Toppling(soldiers[square], began, passed, tuple(way), None if rest is None else tuple(rest))
            for square, began, passed, way, rest in kept["topplings"]
        ]
        pushes = [Push(soldiers[square], began, x, y) for square, began, x, y in kept["pushes"]]
        standing = Standing(tuple(sorted(soldiers.values())), kept["height_mm"], kept["foot_radius_mm"])
        causes = {Square.parse(square): Cause(cause) for square, cause in kept["truth"].items()}
        found += _examples(
            kept["name"], falls, pushes, standing, causes, kept["frame_us"], tuple(kept["shot_from_mm"])
        )
    return found


def _examples(
    shot: str,
    falls: Sequence[Toppling],
    pushes: Sequence[Push],
    standing: Standing,
    causes: Mapping[Square, Cause],
    frame_us: float,
    shot_from_mm: tuple[float, float],
) -> Iterator[Example]:
    drags = find_drags(falls, pushes, standing, frame_us=frame_us)
    for fall in falls:
        cause = causes.get(fall.soldier.square)
        if cause not in {Cause.RICOCHET, Cause.DRAGGED}:
            continue
        measured = measures(
            fall, [*falls, *pushes], drags, standing, frame_us=frame_us, shot_from_mm=shot_from_mm
        )
        if measured is not None:
            yield Example(shot, measured, cause is Cause.RICOCHET)


def fit(examples: Sequence[Example]) -> tuple[FloatArray, float]:
    """Fit weights and an offset."""
    table = np.array([example.measured for example in examples])
    struck = np.array([example.ricochet for example in examples], dtype=np.float64)
    middle, spread = table.mean(axis=0), table.std(axis=0)
    columns = np.column_stack([(table - middle) / spread, np.ones(len(table))])

    def misfit(weights: FloatArray) -> tuple[float, FloatArray]:
        odds = columns @ weights
        ridge = np.r_[weights[:-1], 0.0]
        cost = np.sum(np.logaddexp(0, odds) - struck * odds) + _RIDGE * np.sum(ridge**2)
        return float(cost), columns.T @ (1 / (1 + np.exp(-odds)) - struck) + 2 * _RIDGE * ridge

    found = minimize(misfit, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ middle)


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
        examples = filmed(cases)
    except OSError as fault:
        parser.error(str(fault))
    except (ValueError, KeyError, TypeError) as fault:
        parser.error(f"{cases}: not as fall_cases.py writes it: {fault!r}")
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
