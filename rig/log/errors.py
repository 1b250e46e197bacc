"""The log's one error."""

from __future__ import annotations

__all__ = ["LogError"]


class LogError(Exception):
    """The log cannot be used as asked: its file, or what it was asked to keep, is at fault.

    The text is one sentence: what, where, what was found and what was expected. Nothing was written.
    """
