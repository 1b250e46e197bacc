"""What a fit leaves: a calibrated cannon, what it will do, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, stdtrit

from calibration.fit.model import Kind, observed, slopes
from calibration.fit.parameters import Parameter
from calibration.fit.shots import MeasuredShot, Mount, Noise

__all__ = ["Calibration", "Interval", "NoRange", "RangePrediction", "Status"]


FloatArray: TypeAlias = NDArray[np.float64]


class Status(StrEnum):
    """Where a parameter's value comes from."""

    FITTED = "fitted"
    """From the shots."""
    ASSUMED = "assumed"
    """From what was assumed, since the shots do not tell; its uncertainty is carried on."""
    TRUSTED = "trusted"
    """Not asked for: as it was said, for certain, or as an earlier calibration knew it, whose uncertainty is carried on."""


class NoRange(ValueError):
    """A shot never comes down to where its range is asked for."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From where to where something lies."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class RangePrediction:
    """How far the cannon will shoot at one setting, from the muzzle over the ground."""

    mean_m: float
    confidence_m: Interval
    """Of the mean of very many shots."""
    next_m: Interval
    """Of the next shot, as it would be measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A calibrated cannon.

    Parameters
    ----------
    values : (p,) array
        In the order of `Parameter`.
    covariance : (p, p) array
    status : tuple of Status
        Of each parameter.
    mount : Mount
    scatter : float
        Standard deviation of the speed from shot to shot, as a share of it.
    scatter_fitted : bool
        Whether it comes from these shots; else it is the usual 1 %.
    place_noise_m : float
        Standard deviation of a place of fall beside what the speed's scatter makes: the tape's, the eye's, the barrel's.
    place_noise_fitted : bool
        Whether it comes from these shots; else it was stated.
    freedom : int
        Degrees of freedom: shots used, less parameters fitted.
    shots : int
        Shots used.
    usual_shots_before : int
        How many shots the spring had fired before the middle one of them.
    usual_dwell_s : float
        How long it stood cocked before the middle one.
    wild : tuple of str
        Shots left out since they do not belong to the others.
    notes : tuple of str
        What the person at the table should know: a sentence each.
    """

    values: FloatArray
    covariance: FloatArray
    status: tuple[Status, ...]
    mount: Mount
    scatter: float
    scatter_fitted: bool
    place_noise_m: float
    place_noise_fitted: bool
    freedom: int
    shots: int
    usual_shots_before: int = 0
    usual_dwell_s: float = 0.0
    wild: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        count = len(Parameter)
        if self.values.shape != (count,) or self.covariance.shape != (count, count):
            raise ValueError(
                f"expected {count} values and a covariance of {count} x {count}, "
                f"found {self.values.shape} and {self.covariance.shape}"
            )

    def value(self, parameter: Parameter) -> float:
        """Return the best value of a parameter."""
        return float(self.values[list(Parameter).index(parameter)])

    def sd(self, parameter: Parameter) -> float:
        """Return its standard error; 0 for what is certain."""
        index = list(Parameter).index(parameter)
        return math.sqrt(max(float(self.covariance[index, index]), 0.0))

    def status_of(self, parameter: Parameter) -> Status:
        """Return where its value comes from."""
        return self.status[list(Parameter).index(parameter)]

    def interval(self, parameter: Parameter, level: float = 0.95) -> Interval:
        """Return the confidence interval of a parameter."""
        reach = self._quantile(level) * self.sd(parameter)
        value = self.value(parameter)
        return Interval(value - reach, value + reach)

    def scatter_interval(self, level: float = 0.95) -> Interval:
        """Return the confidence interval of the scatter, as of a sample's standard deviation."""
        low, high = 2 * gammaincinv(self.freedom / 2, [(1 + level) / 2, (1 - level) / 2])
        return Interval(
            self.scatter * math.sqrt(self.freedom / low), self.scatter * math.sqrt(self.freedom / high)
        )

    def muzzle_speed_mps(self, *, shots_before: int | None = None, dwell_s: float | None = None) -> float:
        """Return the mean speed of a shot of a spring that has fired so many, and has been cocked for so long.

        What is not said is as usual in the shots of the calibration.
        """
        shots_before, dwell_s = self._conditions(shots_before, dwell_s)
        faded = (
            self.value(Parameter.FADE_PER_SHOT) * shots_before + self.value(Parameter.FADE_COCKED) * dwell_s
        )
        return self.value(Parameter.SPEED) * (1.0 - faded)

    def speed_sd_mps(self, *, shots_before: int | None = None) -> float:
        """Return the standard error of `muzzle_speed_mps`, as usually cocked: of the mean of many shots, not of one.

        It grows with the shots past those of the calibration, as little as is known of the fading.
        """
        shots_before, dwell_s = self._conditions(shots_before, None)
        speed_mps = self.value(Parameter.SPEED)
        slope = np.zeros(len(Parameter))
        for parameter, along in (
            (Parameter.SPEED, self.muzzle_speed_mps(shots_before=shots_before) / speed_mps),
            (Parameter.FADE_PER_SHOT, -speed_mps * shots_before),
            (Parameter.FADE_COCKED, -speed_mps * dwell_s),
        ):
            slope[list(Parameter).index(parameter)] = along
        return math.sqrt(max(float(slope @ self.covariance @ slope), 0.0))

    def speed_interval(self, *, shots_before: int | None = None, level: float = 0.95) -> Interval:
        """Return the confidence interval of `muzzle_speed_mps`."""
        mean_mps = self.muzzle_speed_mps(shots_before=shots_before)
        reach_mps = self._quantile(level) * self.speed_sd_mps(shots_before=shots_before)
        return Interval(mean_mps - reach_mps, mean_mps + reach_mps)

    def _conditions(self, shots_before: int | None, dwell_s: float | None) -> tuple[int, float]:
        return (
            self.usual_shots_before if shots_before is None else shots_before,
            self.usual_dwell_s if dwell_s is None else dwell_s,
        )

    def approached_offset_rad(self, of: Parameter, approach: int) -> float:
        """Return the offset of an axis that always comes from one side, half its play included.

        Parameters
        ----------
        of : Parameter
            The axis's offset.
        approach : int
            1 where it comes from below (from the left), -1 from above (from the right).
        """
        play = (
            Parameter.ELEVATION_BACKLASH if of is Parameter.ELEVATION_OFFSET else Parameter.AZIMUTH_BACKLASH
        )
        return self.value(of) - approach * self.value(play) / 2

    def set_elevation_rad(self, true_rad: float, approach: int) -> float:
        """Return what the elevation must be set to, from that side, for the barrel to point there."""
        centre = self.mount.elevation_centre_rad
        off = true_rad - centre - self.approached_offset_rad(Parameter.ELEVATION_OFFSET, approach)
        return centre + off / self.value(Parameter.ELEVATION_GAIN)

    def set_azimuth_rad(self, true_rad: float, approach: int) -> float:
        """Return what the azimuth must be set to, from that side, for a cannon that stands turned to point there."""
        centre = self.mount.azimuth_centre_rad
        offset = self.approached_offset_rad(Parameter.AZIMUTH_OFFSET, approach)
        off = true_rad - centre - offset - self.value(Parameter.YAW)
        return centre + off / self.value(Parameter.AZIMUTH_GAIN)

    def predict_range(
        self,
        elevation_rad: float,
        *,
        fall_height_m: float = 0.0,
        shots_before: int | None = None,
        dwell_s: float | None = None,
        level: float = 0.95,
    ) -> RangePrediction:
        """Say how far the cannon shoots.

        Parameters
        ----------
        elevation_rad : float
            As set.
        fall_height_m : float
            Height over the board's surface of the shot's centre where it falls.
        shots_before, dwell_s
            As for `muzzle_speed_mps`.
        level : float
            Of both intervals.

        Raises
        ------
        NoRange
            Where the shot never comes down to that height.
        """
        shots_before, dwell_s = self._conditions(shots_before, dwell_s)
        shot = MeasuredShot(
            name="asked",
            elevation_rad=elevation_rad,
            fall_height_m=fall_height_m,
            shots_before=shots_before,
            dwell_s=dwell_s,
            range_m=1.0,
        )
        data = observed([shot], self.mount, Noise())
        assert data.kind[0] == Kind.RANGE
        predicted, slope = slopes(data, self.values)
        if not np.isfinite(predicted[0]) or not np.isfinite(slope).all():
            raise NoRange(
                f"set to {math.degrees(elevation_rad):.1f} degrees, the shot never comes down to "
                f"{fall_height_m:g} m over the board"
            )
        mean_m = float(predicted[0])
        unsure_m2 = float(slope[0] @ self.covariance @ slope[0])
        speed = list(Parameter).index(Parameter.SPEED)
        from_speed_m = self.scatter * float(self.values[speed] * slope[0, speed])
        quantile = self._quantile(level)
        sure_m = quantile * math.sqrt(unsure_m2)
        next_m = quantile * math.sqrt(unsure_m2 + from_speed_m**2 + self.place_noise_m**2)
        return RangePrediction(
            mean_m, Interval(mean_m - sure_m, mean_m + sure_m), Interval(mean_m - next_m, mean_m + next_m)
        )

    def _quantile(self, level: float) -> float:
        if not 0 < level < 1:
            raise ValueError(f"a level is between 0 and 1, found {level:g}")
        return float(stdtrit(self.freedom, (1 + level) / 2))
