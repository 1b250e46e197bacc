"""One shot over the real firmware core: the way of a shot, and every way off it. Whatever happens, it ends safe."""

import os
import random
import signal
from collections import Counter
from contextlib import closing, nullcontext
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_top import QUIET, Noise, TableTop
from whole_rig import Table

from rig.cannon import (
    Aborted,
    BadSetting,
    Cannon,
    CannonError,
    Change,
    DwellExpired,
    LaneAnswer,
    LaneNotClear,
    NotLoaded,
    OutOfReach,
    ShotFired,
    ShotNotSeen,
)
from rig.link import messages, wire
from rig.link.codec import STOP_BYTES, Decoder, Frame, encode
from rig.link.errors import BoardReset, LinkError, LinkLost, NoAnswer, NotDone, PortGone, Refused
from rig.link.link import Link
from rig.link.transcript import RecordedPort, Transcript, TranscriptError
from rig.sequence import NotInSequence, State
from rig.settings import Cannon as CannonSettings

_GATE_MM = 20.0
_QUICK = {
    "traverse_speed_ticks": 400,
    "azimuth_speed_ticks": 400,
    "elevation_speed_ticks": 400,
    "draw_speed_ticks": 400,
    "draw_ease_speed_ticks": 100,
    "latch_speed_ticks": 400,
    "loader_present": 1,
}


