"""Where a replay goes in a folder that somebody named: it takes the place of nothing but its own recording's.

Film and sheet carry the digest of the recording that they show. Recordings of the same name lie in many folders, and
somebody may have given such a name to a film of their own.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import av
from PIL import Image

from rig.recording import Recording
from rig.verdict.analysis_store import digest_of

__all__ = ["MARK", "place_in"]

MARK = "comment"
"""What film and sheet keep the recording's digest under."""


def place_in(into: Path, folder: Path, recording: Recording) -> tuple[Path, Path]:
    """Return film and sheet of a replay: new files, or those that this recording's replay wrote before.

    Parameters
    ----------
    into
        The folder that was named.
    folder
        The recording.
    recording
        Its recording.json, read.
    """
    digest, name = digest_of(folder, recording), folder.resolve().name
    for count in itertools.count(1):
        stem = name if count == 1 else f"{name}-{count}"
        film, sheet = into / f"{stem}.mp4", into / f"{stem}.png"
        if all(not file.is_file() or _digest_in(file) == digest for file in (film, sheet)):
            return film, sheet
    raise AssertionError("some name is free")


def _digest_in(file: Path) -> str | None:
    try:
        if file.suffix == ".png":
            with Image.open(file) as picture:
                return picture.info.get(MARK)
        with av.open(str(file.resolve())) as film:
            return film.metadata.get(MARK)
    except (OSError, ValueError, Image.DecompressionBombError, av.error.FFmpegError):
        return None
