"""A session and a shot to log, for the tests of the log."""

from __future__ import annotations

from rig.log import (
    Aim,
    Analysis,
    Doubt,
    Fall,
    Moved,
    MuzzleGate,
    SessionStart,
    ShotLog,
    ShotPlan,
    Stage,
    Verdict,
)
from rig.verdict.judging import as_logged, judge_reading

START = SessionStart(
    software_version="0.1.0",
    firmware_version="0.1.0",
    wire_version=3,
    settings={"port": {"url": "twin"}, "cannon": {"muzzle_speed_mps": 9.6}},
    port="twin",
    camera="twin",
    transcript_path="transcripts/1.bin",
)
PLAN = ShotPlan(
    side="A",
    target="G-49",
    option="iii",
    zone="G25-G72",
    position="A A01-A24 G01-G24 0/0 20/20 -",
    plan="first-evening-1234",
    plan_index=3,
)
UNPLUGGED = "incomplete: the camera was unplugged"
AIM = Aim(
    target_mm=(22.5, 427.5, 20.0),
    traverse_mm=150.0,
    azimuth_rad=-0.02,
    elevation_rad=0.05,
    expected_muzzle_speed_mps=9.6,
    calibration="as set",
)
GATE = MuzzleGate(release_to_first_us=7942.0, first_to_second_us=2083.5, spacing_mm=20.0)
CERTAIN = Fall(
    side="G",
    square="G-33",
    causes=("direct",),
    confidence=0.98,
    t_us=412_300,
    evidence="the track ends there",
)
DOUBTFUL = Fall(
    side="G", square="G-41", causes=("direct", "ricochet"), confidence=0.6, t_us=None, evidence="hidden"
)
ANALYSIS = Analysis(
    software_version="0.1.0",
    raw={"falls": [{"square": "G-33"}], "pellet": [[1, 2.5, 3.5]]},
    falls=(CERTAIN, DOUBTFUL),
    moved=(Moved(side="G", square="G-34", x_mm=101.5, y_mm=700.25),),
)
DOUBT = Doubt(square="G-41", between=("direct", "ricochet"), commander="G")
PENDING = Verdict(casualties=("G-33",), put_back=("G-34",), doubts=(DOUBT,))
FINAL = Verdict(casualties=("G-33", "G-41"), put_back=("G-34",), after="G A01-A24 G01-G24 0/0 19/20 -")


def until(
    log: ShotLog,
    session_id: int,
    last: Stage,
    *,
    plan: ShotPlan = PLAN,
    verdict: Verdict = FINAL,
    recorded: str = "",
) -> int:
    """Log a shot up to a stage, by the way that every shot goes, and give its number; `recorded`: the cause of that stage."""
    shot_id = log.begin_shot(session_id, plan, clock_us=0)
    steps = (
        (Stage.AIMED, lambda: log.aimed(shot_id, AIM, clock_us=1_000)),
        (Stage.COCKED, lambda: log.reached(shot_id, Stage.COCKED, clock_us=2_000)),
        (Stage.LOADED, lambda: log.reached(shot_id, Stage.LOADED, clock_us=3_000)),
        (Stage.ARMED, lambda: log.reached(shot_id, Stage.ARMED, clock_us=4_000)),
        (Stage.ASKED, lambda: log.reached(shot_id, Stage.ASKED, clock_us=5_000)),
        (Stage.FIRED, lambda: log.reached(shot_id, Stage.FIRED, clock_us=6_000)),
        (Stage.SEEN, lambda: log.seen(shot_id, GATE, clock_us=7_000)),
        (
            Stage.RECORDED,
            lambda: log.recorded(
                shot_id,
                f"recordings/shot-{shot_id:05d}",
                clock_us=8_000,
                cause=recorded,
            ),
        ),
        (
            last,
            lambda: log.analysed(
                shot_id, ANALYSIS, verdict=verdict if last is Stage.JUDGED else None, clock_us=9_000
            ),
        ),
    )
    if last is not Stage.PLANNED:
        for stage, step in steps:
            step()
            if stage is last:
                break
    return shot_id


def read_and_judge(log: ShotLog, shot_id: int, analysis: Analysis) -> None:
    """Log what was read of a shot and the rules' verdict on it, as the rig does."""
    planned = log.shot(shot_id).planned
    assert planned.position is not None
    verdict = judge_reading(planned, planned.position, analysis, {})
    log.analysed(shot_id, analysis, verdict=as_logged(verdict))