class Person:
    """Who stands at the table: notes every change, and may interfere with the shot."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.interfere = lambda: None

    @property
    def way(self) -> list[State]:
        return [change.state for change in self.changes]

    def see(self, change: Change) -> None:
        self.changes.append(change)

    def wait(self) -> None:
        self.interfere()


class Shot:
    """A table, a cannon and the way of a shot on it."""

    def __init__(self, *, seed: int = 0, table: TableTop | None = None) -> None:
        self.table = table or TableTop(seed=seed)
        self.table.shots_in_loader = 1
        self.person = Person()
        self.link = Link(self.table, self.table, session=seed)
        self.cannon = Cannon(
            self.link,
            gate_spacing_mm=_GATE_MM,
            on_change=self.person.see,
            on_wait=self.person.wait,
        )
        self.asked = 0

    def ready(self) -> "Shot":
        self.cannon.connect()
        self.cannon.configure(_QUICK)
        return self

    def to(self, state: State) -> "Shot":
        """Bring a shot to a state between two steps."""
        self.ready()
        for reached, step in self.steps():
            if self.cannon.state is state:
                break
            step()
            assert self.cannon.state is reached
        return self

    def steps(self):
        return [
            (State.HOMED, self.cannon.home),
            (State.AIMED, lambda: self.cannon.aim(1400, 1600, 1500)),
            (State.COCKED, self.cannon.cock),
            (State.LOADED, self.cannon.load),
            (State.SAFE, self.fire),
        ]

    def fire(self) -> ShotFired:
        return self.cannon.fire(lambda: LaneAnswer(True), self.before_fire)

    def fire_and_be_cut_off(self) -> None:
        """Lose the line just after the cannon was told to fire."""

        def cut() -> None:
            self.table.at(500, lambda: setattr(self.table, "cut", True))

        with pytest.raises(LinkLost):
            self.cannon.fire(lambda: LaneAnswer(True), cut)

    def before_fire(self) -> None:
        assert self.table.trigger_pulses == 0
        self.asked += 1

    def asked_for(self) -> list[int]:
        """The commands that were written since the last call, repetitions too."""
        items = Decoder(self.link.session).feed(b"".join(self.table.written))
        self.table.written.clear()
        return [item.code for item in items if isinstance(item, Frame)]

    def whole(self) -> ShotFired:
        self.ready()
        fired = None
        for _, step in self.steps():
            fired = step()
        assert isinstance(fired, ShotFired)
        return fired

    def ends_safe(self) -> None:
        """Trigger off, the firmware safe, and the controller knows."""
        assert not self.table.trigger
        if self.table.state is wire.State.LETTING_DOWN:
            return  # which is what a cannon does for itself that nobody talks with
        assert self.table.state is wire.State.SAFE
        assert self.cannon.state in {State.SAFE, State.SAFE_DRAWN, State.UNKNOWN}
        if self.cannon.state is State.SAFE:
            assert self.table.lever_is_forward


_BETWEEN_STEPS = [State.HOMED, State.AIMED, State.COCKED, State.LOADED]


# The way of a shot


@pytest.mark.parametrize("changes", [10, 100, 128, 150, 256, 264, 300])
def test_a_cannon_that_had_much_to_tell_while_nobody_listened_is_homed(changes: int) -> None:
    """A loose plug of the lane chatters while a person is asked something, and the line is silent."""
    shot = Shot().ready()
    for change in range(changes):
        (shot.table.give if change % 2 else shot.table.take)(wire.Input.LANE_CLEAR)
        shot.table.run(10_000)
    shot.table.give(wire.Input.LANE_CLEAR)
    shot.table.run(50_000)
    shot.cannon.home()
    assert shot.table.state is wire.State.READY
    shot.cannon.aim(1400, 1600, 1500)


_WAY = [
    State.MAKING_SAFE,
    State.SAFE,
    State.HOMING,
    State.HOMED,
    State.AIMING,
    State.AIMED,
    State.COCKING,
    State.COCKED,
    State.LOADING,
    State.LOADED,
    State.CHECKING_LANE,
    State.LANE_CLEAR,
    State.ARMING,
    State.ARMED,
    State.FIRING,
    State.FIRED,
    State.SAFE,
]


def test_a_shot_goes_its_way_and_ends_safe():
    shot = Shot()
    fired = shot.whole()
    assert shot.person.way == _WAY
    assert shot.table.trigger_pulses == shot.table.shots == shot.asked == 1
    assert abs(fired.released_us - shot.table.released_us) <= fired.released_bound_us
    assert fired.left_us - fired.released_us == 4_000
    assert fired.transit_us == 2_000
    assert fired.muzzle_speed_mps == pytest.approx(_GATE_MM / 1e3 / 2e-3)
    shot.ends_safe()


def test_the_next_shot_goes_the_same_way():
    shot = Shot()
    shot.table.shots_in_loader = 3
    shot.ready()
    for n in (1, 2, 3):
        for _, step in shot.steps()[:-1]:
            step()
        shot.cannon.fire(lambda: LaneAnswer(True), lambda: None)
        assert shot.table.trigger_pulses == n
    shot.ends_safe()


def test_fire_leaves_only_after_the_log_has_it():
    shot = Shot().to(State.LOADED)
    seen: list[tuple[State, int]] = []
    shot.cannon.fire(
        lambda: LaneAnswer(True),
        lambda: seen.append((shot.cannon.state, shot.table.trigger_pulses)),
    )
    assert seen == [(State.ARMED, 0)]
    assert shot.table.trigger_pulses == 1


def test_the_same_seed_gives_the_same_shot_to_the_microsecond():
    def told(shot: Shot) -> tuple[ShotFired, list[Change]]:
        return shot.whole(), shot.person.changes

    assert told(Shot(seed=5)) == told(Shot(seed=5))


_TURNS_US = 1 << 32  # the cannon's clock, every 71.6 minutes


@pytest.mark.parametrize(
    "on_for_us",
    [
        _TURNS_US // 4,
        *(_TURNS_US // 2 - before_us for before_us in (1_500_000, 3_000_000)),
        3 * _TURNS_US // 4,
        *(_TURNS_US - before_us for before_us in range(100_000, 5_000_000, 600_000)),
    ],
)
def test_a_shot_goes_its_way_however_long_the_cannon_was_on_and_while_its_clock_turns_over(on_for_us):
    shot = Shot()
    shot.table.stand_idle(on_for_us)
    fired = shot.whole()
    assert shot.person.way == _WAY
    assert abs(fired.released_us - shot.table.released_us) <= fired.released_bound_us
    assert fired.left_us - fired.released_us == 4_000
    assert fired.transit_us == 2_000
    shot.ends_safe()


class BusyComputer(TableTop):
    """A table whose computer hands over what came up to 4 ms later, now this much and now that."""

    def __init__(self, *, seed: int) -> None:
        self._late = random.Random(seed)
        super().__init__(seed=seed)

    def read(self, timeout_us: int) -> bytes:
        data = super().read(timeout_us)
        if not data:
            return data
        self.run(self._late.randrange(4_000))
        return data + super().read(0)


@pytest.mark.parametrize("seed", [116, 160, 310])
def test_how_long_after_its_trigger_a_shot_left_does_not_hang_on_how_busy_the_computer_is(seed):
    """The cannon tells both on its own clock; which round trip that is read by changes neither the one nor the other alone."""
    fired = Shot(table=BusyComputer(seed=seed)).whole()
    assert fired.left_us - fired.released_us == 4_000


def test_a_cannon_that_was_left_alone_for_an_hour_has_not_restarted():
    shot = Shot()
    shot.table.stand_idle(60_000_000)
    shot.to(State.LOADED)
    shot.fire_and_be_cut_off()
    assert shot.cannon.fired is None
    shot.table.stand_idle(_TURNS_US - 30_000_000)  # and its clock turns over meanwhile
    shot.table.run(1_000_000)
    shot.table.cut = False
    shot.cannon.connect()
    assert shot.table.trigger_pulses == 1
    assert shot.cannon.fired is True


class OffClock:
    """The controller's clock where the cannon's is off by so much."""

    def __init__(self, table: TableTop, share: float) -> None:
        self._table = table
        self._share = share

    def now_us(self) -> int:
        return round(self._table.time_us * (1 + self._share))


@pytest.mark.parametrize("share", [-0.005, 0.005])
def test_a_cannon_whose_clock_is_off_as_an_unos_may_be_has_not_restarted(share):
    shot = Shot()
    shot.link = Link(shot.table, OffClock(shot.table, share))
    shot.cannon = Cannon(shot.link, gate_spacing_mm=_GATE_MM)
    shot.to(State.LOADED)
    shot.fire_and_be_cut_off()
    shot.table.stand_idle(600_000_000)
    shot.table.cut = False
    shot.cannon.connect()
    assert shot.cannon.fired is True


def test_a_cannon_with_slow_servos_is_waited_for_as_long_as_it_says_that_it_takes():
    shot = Shot().ready()
    axes = ("traverse", "azimuth", "elevation")
    slow = {f"{axis}_speed_ticks": 4 for axis in axes}
    shot.cannon.configure(slow)
    begun_us = shot.table.time_us
    shot.cannon.home()
    shot.cannon.aim(1990, 1990, 1990)
    assert shot.table.time_us - begun_us > 5_000_000
    shot.cannon.aim(1010, 1010, 1010)
    assert shot.cannon.state is State.AIMED
    shot.cannon.make_safe()
    shot.ends_safe()


def test_the_camera_is_watched_some_forty_times_a_second_while_a_shot_is_on_its_way():
    shot = Shot().ready()
    watched_us: list[int] = []
    shot.person.interfere = lambda: watched_us.append(shot.table.time_us)
    for _, step in shot.steps():
        step()
    gaps_us = [after - before for before, after in pairwise(watched_us)]
    # 20 ms, and what a heartbeat's answer or a command's takes.
    assert max(gaps_us) <= 40_000


def test_a_transit_too_long_to_be_timed_is_no_speed():
    shot = Shot()
    shot.table.transit_us = 40_000
    fired = shot.whole()
    assert fired.left_us is not None
    assert fired.transit_us is fired.muzzle_speed_mps is None


def test_on_a_quiet_line_it_is_known_to_some_milliseconds_when_the_trigger_was_pulled():
    assert Shot().whole().released_bound_us <= 2_000


def test_a_step_out_of_turn_is_refused_and_nothing_is_sent():
    shot = Shot().to(State.AIMED)
    sent = shot.table.bytes_written
    for step in (shot.fire, shot.cannon.load, shot.cannon.home, shot.cannon.let_down):
        with pytest.raises(NotInSequence):
            step()
    assert shot.table.bytes_written == sent
    assert shot.cannon.state is State.AIMED


# Settings


def test_settings_are_given_once_and_kept_over_a_reset():
    shot = Shot().ready()
    written = shot.table.bytes_written
    shot.cannon.configure(_QUICK)
    assert shot.table.bytes_written == written
    shot.table.reset(wire.ResetCause.EXTERNAL)
    identity = shot.cannon.connect()
    assert identity.settings_source == wire.SettingsSource.STORED
    written = shot.table.bytes_written
    shot.cannon.configure(_QUICK)
    assert shot.table.bytes_written == written


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("dwell_s", 30, "cannon setting dwell_s: the firmware has no such setting"),
        ("dwell_ms", 999, "cannon setting dwell_ms: 999 found, expected 1000 to 60000"),
    ],
)
def test_a_setting_that_is_none_is_refused_before_any_is_written(name, value, message):
    shot = Shot().ready()
    written = shot.table.bytes_written
    with pytest.raises(BadSetting, match=message):
        shot.cannon.configure({"loader_hold_ms": 20, name: value})
    assert shot.table.bytes_written == written
    assert shot.cannon.state is State.SAFE


@pytest.mark.parametrize(
    "table",
    [
        {"draw": {"speed_us_per_s": 150, "ease_us_per_s": 150}},
        {"latch": {"speed_us_per_s": 150}},
        {"latch": {"speed_us_per_s": 1000}, "trigger": {"kind": "latch"}},
    ],
    ids=["slow draw", "slow latch", "slow latch as trigger"],
)
def test_whatever_speeds_the_settings_allow_the_lever_is_cocked_fired_and_let_down(table):
    """The firmware's own limits, 4 s for cocking and 0.25 s for a shot, are those of a quick lever."""
    # This one's latch frees the lever too.
    shot = Shot(table=Table(seed=0, pulled=lambda: None, counts=Counter()))
    shot.cannon.connect()
    shot.cannon.configure(CannonSettings.model_validate(table | {"loader": True}).firmware_values())
    for reached, step in shot.steps()[:-1]:
        step()
        assert shot.cannon.state is reached
    shot.cannon.let_down()
    assert shot.table.lever_is_forward
    shot.table.shots_in_loader = 1
    for _, step in shot.steps():
        step()
    assert shot.table.shots == 1
    shot.ends_safe()


