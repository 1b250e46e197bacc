"""What every store of the log promises, checked on each store there is."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from logged_shots import AIM, ANALYSIS, DOUBT, FINAL, GATE, PENDING, PLAN, START, UNPLUGGED, until

from rig.log import (
    Analysis,
    Doubt,
    Fired,
    LogError,
    MuzzleGate,
    SeenShots,
    Shot,
    ShotLog,
    Stage,
    Verdict,
    open_log,
    open_log_in_memory,
    tell,
)
from rig.log._rows import read_shots
from rig.log.records import PREPARING


@pytest.fixture(scope="module")
def empty_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the file once; a copy of it is quicker than the migrations."""
    path = tmp_path_factory.mktemp("log") / "empty.sqlite"
    open_log(path).close()
    return path


@pytest.fixture(params=["file", "memory"])
def log(
    request: pytest.FixtureRequest, tmp_path: Path, empty_log: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ShotLog]:
    ticks = itertools.count(1_790_000_000_000_000)
    monkeypatch.chdir(tmp_path)
    if request.param == "file":
        path = Path(shutil.copy(empty_log, "rig-log.sqlite"))
        opened = open_log(path, create=False, now_utc_us=lambda: next(ticks))
    else:
        opened = open_log_in_memory(now_utc_us=lambda: next(ticks))
    with opened:
        yield opened


@pytest.fixture
def session_id(log: ShotLog) -> int:
    return log.start_session(START)


def test_a_session_is_read_as_it_was_written(log: ShotLog, session_id: int) -> None:
    session = log.session(session_id)
    for name in START.__dataclass_fields__:
        assert getattr(session, name) == getattr(START, name)
    assert session.ended_utc_us is None
    assert log.sessions() == (session,)


def test_a_session_ends_with_its_cause(log: ShotLog, session_id: int) -> None:
    log.end_session(session_id, "the programme is done")
    session = log.session(session_id)
    assert session.end_cause == "the programme is done"
    assert session.ended_utc_us is not None
    assert session.ended_utc_us > session.started_utc_us


def test_a_whole_shot_is_read_as_it_was_written(log: ShotLog, session_id: int) -> None:
    shot = log.shot(until(log, session_id, Stage.JUDGED))
    assert shot.session_id == session_id
    assert shot.planned == PLAN
    assert shot.aim == AIM
    assert shot.muzzle_gate == GATE
    assert shot.recording_path == "recordings/shot-00001"
    assert shot.analyses == (ANALYSIS,)
    assert shot.verdicts == (FINAL,)
    assert [entry.stage for entry in shot.history] == [
        stage for stage in Stage if stage not in (Stage.ABORTED, Stage.INTERRUPTED)
    ]
    assert [entry.clock_us for entry in shot.history][:11] == [*range(0, 10_000, 1_000), 9_000]
    assert shot.fired is Fired.YES
    assert shot.finished
    assert tell(shot) == "judged"


def test_stages_keep_time_and_cause(log: ShotLog, session_id: int) -> None:
    shot = log.shot(until(log, session_id, Stage.RECORDED, recorded=UNPLUGGED))
    times_us = [entry.at_utc_us for entry in shot.history]
    assert times_us == sorted(set(times_us))
    assert shot.history[-1].cause == UNPLUGGED


def test_muzzle_speed_is_spacing_over_transit(log: ShotLog, session_id: int) -> None:
    gate = log.shot(until(log, session_id, Stage.SEEN)).muzzle_gate
    assert gate is not None
    assert gate.muzzle_speed_mps == pytest.approx(0.020 / 2083.5e-6)


def test_a_shot_may_be_seen_without_being_timed(log: ShotLog, session_id: int) -> None:
    """A bad line lost the event with the times; the state that followed told that the shot left."""
    gate = MuzzleGate(release_to_first_us=None, first_to_second_us=None, spacing_mm=20.0)
    shot_id = until(log, session_id, Stage.FIRED)
    log.seen(shot_id, gate)
    shot = log.shot(shot_id)
    assert shot.muzzle_gate == gate
    assert gate.muzzle_speed_mps is None
    assert tell(shot).startswith("fired: the muzzle gate saw it leave")


@pytest.mark.parametrize("transit_us", [0.0, -1.0, float("nan")])
def test_a_gate_that_timed_nothing_is_no_measurement(transit_us: float) -> None:
    with pytest.raises(ValueError, match="expected both above 0"):
        MuzzleGate(release_to_first_us=1.0, first_to_second_us=transit_us, spacing_mm=20.0)


