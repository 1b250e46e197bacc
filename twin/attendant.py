"""Somebody who stands by when nobody else does: turns the key, loads, sets soldiers up again after a shot.

`rig twin` needs one, since a controller at the far end of a serial line has no hands.
"""

from __future__ import annotations

from dataclasses import dataclass

from twin.hands import Hands
from twin.limits import at_least
from twin.plant import Plant
from twin.table import Table

_HOOK_AWAY_MM = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class AttendantSettings:
    """How quick they are."""

    present: bool = False
    """Whether anybody stands by."""
    arrives_us: int = 300_000
    """When they clear the lane and turn the key, after power-on."""
    loads_after_us: int = 800_000
    """From the lever's being held, and the hook's being out of the way, to reaching for a shot."""
    sets_up_after_us: int = 4_000_000
    """From everything's lying still after a shot to everybody's standing on its square again, and the shot's being away."""

    def __post_init__(self) -> None:
        at_least(self, 0, "arrives_us", "loads_after_us", "sets_up_after_us")


class Attendant:
    """One such person."""

    def __init__(self, settings: AttendantSettings, hands: Hands, plant: Plant, table: Table) -> None:
        self.settings = settings
        self._hands = hands
        self._plant = plant
        self._table = table
        self._arrived = False
        self._cocked_since_us: int | None = None
        self._shot_seen = False
        self._still_since_us: int | None = None

    def step(self, now_us: int) -> None:
        """Do what is due."""
        if not self.settings.present:
            return
        if not self._arrived and now_us >= self.settings.arrives_us:
            self._arrived = True
            self._hands.lane(True)
            self._hands.turn_key(True)
        self._load(now_us)
        self._set_up(now_us)

    def _load(self, now_us: int) -> None:
        lever = self._plant.lever
        if not lever.held or lever.hook_mm > _HOOK_AWAY_MM or self._plant.gate.seated:
            self._cocked_since_us = None
        elif self._cocked_since_us is None:
            self._cocked_since_us = now_us
        elif now_us - self._cocked_since_us >= self.settings.loads_after_us:
            self._hands.load()

    def _set_up(self, now_us: int) -> None:
        if not self._table.at_rest:
            self._shot_seen, self._still_since_us = True, None
        elif self._shot_seen and self._still_since_us is None:
            self._still_since_us = now_us
        elif (
            self._still_since_us is not None
            and now_us - self._still_since_us >= self.settings.sets_up_after_us
        ):
            self._shot_seen, self._still_since_us = False, None
            self._table.clear_shot()
            # Who lies may have fallen by the shot before, after which there was no time.
            lying = self._table.soldiers.keys() - {soldier.square for soldier in self._table.standing()}
            pushed = {soldier.square for soldier in self._table.truth().moved}
            for square in sorted(lying | pushed):
                self._table.put_back(square)
