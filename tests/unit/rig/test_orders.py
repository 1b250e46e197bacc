"""What a shot begins with, by the log; a doubt that waits in it stops the shot, however its position is given, and so do the rules."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from logged_shots import AIM, ANALYSIS, FINAL, GATE, PENDING, PLAN, START, until

from game.montecassino import Position, Square
from rig.cannon import CannonError
from rig.cli import main
from rig.cli.arguments.orders import PositionUnknown, start_of
from rig.log import CUT_SHORT, ShotLog, Stage, open_log
from rig.match import DoubtPending, ShotNotAllowed, refuse_what_the_rules_forbid
from rig.settings import Log, Settings, SettingsError, parse_settings

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
        log.analysed(shot, ANALYSIS, verdict=PENDING)
        log.end_session(session, "finished")
        assert log.shot(shot).pending
        assert log.shot(shot).planned.plan is None
    return Settings(log=Log(path=str(path)))


@pytest.mark.parametrize("position", [None, CAMERA, GIVEN])
def test_a_waiting_doubt_stops_the_next_shot(settings: Settings, position: str | None) -> None:
    with pytest.raises(DoubtPending, match="waits for a decision"):
        start_of(settings, position, None)


def test_the_command_that_says_the_word_names_the_table_whose_shot_it_is(settings: Settings) -> None:
    """At the usual file's table, shot 1 may be another one with a doubt of its own."""
    with pytest.raises(DoubtPending, match=r"say it with: rig decide 1 SQUARE leaves\|stays$"):
        start_of(settings, None, None)
    second_table = parse_settings(f"[log]\npath = '{settings.log.path}'\n", "table 2.toml")
    with pytest.raises(
        DoubtPending, match=r"with: rig decide --settings 'table 2.toml' 1 SQUARE leaves\|stays$"
    ):
        start_of(second_table, None, None)


BEFORE = "A A01-A20 G25-G47 1/2 19/18 -"
AFTER = "G A01-A20 G25-G32,G34-G47 1/2 18/18 -"
IN_SETTINGS = "A A01-A24 G01-G24 0/0 20/20 -"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ShotLog]:
    with open_log(tmp_path / "log.sqlite") as opened:
        yield opened


@pytest.fixture
def here(tmp_path: Path) -> Settings:
    """Settings that name that log."""
    return Settings(log=Log(path=str(tmp_path / "log.sqlite")))


def shoot(
    log: ShotLog,
    last: Stage,
    *,
    plan: str | None = None,
    position: str | None = BEFORE,
    after: str = AFTER,
) -> None:
    """Log a shot up to a stage, and have its rig end there."""
    session_id = log.start_session(START)
    planned = replace(PLAN, plan=plan, plan_index=None, position=position)
    until(log, session_id, last, plan=planned, verdict=replace(FINAL, after=after))
    log.end_session(session_id, "finished")


def begins(settings: Settings, position: str | None = None, side: str | None = None) -> str:
    return str(start_of(settings, position, side).position)


def test_the_first_shot_begins_as_the_settings_say(here: Settings) -> None:
    assert begins(here) == IN_SETTINGS
    assert not Path(here.log.path).exists(), "asking makes no log"


def test_a_shot_begins_as_the_last_one_that_was_judged_ended(log: ShotLog, here: Settings) -> None:
    shoot(log, Stage.JUDGED)
    assert begins(here) == AFTER
    assert begins(here, side="A") == AFTER.replace("G ", "A ", 1)


