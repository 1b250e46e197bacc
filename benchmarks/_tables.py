"""Tables before and after a shot with their truth, for what learns from them: recordings, and tables filmed in disorder."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rig.recording import read_frames, read_recording, write_recording
from rig.verdict.analyse import scene_in
from twin.clips import film_disorder
from vision.steady import Steady, typical
from vision.table_before import NoReading, TableBefore, read_before

__all__ = [
    "DISORDER",
    "FOLDS",
    "Asked",
    "FilmedTable",
    "Foot",
    "asked",
    "fold_of",
    "from_everywhere",
    "parted",
    "truths_in",
]

T = TypeVar("T")
Foot = tuple[float, float]
DISORDER = "disorder-"
"""What the names of tables begin with that were brought into disorder."""
_LAST_PICTURES = 9
_HELD_BACK = 5  # one recording in so many
FOLDS = 5
"""Parts of what is held back, for what is fitted to it and checked on the part that it was not fitted to."""


@dataclass(frozen=True, slots=True, eq=False)
class FilmedTable:
    """A table before a shot and after it."""

    name: str
    """Of its recording."""
    before: TableBefore
    after: NDArray[np.float32]
    """The picture of it at rest afterwards on the raster, still and lit as before, shape (rows, columns, colours)."""
    stood_mm: dict[str, Foot]
    """Where the soldier of each square stood, by square."""
    now_mm: dict[str, Foot | None]
    """Where it stands now; ``None`` where it fell."""
    sides: dict[str, str]
    """Of which side it is."""


def read_table(folder: Path) -> FilmedTable | None:
    """Read a recording with its truth; ``None`` where it shows no table."""
    recording = read_recording(folder)
    frames = list(read_frames(folder, recording))
    times_us, scene = recording.timestamps_us[: len(frames)], scene_in(folder, recording)
    before = read_before(frames, times_us, scene)
    if isinstance(before, NoReading):
        # What is not seen to stand as it is told is what there is most to learn from.
        before = read_before(frames, times_us, replace(scene, expected=None))
    if isinstance(before, NoReading):
        return None
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    stood_mm: dict[str, Foot] = {each["square"]: (each["x_mm"], each["y_mm"]) for each in truth["before"]}
    now_mm: dict[str, Foot | None] = {**stood_mm}
    now_mm |= {each["square"]: (each["x_mm"], each["y_mm"]) for each in truth["moved"]}
    now_mm |= {fall["square"]: None for fall in truth["falls"]}
    after = typical(frames[-min(_LAST_PICTURES, len(frames) // 2) :])
    sway = Steady(before.picture).measure(after)
    flat = before.board.raster.lay(after, shift_px=(sway.du_px, sway.dv_px)) / np.float32(sway.gain)
    sides = {each["square"]: each["side"] for each in truth["before"]}
    return FilmedTable(folder.name, before, flat.astype(np.float32), stood_mm, now_mm, sides)


def disorder_name(seed: int) -> str:
    """Give the name of the recording of a table in disorder."""
    return f"{DISORDER}{seed:05d}"


def film_table(seed: int) -> FilmedTable | None:
    """Film a table and bring it into disorder."""
    disorder = film_disorder(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / disorder_name(seed)
        folder.mkdir()
        (folder / "truth.json").write_text(json.dumps(disorder.as_json()), encoding="utf-8")
        write_recording(folder, disorder.keys, disorder.frames)
        return read_table(folder)


@dataclass(frozen=True, slots=True)
class _Of(Generic[T]):
    """What is wanted of a table, found where the table is read: another process hands back that alone."""

    wanted: Callable[[FilmedTable], list[T]]

    def __call__(self, source: Path | int) -> list[T] | None:
        table = film_table(source) if isinstance(source, int) else read_table(source)
        return None if table is None else self.wanted(table)


def from_everywhere(
    wanted: Callable[[FilmedTable], list[T]], truths: Sequence[Path], disorders: range
) -> Iterator[T]:
    """Give what is wanted of the tables of recordings, and of those of some seeds that are filmed in disorder."""
    sources = [truth.parent for truth in truths] + list(disorders)
    unseen = 0
    with ProcessPoolExecutor() as workers:
        for found in workers.map(_Of(wanted), sources):
            unseen += found is None
            yield from found or ()
    print(f"{len(sources)} tables, {unseen} of them not seen and left out", flush=True)


# --- what is held back


def _is_held_back(recording: str) -> bool:
    """Whether a recording of this name is measured on, and never learnt from."""
    return zlib.crc32(recording.encode()) % _HELD_BACK == 0


def fold_of(recording: str) -> int:
    """Give the part, of `FOLDS`, that a recording that is held back belongs to."""
    return zlib.crc32(recording.encode()) // _HELD_BACK % FOLDS


class _OfARecording(Protocol):
    @property
    def recording(self) -> str: ...


C = TypeVar("C", bound=_OfARecording)


def parted(cases: Sequence[C]) -> tuple[list[C], list[C]]:
    """Part cases into those that are learnt from and those that are held back, recording by recording."""
    learnt = [case for case in cases if not _is_held_back(case.recording)]
    return learnt, [case for case in cases if _is_held_back(case.recording)]


# --- the command line


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    truths: tuple[Path, ...]
    """The truth of every recording."""
    disorders: range
    """Seeds of the tables to bring into disorder."""
    out: Path
    """Folder for what is learnt."""
    go_on: bool
    """Whether to go on from the network that is there."""


def asked(description: str | None, network: str, *, first_disorder: int = 0) -> Asked:
    """Read the command line of what learns from tables; what cannot work ends the program before anything is filmed.

    Parameters
    ----------
    description
        For ``--help``.
    network
        Where the network is in the project.
    first_disorder
        The seed of the first table to bring into disorder.
    """
    shipped = Path(__file__).parents[1] / network
    program = f"python -m benchmarks.{Path(sys.argv[0]).stem}"
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of recordings with truth.json")
    parser.add_argument("--out", type=Path, default=shipped.parent, help="folder for what is learnt")
    parser.add_argument("--disorders", type=int, default=1300, help="how many tables to bring into disorder")
    parser.add_argument("--go-on", action="store_true", help="go on, gently, from the network that is there")
    given = parser.parse_args()
    truths = truths_in(given.folders, parser)
    if given.disorders < 0:
        parser.error(f"--disorders {given.disorders}: expected 0 or more")
    if not given.out.is_dir():
        parser.error(f"{given.out}: there is no such folder")
    if given.go_on and not (given.out / shipped.name).is_file():
        parser.error(f"{given.out / shipped.name}: there is no network to go on from")
    disorders = range(first_disorder, first_disorder + given.disorders)
    names = [truth.parent.name for truth in truths] + [disorder_name(seed) for seed in disorders]
    if len({fold_of(name) for name in names if _is_held_back(name)}) < 2:
        parser.error(f"{len(names)} recordings are too few, 50 will do: a fifth is held back to measure on")
    return Asked(tuple(truths), disorders, given.out, given.go_on)


def truths_in(folders: Sequence[Path], parser: argparse.ArgumentParser) -> list[Path]:
    """Give the truth of every recording in folders; a folder without any ends the program."""
    truths = [truth for folder in folders for truth in sorted(folder.glob("*/truth.json"))]
    for folder in folders:
        if not any(truth.parent.parent == folder for truth in truths):
            parser.error(f"{folder}: no recordings with their truth in it (folders with a truth.json)")
    return truths
