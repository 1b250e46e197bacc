"""Who fell and who was pushed."""

from vision.falls.aftermath import Aftermath, find_falls

__all__ = ["Aftermath", "find_falls"]
