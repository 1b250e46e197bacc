"""The [twin] table of `rig.toml`, checked against the twin's own settings.

The twin describes itself: its settings are plain dataclasses, and their attribute docstrings say what each means.
Here they become the keys of a table, nested as they are nested there (`[twin.plant.spring]`). What cannot be said in
TOML (who stands where, which the game says) is no key.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import itertools
import re
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from game.montecassino import Position
from rig.cli.opening.twin_likeness import likeness
from rig.files.checked_file import Fault, Table, validate
from rig.keys.camera import lens_conflicts
from rig.settings import Settings, SettingsError
from rig.settings_text import comment, pair
from twin import TwinSettings

__all__ = ["twin_faults", "twin_settings", "twin_text"]

_OFTEN_WANTED: Mapping[str, object] = types.MappingProxyType(
    {
        # Key, and a value to try where the default is "never" or "does not apply".
        "seed": None,
        "plant.spring.speed_scatter": None,
        "plant.spring.fade_cocked": None,
        "plant.traverse.backlash_us": None,
        "plant.lever.solenoid_works": None,
        "plant.loader.jams": (3,),
        "plant.gate.first_stuck": True,
        "plant.emergency_stop.wire_cut_at_s": 2.5,
        "line.lost_to_chip": None,
        "line.corrupted_from_chip": None,
        "table.placement_sd_mm": None,
        "camera.sensor.noise": None,
        "camera.faults.drop_probability": None,
        "camera.faults.stall_at_us": 2_000_000,
        "camera.faults.bump_at_us": 2_000_000,
    }
)

_GIVEN_ELSEWHERE = types.MappingProxyType(
    {"soldiers": "[game] position", "side": "the turn in [game] position"}
)

_PLAIN = (bool, str, Path, types.NoneType)
_NUMBERS: Mapping[type, Any] = types.MappingProxyType(
    {
        # TOML's own whole numbers; and nothing about a table is more, in whatever unit.
        int: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)],
        float: Annotated[float, Field(ge=-1e9, le=1e9)],
    }
)


def twin_settings(settings: Settings, position: Position) -> TwinSettings:
    """Give the twin of the table that the rest of the file describes, but for what [twin] says otherwise.

    Raises
    ------
    SettingsError
        With everything that is wrong in [twin].
    """
    twin, faults = _fitted(likeness(settings, position), settings.twin)
    if faults:
        raise SettingsError(settings.name, faults)
    return twin


def twin_faults(table: Mapping[str, Any], settings: Settings | None = None) -> list[Fault]:
    """Say everything that is wrong in a [twin] table, by itself or with the rest of the file."""
    base = TwinSettings() if settings is None else likeness(settings, Position.parse(settings.game.position))
    return _fitted(base, table)[1]


def _fitted(base: TwinSettings, table: Mapping[str, Any]) -> tuple[TwinSettings, list[Fault]]:
    try:
        given = validate(_twin_table(), table, "[twin]", SettingsError)
    except SettingsError as error:
        return base, [_in_twin(fault) for fault in error.faults]
    faults: list[Fault] = []
    twin = typing.cast(TwinSettings, _changed(base, given, "twin", faults))
    lens = twin.camera.lens
    no_lens = lens_conflicts(
        "focal_px",
        lens.intrinsics,
        lens.distortion,
        sides=("width_px", "height_px"),
        size_px=(lens.width_px, lens.height_px),
    )
    faults += [dataclasses.replace(fault, key=f"twin.camera.lens.{fault.key}") for fault in no_lens]
    return twin, faults


def twin_text() -> str:
    """Write the lines of [twin] in a new `rig.toml`: what is often wanted, everything but the seed commented out."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    for key, example in _OFTEN_WANTED.items():
        value: Any = TwinSettings()
        *path, last = key.split(".")
        for part in path:
            value = getattr(value, part)
        # A field without words of its own is one of those that its class speaks for.
        words = _docs(type(value)).get(last) or inspect.cleandoc(type(value).__doc__ or "").partition("\n")[0]
        yield from comment(words.removesuffix(" ..."))
        line = pair(key, getattr(value, last) if example is None else example)
        yield line if key == "seed" else f"# {line}"


