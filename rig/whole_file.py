"""A file written whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from rig.file_lock import take_lock
from rig.real_path import real_path

__all__ = ["to_disk", "write_whole"]


def to_disk(path: Path) -> None:
    """Wait until the disk has what was written into a file, or which names were given in a folder.

    Raises
    ------
    OSError
        Where the disk does not take it.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: str | bytes) -> None:
    """Put a text or bytes into a file, or leave what was there; on return it is on the disk.

    What a link leads to is written anew, and the link stays one. Programs that write the same file at once do so one
    after the other, and what a killed one left beside it is taken away by the next.

    Raises
    ------
    OSError
        With the file's name, if it cannot be written, or is no file but a folder or a device.
    """
    target = real_path(path)
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is no file that could be written anew", str(path))
    draft = target.with_name(target.name + ".part")
    try:
        # The lock is the draft itself: what takes the file's place is nobody's draft any more.
        with os.fdopen(take_lock(draft, wait=True), "wb") as file:
            try:
                file.truncate()
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
                draft.replace(target)
            except BaseException:
                with suppress(OSError):
                    draft.unlink()
                raise
    except OSError as bad:
        # A full disk does not say by itself which file it was.
        raise OSError(bad.errno, bad.strerror, str(path)) from bad
    with suppress(OSError):  # not every file system knows how; either file is whole
        to_disk(target.parent)
