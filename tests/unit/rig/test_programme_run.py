"""What is due in a programme follows from the log alone: each shot once, from a position that somebody knows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from logged_shots import PLAN, START, read_and_judge, until

from game.montecassino import Option, Side, Square, parse_squares
from rig.cannon import CannonError
from rig.cli import main
from rig.files.checked_file import Fault
from rig.link.transcript import TranscriptError
from rig.log import Analysis, Fall, Fired, ShotLog, Stage, open_log, open_log_in_memory
from rig.match import DoubtPending, Match, Order, PositionDiffers, ShotDone, ShotNotAllowed
from rig.plan import PlanError, Programme, Target, read_plan
from rig.programme_run import NotJudged, ProgrammeRun, ProgrammeStopped, check_reach, settings_for
from rig.sequence import Event, NotInSequence, State
from rig.settings import Settings
from rig.uniforms_file import UniformsFileError
from rig.verdict.judging import decide

POSITION = "A A01-A08,A60 G25-G48 0/0 20/20 -"
TWO_SIDES = (
    Target(squares="G33"),
    Target(squares="A60", side=Side.G, options=(Option.I, Option.II)),
)
ZONES = {Side.A: parse_squares("G25-G72"), Side.G: parse_squares("A25-A72")}


def programme(**changes: Any) -> Programme:
    given: dict[str, Any] = {
        "name": "evening",
        "targets": (Target(squares="G33,G41"), Target(squares="A60", side=Side.G)),
        "options": (Option.III,),
        "position": POSITION,
    }
    return Programme(**given | changes)


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory() as opened:
        opened.start_session(START)
        yield opened


def run_of(log: ShotLog, **changes: Any) -> ProgrammeRun:
    return ProgrammeRun(programme(**changes), Settings(), ZONES, log)


def fall(square: str, *causes: str) -> Fall:
    return Fall(side=square[0], square=square, causes=causes, confidence=0.9, t_us=None, evidence="seen")


def shoot(
    log: ShotLog, run: ProgrammeRun, *falls: Fall, last: Stage = Stage.JUDGED, plan: str | None = None
) -> int:
    """Log the next due shot up to a stage, judged as the rig does."""
    due = run.due()[0]
    planned = replace(
        PLAN,
        plan=plan or run.programme.identity_at(Settings()),
        plan_index=due.index,
        side=due.side,
        target=str(due.target),
        option=due.option,
        position=str(run.position_before(due)),
        zone="G25-G72" if due.side is Side.A else "A25-A72",
    )
    if last is not Stage.JUDGED:
        return until(log, 1, last, plan=planned)
    shot_id = until(log, 1, Stage.RECORDED, plan=planned)
    read_and_judge(log, shot_id, Analysis(software_version="1", raw={}, falls=falls))
    return shot_id


def due(run: ProgrammeRun) -> list[int]:
    return [shot.index for shot in run.due()]


def test_only_shots_that_surely_stayed_in_the_cannon_are_fired_again(log: ShotLog) -> None:
    run = run_of(log)
    assert due(run) == [0, 1, 2]
    given_up = shoot(log, run, last=Stage.ARMED)
    log.abort(given_up, "the emergency stop was pressed")
    assert due(run) == [0, 1, 2]
    refused = shoot(log, run, last=Stage.ASKED)
    log.abort(refused, "the cannon refused", fired=Fired.NO)
    assert due(run) == [0, 1, 2]
    unknown = shoot(log, run, last=Stage.ASKED)
    log.abort(unknown, "the line was lost")
    assert due(run) == [1, 2]
    shoot(log, run)
    assert due(run) == [2]


def test_shots_of_another_programme_do_not_count(log: ShotLog) -> None:
    run = run_of(log)
    shoot(log, run, plan="another-evening")
    assert due(run) == [0, 1, 2]


def test_where_all_stand_again_every_shot_begins_with_the_position(log: ShotLog) -> None:
    run = run_of(log)
    shoot(log, run, fall("G-33", "direct", "ricochet"))
    shoot(log, run, fall("G-41", "direct"))
    assert str(run.position_before(run.due()[0])) == POSITION.replace("A ", "G ", 1)


def test_where_casualties_stay_away_a_shot_begins_as_the_last_one_ended(log: ShotLog) -> None:
    run = run_of(log, soldiers="survivors")
    shoot(log, run, fall("G-33", "direct"))
    shoot(log, run)
    last = run.due()[0]
    assert last.side is Side.G
    assert str(run.position_before(last)) == "G A01-A08,A60 G25-G32,G34-G48 0/0 18/20 -"


def test_where_casualties_stay_away_a_doubt_is_waited_for(log: ShotLog) -> None:
    run = run_of(log, soldiers="survivors")
    shot_id = shoot(log, run, fall("G-33", "direct", "ricochet"))
    with pytest.raises(DoubtPending, match=f"rig decide {shot_id}"):
        run.position_before(run.due()[0])
    decide(log, shot_id, "G-33", leaves=True)
    assert Square.parse("G-33") not in run.position_before(run.due()[0]).soldiers


def test_where_casualties_stay_away_nothing_follows_on_a_shot_that_nobody_judged(log: ShotLog) -> None:
    run = run_of(log, soldiers="survivors")
    shoot(log, run, last=Stage.RECORDED)
    with pytest.raises(NotJudged, match="never judged"):
        run.position_before(run.due()[0])


def test_where_casualties_stay_away_a_shot_that_nobody_judged_names_its_recording(log: ShotLog) -> None:
    run = run_of(log, soldiers="survivors")
    shot_id = shoot(log, run, last=Stage.RECORDED)
    with pytest.raises(NotJudged, match=f"read its recording, rig judge {shot_id}, or begin a programme"):
        run.position_before(run.due()[0])


class NotingMatch:
    def __init__(self) -> None:
        self.orders: list[Order] = []

    def shoot(self, order: Order, tell: object) -> ShotDone:
        self.orders.append(order)
        return cast(ShotDone, None)


def test_each_shot_is_ordered_as_the_programme_says(log: ShotLog) -> None:
    """C4, C7: the zone is that of whoever fires, the option the target's own; the log knows the shot again by its place."""
    run, match = run_of(log, targets=TWO_SIDES), NotingMatch()
    for shot in run.due():
        run.fire(shot, cast(Match, match))
    assert [
        (order.side, str(order.target), order.zone, order.option, order.plan, order.plan_index)
        for order in match.orders
    ] == [
        (Side.A, "G-33", ZONES[Side.A], Option.III, run.programme.identity_at(Settings()), 0),
        (Side.G, "A-60", ZONES[Side.G], Option.I, run.programme.identity_at(Settings()), 1),
        (Side.G, "A-60", ZONES[Side.G], Option.II, run.programme.identity_at(Settings()), 2),
    ]


