"""Learn how the looks of soldiers vary, by which `vision.soldiers.parting` tells the sides, and measure it on other tables.

``python -m benchmarks._train_sides FOLDER...`` reads the tables before the shot of the recordings in folders, with the
position forgotten: clips that `rig clips` filmed and stills of ``python -m benchmarks._film_stills``. It prints how
many soldiers are taken for the other side's, recordings being left out by turns, and writes `vision/soldiers/parting.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from benchmarks._tables import truths_in
from game.montecassino import Side
from rig.recording import read_frames, read_recording
from vision.soldiers.parting import Spreads, part
from vision.soldiers.uniforms import learn_looks
from vision.table_before import NoReading, read_before

__all__ = ["Table", "learn", "table_of"]

FloatArray = NDArray[np.float64]

_FOLDS = 5
_SAME_FOOT_MM = 16.0
_FEWEST = 2  # soldiers of a side on a field, that a difference is taken of
_LEAST = 1e-5  # variance of looks
_LEAST_FIELDS, _LEAST_SIDES = 1e-3, 1e-2  # variances on axes on which soldiers vary by 1


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The soldiers of one table."""

    name: str
    looks: FloatArray
    """Shape (soldiers, numbers)."""
    shares: FloatArray
    """Of their colours, shape (soldiers, colours)."""
    allied: NDArray[np.bool_]
    forward: FloatArray
    facing: FloatArray
    on_allied: NDArray[np.bool_]


def table_of(folder: Path) -> Table | None:
    """Read a recording's table before the shot; None where no board or nobody is found."""
    recording = read_recording(folder)
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    scene = replace(recording.scene, expected=None)
    before = read_before(list(read_frames(folder, recording)), recording.timestamps_us, scene)
    if isinstance(before, NoReading):
        return None
    board = before.board
    true_mm = np.array([(each["x_mm"], each["y_mm"]) for each in truth["before"]])
    feet_mm, sides, fields, facing = [], [], [], []
    for soldier in board.standing.soldiers:
        foot_mm = (soldier.x_mm, soldier.y_mm)
        away_mm = np.hypot(*(true_mm - foot_mm).T)
        if away_mm.min() < _SAME_FOOT_MM:
            feet_mm.append(foot_mm)
            sides.append(truth["before"][int(away_mm.argmin())]["side"] == Side.A)
            fields.append(soldier.square.field is Side.A)
            facing.append(board.feet[soldier.square].forward_odds)
    if not feet_mm:
        return None
    looks, shares = learn_looks(board.flat, board.cover, board.raster, before.view, board.figure, feet_mm)
    forward = (scene.length_mm / 2 - np.array(feet_mm)[:, 1]) / scene.square_mm
    return Table(folder.name, looks, shares, np.array(sides), forward, np.array(facing), np.array(fields))


def learn(tables: Sequence[Table]) -> Spreads:
    """Learn how looks vary on tables.

    Raises
    ------
    ValueError
        If no table shows two soldiers of each side, or two of one side on each field.
    """
    numbers = tables[0].looks.shape[1]
    within, degrees = np.zeros((numbers, numbers)), 0
    for table in tables:
        for side in (True, False):
            for field in (True, False):
                own = table.looks[(table.allied == side) & (table.on_allied == field)]
                if len(own):
                    off = own - own.mean(axis=0)
                    within += off.T @ off
                    degrees += len(own) - 1
    within = within / degrees + _LEAST * np.eye(numbers)
    fields = _mean_square(
        [
            (table.looks[own & table.on_allied], table.looks[own & ~table.on_allied])
            for table in tables
            for own in (table.allied, ~table.allied)
        ],
        within,
    )
    sides = _mean_square([(t.looks[t.allied], t.looks[~t.allied]) for t in tables], within)
    variances, axes = eigh(fields, within)
    return Spreads(
        axes,
        np.maximum(variances, _LEAST_FIELDS),
        np.maximum(np.diag(axes.T @ sides @ axes), _LEAST_SIDES),
    )


def _mean_square(pairs: Sequence[tuple[FloatArray, FloatArray]], within: FloatArray) -> FloatArray:
    """Give the mean square of the differences of groups' means, without what few soldiers make by chance."""
    total, weights = np.zeros_like(within), 0.0
    for one, other in pairs:
        if min(len(one), len(other)) < _FEWEST:
            continue
        few = 1 / len(one) + 1 / len(other)
        weight = 1 / (1 + 3 * few)
        off = one.mean(axis=0) - other.mean(axis=0)
        total += weight * (np.outer(off, off) - few * within)
        weights += weight
    if not weights:
        raise ValueError("no table shows two soldiers or more of each side, and of one side on each field")
    return total / weights


def left_out(tables: Sequence[Table]) -> dict[str, int]:
    """Say by recording how many soldiers are taken for the other side's by what was learnt without it."""
    order = np.random.default_rng(0).permutation(len(tables)) % _FOLDS
    wrong = {}
    for fold in range(_FOLDS):
        learnt = learn([t for t, k in zip(tables, order, strict=True) if k != fold])
        for table, k in zip(tables, order, strict=True):
            if k == fold:
                parted = part(table.looks, table.shares, learnt, table.forward, table.facing, table.on_allied)
                wrong[table.name] = int(((parted > 0) != table.allied).sum())
    return wrong


def write(learnt: Spreads, path: Path) -> None:
    """Write what was learnt, its numbers to five digits."""

    def short(numbers: FloatArray) -> list[float]:
        return [float(f"{number:.5g}") for number in numbers]

    kept = {
        "axes": [short(row) for row in learnt.axes],
        "fields": short(learnt.fields),
        "sides": short(learnt.sides),
    }
    path.write_text(json.dumps(kept) + "\n", "utf-8")


def main() -> None:
    """Learn from all recordings of folders."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks._train_sides", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of recordings with truth.json")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parents[1] / "vision" / "soldiers" / "parting.json",
        help="file for what is learnt",
    )
    given = parser.parse_args()
    if not given.out.parent.is_dir():
        parser.error(f"{given.out.parent}: there is no such folder")
    truths = truths_in(given.folders, parser)
    tables = [table for truth in truths if (table := table_of(truth.parent)) is not None]
    print(f"{len(truths)} recordings, {len(truths) - len(tables)} of them not seen and left out")
    if len(tables) < _FOLDS:
        sys.exit(f"{len(tables)} tables are too few: expected {_FOLDS} or more, to leave some out by turns")
    try:
        wrong, learnt = left_out(tables), learn(tables)
    except ValueError as fault:
        sys.exit(str(fault))
    for name, count in sorted(wrong.items()):
        if count:
            print(f"{name}: {count} soldiers taken for the other side's")
    soldiers = sum(len(table.allied) for table in tables)
    print(f"left out by turns: {len(tables)} tables, {soldiers} soldiers, {sum(wrong.values())} wrong")
    write(learnt, given.out)


if __name__ == "__main__":
    main()
