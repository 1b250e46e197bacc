"""Train the network that says whether somebody stands on a square, and measure it on tables that it was not trained on.

``python -m benchmarks._train_manned FOLDER... [--kept FOLDER]`` reads the recordings of folders: clips that `rig clips`
filmed, of which it takes what is seen before the shot, with the position told and with it forgotten, and after it,
when some lie about; and stills of ``python -m benchmarks._film_stills``, with soldiers that lie about and without. It
trains, prints how many squares are wrong, recordings being left out by turns, and writes `vision/soldiers/manned.json`. What it
measures on a recording it keeps in the folder that ``--kept`` names, and takes from there the next time: reading takes
hours where training takes minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from game.montecassino import ALL_SQUARES, Square
from rig.recording import read_frames, read_recording
from vision.reading import NoReading, read_before
from vision.scene import Scene
from vision.soldiers import measure_squares
from vision.soldiers.manned import Network, plainest

__all__ = ["Table", "kept_tables", "left_out", "tables_of", "train"]

FloatArray = NDArray[np.float64]

_FOLDS = 5
_NETWORKS, _UNITS = 3, 32  # trained apart, and joined to one that says their mean
_STEPS, _BATCH = 3000, 1024
_DECAY = 3e-4
# Features are shaken by so much of their spread: what is learnt holds beside what was seen.
_SHAKEN = 0.15
_LAST_US = 55_000  # of a recording's pictures: everything is at rest again
_SAME = 1e-6
_KEPT = ("measured", "manned", "missed")
_RIM = 0.3  # of a square from its middle; who stands farther off can be of the next one as well


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
    """Read a recording with its truth: before the shot, with the position told and forgotten, and after it, forgotten.

    A still has no shot: it is read once, the position forgotten.
    """
    recording = read_recording(folder)
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    frames = list(read_frames(folder, recording))
    times_us, scene = recording.timestamps_us, recording.scene
    before = {each["square"]: (each["x_mm"], each["y_mm"]) for each in truth["before"]}
    gone = {fall["square"] for fall in truth["falls"]}
    after = before | {each["square"]: (each["x_mm"], each["y_mm"]) for each in truth["moved"]}
    forgotten = replace(scene, expected=None)
    if "lying" in truth:
        still = _read(folder.name, frames, times_us, replace(forgotten, fire_us=None), before.values())
        return [] if still is None else [still]
    found = [_read(folder.name, frames, times_us, forgotten, before.values())]
    if scene.expected is not None:
        found.append(_read(folder.name, frames, times_us, scene, before.values()))
    last = sum(1 for t in times_us if t < times_us[-1] - _LAST_US)
    feet_mm = [foot for square, foot in after.items() if square not in gone]
    found.append(
        _read(folder.name, frames[last:], times_us[last:], replace(forgotten, fire_us=None), feet_mm)
    )
    return [table for table in found if table is not None]


def kept_tables(folder: Path, kept: Path) -> list[Table]:
    """Give what was measured on a recording before, or measure it now and keep it."""
    path = kept / f"{folder.parent.name}_{folder.name}.npz"
    if not path.exists():
        tables = tables_of(folder)
        values = {f"{k}_{name}": getattr(t, name) for k, t in enumerate(tables) for name in _KEPT}
        kept.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, count=len(tables), **values)
    with np.load(path) as found:
        return [
            Table(folder.name, found[f"{k}_measured"], found[f"{k}_manned"], int(found[f"{k}_missed"]))
            for k in range(int(found["count"]))
        ]


def _read(
    name: str,
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    feet_mm: Iterable[tuple[float, float]],
) -> Table | None:
    before = read_before(frames, timestamps_us, scene)
    if isinstance(before, NoReading):
        return None
    board = before.board
    squares, measured = measure_squares(board.flat, board.covers, board.looks)
    manned, unclear = _squares_under(list(feet_mm), scene.square_mm)
    clear = [k for k, square in enumerate(squares) if square not in unclear]
    return Table(
        name,
        measured[clear],
        np.array([squares[k] in manned for k in clear], dtype=np.bool_),
        len(manned - unclear - set(squares)),
    )


def _squares_under(
    feet_mm: Sequence[tuple[float, float]], square_mm: float
) -> tuple[set[Square], set[Square]]:
    """Give the squares that feet stand on, and those that feet stand near the rim of, on either side of it."""
    centres_mm = np.array([square.centre_mm(square_mm) for square in ALL_SQUARES])
    manned: set[Square] = set()
    unclear: set[Square] = set()
    for foot_mm in feet_mm:
        off = np.abs(centres_mm - foot_mm).max(axis=1) / square_mm
        for k in np.flatnonzero(off < 1 - _RIM):
            (manned if off[k] <= _RIM else unclear).add(ALL_SQUARES[k])
    return manned, unclear


def train(tables: Sequence[Table], seed: int = 0) -> Network:
    """Train on tables."""
    measured = np.concatenate([t.measured for t in tables])
    manned = np.concatenate([t.manned for t in tables])
    mean, spread = measured.mean(axis=0), measured.std(axis=0)
    spread[spread < _SAME] = 1.0  # nothing is learnt from what is the same everywhere
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


def main() -> None:
    """Train on all recordings of folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of recordings with truth.json")
    parser.add_argument("--kept", type=Path, help="where what is measured is kept")
    given = parser.parse_args()
    truths = [truth for folder in given.folders for truth in sorted(folder.glob("*/truth.json"))]
    for folder in given.folders:
        if not any(truth.parent.parent == folder for truth in truths):
            parser.error(f"{folder}: no recordings with their truth in it (folders with a truth.json)")
    tables = [
        table
        for truth in truths
        for table in (kept_tables(truth.parent, given.kept) if given.kept else tables_of(truth.parent))
    ]
    wrong = left_out(tables)
    for name, (manned, extra, missed) in sorted(wrong.items()):
        if extra or missed:
            print(f"{name}: of {manned} soldiers {missed} missed, {extra} too many")
    manned, extra, missed = (sum(each) for each in zip(*wrong.values(), strict=True))
    print(f"left out by turns: {len(wrong)} tables, {manned} soldiers, {missed} missed, {extra} too many")
    write(train(tables), Path(__file__).parents[1] / "vision" / "soldiers" / "manned.json")


if __name__ == "__main__":
    main()
