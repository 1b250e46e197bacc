"""What a picture took is there for the next one."""

import subprocess
import sys

import pytest

PICTURE = 1280 * 720 * 3
TOUCHES = """
import resource, numpy as np
from rig.film.freed_memory import keep_freed_memory
keep_freed_memory()
def read(): return [np.ones({size}, np.uint8) for _ in range(8)]
read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20): read()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there the C library can be told")
def test_memory_of_pictures_is_not_fetched_anew_for_each() -> None:
    """Twenty rounds of eight pictures touch fewer new pages than one such round has."""
    told = subprocess.run(
        [sys.executable, "-c", TOUCHES.format(size=PICTURE)], check=True, capture_output=True, text=True
    )
    assert int(told.stdout) < 8 * PICTURE / 4096
