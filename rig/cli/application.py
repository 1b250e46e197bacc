"""The application that every command hangs itself on, and what a command may raise.

A command is a plain function in a module of its own::

    # rig/cli/shoot.py
    from rig.cli.application import RefusedError, app

    @app.command(rich_help_panel="Shoot")
    def shoot(target: Annotated[str, typer.Argument(help="the square to aim at, as G-49")]) -> None:
        '''Fire one shot at a square.'''
        from rig.match import ...        # heavy imports here, so that `rig --help` stays quick

and is named once more in the list of `rig/cli/__init__.py`. What commands share lies in rooms beside them: `arguments` (what
they are given), `opening` (a line or a whole rig, real or the twin's) and `terminal` (what a person reads there and answers);
`game` is the commands of `rig game`, and `examining` what `rig doctor` looks at.

How a command ends:

- it returns: exit status 0;
- it raises an error class of one of our own packages (`game`, `calibration`, `vision`, `rig`, `twin`): what
  it was given is wrong; its text goes to standard error as one line; exit status 2, or the class's `exit_status`;
- it raises `RefusedError`: it tried or asked, and was refused or did not succeed; one line; exit status 1;
- anything else is a bug of ours, and its traceback is what the person who mends it needs.
"""

from __future__ import annotations

import importlib.metadata
from typing import Annotated

import typer

__all__ = ["RefusedError", "app"]

app = typer.Typer(
    name="rig",
    help="A table with a spring cannon that a computer aims, cocks and fires, and referees from above.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class RefusedError(Exception):
    """An act that was asked for rightly and was refused, or did not succeed.

    Its text is the one sentence that the person at the table reads.
    """

    exit_status = 1


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(importlib.metadata.version("montecassino-rig"))
        raise typer.Exit


@app.callback()
def _rig(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_tell_version, help="print the version and end"),
    ] = False,
) -> None:
    # Its mere presence makes `rig` a group, even while it has a single command.
    pass