class FailingMatch:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def shoot(self, order: object, tell: object) -> ShotDone:
        raise self._error


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (CannonError("the cannon made itself safe: the key was turned off"), 1, "the key was turned off"),
        (TranscriptError("a.transcript: it cannot be written (No space left on device)"), 1, "No space left"),
        (UniformsFileError("uniforms.json", [Fault("A", "red", "a colour")]), 1, "found red"),
        (NotInSequence(State.UNKNOWN, Event.HOME_ASKED), 1, "nothing was done"),
        (PositionDiffers(("G-33 is empty",)), 1, "does not stand as the position says: G-33 is empty"),
        (OSError(28, "No space left on device", "recordings"), 1, "No space left on device: 'recordings'"),
        (KeyboardInterrupt(), 130, "asked to end"),
    ],
)
def test_a_stop_is_one_sentence_and_says_how_to_go_on(
    log: ShotLog, error: BaseException, status: int, says: str
) -> None:
    run = run_of(log)
    with pytest.raises(ProgrammeStopped) as stopped:
        run.fire(run.due()[1], cast(Match, FailingMatch(error)))
    assert str(stopped.value).startswith("stopped at shot 2 of 3 (A at G-41): ")
    assert says in str(stopped.value)
    assert str(stopped.value).endswith("the same command goes on from where it stopped")
    assert stopped.value.exit_status == status


