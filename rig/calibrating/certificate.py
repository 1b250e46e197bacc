"""What a certificate of the range says, in words: the verdict, the figures, and a plain sentence for each."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version

from calibration.range_spec import (
    Drift,
    DriftUnknown,
    RangeFinding,
    RangeSpec,
    SpecVerdict,
    assess_range,
)
from rig.calibrating.range_file import MeasuredRanges
from rig.counted import counted

__all__ = ["Certificate", "certify"]

_WORTH_SAYING_CM = 0.05


@dataclass(frozen=True, slots=True)
class Certificate:
    """All that the page holds."""

    measured: MeasuredRanges
    finding: RangeFinding
    certainty: float
    """Wanted chance of the verdict "meets", for the number of shots needed."""
    cannon: str
    """Which cannon it was, as its owner calls it."""
    set_up: tuple[tuple[str, str], ...]
    """Name and value: elevation, height of the muzzle."""
    issued: date

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        spec = self.finding.spec
        promised = f"{100 * spec.range_m:g} cm within {100 * spec.margin:g} %"
        match self.finding.verdict:
            case SpecVerdict.MEETS:
                return f"This cannon meets {promised}."
            case SpecVerdict.DOES_NOT_MEET:
                return f"This cannon does not meet {promised}."
            case SpecVerdict.NOT_ENOUGH_SHOTS:
                return f"Not enough shots to say whether this cannon meets {promised}."

    @property
    def figures(self) -> tuple[tuple[str, str], ...]:
        """Name and value of each figure."""
        found = self.finding
        confidence = 100 * (1 - 2 * found.spec.alpha)
        return (
            ("shots", str(found.shots)),
            ("mean range", _cm(found.mean_m)),
            ("95 % interval of the mean", _interval(found.mean_interval_m)),
            (f"{confidence:g} % interval, for the verdict", _interval(found.equivalence_interval_m)),
            (
                "agreed",
                _interval(
                    (found.spec.range_m - found.spec.margin_m, found.spec.range_m + found.spec.margin_m)
                ),
            ),
            (
                "without the extreme fifths",
                f"{_cm(found.trimmed_mean_m)}; "
                + (
                    "no interval, as these are all the same"
                    if found.trimmed_interval_m is None
                    else _interval(found.trimmed_interval_m)
                ),
            ),
            ("scatter, standard deviation", f"{_cm(found.sd_m)}, {100 * found.sd_m / found.mean_m:.1f} %"),
            ("p, test against lying outside", _p(found.p_meets)),
            ("p, test against lying inside", _p(found.p_fails)),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the figures mean, a sentence or two each."""
        return tuple(self._sentences())

    @property
    def versions(self) -> str:
        """What it was worked out with."""
        programs = ", ".join(f"{name} {version(name)}" for name in ("montecassino-rig", "numpy", "scipy"))
        return f"{programs}, Python {platform.python_version()}"

    @property
    def method(self) -> str:
        """How it was worked out."""
        risk = 100 * self.finding.spec.alpha
        return (
            "Each range runs from the muzzle to where the path meets the horizontal plane of the base. The verdict rests on "
            f'two one-sided t tests (Schuirmann 1987), each with a risk of {risk:g} % of saying "meets" of a cannon that does '
            f'not; "does not meet" has the same risk. Both suppose that the shots scatter independently and about normally.'
        )

    def _sentences(self) -> Iterator[str]:
        found = self.finding
        yield self._about_the_mean()
        yield self._about_the_number()
        yield _about("from shot to shot", "a shot", found.with_shot_number, "shot number", per=1)
        yield _about("with the time it stands cocked", "10 s cocked", found.with_dwell, "time cocked", per=10)
        if found.wild_shot is not None:
            shot = found.wild_shot
            yield (
                f"Shot {self.measured.shot_numbers[shot]:g} went {_cm(self.measured.ranges_m[shot])}, wild beside the "
                "others (Grubbs' test at 1 %). It counts in all figures but the mean without the extreme fifths; leave "
                "it out only if you know what went wrong."
            )
        if self.measured.skipped:
            rows = len(self.measured.skipped)
            were = "was" if rows == 1 else "were"
            yield f"{counted(rows, 'row')} of the file could not be used and {were} left out."

    def _about_the_mean(self) -> str:
        found, spec = self.finding, self.finding.spec
        low, high = (_plain(value) for value in found.equivalence_interval_m)
        where = {
            SpecVerdict.MEETS: "lies wholly inside",
            SpecVerdict.DOES_NOT_MEET: "lies wholly outside",
            SpecVerdict.NOT_ENOUGH_SHOTS: "crosses an edge of",
        }[found.verdict]
        agreed = f"{_plain(spec.range_m - spec.margin_m)} to {_plain(spec.range_m + spec.margin_m)} cm"
        confidence = 100 * (1 - 2 * spec.alpha)
        return (
            f"With {confidence:g} % confidence the mean range lies between {low} and {high} cm, which {where} what was "
            f"agreed, {agreed}."
        )

    def _about_the_number(self) -> str:
        shots = self.finding.shots_for(self.certainty)
        wanted = f"{100 * self.certainty:g} %"
        if (
            shots is None
            and abs(self.finding.mean_m - self.finding.spec.range_m) < self.finding.spec.margin_m
        ):
            return (
                "With this mean, so near an edge of what was agreed, it would take more than 10,000 shots to show that the "
                "cannon meets it."
            )
        if shots is None:
            return "With this mean no number of shots would show that the cannon meets what was agreed."
        return (
            f"A cannon with just this mean and scatter is found to meet what was agreed in {wanted} of all trials with "
            f"{shots} shots; {self.finding.shots} were fired."
        )