def test_settings_are_given_to_a_safe_cannon_only():
    shot = Shot().to(State.COCKED)
    with pytest.raises(CannonError, match="to a safe cannon only; this one is cocked"):
        shot.cannon.configure({"dwell_ms": 60_000})
    assert shot.cannon.state is State.COCKED


# Aiming


@pytest.mark.parametrize("start_us", [1000, 1200, 1500, 1999])
@pytest.mark.parametrize("target_us", [1015, 1200, 1500, 1980])
def test_every_axis_comes_to_its_aim_from_below(start_us, target_us):
    shot = Shot().to(State.HOMED)
    shot.cannon.aim(start_us, start_us, start_us)
    shot.table.pulses.clear()
    shot.cannon.aim(target_us, target_us, target_us)
    for axis in (wire.Axis.TRAVERSE, wire.Axis.AZIMUTH, wire.Axis.ELEVATION):
        way = [pulses[axis] for pulses in shot.table.pulses]
        assert way[-1] == target_us * 2
        lowest = way.index(min(way))
        assert way[lowest:] == sorted(way[lowest:])
        assert min(way) <= max(2000, target_us * 2 - 60)


def test_an_aim_beyond_the_limits_moves_nothing():
    shot = Shot().to(State.HOMED)
    shot.table.pulses.clear()
    with pytest.raises(
        OutOfReach, match=r"elevation cannot go to a pulse of 2000\.5 us; its limits are 1000 to 2000"
    ):
        shot.cannon.aim(1400, 1500, 2000.5)
    assert len(shot.table.pulses) <= 1
    with pytest.raises(OutOfReach, match=r"traverse cannot go to a pulse of 999\.5 us"):
        Shot().to(State.HOMED).cannon.aim(999.5, 1500, 1500)
    shot.ends_safe()


# Loading


def test_a_person_is_asked_for_the_shot_and_waited_for():
    shot = Shot().to(State.COCKED)
    shot.table.shots_in_loader = 0
    shot.cannon.load(lambda: shot.table.at(3_000_000, shot.table.seat_a_shot))
    assert shot.cannon.state is State.LOADED


def test_a_shot_that_is_seated_already_will_do():
    shot = Shot().to(State.COCKED)
    shot.table.seat_a_shot()
    shot.table.run(10_000)
    shot.cannon.load(lambda: pytest.fail("nobody need be asked"))
    assert shot.table.loader_pulses == 0


@pytest.mark.parametrize("by_hand", [True, False])
def test_no_shot_in_time_lets_the_lever_down(by_hand):
    shot = Shot().to(State.COCKED)
    shot.table.shots_in_loader = 0
    with pytest.raises(NotLoaded, match="no shot was seated" if by_hand else "the loader gave no shot"):
        shot.cannon.load((lambda: None) if by_hand else None, timeout_us=2_000_000)
    assert shot.cannon.state is State.SAFE
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


# The lane


@pytest.mark.parametrize("by_camera", [True, False])
def test_a_lane_that_is_not_clear_arms_nothing_and_lets_the_lever_down(by_camera):
    shot = Shot().to(State.LOADED)
    if not by_camera:
        shot.table.take(wire.Input.LANE_CLEAR)
        shot.table.run(10_000)
    answer = LaneAnswer(not by_camera, "a hand over row 4" if by_camera else "")
    why = "a hand over row 4" if by_camera else "the cannon's own input"
    with pytest.raises(LaneNotClear, match=why):
        shot.cannon.fire(lambda: answer, shot.before_fire)
    assert shot.asked == shot.table.trigger_pulses == 0
    assert State.ARMING not in shot.person.way
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


def test_of_a_lane_that_neither_camera_nor_input_says_to_be_clear_what_the_camera_sees_is_told():
    shot = Shot().to(State.LOADED)
    shot.table.take(wire.Input.LANE_CLEAR)
    shot.table.run(10_000)
    with pytest.raises(LaneNotClear, match="a hand over row 4"):
        shot.cannon.fire(lambda: LaneAnswer(False, "a hand over row 4"), shot.before_fire)


def test_a_lane_that_is_entered_after_arming_is_the_firmwares_to_see():
    shot = Shot().to(State.LOADED)

    def enter() -> None:
        shot.table.take(wire.Input.LANE_CLEAR)
        shot.table.run(5_000)

    with pytest.raises(Aborted) as error:
        shot.cannon.fire(lambda: LaneAnswer(True), enter)
    assert error.value.cause is wire.Cause.LANE_NOT_CLEAR
    assert shot.cannon.fired is False
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


# Dwell


