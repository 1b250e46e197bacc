"""The uniforms that the eye was taught, kept as JSON ("uniforms/1") beside the recordings that they are for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from game.montecassino import Side
from rig.files.checked_file import (
    FaultyFile,
    JsonObject,
    check_replaceable,
    parse_json,
    read_text,
    refuse_other_format,
    validate,
)
from rig.files.whole_file import write_whole
from vision.scene import Uniforms

__all__ = [
    "NAME",
    "UniformsFileError",
    "beside",
    "find_uniforms",
    "read_uniforms",
    "taught_for",
    "write_uniforms",
]

NAME = "uniforms.json"
FORMAT = "uniforms/1"

Share = Annotated[float, Field(gt=0, le=1)]
Step = Annotated[int, Field(ge=0, le=1000)]


class UniformsFileError(FaultyFile):
    """Taught uniforms that cannot be used; `faults` holds everything that is wrong with them."""


class _Colour(JsonObject):
    steps: tuple[Step, Step, Step]
    share: Share


class _Keys(JsonObject):
    format: Literal["uniforms/1"]
    A: Annotated[tuple[_Colour, ...], Field(min_length=1)]
    G: Annotated[tuple[_Colour, ...], Field(min_length=1)]


def write_uniforms(path: Path, uniforms: Uniforms) -> None:
    """Write the file, whole or not at all.

    Raises
    ------
    UniformsFileError
        If what is there holds something else than uniforms.
    OSError
        If it cannot be written.
    """
    check_replaceable(path, FORMAT, UniformsFileError)
    told = {
        side.value: [
            {"steps": list(steps), "share": round(share, 6)}
            for steps, share in sorted(uniforms.shares[side].items())
        ]
        for side in Side
    }
    write_whole(path, json.dumps({"format": FORMAT, **told}) + "\n")


def find_uniforms(folder: Path) -> Uniforms | None:
    """Read the uniforms that are kept in a recording's folder, or else beside it; None where there are none.

    Raises
    ------
    UniformsFileError
        If the file is there and cannot be used.
    """
    path = taught_for(folder)
    return None if path is None else read_uniforms(path)


def taught_for(folder: Path) -> Path | None:
    """Return the file of taught uniforms that a recording is read with; None where there is none."""
    # What is there and is no file, as a link that leads nowhere, is told when it is read.
    return next((at / NAME for at in (folder, beside(folder)) if os.path.lexists(at / NAME)), None)


def beside(folder: Path) -> Path:
    """Return the folder that a recording's folder lies in, as it was named, unless the name does not tell it, as that of a link."""
    real = folder.resolve().parent
    return folder.parent if folder.parent.resolve() == real else real


def read_uniforms(path: Path) -> Uniforms:
    """Read a file of taught uniforms.

    Raises
    ------
    UniformsFileError
        If it cannot be used.
    """
    made = "a file of rig vision teach"
    text = read_text(path, UniformsFileError, missing=made)
    data = parse_json(text, str(path), UniformsFileError, expected=made)
    refuse_other_format(data, str(path), FORMAT, UniformsFileError)
    keys = validate(_Keys, data, str(path), UniformsFileError)
    shares = {Side.A: {c.steps: c.share for c in keys.A}, Side.G: {c.steps: c.share for c in keys.G}}
    return Uniforms(shares, str(path))