def test_a_doubt_that_the_next_shot_waits_for_stops_it_with_the_command_that_decides(log: ShotLog) -> None:
    run = run_of(log, soldiers="survivors")
    shot_id = shoot(log, run, fall("G-33", "direct", "ricochet"))
    with pytest.raises(
        ProgrammeStopped, match=f"shot 2 of 3 .* rig decide {shot_id} SQUARE .*; the same command goes on"
    ):
        run.fire(run.due()[0], cast(Match, NotingMatch()))


def test_a_shot_that_the_rules_do_not_allow_ends_the_programme_and_promises_no_going_on(
    log: ShotLog,
) -> None:
    run = run_of(log)
    with pytest.raises(ProgrammeStopped) as stopped:
        run.fire(run.due()[1], cast(Match, FailingMatch(ShotNotAllowed("side A has no shot left"))))
    assert str(stopped.value) == (
        "stopped at shot 2 of 3 (A at G-41): side A has no shot left; the programme cannot go on from there"
    )


def test_a_mistake_of_ours_is_not_dressed_up_as_a_stop(log: ShotLog) -> None:
    run = run_of(log)
    with pytest.raises(ZeroDivisionError):
        run.fire(run.due()[0], cast(Match, FailingMatch(ZeroDivisionError())))


class NotingHands:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def carry_to(self, side: Side) -> None:
        raise AssertionError("the match does that")

    def load(self) -> None:
        raise AssertionError("the match does that")

    def set_up(self, casualties: Collection[Square], put_back: Collection[Square]) -> None:
        self.asked.append((" ".join(map(str, casualties)), " ".join(map(str, put_back))))


def shot_done(*, undecided: tuple[Square, ...] = ()) -> ShotDone:
    """G-33 leaves, G-34 fell elsewhere, G-35 was pushed."""
    gone, fell, pushed = parse_squares("G33-G35")

    def soldier(square: Square) -> SimpleNamespace:
        return SimpleNamespace(square=square)

    return cast(
        ShotDone,
        SimpleNamespace(
            verdict=SimpleNamespace(casualties=(gone,), put_back=(fell, pushed), undecided=undecided),
            analysis=SimpleNamespace(
                reading=SimpleNamespace(
                    falls=[
                        SimpleNamespace(toppling=SimpleNamespace(soldier=soldier(s))) for s in (gone, fell)
                    ],
                    pushes=[SimpleNamespace(soldier=soldier(pushed))],
                )
            ),
        ),
    )


@pytest.mark.parametrize(
    ("soldiers", "undecided", "asked"),
    [
        ("all", (), [("", "G-33 G-34 G-35")]),
        ("survivors", (), [("G-33", "G-34 G-35")]),
        ("survivors", parse_squares("G36"), []),
    ],
)
def test_the_table_is_put_in_order_as_the_programme_says(
    log: ShotLog, soldiers: str, undecided: tuple[Square, ...], asked: list[tuple[str, str]]
) -> None:
    run, hands, waits = run_of(log, soldiers=soldiers), NotingHands(), list[int]()
    run.set_up(run.due()[0], shot_done(undecided=undecided), hands, waits.append)
    assert hands.asked == asked
    assert waits == []


def test_pauses_for_putting_back_are_waited_or_left_out(log: ShotLog) -> None:
    hands, waits = NotingHands(), list[int]()
    run = run_of(log, pauses={"putting_back": "wait", "putting_back_s": 6.0})
    run.set_up(run.due()[0], shot_done(), hands, waits.append)
    assert (len(hands.asked), waits) == (1, [6_000_000])
    run = run_of(log, soldiers="survivors", pauses={"putting_back": "none"})
    run.set_up(run.due()[0], shot_done(), hands, waits.append)
    assert (len(hands.asked), waits) == (1, [6_000_000])


def test_a_cannon_that_fails_while_the_table_is_put_in_order_stops_it_as_in_a_shot(log: ShotLog) -> None:
    def fails(time_us: int) -> None:
        raise CannonError("the cannon made itself safe: the key was turned off")

    run = run_of(log, pauses={"putting_back": "wait", "putting_back_s": 6.0})
    with pytest.raises(
        ProgrammeStopped, match=r"^stopped at shot 1 of 3 .* the key was turned off; the same"
    ):
        run.set_up(run.due()[0], shot_done(), NotingHands(), fails)


