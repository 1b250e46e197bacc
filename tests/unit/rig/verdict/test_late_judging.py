"""The verdict of a shot that was recorded and never judged, taken from its recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from logged_shots import ANALYSIS, FINAL, PLAN, START, until
from painted_shot import FALLS, record
from painted_table import CROWD

from game.montecassino import Position, Side
from rig.log import Fired, ShotLog, Stage, open_log, open_log_in_memory
from rig.recording import RecordingError
from rig.settings import Log, Settings
from rig.shot_identity import shot_identity
from rig.verdict.late_judging import NotToBeJudged, judge_recorded, logged_settings, not_judged

POSITION = str(Position(Side.G, CROWD, dict.fromkeys(Side, 0), dict.fromkeys(Side, 20)))
FIRED = replace(
    PLAN, side="G", target="A-12", option="i", zone="A01-A72", position=POSITION, plan=None, plan_index=None
)


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory() as opened:
        yield opened


def fire(log: ShotLog, folder: Path, last: Stage = Stage.SEEN) -> int:
    """Log a shot up to a stage in a session that keeps recordings in a folder, and have its process end there."""
    session_id = log.start_session(
        replace(START, settings={"log": {"path": "rig-log.sqlite", "recordings": str(folder)}})
    )
    shot_id = until(log, session_id, last, plan=FIRED)
    log.end_session(session_id, "killed")
    return shot_id


def test_a_recorded_shot_is_judged_and_the_verdict_stands_in_the_log(log: ShotLog, tmp_path: Path) -> None:
    shot_id = fire(log, tmp_path)
    log.recorded(shot_id, str(record(tmp_path / "elsewhere", position=POSITION)))
    assert [shot.shot_id for shot in not_judged(log)] == [shot_id]
    shot, analysis = judge_recorded(log, shot_id)
    assert analysis is not None
    (fall,) = analysis.reading.falls
    assert fall.toppling.soldier.square == FALLS
    assert [fall.square for fall in shot.analyses[-1].falls] == [str(FALLS)]
    assert shot.verdict is not None
    assert shot.entry(Stage.JUDGED) is not None
    assert not list(not_judged(log))
    with pytest.raises(NotToBeJudged, match="judged already"):
        judge_recorded(log, shot_id)


def test_a_recording_that_the_log_does_not_know_is_found(log: ShotLog, tmp_path: Path) -> None:
    """The rig was killed between the recording and the log's word of it."""
    shot_id = fire(log, tmp_path)
    folder = record(tmp_path / f"shot-{shot_id:05d}", position=POSITION)
    shot, analysis = judge_recorded(log, shot_id)
    assert analysis is not None
    assert shot.recording_path == str(folder)
    assert shot.verdict is not None


def test_of_a_judged_shot_only_the_recording_is_taken_in(log: ShotLog, tmp_path: Path) -> None:
    shot_id = fire(log, tmp_path)
    log.analysed(shot_id, ANALYSIS, verdict=FINAL)
    folder = record(tmp_path / f"shot-{shot_id:05d}", position=POSITION)
    shot, analysis = judge_recorded(log, shot_id)
    assert analysis is None
    assert shot.verdicts == (FINAL,)
    assert shot.recording_path == str(folder)
    assert shot.stage is Stage.DECIDED


def test_a_recording_that_is_not_whole_is_not_judged(log: ShotLog, tmp_path: Path) -> None:
    shot_id = fire(log, tmp_path)
    record(tmp_path / f"shot-{shot_id:05d}", position=POSITION, incomplete="asked to end")
    with pytest.raises(NotToBeJudged, match=r"ends before all was at rest \(asked to end\)"):
        judge_recorded(log, shot_id)
    assert log.shot(shot_id).verdict is None


def test_a_shot_of_which_nobody_knows_whether_it_left_is_judged_too(log: ShotLog, tmp_path: Path) -> None:
    shot_id = fire(log, tmp_path, Stage.ASKED)
    assert log.shot(shot_id).fired is Fired.UNCERTAIN
    record(tmp_path / f"shot-{shot_id:05d}", position=POSITION)
    assert [shot.shot_id for shot in not_judged(log)] == [shot_id]
    assert judge_recorded(log, shot_id)[0].verdict is not None


def test_a_shot_that_is_judged_while_its_recording_is_read_keeps_that_verdict(
    log: ShotLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot_id = fire(log, tmp_path)
    record(tmp_path / f"shot-{shot_id:05d}", position=POSITION)

    def read_while_another_judges(folder: Path) -> None:
        log.analysed(shot_id, ANALYSIS, verdict=FINAL)

    monkeypatch.setattr("rig.verdict.late_judging.analyse_folder", read_while_another_judges)
    with pytest.raises(NotToBeJudged, match="shot 1 was judged meanwhile"):
        judge_recorded(log, shot_id)
    assert log.shot(shot_id).verdicts == (FINAL,)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"option": "iii"}, "option is iii, and shot 1 was fired with i"),
        ({"zone": "A25-A72"}, "zone is A25-A72, and shot 1 was fired with A01-A72"),
        ({"position": None}, "position is null, and shot 1 was fired with G A"),
    ],
)
def test_the_recording_of_another_shot_is_refused(
    log: ShotLog, tmp_path: Path, other: dict[str, Any], said: str
) -> None:
    shot_id = fire(log, tmp_path)
    record(tmp_path / f"shot-{shot_id:05d}", **{"position": POSITION} | other)
    with pytest.raises(RecordingError, match=f"{said}.*; it is of another shot"):
        judge_recorded(log, shot_id)
    assert log.shot(shot_id).recording_path is None


