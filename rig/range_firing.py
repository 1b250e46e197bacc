"""Shots for a calibration: at a given elevation instead of at a soldier, outside any game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from game.montecassino import Side, format_squares
from rig.aim.pointing import pulses_us
from rig.cannon import Cannon, Change, ShotFired
from rig.eye import Eye, scene_of
from rig.given_up import why_given_up
from rig.hands import Hands
from rig.sequence import Event, State
from rig.settings import Settings
from vision.outside import squares_outside
from vision.registration import BoardView

__all__ = ["RangeGun", "RangeShot"]


@dataclass(frozen=True, slots=True)
class RangeShot:
    """A shot that was seen to leave."""

    muzzle_speed_mps: float | None
    """By the muzzle gate; None where it was not timed."""
    dwell_s: float
    """How long the lever was latched before."""


class RangeGun:
    """A cannon that fires straight ahead from the middle of its strip, at the elevation that it is told.

    The elevation is that of the settings' own servo map: a calibration that they name is what such shots are to find.

    Parameters
    ----------
    settings
        All of `rig.toml`.
    cannon, eye, hands
        What the shots are made with.
    side
        Where the cannon stands.
    progress
        Told in a few words what is going on.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        cannon: Cannon,
        eye: Eye,
        hands: Hands,
        side: Side,
        progress: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._mount = settings.cannon.model_copy(update={"calibration": None})
        self._cannon = cannon
        self._eye = eye
        self._hands = hands
        self._side = side
        self._progress = progress
        self._latched_us = 0

    def note(self, change: Change) -> None:
        """Be told every step of the cannon: from the latch on, the spring is cocked."""
        if change.event is Event.LATCHED:
            self._latched_us = change.at_us

    def seen_to_leave(self) -> RangeShot | None:
        """Return what is known of the last shot though something went wrong later; None where it was not seen to leave."""
        known = self._cannon.shot
        if known is None or known.left_us is None:
            return None
        return RangeShot(known.muzzle_speed_mps, self._dwell_s(known))

    def fire(self, elevation_rad: float, before_fire: Callable[[], None]) -> RangeShot:
        """Bring the cannon from safe to safe, with a shot between.

        Parameters
        ----------
        elevation_rad
            As set.
        before_fire
            Called once the cannon is armed, to write down that the shot may have left from then on.

        Raises
        ------
        calibration.servo.ServoRangeError
            The elevation servo does not go there; nothing has moved.
        CannonError, LinkError, CameraError
            The shot could not be fired. The cannon is safe then.
        """
        traverse_us, azimuth_us, elevation_us = pulses_us(
            self._mount, self._mount.traverse.centre_mm / 1000, 0.0, elevation_rad
        )
        cannon = self._cannon
        self._hands.carry_to(self._side)
        # What is seen now is what the lane is held against; who stands on the board is nobody's business here.
        self._tell_unwatched(self._eye.read(self._side, None).view)
        try:
            if cannon.state is State.SAFE_DRAWN:
                self._progress("letting down a lever that was left drawn")
                cannon.let_down("left drawn by an earlier shot")
            self._progress("homing, aiming")
            cannon.home()
            cannon.aim(traverse_us, azimuth_us, elevation_us)
            self._progress("cocking")
            cannon.cock()
            self._progress("loading")
            cannon.load(
                None if self._settings.cannon.loader else self._hands.load,
                timeout_us=round(self._settings.cannon.load_s * 1e6),
            )
            self._progress("checking the lane, arming, firing")
            fired = cannon.fire(self._eye.lane, before_fire)
        except BaseException as error:
            cannon.leave(why_given_up(error))
            raise
        return RangeShot(fired.muzzle_speed_mps, self._dwell_s(fired))

    def _tell_unwatched(self, view: BoardView) -> None:
        """Say what of the board the camera does not see: such a shot is taped, not judged, but its lane is watched."""
        scene = scene_of(self._settings, side=self._side, fps=self._eye.ring.camera.fps, with_uniforms=False)
        if squares := squares_outside(view, scene):
            self._progress(
                f"outside the picture, so that no hand is seen there: {format_squares(squares)}; look yourself before the shot"
            )

    def _dwell_s(self, fired: ShotFired) -> float:
        return max(0.0, (fired.released_us - self._latched_us) / 1e6)
