"""How tables look in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, ConsoleRenderable
from rich.table import Table

__all__ = ["plain_table", "print_folded", "print_uncut"]

_LEAST_WIDTH = 60
"""Of a table whose last column is broken into lines; a terminal that is narrower breaks its lines once more."""


def plain_table(title: str | None = None) -> Table:
    """Return a table without columns yet: a line under its heads and no other, flush with what is printed around it."""
    return Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )


def print_folded(table: Table) -> None:
    """Print a table whose last columns are broken to the terminal's width; no other is cut off, however narrow it is."""
    # What is shown is names and figures: nothing in them is a sign for bold type, or for a picture.
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, _LEAST_WIDTH)
    console.print(table)


def print_uncut(parts: Iterable[ConsoleRenderable]) -> None:
    """Print tables at their own width, a line apart, and what stands between them at the terminal's.

    In a narrow terminal, or a pipe that has 80 columns, figures and names would be cut off; so it breaks the lines.
    """
    before: ConsoleRenderable | None = None
    for part in parts:
        # What is shown is names and figures: nothing in them is a sign for bold type, or for a picture.
        console = Console(highlight=False, markup=False, emoji=False)
        if isinstance(part, Table):
            own_width = Console(markup=False, emoji=False, width=10_000).measure(part).maximum
            console.width = max(console.width, own_width)
        if before is not None and (isinstance(before, Table) or isinstance(part, Table)):
            console.print()
        console.print(part)
        before = part