@pytest.mark.parametrize("state", [State.COCKED, State.LOADED])
def test_a_lever_cocked_too_long_is_let_down(state):
    shot = Shot().to(state)
    with pytest.raises(DwellExpired, match="as long as it may, 30 s"):
        shot.cannon.wait(40_000_000)
    assert (
        wire.Command.LET_DOWN in shot.asked_for()
    )  # the firmware would have done it by itself a little later
    assert shot.cannon.state is State.SAFE
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


def test_a_dwell_that_ends_while_the_camera_looks_at_the_lane_is_told_and_answered_once():
    shot = Shot().to(State.LOADED)
    with pytest.raises(DwellExpired, match="as long as it may, 30 s"):
        shot.cannon.fire(lambda: shot.cannon.wait(40_000_000), shot.before_fire)
    assert shot.person.way[-3:] == [State.CHECKING_LANE, State.LETTING_DOWN, State.SAFE]
    assert shot.asked == shot.table.trigger_pulses == 0
    shot.ends_safe()


def test_a_firmware_whose_dwell_ends_first_is_left_to_let_down():
    shot = Shot().to(State.COCKED)
    shot.table.run(400_000)  # within the heartbeat's time
    shot.cannon._dwell_until_us += 60_000_000
    with pytest.raises(DwellExpired):
        shot.cannon.wait(40_000_000)
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


def test_a_lever_that_was_let_down_while_the_controller_slept_is_told_as_that():
    """A computer whose lid was closed hears of its cannon only how it stands."""
    shot = Shot().to(State.LOADED)
    see = shot.person.see

    def sleep(change: Change) -> None:
        see(change)
        if change.state is State.ARMED:
            shot.table.run(40_000_000)

    shot.cannon._on_change = sleep
    with pytest.raises(Aborted, match="the cannon made itself safe: it has let the lever down by itself"):
        shot.fire()
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


def test_the_lever_can_be_let_down_when_asked():
    shot = Shot().to(State.LOADED)
    shot.cannon.let_down()
    assert shot.cannon.state is State.SAFE
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


# What can go wrong at the table


@pytest.mark.parametrize("permission", [wire.Input.ESTOP_OK, wire.Input.KEY_ON])
@pytest.mark.parametrize("state", _BETWEEN_STEPS)
def test_emergency_stop_and_key_end_a_shot_between_steps(state, permission):
    shot = Shot().to(state)
    shot.table.take(permission)
    cause = wire.Cause.EMERGENCY_STOP if permission is wire.Input.ESTOP_OK else wire.Cause.KEY_OFF
    with pytest.raises(Aborted) as error:
        shot.cannon.wait(1_000_000)
    assert error.value.cause is cause
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


def test_after_an_emergency_stop_the_lever_stays_drawn_until_it_can_be_let_down():
    shot = Shot().to(State.COCKED)
    shot.table.take(wire.Input.ESTOP_OK)
    with pytest.raises(Aborted, match="the emergency stop was pressed"):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.state is State.SAFE_DRAWN
    with pytest.raises(Refused, match="emergency stop is pressed"):
        shot.cannon.let_down()
    assert shot.cannon.state is State.SAFE_DRAWN
    shot.table.give(wire.Input.ESTOP_OK)
    shot.table.run(10_000)
    shot.cannon.let_down()
    assert shot.cannon.state is State.SAFE
    with pytest.raises(Refused, match="key must be turned off and on again"):
        shot.cannon.home()
    shot.ends_safe()


def stopped_while_cocked() -> Shot:
    shot = Shot().to(State.COCKED)
    shot.table.take(wire.Input.ESTOP_OK)
    with pytest.raises(Aborted):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.state is State.SAFE_DRAWN
    return shot


def test_a_lever_that_the_firmware_let_down_meanwhile_is_found_forward_and_the_next_shot_goes_on():
    """Asked for a let-down then, the firmware would refuse: the lever is not latched."""
    shot = stopped_while_cocked()
    shot.table.give(wire.Input.ESTOP_OK)
    shot.table.run(60_000_000)
    assert shot.table.lever_is_forward
    shot.cannon.let_down("left drawn by an earlier shot")
    assert shot.cannon.state is State.SAFE
    assert not shot.cannon.left_drawn
    shot.ends_safe()


def test_a_lever_that_is_left_drawn_is_said_and_why_it_was_not_let_down():
    shot = stopped_while_cocked()
    assert shot.cannon.left_drawn == "the lever is still drawn"
    shot.cannon.connect()
    with pytest.raises(
        CannonError, match=r"the lever is drawn and could not be let down: .* the emergency stop is pressed"
    ):
        shot.cannon.configure({"dwell_ms": 20_000})
    assert shot.cannon.left_drawn == "the lever is still drawn"


@pytest.mark.parametrize(
    ("state", "told"),
    [(State.AIMED, ""), (State.COCKED, "the lever may still be drawn"), (State.SAFE, "")],
)
def test_a_line_that_is_lost_leaves_the_lever_drawn_only_where_it_was(state, told):
    shot = Shot().to(state)
    shot.table.unplugged = True
    with pytest.raises(PortGone):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.left_drawn == told


def test_a_lever_that_was_let_down_is_forward_whatever_becomes_of_the_line_then():
    shot = Shot().to(State.COCKED)
    shot.cannon.let_down()
    shot.cannon.home()
    shot.table.unplugged = True
    with pytest.raises(PortGone):
        shot.cannon.wait(1_000_000)
    assert not shot.cannon.left_drawn


def test_of_a_line_that_is_lost_while_the_lever_is_on_its_way_back_it_is_said_that_it_may_be_drawn():
    """Between rest and breech no switch sees it."""
    shot = Shot().to(State.AIMED)

    def unplug() -> None:
        shot.table.unplugged = shot.cannon.state is State.COCKING

    shot.person.interfere = unplug
    with pytest.raises(PortGone):
        shot.cannon.cock()
    assert shot.cannon.left_drawn == "the lever may still be drawn"


def test_a_shot_that_stays_in_the_muzzle_is_told_as_not_seen():
    shot = Shot().to(State.LOADED)
    shot.table.jammed = True
    with pytest.raises(ShotNotSeen) as error:
        shot.fire()
    assert wire.Fault.SHOT_NOT_SEEN in error.value.faults
    assert shot.table.trigger_pulses == 1
    shot.ends_safe()


class StuckLatch(TableTop):
    """A table whose trigger does not free the lever."""

    def _watch_trigger(self) -> None:
        latched = self._latched
        self._latched = False  # so that nothing is let fly
        super()._watch_trigger()
        self._latched = latched


