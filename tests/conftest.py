"""What every test runs under."""

import os

from hypothesis import settings

# A busy machine is no failure: no test of ours is about how long an example takes.
settings.register_profile("house", deadline=None)
settings.load_profile("house")

# OpenCV reads this once in a process; some tests open films by themselves before the rig does.
os.environ["OPENCV_FFMPEG_LOGLEVEL"] = "-8"
