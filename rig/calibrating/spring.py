"""How worn the spring is: the shots that it has fired until now, and at which of them the rig aims therefore.

What is counted. A calibration says how many shots the spring had fired when it was made. Since then it has fired those that the
log has as aimed by that very calibration, fired by this cannon and seen to leave. So a calibration begins the count anew, as a new
spring must; shots of another cannon in the same log are not taken for this one's; and no clock is asked. Shots that no log has, as
those of `rig calibrate fire`, are not counted. The twin's spring is new with every session.

How far it is believed. Only where the shots of the calibration tell for certain that the spring fades is it reckoned with at all.
They tell it as a straight line, which no spring keeps to for good: past a tenth of the speed nothing is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from calibration.fit import Calibration, Parameter
from rig.calibrating.calibration_file import CalibrationFile, calibration_of
from rig.calibrating.shots_of_log import of_another_cannon
from rig.counted import counted
from rig.log import LogError, ShotLog, open_log
from rig.settings import TWIN, Settings

__all__ = ["Spring", "spring_by_log", "spring_now"]

_MOST = 0.1
"""Share of the speed by which the spring is taken for faded, at most."""


@dataclass(frozen=True, slots=True)
class Spring:
    """A spring that fades for certain, as far as it is known how worn it is.

    Parameters
    ----------
    calibration : Calibration
        Which knows how it fades.
    fired : int or None
        Shots that it has fired, counted as the calibration counts them; None: not known.
    since : int
        How many of them were aimed by this calibration.
    why_unknown : str
        Why it is not known how many.
    """

    calibration: Calibration
    fired: int | None
    since: int = 0
    why_unknown: str = ""

    @property
    def shots_before(self) -> int:
        """How many shots it is taken to have fired, for the aim: the usual ones, where it is not known how many."""
        usual = self.calibration.usual_shots_before
        if self.fired is None:
            return usual
        most = self._most_shots
        return usual + min(max(self.fired - usual, -most), most)

    @property
    def is_past_telling(self) -> bool:
        """Whether it has fired more than the calibration can tell."""
        return self.fired is not None and self.shots_before != self.fired

    @property
    def muzzle_speed_mps(self) -> float:
        """By which the rig aims."""
        return self.calibration.muzzle_speed_mps(shots_before=self.shots_before)

    @property
    def unsure_share(self) -> float:
        """Standard error of that speed by what is not known of the fading, beside what was not known of it before; a share of it."""
        now_mps = self.calibration.speed_sd_mps(shots_before=self.shots_before)
        then_mps = self.calibration.speed_sd_mps()
        return math.sqrt(max(now_mps**2 - then_mps**2, 0.0)) / self.muzzle_speed_mps

    @property
    def is_unsure(self) -> bool:
        """Whether a new calibration is due: what is not known of the fading is more than shots differ among each other."""
        return self.is_past_telling or self.unsure_share > self.calibration.scatter

    def in_words(self) -> str:
        """Say how worn it is, and what the rig therefore reckons with."""
        speed = f"aimed for {self.muzzle_speed_mps:.2f} m/s"
        if self.fired is None:
            return f"how many shots the spring has fired is not known, as {self.why_unknown}: {speed}, as at the calibration"
        fired = f"the spring has fired {counted(self.fired, 'shot')}, {self.since} since the calibration"
        if self.is_past_telling:
            return f"{fired}, which is more than that can tell: {speed}, {100 * _MOST:g} % off what it was then; calibrate anew"
        interval = self.calibration.speed_interval(shots_before=self.shots_before)
        told = f"{fired}: {speed}, {interval.low:.2f} to {interval.high:.2f} m/s with 95 %"
        return f"{told}, which is too little known: calibrate anew" if self.is_unsure else told

    @property
    def _most_shots(self) -> int:
        """How many shots more than usual, or fewer, change the speed by as much as is believed."""
        known = self.calibration
        lost_mps = abs(known.value(Parameter.SPEED) * known.value(Parameter.FADE_PER_SHOT))
        return math.floor(_MOST * known.muzzle_speed_mps() / lost_mps)


def spring_now(settings: Settings, log: ShotLog, session_id: int | None = None) -> Spring | None:
    """Say how worn the spring is by the log; None where no calibration says for certain that it fades.

    Parameters
    ----------
    settings
        All of `rig.toml`.
    log
        Of this table.
    session_id
        The session that is open, if one is: the twin's spring is as old as that.

    Raises
    ------
    LogError
        Where the log cannot be read.
    """
    calibrated = _of_a_fading_spring(settings)
    if calibrated is None:
        return None
    on_twin = settings.port.url == TWIN
    since = sum(
        seen.count
        for seen in log.count_seen(calibrated.identity)
        if of_another_cannon(seen.port, seen.side, settings) is None
        and (seen.session_id == session_id or not on_twin)
    )
    return _spring(calibrated, since, on_twin=on_twin)


def spring_by_log(settings: Settings) -> Spring | None:
    """Say how worn the spring is where no log is open: as `spring_now`; by a log that cannot be read it is not known."""
    calibrated = _of_a_fading_spring(settings)
    if calibrated is None:
        return None
    path = Path(settings.log.path)
    if not path.exists():
        return _spring(calibrated, 0, on_twin=settings.port.url == TWIN)
    try:
        with open_log(path, create=False, look_only=True) as log:
            return spring_now(settings, log)
    except LogError as error:
        return Spring(calibrated.calibration, None, why_unknown=f"the log cannot be read ({error})")


def _of_a_fading_spring(settings: Settings) -> CalibrationFile | None:
    calibrated = calibration_of(settings.cannon)
    if calibrated is None or 0 in calibrated.calibration.interval(Parameter.FADE_PER_SHOT):
        return None
    return calibrated


def _spring(calibrated: CalibrationFile, since: int, *, on_twin: bool) -> Spring:
    known, before = calibrated.calibration, 0 if on_twin else calibrated.shots_fired
    if before is None:
        return Spring(
            known,
            None,
            why_unknown="the calibration does not tell how many it had fired when that was made",
        )
    return Spring(known, before + since, since)
