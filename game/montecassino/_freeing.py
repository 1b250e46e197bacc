"""Freeing prisoners, on bits (clauses P2 to P4)."""

from game.montecassino._bits import Frame
from game.montecassino.turns import MOST_FREED


def most_freed(frame: Frame, comrades_held: int, end: int, enemy: int, empty: int) -> int:
    """Return how many comrades a soldier that has arrived at `end`, on own line 16, may free; 0 or less for none."""
    if frame.beside(end) << frame.forward & enemy:
        return 0
    return min(MOST_FREED, comrades_held, frame.room_in_base(empty) - 1)


def brought_home(frame: Frame, own: int, end: int, empty: int, freed: int) -> int:
    """Return the own soldiers after the one at `end` and those it frees have gone to the base (P3)."""
    return own & ~end | frame.lowest_in_base(empty, freed + 1)
