"""What the log keeps of a shot, in words for the person at the table. They claim no more than the log knows."""

from __future__ import annotations

from datetime import UTC, datetime

from rig.log.records import Decision, Fired, Shot, Stage, Verdict

__all__ = ["tell", "tell_decision", "tell_time", "tell_verdict"]

_CANNON = (
    # The last preparing stage, and what it says about the cannon when nothing more is known.
    (Stage.ARMED, "it was cocked and armed"),
    (Stage.LOADED, "it was cocked and loaded"),
    (Stage.COCKED, "it was cocked"),
    (Stage.AIMED, "it was aimed, not cocked"),
    (Stage.PLANNED, "nothing had moved yet"),
)


def tell(shot: Shot) -> str:
    """Say how far a shot came.

    Parameters
    ----------
    shot : Shot
        Any shot of the log.

    Returns
    -------
    str
        Without the shot's number and without a full stop.
    """
    end = shot.entry(Stage.ABORTED) or shot.entry(Stage.INTERRUPTED)
    told = _told(shot)
    if end is None:
        return told
    return f"{told}; {end.stage}: {end.cause}" if end.cause else f"{told}; {end.stage}"


def _told(shot: Shot) -> str:
    if shot.verdict is not None:
        return _verdict(shot)
    stages = {entry.stage for entry in shot.history}
    if shot.fired is Fired.NO:
        if Stage.ASKED in stages:
            # Refused, or ended before the command left: the cause, which follows, says which.
            return "not fired: it ended at the fire command"
        cannon = next(words for stage, words in _CANNON if stage in stages)
        return f"not fired: {cannon}, and fire was never asked for"
    if shot.fired is Fired.UNCERTAIN:
        told = "fire was asked for, and it may have been fired"
    elif Stage.SEEN in stages:
        told = "fired: the muzzle gate saw it leave"
    elif Stage.FIRED in stages:
        told = "fired: the firmware said so, the muzzle gate has not reported"
    else:
        told = "fired"
    if Stage.ANALYSED in stages:
        return f"{told}; {'recorded and ' if Stage.RECORDED in stages else ''}analysed, not judged"
    if Stage.RECORDED in stages:
        return f"{told}; recorded, not analysed"
    return f"{told}; no recording known"


def _verdict(shot: Shot) -> str:
    told = "judged"
    if shot.pending:
        left = ", ".join(f"{doubt.square} ({doubt.commander} decides)" for doubt in shot.pending)
        told = f"judged, doubts pending: {left}"
    return told if shot.recording_path is not None else f"{told}; no recording known"


def tell_verdict(verdict: Verdict) -> str:
    """Say who leaves and who is put back, as "leave G-33, put back -"."""
    return f"leave {' '.join(verdict.casualties) or '-'}, put back {' '.join(verdict.put_back) or '-'}"


def tell_decision(decision: Decision) -> str:
    """Say what a commander ruled, as "direct, leaves, said G, signed Ada"; without cause and name where there are none."""
    named = f"{decision.cause}, " if decision.cause else ""
    word = "leaves" if decision.leaves else "stays"
    signed = f", signed {decision.name}" if decision.name else ""
    return f"{named}{word}, said {decision.decided_by}{signed}"


def tell_time(at_utc_us: int) -> str:
    """Give a time of the log as the clock on the wall shows it."""
    return datetime.fromtimestamp(at_utc_us / 1e6, tz=UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")
