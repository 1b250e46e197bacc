"""A reading of a shot, and the verdict on it, put on record."""

from __future__ import annotations

import importlib.metadata

from game.montecassino import Verdict
from rig import log
from rig.analyse import Analysis
from rig.judging import as_logged, judge_again

__all__ = ["log_reading"]


def log_reading(
    shots: log.ShotLog, shot_id: int, analysis: Analysis, *, clock_us: int | None = None
) -> Verdict:
    """Write down what was read of a shot and judge it by that; on return both are on the disk.

    Raises
    ------
    LogError
        The log does not take it.
    JudgeError
        What was read does not fit the position that the shot was fired at.
    """
    shots.analysed(shot_id, _as_logged(analysis), clock_us=clock_us)
    verdict = judge_again(shots.shot(shot_id), {})
    shots.judged(shot_id, as_logged(verdict), clock_us=clock_us)
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
                for fall in reading.falls
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
            for fall in reading.falls
        ),
        moved=tuple(
            log.Moved(
                side=push.soldier.side.value, square=str(push.soldier.square), x_mm=push.x_mm, y_mm=push.y_mm
            )
            for push in reading.pushes
        ),
    )
