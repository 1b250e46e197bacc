"""Between the judge and the log: a logged shot is judged again with what commanders have said since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from game import montecassino as rules
from rig.log import (
    Analysis,
    DecidedDoubt,
    Doubt,
    Fall,
    LogError,
    Shot,
    ShotLog,
    ShotPlan,
    Signature,
    Verdict,
    why_not_decide,
)

__all__ = ["ReadShot", "as_logged", "decide", "judge_again", "judge_reading", "last_reading", "why_back"]


@dataclass(frozen=True, slots=True)
class ReadShot:
    """What was read of a shot, as the judge takes it: under which option, and what commanders said, is left open."""

    position: rules.Position
    zone: tuple[rules.Square, ...]
    falls: tuple[rules.Fall, ...]
    moved: tuple[rules.Square, ...]

    def judge(self, option: rules.Option, decisions: Mapping[str, bool]) -> rules.Verdict:
        """Judge it; `decisions` as for `judge_again`.

        Raises
        ------
        JudgeError
            What was read does not fit the position, or the decisions do not fit the doubts.
        """
        return rules.judge(
            self.position,
            self.zone,
            option,
            self.falls,
            moved=self.moved,
            decisions={
                rules.Square.parse(square): (rules.Decision.LEAVES if leaves else rules.Decision.STAYS).value
                for square, leaves in decisions.items()
            },
        )


def as_logged(verdict: rules.Verdict) -> Verdict:
    """Give a verdict of the judge as the log keeps it; doubts that are decided are none any more."""
    undecided = set(verdict.undecided)
    return Verdict(
        casualties=tuple(map(str, verdict.casualties)),
        put_back=tuple(map(str, verdict.put_back)),
        doubts=tuple(
            Doubt(
                square=str(doubt.square),
                between=tuple(cause.value for cause in doubt.between),
                commander=doubt.commander.value,
            )
            for doubt in verdict.doubts
            if doubt.square in undecided
        ),
        after=None if verdict.after is None else str(verdict.after),
        winner=None if verdict.winner is None else verdict.winner.value,
    )


def judge_again(shot: Shot, decisions: Mapping[str, bool]) -> rules.Verdict:
    """Judge a logged shot by its latest analysis, its zone and its option.

    Parameters
    ----------
    shot : Shot
        As the log has it.
    decisions : mapping of str to bool
        What commanders said: square, and True for "leaves".

    Raises
    ------
    LogError
        The shot was not analysed, or no position was kept with it.
    JudgeError
        The decisions do not fit the doubts.
    """
    return last_reading(shot).judge(rules.Option(shot.planned.option), decisions)


def last_reading(shot: Shot) -> ReadShot:
    """Give the latest reading of a logged shot as the judge takes it.

    Raises
    ------
    LogError
        The shot was not analysed, or no position was kept with it.
    """
    if not shot.analyses:
        raise LogError(f"shot {shot.shot_id} was not analysed; there is nothing to judge")
    if shot.planned.position is None:
        raise LogError(f"shot {shot.shot_id} was fired without a position; there is nothing to judge")
    return _as_read(shot.planned, shot.planned.position, shot.analyses[-1])


def judge_reading(
    planned: ShotPlan, position: str, analysis: Analysis, decisions: Mapping[str, bool]
) -> rules.Verdict:
    """Judge a reading of a shot by what was planned of it, from a position; `decisions` as for `judge_again`.

    Raises
    ------
    JudgeError
        What was read does not fit the position, or the decisions do not fit the doubts.
    """
    return _as_read(planned, position, analysis).judge(rules.Option(planned.option), decisions)


def _as_read(planned: ShotPlan, position: str, analysis: Analysis) -> ReadShot:
    return ReadShot(
        rules.Position.parse(position),
        rules.parse_squares(planned.zone),
        tuple(map(_as_judged, analysis.falls)),
        tuple(rules.Square.parse(moved.square) for moved in analysis.moved),
    )


def why_back(shot: Shot, square: str) -> str:
    """Say why a soldier is put back; of one that the shot's verdict does not put back it means nothing.

    Parameters
    ----------
    shot : Shot
        As the log has it, with a verdict.
    square : str
        Where the soldier stood before the shot.
    """
    for doubt in shot.doubts:
        if doubt.square == square and doubt.decision is not None:
            return "as was ruled"
    fall = next((fall for fall in shot.analyses[-1].falls if fall.square == square), None)
    planned = shot.planned
    return rules.why_put_back(
        None if fall is None else _as_judged(fall),
        rules.parse_squares(planned.zone),
        rules.Option(planned.option),
    )


def _as_judged(fall: Fall) -> rules.Fall:
    return rules.Fall(
        square=rules.Square.parse(fall.square),
        side=rules.Side(fall.side),
        causes=tuple(map(rules.Cause, fall.causes)),
    )


def decide(
    log: ShotLog,
    shot_id: int,
    square: str,
    *,
    leaves: bool,
    decided_by: str | None = None,
    signed: Signature | None = None,
) -> tuple[DecidedDoubt, ...]:
    """Take a commander's word on one doubt, and write the final verdict once nothing is pending.

    Where the commander names exactly one of several doubts to leave (C8, option iii), naming it says that the
    others stay.

    Parameters
    ----------
    log : ShotLog
        Where the shot is.
    shot_id : int
        The shot.
    square : str
        The doubt, in any way the notation reads a square.
    leaves : bool
        True: the soldier leaves for good; False: it is put back.
    decided_by : str, optional
        The side whose commander spoke; without it, the side whose word is due.
    signed : Signature, optional
        Who spoke for it.

    Returns
    -------
    tuple of DecidedDoubt
        Every doubt of the shot, with its decision where there is one now.

    Raises
    ------
    LogError
        No such shot or doubt, decided already, or another side's to decide.
    JudgeError
        The decision does not fit the others.
    SquareError
        The square cannot be read.
    """
    name = str(rules.Square.parse(square))
    shot = log.shot(shot_id)
    if decided_by is None:
        decided_by = next((doubt.commander for doubt in shot.doubts if doubt.square == name), "")
    reason = why_not_decide(shot, [name], decided_by)
    if reason is not None:
        raise LogError(reason)
    said = {name: leaves}
    earlier = {each.square: each.decision.leaves for each in shot.doubts if each.decision is not None}
    verdict = judge_again(shot, earlier | said)
    if verdict.one_leaves and leaves:
        said = {each.square: each.square == name for each in shot.pending}
        verdict = judge_again(shot, earlier | said)
    final = None if verdict.undecided else as_logged(verdict)
    signatures = {}
    if signed is not None:
        # The cause was named for this one; of others that follow from it only who said so is known.
        signatures = {each: signed if each == name else Signature(name=signed.name) for each in said}
    log.decide(shot_id, decided_by, said, final=final, signed=signatures)
    return log.shot(shot_id).doubts
