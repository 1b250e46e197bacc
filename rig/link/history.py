"""What the cannon remembers of its last refusals, faults, resets and unasked changes, over resets too."""

from dataclasses import dataclass

from rig.link import wire
from rig.link.link import Link
from rig.link.messages import HistoryEntry, ReadHistory

__all__ = ["Remembered", "read_history"]

_NUMBERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Remembered:
    """One place of the history."""

    number: int
    entry: HistoryEntry | None
    """None: it was being written when a reset came."""


def read_history(link: Link) -> list[Remembered]:
    """Return what the cannon remembers, oldest first.

    Raises
    ------
    LinkError
        As `Link.ask`.
    """
    newest = link.ask(ReadHistory(0)).newest
    found: list[Remembered] = []
    for back in range(wire.HISTORY_ENTRIES):
        number = (newest - back) % _NUMBERS
        entry = link.ask(ReadHistory(number))
        found.append(Remembered(number, None if entry.kind is wire.HistoryKind.MISSING else entry))
    while found and found[-1].entry is None:
        found.pop()  # older than the oldest
    return found[::-1]
