"""The serial line between controller and chip, and what it does to bytes on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from twin.limits import within


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSettings:
    """Faults of the line; by default there are none. Each is a probability for every byte."""

    lost_to_chip: float = 0.0
    """Share of the controller's bytes that never arrive."""
    lost_from_chip: float = 0.0
    """Share of the chip's bytes that never arrive."""
    corrupted_to_chip: float = 0.0
    """One bit of the byte arrives turned over."""
    corrupted_from_chip: float = 0.0
    """The same on the way back."""

    def __post_init__(self) -> None:
        within(self, 0, 1, "lost_to_chip", "lost_from_chip", "corrupted_to_chip", "corrupted_from_chip")


def through_line(data: bytes, rng: np.random.Generator, *, lost: float, corrupted: float) -> bytes:
    """Return what arrives of some bytes."""
    if lost == 0.0 and corrupted == 0.0:
        return data
    arrived = bytearray()
    for byte in data:
        is_lost, is_corrupted, bit = rng.random() < lost, rng.random() < corrupted, int(rng.integers(8))
        if not is_lost:
            arrived.append(byte ^ 1 << bit if is_corrupted else byte)
    return bytes(arrived)
