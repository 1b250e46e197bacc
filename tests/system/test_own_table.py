"""Real hardware is one setting away: the file of a table of other measures is played on the twin as it stands."""

import pytest

from game.montecassino import Cause, Option, Position, Square
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.rig import open_rig
from rig.cli.opening.twin import settle
from rig.hands import PromptedHands
from rig.match import Order
from rig.settings import read_settings

# Nothing is as in a new file: squares, figures, markers, lens, cannon; and most servos turn the other way.
OWN_TABLE = """
[camera]
width_px = 800
height_px = 600
fps = 90.0
exposure_us = 800
delay_us = 6000
intrinsics_px = [707.0, 707.0, 403.0, 297.0]
distortion = [-0.08, 0.01, 0.0005, -0.0003, 0.0]

[board]
square_mm = 40.0
soldier_height_mm = 37.0
marker_size_mm = 30.0
marker_dictionary = "DICT_5X5_50"

[board.marker_centres_mm]
3 = [-45.0, 100.0]
7 = [365.0, 60.0]
9 = [-50.0, 600.0]
12 = [370.0, 640.0]

[cannon]
strip_offset_mm = 50.0
muzzle_height_mm = 44.0
barrel_length_mm = 75.0
gate_spacing_mm = 25.0
loader = true

[cannon.traverse]
centre_mm = 162.0
centre_us = 1480
us_per_mm = -4.1
min_us = 900
max_us = 2100

[cannon.azimuth]
centre_us = 1530
us_per_rad = -880.0

[cannon.elevation]
centre_us = 1450
centre_rad = 0.2
us_per_rad = 1010.0

[cannon.draw]
rest_us = 1900
breech_us = 1100

[cannon.latch]
free_us = 1100
held_us = 1520
lubricate_us = 1950

[game]
position = "A A01-A06,A50,A58 G01-G06,G53,G59 0/0 20/20 -"
"""


def fail(question: str) -> None:
    pytest.fail(f"the loader is fitted, and the twin needs no hands: {question}")


@pytest.mark.parametrize("target", ["G-53", "G-59"])
def test_a_table_of_other_measures_is_played_on_its_twin(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rig.toml").write_text(OWN_TABLE, encoding="utf-8")
    settings = read_settings(tmp_path / "rig.toml")
    position = Position.parse(settings.game.position)
    order = Order(Square.parse(target), position, zone_of(settings, position.turn), Option.I)
    with open_rig(settings, position, PromptedHands(fail, fail), progress=lambda words: None) as rig:
        done = rig.match.shoot(order)
        settle(rig.twin)
        truth = rig.twin.truth()
        (fired,) = rig.twin.shots
    assert truth.contacts[0][1] == target, "the servos point where the settings mean"
    assert done.fired.left_us == pytest.approx(fired.exit_cycle / 16, abs=100)
    assert done.fired.muzzle_speed_mps == pytest.approx(fired.speed_mps, rel=0.01)
    told = {str(fall.toppling.soldier.square): fall.cause for fall in done.analysis.reading.falls}
    assert told == {str(fall.square): fall.cause for fall in truth.falls}
    assert told[target] is Cause.DIRECT
