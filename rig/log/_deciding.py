"""Whether a commander's word on a doubt can be taken: pure, from the shot as the log has it."""

from __future__ import annotations

from collections.abc import Iterable

from rig.log.records import DecidedDoubt, Shot, Verdict

__all__ = ["why_not_decide"]


def why_not_decide(shot: Shot, decided_by: str, squares: Iterable[str], final: Verdict | None) -> str | None:
    """Say in a sentence why decisions cannot be taken, or None if they can.

    Parameters
    ----------
    shot : Shot
        As it stands before them.
    decided_by : str
        The side that decides.
    squares : iterable of str
        The doubts decided.
    final : Verdict or None
        The verdict that follows once nothing is pending any more.
    """
    named = set(squares)
    doubts: dict[str, DecidedDoubt] = {doubt.square: doubt for doubt in shot.doubts}
    for square in sorted(named):
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
    left = [doubt.square for doubt in shot.pending if doubt.square not in named]
    if final is not None and left:
        return f"shot {shot.shot_id} has no final verdict yet; not decided: {', '.join(left)}"
    if final is not None and final.doubts:
        return f"shot {shot.shot_id}: a final verdict leaves no doubt, found {len(final.doubts)}"
    if final is None and not left:
        return f"shot {shot.shot_id}: its last doubt is decided, and no final verdict was given"
    return None
