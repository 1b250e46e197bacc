"""A file or a folder that cannot be written."""

from __future__ import annotations

__all__ = ["NotWrittenError"]


class NotWrittenError(OSError):
    """A file that cannot be written, or a folder that takes none: one sentence with its name and why."""

    def __str__(self) -> str:
        return f"{self.filename} cannot be written: {self.strerror}"