_HOW_FAR = {
    Stage.PLANNED: "nothing had moved yet",
    Stage.AIMED: "it was aimed, not cocked",
    Stage.COCKED: "it was cocked",
    Stage.LOADED: "it was cocked and loaded",
    Stage.ARMED: "it was cocked and armed",
}


def test_of_every_stage_before_the_fire_it_is_known_how_it_is_told() -> None:
    assert set(_HOW_FAR) == PREPARING


@pytest.mark.parametrize(("last", "how_far"), _HOW_FAR.items())
def test_before_fire_is_asked_for_the_shot_has_not_left(
    log: ShotLog, session_id: int, last: Stage, how_far: str
) -> None:
    shot = log.shot(until(log, session_id, last))
    assert shot.fired is Fired.NO
    assert not shot.finished
    assert tell(shot) == f"not fired: {how_far}, and fire was never asked for"


def test_fire_asked_for_without_an_answer_is_uncertain(log: ShotLog, session_id: int) -> None:
    shot = log.shot(until(log, session_id, Stage.ASKED))
    assert shot.fired is Fired.UNCERTAIN
    assert tell(shot) == "fire was asked for, and it may have been fired; no recording known"


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (Stage.FIRED, "the firmware said so, the muzzle gate has not reported; no recording known"),
        (Stage.SEEN, "the muzzle gate saw it leave; no recording known"),
        (Stage.RECORDED, "the muzzle gate saw it leave; recorded, not analysed"),
        (Stage.ANALYSED, "the muzzle gate saw it leave; recorded and analysed, not judged"),
    ],
)
def test_after_the_acknowledgement_the_shot_has_left(
    log: ShotLog, session_id: int, last: Stage, told: str
) -> None:
    shot = log.shot(until(log, session_id, last))
    assert shot.fired is Fired.YES
    assert tell(shot) == f"fired: {told}"


def test_a_verdict_without_its_recording_is_told_as_that(log: ShotLog, session_id: int) -> None:
    """The shot is read from memory; what ends the rig then may leave no recording."""
    shot_id = until(log, session_id, Stage.SEEN)
    log.analysed(shot_id, ANALYSIS)
    assert tell(log.shot(shot_id)) == "fired: the muzzle gate saw it leave; analysed, not judged"
    log.analysed(shot_id, ANALYSIS, verdict=FINAL)
    assert tell(log.shot(shot_id)) == "judged; no recording known"


def test_the_gate_proves_a_shot_whose_acknowledgement_was_lost(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.ASKED)
    log.seen(shot_id, GATE)
    log.abort(shot_id, "link lost")
    assert log.shot(shot_id).fired is Fired.YES


@pytest.mark.parametrize(
    "why", ["the cannon refused the command fire: the lane is not clear", "asked to end"]
)
def test_a_fire_that_was_refused_or_never_left_is_told_as_not_fired(
    log: ShotLog, session_id: int, why: str
) -> None:
    """Ctrl-C between the log's entry and the command is no refusal of the cannon's."""
    shot_id = until(log, session_id, Stage.ASKED)
    log.abort(shot_id, why, fired=Fired.NO)
    shot = log.shot(shot_id)
    assert shot.fired is Fired.NO
    assert tell(shot) == f"not fired: it ended at the fire command; aborted: {why}"


def test_an_abort_that_knows_no_more_leaves_the_shot_uncertain(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.ASKED)
    log.abort(shot_id, "link lost")
    shot = log.shot(shot_id)
    assert shot.fired is Fired.UNCERTAIN
    assert "may have been fired" in tell(shot)
    assert shot.finished


def test_a_cause_that_names_what_is_no_utf_8_is_kept(log: ShotLog, session_id: int) -> None:
    """As a transcript's file in a folder of such a name, whose disk is full."""
    why = os.fsdecode(b"/home/\xff/x.transcript: it cannot be written")
    shot_id = until(log, session_id, Stage.ARMED)
    log.abort(shot_id, why)
    log.end_session(session_id, why)
    said = r"/home/\udcff/x.transcript: it cannot be written"
    assert log.shot(shot_id).history[-1].cause == log.session(session_id).end_cause == said


def test_a_path_that_is_no_utf_8_is_refused_in_a_sentence(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.FIRED)
    with pytest.raises(LogError, match=r"found '/home/\\udcff/shot', which is not UTF-8, expected a name"):
        log.recorded(shot_id, os.fsdecode(b"/home/\xff/shot"))
    assert log.shot(shot_id).stage is Stage.FIRED


