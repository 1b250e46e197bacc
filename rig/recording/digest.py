"""What tells a film that was changed from the one that was recorded."""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["digest"]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
