"""A lens calibration, and a check of one, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rig.counted import counted
from rig.files.one_line import on_one_line
from vision.lens import Calibrated, Lens, Sighting, Target, Unusable, error_of

__all__ = ["LensCheck", "check_lens", "refused_in_words", "report_as_json", "report_in_words"]

_DIGITS = 3
_TERM_DIGITS = 6
_LARGE_PX = 1.0  # an error with which a lens is hardly worth having


@dataclass(frozen=True, slots=True)
class LensCheck:
    """How well a lens fits photographs that it was not fitted to."""

    errors_px: Mapping[str, float]
    """By photograph: root of the mean squared distance of the corners from where the lens puts them."""
    residuals_px: Mapping[str, NDArray[np.float64]]
    """Seen less computed, shape (corners, 2)."""
    unusable: Mapping[str, Unusable]

    @property
    def error_px(self) -> float:
        """Root of the mean squared distance over all corners."""
        every = np.concatenate(list(self.residuals_px.values()))
        return float(np.sqrt((every**2).sum(axis=1).mean()))

    def in_words(self) -> Iterator[str]:
        """Give what was found, line by line."""
        yield from _by_picture({name: (error,) for name, error in self.errors_px.items()}, ("error",))
        yield from refused_in_words(self.unusable)
        error_px = self.error_px
        count = len(self.errors_px)
        yield f"error {error_px:.2f} px over {counted(count, 'photograph')}"
        if error_px > _LARGE_PX:
            yield (
                "that is much: calibrate anew if focus or zoom were touched since, or if these photographs "
                "were taken in another way than the films are"
            )

    def as_json(self) -> dict[str, Any]:
        """Give the same as one object."""
        return {
            "error_px": round(self.error_px, _DIGITS),
            "pictures": {name: round(error, _DIGITS) for name, error in self.errors_px.items()},
            "unusable": _unusable_as_json(self.unusable),
        }


def check_lens(lens: Lens, target: Target, seen: Mapping[str, Sighting | Unusable]) -> LensCheck:
    """Hold a lens against photographs; only where the board was held is fitted to them.

    Parameters
    ----------
    lens
        The lens.
    target
        The board.
    seen
        What the photographs show, by name.
    """
    flat = np.column_stack([target.corners_mm, np.zeros(len(target.corners_mm))])
    residuals = {name: error_of(s, lens, flat) for name, s in seen.items() if isinstance(s, Sighting)}
    return LensCheck(
        {name: float(np.sqrt((r**2).sum(axis=1).mean())) for name, r in residuals.items()},
        residuals,
        {name: each for name, each in seen.items() if isinstance(each, Unusable)},
    )


def report_in_words(found: Calibrated) -> Iterator[str]:
    """Give a calibration line by line."""
    yield (
        f"{found.target}, seen in {len(found.pictures)} of {len(found.pictures) + len(found.unusable)} photographs "
        f"of {found.size_px[0]} x {found.size_px[1]} px"
    )
    yield from _by_picture(
        {each.name: (each.fitted_px, each.left_out_px) for each in found.pictures},
        ("fitted", "left out"),
    )
    yield from refused_in_words(found.unusable)
    yield "what was fitted, and the error in the fit and on photographs left out of it:"
    for trial in found.trials:
        chosen = "  <- taken" if trial.model == found.model else ""
        yield f"  {trial.fitted_px:6.3f} px  {trial.left_out_px:6.3f} px  {trial.model}{chosen}"
    sigma = found.fit.sigma_px
    for name, value, error in zip(("fx", "fy", "cx", "cy"), found.lens.intrinsics_px, sigma, strict=True):
        yield f"{name} {value:.2f} px, standard error {error:.2f}"
    yield f"distortion {', '.join(f'{term:.5f}' for term in found.lens.distortion)}"
    yield (
        f"error {found.fitted_px:.3f} px in the fit, {found.left_out_px:.3f} px on photographs left out of it"
    )
    if found.left_out_px > _LARGE_PX:
        yield "that is much: is the board flat, the picture sharp, and the zoom the same in all?"
    tilts = np.degrees(np.abs(found.coverage.tilts_rad)).max(axis=0)
    yield (
        f"{found.coverage.share:.0%} of the picture is covered; tilts up to {tilts[0]:.0f} degrees about its "
        f"horizontal axis, {tilts[1]:.0f} about its vertical one"
    )
    if not found.describes_corners:
        yield (
            "in the very corners of the picture, where no board was seen, this lens says nothing: "
            "keep the table out of them, or bring the board there and calibrate again"
        )
    yield from (f"to do better: {clause}" for clause in found.coverage.advice)


def report_as_json(found: Calibrated) -> dict[str, Any]:
    """Give a calibration as one object."""
    return {
        "board": str(found.target),
        "width_px": found.size_px[0],
        "height_px": found.size_px[1],
        "intrinsics_px": _rounded(found.lens.intrinsics_px, _DIGITS),
        "intrinsics_sigma_px": _rounded(found.fit.sigma_px, _DIGITS),
        "distortion": _rounded(found.lens.distortion, _TERM_DIGITS + 2),
        "error_px": round(found.fitted_px, _DIGITS + 1),
        "left_out_error_px": round(found.left_out_px, _DIGITS + 1),
        "model": str(found.model),
        "trials": [
            {
                "model": str(trial.model),
                "error_px": round(trial.fitted_px, _DIGITS + 1),
                "left_out_error_px": round(trial.left_out_px, _DIGITS + 1),
            }
            for trial in found.trials
        ],
        "pictures": {
            each.name: {
                "corners": each.corners,
                "error_px": round(each.fitted_px, _DIGITS),
                "left_out_error_px": round(each.left_out_px, _DIGITS),
                "blur_px": round(each.blur_px, 2),
            }
            for each in found.pictures
        },
        "unusable": _unusable_as_json(found.unusable),
        "coverage": {
            "share": round(found.coverage.share, _DIGITS),
            "views": found.coverage.views.tolist(),
            "advice": list(found.coverage.advice),
        },
    }


def refused_in_words(unusable: Mapping[str, Unusable]) -> Iterator[str]:
    """Give the photographs that cannot be used, and why."""
    yield from (f"  {on_one_line(name)}: not used: {each.reason}" for name, each in unusable.items())


def _by_picture(errors_px: Mapping[str, tuple[float, ...]], heads: tuple[str, ...]) -> Iterator[str]:
    names = [on_one_line(name) for name in errors_px]
    width = max(map(len, names), default=0)
    yield f"  {'':{width}}  {'  '.join(f'{head:>9}' for head in heads)}"
    for name, errors in zip(names, errors_px.values(), strict=True):
        yield f"  {name:{width}}  {'  '.join(f'{error:6.2f} px' for error in errors)}"


def _unusable_as_json(unusable: Mapping[str, Unusable]) -> dict[str, Any]:
    return {name: {"flaw": each.flaw.value, "reason": each.reason} for name, each in unusable.items()}


def _rounded(values: tuple[float, ...], digits: int) -> list[float]:
    return [round(value, digits) for value in values]
