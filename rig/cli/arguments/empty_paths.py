"""Files and folders that are named by an empty word, as by a variable that a script never set: the present folder for Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import typer

__all__ = ["refuse_empty_paths"]


def refuse_empty_paths(command: Any) -> None:
    """Have an empty word refused by all options and arguments of a command, and of those under it, that name a path."""
    for named in command.params:
        if named.type_descriptor.annotation in (Path, list[Path]):
            named.process_value = partial(_process_named, named, named.process_value)
    for each in getattr(command, "commands", {}).values():
        refuse_empty_paths(each)


def _process_named(named: Any, process: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    if "" in (value if isinstance(value, list | tuple) else [value]):
        raise typer.BadParameter(
            "found an empty word, expected the name of a file or a folder", context, named
        )
    return process(context, value)
