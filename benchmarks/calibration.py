"""How long a fit takes, and how often its intervals hold the truth of the twin."""

import importlib.util
import time
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks.figure import Figure
from calibration.fit import Parameter, fit

_EVENINGS = Path(__file__).parents[1] / "tests/unit/calibration/fit/test_fit_on_the_twin.py"
_CALIBRATIONS = 500
_TIMES = 7


def measure() -> list[Figure]:
    """Fit a hundred shots; calibrate 500 times and count."""
    twin = _evenings()
    rng = np.random.default_rng(100)
    shots = [shot for _ in range(9) for shot in twin.evening(rng)][:100]
    spent_s = []
    for _ in range(_TIMES):
        begun_s = time.process_time()
        fit(shots, twin.MOUNT)
        spent_s.append(time.process_time() - begun_s)
    figures = [
        Figure("a fit of 100 shots, CPU time", 1e3 * min(spent_s), "ms", "what one may wait for it", 200.0)
    ]
    held = twin.hits(_CALIBRATIONS, np.random.default_rng(500))
    figures += [
        Figure(
            f"95 % interval of the {what}: held in {_CALIBRATIONS} calibrations of 12 shots",
            100 * count / _CALIBRATIONS,
            "%",
            "what it promises",
            95.0,
        )
        for what, count in held.items()
    ]
    near = {Parameter.SPEED: (twin.TRUE_SPEED_MPS, 0.005), Parameter.DRAG: (twin.TRUE_DRAG_PER_M, 0.05)}
    rng = np.random.default_rng(501)
    found = [fit(twin.evening(rng), twin.MOUNT) for _ in range(100)]
    for parameter, (truth, share) in near.items():
        inside = sum(abs(each.value(parameter) / truth - 1) <= share for each in found)
        figures.append(
            Figure(
                f"{parameter.in_words} of 12 shots within {100 * share:g} % of the twin's, of 100 calibrations",
                inside,
                "%",
                "all of them",
                100.0,
            )
        )
    return figures


def _evenings() -> ModuleType:
    """Return the test that fires the twin's shots: what it says of 80 calibrations is said here of 500."""
    specification = importlib.util.spec_from_file_location("evenings", _EVENINGS)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