def test_a_shot_whose_trigger_did_not_free_the_lever_may_have_left_or_not_and_is_told_to_lie_in_the_muzzle():
    shot = Shot(table=StuckLatch()).to(State.LOADED)
    with pytest.raises(ShotNotSeen):
        shot.fire()
    assert shot.table.trigger_pulses == 1
    assert shot.cannon.fired is None
    assert shot.cannon.shot is None
    assert shot.cannon.left_loaded
    shot.ends_safe()


def test_that_the_trigger_did_not_free_the_lever_is_found_out_when_the_line_is_back():
    shot = Shot(table=StuckLatch()).to(State.LOADED)
    shot.fire_and_be_cut_off()
    shot.table.cut = False
    shot.cannon.connect()
    assert shot.table.trigger_pulses == 1
    assert shot.cannon.fired is None
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


class LyingSwitch(TableTop):
    """A table whose lever goes on to look latched once a shot has left."""

    def _levels(self) -> wire.Input:
        return super()._levels() | (wire.Input.LEVER_LATCHED if self.trigger_pulses else wire.Input(0))


@pytest.mark.parametrize("is_broken_off", [False, True])
def test_a_shot_that_was_seen_to_leave_has_left_whatever_the_levers_switch_says(is_broken_off):
    shot = Shot(table=LyingSwitch()).to(State.LOADED)

    def interfere() -> None:
        if is_broken_off and shot.cannon.shot is not None and shot.cannon.shot.left_us is not None:
            raise CameraGone

    shot.person.interfere = interfere
    with pytest.raises(CameraGone) if is_broken_off else nullcontext():
        shot.fire()
    assert shot.cannon.fired is True
    assert shot.cannon.shot.left_us - shot.cannon.shot.released_us == 4_000
    assert shot.cannon.state is State.SAFE_DRAWN


@pytest.mark.parametrize("switch", [wire.Input.LEVER_DRAWN, wire.Input.LEVER_LATCHED])
def test_a_lever_that_one_of_its_switches_sees_held_is_not_taken_to_be_forward(switch):
    class Held(TableTop):
        def _levels(self) -> wire.Input:
            return super()._levels() | switch

    shot = Shot(table=Held())
    shot.cannon.connect()
    assert shot.cannon.state is State.SAFE_DRAWN
    assert shot.cannon.left_drawn == "the lever is still drawn"


def test_after_a_shot_the_levers_switch_has_a_little_time_to_tell_that_it_went_forward():
    class SlowSwitch(TableTop):
        """The lever looks latched until 100 ms after the cannon is safe."""

        safe_us = 0

        def _levels(self) -> wire.Input:
            if self.trigger_pulses and not self.safe_us and self.state is wire.State.SAFE:
                self.safe_us = self.time_us
            looks_latched = self.trigger_pulses and (
                not self.safe_us or self.time_us < self.safe_us + 100_000
            )
            return super()._levels() | (wire.Input.LEVER_LATCHED if looks_latched else wire.Input(0))

    shot = Shot(table=SlowSwitch()).to(State.LOADED)
    shot.fire()
    assert shot.person.way[-2:] == [State.FIRED, State.SAFE]


def test_whether_a_shot_is_left_in_the_muzzle_is_told():
    for state, is_loaded in ((State.COCKED, False), (State.LOADED, True)):
        shot = Shot().to(state)
        shot.cannon.let_down()
        assert shot.cannon.fired is False
        assert shot.cannon.left_loaded is is_loaded
    unplugged = Shot().to(State.LOADED)
    unplugged.table.unplugged = True
    with pytest.raises(PortGone):
        unplugged.cannon.wait(1_000_000)
    assert unplugged.cannon.left_loaded
    jammed = Shot().to(State.LOADED)
    jammed.table.jammed = True
    with pytest.raises(ShotNotSeen):
        jammed.fire()
    assert jammed.cannon.left_loaded
    fired = Shot().to(State.LOADED)
    fired.fire()
    assert not fired.cannon.left_loaded
    fired.table.shots_in_loader = 1
    for _, step in fired.steps()[:-1]:
        step()
    fired.cannon.let_down()
    assert fired.cannon.fired is False, "the one before it was"
    assert fired.cannon.left_loaded


def test_of_a_line_that_is_lost_after_the_trigger_what_was_heard_before_tells_nothing_of_the_muzzle():
    shot = Shot().to(State.LOADED)
    shot.fire_and_be_cut_off()
    assert shot.cannon.fired is None
    assert not shot.cannon.left_loaded


def test_a_shot_is_waited_for_as_long_as_the_settings_say_before_it_is_told_as_not_seen():
    shot = Shot().ready()
    shot.cannon.configure({"shot_timeout_ms": 2_000})
    shot.table.jammed = True
    with pytest.raises(ShotNotSeen):
        for _, step in shot.steps():
            step()


# What can go wrong with the controller


class CameraGone(Exception):
    pass


