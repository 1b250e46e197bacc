"""The table of falls that comes with the rig: simulated on the twin's physics by `benchmarks/_fall_table.py`."""

import functools
import json
from pathlib import Path

from calibration.falls import FallTable
from calibration.strikes import TouchBins

__all__ = ["fall_table", "fall_table_origin"]

_PATH = Path(__file__).with_name("fall_table.json")


@functools.cache
def fall_table() -> FallTable:
    """Return the table; it holds for the default soldier, shot and speed."""
    table = json.loads(_PATH.read_text(encoding="utf-8"))
    return FallTable.from_counts(
        TouchBins(tuple(table["height_edges"]), tuple(table["offset_edges"])),
        tuple(table["lines"]),
        tuple(table["files"]),
        **{name: table[name] for name in ("touched", "fell", "neighbours", "dragged", "ricochet")},
    )


def fall_table_origin() -> str:
    """Say where the table comes from."""
    origin: str = json.loads(_PATH.read_text(encoding="utf-8"))["from"]
    return origin
