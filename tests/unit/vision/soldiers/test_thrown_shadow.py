"""How much of a soldier's shadow is seen where he might stand."""

import cv2
import numpy as np
import painted_table as painted
import pytest
from painted_table import CROWD, Table

from vision.soldiers.lamp import Lamp, find_darkness
from vision.soldiers.surface import Raster, learn_surface
from vision.soldiers.thrown_shadow import ThrownShadows, shadow_odds

FIGURE_MM = 42.0
LAMP = Lamp(np.array([0.6, 0.3]), 0.05, 1 / 1500.0, 0.0, np.array([180.0, 405.0]), 0.4)
STANDING_MM, NOBODY_MM = np.array([157.5, 382.5]), np.array([292.5, 652.5])
BESIDE_MM = np.array([500.0, 400.0])
PATCH_MM, PATCH_PX = np.array([180.0, 180.0]), 70


@pytest.fixture(scope="module")
def shadows() -> tuple[ThrownShadows, Raster]:
    """A bare table with the shadow of one soldier, whom the camera does not see, and a dark patch elsewhere."""
    camera = painted.view()
    raster = Raster(camera, painted.scene(camera, expected=CROWD))
    picture = Table(camera, ()).paint()
    bare = np.ascontiguousarray(raster.lay(picture)[raster.board])
    dark = np.zeros(picture.shape[:2], np.uint8)
    for z in np.arange(0.0, FIGURE_MM, 1.0):
        thrown = camera.project(LAMP.shadow(np.array([[*STANDING_MM, z]])))[0]
        cv2.circle(dark, (round(thrown[0]), round(thrown[1])), 7, 255, -1)
    patch = camera.project(np.array([[*PATCH_MM, 0.0]]))[0]
    cv2.circle(dark, (round(patch[0]), round(patch[1])), PATCH_PX, 255, -1)
    picture[dark > 0] = ((1 - LAMP.darkness) * picture[dark > 0]).astype(np.uint8)
    seen = np.ascontiguousarray(raster.lay(picture)[raster.board])
    shades = learn_surface(bare, raster.px_per_square).shades(seen)
    return ThrownShadows(LAMP, find_darkness(shades, raster), raster, FIGURE_MM), raster


def test_where_somebody_stands_nearly_all_of_his_shadow_is_seen(
    shadows: tuple[ThrownShadows, Raster],
) -> None:
    thrown, raster = shadows
    (share,) = thrown.shares(STANDING_MM[None], np.zeros(raster.shape, np.bool_))
    assert share > 0.8


def test_where_nobody_stands_hardly_any_shadow_is_seen(shadows: tuple[ThrownShadows, Raster]) -> None:
    thrown, raster = shadows
    (share,) = thrown.shares(NOBODY_MM[None], np.zeros(raster.shape, np.bool_))
    assert share < 0.15


def test_half_a_height_beside_him_his_shadow_is_not_taken_for_anothers(
    shadows: tuple[ThrownShadows, Raster],
) -> None:
    thrown, raster = shadows
    aside = STANDING_MM + FIGURE_MM / 2 * np.array([-0.45, 0.89])
    (share,) = thrown.shares(aside[None], np.zeros(raster.shape, np.bool_))
    assert share < 0.4


def test_of_a_shadow_that_others_hide_nothing_is_told(shadows: tuple[ThrownShadows, Raster]) -> None:
    thrown, raster = shadows
    assert np.isnan(thrown.shares(STANDING_MM[None], np.ones(raster.shape, np.bool_))).all()


def test_of_a_shadow_beside_the_board_nothing_is_told(shadows: tuple[ThrownShadows, Raster]) -> None:
    thrown, raster = shadows
    assert np.isnan(thrown.shares(BESIDE_MM[None], np.zeros(raster.shape, np.bool_))).all()


def test_a_dark_patch_is_taken_for_no_shadow(shadows: tuple[ThrownShadows, Raster]) -> None:
    """It is as dark beside where a shadow would lie."""
    thrown, raster = shadows
    nobody = np.zeros(raster.shape, np.bool_)
    places_mm = np.array([STANDING_MM, PATCH_MM, NOBODY_MM])
    assert thrown.shares(places_mm, nobody)[1] > 0.8
    own, patch, empty = thrown.contrasts(places_mm, nobody)
    assert own > 0.8
    assert abs(patch) < 0.2
    assert abs(empty) < 0.15


