"""Read a file that somebody named, though it may be no file: a device has no end, and would be read until memory has."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Final

__all__ = ["MOST_BYTES", "open_to_read", "read_bytes", "read_text"]

MOST_BYTES: Final = 64 * 2**20
"""More than any file of keys, rows or records has."""


def open_to_read(path: Path) -> io.BufferedReader:
    """Open a file, or a pipe that the shell began with its writer, as ``<(...)``.

    Raises
    ------
    OSError
        It cannot be read, or is a device or a pipe with a name, which would be waited for until somebody writes into it.
    """
    real = Path(os.path.realpath(path))  # where the shell's pipes, which have no name, are nowhere
    if real.is_fifo() or (real.is_char_device() and real != Path(os.devnull)):
        raise OSError(errno.EINVAL, "a device or a pipe", str(path))
    return path.open("rb")


def read_bytes(path: Path) -> bytes:
    """Give what a file holds, or the shell's pipe.

    Raises
    ------
    OSError
        As for `open_to_read`, or it goes on beyond `MOST_BYTES`.
    """
    with open_to_read(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"more than {MOST_BYTES // 2**20} MB", str(path))
    return data


def read_text(path: Path, *, encoding: str = "utf-8") -> str:
    """Give a file's text; lines end in it as Python has them, whatever they ended in.

    Raises
    ------
    OSError
        As for `read_bytes`.
    UnicodeDecodeError
        It is no text.
    """
    return io.TextIOWrapper(io.BytesIO(read_bytes(path)), encoding=encoding).read()
