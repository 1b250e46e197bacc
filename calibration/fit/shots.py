"""What was measured of shots, as the fit takes it. SI units; angles and places as the cannon was told, not as it obeyed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibration.constants import STANDARD_GRAVITY_MPS2

__all__ = ["MeasuredShot", "Mount", "Noise"]

_FASTEST_MPS = 100.0  # no spring that a hand can cock shoots faster: such a number is in another unit
_MOST = 1_000_000  # shots that no spring lives to fire, seconds for which nobody leaves one cocked
_FARTHEST_M = 1000.0  # of any number in any unit; `units` asks back what is meant in another


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """What of the cannon is measured with a ruler and trusted.

    Parameters
    ----------
    pivot_height_m : float
        Of the barrel's pivot over the board's surface.
    barrel_m : float
        From the pivot to the muzzle.
    elevation_centre_rad, azimuth_centre_rad : float
        Where the servos stand at their centre: the gains work from there.
    gravity_mps2 : float
        Acceleration of free fall at the place: 9.780 at the equator, 9.807 at 45 degrees of latitude, 9.832 at the poles.
    """

    pivot_height_m: float = 0.05
    barrel_m: float = 0.06
    elevation_centre_rad: float = 0.0
    azimuth_centre_rad: float = 0.0
    gravity_mps2: float = STANDARD_GRAVITY_MPS2

    @property
    def path_speed_share(self) -> float:
        """Share of its speed at which a shot would fly the same path under standard gravity.

        A path depends on ``v^2 / g`` and ``k`` only, as the equation of motion shows where time is counted in ``1/sqrt(g)``.
        """
        return math.sqrt(STANDARD_GRAVITY_MPS2 / self.gravity_mps2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How well things are measured, as standard deviations; what is known of the tools, before any shot."""

    gate: float = 0.0005
    """Of a speed by the muzzle gate, as a share of it: 1 us in 2 ms."""
    tracked: float = 0.02
    """Of a speed by the camera's track, as a share of it."""
    place_m: float = 0.005
    """Of a place of fall along each direction, by tape or by camera, with the barrel's own wavering."""

    def __post_init__(self) -> None:
        if not all(0 < value < math.inf for value in (self.gate, self.tracked, self.place_m)):
            raise ValueError(f"expected standard deviations above 0, found {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredShot:
    """One shot: how the cannon was set, and what was measured. At least one thing must have been.

    Parameters
    ----------
    name : str
        What the person at the table knows it by.
    elevation_rad : float
        As set.
    azimuth_rad : float
        As set, to the shooter's right.
    traverse_m : float
        As set, along the strip from its left end as the shooter sees it.
    elevation_approach, azimuth_approach : int
        1 where the axis came from below (from the left), -1 from above (from the right), 0 not known.
    shots_before : int
        Fired with this spring.
    dwell_s : float
        How long the cannon stood cocked.
    fall_height_m : float
        Height over the board's surface of the shot's centre where it fell: its radius, where it fell on the board.
    gate_speed_mps, tracked_speed_mps : float, optional
        Speed at the muzzle by the muzzle gate, and by the camera.
    range_m : float, optional
        Over the ground from the muzzle to where it fell.
    fell_m : tuple of float, optional
        Where it fell as the shooter sees it: right of traverse 0, and ahead of the strip.
    """

    name: str
    elevation_rad: float
    azimuth_rad: float = 0.0
    traverse_m: float = 0.0
    elevation_approach: int = 0
    azimuth_approach: int = 0
    shots_before: int = 0
    dwell_s: float = 0.0
    fall_height_m: float = 0.0
    gate_speed_mps: float | None = None
    tracked_speed_mps: float | None = None
    range_m: float | None = None
    fell_m: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        measured = [self.gate_speed_mps, self.tracked_speed_mps, self.range_m, *(self.fell_m or ())]
        if all(value is None for value in measured):
            raise ValueError(f"{self.name}: nothing was measured")
        for what, value in (("gate speed", self.gate_speed_mps), ("tracked speed", self.tracked_speed_mps)):
            if value is not None and not 0 < value < _FASTEST_MPS:
                raise ValueError(
                    f"{self.name}: the {what} is {value:g} m/s, expected above 0 and below {_FASTEST_MPS:g} m/s"
                )
        if self.range_m is not None and not 0 < self.range_m < _FARTHEST_M:
            raise ValueError(
                f"{self.name}: the range is {self.range_m:g} m, expected above 0 and below {_FARTHEST_M:g} m"
            )
        settings = (self.elevation_rad, self.azimuth_rad, self.traverse_m, self.dwell_s, self.fall_height_m)
        if not all(math.isfinite(value) for value in (*settings, *(self.fell_m or ()))):
            raise ValueError(f"{self.name}: a number is not finite")
        if abs(self.elevation_rad) > math.pi / 2:
            raise ValueError(
                f"{self.name}: the elevation is {self.elevation_rad:g} rad, expected -pi/2 to pi/2; "
                "is it in degrees?"
            )
        if abs(self.azimuth_rad) > math.pi / 2:
            raise ValueError(
                f"{self.name}: the azimuth is {self.azimuth_rad:g} rad, expected -pi/2 to pi/2; is it in degrees?"
            )
        for what, lengths_m in (
            ("traverse", (self.traverse_m,)),
            ("height of the fall", (self.fall_height_m,)),
            ("place of fall", self.fell_m or ()),
        ):
            for value in lengths_m:
                if abs(value) >= _FARTHEST_M:
                    raise ValueError(
                        f"{self.name}: the {what} is {value:g} m, expected less than {_FARTHEST_M:g} m from the cannon"
                    )
        for what, count, unit in (("dwell", self.dwell_s, " s"), ("shots before", self.shots_before, "")):
            if not 0 <= count <= _MOST:
                raise ValueError(f"{self.name}: {what} of {count:g}{unit}, expected 0 to {_MOST:g}{unit}")
