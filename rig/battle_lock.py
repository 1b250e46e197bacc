"""One program at a time writes a battle file: whoever does holds a lock beside it, and names itself there.

The lock is the kernel's, on `FILE.lock`: it is gone with its process, in whatever way that ends. The battle file itself cannot
carry it, since each turn puts a new file in its place.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig.battle_file import FaultyBattleFile
from rig.real_path import real_path

__all__ = ["BattleInUse", "hold_battle"]

_LONGEST_NAME = 200


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
        raise FaultyBattleFile(str(path), ["the file: Is a directory, expected a battle file"])
    try:
        target = real_path(path)
        place = target.with_name(f"{target.name}.lock")
        lock = _locked(place, path)
    except OSError as bad:
        fault = f"the file: {bad.strerror}, expected one that can be written"
        raise FaultyBattleFile(str(path), [fault]) from bad
    try:
        os.truncate(lock, 0)
        os.write(lock, f"{who}, process {os.getpid()},".encode()[:_LONGEST_NAME])
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(lock)


def _locked(place: Path, path: Path) -> int:
    """Return the lock's descriptor, held."""
    while True:
        lock = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if place.exists() and os.path.samestat(os.fstat(lock), place.stat()):
                return lock
        except BlockingIOError:
            holder = os.read(lock, _LONGEST_NAME).decode("utf-8", "replace").strip()
            os.close(lock)
            raise BattleInUse(path, holder) from None
        except FileNotFoundError:
            pass
        except OSError:
            os.close(lock)
            raise
        # Whoever held it took it away between our opening and our locking: that one is no lock any more.
        os.close(lock)
