"""The shot log: what was asked for, what happened, what was seen, what was decided."""

from rig.log.deciding import why_not_decide, why_not_final
from rig.log.errors import LogError
from rig.log.records import (
    CUT_SHORT,
    Aim,
    Analysis,
    DecidedDoubt,
    Decision,
    Doubt,
    Fall,
    Fired,
    Moved,
    MuzzleGate,
    SeenShots,
    Session,
    SessionStart,
    Shot,
    ShotPlan,
    Signature,
    Stage,
    StageEntry,
    Verdict,
)
from rig.log.sql_store import open_log, open_log_in_memory
from rig.log.store import ShotLog
from rig.log.telling import tell, tell_decision, tell_time, tell_verdict

__all__ = [
    "CUT_SHORT",
    "Aim",
    "Analysis",
    "DecidedDoubt",
    "Decision",
    "Doubt",
    "Fall",
    "Fired",
    "LogError",
    "Moved",
    "MuzzleGate",
    "SeenShots",
    "Session",
    "SessionStart",
    "Shot",
    "ShotLog",
    "ShotPlan",
    "Signature",
    "Stage",
    "StageEntry",
    "Verdict",
    "open_log",
    "open_log_in_memory",
    "tell",
    "tell_decision",
    "tell_time",
    "tell_verdict",
    "why_not_decide",
    "why_not_final",
]
