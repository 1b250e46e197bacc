"""Whose of two uniforms is whose, where the soldiers' places hardly tell: which way they look does, and the shot.

Soldiers that were parted by their looks are named by where they stand: each side nearer its own base. In the middle of a
battle that can tell next to nothing, and all would be named the wrong way round. Most soldiers look at the enemy; and a
shot is fired at an enemy, so the first soldier that it strikes most likely is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from game.montecassino import BOARD_ROWS, Side, Square
from vision.outcome import Soldier, Standing

__all__ = ["hardly_named", "named_by_the_shot", "naming_odds", "of_the_other_side"]

# What each line by which the soldiers together stand nearer to their own bases adds to the log-odds that they are named
# the right way round. Of 345 filmed tables five had fewer than twenty, and two of these were the wrong way round.
_LINE_ODDS = 0.3
# Which way all look adds no more than 17 lines do: nothing makes players set their soldiers so, and of 22 tables with
# figures of kinds that it had never seen it told the wrong way round of three. Of 48 tables with fewer than 32 lines one was
# named the wrong way round; all looked towards their own bases there (-7.1), of the others none did (-0.8 and more).
_MOST_LOOKING = 5.0
_STRUCK_ODDS = 1.6  # of 94 filmed shots 16 first struck one of the shooter's own
# Log-odds below which it stays open: looks alone do not reach it. Of 986 tables of three renderers 13 had less, and three of
# these were named the wrong way round; of the others none was.
_HARDLY_NAMED = 6.0


def naming_odds(
    soldiers: Iterable[tuple[Side, float, float]],
    square_mm: float,
) -> float:
    """Log-odds that sides are named the right way round rather than the wrong one, before any shot.

    Parameters
    ----------
    soldiers
        Of each the side as it is named, y in mm, and the log-odds that it looks towards larger y, where G's base lies.
    square_mm
        Side of a square.
    """
    lines = looking = 0.0
    for side, y_mm, forward_odds in soldiers:
        towards = 1 if side is Side.A else -1
        lines += towards * (BOARD_ROWS / 2 - y_mm / square_mm)
        looking += towards * float(np.clip(forward_odds, -_MOST_LOOKING / 2, _MOST_LOOKING / 2))
    return _LINE_ODDS * lines + float(np.clip(looking, -_MOST_LOOKING, _MOST_LOOKING))


def named_by_the_shot(
    standing: Standing,
    struck_first: Collection[Soldier],
    shooter: Side,
    forward_odds: Mapping[Square, float],
    square_mm: float,
) -> Standing:
    """Name the sides the other way round, where little else tells and the shot would have struck one of its own.

    Parameters
    ----------
    standing
        Who stood where, named by all that was seen before.
    struck_first
        Those of them that moved first.
    shooter
        Who fired.
    forward_odds
        Log-odds that each looks towards larger y, where G's base lies.
    square_mm
        Side of a square.
    """
    if not struck_first or any(soldier.side is not shooter for soldier in struck_first):
        return standing
    named = ((s.side, s.y_mm, forward_odds[s.square]) for s in standing.soldiers)
    if naming_odds(named, square_mm) > _STRUCK_ODDS:
        return standing
    return replace(standing, soldiers=tuple(of_the_other_side(soldier) for soldier in standing.soldiers))


def hardly_named(standing: Standing, forward_odds: Mapping[Square, float], square_mm: float) -> bool:
    """Say whether the sides, as nothing but the picture names them, may as well be the other way round.

    Parameters
    ----------
    standing, forward_odds, square_mm
        As for `named_by_the_shot`.
    """
    named = ((s.side, s.y_mm, forward_odds[s.square]) for s in standing.soldiers)
    return bool(standing.soldiers) and abs(naming_odds(named, square_mm)) < _HARDLY_NAMED


def of_the_other_side(soldier: Soldier) -> Soldier:
    """Give a soldier that wears the other uniform."""
    return replace(soldier, side=soldier.side.enemy)
