"""What the shot touched on its way, in which order, when and where.

Between two flights the shot touched something: each turn has its explanations (`vision.causes.turn`), and one of each
makes an account of the whole way. Before the first soldier it may have touched the board
(`vision.causes.bounced_before`), and what was followed may not have been the shot (`vision.causes.unseen_touches`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from game.montecassino import Square
from vision.causes.bounced_before import perhaps_bounced
from vision.causes.stirring import first_to_stir
from vision.causes.touches import Course, ShotContacts, Touch
from vision.causes.turn import Account, Turn
from vision.causes.unseen_touches import unseen_touches
from vision.outcome import Standing
from vision.shot import ShotTrack
from vision.shot.shot_track import STRANGERS

__all__ = ["find_contacts"]

_UNTOUCHED_SHARE = 0.03  # of an account by which the shot did not touch the first that moved
# That what was followed up to the first motion of a soldier was not the shot, but its shadow or a soldier's head. What
# the turns up to there cost together is 1 to 4 on most ways that were the shot's.
_MISREAD_COST = 9.5
_MOST_STRAINED = 12.0  # more than so much of that cost counts no more
_KEPT_COURSES, _LEAST_SHARE = 64, 1e-4  # accounts that are followed on, and the least likely one that is told

# All explanations of one turn; and touches in their order, with how likely they are.
_Turned = tuple[Account, ...]
_Weighed = tuple[float, tuple[Touch, ...]]


def find_contacts(
    track: ShotTrack,
    standing: Standing,
    stirred_us: Mapping[Square, int],
    *,
    frame_us: float,
    shot_from_mm: tuple[float, float],
) -> ShotContacts:
    """Weigh what the shot may have touched.

    Parameters
    ----------
    track
        The shot's way.
    standing
        Who stood where before the shot.
    stirred_us
        First picture in which each soldier that fell or was pushed had moved.
    frame_us
        Time between two pictures.
    shot_from_mm
        Where it came from (x, y): the muzzle, or a place far behind it.
    """
    if not track.found:
        return ShotContacts(unseen_touches(track, standing, stirred_us, frame_us, shot_from_mm))
    firsts = first_to_stir(track, stirred_us, frame_us)
    first_us = min((stirred_us[square] for square in firsts), default=0)
    turns = _explained(track, standing, stirred_us, frame_us)
    courses = [
        each
        for course in _courses_through(turns)
        for each in perhaps_bounced(track, *course, standing.height_mm, first_us)
    ]
    if firsts:
        # Nobody else was there to push the first one that moved.
        untouched = sum(share for share, touches in courses if not touches)
        courses = [
            (share if any(t.square in firsts for t in touches) else share * _UNTOUCHED_SHARE, touches)
            for share, touches in courses
            if touches
        ]
        sights_us = [streak.timestamp_us for leg in track.legs for streak in leg.streaks]
        surely_its_way = sum(us < first_us for us in sights_us) > STRANGERS
        guessed: list[tuple[float, tuple[Touch, ...], bool]] = [
            (untouched * _UNTOUCHED_SHARE, (), surely_its_way),
            *((*each, False) for each in _misread(track, turns, firsts, first_us, frame_us)),
        ]
        courses += [
            (share * guess.probability, (*before, *guess.touches))
            for share, before, believed in guessed
            for guess in unseen_touches(
                track, standing, stirred_us, frame_us, shot_from_mm, believed=believed
            )
        ]
        courses.sort(key=lambda c: -c[0])
    total = sum(share for share, _ in courses)
    return ShotContacts(
        tuple(Course(touches, share / total) for share, touches in courses if share / total >= _LEAST_SHARE),
        first_us if firsts else math.inf,
    )


def _explained(
    track: ShotTrack, standing: Standing, stirred_us: Mapping[Square, int], frame_us: float
) -> list[_Turned]:
    """Give every explanation of each turn between two flights, and of where the last one ends."""
    turns = []
    for i, leg in enumerate(track.legs):
        after = track.legs[i + 1] if i + 1 < len(track.legs) else None
        turn = Turn(leg, after, standing, stirred_us, frame_us, from_cannon=i == 0)
        turns.append(
            turn.accounts() if after is not None else turn.open_end(over_board=track.lost_over_board)
        )
    return turns


def _courses_through(turns: Sequence[_Turned]) -> list[_Weighed]:
    """Put one explanation of each turn together; the likeliest are kept."""
    courses: list[_Weighed] = [(1.0, ())]
    for accounts in turns:
        least = _likeliest(accounts).cost
        weighed = [(float(np.exp(least - a.cost)), a.touches) for a in accounts]
        grown = [
            (share * weight, (*touches, *more)) for share, touches in courses for weight, more in weighed
        ]
        courses = sorted(grown, key=lambda c: -c[0])[:_KEPT_COURSES]
    return courses


def _misread(
    track: ShotTrack, turns: Sequence[_Turned], firsts: Collection[Square], first_us: float, frame_us: float
) -> list[_Weighed]:
    """Say how likely something else was taken for the shot, and after which touches: beside the likeliest course, which counts 1.

    The less the turns up to the first motion fit the flights, the likelier it is. Where the first flight was seen to end at the board,
    that was the shot.
    """
    strained = 0.0
    for leg, accounts in zip(track.legs, turns, strict=True):
        if leg.last_us < first_us + frame_us and (leg is not track.legs[-1] or track.lost_over_board):
            likeliest = _likeliest(accounts)
            # A flight that leads to the first that moved was the shot's, whatever it did afterwards.
            if not (likeliest.touches and likeliest.touches[0].square in firsts):
                strained += likeliest.cost
    share = float(np.exp(min(strained, _MOST_STRAINED) - _MISREAD_COST))
    first, touches = track.legs[0], _likeliest(turns[0]).touches
    landed = len(touches) == 1 and touches[0].on_board
    if not landed or len(first.streaks) <= STRANGERS or first.last_us >= first_us:
        return [(share, ())]
    bounced = first.bounced if first.ends_at_board else 1.0
    return [(share * bounced, touches), (share * (1 - bounced), ())]


def _likeliest(accounts: _Turned) -> Account:
    return min(accounts, key=lambda account: account.cost)