@pytest.mark.parametrize("error", [CameraGone("unplugged"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    "state", [State.HOMING, State.AIMING, State.COCKING, State.COCKED, State.LOADING, State.FIRING]
)
def test_what_the_watch_raises_stops_the_shot_and_goes_on_to_the_caller(state, error):
    shot = Shot().ready()

    def interfere() -> None:
        if shot.cannon.state is state:
            raise error

    shot.person.interfere = interfere
    with pytest.raises(type(error)):
        for _, step in shot.steps():
            step()
            shot.cannon.wait(30_000)
    assert shot.table.written.count(STOP_BYTES) == 1
    assert shot.cannon.state is State.SAFE
    assert shot.table.trigger_pulses == (state is State.FIRING)
    shot.ends_safe()


def test_a_log_that_cannot_be_written_fires_nothing():
    shot = Shot().to(State.LOADED)

    def full() -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        shot.cannon.fire(lambda: LaneAnswer(True), full)
    assert shot.table.trigger_pulses == 0
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


def test_make_safe_works_from_every_state_between_steps():
    for state in _BETWEEN_STEPS:
        shot = Shot().to(state)
        shot.cannon.make_safe("the player wants a break")
        assert shot.cannon.state is State.SAFE
        assert shot.person.changes[-1].cause == "the player wants a break"
        shot.ends_safe()


def test_a_shot_left_half_way_is_made_safe_and_a_cannon_at_rest_is_left_alone():
    shot = Shot().to(State.LOADED)
    shot.cannon.leave("the log could not be written")
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()
    written = shot.table.bytes_written
    shot.cannon.leave("again")
    assert shot.table.bytes_written == written


def test_a_lever_that_is_held_is_let_down_soon_after_a_stop():
    shot = Shot().to(State.LOADED)
    begun_us = shot.table.time_us
    shot.cannon.make_safe()
    begins_us = next(change.at_us for change in shot.person.changes if change.state is State.LETTING_DOWN)
    assert begins_us - begun_us < 1_000_000
    shot.ends_safe()


def test_a_let_down_that_takes_longer_than_the_settings_allow_is_told_and_not_left_to_go_on():
    shot = Shot().ready()
    shot.cannon.configure({"let_down_timeout_ms": 1_000, "draw_ease_speed_ticks": 10})
    for _, step in shot.steps()[:3]:
        step()
    with pytest.raises(NotDone, match="letting down"):
        shot.cannon.let_down()
    assert shot.cannon.state is State.SAFE_DRAWN
    assert shot.table.state is wire.State.SAFE
    shot.ends_safe()


def test_into_a_line_that_is_lost_while_the_lever_is_let_down_the_stop_byte_is_sent_all_the_same():
    """Perhaps it is the answers alone that do not come through."""
    shot = Shot().to(State.LOADED)
    shot.table.written.clear()
    shot.table.cut = True
    with pytest.raises(LinkLost):
        shot.cannon.let_down()
    assert STOP_BYTES in shot.table.written
    assert shot.cannon.state is State.UNKNOWN


# What can break off the way back

_LATER_US = (0, 5_000, 100_000, 400_000, 900_000)


def press(shot: Shot, *, times: int, state: State, after_us: int) -> None:
    """Have Ctrl-C pressed so long after the cannon first comes to a state."""
    see = shot.person.see

    def and_press(change: Change) -> None:
        see(change)
        if change.state is state:
            shot.cannon._on_change = see
            for _ in range(times):
                shot.table.at(after_us, lambda: signal.raise_signal(signal.SIGINT))

    shot.cannon._on_change = and_press


def test_ctrl_c_pressed_again_while_the_stop_byte_is_written_does_not_keep_the_cannon_from_being_made_safe(
    ctrl_c,
):
    class Pressed(TableTop):
        def write(self, data: bytes) -> None:
            super().write(data)
            if data == STOP_BYTES:
                signal.raise_signal(signal.SIGINT)

    shot = Shot(table=Pressed()).to(State.LOADED)
    shot.person.interfere = lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


@pytest.mark.parametrize("after_us", _LATER_US)
def test_ctrl_c_while_the_lever_is_let_down_is_heard_once_it_is_down(ctrl_c, after_us):
    shot = Shot().to(State.LOADED)
    press(shot, times=1, state=State.LETTING_DOWN, after_us=after_us)
    with pytest.raises(KeyboardInterrupt):
        shot.cannon.let_down()
        shot.table.run(1_000_000)
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


@pytest.mark.parametrize("after_us", _LATER_US)
@pytest.mark.parametrize("state", [State.LETTING_DOWN, State.MAKING_SAFE, State.FIRED])
def test_a_way_back_that_ctrl_c_pressed_twice_broke_off_is_gone_to_its_end_on_leaving(
    ctrl_c, state, after_us
):
    shot = Shot().to(State.LOADED)
    press(shot, times=2, state=state, after_us=after_us)
    back = {
        State.LETTING_DOWN: shot.cannon.let_down,
        State.MAKING_SAFE: shot.cannon.make_safe,
        State.FIRED: shot.fire,
    }
    with pytest.raises(KeyboardInterrupt):
        back[state]()
        shot.table.run(1_000_000)
    shot.cannon.leave("asked to end")
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


@pytest.mark.parametrize("state", [State.LETTING_DOWN, State.MAKING_SAFE, State.FIRED])
def test_a_transcript_that_fills_the_disk_on_the_way_back_does_not_break_it_off(tmp_path: Path, state):
    shot = Shot()
    transcript = Transcript(tmp_path / "session.transcript")
    shot.link = Link(RecordedPort(shot.table, shot.table, transcript), shot.table)

    def see(change: Change) -> None:
        if change.state is state:
            with Path("/dev/full").open("wb") as full:
                os.dup2(full.fileno(), transcript._file.fileno())

    shot.cannon = Cannon(shot.link, gate_spacing_mm=_GATE_MM)
    shot.to(State.COCKED if state is State.LETTING_DOWN else State.LOADED)
    shot.cannon._on_change = see
    if state is State.LETTING_DOWN:
        shot.table.shots_in_loader = 0
    back = {
        State.LETTING_DOWN: shot.cannon.load,
        State.MAKING_SAFE: shot.cannon.make_safe,
        State.FIRED: shot.fire,
    }
    with closing(transcript), pytest.raises(TranscriptError, match="No space left on device"):
        back[state]()
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


@pytest.mark.parametrize(
    ("error", "told"), [(CameraGone("unplugged"), "unplugged"), (KeyboardInterrupt(), "asked to end")]
)
def test_a_transcript_that_does_not_take_the_stop_byte_is_told_beside_what_was_stopped_for(
    tmp_path: Path, error, told
):
    shot = Shot()
    transcript = Transcript(tmp_path / "session.transcript")
    shot.link = Link(RecordedPort(shot.table, shot.table, transcript), shot.table)

    def fill_the_disk_and_raise() -> None:
        if shot.cannon.state is State.LOADED:
            with Path("/dev/full").open("wb") as full:
                os.dup2(full.fileno(), transcript._file.fileno())
            raise error

    shot.cannon = Cannon(shot.link, gate_spacing_mm=_GATE_MM, on_wait=fill_the_disk_and_raise)
    shot.to(State.LOADED)
    with (
        closing(transcript),
        pytest.raises(TranscriptError, match=rf"^{told}; .*session.transcript: .*No space left on device"),
    ):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


# What can go wrong on the line


def test_a_cannon_that_is_not_there_is_said():
    shot = Shot()
    shot.table.cut = True
    with pytest.raises(NoAnswer):
        shot.cannon.connect()
    assert shot.cannon.state is State.UNKNOWN


@pytest.mark.parametrize("state", _BETWEEN_STEPS)
def test_a_line_that_is_cut_leaves_the_cannon_to_itself_and_a_new_session_finds_it_safe(state):
    shot = Shot().to(state)
    shot.table.cut = True
    with pytest.raises(LinkLost):
        shot.cannon.wait(3_000_000)
    assert shot.cannon.state is State.UNKNOWN
    shot.ends_safe()
    shot.table.cut = False
    shot.cannon.connect()
    assert shot.cannon.state is State.SAFE
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


@pytest.mark.parametrize("arrives", [True, False])
def test_whether_the_trigger_was_pulled_is_found_out_when_the_line_is_back(arrives):
    shot = Shot().to(State.LOADED)

    def cut() -> None:
        # After 0.5 ms the command is on its way, and its answer is not.
        shot.table.at(500 if arrives else 0, lambda: setattr(shot.table, "cut", True))
        shot.table.cut = not arrives

    with pytest.raises(LinkLost):
        shot.cannon.fire(lambda: LaneAnswer(True), cut)
    assert shot.cannon.fired is None
    shot.table.cut = False
    shot.cannon.connect()
    assert shot.table.trigger_pulses == arrives
    assert shot.cannon.fired is arrives


def test_whether_the_trigger_was_pulled_stays_unknown_when_the_chip_restarted():
    shot = Shot().to(State.LOADED)

    def restart_soon() -> None:
        shot.table.at(500, lambda: shot.table.reset(wire.ResetCause.BROWN_OUT))

    with pytest.raises(BoardReset):
        shot.cannon.fire(lambda: LaneAnswer(True), restart_soon)
    assert shot.cannon.fired is None
    shot.ends_safe()


def test_a_chip_that_restarted_and_has_run_for_longer_since_is_known_to_have_restarted():
    """Its clock is ahead of what was last heard then, and it counts its shots from nought."""
    shot = Shot().to(State.LOADED)
    shot.fire_and_be_cut_off()
    shot.table.reset(wire.ResetCause.WATCHDOG)
    shot.table.stand_idle(60_000_000)
    shot.table.cut = False
    shot.cannon.connect()
    assert shot.table.trigger_pulses == 1
    assert shot.cannon.fired is None


def test_a_line_that_is_lost_once_the_shot_was_seen_is_told_as_that_and_the_shot_is_known():
    shot = Shot().to(State.LOADED)
    see = shot.person.see

    def cut(change: Change) -> None:
        see(change)
        shot.table.cut = shot.table.cut or change.state is State.FIRED

    shot.cannon._on_change = cut
    with pytest.raises(LinkLost, match="did not answer to status"):
        shot.fire()
    assert shot.cannon.fired is True
    assert shot.cannon.shot is not None
    assert shot.cannon.shot.left_us - shot.table.released_us == pytest.approx(4_000, abs=1_000)


def test_a_shot_whose_chip_restarts_once_it_was_seen_is_told_by_the_clock_that_it_was_fired_by():
    shot = Shot().to(State.LOADED)
    see = shot.person.see

    def restart(change: Change) -> None:
        see(change)
        if change.state is State.FIRED:
            shot.table.reset(wire.ResetCause.BROWN_OUT)

    shot.cannon._on_change = restart
    fired = shot.fire()
    assert shot.cannon.fired is True
    assert shot.cannon.shot == fired
    assert abs(fired.released_us - shot.table.released_us) <= fired.released_bound_us
    shot.ends_safe()


class Swallowing:
    """A port that lets everything through but events, or another kind of message."""

    def __init__(self, port: TableTop, swallowed: type = messages.Event) -> None:
        self._port = port
        self._swallowed = swallowed
        self._decoder = Decoder()
        self.swallows = False

    def read(self, timeout_us: int) -> bytes:
        data = self._port.read(timeout_us)
        if not self.swallows:
            return data
        items = self._decoder.feed(data)
        return b"".join(
            encode(i, self._decoder.session)
            for i in items
            if isinstance(i, Frame) and not isinstance(i.message, self._swallowed)
        )

    def write(self, data: bytes) -> None:
        for item in Decoder().feed(data):
            if isinstance(item, Frame) and isinstance(item.message, messages.Identify):
                self._decoder.session = item.message.session
        self._port.write(data)

    def close(self) -> None:
        self._port.close()


def test_a_shot_whose_gate_times_the_line_lost_is_a_shot_all_the_same():
    shot = Shot()
    port = Swallowing(shot.table)
    shot.link = Link(port, shot.table)
    shot.cannon = Cannon(shot.link, gate_spacing_mm=_GATE_MM)
    shot.to(State.LOADED)
    fired = shot.cannon.fire(lambda: LaneAnswer(True), lambda: setattr(port, "swallows", True))
    assert fired.left_us is fired.transit_us is fired.muzzle_speed_mps is None
    assert abs(fired.released_us - shot.table.released_us) <= fired.released_bound_us
    assert shot.cannon.fired is True


def test_a_shot_that_was_not_seen_is_told_as_that_though_the_line_lost_the_word_of_it():
    shot = Shot()
    port = Swallowing(shot.table)
    shot.link = Link(port, shot.table)
    shot.cannon = Cannon(shot.link, gate_spacing_mm=_GATE_MM)
    shot.to(State.LOADED)
    shot.table.jammed = True
    with pytest.raises(ShotNotSeen):
        shot.cannon.fire(lambda: LaneAnswer(True), lambda: setattr(port, "swallows", True))
    shot.ends_safe()


def test_a_cannon_that_answers_to_nothing_but_its_name_is_not_sought_for_ever():
    shot = Shot()
    port = Swallowing(shot.table, messages.Status)
    shot.link = Link(port, shot.table)
    shot.cannon = Cannon(shot.link, gate_spacing_mm=_GATE_MM)
    shot.to(State.LOADED)
    port.swallows = True
    shot.table.at(60_000_000, lambda: pytest.fail("it is sought still"))
    with pytest.raises(LinkLost):
        shot.cannon.let_down()
    assert shot.cannon.state is State.UNKNOWN


def test_a_cannon_that_is_letting_down_by_itself_is_found_and_not_disturbed():
    shot = Shot().to(State.COCKED)
    shot.table.cut = True
    while shot.table.state is not wire.State.LETTING_DOWN:
        shot.table.run(100_000)
    shot.table.cut = False
    shot.asked_for()
    shot.cannon.connect()
    assert wire.Command.SAFE not in shot.asked_for()
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


def test_news_that_is_older_than_the_last_status_is_no_news():
    shot = Shot().to(State.HOMED)
    stale = messages.StateChanged(
        wire.State.SAFE, wire.State.READY, wire.Cause.STOP_BYTE, shot.cannon._synced_us
    )
    seated = messages.InputChanged(
        shot.cannon._inputs | wire.Input.GATE_FIRST_BLOCKED, shot.cannon._synced_us - 1
    )
    shot.cannon._inbox.extend([stale, seated])
    shot.cannon.wait(10_000)
    assert shot.cannon.state is State.HOMED
    assert not shot.cannon.left_loaded


def test_a_port_that_vanishes_as_the_cannon_is_found_is_said():
    shot = Shot()

    def unplug(change: Change) -> None:
        shot.table.unplugged = True

    shot.cannon._on_change = unplug
    with pytest.raises(PortGone):
        shot.cannon.connect()
    assert shot.cannon.state is State.UNKNOWN


def test_a_port_that_vanishes_is_said_and_the_firmware_makes_itself_safe():
    shot = Shot().to(State.LOADED)
    shot.table.unplugged = True
    with pytest.raises(PortGone):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.state is State.UNKNOWN
    shot.table.run(600_000)
    shot.ends_safe()


@pytest.mark.parametrize("state", _BETWEEN_STEPS)
def test_a_chip_that_restarts_ends_the_shot_and_is_found_again(state):
    shot = Shot().to(state)
    shot.table.reset(wire.ResetCause.WATCHDOG)
    with pytest.raises(BoardReset):
        shot.cannon.wait(1_000_000)
    assert shot.cannon.state is State.SAFE
    assert shot.table.trigger_pulses == 0
    shot.ends_safe()


_HAPPENINGS = {
    "emergency stop": lambda table: table.take(wire.Input.ESTOP_OK),
    "key off": lambda table: table.take(wire.Input.KEY_ON),
    "lane": lambda table: table.take(wire.Input.LANE_CLEAR),
    "reset": lambda table: table.reset(wire.ResetCause.EXTERNAL),
    "cut": lambda table: setattr(table, "cut", True),
    "unplugged": lambda table: setattr(table, "unplugged", True),
}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(_HAPPENINGS)), st.integers(0, 4_500_000))
def test_whatever_happens_at_whatever_moment_it_ends_safe_with_one_shot_at_most(what, after_us):
    shot = Shot()
    shot.ready()
    shot.table.at(after_us, lambda: _HAPPENINGS[what](shot.table))
    try:
        for _, step in shot.steps():
            step()
    except (CannonError, LinkError):
        pass
    else:
        assert shot.table.trigger_pulses == 1
    shot.table.run(600_000)
    assert shot.table.trigger_pulses <= shot.asked <= 1
    shot.ends_safe()


