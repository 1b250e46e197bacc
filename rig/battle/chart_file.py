"""Combat charts on disk, typed by hand or kept by a spreadsheet, and charts of battle files."""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from pathlib import Path

from game.montecassino import (
    Battle,
    BattleError,
    Chart,
    ChartReading,
    Column,
    chart_of,
    play_chart,
    read_chart,
)
from rig.battle.file import FaultyBattleFile, battle_in
from rig.counted import counted
from rig.files.bounded_file import read_text
from rig.files.csv_table import shown

__all__ = ["ChartFile", "read_chart_file"]


@dataclass(frozen=True, slots=True)
class ChartFile:
    """What a file holds."""

    chart: Chart
    battle: Battle | None
    """The battle that the chart notes; None where its rows cannot all be played."""
    faults: tuple[str, ...]
    """Every line that cannot be read, is no legal turn, or miscounts; by lines."""


def read_chart_file(path: Path) -> ChartFile:
    """Read a chart, or a battle file and its chart. A chart with bad lines is read with its faults.

    Raises
    ------
    FaultyBattleFile
        If it cannot be opened, is no text, has no line that a chart could have, or is a battle file and faulty.
    """
    try:
        text = read_text(path, encoding="utf-8-sig")
    except UnicodeDecodeError as bad:
        expected = "text in UTF-8; a spreadsheet writes it when asked for CSV UTF-8"
        raise FaultyBattleFile(
            str(path), [f"byte {bad.start + 1}: found what is not UTF-8, expected {expected}"]
        ) from bad
    except OSError as bad:
        found = {errno.ENOENT: "nothing", errno.EISDIR: "a folder"}.get(bad.errno or 0, bad.strerror)
        raise FaultyBattleFile(
            str(path), [f"the file: found {found}, expected a battle file or a chart"]
        ) from bad
    if text.lstrip().startswith("{"):
        battle = battle_in(text, path)
        return ChartFile(chart_of(battle), battle, ())
    reading = read_chart(text)
    if reading.chart == Chart(()):
        raise FaultyBattleFile(str(path), ["the file: found no row, expected a battle file or a chart"])
    if not reading.looks_like_one:
        raise FaultyBattleFile(str(path), [_no_chart(text, reading)])
    faults = [(fault.line, str(fault)) for fault in reading.faults]
    try:
        play = play_chart(reading.chart)
    except BattleError as bad:
        return ChartFile(reading.chart, None, (*(said for _, said in faults), str(bad)))
    lines = reading.lines
    faults += [(lines[fault.row], f"line {lines[fault.row]}, {fault}") for fault in play.faults]
    said = tuple(said for _, said in sorted(faults, key=lambda fault: fault[0]))
    return ChartFile(reading.chart, play.battle if play.whole else None, said)


def _no_chart(text: str, reading: ChartReading) -> str:
    """Say of a text of another kind what stands in its first line, and how much more there is."""
    first, *others = sorted({fault.line for fault in reading.faults})
    more = f"; {counted(len(others), 'more line')} like it" if others else ""
    found = shown(re.split(r"\r\n|\r|\n", text)[first - 1])
    columns = f"{len(Column)} columns: {', '.join(Column)}"
    return f"line {first}: found {found}, expected a battle file, or a chart with its {columns}{more}"
