"""A bar on the terminal that says how far a longer work is."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import Progress, ProgressColumn

__all__ = ["progress_on"]


def progress_on(
    console: Console, *columns: ProgressColumn, transient: bool = False, quiet: bool = False
) -> Progress:
    """Return a bar for a console on standard error, shown where that is a terminal.

    Parameters
    ----------
    console
        Where it is shown.
    columns
        What it shows; rich's own by default.
    transient
        Whether it is gone at the end.
    quiet
        True: it is not shown at all.
    """
    # Rich would have standard output go through the progress, and so to standard error, also where it is a file.
    return Progress(
        *columns,
        console=console,
        transient=transient,
        disable=quiet or not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),
    )