_RATES = st.sampled_from([0.0, 0.02, 0.1, 0.3])
_NOISE = st.builds(Noise, drop=_RATES, corrupt=_RATES, repeat=_RATES, delay=_RATES)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_NOISE, st.integers(0, 1 << 32))
def test_over_a_bad_line_a_shot_is_fired_once_or_not_at_all_and_it_ends_safe(noise, seed):
    shot = Shot(seed=seed % (1 << 16))
    shot.ready()
    shot.table.noise = noise
    try:
        for _, step in shot.steps():
            step()
    except (CannonError, LinkError):
        pass
    else:
        assert shot.table.trigger_pulses == 1
    assert shot.table.trigger_pulses <= shot.asked <= 1
    # Once the line is good again, the cannon is found and the next shot is fired.
    shot.table.noise = QUIET
    shot.table.run(600_000)
    shot.cannon.connect()
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()
    before = shot.table.trigger_pulses
    shot.table.shots_in_loader = 1
    for _, step in shot.steps()[:-1]:
        step()
    shot.cannon.fire(lambda: LaneAnswer(True), lambda: None)
    assert shot.table.trigger_pulses == before + 1
    shot.ends_safe()


# Lubrication


def test_service_turns_the_lever_and_let_down_brings_it_back_without_arming():
    shot = Shot().to(State.HOMED)
    shot.cannon.service()
    assert shot.cannon.state is State.SERVICED
    assert (
        shot.table.pulses[-1][wire.Axis.LATCH]
        == wire.SETTING_LIMITS[wire.Setting.LATCH_LUBRICATE_TICKS].default
    )
    assert 0 < shot.cannon.dwell_left_us() < 30_000_000
    shot.cannon.let_down()
    assert shot.cannon.state is State.SAFE
    assert shot.cannon.dwell_left_us() == 0
    assert shot.table.trigger_pulses == 0
    assert wire.State.ARMED not in shot.person.way


