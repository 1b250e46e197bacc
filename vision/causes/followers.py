"""Whether one that fell while others already moved fell by the shot or by one of them, as the falls alone tell.

What the shot did after its first blow is not looked at here, only where and when soldiers began to move, which way they went, and
where that blow sent the first of them and the shot (`vision.causes.blow`). A push comes from one that goes that way and reaches so
far, and later than a shot over the same distance; those ahead of the first, as the shot flew, are in the way of its fall, while the
shot itself was turned aside. Which way a soldier fell is told as it looks: one that hides behind its pusher often seems to go the
other way. The weights were fitted by logistic regression to falls of the twin as the eye sees them
(`benchmarks/_train_followers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.causes.blow import NO_BLOW, find_blow
from vision.causes.drags import Drag
from vision.outcome import Push, Standing, Toppling
from vision.shot import ShotTrack

__all__ = ["chance_of_ricochet", "measures"]

FloatArray = NDArray[np.float64]

_LEAST_WEIGHT = 0.01
_LONGEST_MS = 200.0
_NEAR_MM = 20.0
# For `measures`, in their order.
_WEIGHTS = (-0.653, -2.345, -3.581, -1.054, 1.380, 2.139, -3.078, 5.324)
_OFFSET = 7.653


def measures(
    fallen: Toppling,
    movers: Sequence[Toppling | Push],
    drags: Sequence[Drag],
    standing: Standing,
    track: ShotTrack,
    *,
    frame_us: float,
    shot_from_mm: tuple[float, float],
) -> FloatArray | None:
    """Measure what tells a push from a ricochet; ``None`` where nobody else moved before it or in the same picture.

    Parameters
    ----------
    fallen
        Who fell.
    movers
        All who moved, itself among them or not.
    drags
        Who may have knocked over whom.
    standing
        The figures' size.
    track
        The shot's way, of which only what came before the first that moved counts.
    frame_us
        Time between two pictures.
    shot_from_mm
        Where the shot came from (x, y).

    Returns
    -------
    How well somebody's fall or slide reaches it in time (logarithm); how long after the first that moved (logarithm,
    ms); cosines: of the way to it from that first one against the shot's way to that one, against the way that one
    went, and against the way that it fell itself; how far it stood from all who had moved, whichever way they fell and
    where they came to rest (logarithm); and how far the blow to the first sent that one its way, and the shot, where
    nobody else who moved before stood nearer.
    """
    square = fallen.soldier.square
    before = [m for m in movers if m.soldier.square != square and m.began_us <= fallen.began_us]
    if not before:
        return None
    muzzle = np.array(shot_from_mm)
    # Of several in one picture the one nearest to the cannon.
    first = min(before, key=lambda m: (m.began_us, np.hypot(*(m.soldier.foot_mm - muzzle)), m.soldier.square))
    way = fallen.soldier.foot_mm - first.soldier.foot_mm
    later_ms = min((fallen.began_us - first.began_us) / 1000.0, _LONGEST_MS)
    nearest = min(before, key=lambda m: np.hypot(*(fallen.soldier.foot_mm - m.soldier.foot_mm)))
    # Who stood between was struck or pushed since, and may have sent shot or pusher another way.
    blow = NO_BLOW
    if nearest is first:
        blow = find_blow(track, first.soldier, first.began_us, standing.foot_radius_mm)
    towards = way / max(float(np.hypot(*way)), 1e-9)
    weight = max((d.weight for d in drags if d.fallen == square), default=0.0)
    return np.array(
        [
            np.log(weight + _LEAST_WEIGHT),
            np.log(later_ms + frame_us / 1000.0),
            _cosine(way, first.soldier.foot_mm - muzzle),
            _cosine(way, _went(first)),
            _cosine(way, _went(fallen)),
            np.log1p(min(_beyond_mm(fallen, mover, standing) for mover in before) / _NEAR_MM),
            towards @ blow.pushed,
            towards @ blow.kept,
        ]
    )


def chance_of_ricochet(measured: FloatArray) -> float:
    """Give the probability that the shot felled it, not another soldier, where the shot was not seen at all."""
    return float(1.0 / (1.0 + np.exp(-(measured @ _WEIGHTS) - _OFFSET)))


def _beyond_mm(fallen: Toppling, mover: Toppling | Push, standing: Standing) -> float:
    """How far a soldier stood out of another's reach, where that one stood and where it came to rest."""
    foot, both_mm, length_mm = fallen.soldier.foot_mm, 2 * standing.foot_radius_mm, standing.height_mm
    apart_mm = [float(np.hypot(*(foot - mover.soldier.foot_mm))) - length_mm]
    if isinstance(mover, Push):
        apart_mm.append(float(np.hypot(*(foot - [mover.x_mm, mover.y_mm]))))
    else:
        apart_mm.append(float(np.hypot(*(foot - mover.rest_mm))) - length_mm / 2)
    return max(min(apart_mm) - both_mm, 0.0)


def _went(mover: Toppling | Push) -> FloatArray:
    if isinstance(mover, Push):
        return np.array([mover.x_mm, mover.y_mm]) - mover.soldier.foot_mm
    return np.array(mover.heading)


def _cosine(one: FloatArray, other: FloatArray) -> float:
    """Cosine of the angle between two ways; 0 where one of them is none."""
    length = float(np.hypot(*one) * np.hypot(*other))
    return float(one @ other) / length if length > 0 else 0.0
