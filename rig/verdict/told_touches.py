"""What the shot is told to have touched, and when: never after the motion that it caused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from game.montecassino import Square
from vision.causes.touches import Touch

__all__ = ["met", "told_touches"]


def told_touches(
    touches: Sequence[Touch], began_us: Mapping[Square, int], frame_us: float
) -> tuple[Touch, ...]:
    """Give the touches with times that agree with what moved.

    When the shot touched a soldier and when that began to move are both known to within a picture.

    Parameters
    ----------
    touches
        In the order of their times.
    began_us
        When each began to move that the shot may have moved.
    frame_us
        Time between two pictures.
    """
    told: list[Touch] = []
    latest_us = float("inf")
    for touch in reversed(touches):
        moved_us = began_us.get(touch.square) if touch.square is not None else None
        if moved_us is not None and touch.time_us - moved_us <= frame_us:
            latest_us = min(latest_us, moved_us)
        latest_us = min(latest_us, touch.time_us)
        told.append(replace(touch, time_us=latest_us))
    return tuple(reversed(told))


def met(touch: Touch) -> str:
    """Say what the shot touched: the board, a soldier by its square, or something."""
    return "the board" if touch.on_board else str(touch.square or "something")
