"""The group `rig game`, on which its commands hang themselves."""

from __future__ import annotations

import typer

from rig.cli.application import app

__all__ = ["game_group"]

game_group = typer.Typer(
    name="game", help="Ask the rules: show a position, its turns, what is wrong; play.", no_args_is_help=True
)
app.add_typer(game_group, rich_help_panel="The rules")
