"""What tells a film that was changed from the one that was recorded."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rig.files.bounded_file import open_to_read

__all__ = ["digest"]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with open_to_read(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
