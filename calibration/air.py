"""The air that the shot flies through: density and viscosity from a thermometer, a barometer and a hygrometer."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Air"]

_ZERO_CELSIUS_K = 273.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Air:
    """Moist air at rest.

    Parameters
    ----------
    temperature_c : float
        In degrees Celsius, from -20 to 60.
    pressure_pa : float
        Of the place itself, not reduced to sea level, from 50 kPa to 110 kPa.
    relative_humidity : float
        From 0 to 1.
    """

    temperature_c: float = 20.0
    pressure_pa: float = 101_325.0
    relative_humidity: float = 0.5

    def __post_init__(self) -> None:
        for name, value, low, high, unit in (
            ("temperature", self.temperature_c, -20.0, 60.0, "degrees Celsius"),
            ("pressure", self.pressure_pa, 50_000.0, 110_000.0, "Pa"),
            ("relative humidity", self.relative_humidity, 0.0, 1.0, "as a share of 1"),
        ):
            if not low <= value <= high:
                raise ValueError(f"the air's {name} is {value:g}, expected {low:g} to {high:g} {unit}")

    @property
    def density_kgpm3(self) -> float:
        """Density by the formula CIPM-2007, with 400 umol of carbon dioxide a mole.

        A. Picard, R. S. Davis, M. Gläser, K. Fujii, "Revised formula for the density of moist air (CIPM-2007)",
        Metrologia 45 (2008) 149-155, equation (1) and appendix A1. Its range is 15 to 27 degrees Celsius and 60 to
        110 kPa; beyond, it is still good to about 0.1 %, which no table needs.
        """
        t, p = self.temperature_c, self.pressure_pa
        kelvin = t + _ZERO_CELSIUS_K
        saturation_pa = math.exp(
            1.2378847e-5 * kelvin**2 - 1.9121316e-2 * kelvin + 33.93711047 - 6.3431645e3 / kelvin
        )
        enhancement = 1.00062 + 3.14e-8 * p + 5.6e-7 * t**2
        vapour = self.relative_humidity * enhancement * saturation_pa / p
        compressibility = (
            1.0
            - p
            / kelvin
            * (
                1.58123e-6
                - 2.9331e-8 * t
                + 1.1043e-10 * t**2
                + (5.707e-6 - 2.051e-8 * t) * vapour
                + (1.9898e-4 - 2.376e-6 * t) * vapour**2
            )
            + (p / kelvin) ** 2 * (1.83e-11 - 0.765e-8 * vapour**2)
        )
        return 3.483740e-3 * p / (compressibility * kelvin) * (1.0 - 0.3780 * vapour)

    @property
    def viscosity_pas(self) -> float:
        """Dynamic viscosity by Sutherland's formula with the constants of ISO 2533; humidity changes it by less than 1 %."""
        kelvin = self.temperature_c + _ZERO_CELSIUS_K
        return 1.458e-6 * kelvin * math.sqrt(kelvin) / (kelvin + 110.4)
