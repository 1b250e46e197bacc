"""Check a firmware file: Intel HEX, whole, and of a size that fits the chip."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rig.files.bounded_file import read_bytes

__all__ = ["HexError", "hex_size"]

_EVERY_RECORD: Final = 5  # count, two bytes of address, type, checksum
_DATA, _END = 0, 1


class HexError(ValueError):
    """A file that is no firmware: one sentence with its place."""


def hex_size(path: Path) -> int:
    """Return how many bytes a firmware file has for the chip.

    Raises
    ------
    HexError
        Where it is no Intel HEX, a line of it is damaged, or its end is missing.
    OSError
        Where it cannot be read.
    """
    size = 0
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        kind, count = _record(path, number, line)
        if kind == _END:
            return size
        size += count if kind == _DATA else 0
    raise HexError(f"{path}: its last record is missing; expected a whole Intel HEX file")


def _record(path: Path, number: int, line: bytes) -> tuple[int, int]:
    """Return a record's type and how many bytes it carries."""
    try:
        data = bytes.fromhex(line.decode("ascii").removeprefix(":")) if line.startswith(b":") else b""
    except ValueError:
        data = b""
    if len(data) < _EVERY_RECORD or len(data) != data[0] + _EVERY_RECORD or sum(data) % 256:
        found = line[:40].decode("ascii", "replace")
        raise HexError(
            f"{path}: line {number} is {found!r}, expected a record of Intel HEX with its checksum"
        )
    return data[3], data[0]
