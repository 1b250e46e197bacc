"""A calibration, and a plan of shots for one, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator

from calibration.fit import Calibration, Parameter, Status
from calibration.fit.design import Plan
from rig.calibrating.shots_file import SHOT_RADIUS_M

__all__ = ["calibration_in_words", "plan_in_words", "range_in_words"]

_LEARNT = 0.99  # of what was not known before; with more still unknown nothing was learnt


def calibration_in_words(found: Calibration) -> Iterator[str]:
    """Tell a calibration in a few lines."""
    for parameter in Parameter:
        status = found.status_of(parameter)
        if status is Status.TRUSTED:
            continue
        interval = found.interval(parameter)
        said = f"{_upper(parameter.in_words)}: {_shown(parameter, found.value(parameter))}"
        ends = f"{_shown(parameter, interval.low)} to {_shown(parameter, interval.high)}"
        yield f"{said}, {ends} with 95 %{'' if status is Status.FITTED else '; assumed, not from these shots'}"
    if found.scatter_fitted:
        scatter = found.scatter_interval()
        yield (
            f"speeds scatter by {100 * found.scatter:.2f} % from shot to shot, "
            f"{100 * scatter.low:.2f} % to {100 * scatter.high:.2f} % with 95 %"
        )
    yield from (f"note: {note}" for note in found.notes)


def range_in_words(found: Calibration, elevation_rad: float) -> str:
    """Say how far the cannon shoots at an elevation, and how sure that is."""
    predicted = found.predict_range(elevation_rad, fall_height_m=SHOT_RADIUS_M)
    # Of few uneven shots an interval reaches below 0, where no shot falls.
    least, next_least = (max(0.0, each.low) for each in (predicted.confidence_m, predicted.next_m))
    return (
        f"at {math.degrees(elevation_rad):.1f} degrees it shoots {100 * predicted.mean_m:.1f} cm on the board's level, "
        f"{100 * least:.1f} to {100 * predicted.confidence_m.high:.1f} cm with 95 %; "
        f"the next shot {100 * next_least:.0f} to {100 * predicted.next_m.high:.0f} cm"
    )


def plan_in_words(proposed: Plan, elevation_deg: float) -> Iterator[str]:
    """Tell which shots to fire, and what they will teach; `elevation_deg` is that of the range to be predicted."""
    for each in proposed.proposed:
        times = "once" if each.times == 1 else f"{each.times} times"
        yield f"fire {times} at {math.degrees(each.shot.elevation_rad):.1f} degrees, and tape the range"
    for parameter, before in proposed.before.items():
        now, then = _sd(parameter, before), _sd(parameter, proposed.after[parameter])
        nothing = (
            "; these shots tell next to nothing of it" if proposed.after[parameter] > _LEARNT * before else ""
        )
        yield f"{_upper(parameter.in_words)}: now to {now}, then to {then}{nothing}"
    yield (
        f"mean range at {elevation_deg:g} degrees: now to {100 * proposed.range_before_m:.1f} cm, "
        f"then to {100 * proposed.range_after_m:.1f} cm (standard error)"
    )


def _shown(parameter: Parameter, value: float) -> str:
    factor, digits, unit = _units(parameter)
    return f"{factor * value:.{digits}f}{unit}"


def _sd(parameter: Parameter, value: float) -> str:
    factor, digits, unit = _units(parameter)
    return f"{factor * value:.{digits + 1}f}{unit}"


def _units(parameter: Parameter) -> tuple[float, int, str]:
    """Return how a person reads it: factor, digits, unit."""
    name = parameter.value
    if name.endswith("_mps"):
        return 1.0, 3, " m/s"
    if name.endswith("_per_m"):
        return 1.0, 5, " 1/m"
    if name.endswith("_rad"):
        return 180 / math.pi, 2, " degrees"
    if name.endswith("_m"):
        return 1000.0, 1, " mm"
    if name.startswith("fade"):
        return 100.0, 4, " %" + (" a shot" if name.endswith("shot") else " a second")
    return 1.0, 4, ""


def _upper(words: str) -> str:
    return words[0].upper() + words[1:]
