"""The ATmega328P without the ATmega328P: the real firmware binary, run cycle by cycle."""

from twin.chip.chip import (
    CHIP_HZ,
    FIRMWARE_PATH,
    RAM_END,
    Chip,
    ChipEvent,
    ChipSettings,
    EventKind,
    Moment,
    ResetCause,
)
from twin.chip.errors import ChipError, ChipMissing, ChipStopped
from twin.chip.pinmap import Pin

__all__ = [
    "CHIP_HZ",
    "FIRMWARE_PATH",
    "RAM_END",
    "Chip",
    "ChipError",
    "ChipEvent",
    "ChipMissing",
    "ChipSettings",
    "ChipStopped",
    "EventKind",
    "Moment",
    "Pin",
    "ResetCause",
]
