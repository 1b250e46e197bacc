"""The twin behind the seams of real hardware: its settings from `[twin]`, its camera's errors, its hands."""

from __future__ import annotations

import dataclasses
import difflib
import typing
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from game.montecassino import Position, Side, Square
from rig.camera import CameraGone, Frame
from rig.settings import Settings, SettingsError
from rig.toml_faults import Fault
from twin import Twin, TwinSettings
from twin.camera import CameraGoneError

__all__ = ["TwinCamera", "TwinHands", "twin_settings"]

_REST_STEP_US = 50_000
_LONGEST_REST_US = 10_000_000
_GIVEN_ELSEWHERE = {"soldiers": "[game] position", "side": "the turn in [game] position"}


def twin_settings(settings: Settings, position: Position, name: str = "rig.toml") -> TwinSettings:
    """Return the twin that `[twin]` describes, set up with a position.

    Raises
    ------
    SettingsError
        With every key of `[twin]` that the twin does not have or cannot take.
    """
    faults: list[Fault] = []
    made = _build(TwinSettings, settings.twin, "twin", faults)
    if faults:
        raise SettingsError(name, faults)
    assert isinstance(made, TwinSettings)
    return dataclasses.replace(made, soldiers=position.soldiers, side=position.turn)


def _build(kind: Any, table: Mapping[str, Any], place: str, faults: list[Fault]) -> object:
    """Make a settings value from a table; the settings of the twin are dataclasses of dataclasses."""
    types = typing.get_type_hints(kind)
    known = [field.name for field in dataclasses.fields(kind) if field.name not in _GIVEN_ELSEWHERE]
    values: dict[str, Any] = {}
    for key, value in table.items():
        where = f"{place}.{key}"
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it knows {', '.join(known)}"
            if key in _GIVEN_ELSEWHERE:
                hint = f"it comes from {_GIVEN_ELSEWHERE[key]}"
            faults.append(Fault(where, "a key that nothing reads", f"a key of [{place}]", hint=hint))
        elif dataclasses.is_dataclass(types[key]):
            if isinstance(value, dict):
                values[key] = _build(types[key], value, where, faults)
            else:
                faults.append(Fault(where, repr(value), f"a table, [{where}]"))
        else:
            try:
                values[key] = TypeAdapter(types[key], config=ConfigDict(allow_inf_nan=False)).validate_python(
                    value
                )
            except ValidationError as bad:
                message = bad.errors(include_url=False)[0]["msg"].removeprefix("Input should be ")
                faults.append(Fault(where, repr(value), message))
    if faults:
        return None
    try:
        return kind(**values)
    except ValueError as bad:
        faults.append(Fault(f"[{place}]", repr(dict(table)), str(bad)))
        return None


class TwinCamera:
    """The twin's camera, keeping `rig.camera.Camera`'s promises."""

    name = "twin"

    def __init__(self, twin: Twin) -> None:
        self._camera = twin.camera
        lens = twin.settings.camera.lens
        self.width_px = lens.width_px
        self.height_px = lens.height_px
        self.fps = twin.settings.camera.fps

    def poll(self) -> list[Frame]:
        """Return every frame since the last poll; CameraGone once it was unplugged."""
        try:
            return list(self._camera.poll())
        except CameraGoneError as error:
            raise CameraGone("camera twin: it stopped giving pictures (unplugged)") from error

    def close(self) -> None:
        """Nothing to let go: the twin closes its camera itself."""


class TwinHands:
    """Hands at the twin's table: they do at once what a person would be asked for."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        twin.hands.turn_key(True)
        twin.hands.lane(True)

    def carry_to(self, side: Side) -> None:
        """Carry the cannon there."""
        self._twin.hands.carry_to(side)

    def load(self) -> None:
        """Put a shot into the muzzle."""
        self._twin.hands.load()

    def set_up(self, casualties: Collection[Square], put_back: Collection[Square]) -> None:
        """Take the casualties away, stand the others up, pick up the shot; all once everything lies still."""
        waited_us = 0
        while not self._twin.table.at_rest and waited_us < _LONGEST_REST_US:
            self._twin.run_for(_REST_STEP_US)
            waited_us += _REST_STEP_US
        self._twin.table.clear_shot()
        for square in casualties:
            self._twin.table.remove(square)
        for square in put_back:
            self._twin.table.put_back(square)