CAMERA = painted.view()
RASTER = Raster(CAMERA, painted.scene(CAMERA, expected=CROWD))
NOBODY = np.zeros(RASTER.shape, np.bool_)


def strip(
    start: float, end: float, darkness: float, *, on: np.ndarray | None = None, aside: float = 0.0
) -> np.ndarray:
    """How dark it is where the shadow of a part of a figure lies, or so many heights to the left of it; 1 is a shadow."""
    dark = np.zeros(RASTER.shape, np.float32) if on is None else on
    heights = np.arange(start, end, 0.02) * FIGURE_MM
    thrown = LAMP.shadow(np.array([[*STANDING_MM, z] for z in heights]))[:, :2]
    along = LAMP.slope / np.hypot(*LAMP.slope)
    for place in thrown + aside * FIGURE_MM * np.array([-along[1], along[0]]):
        column, row = RASTER.to_px(place)
        cv2.circle(dark, (round(column), round(row)), 2, darkness * LAMP.darkness, -1)
    return dark


def share_and_contrast(dark: np.ndarray) -> tuple[float, float]:
    thrown = ThrownShadows(LAMP, dark, RASTER, FIGURE_MM)
    return float(thrown.shares(STANDING_MM[None], NOBODY)[0]), float(
        thrown.contrasts(STANDING_MM[None], NOBODY)[0]
    )


def test_what_is_dark_about_a_foot_alone_is_no_shadow() -> None:
    """One that lies is as dark there."""
    assert max(share_and_contrast(strip(0.0, 0.25, 1.0))) < 0.05


def test_a_black_or_white_thing_across_a_shadow_tells_no_more_than_a_shadow_there_would() -> None:
    for told in share_and_contrast(strip(0.68, 0.7, 9.0)):
        assert told < 0.5
    for told in share_and_contrast(strip(0.68, 0.7, -9.0, on=strip(0.0, 1.1, 1.0))):
        assert told > 0.3


def test_it_counts_as_much_how_dark_it_is_to_the_left_of_a_shadow_as_to_the_right() -> None:
    left, right = (share_and_contrast(strip(0.0, 1.1, 1.0, aside=aside))[1] for aside in (0.42, -0.42))
    assert left == pytest.approx(right, abs=0.05)
    assert left == pytest.approx(-0.5, abs=0.1)


def test_where_shadows_are_hardly_darker_than_the_board_they_tell_nothing() -> None:
    log_odds = np.array([9.0] * 40 + [-9.0] * 80 + [0.0, 0.0])
    assert not shadow_odds(log_odds, np.array([0.15] * 40 + [0.0] * 80 + [1.0, 0.0])).any()


def test_however_plain_shadows_are_they_do_not_decide_alone() -> None:
    log_odds = np.array([9.0] * 200 + [-9.0] * 200)
    told = shadow_odds(log_odds, np.array([1.0] * 200 + [0.0] * 200))
    assert np.abs(told).max() <= 4.0


def test_shadows_speak_for_a_soldier_and_their_lack_against_one() -> None:
    log_odds = np.array([9.0] * 20 + [-9.0] * 80 + [0.0, 0.0, 0.0])
    rng = np.random.default_rng(1)
    shares = np.r_[rng.normal(0.95, 0.1, 20), rng.normal(0.0, 0.1, 80), 1.0, 0.0, np.nan]
    with_one, without, unknown = shadow_odds(log_odds, shares)[-3:]
    assert with_one > 2.0
    assert without < -2.0
    assert unknown == 0.0


def test_on_a_board_as_mottled_as_shadows_they_tell_next_to_nothing() -> None:
    log_odds = np.array([9.0] * 20 + [-9.0] * 80 + [0.0, 0.0])
    rng = np.random.default_rng(1)
    shares = np.r_[rng.uniform(-0.3, 1.1, 100), 1.0, 0.0]
    assert np.abs(shadow_odds(log_odds, shares)[-2:]).max() < 0.5


def test_a_table_of_which_nothing_is_plain_is_weighed_as_tables_usually_are() -> None:
    with_one, without = shadow_odds(np.zeros(2), np.array([0.95, 0.0]))
    assert with_one > 2.0
    assert without < -2.0
