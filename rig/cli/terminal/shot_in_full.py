"""One shot in words: all that is known of it, line by line, and each doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import degrees
from pathlib import Path
from typing import Any

from rig.files.one_line import on_one_line
from rig.log import (
    Analysis,
    DecidedDoubt,
    MuzzleGate,
    Session,
    Shot,
    Verdict,
    tell,
    tell_decision,
    tell_time,
)
from rig.verdict.docket import why_held
from rig.verdict.how_sure import how_sure
from rig.verdict.judging import why_back
from rig.verdict.kept_readings import kept_readings
from rig.verdict.told_together import parted, told_together
from rig.verdict.unseen_shot import of_the_shot, of_this_fall

__all__ = ["doubt_in_words", "in_full"]


def in_full(shot: Shot, session: Session) -> Iterable[str]:
    """Give the lines that tell all that is known of a shot.

    Parameters
    ----------
    shot
        From the log.
    session
        The one that it was fired in.
    """
    yield f"shot {shot.shot_id}, {shot.planned.side} at {shot.planned.target}: {tell(shot)}"
    yield from _as_agreed(shot, session)
    yield from _as_fired(shot)
    yield from _as_recorded(shot)
    for number, analysis in enumerate(shot.analyses, start=1):
        yield f"  analysis {number}, rig {analysis.software_version}"
        yield from _as_read(analysis)
    if shot.verdict is not None:
        yield from _as_ruled(shot, shot.verdict)


def _as_agreed(shot: Shot, session: Session) -> Iterable[str]:
    planned = shot.planned
    yield f"  agreed      option {planned.option}, zone {planned.zone}"
    if planned.position is not None:
        yield f"  before      {planned.position}"
    if planned.plan is not None:
        yield f"  programme   {planned.plan}, shot {(planned.plan_index or 0) + 1}"
    yield (
        f"  session     {session.session_id}, rig {session.software_version}, firmware {session.firmware_version},"
        f" wire {session.wire_version}, port {session.port}, camera {session.camera}"
    )
    if session.transcript_path is not None:
        yield f"  transcript  {on_one_line(session.transcript_path)}"


def _as_fired(shot: Shot) -> Iterable[str]:
    start_us = shot.history[0].clock_us
    for entry in shot.history:
        after = ""
        if entry.clock_us is not None and start_us is not None:
            after = f"{(entry.clock_us - start_us) / 1e6:+.3f} s"
        line = f"  {entry.stage:<12}{tell_time(entry.at_utc_us)}  {after:>10}  {entry.cause}"
        yield line.rstrip()
    aim = shot.aim
    if aim is not None:
        by = f", by the calibration {aim.calibration}" if aim.calibration else ""
        yield (
            f"  aim         traverse {aim.traverse_mm:.1f} mm, azimuth {degrees(aim.azimuth_rad):+.2f} deg,"
            f" elevation {degrees(aim.elevation_rad):+.2f} deg, for {aim.expected_muzzle_speed_mps:.2f} m/s{by}"
        )
    if shot.muzzle_gate is not None:
        yield f"  gate        {_gate(shot.muzzle_gate)}"


def _as_recorded(shot: Shot) -> Iterable[str]:
    if shot.recording_path is not None:
        yield f"  recording   {on_one_line(shot.recording_path)}"
        for kept in kept_readings(Path(shot.recording_path)):
            yield f"  read again  {kept.path.name}, rig {kept.software_version}: {_read_again(kept.result)}"


def _as_read(analysis: Analysis) -> Iterable[str]:
    held = why_held(analysis)
    for sentence in told_together(map(parted, held)):
        yield f"    the ruling is held: {sentence}"
    notes = analysis.raw.get("notes")
    for sentence in told_together(map(parted, notes if isinstance(notes, list) else [])):
        yield f"    note: {sentence}"
    evidence = [of_this_fall(fall.evidence) for fall in analysis.falls]
    if unseen := next((reason for reason, _ in evidence if reason), ""):
        yield f"    the shot was not seen: {of_the_shot(unseen)}"
    for fall, (_, own) in zip(analysis.falls, evidence, strict=True):
        causes = " or ".join(fall.causes)
        # It leaves out what held the ruling: no number says how likely that was.
        sure = "" if held else f", {how_sure(fall.confidence)} sure"
        yield f"    {_what_it_did(fall.square, analysis)}: {causes}{sure}{f' ({own})' if own else ''}"
    for moved in analysis.moved:
        yield f"    {moved.square} was pushed to {moved.x_mm:.0f}, {moved.y_mm:.0f} mm"


def _as_ruled(shot: Shot, verdict: Verdict) -> Iterable[str]:
    yield f"  leave       {' '.join(verdict.casualties) or '-'}"
    yield f"  put back    {'' if verdict.put_back else '-'}".rstrip()
    for square in verdict.put_back:
        yield f"    {square}: {why_back(shot, square)}"
    for doubt in shot.doubts:
        when = "" if doubt.decision is None else f", {tell_time(doubt.decision.at_utc_us)}"
        yield f"  doubt       {doubt_in_words(doubt, shot)}{when}"
    if verdict.after is not None:
        yield f"  after       {verdict.after}"
    if verdict.winner is not None:
        yield f"  winner      {verdict.winner}"


def doubt_in_words(doubt: DecidedDoubt, shot: Shot) -> str:
    """Say what is in doubt of a soldier, and who decides or what was decided."""
    analysis = shot.analyses[-1] if shot.analyses else None
    doubtful = f"{_what_it_did(doubt.square, analysis)}, {' or '.join(doubt.between)}"
    decision = doubt.decision
    if decision is None:
        return f"{doubtful}: the commander of {doubt.commander} decides"
    return f"{doubtful}: {'ruled ' if decision.cause else ''}{tell_decision(decision)}"


def _what_it_did(square: str, analysis: Analysis | None) -> str:
    """Say that a soldier fell; of one that the analysis also tells as pushed, for it seems to stand, that it may have."""
    moved = None if analysis is None else analysis.raw.get("moved")
    stands = isinstance(moved, list) and any(each["square"] == square for each in moved)
    return f"{square} {'may have fallen' if stands else 'fell'}"


def _read_again(result: Mapping[str, Any]) -> str:
    falls = " ".join(f"{fall['square']} {fall['cause']}" for fall in result.get("falls", ()))
    return falls or "nobody fell"


def _gate(gate: MuzzleGate) -> str:
    if gate.muzzle_speed_mps is None:
        said = "saw the shot; its speed is not known"
    else:
        said = f"{gate.muzzle_speed_mps:.3f} m/s ({gate.spacing_mm:g} mm in {gate.first_to_second_us:g} us)"
    if gate.release_to_first_us is not None:
        said += f", {gate.release_to_first_us:g} us after the release"
    return said
