"""What the manner of a fall tells of its cause."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.montecassino import Side, Square
from vision.causes.felled import manner
from vision.outcome import Soldier, Toppling

SOLDIER = Soldier(Square.parse("G-69"), Side.G, 180.0, 382.0)


def toppling(angle_deg: float, lasted_ms: float) -> Toppling:
    heading = (float(np.cos(np.radians(angle_deg))), float(np.sin(np.radians(angle_deg))))
    return Toppling(SOLDIER, 1_000_000, 1_000_000 + round(1000 * lasted_ms), heading, None)


def test_fast_and_along_the_shots_way_speaks_for_a_shot_that_nothing_turned() -> None:
    seen = manner(toppling(90, 10), (0.0, 1.0))
    assert seen.straight > 2 * seen.turned


def test_slow_and_against_the_shots_way_speaks_for_one_that_was_turned() -> None:
    seen = manner(toppling(270, 60), (0.0, 1.0))
    assert seen.turned > 2 * seen.straight


def test_without_a_direction_only_the_time_tells() -> None:
    still = Toppling(SOLDIER, 1_000_000, 1_010_000, (0.0, 0.0), None)
    assert manner(still, (0.0, 1.0)) == manner(still, (1.0, 0.0))


@given(st.floats(0.0, 360.0), st.floats(0.0, 400.0), st.floats(0.0, 360.0))
def test_only_angles_count_not_how_the_board_lies(angle: float, lasted: float, turn: float) -> None:
    def way(degrees: float) -> tuple[float, float]:
        return float(np.cos(np.radians(degrees))), float(np.sin(np.radians(degrees)))

    one = manner(toppling(angle, lasted), way(90))
    turned = manner(toppling(angle + turn, lasted), way(90 + turn))
    assert turned.straight == pytest.approx(one.straight, rel=1e-6)
    assert turned.turned == pytest.approx(one.turned, rel=1e-6)
    assert one.straight > 0
    assert one.turned > 0
