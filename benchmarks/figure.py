"""One line of the benchmark table."""

import math
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
    at_least, at_most
        What is promised of the ratio; ``None`` where nothing is.

    Raises
    ------
    ValueError
        If a value is no number, or the peer's is not above 0: then there was nothing to measure.
    """

    name: str
    value: float
    unit: str
    peer: str
    peer_value: float
    at_least: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.value) and math.isfinite(self.peer_value) and self.peer_value > 0):
            raise ValueError(f"nothing was measured: {self}")

    @property
    def ratio(self) -> float:
        """Value over the peer's value."""
        return self.value / self.peer_value

    @property
    def promise(self) -> str:
        """What is promised of the ratio, in words; empty where nothing is."""
        ends = (("at least", self.at_least), ("at most", self.at_most))
        return ", ".join(f"{words} {end:.3g}" for words, end in ends if end is not None)

    @property
    def met(self) -> bool | None:
        """Whether the promise is kept; ``None`` where there is none."""
        if not self.promise:
            return None
        low, high = self.at_least, self.at_most
        return (low is None or self.ratio >= low) and (high is None or self.ratio <= high)

    def as_json(self) -> dict[str, str | float | bool | None]:
        """Return the object that stands in build/bench.json."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "peer": self.peer,
            "peer_value": self.peer_value,
            "ratio": self.ratio,
            "promise": self.promise,
            "met": self.met,
        }
