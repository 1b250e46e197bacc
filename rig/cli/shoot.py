"""`rig shoot`: one shot at a square."""

from __future__ import annotations

from dataclasses import dataclass
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
from rig.files.one_line import as_typed, on_one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from game.montecassino import Battle
    from rig.cli.arguments.orders import Start
    from rig.log import Shot, ShotLog
    from rig.match import ShotRead
    from rig.settings import Settings

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
    from rig.battle.lock import hold_battle
    from rig.calibrating.spring import spring_by_log
    from rig.cli.arguments.orders import (
        FROM_CAMERA,
        option_of,
        start_in_battle,
        start_of,
        with_hardware,
        zone_of,
    )
    from rig.cli.opening.rig import open_rig
    from rig.cli.terminal.answers import wait_for_enter
    from rig.cli.terminal.battle import say
    from rig.hands import PromptedHands
    from rig.match import Order, refuse_what_the_rules_forbid

    console = Console(highlight=False, markup=False)
    square = Square.parse(target)
    chosen = with_hardware(settings_of_this_table(settings), port=port, camera=camera)
    if battle is None:
        begun = None
        start = start_of(chosen, position, side)
        if position in {None, FROM_CAMERA}:
            _refuse_where_nobody_fires(start)
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
        teller = _Teller(console, rig.log, chosen, battle, begun)
        try:
            done = rig.match.shoot(Order(square, before, zone, agreed), teller.tell)
        except KeyboardInterrupt:
            teller.tell_the_rest()
            raise
        teller.tell_the_rest()
        if not done.verdict.undecided:
            rig.hands.set_up(done.verdict.casualties, done.verdict.put_back)


def _refuse_where_nobody_fires(start: Start) -> None:
    """Say how to begin anew where the battle that the log has is over, or the side has fired all its shots."""
    from rig.match import ShotNotAllowed, why_nobody_fires

    why = why_nobody_fires(start.position, soldiers_known=not start.from_camera)
    if why is not None:
        raise ShotNotAllowed(f"{why}; what a new battle begins with is said by --position '...'")


@dataclass(slots=True)
class _Teller:
    """Tells a shot as it is read, and enters it in its battle; then where it is kept and what it waits for."""

    console: Console
    log: ShotLog
    settings: Settings
    file: Path | None
    """Of the battle; None where it is fired in none."""
    begun: Battle | None
    """The battle before the shot."""
    shot_id: int | None = None
    """Of the shot that was told."""

    def tell(self, read: ShotRead) -> None:
        self.shot_id = read.shot_id
        for line in _told(read):
            self._say(line)
        shot = self.log.shot(read.shot_id)
        if not shot.pending:
            # At once: whoever ends the rig from here on must not leave the battle behind the log.
            self._enter(shot)

    def tell_the_rest(self) -> None:
        from rig.match import how_to_decide

        if self.shot_id is None:
            return
        shot = self.log.shot(self.shot_id)
        if shot.recording_path is not None:
            self._say(f"recorded in {on_one_line(shot.recording_path)}")
        if shot.pending:
            decide = how_to_decide(shot.shot_id, self.settings)
            self._say(f"Until the commanders have spoken nobody is moved; say it with: {decide}")
            if self.file is not None:
                self._say(f"Then the shot goes into the battle: {self._how_to_enter(shot)}")

    def _enter(self, shot: Shot) -> None:
        from rig.battle.file import FaultyBattleFile, write_battle
        from rig.battle.shots import with_shot

        if self.file is None or self.begun is None:
            return
        after = with_shot(self.begun, shot, self.settings)
        try:
            write_battle(self.file, after, over=self.begun)
        except FaultyBattleFile as fault:
            raise RefusedError(
                f"{fault}; the shot is in the log, and enters with: {self._how_to_enter(shot)}"
            ) from fault
        self._say(f"entered in {on_one_line(self.file)}: {after.history[-1].entry}")

    def _how_to_enter(self, shot: Shot) -> str:
        return self.settings.command("game enter", f"{as_typed(self.file)} {shot.shot_id}")

    def _say(self, words: str) -> None:
        from rig.cli.terminal.battle import say

        say(self.console, words)


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
