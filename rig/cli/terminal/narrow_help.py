"""Help in a narrow terminal: in its boxes the names of options would be cut off, so it does without them there."""

from __future__ import annotations

import shutil
from typing import Any

__all__ = ["fit_help", "help_width"]

_NARROW = 64
"""Below so many columns a word of some command's help does not fit into its box."""
_MARGIN = 2
_LEAST = 20  # in fewer columns, as a terminal that is no real one may claim to have, no help can be written


def help_width() -> int | None:
    """Return how wide help without boxes is to be, in columns; None where there is room for the boxes."""
    columns = shutil.get_terminal_size().columns
    return max(columns - _MARGIN, _LEAST) if columns < _NARROW else None


def fit_help(command: Any, *, boxes: bool) -> None:
    """Have a command, and those under it, tell its help with boxes or without; a mere list of commands keeps its own.

    Nothing in such a list is cut off, and without boxes only the beginning of what a command does would be told.
    """
    if any(not each.is_eager for each in command.params) or not hasattr(command, "commands"):
        command.rich_markup_mode = "rich" if boxes else None
    for each in getattr(command, "commands", {}).values():
        fit_help(each, boxes=boxes)
