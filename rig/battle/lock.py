"""One program at a time writes a battle file: whoever does holds a lock beside it, and names itself there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rig.battle.file import FaultyBattleFile
from rig.files.file_lock import LockTaken, hold_lock_beside

__all__ = ["BattleInUse", "hold_battle"]


class BattleInUse(Exception):
    """Another program plays on with this battle."""

    exit_status = 1

    def __init__(self, path: Path, holder: str) -> None:
        self.holder = holder
        super().__init__(
            f"{path}: {holder or 'another program'} has this battle open and would write over what is played here; "
            "end that first"
        )


@contextmanager
def hold_battle(path: Path, who: str) -> Iterator[None]:
    """Keep every other program from writing a battle file that is read, played on and written back.

    Parameters
    ----------
    path : Path
        The file; it need not be there yet.
    who : str
        The command that holds it, for the message of another.

    Raises
    ------
    BattleInUse
        If another program holds it.
    FaultyBattleFile
        If nothing can be written there.
    """
    if path.is_dir():
        raise FaultyBattleFile(str(path), ["the file: found a folder, expected a battle file"])
    with ExitStack() as held:
        try:
            held.enter_context(hold_lock_beside(path, who, wait=False))
        except LockTaken as taken:
            raise BattleInUse(path, taken.holder) from None
        except OSError as bad:
            fault = f"the file: found {bad.strerror}, expected one that can be written"
            raise FaultyBattleFile(str(path), [fault]) from bad
        yield
