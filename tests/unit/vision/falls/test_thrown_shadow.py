"""How much of a soldier's shadow is seen where he might stand."""

import cv2
import numpy as np
import painted_table as painted
import pytest
from painted_table import CROWD, Table

from vision.falls.thrown_shadow import ThrownShadows
from vision.soldiers.lamp import Lamp
from vision.soldiers.surface import Raster, learn_surface

FIGURE_MM = 42.0
LAMP = Lamp(np.array([0.6, 0.3]), 0.05, 1500.0, np.array([180.0, 405.0]), 0.4)
STANDING_MM, NOBODY_MM = np.array([157.5, 382.5]), np.array([292.5, 652.5])
BESIDE_MM = np.array([500.0, 400.0])


@pytest.fixture(scope="module")
def shadows() -> tuple[ThrownShadows, Raster]:
    """A bare table with the shadow of one soldier, whom the camera does not see."""
    camera = painted.view()
    raster = Raster(camera, painted.scene(camera, expected=CROWD))
    picture = Table(camera, ()).paint()
    bare = np.ascontiguousarray(raster.lay(picture)[raster.board])
    dark = np.zeros(picture.shape[:2], np.uint8)
    for z in np.arange(0.0, FIGURE_MM, 1.0):
        thrown = camera.project(LAMP.shadow(np.array([[*STANDING_MM, z]])))[0]
        cv2.circle(dark, (round(thrown[0]), round(thrown[1])), 7, 255, -1)
    picture[dark > 0] = ((1 - LAMP.darkness) * picture[dark > 0]).astype(np.uint8)
    seen = np.ascontiguousarray(raster.lay(picture)[raster.board])
    shades = learn_surface(bare, raster.px_per_square).shades(seen)
    return ThrownShadows(LAMP, shades, raster, FIGURE_MM), raster


def test_where_somebody_stands_nearly_all_of_his_shadow_is_seen(
    shadows: tuple[ThrownShadows, Raster],
) -> None:
    thrown, raster = shadows
    share = thrown.share(STANDING_MM, np.zeros(raster.shape, np.bool_))
    assert share is not None
    assert share > 0.8


def test_where_nobody_stands_hardly_any_shadow_is_seen(shadows: tuple[ThrownShadows, Raster]) -> None:
    thrown, raster = shadows
    share = thrown.share(NOBODY_MM, np.zeros(raster.shape, np.bool_))
    assert share is not None
    assert share < 0.15


def test_half_a_height_beside_him_his_shadow_is_not_taken_for_anothers(
    shadows: tuple[ThrownShadows, Raster],
) -> None:
    thrown, raster = shadows
    aside = STANDING_MM + FIGURE_MM / 2 * np.array([-0.45, 0.89])
    share = thrown.share(aside, np.zeros(raster.shape, np.bool_))
    assert share is not None
    assert share < 0.4


def test_of_a_shadow_that_others_hide_nothing_is_told(shadows: tuple[ThrownShadows, Raster]) -> None:
    thrown, raster = shadows
    assert thrown.share(STANDING_MM, np.ones(raster.shape, np.bool_)) is None


def test_of_a_shadow_beside_the_board_nothing_is_told(shadows: tuple[ThrownShadows, Raster]) -> None:
    thrown, raster = shadows
    assert thrown.share(BESIDE_MM, np.zeros(raster.shape, np.bool_)) is None
