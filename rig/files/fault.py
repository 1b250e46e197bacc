"""What is wrong with a file, each thing with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rig.counted import counted
from rig.files.one_line import on_one_line

__all__ = ["Fault", "FaultyFile"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong."""

    key: str
    """Where, as `camera.fps`; for text that is no TOML, the line and column."""
    found: str
    expected: str
    hint: str = ""
    """What was perhaps meant; empty where nothing comes to mind."""
    also: tuple[str, ...] = ()
    """Other keys that it was held against. Where one of these is faulty itself, the conflict says nothing."""

    def __str__(self) -> str:
        said = f"{self.key}: found {self.found}, expected {self.expected}"
        return f"{said} ({self.hint})" if self.hint else said


class FaultyFile(Exception):
    """A file that cannot be used.

    Attributes
    ----------
    name : str
        The file, as messages name it.
    faults : tuple of Fault
        Everything that is wrong with it.
    """

    def __init__(self, name: str, faults: Iterable[Fault]) -> None:
        self.name = on_one_line(name)
        self.faults = tuple(faults)
        more = len(self.faults) - 1
        others = f", and {counted(more, 'more fault')}" if more else ""
        super().__init__(f"{self.name}: {self.faults[0]}{others}")
