"""A file or folder that somebody named to write into: told to be no good before the work, not after it.

A file's name must say what is written: a slip of the pen is not to cost a log, the settings or a battle.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from rig.real_path import real_path

__all__ = [
    "check_csv",
    "check_html",
    "check_pdf",
    "check_photo",
    "check_picture",
    "check_png",
    "check_svg",
    "folder_to_fill",
    "ready_folder",
]


def check_csv(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a table; meant, as all of these, as a callback of an option."""
    return _check_only(path, ".csv")


def check_html(path: Path | None) -> Path | None:
    """Take the name of a file that can only be a page for the browser."""
    return _check_only(path, ".html", ".htm")


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


def ready_folder(folder: Path) -> None:
    """Make a folder where there is none, and see that files can be written into it.

    Raises
    ------
    OSError
        With its name, where that cannot be.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    _try_in(folder)


@contextmanager
def folder_to_fill(folder: Path) -> Iterator[None]:
    """Ready a folder as `ready_folder` does; what was made for it is taken away again where nothing came into it."""
    made = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    ready_folder(folder)
    try:
        yield
    finally:
        with suppress(OSError):  # something is in it
            for each in made:
                each.rmdir()


def _try(path: Path) -> None:
    if not path.exists():
        _try_in(real_path(path).parent)
    elif path.is_dir() or path.is_file():
        with path.open("ab"):
            pass
    # Whatever else it is (a pipe, a device), opening it may already mean something to somebody.


def _try_in(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error
