"""What counts as a hit, whom a shot took, and what each option would have given."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace as changed

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logged_shots import AIM, CERTAIN, PLAN, START, read_and_judge, until
from scipy.stats import beta, binomtest

import game.montecassino
from game.montecassino import Option, Square, Verdict
from rig.log import Analysis, Fall, Session, ShotLog, Stage, open_log_in_memory
from rig.stats.hit_plot import draw_hits
from rig.stats.hit_report import as_csv, as_json, tallies
from rig.stats.hit_statistics import Losses, Outcome, Tally, statistics_of, tally, tally_by, wilson
from rig.stats.hit_view import By
from rig.verdict.docket import open_cases, rule
from rig.verdict.judging import ReadShot, decide

_SETTINGS = {"board": {"square_mm": 45.0}, "cannon": {"strip_offset_mm": 45.0}}
_BEFORE = changed(
    PLAN,
    target="G-49",
    position="A A01-A23,A60 G41-G64 0/0 20/20 -",
    plan=None,
    plan_index=None,
    zone="G25-G72",
)


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory() as opened:
        yield opened


def _fall(square: str, *causes: str) -> Fall:
    return changed(CERTAIN, side=square[0], square=square, causes=causes)


def _shoot(
    log: ShotLog,
    session_id: int,
    falls: Sequence[Fall] = (),
    *,
    option: str = "iii",
    target: str = "G-49",
    position: str | None = _BEFORE.position,
    judged: bool = True,
) -> int:
    plan = changed(_BEFORE, option=option, target=target, position=position)
    shot_id = until(log, session_id, Stage.RECORDED, plan=plan)
    read = Analysis(software_version="0.1.0", raw={}, falls=tuple(falls))
    if judged:
        read_and_judge(log, shot_id, read)
    else:
        log.analysed(shot_id, read)
    return shot_id


def _all(log: ShotLog) -> Tally:
    return tally("all", statistics_of(log).facts)


@pytest.mark.parametrize(
    ("causes", "outcome"),
    [
        (("direct",), Outcome.HIT),
        (("ricochet",), Outcome.HIT),
        (("direct", "ricochet"), Outcome.HIT),
        (("dragged",), Outcome.MISS),
        (("other",), Outcome.MISS),
        (("direct", "dragged"), Outcome.DOUBT),
        (("other", "ricochet"), Outcome.DOUBT),
    ],
)
def test_a_hit_is_the_soldier_aimed_at_felled_by_the_shot(
    log: ShotLog, causes: tuple[str, ...], outcome: Outcome
) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", *causes)])
    assert _all(log).at_target[outcome] == 1


def test_another_enemy_that_falls_is_no_hit_but_any_enemy(log: ShotLog) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-50", "dragged")])
    _shoot(log, session_id, [_fall("A-60", "direct")])
    _shoot(log, session_id, [_fall("G-51", "other")])
    _shoot(log, session_id, [_fall("G-51", "other", "dragged")])
    found = _all(log)
    assert found.at_target[Outcome.MISS] == 4
    assert (found.any_enemy[Outcome.HIT], found.any_enemy[Outcome.MISS], found.any_enemy[Outcome.DOUBT]) == (
        1,
        2,
        1,
    )


def test_where_nobody_stood_or_nothing_was_read_there_is_no_miss(log: ShotLog) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, target="G-72")
    until(log, session_id, Stage.RECORDED, plan=_BEFORE)
    found = _all(log)
    assert (found.at_target[Outcome.NOBODY], found.at_target[Outcome.UNREAD]) == (1, 1)
    assert found.rate is None
    assert found.unjudged == 1
    assert found.not_judged_again == 1


def test_only_shots_that_left_are_counted(log: ShotLog) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", "direct")])
    until(log, session_id, Stage.LOADED, plan=_BEFORE)
    log.abort(until(log, session_id, Stage.ASKED, plan=_BEFORE), "the line went dead")
    statistics = statistics_of(log)
    assert (len(statistics.facts), statistics.uncertain, statistics.not_fired) == (1, 1, 1)


def test_a_rig_may_begin_a_session_and_fire_while_the_log_is_counted(
    log: ShotLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = log.sessions

    def read_just_before_a_shot() -> tuple[Session, ...]:
        sessions = read()
        until(log, log.start_session(START), Stage.FIRED)
        return sessions

    monkeypatch.setattr(log, "sessions", read_just_before_a_shot)
    assert statistics_of(log).facts == ()


def test_each_option_judges_the_same_falls(log: ShotLog) -> None:
    """C7: direct, ricochet and dragged under i; not dragged under ii; direct alone under iii; C6: of either side."""
    session_id = log.start_session(START)
    _shoot(
        log,
        session_id,
        [
            _fall("G-49", "direct"),
            _fall("G-50", "ricochet"),
            _fall("G-51", "dragged"),
            _fall("G-52", "other"),
        ],
        option="ii",
    )
    found = _all(log)
    assert found.losses == Losses(enemy=2)
    assert {option: losses.enemy for option, losses in found.under.items()} == {
        Option.I: 3,
        Option.II: 2,
        Option.III: 1,
    }


def test_a_shot_of_which_no_commander_said_anything_is_judged_once_under_each_option(
    log: ShotLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rig stats` waits for little else where there are thousands of shots."""
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", "direct")])
    _shoot(log, session_id, [_fall("G-50", "direct", "other")])
    judged: list[Option] = []

    def judge(read: ReadShot, option: Option, decisions: Mapping[str, bool]) -> Verdict:
        judged.append(option)
        return judge_really(read, option, decisions)

    def parse_squares(text: str) -> tuple[Square, ...]:
        zones.append(text)
        return parse_really(text)

    zones: list[str] = []
    judge_really, parse_really = ReadShot.judge, game.montecassino.parse_squares
    monkeypatch.setattr(ReadShot, "judge", judge)
    monkeypatch.setattr(game.montecassino, "parse_squares", parse_squares)
    found = _all(log)
    assert judged == [*Option, *Option]
    assert zones == [_BEFORE.zone] * 2, "what the options share is read once"
    assert found.under[Option.III] == Losses(enemy=1, doubts=1)


