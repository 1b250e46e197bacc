"""`rig shoot`: one shot at a square."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import (
    SETTINGS_FILE,
    CameraOption,
    CasualtyOption,
    PortOption,
    SettingsFile,
    SideOption,
    settings_of_this_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.log import Shot
    from rig.match import ShotRead

__all__ = ["shoot"]


@app.command(rich_help_panel="Shoot")
def shoot(
    context: typer.Context,
    target: Annotated[str, typer.Argument(help="the square to fire at, as G-49")],
    position: Annotated[
        str | None,
        typer.Option(
            help='who stands where, as the rules write it; "camera": read it from the picture. '
            "Without it: after the last shot of the log, or as in the settings."
        ),
    ] = None,
    side: SideOption = None,
    option: CasualtyOption = None,
    battle: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="fire in this battle: who stands where, the zone and the option are its own, and the shot is entered in it",
        ),
    ] = None,
    port: PortOption = None,
    camera: CameraOption = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Aim, cock, load and fire once, and say who fell, why, and who leaves."""
    from rich.console import Console

    from game.montecassino import Square, format_squares
    from rig.aim.pointing import aim_at
    from rig.battle.file import FaultyBattleFile, write_battle
    from rig.battle.lock import hold_battle
    from rig.battle.shots import with_shot
    from rig.calibrating.spring import spring_by_log
    from rig.cli.arguments.orders import option_of, start_in_battle, start_of, with_hardware, zone_of
    from rig.cli.opening.rig import open_rig
    from rig.cli.terminal.answers import wait_for_enter
    from rig.cli.terminal.battle import say
    from rig.hands import PromptedHands
    from rig.match import Order, how_to_decide, refuse_what_the_rules_forbid

    console = Console(highlight=False, markup=False)
    square = Square.parse(target)
    chosen = with_hardware(settings_of_this_table(settings), port=port, camera=camera)
    if battle is None:
        begun = None
        start = start_of(chosen, position, side)
        agreed, zone = option_of(chosen, option), zone_of(chosen, start.position.turn)
    else:
        _refuse_beside_a_battle(position=position, side=side, option=option)
        context.with_resource(hold_battle(battle, "rig shoot"))
        start, begun = start_in_battle(chosen, battle)
        agreed, zone = begun.agreement.option, begun.agreement.zones[start.position.turn]
    refuse_what_the_rules_forbid(start.position, square, soldiers_known=not start.from_camera)
    # Out of reach is out of reach wherever the soldier stands on its square: say so before anything is opened.
    aim_at(square, start.position.turn, chosen.cannon, chosen.board)
    if square not in zone:
        outside = f"{square} lies outside {start.position.turn}'s zone {format_squares(zone)}"
        say(console, f"{outside}: who falls there is put back.")
    spring = spring_by_log(chosen)
    if spring is not None:
        say(console, spring.in_words())
    hands = PromptedHands(lambda words: say(console, words), wait_for_enter)
    with open_rig(
        chosen, start.position, hands, progress=lambda words: say(console, words, style="dim")
    ) as rig:
        before = start.position
        if start.from_camera:
            before = rig.match.read_position(before)

        told: list[int] = []

        def enter_by(shot: Shot) -> str:
            return chosen.command("game enter", f"{shlex.quote(str(battle))} {shot.shot_id}")

        def tell(read: ShotRead) -> None:
            told.append(read.shot_id)
            for line in _told(read):
                say(console, line)
            shot = rig.log.shot(read.shot_id)
            if begun is not None and battle is not None and not shot.pending:
                # At once: whoever ends the rig from here on must not leave the battle behind the log.
                after = with_shot(begun, shot, chosen)
                try:
                    write_battle(battle, after, over=begun)
                except FaultyBattleFile as fault:
                    raise RefusedError(
                        f"{fault}; the shot is in the log, and enters with: {enter_by(shot)}"
                    ) from fault
                say(console, f"entered in {battle}: {after.history[-1].entry}")

        def tell_the_rest(shot: Shot) -> None:
            if shot.recording_path is not None:
                say(console, f"recorded in {shot.recording_path}")
            if shot.pending:
                decide = how_to_decide(shot.shot_id, chosen)
                say(console, f"Until the commanders have spoken nobody is moved; say it with: {decide}")
                if battle is not None:
                    say(console, f"Then the shot goes into the battle: {enter_by(shot)}")

        try:
            done = rig.match.shoot(Order(square, before, zone, agreed), tell)
        except KeyboardInterrupt:
            for shot_id in told:
                tell_the_rest(rig.log.shot(shot_id))
            raise
        tell_the_rest(rig.log.shot(done.shot_id))
        if done.verdict.undecided:
            return
        rig.hands.set_up(done.verdict.casualties, done.verdict.put_back)


def _refuse_beside_a_battle(**given: str | None) -> None:
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(
                "the battle has it; leave it out, or leave out --battle", param_hint=f"--{name}"
            )


def _told(read: ShotRead) -> Iterator[str]:
    """Tell a shot in a few lines."""
    speed = "" if read.fired.muzzle_speed_mps is None else f" at {read.fired.muzzle_speed_mps:.2f} m/s"
    yield f"shot {read.shot_id}, {read.order.side} at {read.order.target}, left{speed}"
    yield from read.analysis.in_words()
