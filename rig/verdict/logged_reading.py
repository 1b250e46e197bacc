"""A reading of a shot, and the verdict on it, put on record."""

from __future__ import annotations

import importlib.metadata

from game.montecassino import JudgeError, Verdict
from rig import log
from rig.verdict.analyse import Analysis
from rig.verdict.judging import as_logged, judge_reading

__all__ = ["log_reading"]


def log_reading(
    shots: log.ShotLog,
    shot_id: int,
    planned: log.ShotPlan,
    analysis: Analysis,
    *,
    clock_us: int | None = None,
) -> Verdict:
    """Judge what was read of a shot, and write down both; on return they are on the disk.

    Raises
    ------
    LogError
        The log does not take it, or the shot was planned without a position.
    JudgeError
        What was read does not fit the position that the shot was fired at; the reading is written down alone.
    """
    if planned.position is None:
        raise log.LogError(f"shot {shot_id} was fired without a position; there is nothing to judge")
    read = _as_logged(analysis)
    try:
        verdict = judge_reading(planned, planned.position, read, {})
    except JudgeError:
        shots.analysed(shot_id, read, clock_us=clock_us)
        raise
    shots.analysed(shot_id, read, verdict=as_logged(verdict), clock_us=clock_us)
    return verdict


def _as_logged(analysis: Analysis) -> log.Analysis:
    reading = analysis.reading
    return log.Analysis(
        software_version=importlib.metadata.version("montecassino-rig"),
        # How likely each cause is: the docket ranks the answers by it.
        raw={
            **analysis.as_json(),
            "probabilities": {
                str(fall.toppling.soldier.square): {
                    c.value: round(p, 4) for c, p in fall.probabilities.items()
                }
                for fall in reading.judged_falls
            },
        },
        falls=tuple(
            log.Fall(
                side=fall.toppling.soldier.side.value,
                square=str(fall.toppling.soldier.square),
                causes=tuple(cause.value for cause in fall.possible),
                confidence=fall.confidence,
                t_us=fall.toppling.passed_us,
                evidence=fall.evidence,
            )
            for fall in reading.judged_falls
        ),
        moved=tuple(
            log.Moved(
                side=push.soldier.side.value, square=str(push.soldier.square), x_mm=push.x_mm, y_mm=push.y_mm
            )
            for push in reading.judged_pushes
        ),
    )
