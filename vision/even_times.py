"""When a film's pictures were taken, told by when they came.

A camera takes its pictures by a quartz, as evenly as can be. They are stamped when they have come through cable, driver or
network, which takes now a little longer and now a little less: up to some milliseconds over USB, and more over a network. A shot at
10 m/s that is held to be a millisecond late is held to be a centimetre off.

The camera's own clock is the one by whose period most pictures come at the same phase; a picture that was lost or held up puts
none of the others out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST_OF_CLOCK", "OwnClock", "evened", "own_clock"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEWEST_OF_CLOCK = 24
"""Pictures that tell a camera's clock; with fewer they have the times at which they came."""
# So little wavering is left as it is. A shot is read as well as ever with 0.1 ms; with 0.3 ms two causes of 67 were wrong that were right.
_EVEN_US = 100.0
_PHASED = 128  # pictures by which the period is found; all of them make it good
_PERIODS = 0.03  # so far from the mean time between two it may lie; packets of 4 ms make 120 a second look like 130 as well
_STEPS = 8  # periods tried for each turn of the phase over all of them
# Mean of the pictures' unit phasors. Normal wavering by a fifth of the period gives 0.45, and one picture in 80 the wrong number.
_IN_PHASE = 0.5
_LOST = 0.12  # of the pictures; with more it is no clock, or no camera's
_FITS = 2  # each without who was held up by the one before
_HELD_UP = 0.2  # of the pictures; with more it is no clock
_NEAR = 0.35  # of the period; who comes farther off its clock was held up
_OF_THE_USUAL = 0.25, 1.75  # times the usual time, between them: no picture was lost or held up between two
_STRAYS = 5  # numbers in a row, of which the middle one counts
# Of the wavering that a slow curve follows: then the camera changes its pace, as in failing light.
_SLOWLY, _CURVE = 0.5, 3


@dataclass(frozen=True, slots=True)
class OwnClock:
    """A camera's own clock, as its pictures are stamped: late by its delay."""

    start_us: float
    """When one of its pictures was taken."""
    period_us: float
    """From one picture to the next."""
    wavering_us: float
    """How far off that they were stamped: standard deviation of those that were not held up."""

    def taken_us(self, came_us: int, before_us: int | None) -> int | None:
        """Say when a picture was taken; ``None`` where it came too far from the clock to tell.

        Parameters
        ----------
        came_us
            When it came.
        before_us
            When the one before it was taken, or came; ``None`` where there is none.
        """
        number = round((came_us - self.start_us) / self.period_us)
        at_us = self.start_us + number * self.period_us
        # What seems to be early, after one that seems to be lost, is the lost one, held up.
        lost = before_us is not None and at_us - before_us > 1.5 * self.period_us
        held_up = lost and at_us > came_us
        return None if held_up or abs(came_us - at_us) > _NEAR * self.period_us else round(at_us)

    @property
    def is_even(self) -> bool:
        """Whether pictures come so evenly that their stamps are as good."""
        return self.wavering_us <= _EVEN_US


def own_clock(timestamps_us: Sequence[int]) -> OwnClock | None:
    """Find a camera's own clock.

    Parameters
    ----------
    timestamps_us
        When pictures came, rising.

    Returns
    -------
    The clock; ``None`` where there are too few, or they come by none: unevenly, or by one that changes its pace.
    """
    told = _told(np.asarray(timestamps_us, dtype=np.float64))
    return None if told is None else told[0]


def evened(timestamps_us: Sequence[int]) -> tuple[int, ...]:
    """Give when pictures were taken that were stamped when they came.

    Parameters
    ----------
    timestamps_us
        Of each picture, rising. They may all be late, by as much as they like: that is the camera's delay, and stays.

    Returns
    -------
    As many, rising; the same where they are even already, too few, or come by no clock.
    """
    came_us = np.asarray(timestamps_us, dtype=np.float64)
    told = _told(came_us)
    if told is None:
        return tuple(timestamps_us)
    clock, numbers = told
    taken_us = clock.start_us + numbers * clock.period_us
    if clock.is_even and np.abs(came_us - taken_us).max() <= _NEAR * clock.period_us:
        return tuple(timestamps_us)
    return tuple(round(each) for each in taken_us.tolist())


