"""What can go wrong with the simulated chip.

```
ChipError
├── ChipMissing    a file that must be built first is not there
└── ChipStopped    the firmware did what no working firmware does: the simulation cannot go on
```
"""

from pathlib import Path

__all__ = ["ChipError", "ChipMissing", "ChipStopped"]


class ChipError(Exception):
    """Base of this package's errors."""


class ChipMissing(ChipError):
    """A file that the simulation stands on is missing or is something else.

    Parameters
    ----------
    path
        The file.
    found
        What is wrong with it, after the path in the message.
    """

    def __init__(self, path: Path, found: str) -> None:
        super().__init__(f"{path}: {found}; build it with `make firmware`")
        self.path = path


class ChipStopped(ChipError):
    """The firmware ended.

    Parameters
    ----------
    reason
        What it did.
    cycle, program_counter
        When, and at which byte address of the flash.
    """

    def __init__(self, reason: str, cycle: int, program_counter: int) -> None:
        super().__init__(f"the simulated chip stopped: {reason} (cycle {cycle}, PC 0x{program_counter:04x})")
        self.cycle = cycle
        self.program_counter = program_counter