def test_an_abort_that_knows_that_the_shot_left_says_so(log: ShotLog, session_id: int) -> None:
    """The log was busy when the cannon had acknowledged the fire command."""
    shot_id = until(log, session_id, Stage.ASKED)
    log.abort(shot_id, "the log was locked", fired=Fired.YES)
    assert log.shot(shot_id).fired is Fired.YES
    assert tell(log.shot(shot_id)) == "fired; no recording known; aborted: the log was locked"


def test_a_let_down_and_a_second_try_are_both_kept(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.ARMED)
    log.reached(shot_id, Stage.COCKED)
    stages = [entry.stage for entry in log.shot(shot_id).history]
    assert stages.count(Stage.COCKED) == 2


def test_of_a_shot_that_was_aimed_again_the_last_aim_is_told(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.AIMED)
    again = replace(AIM, elevation_rad=0.06)
    log.aimed(shot_id, again)
    assert log.shot(shot_id).aim == again


def test_a_stage_that_carries_more_than_its_name_is_not_reached_without_it(
    log: ShotLog, session_id: int
) -> None:
    shot_id = until(log, session_id, Stage.FIRED)
    before = log.shot(shot_id)
    bare = {Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED}
    for stage in set(Stage) - bare:
        with pytest.raises(ValueError, match=f"stage {stage} carries more than its name"):
            log.reached(shot_id, stage)
    assert log.shot(shot_id) == before


@pytest.mark.parametrize(
    ("last", "stage", "reason"),
    [
        (Stage.PLANNED, Stage.ASKED, "it never was at stage armed"),
        (Stage.ASKED, Stage.ASKED, "it has been there already"),
        (Stage.ASKED, Stage.COCKED, "fire was asked for already"),
        (Stage.ARMED, Stage.FIRED, "it never was at stage asked"),
    ],
)
def test_a_stage_out_of_order_is_refused_and_writes_nothing(
    log: ShotLog, session_id: int, last: Stage, stage: Stage, reason: str
) -> None:
    shot_id = until(log, session_id, last)
    before = log.shot(shot_id)
    with pytest.raises(LogError, match=f"shot {shot_id} cannot be at stage {stage}: {reason}"):
        log.reached(shot_id, stage)
    assert log.shot(shot_id) == before


def test_a_shot_leaves_is_seen_and_is_recorded_once(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.RECORDED)
    before = log.shot(shot_id)
    for again in (
        lambda: log.reached(shot_id, Stage.FIRED),
        lambda: log.seen(shot_id, GATE),
        lambda: log.recorded(shot_id, "recordings/shot-2"),
    ):
        with pytest.raises(LogError, match="it has been there already"):
            again()
    assert log.shot(shot_id) == before


def test_a_shot_given_up_cannot_go_on(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.COCKED)
    log.abort(shot_id, "emergency stop")
    with pytest.raises(LogError, match="it is aborted"):
        log.reached(shot_id, Stage.ARMED)


def test_a_shot_given_up_after_fire_was_asked_for_is_not_seen_to_leave_later(
    log: ShotLog, session_id: int
) -> None:
    """It was told as uncertain, and somebody may have acted on that."""
    shot_id = until(log, session_id, Stage.ASKED)
    log.abort(shot_id, "link lost")
    with pytest.raises(LogError, match="it is aborted"):
        log.seen(shot_id, GATE)
    assert log.shot(shot_id).fired is Fired.UNCERTAIN


def test_a_shot_whose_verdict_is_final_is_not_given_up(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED)
    with pytest.raises(LogError, match="its verdict is final"):
        log.abort(shot_id, "the camera stalled")
    assert log.shot(shot_id).stage is Stage.DECIDED


@pytest.mark.parametrize("acknowledged", [True, False])
def test_nobody_can_say_that_a_seen_shot_did_not_leave(
    log: ShotLog, session_id: int, acknowledged: bool
) -> None:
    shot_id = until(log, session_id, Stage.FIRED if acknowledged else Stage.ASKED)
    log.seen(shot_id, GATE)
    with pytest.raises(LogError, match="it was seen to leave"):
        log.abort(shot_id, "wrong", fired=Fired.NO)


@pytest.mark.parametrize("fired", [Fired.YES, Fired.UNCERTAIN])
def test_nobody_can_say_that_a_shot_left_before_fire_was_asked_for(
    log: ShotLog, session_id: int, fired: Fired
) -> None:
    shot_id = until(log, session_id, Stage.ARMED)
    with pytest.raises(LogError, match="fire was never asked for"):
        log.abort(shot_id, "wrong", fired=fired)