def test_own_soldiers_count_where_the_zone_holds_them(log: ShotLog) -> None:
    session_id = log.start_session(START)
    plan = changed(_BEFORE, zone="A25-A72,G25-G72", option="i")
    shot_id = until(log, session_id, Stage.RECORDED, plan=plan)
    falls = (_fall("A-60", "direct"), _fall("G-49", "ricochet"))
    read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=falls))
    found = _all(log)
    assert found.losses == Losses(enemy=1, own=1)
    assert found.under[Option.III] == Losses(enemy=0, own=1)


def test_doubts_stand_apart_until_decided(log: ShotLog) -> None:
    session_id = log.start_session(START)
    shot_id = _shoot(log, session_id, [_fall("G-49", "direct", "ricochet")])
    before = _all(log)
    assert before.losses == Losses(doubts=1)
    assert before.under == {
        Option.I: Losses(enemy=1),
        Option.II: Losses(enemy=1),
        Option.III: Losses(doubts=1),
    }
    decide(log, shot_id, "G-49", leaves=True)
    after = _all(log)
    assert after.losses == Losses(enemy=1)
    assert set(after.under.values()) == {Losses(enemy=1)}


@pytest.mark.parametrize(
    ("causes", "option", "ruled", "under"),
    [
        (("direct", "dragged"), "iii", "direct", [Losses(1), Losses(1), Losses(1)]),
        (("direct", "dragged"), "iii", "dragged", [Losses(1), Losses(0), Losses(0)]),
        (("direct", "ricochet", "other"), "i", "ricochet", [Losses(1), Losses(1), Losses(0)]),
        (("direct", "dragged", "other"), "ii", "other", [Losses(0), Losses(0), Losses(0)]),
    ],
)
def test_a_ruled_cause_counts_under_each_option(
    log: ShotLog, causes: tuple[str, ...], option: str, ruled: str, under: list[Losses]
) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", *causes)], option=option)
    (waits,) = open_cases(log)
    rule(log, waits.doubt.number, ruled, side="G", name="Ada")
    assert [_all(log).under[each] for each in Option] == under


@pytest.mark.parametrize(
    ("leaves", "under"),
    [
        (True, [Losses(1), Losses(doubts=1), Losses(doubts=1)]),
        (False, [Losses(0), Losses(0), Losses(0)]),
    ],
)
def test_a_bare_decision_leaves_open_what_it_does_not_tell(
    log: ShotLog, leaves: bool, under: list[Losses]
) -> None:
    """That it leaves under option i says that it was no other cause; which of the three it was nobody said."""
    session_id = log.start_session(START)
    shot_id = _shoot(log, session_id, [_fall("G-49", "direct", "dragged", "other")], option="i")
    decide(log, shot_id, "G-49", leaves=leaves)
    assert [_all(log).under[each] for each in Option] == under


def test_rulings_that_another_option_forbids_leave_its_doubts_open(log: ShotLog) -> None:
    """C8: of several doubts under option iii exactly one leaves; under ii each was ruled for itself."""
    session_id = log.start_session(START)
    falls = [_fall("G-49", "ricochet", "direct", "dragged"), _fall("G-50", "direct", "dragged")]
    shot_id = _shoot(log, session_id, falls, option="ii")
    for square in ("G-49", "G-50"):
        decide(log, shot_id, square, leaves=False)
    assert [_all(log).under[each] for each in Option] == [Losses(2), Losses(0), Losses(doubts=2)]


