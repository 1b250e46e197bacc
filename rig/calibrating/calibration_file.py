"""The calibration file: what a fit found, as JSON ("cannon-calibration/1"), for the rig to aim by and for people to read."""

from __future__ import annotations

import functools
import importlib.metadata
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from calibration.fit import Calibration, Mount, Parameter, Status
from rig import settings
from rig.files.checked_file import (
    Fault,
    FaultyFile,
    JsonObject,
    check_replaceable,
    parse_json,
    read_text,
    refuse_other_format,
    validate,
)
from rig.files.whole_file import write_whole

__all__ = [
    "CalibrationFile",
    "CalibrationFileError",
    "Input",
    "calibration_of",
    "read_calibration",
    "write_calibration",
]

FORMAT = "cannon-calibration/1"

Finite = Annotated[float, Field(ge=-1e9, le=1e9)]
NotNegative = Annotated[float, Field(ge=0, le=1e9)]


class CalibrationFileError(FaultyFile):
    """A calibration that cannot be used; `faults` holds everything that is wrong with it."""


class Input(JsonObject):
    """Where some of the shots came from."""

    source: str
    """A file's name, `--tape`, or the log with its shot numbers."""
    shots: Annotated[int, Field(ge=0)]


class _Parameter(JsonObject):
    value: Finite
    sd: NotNegative
    status: Status


class _Mount(JsonObject):
    pivot_height_m: Finite
    barrel_m: NotNegative
    elevation_centre_rad: Finite
    azimuth_centre_rad: Finite
    gravity_mps2: Annotated[float, Field(ge=9.7, le=9.9)]


class _Keys(JsonObject):
    format: Literal["cannon-calibration/1"]
    made_utc: str
    versions: dict[str, str]
    inputs: tuple[Input, ...]
    mount: _Mount
    parameters: dict[Parameter, _Parameter]
    covariance: tuple[tuple[Finite, ...], ...]
    """In the order of the parameters."""
    scatter: Annotated[float, Field(gt=0, lt=1)]
    scatter_fitted: bool
    place_noise_m: NotNegative
    place_noise_fitted: bool
    usual_shots_before: Annotated[int, Field(ge=0)]
    usual_dwell_s: NotNegative
    shots_fired: Annotated[int, Field(ge=0)] | None = None
    """By the spring when the calibration was made, counted as the usual ones are; None: not known."""
    freedom: Annotated[int, Field(ge=1)]
    shots: Annotated[int, Field(ge=1)]
    wild: tuple[str, ...]
    notes: tuple[str, ...]

    def conflicts(self) -> Iterator[Fault]:
        """Ask for every parameter, in order, with a covariance that fits and is one."""
        if list(self.parameters) != list(Parameter):
            yield Fault("parameters", ", ".join(self.parameters), f"in this order {', '.join(Parameter)}")
            return
        speed = self.parameters[Parameter.SPEED].value
        if not 0.5 < speed < 30:
            yield Fault("parameters.speed_mps.value", f"{speed:g}", "a muzzle speed of 0.5 to 30 m/s")
        if not self.parameters[Parameter.DRAG].value >= 0:
            drag_per_m = self.parameters[Parameter.DRAG].value
            yield Fault("parameters.drag_per_m.value", f"{drag_per_m:g}", "a drag of 0 or more")
        for name in (Parameter.ELEVATION_GAIN, Parameter.AZIMUTH_GAIN):
            if not 0.5 < self.parameters[name].value < 2:
                yield Fault(f"parameters.{name}.value", f"{self.parameters[name].value:g}", "a gain near 1")
        count = len(Parameter)
        if [len(row) for row in self.covariance] != [count] * count:
            yield Fault("covariance", "another shape", f"{count} rows of {count} numbers")
            return
        matrix = np.array(self.covariance)
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-18) or np.any(np.diag(matrix) < 0):
            yield Fault(
                "covariance", "numbers that are no covariance", "a symmetric matrix, diagonal 0 or more"
            )


