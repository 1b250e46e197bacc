"""The lines between squares, measured in a picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import painted_table as painted
import pytest
from painted_table import SQUARE_MM, Table

from vision.registration import BoardView
from vision.registration.fit import LINES, Measured
from vision.registration.lines import measure_lines

CAMERA = painted.view(tilt_rad=0.05, roll_rad=0.3, focal_px=850.0)
SCENE = painted.scene(CAMERA, markers=None)
PICTURES = {
    checkered: Table(CAMERA, markers=None, checkered=checkered).paint() for checkered in (False, True)
}
INNER_EDGES = 7 * 18 + 8 * 17


def moved(x_mm: float, y_mm: float) -> BoardView:
    """The camera, told wrongly by so much."""
    by = CAMERA.rotation @ np.array([x_mm, y_mm, 0.0])
    return replace(CAMERA, translation_mm=CAMERA.translation_mm + by)


def measured(view: BoardView, *, checkered: bool = False, reach_squares: float = 0.2) -> Measured:
    return measure_lines(PICTURES[checkered][..., 1].copy(), view, SCENE, reach_squares)


def off_px(lines: Measured) -> np.ndarray:
    """How far each lies beside the true line."""
    true_px = CAMERA.project(np.column_stack([lines.board_mm, np.zeros(len(lines.board_mm))]))
    return ((lines.pixels - true_px) * lines.along).sum(axis=1)


@pytest.mark.parametrize("reach_squares", [0.2, 0.4])
@pytest.mark.parametrize("by_mm", [(0.0, 0.0), (2.0, -2.5), (-3.0, 1.5)])
def test_lines_are_found_where_they_are_though_the_camera_is_told_a_little_wrongly(
    by_mm: tuple[float, float], reach_squares: float
) -> None:
    lines = measured(moved(*by_mm), reach_squares=reach_squares)
    assert len(lines.board_mm) > 0.95 * INNER_EDGES
    assert set(lines.group) == {LINES}
    assert np.linalg.norm(lines.along, axis=1) == pytest.approx(1.0)
    assert np.quantile(np.abs(off_px(lines)), 0.9) < 0.25
    assert 0.05 < np.median(lines.sigma_px) < 0.2


def test_a_line_between_dark_and_light_lies_off_by_as_much_to_one_side_of_them_everywhere() -> None:
    """So the fit can take it off; here to the light one, for the line itself is dark."""
    lines = measured(CAMERA, checkered=True)
    assert len(lines.board_mm) > 0.95 * INNER_EDGES
    towards_dark_px = off_px(lines) * lines.lean.sum(axis=1)
    assert -1.5 < towards_dark_px.mean() < -0.7
    assert towards_dark_px.std() < 0.3


def test_beyond_its_reach_no_line_is_found_where_it_is() -> None:
    """What is found there instead is something else."""
    lines = measured(moved(5.0, 5.0), reach_squares=0.08)
    assert (np.abs(off_px(lines)) < 0.5).sum() < 0.1 * INNER_EDGES


def test_a_line_leans_to_the_darker_of_its_squares_and_only_where_one_is() -> None:
    lines = measured(CAMERA, checkered=True)
    across = np.where(
        (lines.board_mm / SQUARE_MM % 1 < 0.25) | (lines.board_mm / SQUARE_MM % 1 > 0.75), 1.0, 0.0
    )
    beyond = np.floor((lines.board_mm + across) / SQUARE_MM).sum(axis=1) % 2  # the far square is a dark one
    leans = (lines.lean * across).sum(axis=1)
    assert (np.sign(leans) == 2 * beyond - 1).mean() > 0.95
    assert np.abs(leans).max() <= 1.0
    even = measured(CAMERA)
    assert np.median(np.abs(even.lean).max(axis=1)) < 0.3 * np.median(np.abs(leans))


def test_edges_outside_of_the_picture_are_none() -> None:
    aside = replace(CAMERA, camera_matrix=np.add(CAMERA.camera_matrix, [[0, 0, 400.0], [0, 0, 0], [0, 0, 0]]))
    picture = Table(aside, markers=None).paint()[..., 1].copy()
    lines = measure_lines(picture, aside, SCENE, 0.2)
    assert 0.2 * INNER_EDGES < len(lines.board_mm) < 0.8 * INNER_EDGES
    assert (lines.pixels >= 0).all()
    assert (lines.pixels < [aside.width_px, aside.height_px]).all()


def test_where_there_are_no_lines_none_are_found() -> None:
    rng = np.random.default_rng(1)
    even = rng.normal(120.0, 1.5, (CAMERA.height_px, CAMERA.width_px)).clip(0, 255).astype(np.uint8)
    assert len(measure_lines(even, CAMERA, SCENE, 0.2).board_mm) < 0.1 * INNER_EDGES
