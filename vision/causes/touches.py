"""What the shot touched, as it is told: touches in their order, and accounts of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from game.montecassino import Square

__all__ = ["Course", "ShotContacts", "Touch"]

# Before it is touched a soldier may seem to move already: the shot comes in front of it.
_SEEN_EARLY_US = 8_000


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
        shares: dict[tuple[Square | None, bool] | None, float] = {}
        firsts: dict[tuple[Square | None, bool] | None, Touch | None] = {}
        for course in self.courses:
            start = course.touches[0] if course.touches else None
            early_us = 0 if start is None or start.square is None else _SEEN_EARLY_US
            if start is not None and start.time_us > self.stirred_us + early_us:
                continue  # it leaves out whom the shot had moved by then
            what = None if start is None else (start.square, start.on_board)
            shares[what] = shares.get(what, 0.0) + course.probability
            firsts.setdefault(what, start)
        return firsts[max(shares, key=lambda what: shares[what])] if shares else None
