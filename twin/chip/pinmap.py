"""Which pin of the Uno does what; the same as `firmware/avr/pins.h`, which a test compares."""

from enum import IntEnum

__all__ = ["Pin"]


class Pin(IntEnum):
    """A pin of the cannon's board, numbered port * 8 + bit with B = 0, C = 1, D = 2."""

    AZIMUTH_SERVO = 1
    """PB1, D9, OC1A."""
    ELEVATION_SERVO = 2
    """PB2, D10, OC1B."""
    LOADER = 3
    """PB3, D11: high makes the loader drop one shot into the muzzle."""
    ARMED_LAMP = 5
    """PB5, D13."""
    GATE_FIRST = 8
    """PC0, A0: the inner light barrier; high = blocked."""
    GATE_SECOND = 9
    """PC1, A1: the outer light barrier; high = blocked."""
    LEVER_DRAWN = 10
    """PC2, A2: low = the lever is at the breech."""
    LEVER_LATCHED = 11
    """PC3, A3: low = the lever is turned and held."""
    LANE_CLEAR = 12
    """PC4, A4: low = the lane is clear."""
    EMERGENCY_STOP = 18
    """PD2, D2, INT0: low = the stop's circuit is closed, all is well."""
    ARMING_KEY = 19
    """PD3, D3: low = on."""
    TRIGGER = 20
    """PD4, D4: high = the solenoid is energised."""
    TRAVERSE_SERVO = 21
    """PD5, D5."""
    DRAW_SERVO = 22
    """PD6, D6."""
    LATCH_SERVO = 23
    """PD7, D7."""
