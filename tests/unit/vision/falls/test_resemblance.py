"""How far a figure has slipped or slid, told from its own picture."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision.falls.resemblance import follow, resemble, slide

SIDE = 80
PIVOT_PX = (40, 40)


def figure_at(dx_px: float, dy_px: float, *, seed: int) -> NDArray[np.float32]:
    """A figure of soft patches on a plain board, with noise."""
    soft = cv2.GaussianBlur(np.random.default_rng(7).normal(0, 90, (SIDE, SIDE, 3)), (0, 0), 2.0)
    down, across = np.mgrid[:SIDE, :SIDE]
    inside = np.hypot(down - PIVOT_PX[1], across - PIVOT_PX[0]) < 9
    picture = np.where(inside[..., None], 90 + soft, 170.0)
    moved = cv2.warpAffine(
        picture,
        np.array([[1.0, 0.0, dx_px], [0.0, 1.0, dy_px]]),
        (SIDE, SIDE),
        borderMode=cv2.BORDER_REPLICATE,
    )
    return (moved + np.random.default_rng(seed).normal(0, 2, moved.shape)).astype(np.float32)


def outline() -> NDArray[np.bool_]:
    down, across = np.mgrid[:SIDE, :SIDE]
    return np.asarray(np.hypot(down - PIVOT_PX[1], across - PIVOT_PX[0]) < 9)


@pytest.mark.parametrize("shift_px", [(0.0, 0.0), (2.4, -1.3), (-4.0, 3.6)])
def test_a_slip_is_measured_to_half_a_pixel(shift_px: tuple[float, float]) -> None:
    found = slide(
        figure_at(0, 0, seed=1), figure_at(*shift_px, seed=2), outline(), pivot_px=PIVOT_PX, reach_px=7
    )
    assert (found.dx_px, found.dy_px) == pytest.approx(shift_px, abs=0.5)
    assert found.turn_deg == 0.0


def test_one_that_is_partly_covered_has_not_slipped() -> None:
    after = figure_at(0, 0, seed=2)
    after[44:] = 60.0
    found = slide(figure_at(0, 0, seed=1), after, outline(), pivot_px=PIVOT_PX, reach_px=7)
    assert (found.dx_px, found.dy_px) == pytest.approx((0.0, 0.0), abs=1.0)


def test_far_off_it_is_looked_for_about_a_place_alone() -> None:
    before, after = figure_at(0, 0, seed=1), figure_at(21.0, -17.0, seed=2)
    new = np.ones(after.shape[:2], dtype=np.float32)
    found = resemble(before, after, outline(), new, pivot_px=PIVOT_PX, about_px=(19, -18), reach_px=5)
    assert (found.dx_px, found.dy_px) == pytest.approx((21.0, -17.0), abs=0.5)
    assert found.correlation > 0.9
    missed = resemble(before, after, outline(), new, pivot_px=PIVOT_PX, about_px=(-19, 18), reach_px=5)
    assert missed.correlation < 0.5


def covered(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same with all of the figure hidden."""
    return np.full_like(picture, 60.0)


def followed(pictures: list[NDArray[np.float32]], reach_px: int = 14) -> tuple[float, float]:
    seen = follow(
        figure_at(0, 0, seed=1),
        [picture.__getitem__ for picture in pictures],
        outline(),
        pivot_px=PIVOT_PX,
        reach_px=reach_px,
        step_px=3,
        sure_step=15.0,
    )
    return seen.dx_px, seen.dy_px


def test_who_slides_is_followed_to_where_he_stops_though_he_is_hidden_for_a_moment() -> None:
    slides = [figure_at(1.6 * min(k, 7), -0.9 * min(k, 7), seed=10 + k) for k in range(12)]
    slides[4] = covered(slides[4])
    assert followed(slides) == pytest.approx((11.2, -6.3), abs=0.6)


def test_who_is_hidden_for_long_is_waited_for_where_he_was() -> None:
    comes = [figure_at(1.6 * k, 0, seed=10 + k) for k in range(4)]
    hidden = [covered(figure_at(4.8, 0, seed=20 + k)) for k in range(8)]
    assert followed(comes + hidden) == pytest.approx((4.8, 0), abs=0.6)


def test_what_looks_like_him_elsewhere_is_not_who_was_lost_from_sight() -> None:
    falls = [figure_at(1.6 * k, 0, seed=10 + k) for k in range(3)]
    appears = [figure_at(-9.0, 8.0, seed=20 + k) for k in range(6)]
    across_px, down_px = followed(falls + appears)
    assert np.hypot(across_px + 9.0, down_px - 8.0) > 8


def test_he_is_followed_no_farther_than_he_can_be_looked_for() -> None:
    across_px, _ = followed([figure_at(2.5 * k, 0, seed=10 + k) for k in range(12)], reach_px=8)
    assert 8 < across_px < 12


def test_where_he_slides_off_the_raster_he_was_seen_last() -> None:
    across_px, down_px = followed([figure_at(2.5 * k, 0, seed=10 + k) for k in range(24)], reach_px=60)
    assert across_px == pytest.approx(40, abs=5)
    assert abs(down_px) < 5


def test_while_he_lies_still_he_is_not_looked_for_and_when_he_slides_on_he_is_found_again() -> None:
    rests = [figure_at(1.6 * min(k, 3), 0, seed=10 + k) for k in range(10)]
    on = [figure_at(4.8 + 1.6 * k, 0, seed=30 + k) for k in range(1, 4)]
    assert followed(rests) == pytest.approx((4.8, 0), abs=0.6)
    assert followed(rests + on) == pytest.approx((9.6, 0), abs=0.6)