def test_a_later_reading_without_the_ruled_doubt_is_judged_as_it_reads(log: ShotLog) -> None:
    session_id = log.start_session(START)
    shot_id = _shoot(log, session_id, [_fall("G-49", "direct", "dragged")])
    decide(log, shot_id, "G-49", leaves=False)
    log.analysed(shot_id, Analysis(software_version="0.2.0", raw={}, falls=(_fall("G-49", "direct"),)))
    assert set(_all(log).under.values()) == {Losses(enemy=1)}


def test_a_shot_without_a_position_is_counted_and_not_judged_again(log: ShotLog) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", "direct")], position=None, judged=False)
    found = _all(log)
    assert found.at_target[Outcome.HIT] == 1
    assert found.not_judged_again == 1


def test_the_latest_reading_counts(log: ShotLog) -> None:
    session_id = log.start_session(START)
    shot_id = _shoot(log, session_id, [_fall("G-49", "direct")])
    log.analysed(shot_id, Analysis(software_version="0.2.0", raw={}, falls=()))
    found = _all(log)
    assert found.at_target[Outcome.MISS] == 1
    assert found.losses == Losses(enemy=1), "the verdict that stands is on the reading before"


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (By.TARGET, ["G-49", "G-50"]),
        (By.OPTION, ["i", "iii"]),
        (By.SESSION, ["1", "2"]),
        (By.SHOT, ["1 to 10", "11 to 20"]),
        (By.DWELL, ["0 to 1 s"]),
        # Aimed at (22.5, 427.5) from traverse 150 on a strip 45 mm behind A's first line: hypot(127.5, 472.5) mm.
        (By.DISTANCE, ["400 to 500 mm", "not known"]),
    ],
)
def test_shots_are_told_apart(log: ShotLog, by: By, names: list[str]) -> None:
    assert AIM.target_mm[:2] == (22.5, 427.5)
    first = log.start_session(changed(START, settings=_SETTINGS))
    for _ in range(11):
        _shoot(log, first, [_fall("G-49", "direct")])
    log.end_session(first, "done")
    second = log.start_session(changed(START, settings={}))
    _shoot(log, second, option="i", target="G-50")
    found = tally_by(by, statistics_of(log).facts)
    assert [each.name for each in found] == names
    assert sum(each.shots for each in found) == 12


@given(st.integers(1, 400).flatmap(lambda shots: st.tuples(st.integers(0, shots), st.just(shots))))
def test_wilsons_interval_is_the_librarys(counts: tuple[int, int]) -> None:
    hits, shots = counts
    found = wilson(hits, shots)
    assert found is not None
    expected = binomtest(hits, shots).proportion_ci(method="wilson")
    assert (found.lowest, found.highest) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert 0 <= found.lowest <= found.value <= found.highest <= 1


def test_no_hit_in_ten_is_no_certainty() -> None:
    found = wilson(0, 10)
    assert found is not None
    assert found.lowest == 0
    # Jeffreys's interval, the other one recommended, ends at 0.217; Wilson's lies a little wider.
    assert beta.ppf(0.975, 0.5, 10.5) < found.highest < 0.3
    assert wilson(0, 0) is None


def test_json_and_csv_say_the_same(log: ShotLog) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", "direct")])
    _shoot(log, session_id, target="G-72")
    statistics = statistics_of(log)
    said = as_json(statistics, [By.TARGET])
    rows = list(csv.DictReader(io.StringIO(as_csv(statistics, [By.TARGET]))))
    assert [(row["by"], row["name"]) for row in rows] == [
        ("all", "all"),
        ("target", "G-49"),
        ("target", "G-72"),
    ]
    everything = said["all"]
    assert isinstance(everything, dict)
    for key in ("shots", "hit", "miss", "nobody", "enemy_lost"):
        assert rows[0][key] == str(everything[key])
    assert float(rows[0]["hit_rate_lowest"]) == everything["hit_rate_ci"][0]
    assert rows[2]["hit_rate"] == ""
    assert rows[1]["enemy_lost_under_iii"] == "1"


def test_the_picture_has_a_row_for_each_view(log: ShotLog) -> None:
    session_id = log.start_session(START)
    _shoot(log, session_id, [_fall("G-49", "direct", "ricochet")])
    _shoot(log, session_id, target="G-72")
    figure = draw_hits(tallies(statistics_of(log), [By.TARGET, By.DWELL]))
    assert len(figure.axes) == 4
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "G-49\n1 of 1",
        "G-72\n0 of 0",
    ]
