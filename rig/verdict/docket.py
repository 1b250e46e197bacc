"""The docket: every doubt that waits for a commander, with the likely answers and what each does to the verdict.

A ruling names a cause. Whether the soldier leaves follows from the agreed option, and goes the same way as
`rig decide` (`rig.verdict.judging.decide`): appended to the log, signed, never changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from game import montecassino as rules
from rig.log import Analysis, DecidedDoubt, Fall, LogError, Shot, ShotLog, Signature, why_not_decide
from rig.verdict.judging import decide, judge_again
from rig.verdict.unseen_shot import of_the_shot, of_this_fall

__all__ = ["Answer", "Case", "case", "open_cases", "rule", "why_held"]

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """One possible ruling on a doubt."""

    cause: str
    probability: float | None
    """As the camera saw it; None: the ruling is held, or the log of an older rig does not say."""
    leaves: bool
    """Whether the soldier leaves by this answer; else it is put back."""


@dataclass(frozen=True, slots=True)
class Case:
    """A doubt on the docket."""

    shot: Shot
    doubt: DecidedDoubt
    answers: tuple[Answer, ...]
    """The likeliest first; those of a held ruling in the eye's order."""
    unseen: str
    """Why the shot was not seen, and what its falls are judged by then; empty where it was."""
    evidence: str
    """What else is said of this fall."""
    held: tuple[str, ...]
    """What a guard noticed in this shot, a sentence each."""
    one_leaves: bool
    """Whether naming this one as the one to leave says that the others of this shot stay (C8)."""
    direct: tuple[str, ...]
    """Of each other soldier of this shot that is direct already, how so: a shot has one direct fall at most (C7)."""


def open_cases(log: ShotLog) -> Iterator[Case]:
    """Give every doubt that no commander has decided, the oldest first."""
    for shot in log.shots_in_doubt():
        yield from (_case(shot, doubt) for doubt in shot.pending)


def case(log: ShotLog, number: int) -> Case:
    """Give one doubt by its number, decided or not.

    Raises
    ------
    LogError
        There is none of that number among the doubts of verdicts that stand.
    """
    shots = log.shots_in_doubt()
    for shot in shots:
        for doubt in shot.doubts:
            if doubt.number == number:
                return _case(shot, doubt)
    waiting = [str(doubt.number) for shot in shots for doubt in shot.pending]
    more = len(waiting) - _MOST_NAMED
    named = ", ".join(waiting[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    raise LogError(f"the docket has no doubt {number}; waiting for a ruling: {named or 'none'}")


def rule(log: ShotLog, number: int, cause: str, *, side: str, name: str) -> Case:
    """Take a commander's ruling, and give the case as it stands then.

    Parameters
    ----------
    log : ShotLog
        Where the doubt is.
    number : int
        The doubt's.
    cause : str
        Why the soldier fell: one of those that the doubt lies between.
    side : str
        The side that rules, `"A"` or `"G"`: that of the soldier (C8).
    name : str
        Who speaks for it.

    Raises
    ------
    LogError
        No such doubt, another side's to decide, decided already, or a cause that is none of its.
    JudgeError
        The ruling does not fit the others.
    """
    found = case(log, number)
    # That it cannot be ruled on at all comes before what the ruling may be.
    reason = why_not_decide(found.shot, [found.doubt.square], side)
    if reason is not None:
        raise LogError(reason)
    answer = next((each for each in found.answers if each.cause == cause), None)
    if answer is None:
        causes = " or ".join(each.cause for each in found.answers)
        raise LogError(f"doubt {number}, {found.doubt.square}: found {cause!a}, expected {causes}")
    if not rules.is_seen(name):
        raise LogError(
            f"doubt {number}, {found.doubt.square}: a ruling is signed; found {name!a}, expected a name that can be seen"
        )
    if len(name) > rules.LONGEST_NAME:
        raise LogError(
            f"doubt {number}, {found.doubt.square}: found a name of {len(name)} letters, {name[:20]!r}..., "
            f"expected {rules.LONGEST_NAME} at most"
        )
    decide(
        log,
        found.shot.shot_id,
        found.doubt.square,
        leaves=answer.leaves,
        decided_by=side,
        signed=Signature(name=name.strip(), cause=cause),
    )
    return case(log, number)


def why_held(analysis: Analysis) -> tuple[str, ...]:
    """Give what held the ruling of a shot by a logged reading, a sentence each; none where nothing did."""
    told = analysis.raw.get("held")
    return tuple(map(str, told)) if isinstance(told, list) else ()


def _case(shot: Shot, doubt: DecidedDoubt) -> Case:
    analysis = shot.analyses[-1] if shot.analyses else None
    raw: Mapping[str, object] = {} if analysis is None else analysis.raw
    falls = () if analysis is None else analysis.falls
    fall = next((each for each in falls if each.square == doubt.square), None)
    known = raw.get("probabilities")
    shares = known.get(doubt.square, {}) if isinstance(known, Mapping) else {}
    held = () if analysis is None else why_held(analysis)
    # What the camera saw of the causes leaves out what held the ruling: no number says how likely that was.
    answers = [
        Answer(
            cause,
            None if held else _probability(cause, shares, fall),
            rules.counts(rules.Cause(cause), rules.Option(shot.planned.option)),
        )
        for cause in doubt.between
    ]
    unseen, evidence = of_this_fall("" if fall is None else fall.evidence)
    return Case(
        shot=shot,
        doubt=doubt,
        answers=tuple(sorted(answers, key=lambda each: -(each.probability or 0.0))),
        unseen=of_the_shot(unseen) if unseen else "",
        evidence=evidence,
        held=held,
        one_leaves=_one_leaves(shot),
        direct=tuple(_direct(shot, falls, doubt.square)),
    )


def _direct(shot: Shot, falls: Sequence[Fall], besides: str) -> Iterator[str]:
    # Whether it leaves the commander says all the same (C8): what was seen, or another ruled, takes that from nobody.
    for fall in falls:
        if fall.causes == (rules.Cause.DIRECT,) and fall.square != besides:
            yield f"{fall.square} was seen to be"
    for doubt in shot.doubts:
        decision = doubt.decision
        if decision is not None and decision.cause == rules.Cause.DIRECT and doubt.square != besides:
            signed = f", signed {decision.name}" if decision.name else ""
            yield f"{doubt.square} was ruled to be by {decision.decided_by}{signed}"


def _probability(cause: str, shares: Mapping[str, float], fall: Fall | None) -> float | None:
    if cause in shares:
        return float(shares[cause])
    return fall.confidence if fall is not None and fall.causes[0] == cause else None


def _one_leaves(shot: Shot) -> bool:
    """Ask the rules; a shot of an old log that they cannot judge is on the docket all the same."""
    try:
        return judge_again(shot, {}).one_leaves
    except (LogError, ValueError):
        return False
