"""What a person does at the cannon: key, emergency stop, lane, a shot into the muzzle, carrying the cannon over."""

from __future__ import annotations

from collections.abc import Callable

from game.montecassino import Side
from twin.plant import Plant


class Hands:
    """A person's hands; everything happens now, on the twin's time.

    Parameters
    ----------
    plant
        The cannon they work on.
    cycle
        Tells the present cycle.
    side
        Behind whose first line the cannon stands.
    """

    def __init__(self, plant: Plant, cycle: Callable[[], int], side: Side) -> None:
        self._plant = plant
        self._cycle = cycle
        self._side = side

    @property
    def side(self) -> Side:
        """Behind whose first line the cannon stands."""
        return self._side

    def load(self) -> bool:
        """Put a shot into the muzzle, and say whether there was room for it."""
        if self._plant.gate.seated:
            return False
        self._plant.gate.seat_by_hand(self._cycle())
        return True

    def unload(self) -> None:
        """Take whatever is in the muzzle out."""
        self._plant.gate.empty(self._cycle())

    def turn_key(self, on: bool) -> None:
        """Turn the arming key."""
        self._plant.arming_key.set(on, self._cycle())

    def press_estop(self) -> None:
        """Press the emergency stop; it stays pressed and its circuit open."""
        self._plant.emergency_stop.set(False, self._cycle())

    def release_estop(self) -> None:
        """Pull the emergency stop out again."""
        self._plant.emergency_stop.set(True, self._cycle())

    def lane(self, clear: bool) -> None:
        """Say by the lane's button that it is clear, or that it is not."""
        self._plant.lane_clear.set(clear, self._cycle())

    def carry_to(self, side: Side) -> None:
        """Carry the cannon behind a side's first line."""
        self._side = side
