"""One demo, as `make demo` plays it, for every benchmark that looks at it."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rig.log import open_log

__all__ = ["Demo", "demo"]

_FOLDER = Path("build/bench-demo")
_SHOTS = 6


@dataclass(frozen=True, slots=True)
class Demo:
    """What it left, and what it took."""

    log: Path
    recordings: tuple[Path, ...]
    wall_s: float
    """From the command to its end: the twin set up, six shots, the report."""
    cpu_s: float
    """Of all its processes."""
    simulated_s: float
    """On the twin's clock."""


@cache
def demo() -> Demo:
    """Play it."""
    begun_s, begun_cpu_s = time.perf_counter(), _children_cpu_s()
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from rig.cli import main; sys.exit(main())",
            "demo",
            "--folder",
            str(_FOLDER),
        ],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    if ended.returncode:
        sys.exit(
            f"benchmarks: the demo that is measured ended with exit status {ended.returncode}; why stands above"
        )
    wall_s, cpu_s = time.perf_counter() - begun_s, _children_cpu_s() - begun_cpu_s
    path = _FOLDER / "log.sqlite"
    with open_log(path, create=False) as log:
        shots = log.shots()
        # The twin's clock begins with the session.
        last_us = max(entry.clock_us or 0 for shot in shots for entry in shot.history)
    recordings = tuple(Path(shot.recording_path) for shot in shots if shot.recording_path is not None)
    if len(recordings) != _SHOTS:
        raise RuntimeError(
            f"the demo left {len(recordings)} recordings of {len(shots)} shots, expected {_SHOTS}"
        )
    return Demo(path, recordings, wall_s, cpu_s, last_us / 1e6)


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
