"""How worn the spring is: which shots are counted, how far the fading is believed, and that the aim follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fading_spring import FADE, fading
from hypothesis import given
from hypothesis import strategies as st
from logged_shots import AIM, GATE, PLAN, START

from calibration.fit import Calibration
from game.montecassino import Side, Square
from rig.aim.pointing import aim_at, cannon_of
from rig.calibrating.calibration_file import calibration_of, write_calibration
from rig.calibrating.spring import Spring, spring_by_log, spring_now
from rig.log import ShotLog, Stage, open_log
from rig.settings import Settings, read_settings

REAL = "/dev/ttyACM0"


def table(folder: Path, found: Calibration, *, shots_fired: int | None = 24, port: str = REAL) -> Settings:
    """The settings of a table whose cannon was calibrated when its spring had fired so many."""
    write_calibration(folder / "calibration.json", found, [], shots_fired=shots_fired)
    camera = "twin" if port == "twin" else "0"
    (folder / "rig.toml").write_text(
        f'[cannon]\ncalibration = "calibration.json"\n[port]\nurl = "{port}"\n[camera]\nsource = "{camera}"\n'
    )
    return read_settings(folder / "rig.toml")


def fire(log: ShotLog, session_id: int, calibration: str, *, leaves: bool = True) -> None:
    shot_id = log.begin_shot(session_id, PLAN)
    log.aimed(shot_id, replace(AIM, calibration=calibration))
    if leaves:
        for stage in (Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED):
            log.reached(shot_id, stage)
        log.seen(shot_id, GATE)
    else:
        log.abort(shot_id, "the lane is not clear")


def sessions_of(settings: Settings, *sessions: tuple[str, Mapping[str, int]]) -> None:
    """Log sessions, each with so many shots aimed by each calibration, on a port."""
    with open_log(Path(settings.log.path)) as log:
        for port, shots in sessions:
            session_id = log.start_session(replace(START, port=port))
            for calibration, count in shots.items():
                for _ in range(count):
                    fire(log, session_id, calibration)
            log.end_session(session_id, "finished")


def own(settings: Settings) -> str:
    calibrated = calibration_of(settings.cannon)
    assert calibrated is not None
    return calibrated.identity


# What is counted


def test_shots_of_all_sessions_that_this_calibration_aimed_and_that_left_are_counted(tmp_path: Path) -> None:
    settings = table(tmp_path, fading())
    mine = own(settings)
    sessions_of(
        settings, (REAL, {"": 5, "another": 4, mine: 2}), ("/dev/ttyACM1", {mine: 3}), ("twin", {mine: 7})
    )
    with open_log(Path(settings.log.path)) as log:
        session_id = log.start_session(replace(START, port=REAL))
        fire(log, session_id, mine, leaves=False)
        fire(log, session_id, mine)
        spring = spring_now(settings, log, session_id)
        log.end_session(session_id, "finished")
    assert spring is not None
    assert (spring.fired, spring.since) == (24 + 6, 6)
    assert spring.shots_before == 30
    assert spring_by_log(settings) == spring


def test_shots_of_the_other_sides_cannon_are_not_counted_though_it_is_aimed_by_the_same_file(
    tmp_path: Path,
) -> None:
    settings = table(tmp_path, fading())
    sessions_of(settings, (REAL, {own(settings): 3}))
    alone = settings.model_copy(update={"cannon": settings.cannon.model_copy(update={"sides": (Side.G,)})})
    spring, of_others = spring_by_log(settings), spring_by_log(alone)
    assert spring is not None
    assert of_others is not None
    assert (spring.since, of_others.since) == (3, 0)


def test_before_there_is_a_log_it_has_fired_the_shots_of_its_calibration(tmp_path: Path) -> None:
    spring = spring_by_log(table(tmp_path, fading()))
    assert spring is not None
    assert (spring.fired, spring.since) == (24, 0)


def test_on_the_twin_the_spring_is_as_old_as_the_session(tmp_path: Path) -> None:
    settings = table(tmp_path, fading(), port="twin")
    mine = own(settings)
    sessions_of(settings, ("twin", {mine: 9}))
    with open_log(Path(settings.log.path)) as log:
        session_id = log.start_session(START)
        for _ in range(3):
            fire(log, session_id, mine)
        spring = spring_now(settings, log, session_id)
        log.end_session(session_id, "finished")
    assert spring is not None
    assert spring.fired == 3
    fresh = spring_by_log(settings)
    assert fresh is not None
    assert fresh.fired == 0, "the next command begins with a new one"


def test_it_is_counted_without_reading_a_shot_as_it_is_before_every_shot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = table(tmp_path, fading())
    sessions_of(settings, (REAL, {own(settings): 2}))

    def read_shots(*_: object) -> None:
        pytest.fail("a log of thousands of shots takes seconds to read")

    with open_log(Path(settings.log.path)) as log:
        monkeypatch.setattr("rig.log.sql_store.read_shots", read_shots)
        spring = spring_now(settings, log)
    assert spring is not None
    assert spring.since == 2


def test_where_it_is_not_known_how_many_it_fired_the_usual_ones_are_taken_and_that_is_said(
    tmp_path: Path,
) -> None:
    settings = table(tmp_path, fading(), shots_fired=None)
    spring = spring_by_log(settings)
    assert spring is not None
    assert (spring.fired, spring.shots_before) == (None, 12)
    assert spring.in_words() == (
        "how many shots the spring has fired is not known, as the calibration does not tell how many it had fired when that "
        "was made: aimed for 9.57 m/s, as at the calibration"
    )


def test_a_log_that_cannot_be_read_is_said_to_be_why(tmp_path: Path) -> None:
    settings = table(tmp_path, fading())
    Path(settings.log.path).write_text("no log at all, though it is long enough to be looked at")
    spring = spring_by_log(settings)
    assert spring is not None
    assert (spring.fired, spring.shots_before) == (None, 12)
    assert "is not known, as the log cannot be read (" in spring.in_words()


@pytest.mark.parametrize(("fade", "sd"), [(0.0, 0.0), (0.0, 1e-4), (5e-5, 3e-5), (-5e-5, 3e-5)], ids=str)
def test_a_spring_that_may_not_fade_at_all_is_not_reckoned_with(
    tmp_path: Path, fade: float, sd: float
) -> None:
    settings = table(tmp_path, fading(fade, sd))
    Path(settings.log.path).write_text("no log: it is not even looked at")
    assert spring_by_log(settings) is None


# How far it is believed


@given(
    fade=st.floats(1e-6, 5e-3),
    sure=st.floats(0.0, 0.4),
    usual=st.integers(0, 60),
    more=st.lists(st.integers(0, 100_000), min_size=2, max_size=2).map(sorted),
)
def test_an_older_spring_is_never_taken_for_faster_nor_for_better_known_and_never_for_a_tenth_slower(
    fade: float, sure: float, usual: int, more: list[int]
) -> None:
    found = fading(fade, sure * fade, usual=usual)
    younger, older = (Spring(found, usual + each) for each in more)
    assert younger.muzzle_speed_mps >= older.muzzle_speed_mps
    assert younger.unsure_share <= older.unsure_share + 1e-9
    assert younger.is_unsure <= older.is_unsure
    assert older.muzzle_speed_mps >= 0.9 * found.muzzle_speed_mps() * (1 - 1e-9)
    assert older.is_past_telling == (older.shots_before < usual + more[1])
    if not older.is_past_telling:
        assert older.muzzle_speed_mps == found.muzzle_speed_mps(shots_before=usual + more[1])


def test_what_is_not_known_of_the_fading_counts_more_the_older_the_spring_is() -> None:
    """One standard error of the fade, 5e-5, over 200 shots: a per cent of the speed."""
    known = fading(FADE, 5e-5)
    assert Spring(known, 12).unsure_share == 0
    assert Spring(known, 12 + 100).unsure_share == pytest.approx(0.005, rel=0.1)
    assert Spring(known, 12 + 200).unsure_share == pytest.approx(0.010, rel=0.1)


@pytest.mark.parametrize(
    ("spring", "words"),
    [
        (
            Spring(fading(), 224, 200),
            "the spring has fired 224 shots, 200 since the calibration: aimed for 8.95 m/s, 8.90 to 9.01 m/s with 95 %",
        ),
        (
            Spring(fading(FADE, 1e-4), 224, 200),
            "the spring has fired 224 shots, 200 since the calibration: aimed for 8.95 m/s, 8.53 to 9.38 m/s with 95 %, "
            "which is too little known: calibrate anew",
        ),
        (
            Spring(fading(), 5024, 5000),
            "the spring has fired 5024 shots, 5000 since the calibration, which is more than that can tell: aimed for "
            "8.61 m/s, 10 % off what it was then; calibrate anew",
        ),
    ],
)
def test_it_is_told_in_a_line(spring: Spring, words: str) -> None:
    assert spring.in_words() == words


# The aim


def test_a_worn_spring_is_aimed_higher_by_as_much_as_it_is_slower(tmp_path: Path) -> None:
    found = fading()
    settings = table(tmp_path, found)
    target = Square.parse("G-05")
    fresh, worn = (
        aim_at(target, Side.A, settings.cannon, settings.board, shots_before=shots) for shots in (12, 212)
    )
    assert fresh == aim_at(target, Side.A, settings.cannon, settings.board)
    assert worn.aim.elevation_rad > fresh.aim.elevation_rad
    cannon = cannon_of(Side.A, settings.cannon, settings.board, shots_before=212)
    assert cannon.muzzle_speed_mps == pytest.approx(found.muzzle_speed_mps(shots_before=212))
