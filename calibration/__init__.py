"""Where the shot goes: flight, aim and, later, fits from measured shots. SI units throughout."""

from calibration import aim, flight, servo

__all__ = ["aim", "flight", "servo"]