@dataclass(frozen=True, slots=True)
class CalibrationFile:
    """A calibration as it was read."""

    calibration: Calibration
    made_utc: str
    inputs: tuple[Input, ...]
    shots_fired: int | None = None
    """How many shots the spring had fired when it was made, counted as its `usual_shots_before` are.

    None: it does not say, or its shots were not all counted from the same one on.
    """

    @property
    def identity(self) -> str:
        """What the log calls it: when it was made, and its muzzle speed."""
        return f"{self.made_utc} {self.calibration.muzzle_speed_mps():.3f} m/s"


def write_calibration(
    path: Path, calibration: Calibration, inputs: Sequence[Input], *, shots_fired: int | None = None
) -> None:
    """Write a calibration file; one that is there is replaced.

    `shots_fired` is as in `CalibrationFile`.

    Raises
    ------
    CalibrationFileError
        It cannot be written, what is there is no calibration, or no cannon is like that: it could not be read again.
    """
    check_replaceable(path, FORMAT, CalibrationFileError)
    content: dict[str, Any] = {
        "format": FORMAT,
        "made_utc": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": {
            name: importlib.metadata.version(name) for name in ("montecassino-rig", "numpy", "scipy")
        },
        "inputs": [each.model_dump() for each in inputs],
        "mount": {name: getattr(calibration.mount, name) for name in _Mount.model_fields},
        "parameters": {
            parameter.value: {
                "value": calibration.value(parameter),
                "sd": calibration.sd(parameter),
                "status": calibration.status_of(parameter).value,
            }
            for parameter in Parameter
        },
        "covariance": calibration.covariance.tolist(),
        **{
            name: getattr(calibration, name)
            for name in (
                "scatter",
                "scatter_fitted",
                "place_noise_m",
                "place_noise_fitted",
                "usual_shots_before",
                "usual_dwell_s",
                "freedom",
                "shots",
                "wild",
                "notes",
            )
        },
        "shots_fired": shots_fired,
    }
    validate(_Keys, content, "the calibration that these shots give", CalibrationFileError)
    try:
        write_whole(path, json.dumps(content, indent=1) + "\n")
    except OSError as error:
        raise CalibrationFileError(
            str(path), [Fault("the file", str(error.strerror), "a file that can be written")]
        ) from error


def read_calibration(path: Path) -> CalibrationFile:
    """Read a calibration file.

    Raises
    ------
    CalibrationFileError
        With everything that is wrong with it.
    """
    name = str(path)
    text = read_text(path, CalibrationFileError, missing="a calibration, as `rig calibrate range` writes it")
    content = parse_json(
        text, name, CalibrationFileError, expected="a calibration, as `rig calibrate range` writes it"
    )
    refuse_other_format(content, name, FORMAT, CalibrationFileError)
    keys = validate(_Keys, content, name, CalibrationFileError)
    return CalibrationFile(
        Calibration(
            values=np.array([keys.parameters[parameter].value for parameter in Parameter]),
            covariance=np.array(keys.covariance),
            status=tuple(keys.parameters[parameter].status for parameter in Parameter),
            mount=Mount(**keys.mount.model_dump()),
            scatter=keys.scatter,
            scatter_fitted=keys.scatter_fitted,
            place_noise_m=keys.place_noise_m,
            place_noise_fitted=keys.place_noise_fitted,
            usual_shots_before=keys.usual_shots_before,
            usual_dwell_s=keys.usual_dwell_s,
            freedom=keys.freedom,
            shots=keys.shots,
            wild=keys.wild,
            notes=keys.notes,
        ),
        keys.made_utc,
        keys.inputs,
        keys.shots_fired,
    )


def calibration_of(cannon: settings.Cannon) -> CalibrationFile | None:
    """Return the calibration that the settings name, or None where they name none.

    It is read again only when the file has changed.
    """
    if cannon.calibration is None:
        return None
    path = Path(cannon.calibration)
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError:
        changed_ns = 0
    return _read_once(path, changed_ns)


@functools.lru_cache(maxsize=8)
def _read_once(path: Path, _changed_ns: int) -> CalibrationFile:
    return read_calibration(path)
