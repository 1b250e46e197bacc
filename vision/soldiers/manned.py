"""Who stands on which square, by the odds that somebody does and by the position, where it is told.

The position decides the doubtful squares, and the picture overrules it only where it is plain; on a board against which
soldiers hardly show, the picture is plain nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from game.montecassino import SOLDIERS_PER_SIDE, Side, Square

__all__ = ["are_hardly_seen", "who_stands"]

FloatArray = NDArray[np.float64]

# Log-odds: of a thousand squares of a position that is told, 999 or more are as told. Of 401 tables' 57,700 squares five are
# told wrongly; of those that a wrong position would name 12 % are not noticed, and as many of those that it would leave out.
_SEEN_EMPTY, _SEEN_THERE = 9.0, 6.0
# So many squares that are read wrongly by their odds. Of 207 tables without a position, 87 of them filmed otherwise than the twin's,
# 21 pass it; they have 212 of the 217 squares that are told wrongly, and six of them none. With three 16 pass it, and 25 are told
# wrongly on the others.
_HARDLY_SEEN = 2.0
_LIKELIER = 4.0  # log-odds of soldiers over empty squares, by which a position is believed all the same
_NOT_PLAIN = 0.7  # log-odds of about one to two


def are_hardly_seen(log_odds: FloatArray) -> bool:
    """Say whether it can hardly be told who stands on squares, by the log-odds (N,) that somebody does."""
    return float((1 / (1 + np.exp(np.abs(log_odds)))).sum()) > _HARDLY_SEEN


def who_stands(
    log_odds: Mapping[Square, float],
    expected: Mapping[Square, Side] | None,
    unseen: Collection[Square],
    *,
    hardly_seen: bool,
) -> tuple[list[Square], list[str]]:
    """Say which squares hold somebody, and what differs from the position or is not plain.

    Parameters
    ----------
    log_odds
        That somebody stands on each square, as it is seen.
    expected
        The position; ``None`` where it is not told.
    unseen
        Squares that hold somebody though nobody is seen there.
    hardly_seen
        Whether it can hardly be told who stands there.

    Returns
    -------
    squares, notes
        Those that hold somebody, no more than there are soldiers in the game; and a sentence for each difference.
    """
    log_odds = {square: math.inf if square in unseen else odds for square, odds in log_odds.items()}
    if expected is None:
        unsure = {s: odds for s, odds in log_odds.items() if abs(odds) < _NOT_PLAIN}
        notes = [
            f"{square} is not plain: it is taken for {'manned' if unsure[square] > 0 else 'empty'}"
            for square in sorted(unsure)
        ]
        surest = sorted((s for s, odds in log_odds.items() if odds > 0), key=lambda s: -log_odds[s])
        return surest[: 2 * SOLDIERS_PER_SIDE], notes
    manned: list[Square] = []
    differences: list[str] = []
    empty, there = _SEEN_EMPTY, _SEEN_THERE
    if hardly_seen:
        if _likelier_than_the_rest(log_odds, expected):
            return sorted(expected), differences
        empty = there = 0.0  # what nothing speaks for is not believed because little can speak against it
    for square, odds in log_odds.items():
        if square in expected and odds < -empty:
            differences.append(f"{square} should hold a soldier and is seen empty")
        elif square not in expected and odds > there:
            differences.append(f"{square} should be empty and a soldier is seen on it")
            manned.append(square)
        elif square in expected:
            manned.append(square)
    return manned, differences


def _likelier_than_the_rest(log_odds: Mapping[Square, float], expected: Collection[Square]) -> bool:
    """Whether soldiers are likelier on the squares that the position names than elsewhere, hard to see as they are."""
    named = [odds for square, odds in log_odds.items() if square in expected]
    others = [odds for square, odds in log_odds.items() if square not in expected]
    return bool(named) and float(np.median(named)) > float(np.median(others)) + _LIKELIER
