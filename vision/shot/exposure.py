"""How long pictures were exposed, where nobody tells: as long as makes what the shot smears explain them best."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["SHORTEST_US", "likeliest_exposure_us"]

SHORTEST_US = 100.0
"""In less a shot of 12 m/s smears by a fifth of its own size, which nothing tells."""
_STEP = math.sqrt(2.0)  # from one exposure that is tried to the next


def likeliest_exposure_us(explained: Callable[[float], float], about_us: float, longest_us: float) -> float:
    """Find the exposure that explains most, uphill from a guess.

    Parameters
    ----------
    explained
        How much of the pictures an exposure in microseconds explains.
    about_us
        The guess.
    longest_us
        The time from one picture to the next: none is exposed for longer.
    """
    best_us = min(max(about_us, SHORTEST_US), longest_us)
    tried = {0: explained(best_us)}
    best = 0
    for step in (1, -1):
        while SHORTEST_US <= (next_us := best_us * _STEP ** (best + step)) <= longest_us:
            tried[best + step] = explained(next_us)
            if tried[best + step] <= tried[best]:
                break
            best += step
    return float(best_us * _STEP ** (best + _top(tried, best)))


def _top(tried: dict[int, float], best: int) -> float:
    """Where between its neighbours the highest of the values lies, in steps off it: on the parabola through the three."""
    if best - 1 not in tried or best + 1 not in tried:
        return 0.0
    before, after = (tried[best] - tried[best + step] for step in (-1, 1))
    return (before - after) / (2 * (before + after)) if before + after > 0 else 0.0