def test_a_later_analysis_stands_beside_the_old_one(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED)
    later = Analysis(software_version="0.2.0", raw={"falls": []})
    log.analysed(shot_id, later)
    shot = log.shot(shot_id)
    assert shot.analyses == (ANALYSIS, later)
    assert shot.verdict == FINAL, "a new reading is no new verdict"
    other = Verdict(put_back=("G-33",))
    log.analysed(shot_id, later, verdict=other)
    assert log.shot(shot_id).verdicts == (FINAL, other)


@pytest.mark.parametrize(("verdict", "last"), [(FINAL, Stage.DECIDED), (PENDING, Stage.JUDGED)])
def test_a_reading_and_its_verdict_are_written_together(
    log: ShotLog, session_id: int, verdict: Verdict, last: Stage
) -> None:
    shot_id = until(log, session_id, Stage.SEEN)
    log.analysed(shot_id, ANALYSIS, verdict=verdict, clock_us=9_000)
    shot = log.shot(shot_id)
    assert (shot.stage, shot.analyses, shot.verdicts) == (last, (ANALYSIS,), (verdict,))
    steps = [(entry.stage, entry.clock_us, entry.cause) for entry in shot.history]
    decided = [(Stage.DECIDED, 9_000, "no doubt")] if last is Stage.DECIDED else []
    assert steps[-2 - len(decided) :] == [(Stage.ANALYSED, 9_000, ""), (Stage.JUDGED, 9_000, ""), *decided]


def test_a_shot_given_up_after_its_recording_can_still_be_analysed(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.RECORDED)
    log.abort(shot_id, "the camera stalled")
    log.analysed(shot_id, ANALYSIS, verdict=FINAL)
    assert log.shot(shot_id).verdict == FINAL


@pytest.mark.parametrize("number", [0, -1, 10**9, 10**20, -(10**20)])
def test_a_number_that_no_shot_and_no_session_has_is_refused(log: ShotLog, number: int) -> None:
    for ask in (log.shot, log.session):
        with pytest.raises(LogError, match=r"there is no|no number in it is as large"):
            ask(number)


