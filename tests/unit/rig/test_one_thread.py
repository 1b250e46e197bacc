"""What multiplies matrices keeps to one thread, and leaves the other cores to those who watch the table."""

import os
import subprocess
import sys

import pytest

MULTIPLIES = """
import os
import rig
import numpy as np, scipy.linalg
square = np.eye(600)
scipy.linalg.solve(square, square @ square)
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process lists its threads in a folder")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="with one core there are no others to leave")
def test_whoever_loads_the_rig_multiplies_in_one_thread() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    told = subprocess.run(
        [sys.executable, "-c", MULTIPLIES], env=kept, check=True, capture_output=True, text=True
    )
    assert int(told.stdout) == 1
