"""A bumped table or camera is noticed, a table left alone is not."""

import numpy as np
import painted_table as painted
import pytest
from painted_table import Table

from vision.registration import BoardView, register
from vision.registration_bump import shifted_mm


@pytest.mark.parametrize("shift_px", [(0.0, 0.0), (0.6, -0.4), (3.0, 2.0), (-9.0, 5.0)])
def test_the_shift_is_measured(shift_px: tuple[float, float]) -> None:
    camera = painted.view(tilt_rad=0.05)
    table, scene = Table(camera), painted.scene(camera)
    before = table.paint()
    view = register(before, scene)
    assert isinstance(view, BoardView)
    found = shifted_mm(view, before, table.paint(shift_px, seed=7), scene)
    expected = float(np.hypot(*shift_px)) * view.mm_per_px(180, 405)
    assert found == pytest.approx(expected, rel=0.15, abs=0.12)


def test_a_board_that_is_gone_cannot_be_followed() -> None:
    camera = painted.view()
    scene, before = painted.scene(camera), Table(camera).paint()
    view = register(before, scene)
    assert isinstance(view, BoardView)
    gone = np.random.default_rng(2).normal(120, 5, before.shape).clip(0, 255).astype(np.uint8)
    assert shifted_mm(view, before, gone, scene) is None
