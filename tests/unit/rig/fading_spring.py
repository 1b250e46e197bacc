"""A calibration of a spring that fades, made by hand."""

from __future__ import annotations

import numpy as np

from calibration.fit import ASSUMED, Calibration, Mount, Parameter, Status

FADE = 3e-4
"""Share of the speed that is lost with a shot: 6 % in 200."""
ORDER = list(Parameter)


def fading(
    fade: float = FADE,
    sd: float = 1e-5,
    *,
    usual: int = 12,
    speed_mps: float = 9.6,
    drag_per_m: float = 0.0678,
) -> Calibration:
    """A calibration in the middle of whose shots, the `usual` one, the spring's speed was known well."""
    values = np.array([ASSUMED[parameter].value for parameter in Parameter])
    values[ORDER.index(Parameter.SPEED)] = speed_mps
    values[ORDER.index(Parameter.DRAG)] = drag_per_m
    values[ORDER.index(Parameter.FADE_PER_SHOT)] = fade
    covariance = np.zeros((len(ORDER), len(ORDER)))
    speed, lost = ORDER.index(Parameter.SPEED), ORDER.index(Parameter.FADE_PER_SHOT)
    covariance[lost, lost] = sd**2
    # Speed and fade are not known apart: at the middle shot the speed is, to 0.02 m/s.
    along = usual * values[speed] / (1 - fade * usual)
    covariance[speed, speed] = 0.02**2 + (along * sd) ** 2
    covariance[speed, lost] = covariance[lost, speed] = along * sd**2
    return Calibration(
        values=values,
        covariance=covariance,
        status=(Status.FITTED,) * len(ORDER),
        mount=Mount(elevation_centre_rad=0.2618),
        scatter=0.01,
        scatter_fitted=True,
        place_noise_m=0.005,
        place_noise_fitted=True,
        freedom=20,
        shots=24,
        usual_shots_before=usual,
    )
