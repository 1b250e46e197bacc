"""A shot that the machine fired goes into its battle once, by the verdict of the log, and only where it belongs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from logged_shots import PLAN, START, read_and_judge, until

from game.montecassino import (
    Agreement,
    Battle,
    Cannons,
    IllegalTurnError,
    Option,
    Position,
    Side,
    Turn,
    parse_squares,
)
from game.montecassino.entries import Adjourn, Shot
from rig.battle.shots import NotOfThisBattle, not_yet_entered, with_shot
from rig.log import Analysis, Fall, ShotLog, Stage, open_log_in_memory
from rig.log import Shot as LoggedShot
from rig.settings import Settings, parse_settings
from rig.verdict.judging import decide

POSITION = "A A01-A23,A60 G25-G48 0/0 20/20 -"
ZONE = "G25-G40,A60"
AGREEMENT = Agreement(Side.A, Option.III, zones={Side.A: parse_squares(ZONE)})
BATTLE = Battle.begin(AGREEMENT, Position.parse(POSITION))
FIRED = replace(PLAN, plan=None, plan_index=None, position=POSITION, zone="A60,G25-G40", option="iii")


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory() as opened:
        opened.start_session(START)
        yield opened


def _judged(log: ShotLog, *causes: str, **planned: str) -> int:
    shot_id = until(log, 1, Stage.RECORDED, plan=replace(FIRED, **planned))
    fall = Fall(side="G", square="G-33", causes=causes, confidence=0.9, t_us=None, evidence="seen")
    read_and_judge(log, shot_id, Analysis(software_version="1", raw={}, falls=(fall,), moved=()))
    return shot_id


def _entered(battle: Battle, shot: LoggedShot) -> Battle:
    return with_shot(battle, shot, Settings())


def test_the_casualties_of_the_verdict_are_the_entry(log: ShotLog) -> None:
    shot = log.shot(_judged(log, "direct"))
    after = _entered(BATTLE, shot)
    assert after.history[-1].entry == Shot(parse_squares("G33"))
    assert shot.verdict is not None
    assert str(after.position) == shot.verdict.after


def test_a_shot_that_hits_nobody_who_counts_is_a_miss(log: ShotLog) -> None:
    assert _entered(BATTLE, log.shot(_judged(log, "dragged"))).history[-1].entry == Shot()


def test_v4_an_adjourned_battle_is_resumed_by_its_shot(log: ShotLog) -> None:
    after = _entered(BATTLE.play(Adjourn()), log.shot(_judged(log, "direct")))
    assert [str(played.entry) for played in after.history] == ["||", "*G-33"]


def test_c8_a_doubt_keeps_the_shot_out_until_it_is_decided(log: ShotLog) -> None:
    shot_id = _judged(log, "direct", "ricochet")
    with pytest.raises(NotOfThisBattle, match=f"word on G-33: rig decide {shot_id}"):
        _entered(BATTLE, log.shot(shot_id))
    second_table = parse_settings("", "table-2.toml")
    with pytest.raises(
        NotOfThisBattle, match=f": rig decide --settings table-2.toml {shot_id} SQUARE leaves"
    ):
        with_shot(BATTLE, log.shot(shot_id), second_table)
    decide(log, shot_id, "G-33", leaves=True)
    assert _entered(BATTLE, log.shot(shot_id)).history[-1].entry == Shot(parse_squares("G33"))


def test_a_shot_goes_in_once(log: ShotLog) -> None:
    shot = log.shot(_judged(log, "direct"))
    with pytest.raises(NotOfThisBattle, match=r"already, as its entry 1: \*G-33"):
        _entered(_entered(BATTLE, shot), shot)


def test_a_shot_fired_from_elsewhere_is_not_of_this_battle(log: ShotLog) -> None:
    elsewhere = log.shot(_judged(log, "direct", position="A A01-A24 G25-G48 0/0 20/20 -"))
    with pytest.raises(NotOfThisBattle, match=r"was fired from 'A A01-A24.*the battle stands at 'A A01-A23"):
        _entered(BATTLE, elsewhere)


@pytest.mark.parametrize(
    ("planned", "said"), [({"option": "ii"}, "option ii"), ({"zone": "G25-G72"}, "zone G25-G72")]
)
def test_s4_a_shot_under_other_terms_is_not_of_this_battle(
    log: ShotLog, planned: dict[str, str], said: str
) -> None:
    with pytest.raises(NotOfThisBattle, match=f"under {said}, and the battle agreed"):
        _entered(BATTLE, log.shot(_judged(log, "direct", **planned)))


def test_s4_a_battle_without_a_cannon_takes_no_shot(log: ShotLog) -> None:
    agreement = replace(AGREEMENT, cannons=Cannons.NONE, shots={})
    start = replace(Position.parse(POSITION), shots_left=agreement.shots)
    shot = log.shot(_judged(log, "direct", position=POSITION))
    moved = replace(shot, planned=replace(shot.planned, position=str(start)))
    with pytest.raises(IllegalTurnError, match="no cannon"):
        _entered(Battle.begin(agreement, start), moved)


def test_a_shot_that_was_never_judged_is_typed_in_by_hand(log: ShotLog) -> None:
    shot = log.shot(until(log, 1, Stage.FIRED, plan=FIRED))
    with pytest.raises(NotOfThisBattle, match=r"never judged.*type it in by hand"):
        _entered(BATTLE, shot)


def test_nothing_lost_a_shot_fired_where_the_battle_stands_is_asked_for(log: ShotLog) -> None:
    assert not_yet_entered(log, BATTLE) is None
    until(log, 1, Stage.AIMED, plan=FIRED)
    assert not_yet_entered(log, BATTLE) is None, "it was never fired"
    shot_id = until(log, 1, Stage.FIRED, plan=FIRED)
    until(log, 1, Stage.FIRED, plan=replace(FIRED, plan="drift", plan_index=1))
    left_open = not_yet_entered(log, BATTLE)
    assert left_open is not None
    assert left_open.shot_id == shot_id
    assert not_yet_entered(log, BATTLE.play(Shot())) is None


def test_nothing_lost_a_shot_is_asked_for_though_another_battle_was_fired_in_since(log: ShotLog) -> None:
    begun = Battle.begin(AGREEMENT, replace(Position.parse(POSITION), turn=Side.G))
    battle = begun.play(Turn.parse("G-48>G-56"))
    shot_id = _judged(log, "direct", position=str(battle.position))
    _judged(log, "direct")
    until(log, 1, Stage.AIMED, plan=FIRED)
    left_open = not_yet_entered(log, battle)
    assert left_open is not None
    assert left_open.shot_id == shot_id


def test_where_every_battle_begins_only_the_last_shot_is_asked_for(log: ShotLog) -> None:
    _judged(log, "direct")
    _judged(log, "direct", position="A A01-A23,A60 G25-G47 0/0 20/20 -")
    assert not_yet_entered(log, BATTLE) is None


@pytest.mark.parametrize("planned", [{"option": "ii"}, {"zone": "G25-G72"}])
def test_s4_a_shot_under_other_terms_that_was_fired_from_the_same_position_is_not_asked_for(
    log: ShotLog, planned: dict[str, str]
) -> None:
    """As one to try the cannon before the battle: it could not be entered, and the battle waited for it for ever."""
    _judged(log, "direct", **planned)
    assert not_yet_entered(log, BATTLE) is None
