"""Promise: emergency stop, key, lane, silence, safe, stop and every reset make the trigger inactive and the state safe."""

from collections.abc import Callable

import pytest
from cannon_host import PERMITTED, Cannon, Refused, cannon_in, configured

from rig.link import wire
from rig.link.wire import Axis, Cause, Command, Event, Input, Refusal, ResetCause, Setting, State

WORKING = [state for state in State if state != State.SAFE]
AT_WORK_FOR_A_CONTROLLER = [state for state in WORKING if state != State.LETTING_DOWN]
AIMING = (Axis.TRAVERSE, Axis.AZIMUTH, Axis.ELEVATION)


def press_stop(cannon: Cannon) -> None:
    cannon.set(off=Input.ESTOP_OK)


def after_an_emergency_stop() -> Cannon:
    """The stop was pressed and is released again; the key was not turned."""
    cannon = cannon_in(State.READY)
    press_stop(cannon)
    cannon.run(20)
    cannon.set(on=Input.ESTOP_OK)
    cannon.run(20)
    return cannon


def turn_key_off(cannon: Cannon) -> None:
    cannon.set(off=Input.KEY_ON)


def send_stop(cannon: Cannon) -> None:
    cannon.receive(bytes([wire.STOP]))


def ask_for_safe(cannon: Cannon) -> None:
    cannon.receive(cannon.request(Command.SAFE))


@pytest.mark.parametrize("state", WORKING)
@pytest.mark.parametrize(
    ("do", "cause"),
    [
        (press_stop, Cause.EMERGENCY_STOP),
        (send_stop, Cause.STOP_BYTE),
        (ask_for_safe, Cause.COMMAND),
    ],
)
def test_every_stop_makes_safe_at_once(state: State, do: Callable[[Cannon], None], cause: Cause) -> None:
    cannon = cannon_in(state)
    do(cannon)
    cannon.run(1, beat=False)
    assert (cannon.state, cannon.view.cause, cannon.view.trigger) == (State.SAFE, cause, False)
    assert not cannon.view.armed_lamp


@pytest.mark.parametrize("do", [press_stop, turn_key_off, send_stop])
def test_trigger_drops_in_the_interrupt(do: Callable[[Cannon], None]) -> None:
    cannon = cannon_in(State.FIRING)
    assert cannon.view.trigger
    do(cannon)
    assert not cannon.view.trigger, "the main loop has not run"


@pytest.mark.parametrize("state", AT_WORK_FOR_A_CONTROLLER)
def test_key_off_makes_safe(state: State) -> None:
    cannon = cannon_in(state)
    turn_key_off(cannon)
    cannon.run(1, beat=False)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.KEY_OFF)


@pytest.mark.parametrize("state", [State.ARMED, State.FIRING])
def test_lane_not_clear_makes_safe_when_a_shot_could_leave(state: State) -> None:
    cannon = cannon_in(state)
    cannon.set(off=Input.LANE_CLEAR)
    assert not cannon.view.trigger
    cannon.step()
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.LANE_NOT_CLEAR)


@pytest.mark.parametrize("state", AT_WORK_FOR_A_CONTROLLER)
def test_silence_of_half_a_second_makes_safe(state: State) -> None:
    cannon = cannon_in(state)
    cannon.ask(Command.STATUS)
    cannon.lever_moves = state != State.FIRING
    waited = 0
    while cannon.state != State.SAFE:
        cannon.run(1, beat=False)
        waited += 1
    assert waited <= 502
    if state not in {State.HOMING, State.FIRING}:
        assert cannon.view.cause == Cause.HEARTBEAT_LOST
        assert waited >= 500


def test_time_in_which_the_main_loop_was_busy_counts_as_silence_too() -> None:
    """S-4. However much a step has missed."""
    cannon = cannon_in(State.READY)
    cannon.hang(511)
    for _ in range(3):
        cannon.step()
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.HEARTBEAT_LOST)


def test_copies_of_old_frames_do_not_count_as_a_heartbeat() -> None:
    cannon = cannon_in(State.READY)
    request = cannon.request(Command.HEARTBEAT, event_ack=0)
    cannon.exchange(request)
    for _ in range(60):
        cannon.run(10, beat=False)
        cannon.exchange(request)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.HEARTBEAT_LOST)


@pytest.mark.parametrize("glitch", [Input.ESTOP_OK, Input.KEY_ON])
def test_permission_gone_for_less_than_a_step_counts(glitch: Input) -> None:
    cannon = cannon_in(State.ARMED)
    cannon.set(off=glitch)
    cannon.set(on=glitch)
    cannon.run(1, beat=False)
    assert cannon.state == State.SAFE


