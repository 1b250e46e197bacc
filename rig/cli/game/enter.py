"""`rig game enter`: a shot that the machine fired, written into the battle it was fired in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rig.cli.arguments.options import SETTINGS_FILE, SettingsFile, open_log_to_read, settings_or_defaults
from rig.cli.game.group import game_group
from rig.cli.terminal.sentences import echo
from rig.files.one_line import on_one_line

__all__ = ["enter"]


@game_group.command()
def enter(
    battle: Annotated[Path, typer.Argument(metavar="FILE", help="a battle file")],
    shot: Annotated[
        int | None, typer.Argument(help="number of a shot in the log; none: the last one fired")
    ] = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Write a shot of the log into its battle, once its doubts are decided; `rig shoot --battle` does so by itself."""
    from rig.battle.file import read_battle, write_battle
    from rig.battle.lock import hold_battle
    from rig.battle.shots import with_shot
    from rig.cli.application import RefusedError
    from rig.log import Fired

    with hold_battle(battle, "rig game enter"), open_log_to_read(settings) as log:
        begun = read_battle(battle)
        if shot is None:
            fired = (each for each in log.single_shots() if each.fired is not Fired.NO)
            last = next(fired, None)
            if last is None:
                raise RefusedError("the log has no shot that was fired in a battle")
            logged = last
        else:
            logged = log.shot(shot)
        after = with_shot(begun, logged, settings_or_defaults(settings))
        write_battle(battle, after, over=begun)
    echo(f"shot {logged.shot_id} is entered in {on_one_line(battle)}: {after.history[-1].entry}")
