"""One line of the benchmark table."""

from dataclasses import dataclass

__all__ = ["Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value beside what it is held against.

    Parameters
    ----------
    name
        What was measured.
    value
        The measurement, in `unit`.
    peer
        What it is held against: another program, a floor, or a limit of the chip.
    peer_value
        The peer's value in the same unit, measured in the same run where it can be.
    """

    name: str
    value: float
    unit: str
    peer: str
    peer_value: float

    @property
    def ratio(self) -> float:
        """Value over the peer's value."""
        return self.value / self.peer_value

    def as_json(self) -> dict[str, str | float]:
        """Return the object that stands in build/bench.json."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "peer": self.peer,
            "peer_value": self.peer_value,
            "ratio": self.ratio,
        }
