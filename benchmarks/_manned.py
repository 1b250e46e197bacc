"""Train the network that says whether somebody stands on a square, and measure it on tables that it was not trained on.

``python -m benchmarks._manned FOLDER...`` reads the recordings of folders that `rig clips` filmed, takes what is seen before
the shot with the position told and with it forgotten, trains, prints how many squares are wrong, recordings being
left out by turns, and writes `vision/manned.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from rig.recording import read_frames, read_recording
from vision.manned import Network, plainest
from vision.reading import NoReading, TableBefore, read_before
from vision.soldiers import measure_squares

__all__ = ["Table", "left_out", "tables_of", "train"]

FloatArray = NDArray[np.float64]

_FOLDS = 5
_NETWORKS, _UNITS = 3, 10  # trained apart, and joined to one that says their mean
_STEPS, _BATCH = 800, 1024
_DECAY = 1e-2
# Features are shaken by so much of their spread: what is learnt holds beside what was seen.
_SHAKEN = 0.5
_FRAMES = 40  # more than there are before any shot


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What one picture shows of the squares that are not plainly bare."""

    name: str
    measured: FloatArray
    """Shape (squares, features)."""
    manned: NDArray[np.bool_]
    missed: int
    """Manned squares that were taken for plainly bare."""


def tables_of(folder: Path) -> list[Table]:
    """Read a recording with its truth: as it is, and with the position forgotten."""
    recording = read_recording(folder)
    told = json.loads((folder / "truth.json").read_text("utf-8"))["before"]
    manned = {Square.parse(each["square"]) for each in told}
    frames = [f for f, _ in zip(read_frames(folder, recording), range(_FRAMES), strict=False)]
    scenes = [replace(recording.scene, expected=None)]
    if recording.scene.expected is not None:
        scenes.append(recording.scene)
    tables = []
    for scene in scenes:
        before = read_before(frames, recording.timestamps_us, scene)
        if isinstance(before, NoReading):
            continue
        tables.append(_table(folder.name, before, manned))
    return tables


def _table(name: str, before: TableBefore, manned: set[Square]) -> Table:
    board = before.board
    squares, measured = measure_squares(board.flat, board.covers, board.looks)
    return Table(
        name, measured, np.array([s in manned for s in squares], dtype=np.bool_), len(manned - set(squares))
    )


def train(tables: Sequence[Table], seed: int = 0) -> Network:
    """Train on tables."""
    measured = np.concatenate([t.measured for t in tables])
    manned = np.concatenate([t.manned for t in tables])
    mean, spread = measured.mean(axis=0), measured.std(axis=0) + 1e-9
    scaled = (measured - mean) / spread
    few = [_train_one(scaled, manned, np.random.default_rng((seed, k))) for k in range(_NETWORKS)]
    weights = np.hstack([each.weights for each in few]) / spread[:, None]
    return Network(
        weights,
        np.concatenate([each.offsets for each in few]) - mean @ weights,
        np.concatenate([each.out for each in few]) / _NETWORKS,
        float(np.mean([each.out_offset for each in few])),
    )


def _train_one(scaled: FloatArray, manned: NDArray[np.bool_], draw: np.random.Generator) -> Network:
    """Descend the log-loss by Adam (Kingma and Ba, 2015)."""
    count = scaled.shape[1]
    values = [
        draw.normal(0, count**-0.5, (count, _UNITS)),
        np.zeros(_UNITS),
        draw.normal(0, _UNITS**-0.5, _UNITS),
        np.zeros(1),
    ]
    first = [np.zeros_like(v) for v in values]
    second = [np.zeros_like(v) for v in values]
    for step in range(1, _STEPS + 1):
        chosen = draw.integers(0, len(scaled), _BATCH)
        seen = scaled[chosen] + draw.normal(0, _SHAKEN, (_BATCH, count))
        hidden = np.tanh(seen @ values[0] + values[1])
        said = 1 / (1 + np.exp(-(hidden @ values[2] + values[3])))
        off = (said - manned[chosen]) / _BATCH
        back = np.outer(off, values[2]) * (1 - hidden**2)
        slopes = [
            seen.T @ back + _DECAY / 10 * values[0],
            back.sum(axis=0),
            hidden.T @ off + _DECAY * values[2],
            off.sum(keepdims=True),
        ]
        rate = 0.01 * (1 - step / _STEPS) + 1e-4
        for k, slope in enumerate(slopes):
            first[k] = 0.9 * first[k] + 0.1 * slope
            second[k] = 0.99 * second[k] + 0.01 * slope**2
            steady = np.sqrt(second[k] / (1 - 0.99**step)) + 1e-8
            values[k] = values[k] - rate * first[k] / (1 - 0.9**step) / steady
    return Network(values[0], values[1], values[2], float(values[3][0]))


def left_out(tables: Sequence[Table]) -> dict[str, tuple[int, int, int]]:
    """Say by recording how many squares are manned, wrongly taken for manned, and missed, by networks that never saw it."""
    names = sorted({t.name for t in tables})
    fold = {name: k % _FOLDS for k, name in enumerate(np.random.default_rng(0).permutation(names).tolist())}
    wrong: dict[str, tuple[int, int, int]] = {}
    for k in range(_FOLDS):
        network = train([t for t in tables if fold[t.name] != k])
        for table in tables:
            if fold[table.name] != k:
                continue
            said = plainest(network.log_odds(table.measured)) > 0
            had = wrong.get(table.name, (0, 0, 0))
            wrong[table.name] = (
                had[0] + int(table.manned.sum()) + table.missed,
                had[1] + int((said & ~table.manned).sum()),
                had[2] + int((~said & table.manned).sum()) + table.missed,
            )
    return wrong


def write(network: Network, path: Path) -> None:
    """Write a network, its numbers to five digits."""

    def short(numbers: FloatArray) -> list[float]:
        return [float(f"{number:.5g}") for number in numbers]

    kept = {
        "weights": [short(row) for row in network.weights],
        "offsets": short(network.offsets),
        "out": short(network.out),
        "out_offset": float(f"{network.out_offset:.5g}"),
    }
    path.write_text(json.dumps(kept) + "\n", "utf-8")


def main(folders: Sequence[str]) -> None:
    """Train on all recordings of folders."""
    found = [p.parent for folder in folders for p in sorted(Path(folder).glob("*/truth.json"))]
    if not found:
        sys.exit("name folders that hold recordings with truth.json, as `rig clips` films them")
    tables = [table for path in found for table in tables_of(path)]
    wrong = left_out(tables)
    for name, (manned, extra, missed) in sorted(wrong.items()):
        if extra or missed:
            print(f"{name}: of {manned} soldiers {missed} missed, {extra} too many")
    manned, extra, missed = (sum(each) for each in zip(*wrong.values(), strict=True))
    print(f"left out by turns: {len(wrong)} recordings, {manned} soldiers, {missed} missed, {extra} too many")
    write(train(tables), Path(__file__).parents[1] / "vision" / "manned.json")


if __name__ == "__main__":
    main(sys.argv[1:])
