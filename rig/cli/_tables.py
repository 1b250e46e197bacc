"""How tables look in the terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table

__all__ = ["plain_table"]


def plain_table(title: str | None = None) -> Table:
    """Return a table without columns yet: a line under its heads and no other, flush with what is printed around it."""
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
