"""What a cannon with given parameters would do with the shots that were measured, and how that changes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibration.fit.parameters import Parameter
from calibration.fit.shots import MeasuredShot, Mount, Noise
from calibration.hodograph import cross

__all__ = ["SETTINGS", "Kind", "Observed", "observed", "predict", "slopes"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]


class Kind(IntEnum):
    """What was measured."""

    GATE = 0
    TRACKED = 1
    RANGE = 2
    RIGHT = 3
    AHEAD = 4


SETTINGS = (
    "elevation_rad",
    "azimuth_rad",
    "traverse_m",
    "elevation_approach",
    "azimuth_approach",
    "shots_before",
    "dwell_s",
    "fall_height_m",
)
"""What there is one of for each shot, by its name in `MeasuredShot` and in `Observed`."""

_STEPS: Mapping[Parameter, float] = {
    Parameter.SPEED: 1e-4,
    Parameter.DRAG: 1e-5,
    Parameter.PLACE_RIGHT: 1e-4,
    Parameter.PLACE_AHEAD: 1e-4,
    Parameter.YAW: 1e-5,
    Parameter.ELEVATION_OFFSET: 1e-5,
    Parameter.ELEVATION_GAIN: 1e-5,
    Parameter.ELEVATION_BACKLASH: 1e-5,
    Parameter.AZIMUTH_OFFSET: 1e-5,
    Parameter.AZIMUTH_GAIN: 1e-5,
    Parameter.AZIMUTH_BACKLASH: 1e-5,
    Parameter.FADE_PER_SHOT: 1e-7,
    Parameter.FADE_COCKED: 1e-6,
}
"""By how much each is moved, both ways, to see what follows; the flight's error of 1e-8 m is small beside that."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Measured shots as arrays: n shots, m measurements."""

    elevation_rad: FloatArray
    azimuth_rad: FloatArray
    traverse_m: FloatArray
    elevation_approach: FloatArray
    azimuth_approach: FloatArray
    shots_before: FloatArray
    dwell_s: FloatArray
    fall_height_m: FloatArray
    mount: Mount
    shot: IntArray
    """Which shot each measurement is of; (m,)."""
    kind: IntArray
    value: FloatArray
    sd: FloatArray
    """Of the tool, (m,)."""

    @property
    def is_place(self) -> NDArray[np.bool_]:
        """Which measurements are of a place of fall."""
        return self.kind >= Kind.RANGE

    @property
    def count(self) -> int:
        """Number of shots."""
        return len(self.elevation_rad)


def observed(shots: Sequence[MeasuredShot], mount: Mount, noise: Noise) -> Observed:
    """Put measured shots into arrays."""
    rows: list[tuple[int, Kind, float, float]] = []
    for index, shot in enumerate(shots):
        if shot.gate_speed_mps is not None:
            rows.append((index, Kind.GATE, shot.gate_speed_mps, noise.gate * shot.gate_speed_mps))
        if shot.tracked_speed_mps is not None:
            rows.append((index, Kind.TRACKED, shot.tracked_speed_mps, noise.tracked * shot.tracked_speed_mps))
        if shot.range_m is not None:
            rows.append((index, Kind.RANGE, shot.range_m, noise.place_m))
        if shot.fell_m is not None:
            rows.append((index, Kind.RIGHT, shot.fell_m[0], noise.place_m))
            rows.append((index, Kind.AHEAD, shot.fell_m[1], noise.place_m))
    settings = {
        name: np.array([getattr(shot, name) for shot in shots], dtype=np.float64) for name in SETTINGS
    }
    return Observed(
        **settings,
        mount=mount,
        shot=np.array([row[0] for row in rows], dtype=np.intp),
        kind=np.array([row[1] for row in rows], dtype=np.intp),
        value=np.array([row[2] for row in rows]),
        sd=np.array([row[3] for row in rows]),
    )


def predict(data: Observed, sets: FloatArray) -> FloatArray:
    """Return what would be measured.

    Parameters
    ----------
    data : Observed
        How the cannon was set, and what was measured.
    sets : (s, p) array
        Sets of all parameters, in the order of `Parameter`.

    Returns
    -------
    (s, m) array
        nan where a shot would never come down to where it was seen to fall.
    """
    of = {parameter: sets[:, index, None] for index, parameter in enumerate(Parameter)}
    mount = data.mount
    speed_mps = of[Parameter.SPEED] * (
        1.0 - of[Parameter.FADE_PER_SHOT] * data.shots_before - of[Parameter.FADE_COCKED] * data.dwell_s
    )
    elevation_rad = (
        mount.elevation_centre_rad
        + of[Parameter.ELEVATION_OFFSET]
        + of[Parameter.ELEVATION_GAIN] * (data.elevation_rad - mount.elevation_centre_rad)
        - of[Parameter.ELEVATION_BACKLASH] / 2 * data.elevation_approach
    )
    bearing_rad = (
        mount.azimuth_centre_rad
        + of[Parameter.AZIMUTH_OFFSET]
        + of[Parameter.AZIMUTH_GAIN] * (data.azimuth_rad - mount.azimuth_centre_rad)
        - of[Parameter.AZIMUTH_BACKLASH] / 2 * data.azimuth_approach
        + of[Parameter.YAW]
    )
    muzzle_height_m = mount.pivot_height_m + mount.barrel_m * np.sin(elevation_rad)
    predicted = np.empty((len(sets), len(data.kind)))
    shot, kind = data.shot, data.kind
    speeds = kind <= Kind.TRACKED
    predicted[:, speeds] = speed_mps[:, shot[speeds]]
    if data.is_place.any():
        range_m = cross(
            np.clip(speed_mps, 0.1, 999.0) * mount.path_speed_share,
            np.clip(elevation_rad, -np.pi / 2, np.pi / 2),
            np.maximum(of[Parameter.DRAG], 0.0),
            offset_m=data.fall_height_m - muzzle_height_m,
        ).x_m
        flown_m = range_m + mount.barrel_m * np.cos(elevation_rad)
        yaw = of[Parameter.YAW]
        right_m = of[Parameter.PLACE_RIGHT] + data.traverse_m * np.cos(yaw) + flown_m * np.sin(bearing_rad)
        ahead_m = of[Parameter.PLACE_AHEAD] - data.traverse_m * np.sin(yaw) + flown_m * np.cos(bearing_rad)
        for place, which in ((range_m, Kind.RANGE), (right_m, Kind.RIGHT), (ahead_m, Kind.AHEAD)):
            chosen = kind == which
            predicted[:, chosen] = place[:, shot[chosen]]
    return predicted


def slopes(
    data: Observed, values: FloatArray, of: Sequence[Parameter] = tuple(Parameter)
) -> tuple[FloatArray, FloatArray]:
    """Return what would be measured, (m,), and how it changes with each of some parameters, (m, len(of))."""
    every = list(Parameter)
    steps = np.array([_STEPS[parameter] for parameter in of])
    moves = np.zeros((len(of), len(every)))
    moves[np.arange(len(of)), [every.index(parameter) for parameter in of]] = steps
    found = predict(data, np.concatenate([values[None], values + moves, values - moves]))
    count = len(steps)
    change: FloatArray = (found[1 : 1 + count] - found[1 + count :]) / (2.0 * steps[:, None])
    return found[0], change.T
