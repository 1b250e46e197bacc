"""The calibration file: read as it was written, every fault named, and aimed by."""

import json
import math
import os

import numpy as np
import pytest

from calibration.aim import body_point_m
from calibration.fit import Calibration, MeasuredShot, Mount, Parameter, fit
from calibration.flight import at_distance
from game.montecassino import Side, Square
from rig.aim.pointing import aim_at, cannon_of
from rig.calibrating.calibration_file import (
    CalibrationFileError,
    Input,
    calibration_of,
    read_calibration,
    write_calibration,
)
from rig.settings import Settings, read_settings

SHOTS = [
    MeasuredShot(
        name=f"shot {index + 1}",
        elevation_rad=math.radians(degrees),
        gate_speed_mps=speed,
        range_m=range_m,
        dwell_s=16.0,
        shots_before=index,
    )
    for index, (degrees, speed, range_m) in enumerate(
        [
            (41.6, 9.61, 6.66),
            (20, 9.52, 4.93),
            (41.6, 9.70, 6.76),
            (5, 9.6, 2.04),
            (41.6, 9.55, 6.61),
            (5, 9.5, 1.98),
        ]
    )
]


@pytest.fixture(scope="module")
def found():
    fitted = fit(SHOTS, Mount(elevation_centre_rad=0.2618))
    assert isinstance(fitted, Calibration)
    return fitted


def test_it_is_read_as_it_was_written(found, tmp_path):
    path = tmp_path / "calibration.json"
    write_calibration(path, found, [Input(source="--tape", shots=6)])
    read = read_calibration(path)
    assert read.inputs == (Input(source="--tape", shots=6),)
    assert np.array_equal(read.calibration.values, found.values)
    assert np.array_equal(read.calibration.covariance, found.covariance)
    for name in ("status", "mount", "scatter", "place_noise_m", "freedom", "shots", "wild", "notes"):
        assert getattr(read.calibration, name) == getattr(found, name)
    assert read.calibration.predict_range(0.7) == found.predict_range(0.7)
    assert read.calibration.usual_dwell_s == 16.0


def changed(found, tmp_path, change):
    path = tmp_path / "calibration.json"
    write_calibration(path, found, [])
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c.update(format="cannon-calibration/9"), "format: found .*cannon-calibration/9"),
        (lambda c: c["parameters"].pop("yaw_rad"), "parameters: found .* expected in this order"),
        (lambda c: c["parameters"]["speed_mps"].update(value="fast"), "speed_mps.value: found .fast"),
        (lambda c: c["parameters"]["speed_mps"].update(value=-9.0), "a muzzle speed of 0.5 to 30"),
        (lambda c: c["parameters"]["elevation_gain"].update(value=0.0), "elevation_gain.value: found 0"),
        (
            lambda c: c["parameters"]["drag_per_m"].update(value=-0.1),
            "found -0.1, expected a drag of 0 or more",
        ),
        (
            lambda c: c["parameters"]["speed_mps"].update(sdd=0.3),
            r"parameters.speed_mps.sdd: found a key that nothing reads, .* \(did you mean sd\?\)",
        ),
        (lambda c: c["parameters"].update(spede=1), "parameters.spede"),
        (lambda c: c["covariance"].pop(), "covariance: found another shape"),
        (lambda c: c["covariance"][0].__setitem__(1, 9.0), "numbers that are no covariance"),
        (lambda c: c.update(scatter=0), "scatter: found 0, expected a number above 0"),
        (lambda c: c.update(colour="red"), "colour: found a key that nothing reads"),
        (lambda c: c["mount"].update(gravity_mps2=1.62), "gravity_mps2"),
        (lambda c: c.update(format="cannon-calibration"), "expected 'cannon-calibration/1'$"),
    ],
)
def test_what_is_wrong_with_it_is_named(found, tmp_path, change, sentence):
    with pytest.raises(CalibrationFileError, match=sentence):
        read_calibration(changed(found, tmp_path, change))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file: found an empty file, expected"),
        (b"[1]", r"found \[1\], expected a JSON object"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (None, "found nothing"),
    ],
)
def test_what_is_no_calibration_is_said_to_be_none(tmp_path, content, sentence):
    path = tmp_path / "calibration.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CalibrationFileError, match=sentence):
        read_calibration(path)


def test_one_of_another_version_is_refused_for_that_alone(found, tmp_path):
    path = changed(found, tmp_path, lambda c: c.update(format="cannon-calibration/2", colour="red"))
    with pytest.raises(CalibrationFileError) as refused:
        read_calibration(path)
    (fault,) = refused.value.faults
    assert str(fault) == (
        'format: found "cannon-calibration/2", expected "cannon-calibration/1", which is what this rig reads and writes'
    )


def test_it_cannot_be_written_into_a_folder(found, tmp_path):
    with pytest.raises(CalibrationFileError, match="a file that can be written"):
        write_calibration(tmp_path, found, [])


# Aiming by it


