"""Write settings as a commented `rig.toml`: the comments are the model's own words."""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from rig.files.checked_file import Table
from rig.settings import Settings

__all__ = ["comment", "pair", "settings_text"]

_WIDTH = 110
_HEAD = "Settings of the rig. Every value carries its unit in its name. `rig check` says what is wrong with this file."


def settings_text(settings: Settings, *, twin: str = "") -> str:
    """Write all settings, with what each of them means.

    Parameters
    ----------
    settings : Settings
        The values.
    twin : str
        The lines of the [twin] table where its settings are known; else its values are written as they are.

    Returns
    -------
    str
        TOML; reading it gives the same settings.
    """
    lines = [*comment(_HEAD)]
    for key in Settings.model_fields:
        value = getattr(settings, key)
        if isinstance(value, Table):
            lines += _table(key, value)
        else:
            description = Settings.model_fields[key].description or ""
            lines += ["", "", *comment(description), f"[{key}]"]
            lines += [twin.rstrip()] if twin else [pair(name, each) for name, each in value.items()]
    return "\n".join(lines) + "\n"


def _table(path: str, table: Table) -> Iterator[str]:
    # A short line parts the keys of a table; a table stands two lines off, so that the eye finds it.
    yield from ("", "", *comment(inspect.cleandoc(type(table).__doc__ or "")), f"[{path}]")
    below: list[tuple[str, Table]] = []
    for key, field in type(table).model_fields.items():
        value = getattr(table, key)
        if isinstance(value, Table):
            below.append((key, value))
            continue
        yield from comment(field.description or "")
        if value is None:
            # TOML has no way to say "not given": the key stands there as a comment to be filled in.
            yield f"# {pair(key, (field.examples or [''])[0])}"
        else:
            yield pair(key, value)
    for key, value in below:
        yield from _table(f"{path}.{key}", value)


def comment(text: str) -> list[str]:
    """Write a text as lines of comment."""
    return [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), _WIDTH - 2)]


def pair(key: str, value: Any) -> str:
    """Write a key and its value."""
    return f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML string, but for the one control character that JSON leaves bare.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_value(str(key))} = {_value(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return f"[{', '.join(_value(each) for each in value)}]"
