"""What hit statistics tell the shots of the log apart by; a file of its own, for the command line loads it at every start."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["By"]


class By(StrEnum):
    """What shots are told apart by."""

    TARGET = "target"
    """The square aimed at."""
    DISTANCE = "distance"
    """Over the ground from the cannon's pivot to the point aimed at, by 100 mm."""
    OPTION = "option"
    """The casualty option agreed upon."""
    SESSION = "session"
    DWELL = "dwell"
    """From the lever's latching to the fire command: how long the spring was held."""
    SHOT = "shot"
    """Which shot of its session, by 10."""
