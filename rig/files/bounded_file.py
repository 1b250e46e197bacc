"""Read a file that somebody named, though it may be no file: a device has no end, and would be read until memory has."""

from __future__ import annotations

import errno
import io
from pathlib import Path
from typing import Final

__all__ = ["MOST_BYTES", "read_bytes", "read_text"]

MOST_BYTES: Final = 64 * 2**20
"""More than any file of keys, rows or records has."""


def read_bytes(path: Path) -> bytes:
    """Give what a file holds, or a pipe that ends, as the shell's ``<(...)``.

    Raises
    ------
    OSError
        It cannot be read, or goes on beyond `MOST_BYTES`.
    """
    with path.open("rb") as file:
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
