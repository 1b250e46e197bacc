"""Makes `rig/aim/fall_table.json`: who falls when the shot touches a soldier, simulated on the twin's physics.

Run it with `python -m benchmarks._fall_table SHOTS` (about 0.6 s of one core a shot). Each shot is aimed at a random
place of a soldier on a random square; half of the squares around it are taken, by either side.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibration.aim import Aim, solve
from calibration.figure import Figure
from calibration.strikes import TouchBins
from game.montecassino import Cause, Side, Square
from rig.aim.pointing import cannon_of
from rig.settings import Settings
from twin.table import Table, TableSettings

SEED = 20261121
FILES, LINES = range(-2, 3), range(-1, 5)
BINS = TouchBins(heights=(0.25, 0.5, 0.75), offsets=(-1 / 3, 1 / 3))
_SETTLED_US = 700_000
_PATH = Path(__file__).parents[1] / "rig" / "aim" / "fall_table.json"


@dataclass(frozen=True, slots=True)
class CrowdShot:
    """One simulated shot."""

    touched: Square | None
    """Whom the shot touched before anything else; None where that was the board or nobody."""
    height: float
    """Of the shot's centre at that touch, in parts of the soldier's height."""
    offset: float
    """Of its plane to the right of the soldier's axis, in parts of the body's reach."""
    soldiers: frozenset[Square]
    falls: dict[Square, Cause]


def crowd_shots(numbers: Sequence[int]) -> Iterator[CrowdShot]:
    """Simulate the shots of these numbers; each has draws of its own."""
    settings = Settings()
    cannon = cannon_of(Side.A, settings.cannon, settings.board)
    height_mm = settings.board.soldier_height_mm
    reach_mm = 1000 * Figure(height_mm / 1000).body_reach_m
    for number in numbers:
        rng = np.random.default_rng([SEED, number])
        line, file = int(rng.integers(5, 14)), int(rng.integers(2, 6))
        target = Square.from_own(Side.A, line, file)
        soldiers = {target: _either(rng)}
        for further in LINES:
            for beside in FILES:
                if (further, beside) != (0, 0) and rng.random() < 0.5:
                    soldiers[Square.from_own(Side.A, line + further, file + beside)] = _either(rng)
        table = Table(TableSettings(), soldiers, seed=number)
        stands = {standing.square: (standing.x_mm, standing.y_mm) for standing in table.standing()}
        x_mm, y_mm = stands[target]
        x_mm += rng.uniform(-9, 9)
        aim = solve(cannon, (x_mm / 1000, y_mm / 1000, rng.uniform(-8, height_mm + 1) / 1000))
        assert isinstance(aim, Aim), "the cannon can be pointed at everybody here"
        x_m, y_m, z_m = aim.muzzle_m
        muzzle_mm = (1000 * x_m, 1000 * y_m, 1000 * z_m)
        table.launch(muzzle_mm, aim.azimuth_rad, aim.elevation_rad, settings.cannon.muzzle_speed_mps, 0)
        table.advance(_SETTLED_US)
        table.stop()
        truth = table.truth()
        first = truth.contacts[0][1] if truth.contacts else "edge"
        touched = None if first in {"board", "edge"} else Square.parse(first)
        height = offset = 0.0
        if touched is not None and truth.first_contact_mm is not None:
            shot_x_mm, shot_y_mm, shot_z_mm = truth.first_contact_mm
            x_mm, y_mm = stands[touched]
            height = shot_z_mm / height_mm
            offset = (
                (shot_x_mm - x_mm) * math.cos(aim.azimuth_rad)
                - (shot_y_mm - y_mm) * math.sin(aim.azimuth_rad)
            ) / reach_mm
        yield CrowdShot(
            touched, height, offset, frozenset(soldiers), {fall.square: fall.cause for fall in truth.falls}
        )


def count(shots: Iterator[CrowdShot]) -> dict[str, NDArray[np.int64]]:
    """Count who fell; every shot counts twice, as it was and seen in a mirror."""
    classes = BINS.shape
    places = (*classes, len(LINES), len(FILES))
    counts = {name: np.zeros(classes, dtype=np.int64) for name in ("touched", "fell")}
    counts |= {name: np.zeros(places, dtype=np.int64) for name in ("neighbours", "dragged", "ricochet")}
    for shot in shots:
        if shot.touched is None:
            continue
        line, file = shot.touched.own_line(Side.A), shot.touched.own_file(Side.A)
        height = int(np.searchsorted(BINS.heights, shot.height))
        for mirror in (1, -1):
            offset = int(np.searchsorted(BINS.offsets, mirror * shot.offset))
            counts["touched"][height, offset] += 1
            counts["fell"][height, offset] += shot.touched in shot.falls
            for other in shot.soldiers - {shot.touched}:
                further = other.own_line(Side.A) - line
                beside = mirror * (other.own_file(Side.A) - file)
                if further not in LINES or beside not in FILES:
                    continue
                place = (height, offset, LINES.index(further), FILES.index(beside))
                counts["neighbours"][place] += 1
                cause = shot.falls.get(other)
                if cause is not None:
                    name = "dragged" if cause in {Cause.DRAGGED, Cause.OTHER} else "ricochet"
                    counts[name][place] += 1
    return counts


def _either(rng: np.random.Generator) -> Side:
    return Side.A if rng.random() < 0.5 else Side.G


def write(shots: int, counts: dict[str, NDArray[np.int64]], path: Path) -> None:
    """Write the table."""
    settings = Settings()
    table = {
        "made_by": f"python -m benchmarks._fall_table {shots}",
        "from": (
            f"{shots} shots of {settings.cannon.muzzle_speed_mps:g} m/s at soldiers of "
            f"{settings.board.soldier_height_mm:g} mm on the twin's physics, seed {SEED}; "
            "each counted twice, as it was and in a mirror"
        ),
        "height_edges": BINS.heights,
        "offset_edges": BINS.offsets,
        "lines": list(LINES),
        "files": list(FILES),
        **{name: values.tolist() for name, values in counts.items()},
    }
    path.write_text(json.dumps(table) + "\n", encoding="utf-8")


def main() -> None:
    """Simulate shots and write what came of them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks._fall_table", description="Count who falls, on the twin's physics."
    )
    parser.add_argument("shots", type=int, help="how many; the table that is shipped is of 2400")
    parser.add_argument("--out", type=Path, default=_PATH, help="file of the table")
    given = parser.parse_args()
    if given.shots < 1:
        parser.error(f"{given.shots} shots: expected 1 or more")
    if not given.out.parent.is_dir():
        parser.error(f"{given.out.parent}: there is no such folder")
    write(given.shots, count(crowd_shots(range(given.shots))), given.out)


if __name__ == "__main__":
    main()
