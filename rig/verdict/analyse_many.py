"""Thousands of recordings, read by several processes: what is done stays done, and a bad one stops nobody."""

from __future__ import annotations

import multiprocessing
import multiprocessing.resource_tracker
import os
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import cv2
from pebble import ProcessExpired, ProcessPool

from rig.counted import counted
from rig.end_put_off import EndPutOff
from rig.files.checked_file import FaultyFile
from rig.files.one_line import on_one_line
from rig.film.freed_memory import keep_freed_memory
from rig.recording import KEYS_NAME, read_recording
from rig.verdict.analyse import analyse_folder
from rig.verdict.analysis_store import keep, kept_or_free, place_of

__all__ = ["Outcome", "Read", "Tally", "analyse_many", "find_recordings", "usual_jobs"]

_LONGEST_S = 1800.0  # whatever hangs, thousands of others are read; a clip of half a minute takes a small computer minutes
_LOOKS_UP_S = 0.1  # from waiting for a reading, to see whether Ctrl-C was pressed
_WAITING_EACH = 4  # recordings handed out ahead for each process, so that thousands need no memory


class Outcome(StrEnum):
    """What became of one recording."""

    READ = "read"
    """Read now, and kept."""
    KEPT = "kept"
    """The same code has read it before."""
    UNKEPT = "unkept"
    """Read now, and its reading cannot be kept."""
    BAD = "bad"
    """It cannot be read."""


@dataclass(frozen=True, slots=True)
class Read:
    """One recording of many."""

    folder: Path
    outcome: Outcome
    result: dict[str, Any] | None
    """What `rig analyse --json` prints of it; None for a bad one."""
    why: str = ""
    """Of a bad one, or one that is not kept or not where it belongs: what is wrong, in a sentence that names it."""

    def in_a_line(self) -> str | None:
        """Say who leaves and what is in doubt; None for a bad one."""
        if self.result is None:
            return None
        verdict = self.result["verdict"]
        leaving, doubts = verdict["casualties"], [doubt["square"] for doubt in verdict["doubts"]]
        told = f"{', '.join(leaving) or 'nobody'} leave{'' if len(leaving) > 1 else 's'}"
        if doubts:
            told += f"; doubt: {', '.join(doubts)}"
        if "held" in self.result:
            told += "; held"
        return f"{on_one_line(self.folder)}: {told}"


class Tally:
    """What became of many recordings, added up; no reading is held."""

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self.causes: Counter[str] = Counter()
        self.pushed = 0
        self.doubtful = 0
        """Recordings whose verdict waits for a commander."""
        self.held = 0
        """Recordings whose verdict a guard holds."""

    def add(self, read: Read) -> None:
        """Count one."""
        self.outcomes[read.outcome] += 1
        if read.result is None:
            return
        self.causes.update(fall["cause"] for fall in read.result["falls"])
        self.pushed += len(read.result["moved"])
        self.doubtful += bool(read.result["verdict"]["doubts"])
        self.held += "held" in read.result

    def in_words(self) -> Iterator[str]:
        """Give what came together, line by line."""
        total = self.outcomes.total()
        bad, unkept = self.outcomes[Outcome.BAD], self.outcomes[Outcome.UNKEPT]
        yield (
            f"{counted(total, 'recording')}: {self.outcomes[Outcome.READ] + unkept} read"
            f"{f' (of {unkept} the reading is not kept)' if unkept else ''}, "
            f"{self.outcomes[Outcome.KEPT]} read before by the same code, {bad} cannot be read."
        )
        if total == bad:
            return
        causes = ", ".join(f"{count} {cause}" for cause, count in sorted(self.causes.items()))
        falls = counted(self.causes.total(), "fall") + (f" ({causes})" if causes else "")
        yield (f"{falls}, {self.pushed} pushed; {self.doubtful} with doubts, {self.held} held by a guard.")


