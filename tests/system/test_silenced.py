"""A controller that is killed says nothing more: at whatever moment of a shot that is, the cannon ends safe.

Killed means here that from one moment on no byte goes either way, while the cannon, with the real firmware, goes on.
"""

import random

import pytest

from rig.cannon import Cannon, LaneAnswer
from rig.link import wire
from rig.link.errors import PortError
from rig.link.link import Link
from rig.link.messages import ReadStatus
from rig.settings import Settings
from twin import Twin, TwinSettings

# A shot takes 5.02 s of the twin's time here; it is loaded, armed and fired in the last 0.15 s.
SHOT_US = (100_000, 4_870_000)
FIRE_US = (4_870_000, 5_015_000)
DWELL_S, LOAD_S = 6.0, 3.0
DWELL_AND_LETTING_DOWN_US = 15_000_000


class SilencedPort:
    """The twin's line until a moment, and a dead one after it."""

    def __init__(self, twin: Twin, silent_from_us: int) -> None:
        self._twin = twin
        self._silent_from_us = silent_from_us

    def _check(self) -> None:
        if self._twin.clock.now_us() >= self._silent_from_us:
            raise PortError("twin", "the controller is dead")

    def read(self, timeout_us: int) -> bytes:
        self._check()
        left_us = self._silent_from_us - self._twin.clock.now_us()
        data = self._twin.port.read(min(timeout_us, left_us))
        self._check()
        return data

    def write(self, data: bytes) -> None:
        self._check()
        self._twin.port.write(data)

    def close(self) -> None:
        pass


def shoot(twin: Twin, port: SilencedPort) -> None:
    """One whole shot, as far as the controller lives."""
    settings = Settings().cannon.model_copy(update={"dwell_s": DWELL_S, "load_s": LOAD_S})
    cannon = Cannon(Link(port, twin.clock, session=1), gate_spacing_mm=settings.gate_spacing_mm)
    cannon.connect()
    cannon.configure(settings.firmware_values())
    cannon.home()
    cannon.aim(1700, 1510, 1220)
    cannon.cock()
    cannon.load(lambda: (twin.hands.load(), None)[1])
    cannon.fire(lambda: LaneAnswer(True), lambda: None)


@pytest.mark.parametrize("number", range(20))
def test_the_cannon_ends_safe_whenever_its_controller_falls_silent(number):
    with Twin(TwinSettings(seed=number, soldiers={})) as twin:
        twin.hands.turn_key(True)
        twin.hands.lane(True)
        silent_from_us = random.Random(number).randint(*(FIRE_US if number % 2 else SHOT_US))
        with pytest.raises(PortError):
            shoot(twin, SilencedPort(twin, silent_from_us))
        # A fire that had left before the end may still be obeyed, once; nothing else may fire.
        twin.run_for(1_000_000)
        assert len(twin.shots) <= 1
        shots = len(twin.shots)
        twin.run_for(DWELL_AND_LETTING_DOWN_US)
        assert len(twin.shots) == shots
        assert not twin.plant.lever.held, "let down by the firmware alone"
        link = Link(twin.port, twin.clock, session=2)
        link.identify()
        status = link.ask(ReadStatus())
        assert status.state is wire.State.SAFE
        assert not status.inputs & (wire.Input.LEVER_DRAWN | wire.Input.LEVER_LATCHED)
