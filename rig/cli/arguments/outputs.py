"""A file that somebody named to write into: told to be no good before the work, not after it.

A file's name must say what is written: a slip of the pen is not to cost a log, the settings or a battle.
"""

from __future__ import annotations

from pathlib import Path

import typer

from rig.files.ready_folder import try_in
from rig.files.real_path import real_path

__all__ = [
    "check_csv",
    "check_html",
    "check_json",
    "check_pdf",
    "check_photo",
    "check_picture",
    "check_png",
    "check_svg",
]


def check_csv(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a table; meant, as all of these, as a callback of an option."""
    return _check_only(path, ".csv")


def check_html(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a page for the browser."""
    return _check_only(path, ".html", ".htm")


def check_json(path: Path | None) -> Path | None:
    """Take the name of a file that can only be JSON."""
    return _check_only(path, ".json")


def check_pdf(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a PDF."""
    return _check_only(path, ".pdf")


def check_photo(path: Path | None) -> Path | None:
    """Take the name of a camera's picture."""
    return _check_only(path, ".png", ".jpg", ".jpeg", said=".png or .jpg")


def check_picture(path: Path | None) -> Path | None:
    """Take the name of a picture whose ending says which of three kinds it is."""
    return _check_only(path, ".png", ".svg", ".pdf", said=".png, .svg or .pdf")


def check_png(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a picture of points."""
    return _check_only(path, ".png")


def check_svg(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a drawing."""
    return _check_only(path, ".svg")


def _check_only(path: Path | None, *endings: str, said: str = "") -> Path | None:
    """Take a file's name if it has one of these endings, and can be written to. Nothing is made or changed."""
    if path is not None:
        if path.suffix.lower() not in endings:
            raise typer.BadParameter(
                f"found {path.name or str(path)!r}, expected a name that ends in {said or endings[0]}"
            )
        try:
            _try(path)
        except OSError as error:
            raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from None
    return path


def _try(path: Path) -> None:
    if not path.exists():
        try_in(real_path(path).parent)
    elif path.is_dir() or path.is_file():
        with path.open("ab"):
            pass
    # Whatever else it is (a pipe, a device), opening it may already mean something to somebody.
