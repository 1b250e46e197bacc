"""What a shot begins with, by the log: a doubt that waits stops the next shot, however its position is given."""

from dataclasses import replace
from pathlib import Path

import pytest
from logged_shots import AIM, ANALYSIS, GATE, PENDING, PLAN, START

from rig.cli._orders import start_of
from rig.log import Stage, open_log
from rig.match import DoubtPending
from rig.settings import Log, Settings

CAMERA = "camera"
GIVEN = "A A01-A08 G01-G08 0/0 20/20 -"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose log holds one shot that waits for a commander's word."""
    path = tmp_path / "log.sqlite"
    with open_log(path) as log:
        session = log.start_session(START)
        shot = log.begin_shot(session, replace(PLAN, plan=None, plan_index=None))
        log.aimed(shot, AIM)
        for stage in (Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED):
            log.reached(shot, stage)
        log.seen(shot, GATE)
        log.recorded(shot, "recordings/shot-00001")
        log.analysed(shot, ANALYSIS)
        log.judged(shot, PENDING)
        log.end_session(session, "finished")
        assert log.shot(shot).pending
        assert log.shot(shot).planned.plan is None
    return Settings(log=Log(path=str(path)))


@pytest.mark.parametrize("position", [None, CAMERA, GIVEN])
def test_a_waiting_doubt_stops_the_next_shot(settings: Settings, position: str | None) -> None:
    with pytest.raises(DoubtPending, match="waits for a decision"):
        start_of(settings, position, None)
