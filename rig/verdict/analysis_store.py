"""Where the readings of a recording are kept, beside each other: one file for each state of the code and of the recording.

`my-shot/analysis/0.1.0-3f2a91bc04de.json` holds what that rig read. The name is a digest of the code that reads and of
what it reads, so a newer rig, a recording that was mended, or uniforms taught anew make a file of their own and never
write over an older one; and what is there already need not be read again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import game
import rig
import vision
from rig.files.bounded_file import open_to_read, read_bytes
from rig.files.ready_folder import folder_to_fill
from rig.files.whole_file import write_whole
from rig.recording import KEYS_NAME, Recording
from rig.uniforms_file import taught_for
from rig.verdict.kept_readings import FOLDER, FORMAT, reading_in

__all__ = ["digest_of", "keep", "kept_or_free", "place_of"]

_DIGITS = 12
# What a reading hangs on: every file of these, what takes them a recording, and the libraries that see and calculate.
_CODE = (vision, game)
_OF_RIG = ("verdict/analyse.py", "recording", "uniforms_file.py", "film", "keys")
_LIBRARIES = ("numpy", "opencv-python", "scipy")


def place_of(folder: Path, recording: Recording, *, into: Path | None = None) -> Path:
    """Return the file that the present code's reading of a recording belongs in.

    Parameters
    ----------
    folder
        The recording.
    recording
        Its recording.json, read.
    into
        Where to keep readings of recordings that must not be written to; None: with the recording.
    """
    home = folder if into is None else into / _name_of(folder)
    version = importlib.metadata.version("montecassino-rig")
    digest = hashlib.sha256()
    for part in (_code_digest(), *_recorded(folder, recording)):
        digest.update(part)
    if (taught := taught_for(folder)) is not None:
        digest.update(_file_digest(taught))
    return home / FOLDER / f"{version}-{digest.hexdigest()[:_DIGITS]}.json"


def digest_of(folder: Path, recording: Recording) -> str:
    """Return what tells a recording, as it stands, from every other one, wherever it lies."""
    return hashlib.sha256(b"".join(_recorded(folder, recording))).hexdigest()


def kept_or_free(place: Path) -> tuple[Path, Mapping[str, Any] | None]:
    """Return the reading kept where `place_of` said, or a place beside it that is free: what is no reading stays as it is.

    Returns
    -------
    path, result
        The file, and what `rig analyse --json` prints; None where there is no reading yet.

    Raises
    ------
    OSError
        Where a file cannot be looked into.
    """
    for count in itertools.count(1):
        path = place if count == 1 else place.with_name(f"{place.stem}-{count}.json")
        if not path.exists():
            return path, None
        if (reading := reading_in(read_bytes(path))) is not None:
            return path, reading["result"]
    raise AssertionError("some name is free")


def keep(path: Path, result: Mapping[str, Any]) -> None:
    """Write a reading to where `kept_or_free` said; one that is there stays.

    Raises
    ------
    OSError
        Where it cannot be written.
    """
    if path.exists():
        return
    whole = {
        "format": FORMAT,
        "software": {
            "rig": importlib.metadata.version("montecassino-rig"),
            "code": _code_digest().hex()[:_DIGITS],
            **{name: importlib.metadata.version(name) for name in _LIBRARIES},
        },
        "result": result,
    }
    with folder_to_fill(path.parent):
        write_whole(path, json.dumps(whole) + "\n")


def _name_of(folder: Path) -> str:
    """Give a name that recordings of the same last name in different folders do not share."""
    whole = folder.resolve()
    return f"{whole.name}-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:6]}"


@cache
def _code_digest() -> bytes:
    digest = hashlib.sha256()
    for root, parts in (*((_root(package), (".",)) for package in _CODE), (_root(rig), _OF_RIG)):
        for path in sorted(path for part in parts for path in _files_in(root / part)):
            digest.update(str(path.relative_to(root)).encode())
            digest.update(_file_digest(path))
    for name in _LIBRARIES:
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    return digest.digest()


def _root(package: ModuleType) -> Path:
    return Path(next(iter(package.__path__)))


def _files_in(path: Path) -> Iterator[Path]:
    """Give a file, or every file of a folder but what Python made of them."""
    if path.is_dir():
        yield from (each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    else:
        yield path


def _recorded(folder: Path, recording: Recording) -> Iterator[bytes]:
    yield _file_digest(folder / KEYS_NAME)
    yield from _clip_digests(folder, recording)


def _clip_digests(folder: Path, recording: Recording) -> Iterator[bytes]:
    clip = folder / recording.clip
    if clip.is_dir():
        for path in sorted(clip.glob("*.png")):
            yield os.fsencode(path.name)
            yield _file_digest(path)
    elif clip.is_file():
        yield _file_digest(clip)


def _file_digest(path: Path) -> bytes:
    with open_to_read(path) as file:
        return hashlib.file_digest(file, "sha256").digest()
