"""Where a path leads."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["real_path"]


def real_path(path: Path) -> Path:
    """Return a path with all links followed; what it names need not be there.

    Raises
    ------
    OSError
        Where links lead in a circle. `Path.resolve` tells that as a RuntimeError, or not at all, by Python's version.
    """
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return real
