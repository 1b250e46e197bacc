"""The unit of the firmware's timer, in which pulses and the gate's times go over the wire."""

__all__ = ["TICKS_PER_US"]

TICKS_PER_US = 2
"""A tick is 0.5 us."""
