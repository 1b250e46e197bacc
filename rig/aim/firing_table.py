"""The firing table: how to point the cannon at every square, or why it cannot be."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from calibration.aim import Arc
from calibration.precision import Precision, precision_at
from calibration.scatter import Scatter
from game.montecassino import BOARD_FILES, BOARD_ROWS, Side, Square
from rig import settings
from rig.aim.pointing import AimedShot, TargetOutOfReach, aim_at, cannon_of

__all__ = ["COLUMNS", "TableRow", "as_csv", "firing_table"]

COLUMNS = (
    "square",
    "distance_mm",
    "traverse_mm",
    "azimuth_deg",
    "elevation_deg",
    "traverse_us",
    "azimuth_us",
    "elevation_us",
    "flight_ms",
    "arrival_deg",
    "rise_mm_per_percent",
    "no_aim",
)
"""The columns of the table as CSV."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One square."""

    square: Square
    aimed: AimedShot | None
    """None where the cannon cannot be pointed there."""
    no_aim: str
    """Why not; empty where it can."""
    precision: Precision | None

    @property
    def distance_mm(self) -> float | None:
        """Over the ground, from the muzzle to the target."""
        if self.aimed is None:
            return None
        return math.dist(self.aimed.muzzle_mm[:2], self.aimed.target_mm[:2])

    @property
    def cells(self) -> tuple[str, ...]:
        """The values of `COLUMNS`; empty where there is no aim."""
        if self.aimed is None or self.precision is None:
            return (str(self.square), *[""] * (len(COLUMNS) - 2), self.no_aim)
        found = self.aimed.aim
        return (
            str(self.square),
            f"{self.distance_mm:.1f}",
            f"{1000 * found.traverse_m:.1f}",
            _degrees(found.azimuth_rad),
            _degrees(found.elevation_rad),
            f"{self.aimed.traverse_us:.1f}",
            f"{self.aimed.azimuth_us:.1f}",
            f"{self.aimed.elevation_us:.1f}",
            f"{1000 * found.time_of_flight_s:.1f}",
            _degrees(found.impact_angle_rad),
            f"{10 * self.precision.rise_m_per_speed:.2f}",
            "",
        )


def firing_table(
    side: Side,
    cannon: settings.Cannon,
    board: settings.Board,
    arc: Arc = Arc.DIRECT,
    *,
    shots_before: int | None = None,
) -> Iterator[TableRow]:
    """Yield a row for every square, the shooter's own first line first, each line from its left.

    Parameters
    ----------
    side
        Who fires.
    cannon, board
        The settings.
    arc
        The flatter path or the steeper one.
    shots_before
        As for `rig.aim.pointing.cannon_of`.
    """
    solved = cannon_of(side, cannon, board, shots_before=shots_before)
    for line in range(1, BOARD_ROWS + 1):
        for file in range(BOARD_FILES):
            square = Square.from_own(side, line, file)
            try:
                aimed = aim_at(square, side, cannon, board, arc=arc, shots_before=shots_before)
            except TargetOutOfReach as refused:
                yield TableRow(square, None, str(refused.reason), None)
                continue
            x_mm, y_mm, _ = aimed.target_mm
            precision = precision_at(solved, aimed.aim, (x_mm / 1000, y_mm / 1000), Scatter())
            yield TableRow(square, aimed, "", precision)


def as_csv(rows: Iterable[TableRow]) -> str:
    """Write the table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row.cells for row in rows)
    return text.getvalue()


def _degrees(angle_rad: float) -> str:
    # Adding 0 makes 0.00 of what would be written -0.00.
    return f"{round(math.degrees(angle_rad), 2) + 0.0:.2f}"