def find_recordings(folders: Sequence[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Find the recordings among folders and in whatever lies below them, each once, in the order of their names.

    Returns
    -------
    recordings, left_out
        A folder named that neither is a recording nor holds any, or that has a film and no recording.json, is given as one,
        and so is any that cannot be looked into: reading it says what is wrong. Left out is what has such a film and was
        not named.
    """
    found: dict[str, Path] = {}
    films: dict[str, Path] = {}
    for folder in folders:
        bare: list[Path] = []
        below = list(_below(folder, bare))
        if folder in bare or not below:
            below.insert(0, folder)
        for each in below:
            found.setdefault(os.path.realpath(each), each)
        for each in bare:
            films.setdefault(os.path.realpath(each), each)
    return tuple(found.values()), tuple(each for film, each in films.items() if film not in found)


def _below(folder: Path, films: list[Path]) -> Iterator[Path]:
    """Give the recordings; what has a film and no recording.json is added to `films`."""
    shut: list[str] = []
    for path, folders, files in os.walk(folder, onerror=lambda bad: shut.append(bad.filename)):
        folders.sort()
        if KEYS_NAME in files:
            folders.clear()  # a recording holds no other
            yield Path(path)
        elif any(Path(name).stem == "clip" for name in files) or _holds_pictures(path, folders):
            films.append(Path(path))
    yield from (Path(path) for path in shut if Path(path).is_dir())


def _holds_pictures(path: str, folders: Sequence[str]) -> bool:
    return "frames" in folders and next(Path(path, "frames").glob("*.png"), None) is not None


def usual_jobs() -> int:
    """Return how many processes this machine has cores for."""
    return max(1, len(os.sched_getaffinity(0)))


def analyse_many(folders: Sequence[Path], *, jobs: int, into: Path | None = None) -> Iterator[Read]:
    """Read recordings and keep what was read beside what was read before; give each as it is done.

    Parameters
    ----------
    folders
        The recordings.
    jobs
        How many processes read at the same time.
    into
        Where to keep what was read; None: with each recording.

    Notes
    -----
    Closed before its end, as Ctrl-C does it, it drops the readings under way at once; every reading that was given is
    kept, and none is kept by halves.
    """
    left = iter(folders)
    waiting: dict[Future[Read], Path] = {}
    pool = _pool(jobs)
    try:
        _start(pool)
        while True:
            while len(waiting) < _WAITING_EACH * jobs and (folder := next(left, None)) is not None:
                if (known := _known(folder, into)) is not None:
                    yield known
                else:
                    future = pool.schedule(_read_one, args=(folder, into), timeout=_LONGEST_S)
                    waiting[future] = folder
            if not waiting:
                return
            for done in _wait_for_one(waiting):
                yield _outcome_of(done, waiting.pop(done))
    finally:
        with EndPutOff():  # a second Ctrl-C would leave behind what the processes waited on
            pool.stop()
            pool.join()


def _pool(jobs: int) -> ProcessPool:
    # Forked from a server that has imported everything and does nothing else: OpenCV's threads do not survive a fork.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return ProcessPool(jobs, initializer=_begin, context=context)


def _start(pool: ProcessPool) -> None:
    # Ctrl-C at a terminal reaches all processes. Of it only this one shall hear, which ends the others, and not before they
    # have begun: one that then does not find whoever started it cries out.
    with _modules_as_here():
        multiprocessing.resource_tracker.ensure_running()  # which lets Ctrl-C through when it starts
    with EndPutOff() as end, _modules_as_here():
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pool.schedule(_begin)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
    if end.asked:
        raise KeyboardInterrupt


@contextmanager
def _modules_as_here() -> Iterator[None]:
    """Have a process that is started meanwhile import what this one would, and nothing from the folder it is started in.

    The server is told this process's `sys.path` and, up to Python 3.12, imports before it looks at that.
    """
    ours = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)), "PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _wait_for_one(waiting: Collection[Future[Read]]) -> set[Future[Read]]:
    # No Ctrl-C may break into the wait, nor a second one: between its own lock's release and return, Python's gives up with
    # an error of its own instead of the KeyboardInterrupt.
    with EndPutOff(however_often=True) as end:
        while not (done := wait(waiting, timeout=_LOOKS_UP_S, return_when=FIRST_COMPLETED).done):
            if end.asked:
                break
    if end.asked:
        raise KeyboardInterrupt
    return done


def _outcome_of(future: Future[Read], folder: Path) -> Read:
    try:
        return future.result()
    except ProcessExpired:
        why = "reading it ended its process; is it too large for the memory?"
    except TimeoutError:
        why = f"reading it was given up after {_LONGEST_S / 60:.0f} minutes"
    return Read(folder, Outcome.BAD, None, f"{on_one_line(folder)}: {why}")


def _begin() -> None:
    cv2.setNumThreads(1)  # the processes share the cores already
    keep_freed_memory()


def _known(folder: Path, into: Path | None) -> Read | None:
    """Give what needs no reading: a reading by the same code, or a recording.json that is faulty."""
    try:
        _, kept = kept_or_free(place_of(folder, read_recording(folder), into=into))
    except FaultyFile as bad:
        return Read(folder, Outcome.BAD, None, _sentence(folder, bad))
    except OSError:
        return None  # reading it tells whether that is bad, or only its reading cannot be kept
    except Exception as bug:
        return _stumbled(folder, bug)
    return None if kept is None else Read(folder, Outcome.KEPT, dict(kept))


def _read_one(folder: Path, into: Path | None) -> Read:
    try:
        analysis = analyse_folder(folder)
        result = analysis.as_json()
    except (FaultyFile, OSError) as bad:
        return Read(folder, Outcome.BAD, None, _sentence(folder, bad))
    except Exception as bug:
        return _stumbled(folder, bug)
    try:
        place = place_of(folder, analysis.recording, into=into)
        path, _ = kept_or_free(place)
        keep(path, result)
    except OSError as bad:
        said = f"{_sentence(folder, bad)}; the recording is read, and its reading is not kept"
        return Read(folder, Outcome.UNKEPT, result, said)
    why = (
        ""
        if path == place
        else f"{on_one_line(place)}: found no reading in it; read anew, and kept beside it as {path.name}"
    )
    return Read(folder, Outcome.READ, result, why)


def _stumbled(folder: Path, bug: Exception) -> Read:
    """Give a recording that we stumble over, which is no reason to leave thousands unread; it is told, and counts as bad."""
    said = f"{on_one_line(folder)}: reading it failed ({type(bug).__name__}: {bug}); please report this"
    return Read(folder, Outcome.BAD, None, said)


def _sentence(folder: Path, bad: FaultyFile | OSError) -> str:
    return f"{on_one_line(bad.filename or folder)}: {bad.strerror}" if isinstance(bad, OSError) else str(bad)
