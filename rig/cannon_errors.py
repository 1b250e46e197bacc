"""What can come of a shot that was not to be, split by what the caller does next.

CannonError
├── OutOfReach      an axis was asked to go beyond its limits; nothing moved
├── BadSetting      a setting that the firmware does not have, or a value outside its range
├── Aborted         the cannon left the shot by itself; its cause says why
│   └── ShotNotSeen the trigger was pulled and nothing passed the muzzle gate
└── LetDown         nothing is wrong with the cannon, but the shot cannot be: the lever was let down
    ├── NotLoaded
    ├── LaneNotClear
    └── DwellExpired
"""

from rig.link import wire

__all__ = [
    "Aborted",
    "BadSetting",
    "CannonError",
    "DwellExpired",
    "LaneNotClear",
    "LetDown",
    "NotLoaded",
    "OutOfReach",
    "ShotNotSeen",
]


class CannonError(Exception):
    """A shot that was not to be; the cannon is as `Cannon.state` says."""

    exit_status = 1


class OutOfReach(CannonError):
    """`axis` cannot go to a pulse of `asked_us`; it goes from `low_us` to `high_us`."""

    def __init__(self, axis: wire.Axis, asked_us: float, low_us: float, high_us: float) -> None:
        self.axis = axis
        self.asked_us = asked_us
        self.low_us = low_us
        self.high_us = high_us
        super().__init__(
            f"{axis.name.lower()} cannot go to a pulse of {asked_us:g} us; its limits are {low_us:g} to {high_us:g} us"
        )


class BadSetting(CannonError):
    """The firmware has no setting `name`, or not with that value."""

    def __init__(self, name: str, what: str) -> None:
        self.name = name
        super().__init__(f"cannon setting {name}: {what}")


class Aborted(CannonError):
    """The cannon left the shot by itself, for `cause`; `faults` are those it noted since it was homed."""

    def __init__(self, cause: wire.Cause, faults: frozenset[wire.Fault]) -> None:
        self.cause = cause
        self.faults = faults
        noted = "".join(f"; {wire.says(fault)}" for fault in sorted(faults))
        # Work that nobody here asked for: what came before it was not heard.
        why = "it has let the lever down by itself" if cause is wire.Cause.DONE else wire.says(cause)
        super().__init__(f"the cannon made itself safe: {why}{noted}")


class ShotNotSeen(Aborted):
    """The trigger was pulled, and no shot passed the muzzle gate. Whether one left only the camera can tell."""


class LetDown(CannonError):
    """The shot cannot be, and the lever was let down."""


class NotLoaded(LetDown):
    """No shot was seated in time."""


class LaneNotClear(LetDown):
    """Camera or input did not say that the lane is clear."""


class DwellExpired(LetDown):
    """The lever was cocked for as long as it may."""