def test_permission_comes_back_only_after_it_has_been_steady() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.set(off=Input.LANE_CLEAR)
    cannon.run(10)
    for _ in range(10):
        cannon.set(on=Input.LANE_CLEAR)
        cannon.run(2)
        cannon.set(off=Input.LANE_CLEAR)
        cannon.run(1)
    assert not cannon.view.inputs & Input.LANE_CLEAR
    cannon.set(on=Input.LANE_CLEAR)
    cannon.run(5)
    assert cannon.view.inputs & Input.LANE_CLEAR


def test_after_an_emergency_stop_the_key_must_be_turned_off_and_on() -> None:
    cannon = cannon_in(State.READY)
    press_stop(cannon)
    cannon.run(20)
    assert cannon.command(Command.HOME) == Refused(Refusal.EMERGENCY_STOP, 0)
    cannon.set(on=Input.ESTOP_OK)
    cannon.run(20)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_NOT_CYCLED, 0)
    turn_key_off(cannon)
    cannon.run(60)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_OFF, 0)
    cannon.set(on=Input.KEY_ON)
    cannon.run(20)
    cannon.ask(Command.HOME)


def test_home_under_a_pressed_stop_is_refused_for_the_stop_though_the_lever_is_drawn_too() -> None:
    """S-14. Whoever releases the lever first would have the stop still pressed."""
    cannon = cannon_in(State.COCKED)
    press_stop(cannon)
    cannon.run(20)
    assert cannon.command(Command.HOME) == Refused(Refusal.EMERGENCY_STOP, 0)


@pytest.mark.parametrize("earlier_ms", [20, 2])
def test_key_turned_while_the_stop_is_pressed_or_as_it_is_released_does_not_count(earlier_ms: int) -> None:
    """S-11. The key is believed to be on before the stop is believed to be released."""
    cannon = cannon_in(State.READY)
    press_stop(cannon)
    cannon.run(20)
    turn_key_off(cannon)
    cannon.run(60)
    cannon.set(on=Input.KEY_ON)
    cannon.run(earlier_ms)
    cannon.set(on=Input.ESTOP_OK)
    cannon.run(20)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_NOT_CYCLED, 0)


def test_key_that_was_not_yet_believed_to_be_on_when_a_reset_came_must_be_turned_again() -> None:
    """S-11."""
    cannon = after_an_emergency_stop()
    turn_key_off(cannon)
    cannon.run(60)
    cannon.set(on=Input.KEY_ON)
    cannon.run(2)
    cannon.reset(ResetCause.EXTERNAL)
    cannon.run(20, beat=False)
    cannon.identify(session=4)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_NOT_CYCLED, 0)


def test_glitch_of_the_key_is_no_turn() -> None:
    cannon = after_an_emergency_stop()
    turn_key_off(cannon)
    cannon.run(10)
    cannon.set(on=Input.KEY_ON)
    cannon.run(20)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_NOT_CYCLED, 0)


@pytest.mark.parametrize(("off_ms", "on_ms"), [(1, 1), (1, 3), (20, 1), (49, 1)])
def test_key_contact_that_chatters_is_no_turn(off_ms: int, on_ms: int) -> None:
    """S-11. It is never on for so long that it is believed, and never off for 50 ms at a stretch."""
    cannon = after_an_emergency_stop()
    for _ in range(300 // (off_ms + on_ms)):
        turn_key_off(cannon)
        cannon.run(off_ms, beat=False)
        cannon.set(on=Input.KEY_ON)
        cannon.run(on_ms, beat=False)
    cannon.run(20)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_NOT_CYCLED, 0)


def test_key_that_bounces_as_it_comes_on_is_a_turn() -> None:
    cannon = after_an_emergency_stop()
    turn_key_off(cannon)
    cannon.run(60)
    for _ in range(3):
        cannon.set(on=Input.KEY_ON)
        cannon.run(2)
        turn_key_off(cannon)
        cannon.run(2)
    cannon.set(on=Input.KEY_ON)
    cannon.run(20)
    cannon.ask(Command.HOME)


def test_key_must_be_turned_even_if_a_reset_comes_between() -> None:
    cannon = after_an_emergency_stop()
    cannon.reset(ResetCause.EXTERNAL)
    cannon.run(20, beat=False)
    cannon.identify(session=4)
    assert cannon.command(Command.HOME) == Refused(Refusal.KEY_NOT_CYCLED, 0)


@pytest.mark.parametrize("cause", ResetCause)
@pytest.mark.parametrize("state", State)
def test_reset_in_any_state_is_safe_and_moves_no_latch_and_no_aim(state: State, cause: ResetCause) -> None:
    cannon = cannon_in(state)
    pulls = cannon.view.pulls
    cannon.reset(cause)
    assert not cannon.view.trigger
    for _ in range(400):
        cannon.run(10, beat=False)
        assert cannon.state == State.SAFE
        assert cannon.pulse(Axis.LATCH) == 0
        assert all(cannon.pulse(axis) == 0 for axis in AIMING)
    assert (cannon.view.pulls, cannon.view.trigger, cannon.view.loader) == (pulls, False, False)


