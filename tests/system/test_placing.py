"""The promise of the registration: what is stated in mm for each square holds, on tables drawn by the twin."""

import numpy as np
import pytest

from benchmarks.registration import CASES, place


@pytest.mark.parametrize("case", list(CASES))
def test_the_error_stated_for_each_square_holds(case: str) -> None:
    placed = place(case, 3)
    assert placed is not None
    assert (placed.off_mm <= 3 * placed.stated_mm).all()
    assert np.median(placed.off_mm) < 0.3