def certify(
    measured: MeasuredRanges,
    spec: RangeSpec,
    *,
    certainty: float,
    cannon: str,
    set_up: tuple[tuple[str, str], ...],
    issued: date,
) -> Certificate:
    """Hold measured ranges against what was promised.

    Raises
    ------
    calibration.range_spec.RangeError
        Where they are too few, or all alike.
    """
    finding = assess_range(
        measured.ranges_m, spec, shot_numbers=measured.shot_numbers, dwell_s=measured.dwell_s
    )
    return Certificate(measured, finding, certainty, cannon, set_up, issued)


def _about(how: str, each: str, drift: Drift | DriftUnknown, name: str, *, per: int) -> str:
    """Say what a drift amounts to."""
    if isinstance(drift, DriftUnknown):
        reason = {
            DriftUnknown.NOT_MEASURED: f"the {name} was not noted",
            DriftUnknown.ALL_ALIKE: f"the {name} was the same for every shot",
            DriftUnknown.TIED: "shot number and time cocked changed together; vary the one while the other stays",
            DriftUnknown.TOO_FEW: "there are too few shots",
        }[drift]
        return f"Whether the range changes {how} cannot be told: {reason}."
    change, low, high = (100 * per * value for value in (drift.per_unit_m, drift.low_m, drift.high_m))
    digits = 1 if max(abs(low), abs(high)) > 2 * _WORTH_SAYING_CM else 3
    amount = f"{change:+.{digits}f} cm for {each} (95 %: {low:+.{digits}f} to {high:+.{digits}f})"
    if not drift.shown:
        return f"No change {how} is shown: {amount}, p {_p(drift.p_value)}."
    word = "grows" if change > 0 else "falls"
    return f"The range {word} {how}: {amount}, p {_p(drift.p_value)}."


def _plain(length_m: float) -> str:
    return f"{100 * length_m:.1f}"


def _cm(length_m: float) -> str:
    return f"{_plain(length_m)} cm"


def _interval(bounds_m: tuple[float, float]) -> str:
    low, high = bounds_m
    return f"{_plain(low)} to {_plain(high)} cm"


def _p(value: float) -> str:
    if value < 1e-4:
        return "below 0.0001"
    return "above 0.9999" if value > 1 - 1e-4 else f"{value:.4f}"
