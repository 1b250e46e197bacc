from collections.abc import Callable

import pytest

from twin import ResetIncident, TwinSettings
from twin.chip import ChipSettings, ResetCause
from twin.line import LineSettings
from twin.physics import BodySettings, ShotSettings
from twin.pictures.artwork import Finish
from twin.pictures.camera import CameraFaults, CameraSettings
from twin.pictures.look import Lamp, LookSettings, Marker
from twin.pictures.optics import Lens, Pose
from twin.pictures.sensor import SensorSettings
from twin.plant import ContactSettings, GateSettings, LeverSettings, LoaderSettings, ServoSettings
from twin.soldier import Build
from twin.spring import SpringSettings
from twin.table import TableFaults, TableSettings


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LineSettings(lost_to_chip=1.5), "lost_to_chip is 1.5, expected 0 to 1"),
        (lambda: LineSettings(corrupted_from_chip=float("nan")), "corrupted_from_chip is nan"),
        (lambda: ServoSettings(slew_us_per_s=-1), "slew_us_per_s is -1, expected 0 or more"),
        (lambda: ServoSettings(start_us=3000), "start_us is 3000, expected 400 to 2600"),
        (lambda: LeverSettings(draw_stall_kgf=0), "draw_stall_kgf"),
        (lambda: ContactSettings(wire_cut_at_s=-1), "wire_cut_at_s"),
        (lambda: ContactSettings(bounces=2**63 - 1), "bounces is 9.22337e\\+18, expected 0 to 1000"),
        (lambda: ContactSettings(bounce_us=2**63 - 1), "bounce_us is 9.22337e\\+18, expected 1 to 1e"),
        (lambda: GateSettings(spacing_mm=2), "spacing_mm is 2, expected 6 or more"),
        (lambda: ChipSettings(power_on_ram=256), "power_on_ram"),
        (lambda: CameraSettings(exposure_us=0), "exposure_us is 0, expected 1 to 1e\\+06"),
        (lambda: CameraFaults(stall_at_us=-1), "stall_at_us is -1, expected 0 or more"),
        (lambda: CameraFaults(bump_mm=(1e9, 0)), "bump_mm has 1e\\+09, expected -1000 to 1000"),
        (lambda: CameraFaults(flicker=0.1, flicker_hz=0), "flicker_hz is 0, expected 1 or more"),
        (lambda: CameraFaults(drop_probability=2), "drop_probability is 2, expected 0 to 1"),
        (lambda: CameraSettings(fps=0), "fps is 0, expected 1 to 10000"),
        (lambda: CameraSettings(fps=1e9), "fps is 1e\\+09, expected 1 to 10000"),
        (lambda: CameraSettings(blur_px=-1), "blur_px is -1, expected 0 to 100"),
        (lambda: CameraSettings(readout_us=9000), "readout_us is 9000, expected 0 to 8333.33"),
        (lambda: Pose(height_mm=0), "height_mm is 0, expected more than 0"),
        (lambda: Lens(width_px=0), "width_px is 0, expected 16 to 10000"),
        (lambda: Lens(focal_px=0), "focal_px is 0, expected more than 0"),
        (lambda: SensorSettings(gamma=0), "gamma is 0, expected 0.1 to 10"),
        (lambda: SensorSettings(white_electrons=0), "white_electrons is 0, expected more than 0"),
        (lambda: SensorSettings(noise=-1), "noise is -1, expected 0 to 100"),
        (
            lambda: SensorSettings(read_noise_electrons=1e300),
            "read_noise_electrons is 1e\\+300, expected 0 to 1e",
        ),
        (lambda: LookSettings(ambient=1e300), "ambient is 1e\\+300, expected 0 to 10"),
        (lambda: LookSettings(uniform_a=(-1, 0, 0)), "uniform_a has -1, expected 0 to 1"),
        (lambda: LookSettings(base=(0, 0, 2)), "base has 2, expected 0 to 1"),
        (lambda: LookSettings(marker_size_mm=1e300), "marker_size_mm is 1e\\+300, expected 1 to 500"),
        (lambda: Lamp(position_mm=(0, 0, 0), colour=(1, 1, 1)), "0 for its height, expected more than 0"),
        (lambda: Lamp(position_mm=(0, 0, 1000), colour=(1, -1, 1)), "colour has -1, expected 0 to 10"),
        (lambda: Lens(p1=2), "p1 is 2, expected -1 to 1"),
        (lambda: Lens(k1=1e300), "k1 is 1e\\+300, expected -1000 to 1000"),
        (lambda: Finish(litter=2**63 - 1), "litter is 9.22337e\\+18, expected 0 to 100"),
        (lambda: LoaderSettings(jams=(3, 0)), "jams has 0, expected 1 or more"),
        (lambda: ChipSettings(startup_us=2**63 - 1), "startup_us is 9.22337e\\+18, expected 0 to 1e\\+07"),
        (lambda: LookSettings(marker_size_mm=0), "marker_size_mm is 0, expected 1 to 500"),
        (lambda: LookSettings(marker_dictionary="X"), "marker_dictionary is X, expected one of OpenCV's"),
        (
            lambda: LookSettings(
                markers=tuple(Marker(number=n, centre_mm=(0, 60 * k)) for k, n in enumerate((3, 7, 3)))
            ),
            "markers has number 3 twice, expected each once",
        ),
        (
            lambda: LookSettings(markers=(Marker(number=50, centre_mm=(0, 0)),)),
            "marker number 50, expected 0 to 49 of DICT_4X4_50",
        ),
        (lambda: Finish(line_mm=-1), "line_mm is -1, expected 0 to 50"),
        (lambda: SpringSettings(draw_mm=0), "draw_mm is 0, expected more than 0"),
        (lambda: SpringSettings(lever_mass_g=-1), "lever_mass_g is -1, expected 0 or more"),
        (lambda: SpringSettings(fade_cocked=1.5), "fade_cocked is 1.5, expected 0 to 1"),
        (lambda: SpringSettings(speed_scatter=-1), "speed_scatter is -1, expected 0 to 1"),
        (lambda: TableSettings(square_mm=0), "square_mm is 0, expected 10 to 200"),
        (lambda: TableSettings(placement_sd_mm=-1), "placement_sd_mm is -1, expected 0 to 100"),
        (lambda: TableFaults(sleeve_square="Z-9"), "'Z-9' is not a square"),
        (lambda: BodySettings(soldier_height_mm=0), "soldier_height_mm is 0, expected 5 to 500"),
        (lambda: BodySettings(soldier_mass_g=1e-9), "soldier_mass_g is 1e-09, expected 0.001 to 10000"),
        (lambda: BodySettings(board_thickness_mm=0), "board_thickness_mm is 0, expected 0.1 to 100"),
        (lambda: ShotSettings(mass_g=0), "mass_g is 0, expected 0.001 to 1000"),
        (lambda: ShotSettings(diameter_mm=1e300), "diameter_mm is 1e\\+300, expected 0.5 to 100"),
        (lambda: ShotSettings(restitution=2), "restitution is 2, expected 0.2 to 1"),
        (lambda: Build(base_half_long=0), "base_half_long is 0, expected 0.01 to 0.45"),
        (lambda: Build(lean=0.1), "lean is 0.1, expected -0.5 to 0.035"),
        (lambda: Build(stances=(0, 1, 2, 99)), "stances has 99, expected numbers from 0 to "),
        (lambda: TwinSettings(seed=-1), "seed is -1"),
        (
            lambda: TwinSettings(
                resets=(ResetIncident(2, ResetCause.EXTERNAL), ResetIncident(1, ResetCause.EXTERNAL))
            ),
            "order of time",
        ),
    ],
)
def test_values_that_cannot_be_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
