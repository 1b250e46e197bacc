"""What the manner of a fall tells of what caused it: which way the soldier went, and how fast it went over.

One that the shot struck first falls the way the shot flew, and fast. After another soldier the shot may come from anywhere
and is slower. The figures are of 211 falls of the twin's clips as the camera saw them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.outcome import Toppling

__all__ = ["Manner", "manner"]

# Standard deviation of the way that a soldier goes, and how often it goes any other way.
_STRUCK_RAD, _STRUCK_ASTRAY = np.radians(37.0), 0.04
_TURNED_RAD, _TURNED_ASTRAY = np.radians(80.0), 0.3
# Mean time from the first motion to 45 degrees; a gamma distribution of shape 2.
_STRUCK_MS, _TURNED_MS, _ANY_MS = 28.0, 43.0, 42.0
_LONGEST_MS = 60.0


@dataclass(frozen=True, slots=True)
class Manner:
    """How much likelier than on average a fall looks as it does."""

    straight: float
    """By a shot that flies as it left the cannon."""
    turned: float
    """By a shot that another soldier has turned aside."""


def manner(toppling: Toppling, shot_way: tuple[float, float]) -> Manner:
    """Weigh how a soldier fell.

    Parameters
    ----------
    toppling
        How it was seen to fall.
    shot_way
        The way (x, y) that the shot flies before it touches anything; any length.
    """
    lasted_ms = min((toppling.passed_us - toppling.began_us) / 1000.0, _LONGEST_MS)
    off_rad = _angle(toppling.heading, shot_way)
    return Manner(
        _turned(off_rad, _STRUCK_RAD, _STRUCK_ASTRAY) * _lasting(lasted_ms, _STRUCK_MS),
        _turned(off_rad, _TURNED_RAD, _TURNED_ASTRAY) * _lasting(lasted_ms, _TURNED_MS),
    )


def _angle(one: tuple[float, float], other: tuple[float, float]) -> float | None:
    """Angle between two ways, 0 to pi; ``None`` where one of them is none."""
    if one == (0.0, 0.0) or other == (0.0, 0.0):
        return None
    return float(
        np.abs(np.arctan2(one[0] * other[1] - one[1] * other[0], one[0] * other[0] + one[1] * other[1]))
    )


def _turned(angle_rad: float | None, sigma_rad: float, astray: float) -> float:
    """Density of an angle from the expected way, as a multiple of that of an angle of which nothing is known."""
    if angle_rad is None:
        return 1.0
    bell = np.sqrt(2 * np.pi) / sigma_rad * np.exp(-((angle_rad / sigma_rad) ** 2) / 2)
    return float(astray + (1 - astray) * bell)


def _lasting(time_ms: float, mean_ms: float) -> float:
    """Density of a time, as a multiple of that over all falls."""
    return float((_ANY_MS / mean_ms) ** 2 * np.exp(2 * time_ms / _ANY_MS - 2 * time_ms / mean_ms))
