"""Tables before and after a shot with their truth, for what learns from them: recordings, and tables filmed in disorder."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rig.analyse import scene_in
from rig.recording import read_frames, read_recording, write_recording
from twin.clips import film_disorder
from vision.reading import NoReading, TableBefore, read_before
from vision.steady import Steady, typical

__all__ = ["DISORDER", "FilmedTable", "Foot", "from_everywhere", "parser_of", "truths_in"]

T = TypeVar("T")
Foot = tuple[float, float]
DISORDER = "disorder-"
"""What the names of tables begin with that were brought into disorder."""
_LAST_PICTURES = 9


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
    stood_mm = {each["square"]: (each["x_mm"], each["y_mm"]) for each in truth["before"]}
    now_mm = stood_mm | {each["square"]: (each["x_mm"], each["y_mm"]) for each in truth["moved"]}
    now_mm |= {fall["square"]: None for fall in truth["falls"]}
    after = typical(frames[-min(_LAST_PICTURES, len(frames) // 2) :])
    sway = Steady(before.picture).measure(after)
    flat = before.board.raster.lay(after, shift_px=(sway.du_px, sway.dv_px)) / np.float32(sway.gain)
    sides = {each["square"]: each["side"] for each in truth["before"]}
    return FilmedTable(folder.name, before, flat.astype(np.float32), stood_mm, now_mm, sides)


def film_table(seed: int) -> FilmedTable | None:
    """Film a table and bring it into disorder."""
    disorder = film_disorder(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / f"{DISORDER}{seed:05d}"
        folder.mkdir()
        (folder / "truth.json").write_text(json.dumps(disorder.as_json()), encoding="utf-8")
        write_recording(folder, disorder.keys, disorder.frames)
        return read_table(folder)


@dataclass(frozen=True, slots=True)
class _Of(Generic[T]):
    """What is wanted of a table, found where the table is read: another process hands back that alone."""

    wanted: Callable[[FilmedTable], list[T]]

    def __call__(self, source: Path | int) -> list[T]:
        table = film_table(source) if isinstance(source, int) else read_table(source)
        return [] if table is None else self.wanted(table)


def from_everywhere(
    wanted: Callable[[FilmedTable], list[T]], truths: list[Path], disorders: int
) -> Iterator[T]:
    """Give what is wanted of the tables of recordings, and of as many that are filmed in disorder."""
    with ProcessPoolExecutor() as workers:
        for found in workers.map(_Of(wanted), [truth.parent for truth in truths] + list(range(disorders))):
            yield from found


def parser_of(description: str | None, out: Path) -> argparse.ArgumentParser:
    """Give the command line of what learns from tables, and writes into a folder."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of recordings with truth.json")
    parser.add_argument("--out", type=Path, default=out, help="folder for what is learnt")
    parser.add_argument("--disorders", type=int, default=1300, help="how many tables to bring into disorder")
    parser.add_argument("--go-on", action="store_true", help="go on, gently, from the network that is there")
    return parser


def truths_in(folders: list[Path], parser: argparse.ArgumentParser) -> list[Path]:
    """Give the truth of every recording in folders; a folder without any ends the program."""
    truths = [truth for folder in folders for truth in sorted(folder.glob("*/truth.json"))]
    for folder in folders:
        if not any(truth.parent.parent == folder for truth in truths):
            parser.error(f"{folder}: no recordings with their truth in it (folders with a truth.json)")
    return truths
