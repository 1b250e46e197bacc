"""From measured shots to a calibrated cannon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from calibration.fit.calibration import Calibration, Status
from calibration.fit.contradiction import contradictions
from calibration.fit.estimate import ORDER, Estimate, carrying, estimate, linear_at, place_factor_seen
from calibration.fit.identify import undetermined
from calibration.fit.model import Observed, observed, predict
from calibration.fit.parameters import ASSUMED, Assumption, Parameter
from calibration.fit.shots import MeasuredShot, Mount, Noise
from calibration.fit.wild import subset, wild_shots

__all__ = ["NoFit", "fit"]

_FEWEST_SHOTS = 3
_ILL_FITTING = 10.0
"""Times the tools' own noise: where places of fall scatter so much beside their speeds, something else is amiss."""
_UNEVEN = 0.1
"""Standard deviation of the speed, as a share of it: more has another reason than the spring."""

_HARDLY = 100.0
"""Times as uncertain, what was assumed of a parameter hardly holds it; what the shots do not see at all stays where it is."""
_PLAINLY = 15.0
"""Twice the logarithm of how much likelier the shots are by another value than by the assumed one: by chance they are so once in
thousands of calibrations."""


@dataclass(frozen=True, slots=True)
class NoFit:
    """Shots from which nothing can be learnt; `reason` is a sentence for the person at the table."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def fit(
    shots: Sequence[MeasuredShot],
    mount: Mount,
    *,
    free: Sequence[Parameter] = (Parameter.SPEED, Parameter.DRAG),
    assumed: Mapping[Parameter, Assumption] = MappingProxyType({}),
    known: Calibration | None = None,
    noise: Noise | None = None,
) -> Calibration | NoFit:
    """Fit a cannon to measured shots.

    Parameters
    ----------
    shots : sequence of MeasuredShot
        At least three.
    mount : Mount
        What of the cannon is trusted.
    free : sequence of Parameter
        What to learn. Where the shots do not determine one of them, it keeps what was assumed of it, with its
        uncertainty, and a note says why. All others are trusted to be as assumed.
    assumed : mapping
        In place of some of `ASSUMED`.
    known : Calibration, optional
        An earlier one, from which values that are trusted come: how well it knew them is carried on. Without it they are
        taken for certain.
    noise : Noise, optional
        How well the tools measure.

    Returns
    -------
    Calibration or NoFit
    """
    if Parameter.SPEED not in free:
        raise ValueError("a fit always finds the muzzle speed: name it among the free parameters")
    if len(set(free)) != len(free):
        raise ValueError("a parameter is named twice among the free ones")
    before = {**ASSUMED, **assumed}
    noise = noise or Noise()
    if len(shots) < _FEWEST_SHOTS:
        said = (
            "no shot was" if not shots else f"only {len(shots)} shot{'s were' if len(shots) > 1 else ' was'}"
        )
        return NoFit(f"{said} measured; a calibration needs at least {_FEWEST_SHOTS}, and a dozen are better")
    alike = _all_alike(shots)
    if alike:
        return NoFit(alike)
    everything = observed(shots, mount, noise)
    names = [shot.name for shot in shots]
    free, held, told, near = _what_the_shots_tell(everything, before, sorted(free, key=ORDER.index))
    if near is None:
        return NoFit(_never_down(shots, everything, before))
    notes = list(told)
    wild = wild_shots(everything, before, free, held, near)
    kept = np.ones(everything.count, dtype=bool)
    kept[[each.index for each in wild]] = False
    used = subset(everything, kept)
    found = estimate(used, before, free=free, held=held, start=near)
    if not found.settled or not found.is_determined:
        told = (
            "the fit does not settle: the shots contradict each other",
            contradictions(everything, before, names),
        )
        return NoFit("; ".join(filter(None, (*told, "look at elevations, heights and units"))))
    for each in wild:
        notes.append(
            f"{names[each.index]} is left out: a shot that belongs to the others is so far off with a chance of "
            f"{each.chance:.1g}"
        )
    if not found.scatter_known:
        notes.append(
            f"{used.count} shots for {len(free)} parameters do not tell how speeds scatter: "
            f"{found.spread.scatter:.0%} is taken, as usual"
        )
    place_noise_m = noise.place_m * found.spread.place_factor
    off = place_factor_seen(used, found)
    which = contradictions(used, before, [name for name, one in zip(names, kept, strict=True) if one])
    if off > _ILL_FITTING:
        note = (
            f"shots fall {100 * noise.place_m * off:.0f} cm off, as a rule, from where their own speeds would have them: "
            "do not trust the intervals before you know why; something that was not learnt is other than assumed (the "
            "drag, the elevation), or what was measured is wrong"
        )
        notes.append("; ".join(filter(None, (note, which))))
    elif which and found.scatter_known and found.spread.scatter > _UNEVEN:
        notes.append(f"no spring shoots so unevenly: {which}")
    status = [
        Status.FITTED if each in free else Status.ASSUMED if each in held else Status.TRUSTED
        for each in ORDER
    ]
    return Calibration(
        values=found.values,
        covariance=found.covariance if known is None else carrying(used, found, known.covariance),
        status=tuple(status),
        mount=mount,
        scatter=found.spread.scatter,
        scatter_fitted=found.scatter_known,
        place_noise_m=place_noise_m,
        place_noise_fitted=found.noise_known,
        freedom=max(1, used.count - len(free)),
        shots=used.count,
        usual_shots_before=int(np.median(used.shots_before)),
        usual_dwell_s=float(np.median(used.dwell_s)),
        wild=tuple(names[each.index] for each in wild),
        notes=tuple(notes),
    )


def _what_the_shots_tell(
    data: Observed, assumed: Mapping[Parameter, Assumption], free: Sequence[Parameter]
) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...], tuple[str, ...], Estimate | None]:
    """Part the parameters asked for into those that the shots determine and those to be held; say of each why.

    The estimate that this rests on is a good place to begin from; None where a shot could never have fallen where it was
    measured.
    """
    told: list[str] = []
    held: list[Parameter] = []
    wanted = list(free)
    found = estimate(data, assumed, free=wanted[:1], held=wanted[1:], rounds=2)
    if not np.isfinite(found.linear.residual).all():
        return tuple(wanted), (), (), None
    found, otherwise = _other_than_assumed(data, assumed, found, wanted)
    before = assumed if otherwise is None else {**assumed, otherwise[0]: otherwise[1]}
    nothing = np.zeros(len(wanted))
    linear = linear_at(
        data, found.values, wanted, precision=nothing, pull=nothing, weight=np.ones(data.count)
    )
    information, _, _, _ = linear.normal(found.spread)
    while len(wanted) > 1:
        chosen = [free.index(parameter) for parameter in wanted]
        doubt = undetermined(data, information[np.ix_(chosen, chosen)], wanted, before)
        if doubt is None:
            break
        # The muzzle speed is always found: of two that cannot be told apart, the other is held.
        other = doubt.confused_with
        gone = other if doubt.parameter is Parameter.SPEED and other else doubt.parameter
        if gone is Parameter.SPEED:
            break
        wanted.remove(gone)
        held.append(gone)
        told.append(f"{doubt}; {gone.in_words} is kept as assumed")
    return tuple(wanted), tuple(held), tuple(told), found


def _other_than_assumed(
    data: Observed, assumed: Mapping[Parameter, Assumption], found: Estimate, wanted: Sequence[Parameter]
) -> tuple[Estimate, tuple[Parameter, Assumption] | None]:
    """Let go the one parameter, if any, that is plainly other than assumed; give it with how uncertain it then was before.

    What is held near its assumption makes all that it does look like scatter, by which the shots say nothing of it: a spring that
    loses a fifth of its speed would be taken for one that shoots unevenly.
    """
    if not found.scatter_known:
        return found, None
    usual = estimate(data, assumed, free=wanted[:1], held=wanted[1:], start=found)
    likeliest, which, least = usual, None, usual.deviance - _PLAINLY
    for parameter in wanted[1:]:
        hardly = {**assumed, parameter: replace(assumed[parameter], sd=_HARDLY * assumed[parameter].sd)}
        other = estimate(data, hardly, free=wanted[:1], held=wanted[1:], start=usual)
        moved = float(other.values[ORDER.index(parameter)]) != assumed[parameter].value
        if other.settled and moved and other.deviance < least:
            likeliest, which, least = other, parameter, other.deviance
    if which is None:
        return found, None
    value, place = assumed[which].value, ORDER.index(which)
    return likeliest, (which, Assumption(value, abs(float(likeliest.values[place]) - value)))


def _all_alike(shots: Sequence[MeasuredShot]) -> str:
    """Say where the same number was written down for every shot, which no cannon does."""
    for what, unit, values in (
        ("ranges", "m", [shot.range_m for shot in shots]),
        ("muzzle speeds", "m/s", [shot.gate_speed_mps for shot in shots]),
    ):
        if None not in values and len(set(values)) == 1:
            return (
                f"all {len(values)} {what} are the same number, {values[0]:g} {unit}: "
                "no cannon shoots so evenly; give each shot as it was measured"
            )
    return ""


def _never_down(
    shots: Sequence[MeasuredShot], data: Observed, assumed: Mapping[Parameter, Assumption]
) -> str:
    """Name a shot that never comes down to the height at which it was measured."""
    predicted = predict(data, np.array([[assumed[parameter].value for parameter in ORDER]]))[0]
    lost = data.shot[~np.isfinite(predicted)]
    which = f"{shots[int(lost[0])].name}: it" if len(lost) else "a shot"
    return (
        f"{which} never comes down to the height at which it was measured; look at its elevation and at the height "
        "of the floor"
    )
