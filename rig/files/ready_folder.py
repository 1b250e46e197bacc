"""A folder to write into: made where it is not there, told to be no good before the work, and not left behind empty."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rig.files.not_written import NotWrittenError

__all__ = ["folder_to_fill", "ready_folder", "try_in"]


def ready_folder(folder: Path) -> None:
    """Make a folder where there is none, and see that files can be written into it.

    Raises
    ------
    OSError
        With its name, where that cannot be: a `NotWrittenError`, or one that says that something else lies there.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWrittenError(error.errno, error.strerror, str(folder)) from error
    try_in(folder)


@contextmanager
def folder_to_fill(folder: Path) -> Iterator[None]:
    """Ready a folder as `ready_folder` does; what was made for it is taken away again where nothing came into it."""
    made = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        ready_folder(folder)
        yield
    finally:
        for each in made:
            with suppress(OSError):  # something is in it, or it was not made after all
                each.rmdir()


def try_in(folder: Path) -> None:
    """Raise `NotWrittenError`, with the folder's name, where no file can be written into it."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise NotWrittenError(error.errno, error.strerror, str(folder)) from error
