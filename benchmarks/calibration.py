"""How long a fit takes, and how often its intervals hold the truth of the twin."""

from collections.abc import Sequence

import numpy as np

from benchmarks._from_tests import from_tests
from benchmarks._timing import timed
from benchmarks.figure import Figure
from calibration.fit import Calibration, Parameter, fit

_EVENINGS = "calibration/fit/test_fit_on_the_twin.py"
"""It fires the twin's shots: what it says of 80 calibrations is said here of 500."""
_CALIBRATIONS = 500
_TIMES = 7
_FIT_MS = 200.0
_HELD = (92.0, 98.0)  # per cent of the calibrations in which a 95 % interval is to hold the truth
_NEAR_CALIBRATIONS = 100
_NEAR_SPEED, _NEAR_DRAG = 0.005, 0.05


def measure() -> list[Figure]:
    """Fit a hundred shots; calibrate 500 times and count."""
    twin = from_tests(_EVENINGS)
    rng = np.random.default_rng(100)
    shots = [shot for _ in range(9) for shot in twin.evening(rng)][:100]
    _, spent_s = timed(lambda: fit(shots, twin.MOUNT), _TIMES)
    figures = [
        Figure(
            "a fit of 100 shots, CPU time",
            1e3 * spent_s,
            "ms",
            "what one may wait for it",
            _FIT_MS,
            at_most=1.0,
        )
    ]
    held = twin.hits(_CALIBRATIONS, np.random.default_rng(500))
    figures += [
        Figure(
            f"95 % interval of the {what}: held in {_CALIBRATIONS} calibrations of 12 shots",
            100 * count / _CALIBRATIONS,
            "%",
            "what it promises",
            95.0,
            at_least=_HELD[0] / 95,
            at_most=_HELD[1] / 95,
        )
        for what, count in held.items()
    ]
    rng = np.random.default_rng(501)
    evenings = [twin.evening(rng) for _ in range(_NEAR_CALIBRATIONS)]
    found = [fit(evening, twin.MOUNT) for evening in evenings]
    fitted = [each for each in found if isinstance(each, Calibration)]
    assert len(fitted) == len(found), "twelve shots are enough to fit"
    # No fit can know the mean speed better than the speeds that were fired: they scatter, and there are twelve of them.
    fired = [np.mean([shot.gate_speed_mps for shot in evening]) for evening in evenings]
    speeds = [each.value(Parameter.SPEED) for each in fitted]
    drags = [each.value(Parameter.DRAG) for each in fitted]
    figures += [
        Figure(
            f"muzzle speed of 12 shots within {100 * _NEAR_SPEED:g} % of the twin's, of {_NEAR_CALIBRATIONS} calibrations",
            _per_cent_near(speeds, twin.TRUE_SPEED_MPS, _NEAR_SPEED),
            "%",
            "mean of the 12 speeds at the gate",
            _per_cent_near(fired, twin.TRUE_SPEED_MPS, _NEAR_SPEED),
        ),
        Figure(
            f"drag of 12 shots within {100 * _NEAR_DRAG:g} % of the twin's, of {_NEAR_CALIBRATIONS} calibrations",
            _per_cent_near(drags, twin.TRUE_DRAG_PER_M, _NEAR_DRAG),
            "%",
            "all of them",
            100.0,
            at_least=1.0,
        ),
    ]
    return figures


def _per_cent_near(values: Sequence[float], truth: float, share: float) -> float:
    """Return how many of values lie within a share of the truth, in per cent."""
    return 100 * float(np.mean(np.abs(np.array(values) / truth - 1) <= share))
