"""Change a few values of `rig.toml` and leave the rest as somebody wrote it: comments, order, spacing, ends of lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from rig.files.checked_file import Fault, read_text
from rig.files.file_lock import hold_lock_beside
from rig.files.whole_file import write_changed
from rig.settings import SettingsError, parse_settings

__all__ = ["change_settings"]


def change_settings(path: Path, changes: Mapping[tuple[str, ...], Any]) -> None:
    """Write values into a settings file, all of them or none; programs that do so at once do so one after the other.

    Parameters
    ----------
    path
        A settings file that is there.
    changes
        Values by their place, as ``("cannon", "azimuth", "min_us")``.

    Raises
    ------
    SettingsError
        Where there is no such file, or the changed one could not be used; it stays as it was.
    OSError
        Where it cannot be written; it stays as it was.
    """
    with hold_lock_beside(path, "a change of settings", wait=True):
        _change(path, changes)


def _change(path: Path, changes: Mapping[tuple[str, ...], Any]) -> None:
    text = read_text(path, SettingsError, missing="a settings file; `rig init` writes one")
    parse_settings(text, str(path))
    try:
        document = tomlkit.parse(text)
        for place, value in changes.items():
            table: Any = document
            for key in place[:-1]:
                table = table.setdefault(key, tomlkit.table())
            table[place[-1]] = value
        changed = tomlkit.dumps(document)
    except TOMLKitError as bad:
        raise SettingsError(
            str(path), [Fault("the file", str(bad), "TOML that can be changed in place")]
        ) from bad
    parse_settings(changed, str(path))
    write_changed(path, changed)
