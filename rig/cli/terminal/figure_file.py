"""Write a figure into the file that somebody named."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line
from rig.files.whole_file import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_figure"]

_DPI = 150


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure, without the date, so that the same figures give the same file."""
    kind = path.suffix.lower().removeprefix(".")
    drawn = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(drawn, format=kind, dpi=_DPI, metadata=dated.get(kind))
    write_whole(path, drawn.getvalue())
    echo(f"wrote {on_one_line(path)}", err=True)
