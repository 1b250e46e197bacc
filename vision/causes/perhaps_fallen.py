"""Those that are taken to stand, pushed, but may have fallen: why they fell, if they did.

One that fell half hidden, or against its neighbour, may look like one that was pushed. Where it is so likely to have
fallen that the verdict may be another one, its commander is asked; that it stands counts as a cause that no option
counts, as with one that is taken to have fallen and may stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from game.montecassino import Cause, Square
from vision.causes.fall_cause import POSSIBLE_SHARE, FallCause, explain
from vision.causes.seen import ShotSeen
from vision.outcome import Push, Toppling

__all__ = ["find_perhaps_fallen"]

_USUAL_FALL_US = 42_000  # from the first motion to 45 degrees, mean of 211 falls


def find_perhaps_fallen(
    chances: Mapping[Square, float],
    topplings: Sequence[Toppling],
    pushes: Sequence[Push],
    shot: ShotSeen,
) -> tuple[FallCause, ...]:
    """Give the possible falls among the pushes, with their causes.

    Parameters
    ----------
    chances
        How likely each that was pushed fell all the same.
    topplings, pushes, shot
        As for `explain`.

    Returns
    -------
    One for each push that is not sure to stand. Its likeliest cause is `Cause.OTHER` where it most likely stands.
    """
    found = []
    for push in pushes:
        chance = chances.get(push.soldier.square, 0.0)
        if chance < POSSIBLE_SHARE:
            continue
        others = [other for other in pushes if other is not push]
        causes = explain([*topplings, _as_fall(push)], others, shot)
        found.append(_if_it_fell(causes[-1], chance))
    return tuple(found)


def _as_fall(push: Push) -> Toppling:
    """Describe the fall of one that went the way that it was pushed."""
    soldier = push.soldier
    went_mm = np.array([push.x_mm - soldier.x_mm, push.y_mm - soldier.y_mm])
    far_mm = float(np.hypot(*went_mm))
    heading = (float(went_mm[0]) / far_mm, float(went_mm[1]) / far_mm) if far_mm > 0 else (0.0, 0.0)
    return Toppling(soldier, push.began_us, push.began_us + _USUAL_FALL_US, heading, (push.x_mm, push.y_mm))


def _if_it_fell(fall: FallCause, chance: float) -> FallCause:
    """Give a fall that is one with some likelihood only."""
    probabilities = {cause: chance * share for cause, share in fall.probabilities.items()}
    probabilities[Cause.OTHER] += 1 - chance
    ranked = sorted(probabilities, key=lambda cause: -probabilities[cause])
    # However many causes share it, that it fell at all is likely enough to be asked about.
    asked = {Cause.OTHER, fall.cause, *(c for c in ranked if probabilities[c] >= POSSIBLE_SHARE)}
    stands = "it seems to stand, pushed"
    return replace(
        fall,
        cause=ranked[0],
        confidence=probabilities[ranked[0]],
        possible=tuple(cause for cause in ranked if cause in asked),
        probabilities=probabilities,
        knocks=tuple(replace(knock, probability=chance * knock.probability) for knock in fall.knocks),
        grounds=stands,
        evidence=f"{stands}, but may have fallen ({100 * chance:.0f} %): {fall.evidence}",
    )
