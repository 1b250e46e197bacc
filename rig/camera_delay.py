"""How late a camera stamps its pictures, learnt from shots that it filmed.

The cannon tells on its own clock when the shot left. So do the pictures, by where each of them shows the shot, if of their
times only the distances are believed. What lies between the two is the camera's delay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median, stdev

from rig.recording import RecordingError, read_all_frames, read_recording
from rig.verdict.analyse import scene_in
from vision.reading import read_shot
from vision.release_untold import LEAST_WORTH
from vision.rolling_shutter import later_us
from vision.table_before import NoReading

__all__ = ["Delay", "DelaySeen", "NoDelay", "delay_of", "see_delay"]

_FEWEST = 5
# Of 47 filmed shots that were seen as plainly as is asked here, with a muzzle that was known, half were off by 0.1 ms and all by
# less than 1.8 ms; without one a few by more.
_USUAL_SPREAD_US = 500.0
_APART = 4.0  # standard deviations, beyond which a shot was read wrongly
_AGREEING = 0.7  # of the shots; with fewer the delay itself wavers
_MOST_SPREAD_US = 2000.0


@dataclass(frozen=True, slots=True)
class DelaySeen:
    """What one recording tells."""

    folder: Path
    delay_us: float | None
    """How late its pictures were stamped by the camera; None where it tells nothing."""
    why_not: str = ""
    """Why it tells nothing."""


@dataclass(frozen=True, slots=True)
class Delay:
    """What recordings tell together."""

    delay_us: int
    """How late the camera stamps its pictures."""
    sigma_us: float
    """Standard deviation of that."""
    used: tuple[DelaySeen, ...]
    """The recordings that agree."""


@dataclass(frozen=True, slots=True)
class NoDelay:
    """They do not tell it."""

    reason: str
    """For the person at the table."""


def see_delay(folder: Path) -> DelaySeen:
    """Read one recording for how late its pictures were stamped."""
    try:
        recording = read_recording(folder)
        frames = read_all_frames(folder, recording)
    except RecordingError as bad:
        return DelaySeen(folder, None, str(bad))
    keys = recording.keys
    if keys.fire_us is None or keys.cannon.muzzle_mm is None:
        return DelaySeen(folder, None, "it does not say when the shot left, and from where")
    scene = replace(scene_in(folder, recording), fire_us=None)
    reading = read_shot(frames, recording.timestamps_us, scene)
    if isinstance(reading, NoReading):
        return DelaySeen(folder, None, reading.reason)
    released_us = reading.track.release_us
    if released_us is None or reading.track.worth < LEAST_WORTH:
        return DelaySeen(folder, None, "too few pictures show the shot plainly")
    late_us = released_us + later_us(scene, reading.view, keys.cannon.muzzle_mm) - keys.fire_us
    return DelaySeen(folder, late_us + keys.camera.delay_us)


def delay_of(seen: Sequence[DelaySeen]) -> Delay | NoDelay:
    """Put together what recordings tell, those that contradict the others left out."""
    telling = [each for each in seen if each.delay_us is not None]
    if len(telling) < _FEWEST:
        return NoDelay(f"{len(telling)} of {len(seen)} shots tell it, and {_FEWEST} are needed")
    values = [each.delay_us or 0.0 for each in telling]
    middle = median(values)
    usual = max(1.4826 * median(abs(value - middle) for value in values), _USUAL_SPREAD_US)
    used = [each for each, value in zip(telling, values, strict=True) if abs(value - middle) < _APART * usual]
    kept = [each.delay_us or 0.0 for each in used]
    spread = stdev(kept) if len(kept) > 1 else math.inf
    if len(kept) < max(_FEWEST, _AGREEING * len(values)) or spread > _MOST_SPREAD_US:
        return NoDelay(
            f"the shots disagree, from {min(values) / 1000:.1f} to {max(values) / 1000:.1f} ms: the camera's times waver, "
            "or its computer is too busy"
        )
    return Delay(round(mean(kept)), max(spread, _USUAL_SPREAD_US / 4) / math.sqrt(len(kept)), tuple(used))