def test_where_the_battle_stands_is_read_from_a_log_on_a_medium_that_is_read_only(
    log: ShotLog, here: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    shoot(log, Stage.JUDGED)
    until(
        log, log.start_session(START), Stage.PLANNED
    )  # and its rig was ended there, which a log that can be written marks
    log.close()
    path = Path(here.log.path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert begins(here) == AFTER
    assert path.read_bytes() == before


@pytest.mark.parametrize("last", [Stage.PLANNED, Stage.ARMED])
def test_a_shot_that_was_not_fired_changes_nothing(log: ShotLog, here: Settings, last: Stage) -> None:
    shoot(log, last)
    assert begins(here) == IN_SETTINGS
    shoot(log, Stage.JUDGED)
    shoot(log, last)
    assert begins(here) == AFTER


@pytest.mark.parametrize("other", [{"plan": "an-evening"}, {"position": None}], ids=str)
def test_a_programmes_shot_and_one_without_a_position_change_nothing(
    log: ShotLog, here: Settings, other: dict[str, str | None]
) -> None:
    shoot(log, Stage.JUDGED)
    shoot(log, Stage.FIRED, **other)  # type: ignore[arg-type]
    assert begins(here) == AFTER


def test_a_recording_that_was_cut_short_is_not_offered_to_be_judged(log: ShotLog, here: Settings) -> None:
    """`rig judge` refuses it: it does not tell who fell afterwards."""
    planned = replace(PLAN, plan=None, plan_index=None, position=BEFORE)
    until(log, log.start_session(START), Stage.RECORDED, plan=planned, recorded=f"{CUT_SHORT}unplugged")
    with pytest.raises(PositionUnknown, match="was never judged; say who stands where"):
        start_of(here, None, None)


@pytest.mark.parametrize("last", [Stage.ASKED, Stage.FIRED, Stage.SEEN, Stage.RECORDED])
def test_after_a_shot_that_was_never_judged_somebody_must_say_who_stands_where(
    log: ShotLog, here: Settings, last: Stage
) -> None:
    shoot(log, Stage.JUDGED)
    shoot(log, last)
    with pytest.raises(PositionUnknown) as unknown:
        start_of(here, None, None)
    said = "shot 2 at G-49 was fired, or may have been, and was never judged; "
    assert str(unknown.value).startswith(said)
    assert ("rig judge 2 reads its recording" in str(unknown.value)) is (last is Stage.RECORDED)
    assert begins(here, GIVEN) == GIVEN
    # The soldiers are the camera's to tell; that it is the other side's turn and one shot less is known.
    start = start_of(here, CAMERA, None)
    assert start.from_camera
    assert str(start.position) == "G A01-A20 G25-G47 1/2 18/18 -"


@pytest.mark.parametrize(
    ("after", "position", "said"),
    [
        ("G A01-A20 - 1/2 18/18 -", None, "the battle is over (A)"),
        ("G A01-A20 G25 1/2 18/0 -", None, "side G has no shot left"),
        ("G A01-A20 G25 1/2 18/0 -", CAMERA, "side G has no shot left"),
    ],
)
def test_where_by_the_log_nobody_fires_any_more_it_is_said_how_a_new_battle_begins(
    log: ShotLog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    after: str,
    position: str | None,
    said: str,
) -> None:
    shoot(log, Stage.JUDGED, after=after)
    monkeypatch.chdir(tmp_path)
    Path("rig.toml").write_text('[log]\npath = "log.sqlite"\n')
    given = () if position is None else ("--position", position)
    assert main(["shoot", "A-25", *given]) == 1
    assert capsys.readouterr().err == (
        f"rig: {said}: {after}; what a new battle begins with is said by --position '...'\n"
    )
    assert main(["aim", "A-25"]) == 0, "to point the cannon all the same"


def test_no_side_is_left_with_fewer_shots_than_none(log: ShotLog, here: Settings) -> None:
    shoot(log, Stage.FIRED, position="A A01-A20 G25-G47 1/2 0/18 -")
    assert begins(here, CAMERA) == "G A01-A20 G25-G47 1/2 0/18 -"


@pytest.mark.parametrize(("position", "side"), [(None, "G"), ("G A01 G30 0/0 9/9 -", None)])
def test_a_side_without_a_cannon_does_not_fire(
    here: Settings, position: str | None, side: str | None
) -> None:
    one = here.model_copy(update={"cannon": here.cannon.model_copy(update={"sides": ("A",)})})
    with pytest.raises(
        SettingsError,
        match=f"{'the side that fires' if side is None else '--side'}: found 'G', expected a side that has a cannon: A",
    ):
        start_of(one, position, side)
    assert begins(one, position, "A")[0] == "A"


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


@pytest.mark.parametrize(
    ("after", "said"),
    [
        pytest.param("G A01-A20 - 1/2 18/18 -", "nothing is opened here", id="nobody stood there any more"),
        pytest.param("G A01-A07 A08,G30 1/2 18/18 -", "nothing is opened here", id="one had come through"),
        pytest.param("G A01-A20 G25-G32 1/2 18/0 -", "side G has no shot left", id="C3"),
    ],
)
def test_v0_whether_the_battle_is_over_the_camera_tells_where_it_tells_who_stands_where(
    log: ShotLog,
    here: Settings,
    after: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """docs/verdict.md: after a wrong reading the table is sorted out, and the next shot begins with `--position camera`."""

    def opened(*_: object, **__: object) -> None:
        raise CannonError("nothing is opened here")

    shoot(log, Stage.JUDGED, after=after)
    monkeypatch.setattr("rig.cli.opening.rig.open_rig", opened)
    (tmp_path / "rig.toml").write_text("[log]\npath = 'log.sqlite'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["shoot", "A-30", "--position", "camera"]) == 1
    assert said in capsys.readouterr().err
