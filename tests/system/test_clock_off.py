"""An Arduino whose ceramic resonator is half a per cent off: its muzzle speed is told by the controller's clock all the same."""

from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from game.montecassino import Option, Position, Square
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.rig import open_rig
from rig.hands import PromptedHands
from rig.match import Order
from rig.settings import read_settings

OFF = 0.005


@pytest.mark.parametrize("off", [OFF, -OFF])
def test_the_muzzle_speed_is_right_though_the_chips_clock_is_not(tmp_path: Path, off: float) -> None:
    rig_toml = tmp_path / "rig.toml"
    rig_toml.write_text(SMALL_TWIN.format(seed=3) + f"chip.clock_off = {off}\n", encoding="utf-8")
    settings = read_settings(rig_toml)
    position = Position.parse(settings.game.position)
    order = Order(Square.parse("G-61"), position, zone_of(settings, position.turn), Option.I)
    with open_rig(settings, position, PromptedHands(print, print), progress=lambda words: None) as rig:
        done = rig.match.shoot(order)
        assert rig.twin is not None
        (fired,) = rig.twin.shots
        left_us = fired.exit_cycle * 1e6 / rig.twin.settings.chip.hz
    assert done.fired.muzzle_speed_mps == pytest.approx(fired.speed_mps, rel=6e-4)
    assert done.fired.left_us == pytest.approx(left_us, abs=done.fired.released_bound_us)
