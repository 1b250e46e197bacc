"""A shot read while the table is still being watched, so that its verdict need not wait for the table to be surely at rest.

The table before it is read earlier still: once the cannon is aimed nothing on it should move any more. Where the last
pictures before the release show that table, to their noise, that reading is the shot's; else the table is read anew.

While the shot flies each picture is looked at as it comes. As soon as the table looks quiet the shot is read on trial,
from the pictures so far. Where something moves again, the trial is withdrawn. Once the table is at rest and shows what it
showed then, the trial's reading is the shot's; else the shot is read from all its pictures. Which pictures are read
follows from what they show, and never from how fast they are read: the same pictures give the same reading on any
computer.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from rig.camera import Frame
from rig.recording import Recording, recording_of
from rig.verdict.analyse import Analysis, analyse_pictures, scene_in
from vision.lookout import Lookout
from vision.reading import still_holds
from vision.table_before import NoReading, TableBefore, read_before, still_stands

__all__ = ["ReadingAhead"]

Image = NDArray[np.uint8]


@cache
def _set_aside_what_lives() -> None:
    """Have no garbage looked for among what lives at the first shot, which is nearly all that the libraries will ever hold.

    Looking through all that takes a fifth of the time of a reading.
    """
    gc.collect()
    gc.freeze()


class ReadingAhead:
    """Reads one shot in a thread of its own; at its end nothing of it runs any more.

    Parameters
    ----------
    folder
        Where the recording will be.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._keys: Mapping[str, Any] = {}
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reader")
        self._aimed: Future[TableBefore | NoReading] | None = None
        self._before: Future[TableBefore | NoReading] | None = None
        self._looking: Future[None] | None = None
        self._lookout: Lookout | None = None
        self._trial: _Trial | None = None
        self._analysis: Future[Analysis] | None = None

    def __enter__(self) -> Self:
        _set_aside_what_lives()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.withdraw()
        self._reader.shutdown()

    def see_aimed(self, frames: Sequence[Frame], keys: Mapping[str, Any]) -> None:
        """Begin to read the table, from pictures with the cannon aimed.

        Parameters
        ----------
        frames
            The pictures.
        keys
            What `write_recording` will be given, but for when the shot left.
        """
        self._aimed = self._reader.submit(self._read_table, frames, keys)

    def see_before(self, frames: Sequence[Frame], keys: Mapping[str, Any]) -> None:
        """Begin to read the table, from the pictures up to the release, unless it is as it was read already.

        Parameters
        ----------
        frames
            The pictures.
        keys
            What `write_recording` will be given.
        """
        self._keys = keys
        self._before = self._reader.submit(self._read_before, frames)

    def look(self, frames: Sequence[Frame]) -> None:
        """Look at pictures that have come while all moves, given from the first on; what is seen in them is kept."""
        if self._looking is None or self._looking.done():
            self._looking = self._reader.submit(self._look_ahead, frames)

    def begin(self, frames: Sequence[Frame]) -> None:
        """Begin to read the shot on trial, from the pictures up to one in which the table looks quiet."""
        self.withdraw()
        pictures = _Pictures([frame.image for frame in frames])
        self._trial = _Trial(frames, pictures, self._reader.submit(self._read, frames, pictures))

    def withdraw(self) -> None:
        """Something moved: the trial is worth nothing, and ends at the next picture that it looks at."""
        if self._trial is not None:
            self._trial.pictures.withdraw()
            self._trial = None

    def finish(self, frames: Sequence[Frame]) -> None:
        """Wait for the shot to be read, whatever comes of it.

        Parameters
        ----------
        frames
            All its pictures, up to one in which the table is at rest.
        """
        trial, self._trial = self._trial, None
        if trial is not None:
            wait([trial.analysis])
            # A trial that failed may have had too few pictures; whether the shot can be read all of them tell.
            if trial.analysis.exception() is None and self._holds(trial, frames):
                self._analysis = trial.analysis
                return
        pictures = _Pictures([frame.image for frame in frames])
        self._analysis = self._reader.submit(self._read, frames, pictures)
        wait([self._analysis])

    def analysis(self, frames: Sequence[Frame]) -> Analysis:
        """Return what was read, as that of a recording of all these pictures; raises what `analyse_pictures` does."""
        assert self._analysis is not None, "the shot was read"
        return replace(self._analysis.result(), recording=self._recording(frames))

    def _read_table(self, frames: Sequence[Frame], keys: Mapping[str, Any]) -> TableBefore | NoReading:
        recording = recording_of(self._folder, keys, [frame.timestamp_us for frame in frames])
        scene = scene_in(self._folder, recording)
        return read_before([frame.image for frame in frames], recording.timestamps_us, scene)

    def _read_before(self, frames: Sequence[Frame]) -> TableBefore | NoReading:
        recording = self._recording(frames)
        scene = scene_in(self._folder, recording)
        before: TableBefore | NoReading | None = None
        if self._aimed is not None and self._aimed.exception() is None:
            before = self._aimed.result()
            pictures = [frame.image for frame in frames]
            if isinstance(before, NoReading) or not still_stands(
                before, pictures, recording.timestamps_us, scene
            ):
                before = None
        if before is None:
            before = self._read_table(frames, self._keys)
        if isinstance(before, TableBefore):
            self._lookout = Lookout(before, scene)
        return before

    def _look_ahead(self, frames: Sequence[Frame]) -> None:
        if self._lookout is not None:
            self._lookout.look([frame.image for frame in frames], [frame.timestamp_us for frame in frames])

    def _read(self, frames: Sequence[Frame], pictures: Sequence[Image]) -> Analysis:
        assert self._before is not None, "the table was read before"
        return analyse_pictures(
            self._folder, self._recording(frames), pictures, self._before.result(), self._lookout
        )

    def _holds(self, trial: _Trial, frames: Sequence[Frame]) -> bool:
        assert self._lookout is not None, "the trial was read with it"
        since = frames[len(trial.frames) - 1 :]
        return still_holds(
            trial.analysis.result().reading,
            self._lookout,
            [frame.image for frame in since],
            [frame.timestamp_us for frame in since],
        )

    def _recording(self, frames: Sequence[Frame]) -> Recording:
        return recording_of(self._folder, self._keys, [frame.timestamp_us for frame in frames])


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    frames: Sequence[Frame]
    pictures: _Pictures
    analysis: Future[Analysis]


class _Withdrawn(Exception):
    """Nobody wants to know any more what these pictures show."""


class _Pictures(Sequence[Image]):
    """Pictures that can be withdrawn from whoever is reading them."""

    def __init__(self, pictures: Sequence[Image]) -> None:
        self._pictures = pictures
        self._withdrawn = False

    def withdraw(self) -> None:
        self._withdrawn = True

    def __len__(self) -> int:
        return len(self._pictures)

    @overload
    def __getitem__(self, index: int) -> Image: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Image]: ...

    def __getitem__(self, index: int | slice) -> Image | Sequence[Image]:
        if self._withdrawn:
            raise _Withdrawn
        return self._pictures[index]
