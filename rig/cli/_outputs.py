"""A file or folder that somebody named to write into: told to be no good before the work, not after it."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import typer

from rig.real_path import real_path

__all__ = ["check_writable", "ready_folder"]


def check_writable(path: Path | None) -> Path | None:
    """Take a file's name if it can be written to; meant as a callback of an option. Nothing is made or changed."""
    if path is not None:
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
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    _try_in(folder)


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
