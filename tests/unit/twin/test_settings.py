from collections.abc import Callable

import pytest

from twin import ResetIncident, TwinSettings
from twin.camera import CameraFaults, CameraSettings
from twin.chip import ChipSettings, ResetCause
from twin.line import LineSettings
from twin.plant import ContactSettings, GateSettings, LeverSettings, ServoSettings


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LineSettings(lost_to_chip=1.5), "lost_to_chip is 1.5, expected 0 to 1"),
        (lambda: LineSettings(corrupted_from_chip=float("nan")), "corrupted_from_chip is nan"),
        (lambda: ServoSettings(slew_us_per_s=-1), "slew_us_per_s is -1, expected 0 or more"),
        (lambda: ServoSettings(start_us=3000), "start_us is 3000, expected 400 to 2600"),
        (lambda: LeverSettings(draw_stall_kgf=0), "draw_stall_kgf"),
        (lambda: ContactSettings(wire_cut_at_s=-1), "wire_cut_at_s"),
        (lambda: GateSettings(spacing_mm=2), "spacing_mm is 2, expected 6 or more"),
        (lambda: ChipSettings(power_on_ram=256), "power_on_ram"),
        (lambda: CameraSettings(exposure_us=0), "exposure_us is 0, expected 1 or more"),
        (lambda: CameraFaults(flicker=0.1, flicker_hz=0), "flicker_hz is 0, expected 1 or more"),
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
