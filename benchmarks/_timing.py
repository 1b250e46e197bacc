"""The least time that something takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["timed"]

T = TypeVar("T")


def timed(
    act: Callable[[], T], times: int, clock: Callable[[], float] = time.process_time
) -> tuple[T, float]:
    """Do something a few times; return what it gives, and its least time in s.

    The least, since other programs only ever add to it. The clock is that of the program's CPU time, all threads together.
    """
    spent_s = []
    for _ in range(times):
        begun_s = clock()
        result = act()
        spent_s.append(clock() - begun_s)
    return result, min(spent_s)
