"""What every test runs under."""

import os
import signal

from hypothesis import settings

# A busy machine is no failure: no test of ours is about how long an example takes.
# What passed passes again: the same examples every time. To look for new ones: pytest --hypothesis-profile=explore
settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("house")

# Under nohup, or as a background job, the run has these ignored, and every `rig` that a test starts would have too.
# One that is caught is back at its default in a program that is started, and here nothing changes.
for ending in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(ending) is signal.SIG_IGN:
        signal.signal(ending, lambda _number, _frame: None)

# OpenCV reads this once in a process; some tests open films by themselves before the rig does.
os.environ["OPENCV_FFMPEG_LOGLEVEL"] = "-8"
