"""The cannon over a link: one shot, step by step, along the table of `rig.sequence`.

Each step asks, waits for the cannon's own word that it is done, and meanwhile keeps the link alive and looks at every
event. Whatever goes wrong in a step, here, on the line or at the table, is answered in one way: the stop byte, then
safe, then the lever let down where it is still drawn; then the error goes on to the caller. When a step of this class
raises, `Cannon.state` is where the cannon was left. The errors of its own stand in `rig.cannon_errors`.
"""

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from rig.cannon_errors import (
    Aborted,
    BadSetting,
    CannonError,
    DwellExpired,
    LaneNotClear,
    LetDown,
    NotLoaded,
    OutOfReach,
    ShotNotSeen,
)
from rig.end_put_off import EndPutOff
from rig.given_up import why_given_up
from rig.link import messages, wire
from rig.link.errors import LinkError, NotDone, PortError, Refused
from rig.link.link import EventsMissed, Link
from rig.link.messages import FaultSeen, InputChanged, Moving, ShotSeen, StateChanged, Status
from rig.link.transcript import TranscriptError
from rig.sequence import DWELLING, Action, Event, Sequence, State
from rig.ticks import TICKS_PER_US

__all__ = [
    "Aborted",
    "BadSetting",
    "Cannon",
    "CannonError",
    "Change",
    "DwellExpired",
    "LaneAnswer",
    "LaneNotClear",
    "LetDown",
    "NotLoaded",
    "OutOfReach",
    "ShotFired",
    "ShotNotSeen",
]

T = TypeVar("T")

_LOOK_US = 20_000  # how often `on_wait` is called at least
_POLL_US = 100_000  # how often what no event tells is asked for
_LOAD_US = 60_000_000
# Longer than a worn servo gear's play, and small beside an axis's range of some 1000 us.
_APPROACH_US = 30
# The cannon's own word comes before the controller's patience ends.
_PATIENCE_SHARE = 1.5
_PATIENCE_US = 1_000_000
_SAVING_US = 5_000_000  # EEPROM takes 3.4 ms a byte, and there are two copies
# The lever's switches tell of a shot a little after it left.
_SWITCHES_US = 300_000
# A draw that was stopped half way stands still for 160 ms before it eases; standing still says nothing until then.
_DRAW_PAUSE_US = 300_000
# The controller lets down this much before the firmware would by itself.
_DWELL_MARGIN_US = 500_000
_LONGEST_TRANSIT_TICKS = 0xFFFF
# The cannon's clock and the controller's that differ by more than this and two in a hundred: the chip has restarted.
_RESTART_US = 200_000

_AIMED: Final = (wire.Axis.TRAVERSE, wire.Axis.AZIMUTH, wire.Axis.ELEVATION)
_LEVER_HELD: Final = wire.Input.LEVER_DRAWN | wire.Input.LEVER_LATCHED

# What the firmware may report in each state of the sequence; anything else, and it has left the shot by itself. Where
# no shot is on its way (not listed) nothing it reports is a surprise.
_FIRMWARE_STATES: Final[Mapping[State, frozenset[wire.State]]] = {
    State.HOMING: frozenset({wire.State.HOMING, wire.State.READY}),
    State.HOMED: frozenset({wire.State.READY}),
    State.AIMING: frozenset({wire.State.READY}),
    State.AIMED: frozenset({wire.State.READY}),
    State.COCKING: frozenset({wire.State.COCKING, wire.State.COCKED}),
    State.COCKED: frozenset({wire.State.COCKED}),
    State.LOADING: frozenset({wire.State.COCKED}),
    State.LOADED: frozenset({wire.State.COCKED}),
    State.CHECKING_LANE: frozenset({wire.State.COCKED}),
    State.LANE_CLEAR: frozenset({wire.State.COCKED}),
    State.ARMING: frozenset({wire.State.COCKED, wire.State.ARMED}),
    State.ARMED: frozenset({wire.State.ARMED}),
    State.FIRING: frozenset({wire.State.ARMED, wire.State.FIRING}),
    State.SERVICING: frozenset({wire.State.SERVICE}),
    State.SERVICED: frozenset({wire.State.SERVICE}),
}
# Where a cannon stays that nobody is asking anything of.
_AT_REST: Final = frozenset({State.UNKNOWN, State.SAFE, State.SAFE_DRAWN})