def test_service_that_lasts_longer_than_the_dwell_is_let_down():
    shot = Shot().to(State.HOMED)
    shot.cannon.service()
    with pytest.raises(DwellExpired):
        shot.cannon.wait(40_000_000)
    assert shot.cannon.state is State.SAFE
    shot.ends_safe()


def test_service_broken_off_anywhere_ends_safe_with_the_lever_forward():
    for stop_us in (20_000, 50_000, 90_000, 250_000, 400_000, 2_000_000):
        shot = Shot().to(State.HOMED)
        begun_us = shot.table.time_us

        def interfere(shot=shot, at_us=begun_us + stop_us) -> None:
            if shot.table.time_us >= at_us:
                raise KeyboardInterrupt

        shot.person.interfere = interfere
        with pytest.raises(KeyboardInterrupt):
            shot.cannon.service()
            shot.cannon.wait(10_000_000)
        assert shot.cannon.state is State.SAFE
        assert shot.table.trigger_pulses == 0
        shot.ends_safe()


def test_settings_that_are_not_to_be_kept_are_gone_after_a_reset():
    shot = Shot().ready()
    shot.cannon.configure({"traverse_max_ticks": 5000}, keep=False)
    assert shot.link.ask(messages.ReadSetting(wire.Setting.TRAVERSE_MAX_TICKS)).value == 5000
    shot.table.reset(wire.ResetCause.EXTERNAL)
    shot.cannon.connect()
    kept = shot.link.ask(messages.ReadSetting(wire.Setting.TRAVERSE_MAX_TICKS)).value
    assert kept == wire.SETTING_LIMITS[wire.Setting.TRAVERSE_MAX_TICKS].default
