"""The twin behind the seams of real hardware: its camera's errors, its hands."""

from __future__ import annotations

from collections.abc import Collection

from game.montecassino import Side, Square
from rig.camera import CameraGone, Frame
from twin import Twin
from twin.pictures.camera import CameraGoneError

__all__ = ["TwinCamera", "TwinHands", "make_ready", "settle"]

_REST_STEP_US = 50_000
_LONGEST_REST_US = 10_000_000


class TwinCamera:
    """The twin's camera, keeping `rig.camera.Camera`'s promises."""

    name = "twin"

    def __init__(self, twin: Twin) -> None:
        self._camera = twin.camera
        lens = twin.settings.camera.lens
        self.width_px = lens.width_px
        self.height_px = lens.height_px
        self.fps = twin.settings.camera.fps
        self.exposure_us = twin.settings.camera.exposure_us
        self.most_waiting = 0  # they are drawn once they are looked at

    def poll(self) -> list[Frame]:
        """Return every frame since the last poll; CameraGone once it was unplugged."""
        try:
            return list(self._camera.poll())
        except CameraGoneError as error:
            raise CameraGone("camera twin: it stopped giving pictures (unplugged)") from error

    def close(self) -> None:
        """Nothing to let go: the twin closes its camera itself."""


def make_ready(twin: Twin) -> None:
    """Turn the key on and clear the lane, as whoever sits down at the table does first."""
    twin.hands.turn_key(True)
    twin.hands.lane(True)


class TwinHands:
    """Hands at the twin's table: they do at once what a person would be asked for."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        make_ready(twin)

    def carry_to(self, side: Side) -> None:
        """Carry the cannon there."""
        self._twin.hands.carry_to(side)

    def load(self) -> None:
        """Put a shot into the muzzle."""
        self._twin.hands.load()

    def set_up(self, casualties: Collection[Square], put_back: Collection[Square]) -> None:
        """Take the casualties away, stand the others up, pick up the shot; all once everything lies still.

        Whoever lies there unnamed is stood up as well, as anybody at a table would.
        """
        settle(self._twin)
        table = self._twin.table
        table.clear_shot()
        for square in casualties:
            table.remove(square)
        lying = table.soldiers.keys() - {soldier.square for soldier in table.standing()}
        for square in sorted(lying | set(put_back)):
            table.put_back(square)


def settle(twin: Twin) -> None:
    """Let time pass until everything on the twin's table lies still."""
    waited_us = 0
    while not twin.table.at_rest and waited_us < _LONGEST_REST_US:
        twin.run_for(_REST_STEP_US)
        waited_us += _REST_STEP_US
