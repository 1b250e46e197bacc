"""What every test runs under."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure: no test of ours is about how long an example takes, or how long it takes to draw one.
# What passed passes again: the same examples every time. To look for new ones: pytest --hypothesis-profile=explore
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("house", settings.get_profile("explore"), derandomize=True)
settings.load_profile("house")

# Under nohup, or as a background job, the run has these ignored, and every `rig` that a test starts would have too.
# One that is caught is back at its default in a program that is started, and here nothing changes.
for ending in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(ending) is signal.SIG_IGN:
        signal.signal(ending, lambda _number, _frame: None)

# The tests run in as many processes as there are cores: more threads in each would only wait for one another, and a fit
# of a second takes half a minute. Read when numpy is first imported, and by every `rig` that a test starts.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A program that a test starts, wherever it starts it, is the one that stands beside the tests, and not one that is installed.
ROOT = str(Path(__file__).parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))

# OpenCV reads this once in a process; some tests open films by themselves before the rig does.
os.environ["OPENCV_FFMPEG_LOGLEVEL"] = "-8"

# The thousands of tests that are collected stay to the end. To look through all of them for garbage, again and again, takes
# a third of the time in which they are collected, and a twentieth of that in which they run.
gc.disable()


def pytest_collection_finish() -> None:
    """What is there now is not looked through any more."""
    gc.freeze()
    gc.enable()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as in a terminal, also where the tests were started with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
