"""An Arduino whose ceramic resonator is half a per cent off: its muzzle speed is told by the controller's clock all the same."""

from pathlib import Path

import pytest
from one_shot import order, rig_on


@pytest.mark.parametrize("off", [0.005, -0.005])
def test_the_muzzle_speed_is_right_though_the_chips_clock_is_not(tmp_path: Path, off: float) -> None:
    with rig_on(tmp_path, f"chip.clock_off = {off}\n") as (rig, position):
        done = rig.match.shoot(order(rig, position))
        assert rig.twin is not None
        (fired,) = rig.twin.shots
        left_us = fired.exit_cycle * 1e6 / rig.twin.settings.chip.hz
    assert done.fired.muzzle_speed_mps == pytest.approx(fired.speed_mps, rel=6e-4)
    assert done.fired.left_us == pytest.approx(left_us, abs=done.fired.released_bound_us)
