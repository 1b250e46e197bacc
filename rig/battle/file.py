"""Battles on disk: a file is whole at every moment, and a faulty one is refused with everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from game.montecassino import Battle, BattleFileError, format_battle, parse_battle
from rig.battle.names import battle_named_like
from rig.files.bounded_file import read_text
from rig.files.whole_file import write_whole

__all__ = ["ChangedBattleFile", "FaultyBattleFile", "battle_in", "holds", "read_battle", "write_battle"]


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


class ChangedBattleFile(FaultyBattleFile):
    """A file that somebody wrote into since it was read or written here, as in an editor: it is left as it is."""

    def __init__(self, path: Path) -> None:
        fault = "found what somebody else wrote into it since, expected the battle as it was last kept here"
        super().__init__(str(path), [f"the file: {fault}"])


def read_battle(path: Path) -> Battle:
    """Read a battle file, and replay it.

    Raises
    ------
    FaultyBattleFile
        If there is none, or with every fault of the one that is there.
    """
    try:
        text = read_text(path, encoding="utf-8-sig")
    except UnicodeDecodeError as bad:
        fault = f"byte {bad.start + 1}: found what is not UTF-8, expected JSON, which is"
    except FileNotFoundError:
        near = battle_named_like(path)
        meant = "rig game play --battle begins one" if near is None else f"perhaps {near} is meant"
        fault = f"the file: found nothing, expected a battle file; {meant}"
    except IsADirectoryError:
        fault = "the file: found a folder, expected a battle file"
    except OSError as bad:
        fault = f"the file: found {bad.strerror}, expected a battle file"
    else:
        return battle_in(text, path)
    raise FaultyBattleFile(str(path), [fault])


def battle_in(text: str, path: Path) -> Battle:
    """Replay the battle in the text of a battle file; a pipe gives its text but once.

    Raises
    ------
    FaultyBattleFile
        With every fault of it.
    """
    try:
        return parse_battle(text)
    except BattleFileError as bad:
        raise FaultyBattleFile(str(path), bad.faults) from bad


def holds(path: Path, battle: Battle) -> bool:
    """Whether a file is there, and this battle in it."""
    try:
        return read_battle(path) == battle
    except FaultyBattleFile:
        return False


def write_battle(path: Path, battle: Battle, *, over: Battle | None = None) -> None:
    """Write a battle file in place of what was there.

    Whoever reads it, and whatever happens meanwhile, finds either the old file or the new one, never half of one.

    Parameters
    ----------
    path : Path
        The file.
    battle : Battle
        What it holds then.
    over : Battle, optional
        What it held when it was last read or written here, where it was.

    Raises
    ------
    ChangedBattleFile
        If it holds something else than `over` by now.
    FaultyBattleFile
        If it cannot be written; what was there is there still.
    """
    if over is not None and path.exists() and not holds(path, over):
        raise ChangedBattleFile(path)
    try:
        write_whole(path, format_battle(battle))
    except OSError as bad:
        raise FaultyBattleFile(
            str(path), [f"the file: found {bad.strerror}, expected one that can be written"]
        ) from bad
