"""Shots that do not belong to their group."""

from __future__ import annotations

import numpy as np

from calibration.dispersion.location import on_a_line
from calibration.dispersion.shots import Shots

__all__ = ["outliers"]

_FALSE_ALARMS = 0.05
_SHARE = 5  # one shot in five may be wild
_MOST = 20


def outliers(shots: Shots) -> tuple[int, ...]:
    """Return the rows of wild shots, the wildest first.

    The rule: take the shot away that shrinks the scatter's determinant most, then the next, up to a fifth of the
    group and at most 20. The shots taken away up to the last one whose shrinking is too much for chance (5 %, shared among all
    shots) are wild. Judging after all have gone, and not one after the other, keeps several wild shots from hiding
    each other. In a normal group without wild shots some shot is called wild in 5 to 8 groups of a hundred, whatever
    the group's shape; fewer than 5 shots tell nothing.

    Notes
    -----
    C. Caroni and P. Prescott, "Sequential application of Wilks's multivariate outlier test", Applied Statistics 41
    (1992) 355; the criterion is by S. S. Wilks, "Multivariate statistical outliers", Sankhya A 25 (1963) 407. With m
    shots left, the determinant without one over that with it follows a beta distribution with (m - 3) / 2 and 1,
    the square of Mahalanobis's distance D from the centre of all m being (1 - ratio) (m - 1)^2 / m.
    """
    left = np.arange(len(shots))
    taken: list[int] = []
    wild = 0
    for _ in range(min(len(shots) // _SHARE, _MOST)):
        points = shots.points[left]
        offsets = points - points.mean(axis=0)
        scatter = offsets.T @ offsets
        if on_a_line(scatter):
            break
        count = len(left)
        # (x - centre)' scatter^-1 (x - centre), which is D^2 / (m - 1).
        distances = np.einsum("ij,ij->i", offsets, np.linalg.solve(scatter, offsets.T).T)
        worst = int(np.argmax(distances))
        ratio = max(1 - distances[worst] * count / (count - 1), 0.0)
        taken.append(int(left[worst]))
        left = np.delete(left, worst)
        if ratio ** ((count - 3) / 2) < _FALSE_ALARMS / count:
            wild = len(taken)
    return tuple(taken[:wild])
