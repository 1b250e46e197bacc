"""The process that logs is killed at any moment: the log opens, and says how far the shot came."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
from logged_shots import AIM, ANALYSIS, FINAL, GATE, PLAN, START

from rig.log import Fired, Shot, Stage, open_log, tell

_STEPS = (
    Stage.PLANNED,
    Stage.AIMED,
    Stage.COCKED,
    Stage.LOADED,
    Stage.ARMED,
    Stage.ASKED,
    Stage.FIRED,
    Stage.SEEN,
    Stage.RECORDED,
    Stage.ANALYSED,
    Stage.DECIDED,
)
_ROUNDS = 20


def _log_shots_until_killed(path: Path, reports: Connection) -> None:
    """Log one shot after another; report each step when it begins and when the log has taken it."""
    log = open_log(path)
    session_id = log.start_session(START)
    while True:
        reports.send(("begins", Stage.PLANNED))
        shot_id = log.begin_shot(session_id, PLAN)
        steps = {
            Stage.AIMED: lambda shot_id=shot_id: log.aimed(shot_id, AIM),
            Stage.SEEN: lambda shot_id=shot_id: log.seen(shot_id, GATE),
            Stage.RECORDED: lambda shot_id=shot_id: log.recorded(shot_id, "recordings/1"),
            Stage.ANALYSED: lambda shot_id=shot_id: log.analysed(shot_id, ANALYSIS),
            Stage.DECIDED: lambda shot_id=shot_id: log.analysed(shot_id, ANALYSIS, verdict=FINAL),
        }
        reports.send(("done", Stage.PLANNED))
        for stage in _STEPS[1:]:
            reports.send(("begins", stage))
            if stage in steps:
                steps[stage]()
            else:
                log.reached(shot_id, stage)
            reports.send(("done", stage))


@pytest.fixture(scope="module")
def server() -> ForkServerContext:
    # Imports are done once, in the server; each round then starts at once.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "rig.log", "rig.verdict.judging"])
    return context


def _reports(connection: Connection) -> Iterator[tuple[str, Stage]]:
    while True:
        try:
            yield connection.recv()
        except EOFError:
            return


def _kill_after(
    server: ForkServerContext, path: Path, reports_seen: int, delay_s: float
) -> tuple[Stage, Stage]:
    """Kill a logging process; give the last step that it knew to be kept, and the last that it had begun."""
    ours, theirs = server.Pipe(duplex=False)
    child = server.Process(target=_log_shots_until_killed, args=(path, theirs))
    child.start()
    theirs.close()
    seen: list[tuple[str, Stage]] = []
    for report in _reports(ours):
        seen.append(report)
        if len(seen) == reports_seen:
            time.sleep(delay_s)
            child.kill()
    child.join()
    begun = [stage for what, stage in seen if what == "begins"]
    done = [stage for what, stage in seen if what == "done"]
    return done[-1], begun[-1]


def _how_far(shot: Shot) -> Stage:
    return [entry.stage for entry in shot.history if entry.stage is not Stage.INTERRUPTED][-1]


def _check_truth(shot: Shot, kept: Stage, begun: Stage) -> None:
    far = _how_far(shot)
    assert far in {kept, begun}
    if far is Stage.DECIDED:
        assert shot.stage is Stage.DECIDED
        return
    assert shot.stage is Stage.INTERRUPTED
    assert shot.history[-1].cause == "its process ended without a word"
    # Fire goes out after `asked` is kept, and its answer comes before `fired` begins.
    if _STEPS.index(begun) <= _STEPS.index(Stage.ARMED):
        assert shot.fired is Fired.NO
    if _STEPS.index(kept) >= _STEPS.index(Stage.ASKED):
        assert shot.fired is not Fired.NO
    if far is Stage.ASKED:
        assert shot.fired is Fired.UNCERTAIN
        assert "may have been fired" in tell(shot)
    # A row that belongs to a stage is there exactly when the stage is.
    stages = {entry.stage for entry in shot.history}
    assert (shot.aim is not None) == (Stage.AIMED in stages)
    assert (shot.muzzle_gate is not None) == (Stage.SEEN in stages)
    assert (shot.recording_path is not None) == (Stage.RECORDED in stages)
    assert bool(shot.analyses) == (Stage.ANALYSED in stages)


def test_a_killed_process_leaves_a_log_that_tells_the_truth(
    server: ForkServerContext, tmp_path: Path
) -> None:
    """One file, killed over and over: every round adds to what the rounds before have left."""
    path = tmp_path / "rig-log.sqlite"
    draw = random.Random(20)
    told: dict[int, str] = {}
    for round_number in range(_ROUNDS):
        # Each step is two reports; a random wait after one falls before, into or after the next commit.
        reports_seen = 2 + 2 * len(_STEPS) * (round_number % 4 == 0) + draw.randrange(2 * len(_STEPS))
        kept, begun = _kill_after(server, path, reports_seen, draw.uniform(0.0, 0.004))
        with open_log(path) as log:
            last = log.shots()[-1]
            if begun is Stage.PLANNED and _how_far(last) is not Stage.PLANNED:
                # Killed before the next shot's row was there: the shot before it is whole.
                assert _how_far(last) is Stage.DECIDED
            elif kept is Stage.DECIDED and begun is Stage.PLANNED:
                _check_truth(last, Stage.PLANNED, Stage.PLANNED)
            else:
                _check_truth(last, kept, begun)
            assert log.interrupted == ((last,) if last.stage is Stage.INTERRUPTED else ())
            assert all(shot.finished for shot in log.shots())
            # What was once told about a shot is never told otherwise.
            for shot in log.shots():
                assert told.setdefault(shot.shot_id, tell(shot)) == tell(shot)
            assert log.sessions()[-1].ended_utc_us is None
    assert len(told) >= _ROUNDS


def test_the_next_opening_finds_nothing_new(server: ForkServerContext, tmp_path: Path) -> None:
    path = tmp_path / "rig-log.sqlite"
    _kill_after(server, path, 12, 0.0)
    with open_log(path) as log:
        assert len(log.interrupted) == 1
    with open_log(path) as log:
        assert log.interrupted == ()


def test_a_living_process_is_not_taken_for_a_dead_one(server: ForkServerContext, tmp_path: Path) -> None:
    path = tmp_path / "rig-log.sqlite"
    with open_log(path) as firing:
        shot_id = firing.begin_shot(firing.start_session(START), PLAN)
        with open_log(path) as reading:
            assert reading.interrupted == ()
            assert reading.shot(shot_id).stage is Stage.PLANNED
        assert firing.shot(shot_id).stage is Stage.PLANNED
