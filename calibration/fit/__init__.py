"""Fits: from measured shots to a calibrated cannon, its uncertainty, and the shots to fire next."""

from calibration.fit.calibration import Calibration, Interval, RangePrediction, Status
from calibration.fit.fitting import NoFit, fit
from calibration.fit.parameters import ASSUMED, Assumption, Parameter
from calibration.fit.shots import MeasuredShot, Mount, Noise

__all__ = [
    "ASSUMED",
    "Assumption",
    "Calibration",
    "Interval",
    "MeasuredShot",
    "Mount",
    "NoFit",
    "Noise",
    "Parameter",
    "RangePrediction",
    "Status",
    "fit",
]