def _in_twin(fault: Fault) -> Fault:
    expected = re.sub(r"^(a key of |a table, \[)(?!the file)", r"\1twin.", fault.expected)
    expected = expected.replace("a key of the file", "a key of twin")
    hint = fault.hint.replace("[[", "[[twin.")
    if fault.key in _GIVEN_ELSEWHERE:
        hint = f"it comes from {_GIVEN_ELSEWHERE[fault.key]}"
    return dataclasses.replace(fault, key=f"twin.{fault.key}", expected=expected, hint=hint)


class _Undocumented(Table, use_attribute_docstrings=False):
    """A table whose keys have their words elsewhere: to look for them in the text of its class takes long and finds none."""


@functools.cache
def _twin_table() -> type[Table]:
    return _table(TwinSettings)


def _table(settings_class: type) -> type[Table]:
    """Make the table whose keys are the fields of one of the twin's dataclasses."""
    hints = typing.get_type_hints(settings_class)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(settings_class):
        annotation = _in_toml(hints[field.name])
        if annotation is not None and field.name not in _GIVEN_ELSEWHERE:
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            # What is left out is taken from the twin's own defaults (`_changed`), so none is repeated here.
            fields[field.name] = (
                (annotation, Field()) if required else (annotation | None, Field(default=None))
            )
    return create_model(settings_class.__name__, __base__=_Undocumented, **fields)


def _in_toml(annotation: Any) -> Any:
    """Give the type that a value has in the file, or None where TOML has no way to say it."""
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return _table(annotation)
    if annotation in _NUMBERS:
        return _NUMBERS[annotation]
    if annotation in _PLAIN or (isinstance(annotation, type) and issubclass(annotation, enum.Enum)):
        return annotation
    origin = typing.get_origin(annotation)
    if origin not in (typing.Union, types.UnionType, tuple):
        return None
    parts = [each if each is Ellipsis else _in_toml(each) for each in typing.get_args(annotation)]
    if any(part is None for part in parts):
        return None
    whole: Any = tuple if origin is tuple else typing.Union
    return whole[tuple(parts)]


def _changed(base: Any, given: Table, path: str, faults: list[Fault]) -> Any:
    """Give `base` with the keys that the file gives; a value that the twin refuses is a fault."""
    hints = typing.get_type_hints(type(base))
    changes: dict[str, Any] = {}
    try:
        for key in (key for key in type(given).model_fields if key in given.model_fields_set):
            value, old = getattr(given, key), getattr(base, key)
            if isinstance(value, Table) and dataclasses.is_dataclass(old):
                changes[key] = _changed(old, value, f"{path}.{key}", faults)
                continue
            known = len(faults)
            built = _built(hints[key], value, f"{path}.{key}", faults)
            changes[key] = built if len(faults) == known else old
        return dataclasses.replace(base, **changes)
    except ValueError as refused:
        faults.append(_unfit(path, refused))
        return base


def _built(annotation: Any, value: Any, path: str, faults: list[Fault]) -> Any:
    """Turn a value of the file into the twin's own, where it is a list of tables; each that the twin refuses is a fault."""
    if isinstance(value, tuple):
        (whole,) = (each for each in _one_of(annotation) if typing.get_origin(each) is tuple)
        item = typing.get_args(whole)[0]
        return tuple(_built(item, each, f"{path}[{n}]", faults) for n, each in enumerate(value, start=1))
    if isinstance(value, Table) and dataclasses.is_dataclass(annotation):
        try:
            return typing.cast(type, annotation)(
                **{key: getattr(value, key) for key in value.model_fields_set}
            )
        except ValueError as refused:
            faults.append(_unfit(path, refused))
    return value


def _one_of(annotation: Any) -> tuple[Any, ...]:
    """Give the types that a value may have, which are one where its annotation is no union."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)


def _unfit(path: str, refused: ValueError) -> Fault:
    return Fault(path, "settings that do not fit", f"what a twin can be: {refused}")


def _docs(settings_class: type) -> Mapping[str, str]:
    """Give the docstring under each field of a dataclass."""
    body = typing.cast(
        ast.ClassDef, ast.parse(textwrap.dedent(inspect.getsource(settings_class))).body[0]
    ).body
    docs: dict[str, str] = {}
    for field, after in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            docs[field.target.id] = inspect.cleandoc(str(after.value.value))
    return docs