def _told(came_us: FloatArray) -> tuple[OwnClock, IntArray] | None:
    """Find the clock by which pictures came, and their numbers by it."""
    if len(came_us) < FEWEST_OF_CLOCK:
        return None
    by_phase = _by_phase(came_us)
    if by_phase is not None:
        return by_phase
    # Where they waver so much that no phase shows, or by packets nearly as long as from one to the next: if none was lost.
    numbers = np.arange(len(came_us))
    line = np.polynomial.Polynomial.fit(numbers, came_us, 1)
    return _by_line(numbers, came_us, came_us - line(numbers), float(line.deriv()(0)))


def _by_phase(came_us: FloatArray) -> tuple[OwnClock, IntArray] | None:
    last = came_us[-_PHASED:]
    apart_us = np.diff(last)
    usual_us = float(np.median(apart_us))
    if usual_us <= 0:
        return None
    whole = (apart_us > _OF_THE_USUAL[0] * usual_us) & (apart_us < _OF_THE_USUAL[1] * usual_us)
    if not whole.any():
        return None
    about_us = float(apart_us[whole].mean())
    if last[-1] - last[0] > (1 + _LOST) * len(last) * about_us:
        return None
    start_us, period_us, together = _in_phase(last, about_us)
    if together < _IN_PHASE:
        return None
    for part_us in (last, came_us):
        numbers = _numbered(part_us, start_us, period_us)
        told = _by_line(numbers, part_us, part_us - start_us - numbers * period_us, period_us)
        if told is None:
            return None
        start_us, period_us = told[0].start_us, told[0].period_us
    return told


def _by_line(
    numbers: IntArray, came_us: FloatArray, off_us: FloatArray, period_us: float
) -> tuple[OwnClock, IntArray] | None:
    """Fit the clock by which pictures came that have these numbers and lie so far off one that is nearly it.

    ``None`` where too many are lost or held up, or it changes its pace.
    """
    if numbers[-1] - numbers[0] + 1 > (1 + _LOST) * len(numbers):
        return None
    for _ in range(_FITS):
        near = np.abs(off_us) <= _NEAR * period_us
        if near.sum() < max(FEWEST_OF_CLOCK, (1 - _HELD_UP) * len(numbers)):
            return None
        line = np.polynomial.Polynomial.fit(numbers[near], came_us[near], 1).convert()
        start_us, period_us = line.coef.tolist()
        off_us = came_us - line(numbers)
    wavering_us = float(off_us[near].std())
    curve = np.polynomial.Polynomial.fit(numbers[near], off_us[near], _CURVE)
    if float(curve(numbers[near]).std()) > max(_SLOWLY * wavering_us, _EVEN_US):
        return None
    if any(abs(step_us) > period_us / 2 for step_us in _steps(numbers, off_us)):
        return None
    return OwnClock(start_us, period_us, wavering_us), numbers


def _steps(numbers: IntArray, off_us: FloatArray) -> list[float]:
    """Give by how much pictures come later after each one that is lost than before: by none, or it is a slower pace that seems lost ones."""
    after = np.flatnonzero(np.diff(numbers) > 1) + 1
    beside = _STRAYS // 2 + 1
    return [
        float(np.median(off_us[k : k + beside]) - np.median(off_us[max(k - beside, 0) : k])) for k in after
    ]


def _in_phase(came_us: FloatArray, about_us: float) -> tuple[float, float, float]:
    """Find the period near one by which pictures come at the same phase: when one was taken, the period, and how well it fits, 0 to 1."""
    turns = (came_us - came_us[-1]) / about_us
    most = max(1.0, float(-turns[0]))
    times = 1 + np.linspace(-_PERIODS, _PERIODS, 2 * round(_PERIODS * most * _STEPS) + 1)
    together = np.exp(2j * np.pi * np.outer(times, turns)).mean(axis=1)
    best = int(np.argmax(np.abs(together)))
    period_us = about_us / float(times[best])
    late = float(np.angle(together[best])) / (2 * np.pi)
    return float(came_us[-1]) + late * period_us, period_us, float(np.abs(together[best]))


def _numbered(came_us: FloatArray, start_us: float, period_us: float) -> IntArray:
    """Give pictures their numbers by a clock; one that was held up comes close upon the next one, and has the number before it."""
    count = np.arange(len(came_us))
    lost = np.round((came_us - start_us) / period_us) - count
    around = np.lib.stride_tricks.sliding_window_view(np.pad(lost, _STRAYS // 2, mode="edge"), _STRAYS)
    lost = np.minimum.accumulate(np.median(around, axis=1)[::-1])[::-1]
    return (count + lost).astype(np.int64)
