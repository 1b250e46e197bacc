"""The shot's way over the table."""

from vision.shot.shot_track import Leg, ShotTrack
from vision.shot.track import find_track

__all__ = ["Leg", "ShotTrack", "find_track"]
