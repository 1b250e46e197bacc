"""The twin is the table that `rig.toml` describes (real hardware is one setting away), but for what [twin] says otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from game.montecassino import BOARD_FILES, BOARD_ROWS, Position
from rig.cli.opening.twin_likeness import likeness
from rig.cli.opening.twin_table import twin_settings
from rig.settings import Azimuth, Board, Camera, Cannon, Elevation, Settings, Traverse, parse_settings
from twin.chip import CHIP_HZ
from twin.pictures.look import placed_markers
from twin.pictures.optics import project
from twin.plant import Servo
from twin.plant.mount import aim_of_pulses

_POSITION = Position.parse("A A01-A24 G01-G24 0/0 20/20 -")
_PICTURES_PX = ((640, 480), (800, 600), (1280, 720), (1920, 1080), (1280, 1024), (720, 1280))


def _nominal_us(servo: Servo, width_us: float) -> float:
    servo.edge(0, high=True)
    servo.edge(round(width_us * CHIP_HZ / 1e6), high=False)
    assert servo.command_us is not None
    return servo.command_us


_SLOPES = st.floats(400, 3000) | st.floats(-3000, -400)


@given(
    st.builds(
        Traverse,
        centre_us=st.integers(1100, 1900),
        us_per_mm=st.floats(1, 9) | st.floats(-9, -1),
        centre_mm=st.floats(50, 300),
    ),
    st.builds(Azimuth, centre_us=st.integers(1100, 1900), us_per_rad=_SLOPES),
    st.builds(
        Elevation, centre_us=st.integers(1100, 1900), us_per_rad=_SLOPES, centre_rad=st.floats(-0.3, 0.9)
    ),
    st.integers(600, 2400),
)
def test_every_pulse_points_the_twin_where_the_settings_mean(
    traverse: Traverse, azimuth: Azimuth, elevation: Elevation, pulse_us: int
) -> None:
    cannon = Cannon(traverse=traverse, azimuth=azimuth, elevation=elevation)
    plant = likeness(Settings(cannon=cannon), _POSITION).plant
    pointed = aim_of_pulses(
        plant.mount,
        traverse_us=_nominal_us(Servo(plant.traverse), pulse_us),
        azimuth_us=_nominal_us(Servo(plant.azimuth), pulse_us),
        elevation_us=_nominal_us(Servo(plant.elevation), pulse_us),
    )
    meant_mm = traverse.centre_mm + (pulse_us - traverse.centre_us) / traverse.us_per_mm
    assert pointed.traverse_mm == pytest.approx(meant_mm, abs=0.05)
    assert pointed.azimuth_rad == pytest.approx((pulse_us - azimuth.centre_us) / azimuth.us_per_rad, abs=3e-4)
    meant_rad = elevation.centre_rad + (pulse_us - elevation.centre_us) / elevation.us_per_rad
    assert pointed.elevation_rad == pytest.approx(meant_rad, abs=3e-4)


@given(
    st.sampled_from(_PICTURES_PX),
    st.floats(10, 120),
    st.floats(0, 60),
    st.floats(-150, 150),
    st.none() | st.floats(0.5, 3.0),
)
def test_board_strips_and_markers_are_in_the_picture(
    picture_px: tuple[int, int], square_mm: float, beside_mm: float, along_mm: float, focal: float | None
) -> None:
    width_mm, length_mm = BOARD_FILES * square_mm, BOARD_ROWS * square_mm
    assume(abs(along_mm) < length_mm / 3)
    out_mm = beside_mm + 20
    places = {
        "3": (-out_mm, length_mm / 4),
        "5": (width_mm + out_mm, length_mm / 3 + along_mm),
        "6": (-out_mm, length_mm / 2),
        "8": (width_mm + out_mm, length_mm - 20),
    }
    board = Board(square_mm=square_mm, marker_centres_mm=places, marker_size_mm=30)
    width_px, height_px = picture_px
    lens_px = (
        None if focal is None else (focal * width_px, focal * width_px, width_px / 2 + 9, height_px / 2 - 7)
    )
    camera = Camera(width_px=width_px, height_px=height_px, intrinsics_px=lens_px)
    twin = likeness(Settings(board=board, camera=camera), _POSITION)
    surface = twin.table.surface
    corners = [
        (x, y, 0)
        for x in (1000 * surface.x0_m, 1000 * surface.x1_m)
        for y in (1000 * surface.y0_m, 1000 * surface.y1_m)
    ]
    markers = placed_markers(twin.camera.look, twin.table)
    assert {str(each.number): each.centre_mm for each in markers} == places
    corners += [(x + dx, y + dy, 0) for x, y in places.values() for dx in (-15, 15) for dy in (-15, 15)]
    seen_px = project(twin.camera.pose, twin.camera.lens, np.array(corners, dtype=float))
    assert (seen_px > 0).all()
    assert (seen_px < picture_px).all()
    # ... and fills it: no side is a third longer than it must be.
    across = np.ptp(seen_px, axis=0) / picture_px
    assert across.max() > 0.66


def test_a_calibrated_lens_is_the_twins_with_its_bending() -> None:
    text = (
        "[camera]\nwidth_px = 640\nheight_px = 480\nfps = 90\nexposure_us = 700\n"
        "intrinsics_px = [500, 500, 322, 238]\ndistortion = [0.2, 0.05, 0.001, -0.001, 0.002, 0.55, 0.12, 0.01]"
    )
    camera = twin_settings(parse_settings(text), _POSITION).camera
    assert (camera.fps, camera.exposure_us) == (90, 700)
    assert camera.lens.intrinsics == (500, 500, 322, 238)
    assert camera.lens.distortion == (0.2, 0.05, 0.001, -0.001, 0.002, 0.55, 0.12, 0.01)
    bent_px = camera.lens.distort(np.array([[600.0, 400.0]]))
    assert camera.lens.straighten(bent_px) == pytest.approx(np.array([[600.0, 400.0]]), abs=1e-3)


def test_a_larger_figure_is_larger_all_over() -> None:
    own = likeness(Settings(), _POSITION).table.bodies
    twice = likeness(Settings(board=Board(soldier_height_mm=84)), _POSITION).table.bodies
    assert twice.soldier_height_mm == 84
    assert twice.soldier_mass_g == pytest.approx(8 * own.soldier_mass_g)


def test_lever_and_latch_obey_the_pulses_of_the_settings() -> None:
    text = (
        "[cannon]\nloader = true\ngate_spacing_mm = 30\nbarrel_length_mm = 80\n"
        "[cannon.draw]\nrest_us = 1900\nbreech_us = 1100\n"
        "[cannon.latch]\nfree_us = 1100\nheld_us = 1520\nlubricate_us = 1950"
    )
    plant = twin_settings(parse_settings(text), _POSITION).plant
    assert (plant.loader.fitted, plant.gate.spacing_mm, plant.mount.barrel_length_mm) == (True, 30, 80)
    assert [_nominal_us(Servo(plant.draw), us) for us in (1900, 1100)] == [1000, 2000]
    assert [_nominal_us(Servo(plant.latch), us) for us in (1100, 1950)] == [1000, 2000]


def test_what_twin_says_comes_before_the_rest_of_the_file() -> None:
    """So a table can be tried that is not as its settings say."""
    text = (
        "[camera]\nfps = 60\n[board]\nsquare_mm = 44\n[cannon]\nbarrel_length_mm = 80\n"
        "[twin]\ntable.square_mm = 43.0\ncamera.fps = 30.0\nplant.mount.barrel_length_mm = 82.0"
    )
    twin = twin_settings(parse_settings(text), _POSITION)
    assert twin.table.square_mm == 43
    assert twin.camera.fps == 30
    assert twin.plant.mount.barrel_length_mm == 82
    # What it does not name stays as the file says.
    assert math.isclose(twin.camera.pose.aim_mm[0], 176)


def test_the_twins_camera_reads_its_rows_out_as_the_tables_does_unless_it_says_otherwise() -> None:
    def readout_us(text: str) -> int:
        return twin_settings(parse_settings(text), _POSITION).camera.readout_us

    assert readout_us("") == 0
    assert readout_us("[camera]\nreadout_us = 8000\n") == 8000
    assert readout_us("[camera]\nreadout_us = 8000\n[twin]\ncamera.readout_us = 0\n") == 0


def test_the_twins_camera_is_as_late_as_what_is_taken_off_unless_it_says_otherwise() -> None:
    def late_us(text: str) -> int:
        return twin_settings(parse_settings(text), _POSITION).camera.faults.late_us

    assert late_us("") == 0
    assert late_us("[camera]\ndelay_us = 18000\n") == 18_000
    assert late_us("[camera]\ndelay_us = 18000\n[twin]\ncamera.faults.late_us = 0\n") == 0
