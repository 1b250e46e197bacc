"""What a shot begins with: a doubt that waits in the log stops it, however its position is given, and so do the rules."""

from dataclasses import replace
from pathlib import Path

import pytest
from logged_shots import AIM, ANALYSIS, GATE, PENDING, PLAN, START

from game.montecassino import Position, Square
from rig.cli._orders import start_of
from rig.log import Stage, open_log
from rig.match import DoubtPending, ShotNotAllowed, refuse_what_the_rules_forbid
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


@pytest.mark.parametrize(
    ("position", "target", "said"),
    [
        pytest.param("A A01 G30 0/0 0/9 -", "G-30", "side A has no shot left", id="C3"),
        pytest.param("G A01 G30 0/0 9/0 -", "A-01", "side G has no shot left", id="C3, the other side"),
        pytest.param("A A01 - 0/0 9/9 -", "G-30", r"the battle is over \(A\)", id="V0, nobody stands"),
        pytest.param("G A01 G01,A08 0/0 9/9 -", "A-01", r"the battle is over \(G\)", id="V0, on own line 18"),
        pytest.param("A A01.1 G30.1 0/0 9/9 -", "G-30", "the table has one board", id="S3"),
        pytest.param("A A01 G30 0/0 9/9 -", "G-30.1", "names one of two boards", id="S3, the target"),
    ],
)
def test_where_the_rules_allow_no_shot_nothing_is_moved(position: str, target: str, said: str) -> None:
    with pytest.raises(ShotNotAllowed, match=said):
        refuse_what_the_rules_forbid(Position.parse(position), Square.parse(target))


def test_c3_the_last_shot_may_be_fired() -> None:
    refuse_what_the_rules_forbid(Position.parse("A A01 G30 0/0 1/0 -"), Square.parse("G-30"))
