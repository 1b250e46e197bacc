"""How much memory is free: a film that takes more would end the program without a word, or the whole computer."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["free_memory_bytes"]


def free_memory_bytes() -> int | None:
    """Return how much memory programs may still take; None where this system does not tell."""
    try:
        told = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    available = re.search(r"^MemAvailable:\s*(\d+) kB$", told, re.MULTILINE)
    return None if available is None else int(available[1]) * 1024