@dataclass(frozen=True, slots=True)
class LaneAnswer:
    """What the camera says of the lane."""

    clear: bool
    why: str = ""
    """Why not, for a person."""


@dataclass(frozen=True, slots=True)
class Change:
    """A step that was taken."""

    at_us: int
    """On the controller's clock."""
    previous: State
    event: Event
    state: State
    cause: str
    """Why, where it is more than the next step of a shot; "" otherwise."""


@dataclass(frozen=True, slots=True)
class ShotFired:
    """A shot that was seen to leave."""

    released_us: int
    """Trigger energised, on the controller's clock."""
    released_bound_us: int
    """`released_us` is wrong by this much at the most."""
    released_device_us: int
    """The same on the cannon's clock."""
    left_us: int | None
    """The shot left the first barrier, on the controller's clock; None where a bad line lost the gate's times."""
    transit_us: float | None
    """From the first barrier to the second, by the controller's clock; None likewise, and where it took too long to be timed."""
    muzzle_speed_mps: float | None
    """From that and the barriers' spacing; None with it."""


class Cannon:
    """Runs the sequence over a link.

    Parameters
    ----------
    link
        A line to the cannon, not identified yet.
    gate_spacing_mm
        Between the two light barriers of the muzzle gate.
    on_change
        Called after every step of the sequence. It must not raise.
    on_wait
        Called every 20 ms while a shot is on its way, later only by what an answer takes; what it raises stops the shot. The
        camera is watched here.
    """

    def __init__(
        self,
        link: Link,
        *,
        gate_spacing_mm: float,
        on_change: Callable[[Change], None] = lambda change: None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._link = link
        self._clock = link.clock
        self._gate_spacing_mm = gate_spacing_mm
        self._on_change = on_change
        self._on_wait = on_wait
        self._sequence = Sequence()
        self._settings: dict[wire.Setting, int] = {}
        self._pulse_ticks: dict[wire.Axis, int] = {}
        self._inbox: deque[messages.Event] = deque()
        self._inputs = wire.Input(0)
        self._synced_us = 0  # the cannon's time of the last status: events up to then are old news
        self._synced_host_us = 0  # when that was, on the controller's clock
        self._dwell_until_us = 0
        # The cannon's count before the last arming; None: it has restarted since.
        self._shots_before: int | None = 0
        self._fired: bool | None = False
        self._shot: ShotFired | None = None
        self._draw_out = False  # the draw may stand anywhere between rest and breech, where no switch sees it
        self._unwritten: TranscriptError | None = None  # met by the stop byte, told at rest
        self._not_let_down = ""  # why the last let-down failed
        self._steps_given_up = 0  # how many went wrong, and were followed to rest

    @property
    def state(self) -> State:
        """Where the cannon is on the way of a shot."""
        return self._sequence.state

    @property
    def fired(self) -> bool | None:
        """Whether this shot left, by its trigger; None where that is not known, as after a line that was lost.

        Nor is it where the trigger was pulled and the lever is still held.
        """
        return self._fired

    @property
    def shot(self) -> ShotFired | None:
        """What is known of this shot so far; None where it was not asked for, or nobody knows whether it left."""
        return self._shot

    @property
    def left_drawn(self) -> str:
        """Whether the lever is still drawn, in words: nobody may be left to think that it is not; "" where it is forward."""
        if self.state is State.SAFE_DRAWN:
            return "the lever is still drawn"
        if self.state is not State.SAFE and (self._draw_out or self._inputs & _LEVER_HELD):
            return "the lever may still be drawn"
        return ""

    @property
    def left_loaded(self) -> bool:
        """Whether a shot is seated in the muzzle that was not fired, or that its trigger did not send off, as heard last."""
        # Where the line is lost after the trigger, what was heard last is from before it.
        return self._is_seated() and (self._fired is False or self.state in {State.SAFE, State.SAFE_DRAWN})

    @property
    def link(self) -> Link:
        """The line to the cannon."""
        return self._link

    # The steps of a shot

    def connect(self) -> messages.Identity:
        """Find the cannon, make it safe and read its settings.

        Raises
        ------
        LinkError
            Where there is no cannon, or one that speaks another wire version.
        CannonError, LinkError
            Where it could not be made safe; the state is `UNKNOWN` then. Where its lever could not be let down, it is
            `SAFE_DRAWN`, and `configure` says so.
        """
        if self.state is not State.UNKNOWN:
            self._take(Event.LINK_LOST, "connected anew")
        identity = self._meet()
        failure = self._recover(Event.FOUND)
        if failure is not None and self.state is State.UNKNOWN:
            raise failure
        self._settings = {
            setting: self._link.ask(messages.ReadSetting(setting)).value for setting in wire.Setting
        }
        return identity

    def configure(self, settings: Mapping[str, int], *, keep: bool = True) -> None:
        """Give the cannon its settings, and have it keep them where one has changed. Only while safe.

        Parameters
        ----------
        settings
            Values by their names on the wire, as `dwell_ms`; what is not named stays as it is.
        keep
            False: they hold until the chip restarts or they are given anew.

        Raises
        ------
        BadSetting
            Where there is no such setting or its value is out of range; nothing was changed then.
        CannonError
            Where the cannon is not safe.
        LinkError
            Where the cannon will not.
        """
        if self.state is State.SAFE_DRAWN:
            raise CannonError(f"the lever is drawn and could not be let down: {self._not_let_down}")
        if self.state is not State.SAFE:
            raise CannonError(f"settings are given to a safe cannon only; this one is {self.state}")
        wanted = {_setting(name): value for name, value in settings.items()}
        for setting, value in wanted.items():
            limits = wire.SETTING_LIMITS[setting]
            if not limits.minimum <= value <= limits.maximum:
                raise BadSetting(
                    setting.name.lower(), f"{value} found, expected {limits.minimum} to {limits.maximum}"
                )
        changed = {
            setting: value for setting, value in wanted.items() if self._settings.get(setting) != value
        }
        if changed:
            self._guarded(lambda: self._configure(changed, keep=keep))

    def home(self) -> None:
        """Leave safe; every axis goes to its home."""
        self._step(Event.HOME_ASKED, self._home, Event.HOME_REACHED)

    def aim(
        self, traverse_us: float, azimuth_us: float, elevation_us: float, *, from_below: bool = True
    ) -> None:
        """Bring the three axes to servo pulses, each from below, so that play in the gears always lies on one side.

        Parameters
        ----------
        traverse_us, azimuth_us, elevation_us
            Servo pulses.
        from_below
            False: straight there, as when a limit is being felt for.

        Raises
        ------
        OutOfReach
            Where a pulse lies outside its axis's limits.
        """
        asked_us = dict(zip(_AIMED, (traverse_us, azimuth_us, elevation_us), strict=True))
        self._step(Event.AIM_ASKED, lambda: self._aim(asked_us, from_below=from_below), Event.AIM_REACHED)

    def cock(self) -> None:
        """Draw and latch the lever. From here on the dwell runs."""
        self._step(Event.COCK_ASKED, self._cock, Event.LATCHED)

    def load(self, prompt: Callable[[], None] | None = None, *, timeout_us: int = _LOAD_US) -> None:
        """Wait until a shot is seated in the muzzle. One that is there already will do.

        Parameters
        ----------
        prompt
            Asks a person for the shot, and returns at once. None: the automatic loader is told to give one.
        timeout_us
            How long to wait for a person.

        Raises
        ------
        NotLoaded
            Where none is seated in time; the lever was let down.
        """
        self._step(Event.LOAD_ASKED, lambda: self._load(prompt, timeout_us), Event.SEATED)

    def fire(self, lane_clear: Callable[[], LaneAnswer], before_fire: Callable[[], None]) -> ShotFired:
        """Check the lane, arm, fire, and see the shot leave.

        Parameters
        ----------
        lane_clear
            Asks the camera; the cannon's own input is asked besides. While it thinks nothing keeps the line alive:
            it returns within 0.3 s, or calls `wait` in between.
        before_fire
            Called once the cannon is armed. The fire goes out only after it has returned.

        Raises
        ------
        LaneNotClear
            Nothing was armed; the lever was let down.
        ShotNotSeen
            The trigger was pulled.
        LinkError
            `fired` tells whether the trigger was pulled all the same, and `shot` what is known of it.
        """
        self._step(Event.LANE_ASKED, lambda: self._check_lane(lane_clear), Event.LANE_SEEN_CLEAR)
        token = self._step(Event.ARM_ASKED, self._arm, Event.TOKEN_GIVEN)
        self._guarded(before_fire)
        released_device_us, seen = self._step(Event.FIRE_ASKED, lambda: self._fire(token), None)
        shot = self._told(released_device_us, seen)
        failure = self._recover(Event.SHOT_SEEN)
        if failure is not None and self.state is State.UNKNOWN:
            raise failure
        # Once more: by now the clocks are set against each other best; unless it is a chip's that has restarted since.
        self._shot = shot if isinstance(failure, LinkError) else self._told(released_device_us, seen)
        return self._shot

    def service(self) -> None:
        """Draw the lever and turn it to 180 degrees, for lubrication. From here on the dwell runs."""
        self._step(Event.SERVICE_ASKED, self._service, Event.TURNED)

    def let_down(self, cause: str = "asked for") -> None:
        """Ease the lever forward without firing.

        Raises
        ------
        CannonError, LinkError
            Where it could not be; the state is `SAFE_DRAWN` or `UNKNOWN` then.
        """
        failure = self._recover(Event.LET_DOWN_ASKED, cause)
        if failure is not None:
            raise failure

    def make_safe(self, cause: str = "asked for") -> None:
        """Make safe now, from any state, and let the lever down where it is drawn."""
        self._stop()
        self._recover(Event.ABORTED, cause)

    def leave(self, cause: str) -> None:
        """Make safe where a shot, or the way back from it, was left half way; a cannon at rest is left alone."""
        if self.state is State.LETTING_DOWN:
            # A let-down that failed is not tried again, one that was broken off is: from wherever the lever is found.
            self._recover(Event.LINK_LOST, cause)
        elif self.state not in _AT_REST:
            self.make_safe(cause)

    def look(self) -> Status:
        """Ask for the cannon's status."""
        return self._guarded(self._look)

    def dwell_left_us(self) -> int:
        """Return how long the lever may still stay drawn before it is let down; 0 where it is not drawn."""
        if self.state not in DWELLING:
            return 0
        return max(0, self._dwell_until_us - self._clock.now_us())

    def wait(self, timeout_us: int) -> None:
        """Keep the cannon company for a while; raises what a step would where it leaves the shot by itself."""
        self._guarded(lambda: self._pass_time(timeout_us))

    # What each step does

    def _configure(self, changed: Mapping[wire.Setting, int], *, keep: bool) -> None:
        for setting, value in changed.items():
            self._settings[setting] = self._link.ask(messages.Configure(setting, value)).value
        if not keep:
            return
        self._link.ask(messages.SaveSettings())
        if self._listen_for(messages.SettingsSaved, _SAVING_US) is None:
            raise NotDone("writing the cannon's settings", _SAVING_US)

    def _home(self) -> None:
        self._fired, self._shot = False, None
        expected_ms = self._link.ask(messages.Home()).expected_ms
        self._await_state(wire.State.READY, expected_ms, "homing")
        home = {
            wire.Axis.TRAVERSE: wire.Setting.TRAVERSE_HOME_TICKS,
            wire.Axis.AZIMUTH: wire.Setting.AZIMUTH_HOME_TICKS,
            wire.Axis.ELEVATION: wire.Setting.ELEVATION_HOME_TICKS,
        }
        self._pulse_ticks = {axis: self._settings[setting] for axis, setting in home.items()}

    def _aim(self, asked_us: Mapping[wire.Axis, float], *, from_below: bool) -> None:
        before: dict[wire.Axis, int] = {}
        there: dict[wire.Axis, int] = {}
        for axis, pulse_us in asked_us.items():
            low, high = self._limits_ticks(axis)
            ticks = round(pulse_us * TICKS_PER_US)
            if not low <= ticks <= high:
                raise OutOfReach(axis, pulse_us, low / TICKS_PER_US, high / TICKS_PER_US)
            there[axis] = ticks
            below = max(low, ticks - _APPROACH_US * TICKS_PER_US)
            if from_below and self._pulse_ticks[axis] > below:
                before[axis] = below
        self._move(before)
        self._move(there)

    def _limits_ticks(self, axis: wire.Axis) -> tuple[int, int]:
        low, high = (wire.Setting[f"{axis.name}_{end}_TICKS"] for end in ("MIN", "MAX"))
        return self._settings[low], self._settings[high]

    def _move(self, targets: Mapping[wire.Axis, int]) -> None:
        """Move axes at once and wait for all of them."""
        asked = {axis: ticks for axis, ticks in targets.items() if self._pulse_ticks[axis] != ticks}
        expected_ms = 0
        for axis, ticks in asked.items():
            expected_ms = max(expected_ms, self._link.ask(messages.Move(axis, ticks)).expected_ms)
            self._pulse_ticks[axis] = ticks
        under_way = dict(asked)
        deadline_us = self._clock.now_us() + _patience_us(expected_ms)
        while under_way:
            left_us = deadline_us - self._clock.now_us()
            done = self._listen_for(messages.MoveDone, left_us)
            if done is None:
                raise NotDone(
                    f"moving {', '.join(axis.name.lower() for axis in under_way)}", _patience_us(expected_ms)
                )
            if under_way.get(done.axis) == done.pulse_ticks:
                del under_way[done.axis]

    def _cock(self) -> None:
        self._draw_out = True
        expected_ms = self._link.ask(messages.Cock()).expected_ms
        self._await_state(wire.State.COCKED, expected_ms, "cocking")
        self._draw_out = False
        self._begin_dwell()

    def _service(self) -> None:
        self._draw_out = True
        expected_ms = self._link.ask(messages.Service()).expected_ms
        timeout_us = _patience_us(expected_ms)
        # The lever stands at 180 degrees once the state "changes" to itself.
        if (
            self._listen_for(StateChanged, timeout_us, where=lambda event: event.cause is wire.Cause.DONE)
            is None
        ):
            raise NotDone("turning the lever", timeout_us)
        self._begin_dwell()

    def _begin_dwell(self) -> None:
        status = self._look()
        left_us = self._settings[wire.Setting.DWELL_MS] * 1000 - status.cocked_ms * 1000
        self._dwell_until_us = self._clock.now_us() + left_us - _DWELL_MARGIN_US

    def _load(self, prompt: Callable[[], None] | None, timeout_us: int) -> None:
        self._look()
        if self._is_seated():
            return
        if prompt is None:
            timeout_us = _patience_us(self._link.ask(messages.Load()).expected_ms)
        else:
            prompt()
        seen = self._listen_for(
            messages.Event,
            timeout_us,
            where=lambda event: self._is_seated() or _is_fault(event, wire.Fault.LOAD_TIMEOUT),
        )
        if not self._is_seated():
            who = "the loader gave no shot" if prompt is None else "no shot was seated in the muzzle"
            within = f" within {timeout_us / 1e6:g} s" if seen is None else ""
            raise NotLoaded(f"{who}{within}")
        while Moving.LOADER in self._look().moving:
            self._pass_time(_POLL_US)

    def _is_seated(self) -> bool:
        return wire.Input.GATE_FIRST_BLOCKED in self._inputs

    def _check_lane(self, lane_clear: Callable[[], LaneAnswer]) -> None:
        answer = lane_clear()
        self._look()
        why = answer.why or "the camera does not see it clear"
        if answer.clear and wire.Input.LANE_CLEAR not in self._inputs:
            why = "the cannon's own input does not say so"
        elif answer.clear:
            return
        self._take(Event.LANE_BLOCKED, why)
        raise LaneNotClear(f"the lane is not clear: {why}")

    def _arm(self) -> int:
        self._shots_before = self._look().shots
        return self._link.ask(messages.Arm()).token

    def _fire(self, token: int) -> tuple[int, ShotSeen | None]:
        """Fire; return when the trigger was pulled on the cannon's clock, and what the muzzle gate saw."""
        self._fired = self._shot = None
        released_device_us = self._link.ask(messages.Fire(token)).released_us
        self._fired = True
        # At once: whatever goes wrong from here on, this much is known.
        self._shot = self._told(released_device_us, None)
        longest_ms = max(
            self._settings[wire.Setting.SHOT_TIMEOUT_MS], self._settings[wire.Setting.TRIGGER_HOLD_MS]
        )
        seen: ShotSeen | None = None

        def is_over(event: messages.Event) -> bool:
            nonlocal seen
            if isinstance(event, ShotSeen):
                seen = event
                self._shot = self._told(released_device_us, seen)
            return isinstance(event, StateChanged) and event.state is wire.State.SAFE

        # The shot is seen, the trigger held for its time, and then the cannon is safe by itself.
        if self._listen_for(messages.Event, _patience_us(longest_ms), where=is_over) is None:
            self._note(self._as_event(self._look()))
        self._link.beat()  # a round trip close to the shot sets the clocks against each other best
        return released_device_us, seen

    def _told(self, released_device_us: int, seen: ShotSeen | None) -> ShotFired:
        released = self._link.to_host(released_device_us)
        rate = self._link.clock_rate.rate
        left_us = transit_us = muzzle_speed_mps = None
        if seen is not None:
            # By the same round trip: another one may put the two some ms nearer to each other, or farther apart.
            left_us = released.us + round(_since_us(seen.left_first_us, released_device_us) * rate)
            if 0 < seen.transit_ticks < _LONGEST_TRANSIT_TICKS:
                transit_us = seen.transit_ticks / TICKS_PER_US * rate
                muzzle_speed_mps = self._gate_spacing_mm * 1000 / transit_us
        return ShotFired(
            released_us=released.us,
            released_bound_us=released.bound_us,
            released_device_us=released_device_us,
            left_us=left_us,
            transit_us=transit_us,
            muzzle_speed_mps=muzzle_speed_mps,
        )

    # Steps, aborts and what they have in common

    def _take(self, event: Event, cause: str = "") -> Action:
        previous = self.state
        action = self._sequence.take(event)
        self._on_change(Change(self._clock.now_us(), previous, event, self.state, cause))
        return action

    def _step(self, ask: Event, act: Callable[[], T], done: Event | None) -> T:
        self._take(ask)
        result = self._guarded(act)
        if done is not None:
            self._take(done)
        return result

    def _guarded(self, act: Callable[[], T]) -> T:
        """Do something on the way of a shot; where it fails, leave the cannon safe first.

        What is done may wait for the cannon by a step of its own, as the camera's look at the lane does; where that one has
        left the cannon safe already, nothing is left to do.
        """
        given_up_before = self._steps_given_up
        try:
            try:
                return act()
            except Refused as error:
                self._look_behind(error)
                raise
        except BaseException as error:
            if self._steps_given_up == given_up_before:
                unwritten = None
                with EndPutOff():  # Ctrl-C pressed twice must not break off what the first has begun
                    try:
                        self._leave_step(error)
                    except TranscriptError as on_the_way_back:
                        unwritten = on_the_way_back
                self._steps_given_up += 1
                if unwritten is not None:
                    raise TranscriptError(f"{why_given_up(error)}; {unwritten}") from error
            raise

    def _leave_step(self, error: BaseException) -> None:
        if isinstance(error, LetDown):
            event = Event.DWELL_EXPIRED if isinstance(error, DwellExpired) else Event.LET_DOWN_ASKED
            self._recover(event, str(error))
        elif isinstance(error, Aborted):
            self._recover(Event.ABORTED, str(error))
        else:
            self._stop()
            self._recover(Event.ABORTED, why_given_up(error))

    def _look_behind(self, refused: Refused) -> None:
        """Raise what lies behind a refusal: where the cannon has left the shot, its word may still be on the way."""
        if refused.reason is wire.Refusal.WRONG_STATE:
            self._note(self._as_event(self._look()))

    def _stop(self) -> None:
        try:
            with suppress(PortError):
                self._link.stop()
        except TranscriptError as error:  # the byte has gone all the same
            self._unwritten = error

    def _recover(self, event: Event, cause: str = "") -> Exception | None:
        """Follow the table from an event to rest: safe, safe with its lever drawn, or unknown.

        Ctrl-C, unless pressed twice, is heard once it is there.

        Returns
        -------
        Exception or None
            What went wrong on the way, if anything did.

        Raises
        ------
        TranscriptError
            Where the transcript could not be written, which is told but once; the cannon is at rest all the same.
        """
        with EndPutOff() as ending:
            failure = self._follow_table(event, cause)
        if ending.asked:
            raise KeyboardInterrupt
        unwritten, self._unwritten = self._unwritten, None
        if isinstance(failure, TranscriptError):
            unwritten = failure
        if unwritten is not None:
            raise unwritten
        return failure

    def _follow_table(self, event: Event, cause: str) -> Exception | None:
        failure: Exception | None = None
        sought = False
        following: Event | None = event
        while following is not None:
            action = self._take(following, cause)
            try:
                following = self._perform(action, seek=not sought)
                sought = sought or action is Action.STOP
            except (Refused, NotDone, Aborted) as error:
                failure, cause = error, str(error)
                if action is Action.LET_DOWN:
                    self._not_let_down = cause
                # A cannon that will not be made safe is not under control.
                following = Event.ABORTED if action is Action.LET_DOWN else Event.LINK_LOST
            except (LinkError, TranscriptError) as error:
                failure, cause = error, str(error)
                following = Event.LINK_LOST
        return failure

    def _perform(self, action: Action, *, seek: bool) -> Event | None:
        """Do what the table asks for on the way to rest, and return what comes of it."""
        if action is Action.SAFE:
            return self._perform_safe()
        if action is Action.LET_DOWN:
            self._perform_let_down()
            return Event.LEVER_FORWARD
        if action is Action.NOTHING:
            return None
        self._stop()
        return Event.FOUND if seek and self._found_again() else None

    def _perform_safe(self) -> Event | None:
        letting_down = self._look().state is wire.State.LETTING_DOWN
        if not letting_down or self.state is State.SAFE_DRAWN:
            self._link.ask(messages.MakeSafe())
        if self.state in {State.SAFE, State.SAFE_DRAWN}:
            return None
        if self._comes_forward():
            return Event.LEVER_FORWARD
        if (
            self._fired
            and self.state is not State.FIRED
            and (self._shot is None or self._shot.left_us is None)
        ):
            # A stop took the trigger back before it let the lever go, or a switch lies: the shot may well be in the muzzle.
            self._fired = self._shot = self._shots_before = None
        return Event.LEVER_DRAWN

    def _comes_forward(self) -> bool:
        """Wait while the lever is on its way; False where it is held."""
        begun_us = self._clock.now_us()
        still_us: int | None = None
        longest_us = self._settings.get(wire.Setting.LET_DOWN_TIMEOUT_MS, 10_000) * 1000 + _PATIENCE_US
        while True:
            status = self._look()
            waited_us = self._clock.now_us() - begun_us
            at_work = status.state is wire.State.LETTING_DOWN or Moving.DRAW in status.moving
            still = not at_work and not status.inputs & _LEVER_HELD
            still_us = None if not still else waited_us if still_us is None else still_us
            if still_us is not None and waited_us - still_us >= (_DRAW_PAUSE_US if self._draw_out else 0):
                self._draw_out = False
                return True
            is_held = not at_work and wire.Input.LEVER_LATCHED in status.inputs
            if waited_us > (_SWITCHES_US if is_held else longest_us):
                return False
            self._pass_time(_POLL_US)

    def _perform_let_down(self) -> None:
        longest_ms = self._settings.get(wire.Setting.LET_DOWN_TIMEOUT_MS, 10_000)
        self._draw_out = True
        status = self._look()
        if status.state is wire.State.SAFE and not status.inputs & _LEVER_HELD and self._comes_forward():
            return  # the cannon did it by itself, or a hand: asked once more it would refuse
        if status.state is not wire.State.LETTING_DOWN:
            self._link.ask(messages.LetDown())
        changed = self._listen_for(
            StateChanged, _patience_us(longest_ms), where=lambda event: event.state is wire.State.SAFE
        )
        if changed is None:
            raise NotDone("letting down", _patience_us(longest_ms))
        if changed.cause is not wire.Cause.DONE:
            raise Aborted(changed.cause, self._look().faults)
        self._draw_out = False

    def _found_again(self) -> bool:
        """Whether the cannon answers once more; a line that is gone does not."""
        try:
            self._meet()
        except LinkError:
            return False
        return True

    def _meet(self) -> messages.Identity:
        """Begin a session, and notice whether the chip has restarted since the last status."""
        identity = self._link.identify()
        self._inbox.clear()
        passed_us = self._clock.now_us() - self._synced_host_us
        passed_there_us = (identity.time_us - self._synced_us) % (1 << 32)
        if abs(passed_there_us - passed_us) > _RESTART_US + passed_us // 50:
            self._shots_before = None  # its clock began anew, and its count of shots
        return identity

    # Listening

    def _look(self) -> Status:
        """Ask for the status; events up to then are old news."""
        status = self._link.ask(messages.ReadStatus())
        self._synced_us = status.time_us
        self._synced_host_us = self._clock.now_us()
        self._inputs = status.inputs
        if self._fired is None and self._shots_before is not None:
            self._fired = status.shots != self._shots_before
        return status

    def _await_state(self, state: wire.State, expected_ms: int, what: str) -> None:
        timeout_us = _patience_us(expected_ms)
        if self._listen_for(StateChanged, timeout_us, where=lambda event: event.state is state) is None:
            raise NotDone(what, timeout_us)

    def _listen_for(
        self,
        kind: type[T],
        timeout_us: int,
        *,
        where: Callable[[T], bool] = lambda event: True,
    ) -> T | None:
        """Return the first event of a kind; None where it does not come in time. Every event is looked at."""
        deadline_us = self._clock.now_us() + timeout_us
        while True:
            while self._inbox:
                event = self._up_to_date(self._inbox.popleft())
                if event is None:
                    continue
                self._note(event)
                if isinstance(event, kind) and where(event):
                    return event
            left_us = deadline_us - self._clock.now_us()
            if left_us <= 0:
                return None
            self._inbox.extend(self._link.wait(min(left_us, _LOOK_US)))
            if self.state in _FIRMWARE_STATES:
                self._on_wait()
            if self.state in DWELLING and self._clock.now_us() >= self._dwell_until_us:
                raise self._dwell_expired()

    def _pass_time(self, time_us: int) -> None:
        self._listen_for(messages.Event, time_us, where=lambda event: False)

    def _up_to_date(self, event: messages.Event) -> messages.Event | None:
        """Return an event, unless the last status is newer; where events were missed, what the status says instead."""
        if isinstance(event, EventsMissed):
            before = self._inputs
            status = self._look()
            if before != status.inputs:
                self._inbox.appendleft(InputChanged(status.inputs, status.time_us + 1))
            return self._as_event(status)
        if isinstance(event, StateChanged | InputChanged) and _is_before(event.time_us, self._synced_us):
            return None
        return event

    @staticmethod
    def _as_event(status: Status) -> StateChanged:
        return StateChanged(status.state, status.state, status.cause, status.time_us)

    def _note(self, event: messages.Event) -> None:
        """Look at an event; raise where the cannon has left the shot."""
        if isinstance(event, InputChanged):
            self._inputs = event.inputs
        if not isinstance(event, StateChanged):
            return
        expected = _FIRMWARE_STATES.get(self.state)
        if expected is None or event.state in expected:
            return
        if self.state is State.FIRING and event.cause is wire.Cause.SHOT_SEEN:
            return
        if event.cause is wire.Cause.DWELL_EXPIRED and self.state in DWELLING:
            raise self._dwell_expired()
        faults = self._look().faults
        if event.cause is wire.Cause.SHOT_NOT_SEEN:
            raise ShotNotSeen(event.cause, faults)
        raise Aborted(event.cause, faults)

    def _dwell_expired(self) -> DwellExpired:
        dwell_s = self._settings[wire.Setting.DWELL_MS] / 1000
        return DwellExpired(f"the lever was cocked for as long as it may, {dwell_s:g} s")


def _setting(name: str) -> wire.Setting:
    try:
        return wire.Setting[name.upper()]
    except KeyError:
        raise BadSetting(name, "the firmware has no such setting") from None


def _patience_us(expected_ms: int) -> int:
    return round(expected_ms * 1000 * _PATIENCE_SHARE) + _PATIENCE_US


def _is_before(time_us: int, reference_us: int) -> bool:
    """Whether a time of the cannon's 32-bit clock lies before another, or is the same."""
    return _since_us(reference_us, time_us) >= 0


def _since_us(time_us: int, reference_us: int) -> int:
    """How long after another a time of the cannon's 32-bit clock is; negative where it lies before it."""
    return (time_us - reference_us + (1 << 31)) % (1 << 32) - (1 << 31)


def _is_fault(event: messages.Event, fault: wire.Fault) -> bool:
    return isinstance(event, FaultSeen) and event.fault is fault
