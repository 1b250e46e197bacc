"""Which stage a shot may come to next, given those behind it: a table, without a store."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType

from rig.log.records import PREPARING, Fired, Stage

__all__ = ["why_not"]

_NEEDS = MappingProxyType(
    {
        Stage.PLANNED: frozenset[Stage](),
        Stage.AIMED: frozenset({Stage.PLANNED}),
        Stage.COCKED: frozenset({Stage.AIMED}),
        Stage.LOADED: frozenset({Stage.COCKED}),
        Stage.ARMED: frozenset({Stage.COCKED}),
        Stage.ASKED: frozenset({Stage.ARMED}),
        Stage.FIRED: frozenset({Stage.ASKED}),
        Stage.SEEN: frozenset({Stage.ASKED}),
        Stage.RECORDED: frozenset({Stage.ASKED}),
        Stage.ANALYSED: frozenset({Stage.ASKED}),
        Stage.JUDGED: frozenset({Stage.ANALYSED}),
        Stage.DECIDED: frozenset({Stage.JUDGED}),
        Stage.ABORTED: frozenset({Stage.PLANNED}),
        Stage.INTERRUPTED: frozenset({Stage.PLANNED}),
    }
)
"""What must lie behind a shot before it comes to a stage."""

_ONCE = frozenset({Stage.PLANNED, Stage.ASKED, Stage.FIRED, Stage.SEEN, Stage.RECORDED})
_ENDS = frozenset({Stage.ABORTED, Stage.INTERRUPTED})
_LATE = frozenset({Stage.RECORDED, Stage.ANALYSED, Stage.JUDGED, Stage.DECIDED})
"""A recording can be found and read long after, also that of a shot which was given up."""


def why_not(stage: Stage, behind: Collection[Stage], *, fired: Fired | None = None) -> str | None:
    """Say why a shot cannot come to a stage, or None if it can.

    Parameters
    ----------
    stage : Stage
        The stage to come to.
    behind : collection of Stage
        Every stage that the shot has been at.
    fired : Fired, optional
        For `ABORTED` and `INTERRUPTED`, what is said about the shot having left.

    Returns
    -------
    str or None
        The end of a sentence that begins "shot 12 cannot be at stage `stage`: ".
    """
    missing = _NEEDS[stage] - set(behind)
    if missing:
        return f"it never was at stage {' or '.join(sorted(missing))}"
    if stage in _ONCE and stage in behind:
        return "it has been there already"
    if stage in PREPARING and Stage.ASKED in behind:
        return "fire was asked for already"
    if stage not in _LATE:
        ended = _ENDS & set(behind)
        if ended:
            return f"it is {' and '.join(sorted(ended))}"
    if stage in _ENDS and Stage.DECIDED in behind:
        return "its verdict is final"
    if fired is Fired.NO and {Stage.FIRED, Stage.SEEN} & set(behind):
        return "it is said not to have left, and it was seen to leave"
    if fired not in (None, Fired.NO) and Stage.ASKED not in behind:
        return "it is said to have left, and fire was never asked for"
    return None
