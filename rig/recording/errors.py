"""A recording that cannot be used: its error, and what is found in the place of something else, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rig.files.checked_file import Fault, FaultyFile
from rig.files.one_line import on_one_line

__all__ = ["RecordingError", "held", "kind_of"]

_MOST_NAMES = 3  # told of what else is in a folder
_MOST_FAULTS = 4  # told of a recording.json, which stays one line


class RecordingError(FaultyFile):
    """A recording that cannot be used; the text, always one line, names the file, the key, what was found and expected.

    Parameters
    ----------
    path
        The file.
    what
        What is wrong: faults of its keys, or one sentence about its pictures.
    """

    def __init__(self, path: Path | str, what: str | Iterable[Fault]) -> None:
        # Of many recordings each gets its line: the faults are told in it, and none is left to be told beside it.
        self.name, self.faults = on_one_line(path), ()
        Exception.__init__(
            self, f"{self.name}: {what if isinstance(what, str) else _told_in_it(tuple(what))}"
        )


def _told_in_it(faults: Sequence[Fault]) -> str:
    told = "; and ".join(map(str, faults[:_MOST_FAULTS]))
    more = len(faults) - _MOST_FAULTS
    return f"{told}; and {more} more fault{'s' if more > 1 else ''}" if more > 0 else told


def kind_of(path: Path) -> str:
    """Say what there is in the place of something else."""
    if path.is_dir():
        return "a folder"
    if path.is_file():
        return "a file"
    return "a device or a pipe" if path.exists() else "nothing"


def held(folder: Path) -> str:
    """Say what there is in a folder in which something else was looked for."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as bad:
        return f"and it cannot be looked into ({bad.strerror})"
    if not names:
        return "and nothing else either"
    more = len(names) - _MOST_NAMES
    return f"but {', '.join(map(repr, names[:_MOST_NAMES]))}{f' and {more} more' if more > 0 else ''}"
