"""The command `rig`: it reads what the person at the table asks for, hands it on, and says how it went."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo

# Each module hangs its commands on `app` when it is imported; a new one is named here. What they share lies in rooms.
from rig.cli import (
    aim,
    analyse,
    calibrate,
    camera,
    certificate,
    clips,
    demo,
    docket,
    doctor,
    flash,
    game,
    jog,
    judge,
    log,
    monitor,
    replay,
    run,
    service,
    settings,
    shoot,
    stats,
    tournament,
    transcript,
    twin,
    vision,
    watch,
)
from rig.cli.application import RefusedError, app
from rig.cli.arguments.empty_paths import refuse_empty_paths
from rig.cli.arguments.given_once import refuse_given_twice
from rig.cli.terminal.complaint import complain, is_ours, sentences_of, told_wrongly
from rig.cli.terminal.narrow_help import fit_help, help_width
from rig.files.one_line import on_one_line
from rig.film.freed_memory import keep_freed_memory

__all__ = [
    "RefusedError",
    "aim",
    "analyse",
    "app",
    "calibrate",
    "camera",
    "certificate",
    "clips",
    "command",
    "demo",
    "docket",
    "doctor",
    "flash",
    "game",
    "jog",
    "judge",
    "log",
    "main",
    "monitor",
    "replay",
    "run",
    "service",
    "settings",
    "shoot",
    "stats",
    "tournament",
    "transcript",
    "twin",
    "vision",
    "watch",
]

_PANELS = ("Start here", "Set up", "Shoot", "Look", "Look back")
"""Of `rig --help`, as somebody new reads it; those that hold groups of commands alone come after them."""
# With these a write fails without naming its file.
_NOT_WRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after `rig`; those of the process by default.

    Returns
    -------
    int
        The exit status: 0 done; 1 refused or failed; 2 given something wrong; 130 stopped by Ctrl-C, or asked to end.

    Notes
    -----
    A mistake of the person who types is one line on standard error, a line each where a file has several. A traceback means
    a bug of ours.
    """
    _open_missing_streams()
    keep_freed_memory()
    if arguments is None:
        _own_the_process()
    try:
        width = help_width()
        fit_help(command(), boxes=width is None)
        status = command()(args=arguments, prog_name="rig", standalone_mode=False, terminal_width=width)
        sys.stdout.flush()  # here, where a full disk is still told as one
    except typer.Abort:
        if arguments is None:
            # The interpreter ends, which another Ctrl-C would spoil.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return complain("stopped", _INTERRUPTED)
    except typer.TyperException as error:
        return complain(told_wrongly(error), error.exit_code)
    except ImportError as error:
        if not _was_broken_off(error):
            raise
        status = _INTERRUPTED
    except Exception as error:
        told = _told_of(error)
        if told is None:
            raise
        return told
    if status == _INTERRUPTED:
        complain("stopped", _INTERRUPTED)
        if arguments is None:
            _leave(_INTERRUPTED)
        return _INTERRUPTED
    return status if isinstance(status, int) else 0


def _own_the_process() -> None:
    """Set up what concerns the whole process: how it is asked to end, and how its output is written."""
    # Asked to end (`kill`, a closed terminal), a command makes safe as it does on Ctrl-C.
    # `nohup` has it ignore the terminal's going, and that stays.
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:
            signal.signal(ending, signal.default_int_handler)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A sign that the terminal or the file does not know, as in a name, is shown by its number.
        sys.stdout.reconfigure(errors="backslashreplace")


def _told_of(error: Exception) -> int | None:
    """Tell a mistake of a person or a fault of the machine, and give the exit status; ``None`` for a bug of ours."""
    if is_ours(error):
        exit_status: int = getattr(error, "exit_status", 2)
        for sentence in sentences_of(error):
            complain(sentence, exit_status)
        return exit_status
    if isinstance(error, OSError) and error.filename is not None:
        return complain(f"{on_one_line(error.filename)}: {error.strerror}", 2)
    if isinstance(error, OSError) and error.errno in _NOT_WRITTEN:
        _drop_unwritten()
        return complain(f"could not write: {error.strerror}", 2)
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        return complain("the folder that you are in is not there any more: change to one that is", 2)
    return None


@cache
def command() -> TyperGroup:
    """Return the command `rig` with all that hangs on it; to put it together takes as long as many a command runs."""
    app.registered_commands.sort(key=_panel)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    refuse_given_twice(group)
    refuse_empty_paths(group)
    return group


def _panel(entry: CommandInfo) -> int:
    """Say where a command stands in the help: its panels come in the order of the commands in them."""
    return _PANELS.index(entry.rich_help_panel) if entry.rich_help_panel in _PANELS else len(_PANELS)


def _open_missing_streams() -> None:
    """Put the null device where a standard stream was closed for us (`rig ... <&-`): nothing to read, nobody listens."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def _was_broken_off(error: ImportError) -> bool:
    """Whether Ctrl-C came while a library was being loaded, which some of them tell in words of their own."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _is_nowhere() -> bool:
    """Whether the working folder was removed, as with a stick that was pulled."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _leave(status: int) -> NoReturn:
    """End the process at once: all that was open is closed, and a library that Ctrl-C left half-loaded crashes at its end."""
    with suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _drop_unwritten() -> None:
    """Drop what standard output does not take, or the interpreter would fail on it once more at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
