"""A file written whole or not at all."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

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


def write_whole(path: Path, text: str) -> None:
    """Put a text into a file, or leave what was there; on return it is on the disk.

    What a link leads to is written anew, and the link stays one.

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
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as bad:
        with suppress(OSError):
            draft.unlink()
        # A full disk does not say by itself which file it was.
        raise OSError(bad.errno, bad.strerror, str(path)) from bad
    with suppress(OSError):  # not every file system knows how; either file is whole
        to_disk(target.parent)
