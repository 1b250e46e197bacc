"""Whether the shot touched the board before the first soldier, which from above hardly shows."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from vision.causes.touches import Touch
from vision.causes.turn import EDGE_US
from vision.shot import Leg, ShotTrack
from vision.shot.streaks import SHOT_RADIUS_MM

__all__ = ["perhaps_bounced"]

# A shot is aimed at soldiers: of 610 of the twin 2 % touched the board before the first soldier, of 76 filmed otherwise 13 %.
# The turns weigh the board as they would anywhere on the way; this makes up the difference. Of 360 shots of the twin 345 are told
# rightly, with 0.05 343 and with 0.13 340; of 57 others, a third of which bounced, 47, 47 and 50. Under option iii 21 of the
# twin's have a doubt, 21 and 42, and two of the others are wrong without one, three and two.
_ELSE_FIRST_SHARE = 0.06
# On top of what the fit states: so it was with 57 flights that stated less than 6. With 103 others it was 4; but with that,
# of 26 ricochets filmed otherwise 14 were told as direct instead of 11, for bounces are commoner there than the share above.
_HEIGHT_SIGMA_MM = 2.5
_USUAL_FALL_MM, _LEAST_FALL_MM = 12.0, 3.0  # from where a shot is seen last to a soldier
_BOUNCE_STEPS = 24
# A millimetre: a flight that was read wrongly may seem at any height. Of 67 that stated 3.5 mm and more 6 were off by more than
# three standard deviations and 10 mm; of 36 that stated less, most of which by their shadows, none was.
_STRAY_DENSITY, _STRAYING_MM = 1e-3, 5.0


def perhaps_bounced(
    track: ShotTrack, share: float, touches: tuple[Touch, ...], height_mm: float, first_us: float
) -> list[tuple[float, tuple[Touch, ...]]]:
    """Weigh an account by how seldom a shot touches something else before the first soldier; it may stand for two.

    From above a bounce just before that soldier hardly shows: had the shot touched nothing, it would have come to the
    soldier somewhere between its foot and its head; had it bounced before, its first flight would lead below the board
    there.

    Parameters
    ----------
    track
        The shot's way.
    share, touches
        How likely the account is so far, and what it says that was touched, in order.
    height_mm
        Of a soldier.
    first_us
        When the first soldier began to move.

    Returns
    -------
    The account, or two, each with how likely it is.
    """
    struck = next((i for i, t in enumerate(touches) if t.square is not None), None)
    if struck is None:
        # The first that moved was struck later, out of sight.
        elsewhere = bool(touches) and touches[0].time_us < first_us
        return [(share * _ELSE_FIRST_SHARE if elsewhere else share, touches)]
    leg, soldier = track.legs[0], touches[struck]
    if struck > 0 and leg.ends_at_board and touches[0].on_board:
        # Its flight was cut in two there, as likely as its sights make it.
        return [(share * leg.bounced, touches), (share * (1 - leg.bounced), touches[struck:])]
    # What is seen in the moment of a turn was not seen before it.
    seen_between = len(track.legs) > 1 and track.legs[1].first_us + EDGE_US < soldier.time_us
    if struck > 0:
        if not seen_between or not touches[0].time_us <= track.legs[1].first_us:
            return [(share * _ELSE_FIRST_SHARE, touches)]
        # It was seen on another flight in between.
        over, _ = _heights_told(leg, soldier.time_us, height_mm)
        usual = 1 / height_mm + _STRAY_DENSITY
        return [(share * _ELSE_FIRST_SHARE * usual / over, touches)]
    if seen_between:
        return [(share, touches)]
    # Its sights may show that it bounced among them, or its height that it did so after them.
    over, below = _heights_told(leg, soldier.time_us, height_mm)
    flew_on = 1 - leg.bounced
    bounced = leg.bounced + flew_on * _ELSE_FIRST_SHARE * below / over
    return [(share * flew_on, touches), (share * bounced, (_bounce_before(leg, soldier), *touches))]


def _heights_told(leg: Leg, time_us: float, height_mm: float) -> tuple[float, float]:
    """Density of the height at which a flight seems to come to a soldier: of one that meets it, and of one that bounced."""
    z_mm = float(leg.flight.at(time_us)[0, 2]) - SHOT_RADIUS_MM
    stated_mm = float(np.sqrt(leg.fit.spread_at(time_us)[0, 2, 2]))
    sigma_mm = float(np.hypot(stated_mm, _HEIGHT_SIGMA_MM))
    over = (ndtr((height_mm - z_mm) / sigma_mm) - ndtr(-z_mm / sigma_mm)) / height_mm
    # It may have bounced at any time since it was seen last: the likelier the farther it fell.
    seen_mm = float(leg.flight.at(_surely_flown_us(leg, time_us))[0, 2]) - SHOT_RADIUS_MM
    below = (ndtr(-z_mm / sigma_mm) - ndtr(-max(seen_mm, z_mm + _LEAST_FALL_MM) / sigma_mm)) / _USUAL_FALL_MM
    stray = _STRAY_DENSITY * min(1.0, stated_mm / _STRAYING_MM) ** 2
    return float(over) + stray, float(below) + stray


def _surely_flown_us(leg: Leg, struck_us: float) -> float:
    """Until when a shot had not bounced, as its sights tell."""
    return min(float(leg.streaks[-1].timestamp_us), struck_us)


def _bounce_before(leg: Leg, struck: Touch) -> Touch:
    """Where the shot touched the board, if it did so just before it struck a soldier."""
    times_us = np.linspace(_surely_flown_us(leg, struck.time_us), struck.time_us, _BOUNCE_STEPS)
    points = leg.flight.at(times_us)
    landed = np.flatnonzero(points[:, 2] <= SHOT_RADIUS_MM)
    k = int(landed[0]) if len(landed) else _BOUNCE_STEPS // 2
    x, y = (float(v) for v in points[k, :2])
    return Touch(None, True, float(times_us[k]), (x, y, SHOT_RADIUS_MM))