def test_reset_gives_a_draw_at_rest_no_pulses() -> None:
    """S-5. There is nothing to ease."""
    cannon = cannon_in(State.READY)
    cannon.run(100)
    cannon.reset(ResetCause.WATCHDOG)
    cannon.run(100, beat=False)
    assert cannon.pulses == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("cause", ResetCause)
def test_reset_that_should_not_have_been_is_a_fault_by_its_name(cause: ResetCause) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.reset(cause)
    cannon.run(10, beat=False)
    faults = {ResetCause.WATCHDOG: wire.Fault.WATCHDOG.mask, ResetCause.BROWN_OUT: wire.Fault.BROWN_OUT.mask}
    assert cannon.view.faults == faults.get(cause, 0)


def cocked_beside_a_loader(hold_ms: int = 300) -> Cannon:
    cannon = configured({Setting.LOADER_PRESENT: 1, Setting.LOADER_HOLD_MS: hold_ms})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    return cannon


def test_shot_that_the_loader_brought_is_no_fault() -> None:
    cannon = cocked_beside_a_loader()
    cannon.ask(Command.LOAD)
    cannon.seat()
    cannon.run(900)
    assert cannon.view.faults == 0


def test_shot_that_rolls_for_nearly_half_a_second_to_its_seat_is_no_fault() -> None:
    cannon = cocked_beside_a_loader()
    cannon.ask(Command.LOAD)
    cannon.run(300 + 480)
    cannon.seat()
    cannon.run(200)
    assert cannon.view.faults == 0


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (Command.STATUS, {}),
        (Command.HEARTBEAT, {"event_ack": 0}),
        (Command.READ_SETTING, {"setting": Setting.DWELL_MS}),
        (Command.READ_HISTORY, {"number": 1}),
        (Command.SAFE, {}),
    ],
)
def test_command_that_only_asks_or_makes_safe_is_done_though_a_stop_came_behind_its_first_byte(
    command: Command, fields: dict[str, int]
) -> None:
    """S-13."""
    cannon = cannon_in(State.READY)
    request = cannon.request(command, **fields)
    ((_, kind, _),) = cannon.exchange(request[:2] + bytes([wire.STOP]) + request[2:])
    assert kind == command + wire.ANSWER_OFFSET


def test_fault_that_is_noted_already_is_not_told_again() -> None:
    cannon = cocked_beside_a_loader()
    for _ in range(2):
        cannon.ask(Command.LOAD)
        cannon.run(900)
    assert [fault["fault"] for fault in cannon.happened(Event.FAULT)] == [wire.Fault.LOAD_TIMEOUT]


def test_what_makes_safe_a_cannon_that_is_safe_is_no_change_of_state() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.run(10)
    cause = cannon.view.cause
    cannon.events.clear()
    cannon.receive(bytes([wire.STOP]))
    cannon.run(5)
    cannon.ask(Command.SAFE)
    assert (cannon.view.cause, cannon.happened(Event.STATE_CHANGED)) == (cause, [])


def test_switch_is_believed_by_its_samples_of_each_millisecond_however_often_the_main_loop_runs() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.lever_moves = False
    cannon.set(off=Input.LEVER_LATCHED)
    for _ in range(50):
        cannon.step()
    assert cannon.state == State.ARMED
    cannon.run(20)
    assert cannon.state == State.SAFE


def test_nothing_leaves_safe_without_a_command() -> None:
    cannon = Cannon()
    cannon.set(on=PERMITTED)
    cannon.run(5000, beat=False)
    assert cannon.state == State.SAFE
    assert cannon.pulses == (0, 0, 0, 0, 0)


def test_aiming_axes_stay_where_they_are_when_made_safe() -> None:
    cannon = cannon_in(State.READY)
    for axis in AIMING:
        cannon.ask(Command.MOVE, axis=axis, pulse_ticks=3800)
    cannon.run(200)
    send_stop(cannon)
    cannon.step()
    stopped = cannon.pulses[:3]
    assert all(3000 < ticks < 3800 for ticks in stopped)
    cannon.run(500)
    assert cannon.pulses[:3] == stopped


