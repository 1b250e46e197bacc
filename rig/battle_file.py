"""Battles on disk: a file is whole at every moment, and a faulty one is refused with everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from game.montecassino import Battle, BattleFileError, format_battle, parse_battle
from rig.bounded_file import read_text
from rig.whole_file import write_whole

__all__ = ["FaultyBattleFile", "read_battle", "write_battle"]


class FaultyBattleFile(Exception):
    """A file in which there is no battle, nor the chart of one, or that cannot be read or written.

    Attributes
    ----------
    name : str
        The file.
    faults : tuple of str
        Everything that is wrong with it, each beginning with its place.
    """

    def __init__(self, name: str, faults: Iterable[str]) -> None:
        self.name = name
        self.faults = tuple(faults)
        super().__init__(f"{name}: {'; '.join(self.faults)}")


def read_battle(path: Path) -> Battle:
    """Read a battle file, and replay it.

    Raises
    ------
    FaultyBattleFile
        If there is none, or with every fault of the one that is there.
    """
    try:
        return parse_battle(read_text(path, encoding="utf-8-sig"))
    except BattleFileError as bad:
        faults: Iterable[str] = bad.faults
    except UnicodeDecodeError as bad:
        faults = [f"byte {bad.start}: found what is not UTF-8, expected JSON, which is"]
    except OSError as bad:
        faults = [f"the file: {bad.strerror}, expected a battle file"]
    raise FaultyBattleFile(str(path), faults)


def write_battle(path: Path, battle: Battle) -> None:
    """Write a battle file in place of what was there.

    Whoever reads it, and whatever happens meanwhile, finds either the old file or the new one, never half of one.

    Raises
    ------
    FaultyBattleFile
        If it cannot be written; what was there is there still.
    """
    try:
        write_whole(path, format_battle(battle))
    except OSError as bad:
        raise FaultyBattleFile(
            str(path), [f"the file: {bad.strerror}, expected one that can be written"]
        ) from bad
