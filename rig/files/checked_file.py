"""Read a file of keys into a checked model, and say everything that is wrong with it at once, in words.

A model is a pydantic model whose fields are the keys. What a model cannot see field by field (limits out of order,
two keys that contradict each other) its `conflicts` method says. It is asked even where other keys are faulty, so
that one reading of the file names everything.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from rig.files import bounded_file
from rig.files.fault import Fault, FaultyFile
from rig.files.one_line import as_typed
from rig.files.validation_words import faults_in_words, shortened, written_key

__all__ = [
    "Fault",
    "FaultyFile",
    "JsonObject",
    "NameText",
    "Table",
    "check_replaceable",
    "parse_json",
    "parse_toml",
    "read_text",
    "refuse_other_format",
    "validate",
]


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a name without the character U+0000")
    return text


NameText = Annotated[str, Field(min_length=1), AfterValidator(_without_nul)]
"""The name of a file, a folder, a device or an address."""


class Table(BaseModel):
    """A table of a TOML file: unknown keys are faults, values are never bent into shape."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    form: ClassVar[str] = "a table, [{key}]"
    """What is expected where a table belongs and something else is found."""

    def conflicts(self) -> Iterator[Fault]:
        """Say what contradicts itself among values that are sound one by one; keys relative to this table."""
        yield from ()


class JsonObject(Table):
    """What a table is in a JSON file."""

    form = 'an object, {{"key": value, ...}}'


_DECIMAL_COMMA = re.compile(r"=\s*[+-]?\d+,\d+\s*(#.*)?$")
_FORMAT = re.compile(r"[\w-]+/\d+", re.ASCII)
TableT = TypeVar("TableT", bound=Table)


def read_text(path: Path, error: type[FaultyFile], *, missing: str) -> str:
    """Give a file's text, or raise `error`; `missing` says what to do where there is no file."""
    try:
        # Some editors begin a file with a mark of its encoding, which is no part of the text.
        return bounded_file.read_text(path, encoding="utf-8-sig")
    except FileNotFoundError:
        fault = Fault("the file", "a link that leads nowhere" if path.is_symlink() else "nothing", missing)
    except UnicodeDecodeError as bad:
        fault = Fault(f"byte {bad.start + 1}", "text that is not UTF-8", "a text file, which is UTF-8")
    except IsADirectoryError:
        fault = Fault("the file", "a folder", "a file that can be read")
    except PermissionError:
        hint = f"its owner lets you: chmod +r {as_typed(path)}"
        fault = Fault("the file", "one that you may not read", "a file that can be read", hint=hint)
    except OSError as bad:
        fault = Fault("the file", str(bad.strerror), "a file that can be read")
    raise error(str(path), [fault])


