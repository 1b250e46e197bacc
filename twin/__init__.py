"""The table without a table: the real firmware on a simulated chip, simulated physics, rendered pictures."""

from twin.settings import ResetIncident, TwinSettings
from twin.twin import Twin

__all__ = ["ResetIncident", "Twin", "TwinSettings"]