def settings_with(tmp_path, found):
    write_calibration(tmp_path / "calibration.json", found, [])
    (tmp_path / "rig.toml").write_text('[cannon]\ncalibration = "calibration.json"\n')
    return read_settings(tmp_path / "rig.toml")


def test_without_a_calibration_the_settings_figures_stand():
    settings = Settings()
    assert calibration_of(settings.cannon) is None
    assert (
        cannon_of(Side.A, settings.cannon, settings.board).muzzle_speed_mps
        == settings.cannon.muzzle_speed_mps
    )


def test_the_cannon_shoots_as_the_calibration_says(found, tmp_path):
    settings = settings_with(tmp_path, found)
    cannon = cannon_of(Side.A, settings.cannon, settings.board)
    assert cannon.muzzle_speed_mps == pytest.approx(found.muzzle_speed_mps())
    assert cannon.drag_per_m == found.value(Parameter.DRAG)


def test_a_changed_file_is_read_again(found, tmp_path):
    settings = settings_with(tmp_path, found)
    before = calibration_of(settings.cannon)
    assert calibration_of(settings.cannon) is before
    path = changed(found, tmp_path, lambda c: c["parameters"]["speed_mps"].update(value=8.0))
    os.utime(path, ns=(1, 1))
    assert calibration_of(settings.cannon).calibration.value(Parameter.SPEED) == 8.0


def test_a_calibration_that_is_gone_stops_the_aim(found, tmp_path):
    settings = settings_with(tmp_path, found)
    (tmp_path / "calibration.json").unlink()
    with pytest.raises(CalibrationFileError, match="`rig calibrate range` writes it"):
        aim_at(Square.parse("G-33"), Side.A, settings.cannon, settings.board)


@pytest.mark.parametrize("us_per_rad", [954.93, -954.93], ids=["as usual", "the other way"])
@pytest.mark.parametrize("side", list(Side))
def test_pulses_undo_what_the_mount_does_wrong(found, tmp_path, side, us_per_rad):
    """The shot of a cannon with these faults, fired with the pulses of its calibration, meets its target.

    It does so whichever way the servos turn: pulses rise to an aim, so that one that turns the other way comes from above.
    """

    def faulty(content):
        content["parameters"]["elevation_offset_rad"]["value"] = 0.03
        content["parameters"]["elevation_gain"]["value"] = 1.05
        content["parameters"]["elevation_backlash_rad"]["value"] = 0.01
        content["parameters"]["azimuth_gain"]["value"] = 0.9
        content["parameters"]["azimuth_backlash_rad"]["value"] = 0.016
        content["parameters"]["yaw_rad"]["value"] = 0.04
        content["parameters"]["place_right_m"]["value"] = 0.006
        content["parameters"]["place_ahead_m"]["value"] = -0.011

    (tmp_path / "rig.toml").write_text(
        '[cannon]\ncalibration = "calibration.json"\n'
        f"[cannon.azimuth]\nus_per_rad = {us_per_rad}\n[cannon.elevation]\nus_per_rad = {us_per_rad}\n"
    )
    changed(found, tmp_path, faulty)
    settings = read_settings(tmp_path / "rig.toml")
    target = Square.parse("G-44" if side is Side.A else "A-44")
    shot = aim_at(target, side, settings.cannon, settings.board)
    plain = settings.cannon.model_copy(update={"calibration": None})
    # What the servos are told, as the settings' own maps read it; then what the faulty mount makes of that.
    set_elevation = (
        plain.elevation.centre_rad
        + (shot.elevation_us - plain.elevation.centre_us) / plain.elevation.us_per_rad
    )
    set_azimuth = (shot.azimuth_us - plain.azimuth.centre_us) / plain.azimuth.us_per_rad
    set_traverse_m = (
        plain.traverse.centre_mm + (shot.traverse_us - plain.traverse.centre_us) / plain.traverse.us_per_mm
    ) / 1000
    centre = 0.2618
    behind = math.copysign(0.5, us_per_rad)  # of its play each axis lags behind the servo
    elevation = centre + 0.03 + 1.05 * (set_elevation - centre) - behind * 0.01
    bearing = 0.9 * set_azimuth - behind * 0.016 + 0.04
    right_m, ahead_m = 0.006 + set_traverse_m, -0.011
    target_m = body_point_m(
        *(each / 1000 for each in target.centre_mm(settings.board.square_mm)),
        settings.board.soldier_height_mm / 1000,
    )
    cannon = cannon_of(side, settings.cannon, settings.board)
    origin = cannon_of(side, plain, settings.board).strip
    to_right, to_ahead = origin.from_board(target_m[0], target_m[1])
    distance_m = math.hypot(to_right - right_m, to_ahead - ahead_m)
    there = at_distance(cannon.fire(elevation), cannon.drag_per_m, distance_m, -1.0)
    assert there.z_m == pytest.approx(target_m[2], abs=1e-4)
    assert math.atan2(to_right - right_m, to_ahead - ahead_m) == pytest.approx(bearing, abs=1e-6)
