"""Battle files of nearly the same name: whoever mistypes one means the other, and would lose the thread of a battle."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from rig.files.bounded_file import read_text

__all__ = ["battle_named_like"]

_LIKENESS = 0.8  # a letter too many, too few or in another's place, of six
_NUMBER = re.compile(r"\d+")
_FORMAT = '"montecassino-battle/'


def battle_named_like(path: Path) -> Path | None:
    """Return the battle file in the same folder whose name is nearly that of a file which is not there; None without one.

    Names that differ in a number, as `round-1.json` and `round-2.json`, are taken for a series and not for a slip.
    """
    wanted, numbers = path.stem.casefold(), _NUMBER.findall(path.stem)
    try:
        beside = sorted(each for each in path.parent.iterdir() if each.name != path.name)
    except OSError:
        return None
    stems = {
        each.stem.casefold(): each
        for each in beside
        if not each.name.startswith(".") and _NUMBER.findall(each.stem) == numbers
    }
    for near in difflib.get_close_matches(wanted, stems, n=5, cutoff=_LIKENESS):
        if _holds_a_battle(stems[near]):
            return stems[near]
    return None


def _holds_a_battle(path: Path) -> bool:
    """Whether a file says of itself that it is a battle's; whether it is whole is told once it is read."""
    try:
        return path.is_file() and _FORMAT in read_text(path, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False
