"""Whether a commander's word on a doubt can be taken: pure, from the shot as the log has it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rig.log.records import Shot, Verdict

__all__ = ["why_not_decide", "why_not_final"]


def why_not_decide(shot: Shot, squares: Iterable[str], decided_by: str) -> str | None:
    """Say in a sentence why a side cannot decide some doubts of a shot, or None if it can."""
    doubts = {doubt.square: doubt for doubt in shot.doubts}
    for square in squares:
        doubt = doubts.get(square)
        if doubt is None:
            return (
                f"shot {shot.shot_id} has no doubt about {square}; its doubts: {', '.join(doubts) or 'none'}"
            )
        if doubt.decision is not None:
            said = "leaves" if doubt.decision.leaves else "stays"
            return (
                f"shot {shot.shot_id}, {square}: {doubt.decision.decided_by} has decided already: it {said}"
            )
        if decided_by != doubt.commander:
            return (
                f"shot {shot.shot_id}, {square}: the commander of {doubt.commander} decides, not {decided_by}"
            )
    return None


def why_not_final(shot: Shot, squares: Collection[str], final: Verdict | None) -> str | None:
    """Say in a sentence why a verdict cannot follow on the decision of some doubts, or None if it can.

    It must follow exactly where these are the last; `final` None stands for no verdict yet.
    """
    left = [doubt.square for doubt in shot.pending if doubt.square not in squares]
    if final is None:
        return (
            None
            if left
            else f"shot {shot.shot_id}: its last doubt is decided, and no final verdict was given"
        )
    if left:
        return f"shot {shot.shot_id} has no final verdict yet; not decided: {', '.join(left)}"
    if final.doubts:
        return f"shot {shot.shot_id}: a final verdict leaves no doubt, found {len(final.doubts)}"
    return None