def check_replaceable(path: Path, format_: str, error: type[FaultyFile]) -> None:
    """Raise `error` where another JSON file than one of this format, whatever its version, or no JSON would be lost."""
    if not path.is_file():
        return
    try:
        data = json.loads(bounded_file.read_text(path, encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        data = None
    found = data.get("format") if isinstance(data, dict) else None
    kind = format_.partition("/")[0]
    if not (isinstance(found, str) and found.partition("/")[0] == kind):
        expected = f'a new file, or one whose format is "{format_}"'
        fault = Fault("the file", "another one that is there already", expected)
        raise error(str(path), [fault])


def refuse_other_format(data: Mapping[str, Any], name: str, format_: str, error: type[FaultyFile]) -> None:
    """Raise `error` where a JSON file says that it is of another version, or of another kind."""
    found = data.get("format")
    if isinstance(found, str) and found != format_ and _FORMAT.fullmatch(found):
        # Its keys are those of the other: to hold them against ours would say nothing.
        fault = Fault("format", json.dumps(found), f'"{format_}", which is what this rig reads and writes')
        raise error(name, [fault])


def parse_toml(text: str, name: str, error: type[FaultyFile]) -> dict[str, Any]:
    """Give the tables of a TOML text, or raise `error` with the line of its first mistake."""
    try:
        # With the last line's end missing, what is wrong in it would be said to be at the "end of document".
        return tomllib.loads(f"{text}\n")
    except tomllib.TOMLDecodeError as bad:
        what, place = _split_place(str(bad))
        line = re.match(r"line (\d+)", place)
        shown = text.split("\n")[int(line[1]) - 1].strip() if line else ""
        found = shortened(json.dumps(shown, ensure_ascii=False)) if shown else "text that is no TOML"
        hint = what[:1].lower() + what[1:]
        if hint == "invalid value":
            hint += "; text stands in quotes"
        elif _DECIMAL_COMMA.search(shown):
            hint += "; decimals stand behind a point"
        raise error(name, [Fault(place, found, "TOML", hint=hint)]) from bad


def parse_json(text: str, name: str, error: type[FaultyFile], *, expected: str) -> dict[str, Any]:
    """Give the keys of a JSON text that is one object, or raise `error`; `expected` says what the file should be."""
    twice: list[str] = []

    def keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return held

    try:
        data = json.loads(text, object_pairs_hook=keys)
    except json.JSONDecodeError as bad:
        said = f"no JSON ({bad})" if text.strip() else "an empty file"
    except (ValueError, RecursionError):
        # Numbers of thousands of digits, and lists in lists in lists.
        said = "no JSON (numbers or lists of a size that no such file has)"
    else:
        if twice:
            # Which of the two was meant, nobody can tell.
            raise error(name, [Fault(written_key(key), "more than once", "once") for key in twice])
        if isinstance(data, dict):
            return data
        said, expected = shortened(json.dumps(data, ensure_ascii=False)), "a JSON object"
    raise error(name, [Fault("the file", said, expected)])


def _split_place(message: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*) \(at (.*)\)", message, re.DOTALL)
    return (match[1], match[2]) if match else (message, "the text")


def validate(model: type[TableT], data: Mapping[str, Any], name: str, error: type[FaultyFile]) -> TableT:
    """Check tables against a model.

    Parameters
    ----------
    model : type of Table
        The whole file.
    data : mapping
        What `parse_toml` gave.
    name : str
        The file, for the error.
    error : type of FaultyFile
        What to raise.

    Returns
    -------
    Table
        The model, whole and without conflicts.
    """
    try:
        checked = _check(model, data)
    except ValidationError as bad:
        errors = bad.errors(include_url=False)
        if errors[0]["type"] == "json_invalid":
            found = "lists in lists without end, or half a character"
            raise error(name, [Fault("the file", found, "values of its keys")]) from bad
    else:
        conflicts = _all_conflicts(checked)
        if conflicts:
            raise error(name, conflicts)
        return checked
    raise error(
        name, [*faults_in_words(model, model.form, errors), *_conflicts_of_the_sound(model, data, errors)]
    )


def _check(model: type[TableT], data: Any) -> TableT:
    # Through JSON, where a list may be a tuple and a word an enum's member, and a string still is no number.
    return model.model_validate_json(json.dumps(data, default=str))


def _conflicts_of_the_sound(
    model: type[Table], data: Mapping[str, Any], errors: Sequence[Any]
) -> list[Fault]:
    """Ask for conflicts with every faulty key left out, and keep those that no faulty key has a part in."""
    faulty = {tuple(itertools.takewhile(lambda part: isinstance(part, str), each["loc"])) for each in errors}
    try:
        checked = _check(model, _without(data, faulty))
    except ValidationError:
        # A key that must be given is among the faulty ones: ask the tables below one by one.
        return list(_conflicts_below(model, data, errors))
    bad = {".".join(place) for place in faulty}
    return [
        fault
        for fault in _all_conflicts(checked)
        if not any(_overlap(key, other) for key in (fault.key, *fault.also) for other in bad)
    ]


def _conflicts_below(model: type[Table], data: Mapping[str, Any], errors: Sequence[Any]) -> Iterator[Fault]:
    for key, field in model.model_fields.items():
        part, below = field.annotation, data.get(key, {})
        if isinstance(part, type) and issubclass(part, Table) and isinstance(below, Mapping):
            inside = [{**each, "loc": each["loc"][1:]} for each in errors if each["loc"][0] == key]
            for fault in _conflicts_of_the_sound(part, below, inside):
                yield _below(key, fault)


def _without(data: Mapping[str, Any], places: Collection[tuple[str, ...]]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in data.items():
        if (key,) in places:
            continue
        below = {place[1:] for place in places if place[0] == key}
        kept[key] = _without(value, below) if below else value
    return kept


def _overlap(key: str, other: str) -> bool:
    return f"{key}.".startswith(f"{other}.") or f"{other}.".startswith(f"{key}.")


def _all_conflicts(table: Table) -> list[Fault]:
    faults = list(table.conflicts())
    for key in type(table).model_fields:
        value = getattr(table, key)
        if isinstance(value, Table):
            faults += [_below(key, fault) for fault in _all_conflicts(value)]
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, Table):
                    faults += [_below(f"{key}[{index + 1}]", fault) for fault in _all_conflicts(item)]
    return faults


def _below(key: str, fault: Fault) -> Fault:
    also = tuple(f"{key}.{other}" for other in fault.also)
    return replace(fault, key=f"{key}.{fault.key}", also=also)