def test_the_tally_counts_each_option_by_itself_by_what_was_read_and_said_last(log: ShotLog) -> None:
    run = run_of(log, targets=TWO_SIDES)
    read_again = shoot(log, run, fall("G-34", "direct", "ricochet"))
    decide(log, read_again, "G-34", leaves=False)
    log.analysed(read_again, Analysis(software_version="2", raw={}, falls=(fall("G-33", "ricochet"),)))
    shoot(log, run, fall("A-60", "ricochet"))
    shoot(log, run)
    assert [(each.target, each.option, each.shots, each.hits, each.doubts) for each in run.tallies()] == [
        (Square.parse("G-33"), Option.III, 1, 1, 0),
        (Square.parse("A-60"), Option.I, 1, 1, 0),
        (Square.parse("A-60"), Option.II, 1, 0, 0),
    ]


def test_the_tally_counts_shots_hits_and_casualties_of_either_side(log: ShotLog) -> None:
    run = run_of(log, repeats=2, targets=(Target(squares="G33"), Target(squares="A60", side=Side.G)))
    shoot(log, run, fall("G-33", "direct"), fall("A-60", "ricochet"))
    shoot(log, run, fall("G-34", "direct", "ricochet"))
    shoot(log, run, fall("A-60", "direct"))
    shoot(log, run, last=Stage.SEEN)
    at_g33, at_a60 = run.tallies()
    assert (at_g33.shots, at_g33.hits, at_g33.doubts, at_g33.not_judged) == (2, 1, 1, 0)
    assert at_g33.casualties == {Side.A: 0, Side.G: 1}
    assert (at_a60.shots, at_a60.hits, at_a60.doubts, at_a60.not_judged) == (2, 1, 0, 1)
    assert at_a60.casualties == {Side.A: 1, Side.G: 0}


@pytest.mark.parametrize(
    ("repeats", "told"),
    [
        (1, ("1 of 1 shot was fired before", "The shot of evening is fired.")),
        (2, ("2 of 2 shots were fired before", "All 2 shots of evening are fired.")),
    ],
)
def test_one_shot_is_no_shots(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    repeats: int,
    told: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    position = f'position = "{POSITION}"'
    Path("p.toml").write_text(
        f'name = "evening"\nrepeats = {repeats}\n{position}\n[[targets]]\nsquares = "G33"\n'
    )
    with open_log(Path("rig-log.sqlite")) as log:
        session_id = log.start_session(START)
        planned = replace(
            PLAN,
            plan=read_plan(Path("p.toml")).identity_at(Settings()),
            target="G-33",
            option="i",
            position=POSITION,
        )
        for index in range(repeats):
            until(log, session_id, Stage.JUDGED, plan=replace(planned, plan_index=index))
        log.end_session(session_id, "done")
    assert main(["run", "p.toml"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.endswith(("before", "fired."))] == list(told)


def test_every_target_out_of_reach_is_named_before_anything_moves() -> None:
    check_reach(programme(), Settings(), "PLAN.toml")
    with pytest.raises(PlanError) as refused:
        check_reach(programme(targets=(Target(squares="A01,A04,G33"),)), Settings(), "PLAN.toml")
    assert [str(fault).split()[2].rstrip(",") for fault in refused.value.faults] == ["A-01", "A-04"]


def test_a_target_is_out_of_reach_of_the_side_that_fires_at_it() -> None:
    """A-01 lies before the Allies' own muzzle; the Germans reach it."""
    by_g = programme(targets=(Target(squares="A01", side=Side.G),))
    check_reach(by_g, Settings(), "PLAN.toml")
    with pytest.raises(PlanError, match="G-01 for G"):
        check_reach(programme(targets=(Target(squares="G01", side=Side.G),)), Settings(), "PLAN.toml")


def test_loading_follows_the_programme() -> None:
    settings = Settings()
    by_loader = programme(pauses={"loading": "loader"})
    assert settings_for(by_loader, settings).cannon.loader
    quick = settings_for(programme(pauses={"loading": "wait", "loading_s": 4.0}), settings)
    assert (quick.cannon.loader, quick.cannon.load_s) == (False, 4.0)
    assert settings_for(programme(), settings).cannon == settings.cannon
