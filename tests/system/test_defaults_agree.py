"""Real hardware is one setting away: what `rig init` writes describes the table that the twin simulates by default."""

import pytest

from rig.settings import Settings
from twin import Twin, TwinSettings
from twin.plant.mount import Aim, MountSettings, aim_of_pulses


@pytest.fixture(scope="module")
def twin():
    with Twin(TwinSettings()) as made:
        yield made


def test_markers_lie_where_the_settings_say(twin):
    board = Settings().board
    assert twin.camera.markers == {
        "dictionary": board.marker_dictionary,
        "size_mm": board.marker_size_mm,
        "centres_mm": {name: list(centre) for name, centre in board.marker_centres_mm.items()},
    }


def test_camera_has_the_size_and_rate_of_the_settings(twin):
    camera = Settings().camera
    lens = twin.settings.camera.lens
    assert (lens.width_px, lens.height_px, twin.settings.camera.fps) == (
        camera.width_px,
        camera.height_px,
        camera.fps,
    )


def test_cannon_stands_where_the_settings_say():
    cannon, mount = Settings().cannon, MountSettings()
    assert cannon.strip_offset_mm == mount.strip_offset_mm
    assert cannon.muzzle_height_mm == mount.pivot_height_mm
    assert cannon.barrel_length_mm == mount.barrel_length_mm


def test_soldiers_are_as_tall_as_the_settings_say(twin):
    assert Settings().board.soldier_height_mm == twin.settings.table.bodies.soldier_height_mm


def test_barriers_of_the_gate_are_as_far_apart_as_the_settings_say(twin):
    assert Settings().cannon.gate_spacing_mm == twin.settings.plant.gate.spacing_mm


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_servo_pulses_point_the_twin_where_the_settings_mean(share):
    cannon = Settings().cannon
    pulse_us = 1000 + 1000 * share
    pointed = aim_of_pulses(MountSettings(), traverse_us=pulse_us, azimuth_us=pulse_us, elevation_us=pulse_us)
    meant = Aim(
        cannon.traverse.centre_mm + (pulse_us - cannon.traverse.centre_us) / cannon.traverse.us_per_mm,
        (pulse_us - cannon.azimuth.centre_us) / cannon.azimuth.us_per_rad,
        cannon.elevation.centre_rad + (pulse_us - cannon.elevation.centre_us) / cannon.elevation.us_per_rad,
    )
    assert meant.traverse_mm == pytest.approx(pointed.traverse_mm, abs=0.01)
    assert meant.azimuth_rad == pytest.approx(pointed.azimuth_rad, abs=1e-4)
    assert meant.elevation_rad == pytest.approx(pointed.elevation_rad, abs=1e-4)
