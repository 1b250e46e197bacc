"""What the shot touched, as it is told: touches in their order, and accounts of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from game.montecassino import Square

__all__ = ["Course", "ShotContacts", "Touch"]

_USUAL_SPEED_MPS = 8.0


@dataclass(frozen=True, slots=True)
class Touch:
    """One touch of the shot."""

    square: Square | None
    """Whose soldier; ``None`` for the board or something unknown."""
    on_board: bool
    """Whether it was the playing surface."""
    time_us: float
    point_mm: tuple[float, float, float]
    """The shot's centre, board frame."""
    speed_mps: float = _USUAL_SPEED_MPS
    """How fast it came, over the board."""


@dataclass(frozen=True, slots=True)
class Course:
    """One possible account of the whole way: every touch in order."""

    touches: tuple[Touch, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class ShotContacts:
    """All accounts of the shot's way that are worth keeping, the likeliest first; probabilities add up to one."""

    courses: tuple[Course, ...]
    stirred_us: float = math.inf
    """When the first soldier was seen to have moved, whom nothing but the shot can have moved."""

    @property
    def first(self) -> Touch | None:
        """The likeliest first touch, all accounts taken together; ``None`` where nothing was touched."""
        # One of what was touched only later leaves out whom the shot had moved by then.
        courses = [c for c in self.courses if not c.touches or c.touches[0].time_us <= self.stirred_us]
        shares: dict[tuple[Square | None, bool] | None, float] = {}
        for course in courses:
            start = course.touches[0] if course.touches else None
            key = None if start is None else (start.square, start.on_board)
            shares[key] = shares.get(key, 0.0) + course.probability
        best = max(shares, key=lambda key: shares[key], default=None)
        if best is None:
            return None
        starts = (course.touches[0] for course in courses if course.touches)
        return next(touch for touch in starts if (touch.square, touch.on_board) == best)
