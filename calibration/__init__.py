"""Where the shot goes: flight, aim, fits from measured shots, dispersion. SI units throughout."""

from calibration import aim, flight, servo

__all__ = ["aim", "flight", "servo"]
