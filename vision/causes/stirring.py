"""When soldiers began to move, held against when the shot can have touched them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Square
from vision.shot import ShotTrack
from vision.shot.shot_track import STRANGERS

__all__ = ["earliest", "first_to_stir", "stirring_cost"]

FloatArray = NDArray[np.float64]

# A soldier struck by the shot is seen to move in the next picture (98 of 100 no more than 1.2 ms after it), seldom much
# later, where the blow was weak; a shot in front of it may be taken for its motion up to 2 ms early.
_STIR_MS = 2.0
_STIR_SIGMA_MS = 4.0
_EARLY_MS = 3.0
_EARLY_SIGMA_MS = 2.5


def first_to_stir(track: ShotTrack, stirred_us: Mapping[Square, int], frame_us: float) -> set[Square]:
    """Those who were the first to move after the release, all of one picture."""
    release_us = track.release_us
    if release_us is None:
        return set()
    if len(track.legs[0].streaks) > STRANGERS:
        stirred_us = {s: us for s, us in stirred_us.items() if us >= release_us - frame_us}
    return earliest(stirred_us, frame_us)


def earliest(stirred_us: Mapping[Square, int], frame_us: float) -> set[Square]:
    """Those who were the first to move of all that did, all of one picture."""
    begin_us = min(stirred_us.values(), default=0)
    return {square for square, us in stirred_us.items() if us < begin_us + frame_us / 2}


def stirring_cost(stirred_us: int, times_us: FloatArray, frame_us: float) -> FloatArray:
    """Cost of a soldier's first motion being seen when it was, if it was touched at each instant.

    Parameters
    ----------
    stirred_us
        First picture in which it had moved.
    times_us
        The instants, shape (N,).
    frame_us
        Time between two pictures.

    Returns
    -------
    Half of squared standard deviations, as log-likelihoods are; shape (N,).
    """
    lag_ms = (stirred_us - times_us) / 1000.0
    frame_ms = frame_us / 1000.0
    late = np.maximum(lag_ms - frame_ms - _STIR_MS, 0.0)
    early = np.maximum(-lag_ms - np.minimum(_EARLY_MS, 0.5 * frame_ms), 0.0)
    cost: FloatArray = (late / _STIR_SIGMA_MS) ** 2 / 2 + (early / _EARLY_SIGMA_MS) ** 2 / 2
    return cost
