"""A file written whole or not at all."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rig.files.bounded_file import read_bytes
from rig.files.file_lock import take_lock
from rig.files.not_written import NotWrittenError
from rig.files.real_path import real_path

__all__ = ["draft_of", "to_disk", "write_changed", "write_whole"]


def to_disk(path: Path) -> None:
    """Wait until the disk has what was written into a file, or which names were given in a folder.

    Raises
    ------
    OSError
        Where the disk does not take it.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def draft_of(path: Path, *, ending: str = "") -> Iterator[Path]:
    """Give a file to write into, which takes another's place once all is written, and is on the disk then.

    What a link leads to is written anew, and the link stays one; so do the permissions of a file that was there. Programs that write the same file at once do so one
    after the other, and what a killed one left beside it is taken away by the next.

    Parameters
    ----------
    path : Path
        The file whose place it takes; it stays as it is where the writing fails.
    ending : str
        How the draft's name ends, for whoever goes by it.

    Raises
    ------
    NotWrittenError
        With the file's name, if it cannot be written, must not be, or is no file but a folder or a device.
    """
    target = real_path(path)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise NotWrittenError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise NotWrittenError(errno.EINVAL, "no file that could be written anew", str(path))
    if target.exists() and not os.access(
        target, os.W_OK
    ):  # to take its place its folder's permission would do
        raise NotWrittenError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    draft = target.with_name(f"{target.name}.part{ending}")
    try:
        # The lock is the draft itself: what takes the file's place is nobody's draft any more.
        lock = take_lock(draft, wait=True)
        try:
            yield draft
            if target.exists():
                with suppress(PermissionError):  # not every file system has permissions
                    os.fchmod(lock, stat.S_IMODE(target.stat().st_mode))
            os.fsync(lock)
            draft.replace(target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        finally:
            os.close(lock)
    except OSError as bad:
        # A full disk does not say by itself which file it was.
        raise NotWrittenError(bad.errno, bad.strerror, str(path)) from bad
    with suppress(OSError):  # not every file system knows how; either file is whole
        to_disk(target.parent)


def write_whole(path: Path, content: str | bytes) -> None:
    """Put a text or bytes into a file, or leave what was there, as `draft_of`."""
    with draft_of(path) as draft:
        draft.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def write_changed(path: Path, text: str) -> None:
    """Put a text that was read from a file and changed back into it, as `write_whole`.

    Its lines end, and the file begins, as somebody's editor had them; in the text lines end as Python has them.
    """
    before = read_bytes(path)
    if b"\r\n" in before:
        text = text.replace("\n", "\r\n")
    write_whole(path, text.encode("utf-8-sig" if before.startswith(codecs.BOM_UTF8) else "utf-8"))
