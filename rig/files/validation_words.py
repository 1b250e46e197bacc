"""What pydantic finds wrong with the values of a file, in words for whoever wrote it."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from rig.counted import counted
from rig.files.fault import Fault

__all__ = ["faults_in_words", "shortened", "written_key"]

_LONGEST_FOUND = 120  # characters
_LONGEST_EXPECTED = 600  # which may tell several faults of a position, and quote them
_BOUNDS = {
    "greater_than": "above",
    "greater_than_equal": "of at least",
    "less_than": "below",
    "less_than_equal": "of at most",
}
_MAPPINGS = (dict, Mapping)
# Of words as short as the casualty options "iv" would be near to "i", though any of them may be meant.
_ALIKE = 0.7


def faults_in_words(model: type[BaseModel], form: str, errors: Iterable[Any]) -> list[Fault]:
    """Give what a model found wrong as faults.

    Parameters
    ----------
    model
        Of the whole file.
    form
        What is expected where a table belongs and something else is found; ``{key}`` in it stands for the key.
    errors
        As pydantic gives them.
    """
    # A list that is three items short is one fault, not three: the last one says how many there must be.
    faults: dict[str, Fault] = {}
    # So are items of a list that are wrong in the same way: the first one is shown, with how many there are.
    alike: dict[tuple[str, str], list[str]] = {}
    for error in errors:
        if error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"]:
            # It is long enough; its items are faulty, and said to be.
            continue
        fault = _one_in_words(model, form, error)
        place = error["loc"]
        if isinstance(place[-1], int) and error["type"] != "missing":
            same = alike.setdefault((_dotted(place[:-1]), fault.expected), [])
            same.append(fault.key)
            if len(same) > 1:
                faults[same[0]] = replace(faults[same[0]], hint=_and_more(len(same) - 1))
                continue
        faults[fault.key] = fault
    return list(faults.values())


def _and_more(count: int) -> str:
    return f"and {counted(count, 'more item')} like it"


def shortened(said: str, longest: int = _LONGEST_FOUND) -> str:
    """Cut what nobody would read to its end; the file has it whole."""
    return said if len(said) <= longest else f"{said[:longest].rstrip(' ,')} ..."


def _one_in_words(model: type[BaseModel], form: str, error: Any) -> Fault:
    place: Sequence[str | int] = error["loc"]
    key = _dotted(place)
    kind: str = error["type"]
    found = shortened(json.dumps(error["input"], ensure_ascii=False, default=str))
    message: str = error["msg"]
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind == "extra_forbidden":
        known = _keys_at(model, place[:-1])
        near = difflib.get_close_matches(str(place[-1]), known, n=1)
        table = _dotted(place[:-1]) or "the file"
        return Fault(
            key,
            "a key that nothing reads",
            f"a key of {table}",
            hint=f"did you mean {near[0]}?" if near else f"it knows {', '.join(known)}",
        )
    if kind == "missing" and isinstance(place[-1], int):
        return Fault(_dotted(place[:-1]), found, f"a list of at least {place[-1] + 1} items")
    if kind == "missing":
        return Fault(key, "nothing", "a value; this key must be given")
    if kind.endswith(("too_short", "too_long")):
        bound = context.get("min_length", context.get("max_length"))
        side = "at least" if kind.endswith("too_short") else "at most"
        what, each = ("a string", "character") if kind.startswith("string") else ("a list", "item")
        if isinstance(error["input"], Mapping):
            what, each = form.partition(",")[0], "key"
        return Fault(key, found, f"{what} of {side} {counted(bound, each)}")
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return Fault(key, found, form.format(key=key))
    if kind in {"tuple_type", "list_type"}:
        return Fault(key, found, "a list", hint=_how_tables_are_listed(model, place))
    if kind in {"literal_error", "enum"}:
        choices = _quoted(str(context["expected"]))
        near = (
            difflib.get_close_matches(str(error["input"]), choices, n=1, cutoff=_ALIKE)
            if len(choices) > 1
            else []
        )
        return Fault(key, found, str(context["expected"]), hint=f"did you mean {near[0]!r}?" if near else "")
    if kind == "value_error":
        return Fault(key, found, shortened(str(context["error"]), _LONGEST_EXPECTED))
    if kind in {*_BOUNDS, "finite_number"} and (room := _room_at(model, place)):
        return Fault(key, found, room)
    if kind in _BOUNDS:
        return Fault(key, found, f"a number {_BOUNDS[kind]} {next(iter(context.values())):g}")
    said = (
        message.removeprefix("Input should be ")
        .replace("a valid ", "a ")
        .replace("a integer", "a whole number")
    )
    return Fault(key, found, said.partition(", ")[0])


def _how_tables_are_listed(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Say how each table of a TOML file's list begins; empty where the list is none of tables."""
    form = getattr(_type_at(model, place), "form", "")
    return f"each table of it begins with [[{_dotted(place)}]]" if form.startswith("a table") else ""


def _dotted(place: Sequence[str | int]) -> str:
    said = ""
    for part in place:
        said += f"[{part + 1}]" if isinstance(part, int) else f".{written_key(part)}"
    return said.removeprefix(".")


def written_key(key: str) -> str:
    """Give a key as TOML would have it, bare where it can be; of one that nobody would read to its end the beginning."""
    return shortened(key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False))


def _quoted(expected: str) -> list[str]:
    return re.findall(r"'([^']*)'", expected)


def _keys_at(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """Give the keys that the table at a place may have."""
    return [field.alias or key for key, field in _type_at(model, place).model_fields.items()]


def _room_at(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Say from where to where a key's number may go; empty for what is no key, and where one side is open."""
    fields = getattr(_type_at(model, place[:-1]), "model_fields", {})
    field = next((field for key, field in fields.items() if place[-1] in {key, field.alias}), None)
    bounds = {
        name: getattr(each, name)
        for each in (field.metadata if field is not None else ())
        for name in ("gt", "ge", "lt", "le")
        if hasattr(each, name)
    }
    if {"ge", "le"} == bounds.keys():
        return f"a number from {_number(bounds['ge'])} to {_number(bounds['le'])}"
    if {"gt", "le"} == bounds.keys():
        return f"a number above {_number(bounds['gt'])}, at most {_number(bounds['le'])}"
    return ""


def _number(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:.15g}"


def _type_at(model: type[BaseModel], place: Sequence[str | int]) -> Any:
    """Give what stands at a place: a table, or what else its keys lead to."""
    current: Any = model
    for part in place:
        if get_origin(current) in _MAPPINGS:
            # Its keys are as they come; what they lead to is the table.
            current = get_args(current)[1]
        elif not isinstance(part, int):
            current = current.model_fields[part].annotation
        while get_origin(current) not in {None, *_MAPPINGS}:
            # A list of tables is a tuple[Table, ...], and one that may be left out a Table | None.
            current = get_args(current)[0]
    return current