def test_commands_from_before_a_stop_are_not_done_after_it() -> None:
    cannon = cannon_in(State.READY)
    requests = [cannon.request(Command.COCK), cannon.request(Command.STATUS)]
    answers = cannon.exchange(requests[0][:3] + bytes([wire.STOP]) + requests[0][3:] + requests[1])
    cannon.step()
    assert wire.REFUSAL_LAYOUT.unpack(answers[0][2])["reason"] in {Refusal.OVERTAKEN, Refusal.WRONG_STATE}
    assert cannon.state == State.SAFE
    home = cannon.request(Command.HOME)
    (answer,) = cannon.exchange(home + bytes([wire.STOP]))
    assert wire.REFUSAL_LAYOUT.unpack(answer[2])["reason"] == Refusal.OVERTAKEN
    assert cannon.state == State.SAFE
    (answer,) = cannon.exchange(home)
    assert wire.REFUSAL_LAYOUT.unpack(answer[2])["reason"] == Refusal.OVERTAKEN, "sent again: the same answer"
    cannon.ask(Command.HOME)


def test_loader_is_held_for_its_time_and_only_while_cocked() -> None:
    cannon = cocked_beside_a_loader()
    cannon.ask(Command.LOAD)
    assert cannon.view.loader
    assert cannon.command(Command.LOAD) == Refused(Refusal.LOADING, 0)
    cannon.run(299)
    assert cannon.view.loader
    cannon.run(3)
    assert not cannon.view.loader
    cannon.run(520)
    assert cannon.view.faults & wire.Fault.LOAD_TIMEOUT.mask
    cannon.ask(Command.LOAD)
    press_stop(cannon)
    cannon.step()
    assert not cannon.view.loader


def test_arm_is_refused_while_the_loader_works_with_that_reason() -> None:
    """S-2. The shot lies in the muzzle already; no axis moves."""
    cannon = cocked_beside_a_loader()
    cannon.run(500)
    cannon.ask(Command.LOAD)
    cannon.seat()
    assert cannon.command(Command.ARM) == Refused(Refusal.LOADING, 0)
    cannon.run(900)
    cannon.ask(Command.ARM)


def test_arm_is_refused_for_an_interlock_first_then_for_the_loader_then_for_an_axis() -> None:
    """S-14. Whoever is told waits for what is over by itself only when there is nothing else to be done."""
    cannon = cocked_beside_a_loader()
    cannon.run(500)
    cannon.ask(Command.LOAD)
    cannon.seat()
    cannon.ask(Command.MOVE, axis=Axis.TRAVERSE, pulse_ticks=3900)
    cannon.set(off=Input.LANE_CLEAR)
    cannon.run(10)
    assert cannon.command(Command.ARM) == Refused(Refusal.LANE_NOT_CLEAR, 0)
    cannon.set(on=Input.LANE_CLEAR)
    cannon.run(10)
    assert cannon.command(Command.ARM) == Refused(Refusal.LOADING, 0)
    cannon.run(900)
    cannon.set(off=Input.LANE_CLEAR)
    cannon.ask(Command.MOVE, axis=Axis.TRAVERSE, pulse_ticks=3000)
    cannon.run(10)
    assert cannon.command(Command.ARM) == Refused(Refusal.LANE_NOT_CLEAR, 0)


@pytest.mark.parametrize("phase_ms", range(20))
def test_longest_hold_of_the_loader_is_not_cut_off_at_any_phase_of_the_period(phase_ms: int) -> None:
    hold_ms = wire.SETTING_LIMITS[Setting.LOADER_HOLD_MS].maximum
    cannon = cocked_beside_a_loader(hold_ms)
    cannon.run(phase_ms)
    cannon.ask(Command.LOAD)
    cannon.run(hold_ms - 1)
    cannon.hang(1)  # the core is late by as much as it may be
    assert cannon.view.loader
    cannon.run(3)
    assert not cannon.view.loader


def test_hung_main_loop_does_not_keep_the_loader_on() -> None:
    cannon = cocked_beside_a_loader()
    cannon.ask(Command.LOAD)
    cannon.hang(1041)
    assert not cannon.view.loader


def test_loader_is_refused_without_one_with_a_shot_and_with_something_in_the_muzzle() -> None:
    cannon = cannon_in(State.COCKED)
    assert cannon.command(Command.LOAD) == Refused(Refusal.NO_LOADER, 0)
    cannon = cocked_beside_a_loader()
    for barrier, refusal in (
        (Input.GATE_FIRST_BLOCKED, Refusal.ALREADY_LOADED),
        (Input.GATE_SECOND_BLOCKED, Refusal.MUZZLE_BLOCKED),
    ):
        cannon.set(on=barrier)
        cannon.run(10)
        assert cannon.command(Command.LOAD) == Refused(refusal, 0)
        assert not cannon.view.loader
        cannon.set(off=barrier)
        cannon.run(10)


def test_state_changes_are_told_with_their_cause() -> None:
    cannon = cannon_in(State.READY)
    cannon.events.clear()
    press_stop(cannon)
    cannon.run(5)
    change = cannon.happened(Event.STATE_CHANGED)[0]
    assert (change["state"], change["previous"], change["cause"]) == (
        State.SAFE,
        State.READY,
        Cause.EMERGENCY_STOP,
    )
