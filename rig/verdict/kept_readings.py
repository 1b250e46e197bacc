"""The readings that are kept with a recording, as who looks back finds them: `rig.verdict.analysis_store` keeps them.

Nothing here sees: a log that tells of them does not wait until the eye is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

__all__ = ["FOLDER", "FORMAT", "KeptReading", "kept_readings", "reading_in"]

FORMAT = "shot-analysis/1"
FOLDER = "analysis"
"""Of a recording's folder."""


@dataclass(frozen=True, slots=True)
class KeptReading:
    """One file of a recording's `analysis` folder."""

    path: Path
    software_version: str
    result: Mapping[str, Any]
    """What `rig analyse --json` prints."""


class _Fall(BaseModel):
    square: str
    cause: str


class _Doubt(BaseModel):
    square: str


class _Verdict(BaseModel):
    casualties: list[str]
    doubts: list[_Doubt]


class _Result(BaseModel):
    falls: list[_Fall]
    moved: list[Any]
    verdict: _Verdict


class _Software(BaseModel):
    rig: str


class _Kept(BaseModel):
    """What whoever takes up a kept reading counts on; there is more in it."""

    format: Literal["shot-analysis/1"]
    software: _Software
    result: _Result


def kept_readings(folder: Path) -> Iterator[KeptReading]:
    """Give the readings that are kept with a recording, the oldest first; files of another kind are left out."""
    files = [path for path in (folder / FOLDER).glob("*.json") if path.is_file()]
    for path in sorted(files, key=lambda each: (each.stat().st_mtime_ns, each.name)):
        try:
            whole = reading_in(path.read_bytes())
        except OSError:
            continue
        if whole is not None:
            yield KeptReading(path, whole["software"]["rig"], whole["result"])


def reading_in(data: bytes) -> Mapping[str, Any] | None:
    """Return the whole of a reading's file; None where the file is of another kind, or was emptied, cut short or changed."""
    try:
        whole: dict[str, Any] = json.loads(data)
        _Kept.model_validate(whole)
    except (ValueError, RecursionError):
        return None
    return whole
