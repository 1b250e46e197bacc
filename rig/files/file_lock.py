"""One program at a time: a lock that is the kernel's, and gone with its process, in whatever way that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig.files.not_written import NotWrittenError
from rig.files.real_path import real_path

__all__ = ["LockTaken", "hold_lock_beside", "take_lock"]

_LONGEST_NAME = 200


class LockTaken(Exception):
    """Another program holds it.

    Attributes
    ----------
    holder : str
        What that one calls itself; empty where it has not said so yet.
    """

    def __init__(self, holder: str) -> None:
        self.holder = holder
        super().__init__(holder)


@contextmanager
def hold_lock_beside(path: Path, who: str, *, wait: bool) -> Iterator[None]:
    """Hold the lock `FILE.lock` of a file; the file need not be there.

    The file itself cannot carry it, since each writing puts a new file in its place.

    Parameters
    ----------
    path : Path
        The file; a link is the file that it leads to.
    who : str
        The command that holds it, for the message of another.
    wait : bool
        Whether to wait for one who holds it.

    Raises
    ------
    LockTaken
        If another program holds it, and that is not waited for.
    NotWrittenError
        With the file's name, if nothing can be written there.
    """
    target = real_path(path)
    place = target.with_name(f"{target.name}.lock")
    try:
        lock = take_lock(place, wait=wait)
    except OSError as bad:
        raise NotWrittenError(bad.errno, bad.strerror, str(path)) from bad
    try:
        try:
            os.truncate(lock, 0)
            os.write(lock, f"{who}, process {os.getpid()},".encode()[:_LONGEST_NAME])
        except OSError as bad:  # a full disk takes the lock's name, and nothing in it
            raise NotWrittenError(bad.errno, bad.strerror, str(path)) from bad
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(lock)


def take_lock(place: Path, *, wait: bool) -> int:
    """Lock a file, made if it is not there, and return its descriptor, to read and to write; closing it lets go.

    Whoever lets go may first take the file away, or give it another name.

    Raises
    ------
    LockTaken
        If another program holds it, and that is not waited for.
    OSError
        If it cannot be opened or locked.
    """
    while True:
        lock = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if place.exists() and os.path.samestat(os.fstat(lock), place.stat()):
                return lock
        except BlockingIOError:
            holder = os.read(lock, _LONGEST_NAME).decode("utf-8", "replace").strip()
            os.close(lock)
            raise LockTaken(holder) from None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(lock)
            raise
        # Whoever held it took it away between our opening and our locking: that one is no lock any more.
        os.close(lock)
