"""Between the log and a battle: a shot that the machine fired becomes an entry of the battle it was fired in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from game import montecassino as rules
from rig.log import Fired, Shot, ShotLog

if TYPE_CHECKING:
    from rig.settings import Settings

__all__ = ["NotOfThisBattle", "not_yet_entered", "with_shot"]


class NotOfThisBattle(Exception):
    """A shot that cannot be entered in a battle as it stands, in one sentence."""

    exit_status = 1


def not_yet_entered(log: ShotLog, battle: rules.Battle) -> Shot | None:
    """Return the shot that was fired where the battle stands now, and is not in it.

    Other battles may have been fired in since. But where a battle begins many others began, and there only the last shot is
    taken for one. Shots of programmes belong to no battle, and none that was fired under another zone or option belongs
    to this one. One of another battle that stood alike may.

    Parameters
    ----------
    log : ShotLog
        Of this table.
    battle : Battle
        The battle that the next shot is for.
    """
    here, begins = str(battle.position), battle.position == battle.start
    shots = log.single_shots(position=None if begins else here)
    fired = (shot for shot in shots if shot.fired is not Fired.NO)
    for shot in islice(fired, 1 if begins else None):
        if shot.planned.position == here and not any(_other_terms(shot, battle)):
            return shot
    return None


def with_shot(battle: rules.Battle, shot: Shot, settings: Settings) -> rules.Battle:
    """Return the battle after a shot of the log, by the verdict that stands in the log.

    An adjourned battle is resumed by it. `settings` are those that name the log.

    Raises
    ------
    NotOfThisBattle
        If the shot has no final verdict, is entered already, was fired from another position, or under another zone or
        option.
    IllegalTurnError
        If the battle does not allow a shot, with the clause.
    """
    name = f"shot {shot.shot_id}"
    if shot.pending:
        squares = ", ".join(doubt.square for doubt in shot.pending)
        decide = settings.command("decide", f"{shot.shot_id} SQUARE leaves")
        raise NotOfThisBattle(f"{name} waits for its commanders' word on {squares}: {decide}")
    verdict = shot.verdict
    if verdict is None or verdict.after is None:
        judge = settings.command("judge", str(shot.shot_id))
        read = "" if not shot.tells_who_fell else f"read its recording, {judge}, or "
        raise NotOfThisBattle(
            f"{name} was never judged, so the log does not know who leaves; "
            f"{read}type it in by hand: rig game play --battle FILE"
        )
    if shot.planned.position != str(battle.position):
        for number, (before, played) in enumerate(zip(battle.positions(), battle.history, strict=False), 1):
            if shot.planned.position == str(before) and isinstance(played.entry, rules.Shot):
                raise NotOfThisBattle(
                    f"{name} is in the battle already, as its entry {number}: {played.entry}"
                )
        raise NotOfThisBattle(
            f"{name} was fired from '{shot.planned.position}', and the battle stands at '{battle.position}'"
        )
    for what, fired_under, agreed in _other_terms(shot, battle):
        raise NotOfThisBattle(
            f"{name} was fired under {what} {fired_under}, and the battle agreed on {agreed}"
        )
    going_on = battle.resume() if battle.adjourned else battle
    return going_on.play(rules.Shot(tuple(map(rules.Square.parse, verdict.casualties))))


def _other_terms(shot: Shot, battle: rules.Battle) -> Iterator[tuple[str, str, str]]:
    """Yield what a shot was fired under that the battle did not agree on: its name, the shot's, the battle's."""
    agreed_zone = rules.format_squares(battle.agreement.zones[battle.position.turn])
    for what, fired_under, agreed in (
        ("zone", shot.planned.zone, agreed_zone),
        ("option", shot.planned.option, battle.agreement.option.value),
    ):
        if fired_under != agreed:
            yield what, fired_under, agreed