def test_c8_a_doubt_stays_pending_until_its_commander_has_decided(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    shot = log.shot(shot_id)
    assert shot.stage is Stage.JUDGED
    assert [doubt.square for doubt in shot.pending] == ["G-41"]
    assert tell(shot) == "judged, doubts pending: G-41 (G decides)"

    assert log.decide(shot_id, "G", {"G-41": True}, final=FINAL) == ()

    shot = log.shot(shot_id)
    assert shot.verdicts == (PENDING, FINAL)
    assert shot.pending == ()
    decision = shot.doubts[0].decision
    assert decision is not None
    assert (decision.square, decision.decided_by, decision.leaves) == ("G-41", "G", True)
    assert shot.stage is Stage.DECIDED
    assert tell(shot) == "judged"


def test_deciding_several_doubts_tells_which_are_left(log: ShotLog, session_id: int) -> None:
    other = Doubt(square="A-70", between=("ricochet", "dragged"), commander="A")
    shot_id = until(log, session_id, Stage.JUDGED, verdict=Verdict(doubts=(DOUBT, other)))
    assert [doubt.square for doubt in log.decide(shot_id, "G", {"G-41": False})] == ["A-70"]
    assert log.shot(shot_id).stage is Stage.JUDGED
    assert log.decide(shot_id, "A", {"A-70": False}, final=Verdict()) == ()
    assert log.shot(shot_id).stage is Stage.DECIDED


def test_a_final_verdict_comes_with_the_last_decision_and_not_before(log: ShotLog, session_id: int) -> None:
    other = Doubt(square="G-42", between=("direct", "ricochet"), commander="G")
    shot_id = until(log, session_id, Stage.JUDGED, verdict=Verdict(doubts=(DOUBT, other)))
    before = log.shot(shot_id)
    with pytest.raises(LogError, match="no final verdict yet; not decided: G-42"):
        log.decide(shot_id, "G", {"G-41": False}, final=Verdict())
    with pytest.raises(LogError, match="no final verdict was given"):
        log.decide(shot_id, "G", {"G-41": False, "G-42": True})
    with pytest.raises(LogError, match="a final verdict leaves no doubt"):
        log.decide(shot_id, "G", {"G-41": False, "G-42": True}, final=PENDING)
    assert log.shot(shot_id) == before


def test_deciding_twice_is_refused_and_keeps_the_first_word(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    log.decide(shot_id, "G", {"G-41": False}, final=Verdict())
    with pytest.raises(LogError, match=f"shot {shot_id}, G-41: G has decided already: it stays"):
        log.decide(shot_id, "G", {"G-41": True}, final=FINAL)
    decision = log.shot(shot_id).doubts[0].decision
    assert decision is not None
    assert not decision.leaves


def test_only_the_commander_of_the_soldiers_side_decides(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    with pytest.raises(LogError, match="the commander of G decides, not A"):
        log.decide(shot_id, "A", {"G-41": True}, final=FINAL)


def test_deciding_about_an_unknown_square_names_the_doubts(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    with pytest.raises(LogError, match=f"shot {shot_id} has no doubt about G-33; its doubts: G-41"):
        log.decide(shot_id, "G", {"G-33": True})


def test_deciding_where_nothing_is_in_doubt_says_so(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.SEEN)
    with pytest.raises(LogError, match="has no doubt about G-33; its doubts: none"):
        log.decide(shot_id, "G", {"G-33": True})


def test_a_new_verdict_takes_the_place_of_an_undecided_one(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    log.analysed(shot_id, Analysis(software_version="0.2.0", raw={}), verdict=FINAL)
    shot = log.shot(shot_id)
    assert shot.pending == ()
    assert shot.verdicts == (PENDING, FINAL)


def test_c8_what_is_decided_is_the_doubt_of_the_verdict_that_stands(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    other = Doubt(square="G-42", between=("direct", "ricochet"), commander="G")
    log.analysed(shot_id, ANALYSIS, verdict=Verdict(doubts=(other,)))
    with pytest.raises(LogError, match="no doubt about G-41; its doubts: G-42"):
        log.decide(shot_id, "G", {"G-41": True}, final=FINAL)
    assert log.decide(shot_id, "G", {"G-42": True}, final=FINAL) == ()
    assert [(d.square, d.decision is not None) for d in log.shot(shot_id).doubts] == [("G-42", True)]


def test_an_unknown_shot_or_session_is_one_clear_sentence(log: ShotLog) -> None:
    with pytest.raises(LogError, match="there is no shot 99"):
        log.shot(99)
    with pytest.raises(LogError, match="there is no shot 99"):
        log.decide(99, "G", {"G-41": True})
    with pytest.raises(LogError, match="there is no shot 99"):
        log.abort(99, "never was")
    with pytest.raises(LogError, match="there is no session 99"):
        log.session(99)
    with pytest.raises(LogError, match="session 99 is not open here"):
        log.begin_shot(99, PLAN)


def test_one_session_at_a_time(log: ShotLog, session_id: int) -> None:
    with pytest.raises(LogError, match=f"session {session_id} is still open"):
        log.start_session(START)
    log.end_session(session_id, "done")
    assert log.start_session(START) == session_id + 1


def test_a_session_that_ends_early_interrupts_its_unfinished_shot(log: ShotLog, session_id: int) -> None:
    done = until(log, session_id, Stage.JUDGED)
    undone = until(log, session_id, Stage.ASKED)
    log.end_session(session_id, "Ctrl-C")
    assert log.shot(done).stage is Stage.DECIDED
    shot = log.shot(undone)
    assert (shot.stage, shot.fired) == (Stage.INTERRUPTED, Fired.UNCERTAIN)
    assert tell(shot).endswith("interrupted: Ctrl-C")


def test_c8_a_doubt_outlives_the_session_in_which_it_was_raised(log: ShotLog, session_id: int) -> None:
    shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    log.end_session(session_id, "Ctrl-C")
    log.start_session(START)
    assert log.interrupted == ()
    assert log.shot(shot_id).stage is Stage.JUDGED
    assert log.decide(shot_id, "G", {"G-41": True}, final=FINAL) == ()


def test_shots_are_given_over_all_sessions_and_by_programme(log: ShotLog, session_id: int) -> None:
    first = until(log, session_id, Stage.JUDGED)
    log.end_session(session_id, "done")
    second_session = log.start_session(START)
    second = until(log, second_session, Stage.SEEN)
    assert [shot.shot_id for shot in log.shots()] == [first, second]
    assert [shot.shot_id for shot in log.shots(plan=PLAN.plan)] == [first, second]
    assert log.shots(plan="another") == ()


def test_shots_in_doubt_are_given_whether_a_commander_has_spoken_or_not(
    log: ShotLog, session_id: int
) -> None:
    until(log, session_id, Stage.JUDGED)
    decided = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    waiting = until(log, session_id, Stage.JUDGED, verdict=PENDING)
    until(log, session_id, Stage.RECORDED)
    log.decide(decided, "G", {"G-41": True}, final=FINAL)
    assert log.shots_in_doubt() == (log.shot(decided), log.shot(waiting))


def test_the_last_shots_are_given_oldest_first_and_all_are_counted_by_session(
    log: ShotLog, session_id: int
) -> None:
    assert log.last_shots(3) == ()
    assert log.shots_by_session() == {}
    first = until(log, session_id, Stage.JUDGED)
    log.end_session(session_id, "done")
    empty_session = log.start_session(START)
    log.end_session(empty_session, "done")
    second_session = log.start_session(START)
    second, third = (until(log, second_session, Stage.SEEN) for _ in range(2))
    assert log.last_shots(2) == (log.shot(second), log.shot(third))
    assert [shot.shot_id for shot in log.last_shots(9)] == [first, second, third]
    assert log.shots_by_session() == {session_id: 1, second_session: 2}


def test_shots_not_judged_are_those_that_were_asked_for_and_have_no_verdict(
    log: ShotLog, session_id: int
) -> None:
    until(log, session_id, Stage.JUDGED)
    until(log, session_id, Stage.JUDGED, verdict=PENDING)
    until(log, session_id, Stage.ARMED)
    waiting = [until(log, session_id, last) for last in (Stage.ASKED, Stage.RECORDED, Stage.ANALYSED)]
    assert log.shots_not_judged() == tuple(map(log.shot, waiting))


def test_single_shots_are_given_newest_first_and_by_the_position_they_were_planned_from(
    log: ShotLog, session_id: int
) -> None:
    assert list(log.single_shots()) == []
    single = replace(PLAN, plan=None, plan_index=None)
    first = until(log, session_id, Stage.JUDGED, plan=single)
    elsewhere = until(log, session_id, Stage.AIMED, plan=replace(single, position=None))
    until(log, session_id, Stage.JUDGED)
    last = until(log, session_id, Stage.SEEN, plan=single)
    assert [shot.shot_id for shot in log.single_shots()] == [last, elsewhere, first]
    assert list(log.single_shots(position=single.position)) == [log.shot(last), log.shot(first)]
    assert list(log.single_shots(position="another")) == []


def test_of_single_shots_none_is_read_before_its_turn(
    log: ShotLog, session_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With thousands of shots in the log whoever fires next would wait for seconds."""
    for _ in range(3):
        until(log, session_id, Stage.SEEN, plan=replace(PLAN, plan=None, plan_index=None))
    read: list[tuple[Shot, ...]] = []

    def reading(*which: Any) -> tuple[Shot, ...]:
        read.append(read_shots(*which))
        return read[-1]

    monkeypatch.setattr("rig.log.sql_store.read_shots", reading)
    assert next(log.single_shots()).shot_id == 3
    assert [[shot.shot_id for shot in shots] for shots in read] == [[3]]


def test_shots_seen_to_leave_are_counted_by_session_port_and_side_for_the_calibration_that_aimed_them_last(
    log: ShotLog,
) -> None:
    def fire(session_id: int, *calibrations: str, side: str = "A", last: Stage = Stage.SEEN) -> None:
        shot_id = log.begin_shot(session_id, replace(PLAN, side=side))
        for calibration in calibrations:  # aimed anew after a let-down
            log.aimed(shot_id, replace(AIM, calibration=calibration))
        for stage in (Stage.COCKED, Stage.ARMED, Stage.ASKED):
            log.reached(shot_id, stage)
        if last is Stage.SEEN:
            log.seen(shot_id, GATE)
        log.abort(shot_id, "the camera is gone")

    assert log.count_seen("mine") == ()
    first = log.start_session(replace(START, port="/dev/ttyACM0"))
    fire(first, "mine")
    fire(first, "another", "mine")
    fire(first, "mine", side="G")
    fire(first, "mine", "another")
    fire(first, "")
    fire(first, "mine", last=Stage.ASKED)
    log.end_session(first, "finished")
    second = log.start_session(START)
    fire(second, "mine")
    assert log.count_seen("mine") == (
        SeenShots(session_id=first, port="/dev/ttyACM0", side="A", count=2),
        SeenShots(session_id=first, port="/dev/ttyACM0", side="G", count=1),
        SeenShots(session_id=second, port="twin", side="A", count=1),
    )