def test_the_recording_of_a_like_shot_of_another_log_is_refused(log: ShotLog, tmp_path: Path) -> None:
    """Both are the first shots of their logs, fired at the same position under the same rules."""
    shot_id = fire(log, tmp_path)
    with open_log_in_memory() as other:
        theirs = shot_identity(other.session(other.start_session(START)), shot_id)
    record(tmp_path / f"shot-{shot_id:05d}", position=POSITION, shot=theirs.model_dump())
    with pytest.raises(
        RecordingError,
        match=r"shot is 1 of session 1, begun .*, and expected is 1 of session 1, begun .*; it is of another",
    ):
        judge_recorded(log, shot_id)
    assert log.shot(shot_id).verdict is None


def test_the_recording_that_says_it_is_of_this_shot_is_judged(log: ShotLog, tmp_path: Path) -> None:
    shot_id = fire(log, tmp_path)
    shot = shot_identity(log.session(log.shot(shot_id).session_id), shot_id)
    more = {**shot.model_dump(), "of_the_club": "Nine"}
    record(tmp_path / f"shot-{shot_id:05d}", position=POSITION, shot=more)
    assert judge_recorded(log, shot_id)[0].verdict is not None


@pytest.mark.parametrize("known", [True, False], ids=["in the log", "not in the log"])
def test_in_another_tables_folder_a_shot_is_judged_by_its_own_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    for table, incomplete in (("T1", "not to be read"), ("T2", "")):
        record(tmp_path / table / "recordings/shot-00001", position=POSITION, incomplete=incomplete)
    monkeypatch.chdir(tmp_path / "T2")
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = fire(log, Path("recordings"))
        if known:
            log.recorded(shot_id, "recordings/shot-00001")
    monkeypatch.chdir(tmp_path / "T1")
    with open_log(Path("../T2/rig-log.sqlite"), create=False) as log:
        shot, analysis = judge_recorded(log, shot_id)
    assert analysis is not None
    assert [fall.square for fall in shot.analyses[-1].falls] == [str(FALLS)]
    assert shot.recording_path == "../T2/recordings/shot-00001"


@pytest.mark.parametrize(
    ("path", "recordings", "found"),
    [
        ("T2/logs/log.sqlite", "T2/films", "{log}/../films"),
        ("/then/T2/log.sqlite", "/then/T2/films", "{log}/films"),
        ("/then/T2/log.sqlite", "/disk/films", "/disk/films"),
    ],
)
def test_recordings_are_looked_for_where_they_lie_from_the_log(
    tmp_path: Path, path: str, recordings: str, found: str
) -> None:
    with open_log(tmp_path / "log.sqlite") as log:
        session = replace(START, settings={"log": {"path": path, "recordings": recordings}})
        session_id = log.start_session(session)
        shot_id = until(log, session_id, Stage.SEEN, plan=FIRED)
        log.end_session(session_id, "killed")
        with pytest.raises(NotToBeJudged) as refused:
            judge_recorded(log, shot_id)
    assert str(refused.value).endswith(f" nor in {found.format(log=tmp_path)}/shot-00001")


def test_recordings_lie_where_the_rig_ran_where_only_the_logs_path_is_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("table", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "table")
    path = tmp_path / "logs" / "log.sqlite"
    settings = logged_settings(Settings(log=Log(path=str(path), recordings="films")))
    with open_log(path) as log:
        session_id = log.start_session(replace(START, settings=settings))
        shot_id = until(log, session_id, Stage.SEEN, plan=FIRED)
        log.end_session(session_id, "killed")
        monkeypatch.chdir(tmp_path / "elsewhere")
        with pytest.raises(NotToBeJudged) as refused:
            judge_recorded(log, shot_id)
    assert str(refused.value).endswith(f" nor in {tmp_path}/table/films/shot-00001")


def test_a_shot_without_a_recording_is_refused(log: ShotLog, tmp_path: Path) -> None:
    with pytest.raises(NotToBeJudged, match="shot 1 has no recording, neither in the log nor in"):
        judge_recorded(log, fire(log, tmp_path))


def test_a_shot_that_was_not_fired_is_refused(log: ShotLog, tmp_path: Path) -> None:
    with pytest.raises(NotToBeJudged, match="shot 1 was not fired"):
        judge_recorded(log, fire(log, tmp_path, Stage.ARMED))
    assert not list(not_judged(log))


def test_a_shot_that_is_just_being_fired_is_left_alone(log: ShotLog, tmp_path: Path) -> None:
    shot_id = until(log, log.start_session(START), Stage.SEEN, plan=FIRED)
    assert not list(not_judged(log))
    with pytest.raises(NotToBeJudged, match="is being fired just now"):
        judge_recorded(log, shot_id)
