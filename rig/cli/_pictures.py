"""Write a figure into the file that somebody named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rig.cli._outputs import check_writable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_ending", "check_html", "check_pdf", "write_figure"]

_ENDINGS = (".png", ".svg", ".pdf")
_DPI = 150


def check_ending(path: Path | None) -> Path | None:
    """Take the file's name if its ending says what to write, and it can be written; meant as a callback of an option."""
    if path is not None and path.suffix.lower() not in _ENDINGS:
        raise typer.BadParameter(f"found {path.name!r}, expected a name that ends in .png, .svg or .pdf")
    return check_writable(path)


def check_pdf(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a PDF; meant as a callback of an option."""
    return _check_only(path, ".pdf")


def check_html(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a page for the browser; meant as a callback of an option."""
    return _check_only(path, ".html", ".htm")


def _check_only(path: Path | None, *endings: str) -> Path | None:
    if path is not None and path.suffix.lower() not in endings:
        raise typer.BadParameter(f"found {path.name!r}, expected a name that ends in {endings[0]}")
    return check_writable(path)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure, without the date, so that the same figures give the same file."""
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure.savefig(path, dpi=_DPI, metadata=dated.get(path.suffix.lower()))
    typer.echo(f"wrote {path}", err=True)
