"""Promise: fires only armed, by a fresh token, once for each arming, with every interlock there at that instant."""

from typing import Any

import pytest
from cannon_host import FACTORY, PERMITTED, Cannon, Refused, armed_with, cannon_in, configured, lib
from hypothesis import given
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import Axis, Cause, Command, Event, Input, Refusal, Setting, State

INTERLOCKS = {
    Refusal.EMERGENCY_STOP: (Input(0), Input.ESTOP_OK),
    Refusal.KEY_OFF: (Input(0), Input.KEY_ON),
    Refusal.LANE_NOT_CLEAR: (Input(0), Input.LANE_CLEAR),
    Refusal.NOT_LATCHED: (Input(0), Input.LEVER_LATCHED),
    Refusal.NOT_LOADED: (Input(0), Input.GATE_FIRST_BLOCKED),
    Refusal.MUZZLE_BLOCKED: (Input.GATE_SECOND_BLOCKED, Input(0)),
}


def fire(cannon: Cannon) -> bytes:
    return cannon.request(Command.FIRE, token=cannon.view.token)


def test_fire_pulls_the_trigger_with_its_last_byte_before_the_main_loop_runs() -> None:
    cannon = cannon_in(State.ARMED)
    request = fire(cannon)
    cannon.receive(request[:-1])
    assert not cannon.view.trigger
    cannon.receive(request[-1:])
    assert cannon.view.trigger
    assert cannon.state == State.ARMED, "the main loop has not run yet"
    cannon.step()
    assert (cannon.state, cannon.view.trigger, cannon.view.pulls) == (State.FIRING, True, 1)


def test_fire_is_answered_with_the_moment_of_the_release() -> None:
    cannon = cannon_in(State.ARMED)
    released_us = cannon.view.now_us
    cannon.receive(fire(cannon))
    cannon.run(1, beat=False)
    answers = cannon.happened(Event.STATE_CHANGED)[-1]
    assert answers["state"] == State.FIRING
    assert cannon.view.now_us > released_us
    cannon.shoot()
    assert cannon.happened(Event.SHOT_SEEN)[0]["released_us"] == released_us


def test_token_fires_in_a_fire_command_only() -> None:
    for kind in set(range(256)) - {Command.FIRE}:
        cannon = cannon_in(State.ARMED)
        frame = cannon.frame((cannon.last_id + 1) % 256, kind, cannon.view.token.to_bytes(4, "little"))
        cannon.receive(frame)
        cannon.run(2, beat=False)
        assert cannon.view.pulls == 0


@given(st.binary(min_size=1, max_size=8))
def test_fire_command_with_more_behind_its_token_fires_nothing(more: bytes) -> None:
    cannon = cannon_in(State.ARMED)
    payload = cannon.view.token.to_bytes(4, "little") + more
    cannon.receive(cannon.frame((cannon.last_id + 1) % 256, Command.FIRE, payload))
    cannon.run(2, beat=False)
    assert cannon.view.pulls == 0


@pytest.mark.parametrize("ms", range(21))
def test_main_loop_fires_in_every_millisecond_of_a_servo_period(ms: int) -> None:
    cannon = cannon_in(State.ARMED)
    cannon.run(ms, beat=False)
    cannon.receive(cannon.request(Command.STATUS) + fire(cannon))
    assert cannon.view.pulls == 0, "it is not the next command yet"
    cannon.run(1, beat=False)
    assert cannon.view.pulls == 1


@pytest.mark.parametrize("reason", INTERLOCKS)
def test_arm_is_refused_by_interlock(reason: Refusal) -> None:
    cannon = cannon_in(State.COCKED)
    cannon.seat()
    cannon.lever_moves = False
    on, off = INTERLOCKS[reason]
    if reason in {Refusal.EMERGENCY_STOP, Refusal.KEY_OFF, Refusal.NOT_LATCHED}:
        # These make safe, so that arming is refused by the state.
        cannon.set(on=on, off=off)
        cannon.run(10)
        assert cannon.state == State.SAFE
        assert cannon.command(Command.ARM) == Refused(Refusal.WRONG_STATE, State.SAFE)
        return
    cannon.set(on=on, off=off)
    cannon.run(10)
    assert cannon.command(Command.ARM) == Refused(reason, 0)
    assert cannon.state == State.COCKED


def test_arm_is_refused_while_an_axis_moves() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.seat()
    cannon.ask(Command.MOVE, axis=Axis.TRAVERSE, pulse_ticks=3900)
    assert cannon.command(Command.ARM) == Refused(Refusal.AXIS_MOVING, 0)
    cannon.run(1000)
    cannon.ask(Command.ARM)


@pytest.mark.parametrize("reason", INTERLOCKS)
def test_interlock_lost_in_the_instant_of_fire_holds_the_trigger(reason: Refusal) -> None:
    cannon = cannon_in(State.ARMED)
    request = fire(cannon)
    cannon.receive(request[:-1])
    on, off = INTERLOCKS[reason]
    cannon.set(on=on, off=off)
    cannon.receive(request[-1:])
    assert not cannon.view.trigger
    cannon.step()
    assert not cannon.view.trigger
    assert (cannon.view.pulls, cannon.view.shots) == (0, 0)
    assert cannon.state != State.FIRING


@pytest.mark.parametrize("flips", [1, 1 << 15, 1 << 31])
def test_wrong_token_is_refused_and_disarms(flips: int) -> None:
    cannon = cannon_in(State.ARMED)
    assert cannon.command(Command.FIRE, token=cannon.view.token ^ flips) == Refused(Refusal.BAD_TOKEN, 0)
    assert (cannon.state, cannon.view.cause, cannon.view.pulls) == (State.SAFE, Cause.BAD_TOKEN, 0)


@given(st.integers(0, 0xFFFFFFFF))
def test_no_other_token_fires(token: int) -> None:
    cannon = cannon_in(State.ARMED)
    right = cannon.view.token
    cannon.command(Command.FIRE, token=token)
    assert cannon.view.pulls == (token == right)


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_bytes_fire_without_the_token(pieces: list[bytes]) -> None:
    cannon = cannon_in(State.ARMED)
    for piece in pieces:
        cannon.receive(piece)
        cannon.step()
    assert (cannon.view.pulls, cannon.view.trigger) == (0, False)


def test_tokens_are_never_used_twice() -> None:
    cannon = configured({Setting.ARM_EXPIRES_MS: 100})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.seat()
    tokens = []
    for _ in range(100):
        tokens.append(cannon.ask(Command.ARM)["token"])
        cannon.run_until(State.COCKED)
    assert len(set(tokens)) == len(tokens)
    cannon.reset(wire.ResetCause.WATCHDOG)
    cannon.run(10, beat=False)
    cannon.identify(session=3)
    assert cannon.view.state == State.SAFE


def token_after(token: int) -> int:
    return token >> 1 ^ (0xA3000000 if token & 1 else 0)


def after_steps(steps: int) -> list[int]:
    """What becomes of each bit of a token after so many of `token_after`, which is linear: by squaring."""

    def of(bits: list[int], token: int) -> int:
        whole = 0
        for place, image in enumerate(bits):
            whole ^= image if token >> place & 1 else 0
        return whole

    whole, power = [1 << place for place in range(32)], [token_after(1 << place) for place in range(32)]
    while steps:
        whole = [of(power, image) for image in whole] if steps & 1 else whole
        power = [of(power, image) for image in power]
        steps >>= 1
    return whole


def test_token_comes_again_only_after_every_other_number() -> None:
    cannon = cannon_in(State.ARMED)
    tokens = [cannon.view.token]
    for _ in range(4):
        cannon.run_until(State.COCKED)
        tokens.append(cannon.ask(Command.ARM)["token"])
    assert tokens[1:] == [token_after(token) for token in tokens[:-1]]
    every, unchanged = 2**32 - 1, after_steps(0)
    assert after_steps(every) == unchanged
    assert all(after_steps(every // prime) != unchanged for prime in (3, 5, 17, 257, 65537))


def test_each_session_begins_elsewhere_among_the_tokens() -> None:
    tokens = set()
    for session in (2, 3, 4):
        cannon = cannon_in(State.READY)
        cannon.identify(session)
        cannon.ask(Command.HOME)
        cannon.run_until(State.READY)
        cannon.ask(Command.COCK)
        cannon.run_until(State.COCKED)
        cannon.seat()
        tokens.add(cannon.ask(Command.ARM)["token"])
    assert len(tokens) == 3


def test_token_is_never_zero_whatever_the_clock_and_the_session_say() -> None:
    """S-1. At microsecond 0, in session 0, nothing has been said that a token could hang on."""
    cannon = Cannon()
    cannon.set(on=PERMITTED)
    cannon.identify(session=0)
    assert cannon.view.now_us == 0
    cannon.run(10)
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.seat()
    assert cannon.ask(Command.ARM)["token"] != 0


def test_token_of_an_arming_before_does_not_fire() -> None:
    cannon = cannon_in(State.ARMED)
    old = cannon.view.token
    cannon.run_until(State.COCKED)
    cannon.ask(Command.ARM)
    assert cannon.command(Command.FIRE, token=old) == Refused(Refusal.BAD_TOKEN, 0)
    assert cannon.view.pulls == 0


def test_arming_expires() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.run(2990)
    assert cannon.state == State.ARMED
    cannon.run(30)
    assert (cannon.state, cannon.view.cause) == (State.COCKED, Cause.ARM_EXPIRED)
    assert not cannon.view.armed_lamp
    assert cannon.command(Command.FIRE, token=cannon.view.token) == Refused(Refusal.WRONG_STATE, State.COCKED)


def test_shot_that_falls_out_disarms() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.set(off=Input.GATE_FIRST_BLOCKED)
    cannon.run(10)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.LOAD_LOST)


def test_latch_that_lets_go_disarms() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.lever_moves = False
    cannon.set(off=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(10)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.LATCH_LOST)


def test_stop_byte_in_the_middle_of_the_fire_frame_stops_it() -> None:
    for position in range(1, 9):
        cannon = cannon_in(State.ARMED)
        request = fire(cannon)
        cannon.receive(request[:position] + bytes([wire.STOP]) + request[position:])
        assert not cannon.view.trigger
        cannon.step()
        assert (cannon.state, cannon.view.cause, cannon.view.pulls) == (State.SAFE, Cause.STOP_BYTE, 0)


def test_stop_byte_right_behind_fire_drops_the_trigger_and_the_answer_is_true() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.receive(fire(cannon))
    assert cannon.view.trigger
    cannon.receive(bytes([wire.STOP]))
    assert not cannon.view.trigger
    answers = cannon.exchange(b"")
    assert [kind for _, kind, _ in answers] == [Command.FIRE + wire.ANSWER_OFFSET], (
        "it was released, and says so"
    )
    assert cannon.state == State.SAFE
    assert cannon.view.shots == 1


def test_safe_queued_before_fire_wins() -> None:
    cannon = cannon_in(State.ARMED)
    token = cannon.view.token
    cannon.receive(cannon.request(Command.SAFE) + cannon.request(Command.FIRE, token=token))
    assert not cannon.view.trigger
    cannon.run(2, beat=False)
    assert (cannon.state, cannon.view.pulls) == (State.SAFE, 0)


def test_fire_behind_another_command_still_fires() -> None:
    cannon = cannon_in(State.ARMED)
    token = cannon.view.token
    cannon.receive(cannon.request(Command.STATUS) + cannon.request(Command.FIRE, token=token))
    assert not cannon.view.trigger, "its turn has not come"
    cannon.step()
    cannon.step()
    assert (cannon.state, cannon.view.pulls) == (State.FIRING, 1)


def test_trigger_is_held_for_its_time_and_no_longer() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.run(39)
    assert cannon.view.trigger
    cannon.run(3)
    assert not cannon.view.trigger


def test_trigger_is_held_for_its_time_though_the_shot_has_left_the_muzzle_before() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.shoot()
    assert len(cannon.happened(Event.SHOT_SEEN)) == 1
    cannon.run(39 - 12)
    assert (cannon.state, cannon.view.trigger) == (State.FIRING, True)
    cannon.run(3)
    assert (cannon.state, cannon.view.trigger) == (State.SAFE, False)


def test_hung_main_loop_does_not_keep_the_trigger_on() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.hang(119)
    assert cannon.view.trigger
    cannon.hang(25)
    assert not cannon.view.trigger
    cannon.step()
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.HOLD_EXPIRED)


@pytest.mark.parametrize("phase_ms", range(20))
def test_longest_hold_of_the_trigger_is_not_cut_off_at_any_phase_of_the_period(phase_ms: int) -> None:
    hold_ms = wire.SETTING_LIMITS[Setting.TRIGGER_HOLD_MS].maximum
    cannon = armed_with({Setting.TRIGGER_HOLD_MS: hold_ms})
    cannon.run(phase_ms)
    cannon.receive(fire(cannon))
    cannon.run(hold_ms - 1)
    assert cannon.view.trigger
    cannon.hang(1)  # the core is late by as much as it may be
    assert cannon.view.trigger
    cannon.run(3)
    assert not cannon.view.trigger
    assert (cannon.state, cannon.view.cause) == (State.FIRING, Cause.COMMAND)


def test_shot_seen_tells_when_and_how_fast() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.run(8)
    left_us = cannon.view.now_us
    cannon.shoot(transit_ms=3)
    (seen,) = cannon.happened(Event.SHOT_SEEN)
    assert seen["left_first_us"] == left_us
    assert seen["transit_ticks"] == 6000
    cannon.run(50)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.SHOT_SEEN)
    assert cannon.view.faults == 0


def test_shot_that_was_seen_is_no_fault_though_the_trigger_is_held_for_longer_than_one_is_awaited() -> None:
    limits = wire.SETTING_LIMITS
    hold_ms = limits[Setting.TRIGGER_HOLD_MS].maximum
    cannon = armed_with(
        {
            Setting.TRIGGER_HOLD_MS: hold_ms,
            Setting.SHOT_TIMEOUT_MS: limits[Setting.SHOT_TIMEOUT_MS].minimum,
        }
    )
    cannon.ask(Command.FIRE, token=cannon.view.token)
    cannon.shoot()
    cannon.run(hold_ms)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.SHOT_SEEN)
    assert cannon.happened(Event.FAULT) == []


def test_shot_not_seen_is_a_fault_and_a_lever_that_stayed_another() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.lever_moves = False
    cannon.run(260)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.SHOT_NOT_SEEN)
    faults = {fields["fault"] for fields in cannon.happened(Event.FAULT)}
    assert faults == {wire.Fault.SHOT_NOT_SEEN, wire.Fault.RELEASE_TIMEOUT}


def test_something_stuck_in_the_outer_barrier_is_a_fault() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.set(off=Input.GATE_FIRST_BLOCKED, on=Input.GATE_SECOND_BLOCKED)
    cannon.run(260)
    faults = {fields["fault"] for fields in cannon.happened(Event.FAULT)}
    assert faults == {wire.Fault.SHOT_NOT_SEEN, wire.Fault.STUCK_GATE}


def armed_with_the_latch_servo_as_trigger() -> Cannon:
    return armed_with({Setting.TRIGGER_KIND: 1})


def test_latch_servo_as_trigger_turns_free_and_the_solenoid_stays_off() -> None:
    cannon = armed_with_the_latch_servo_as_trigger()
    cannon.ask(Command.FIRE, token=cannon.view.token)
    cannon.run(200)
    assert not cannon.lever_held
    assert cannon.view.pulls == 0
    cannon.shoot()
    cannon.run(50)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.SHOT_SEEN)


def test_latch_servo_as_trigger_turns_back_when_stopped_in_time() -> None:
    cannon = armed_with_the_latch_servo_as_trigger()
    cannon.ask(Command.FIRE, token=cannon.view.token)
    cannon.run(60)
    assert cannon.pulse(Axis.LATCH) < 3000
    cannon.receive(bytes([wire.STOP]))
    cannon.run(200)
    assert (cannon.state, cannon.pulse(Axis.LATCH), cannon.lever_held) == (State.SAFE, 3000, True)


@pytest.mark.parametrize("wait_ms", range(0, 20, 3))
def test_latch_servo_as_trigger_begins_to_turn_when_the_answer_says(wait_ms: int) -> None:
    """In whatever part of the servo's period the fire command comes."""
    cannon = armed_with_the_latch_servo_as_trigger()
    cannon.run(wait_ms, beat=False)
    held_ticks = cannon.pulse(Axis.LATCH)
    released_us = cannon.ask(Command.FIRE, token=cannon.view.token)["released_us"]
    assert released_us == cannon.view.now_us
    assert cannon.pulse(Axis.LATCH) == held_ticks - FACTORY[Setting.LATCH_SPEED_TICKS]


@pytest.mark.parametrize(
    "changed",
    [Input.LEVER_LATCHED, Input.GATE_FIRST_BLOCKED, Input.GATE_SECOND_BLOCKED],
)
def test_latch_servo_as_trigger_begins_to_turn_only_if_every_pin_permits_it_then(changed: Input) -> None:
    """S-2. A pin that changes after the step has begun: then fire is refused, and no shot is counted or missed."""
    cannon = armed_with_the_latch_servo_as_trigger()
    held_ticks, shots = cannon.pulse(Axis.LATCH), cannon.view.shots
    cannon.events.clear()
    lib.host_interrupt(cannon._host, 1, int(cannon.inputs ^ changed), True, 0)
    refused = cannon.command(Command.FIRE, token=cannon.view.token)
    assert refused == Refused(Refusal.INPUT_CHANGED, 0)
    assert (cannon.state, cannon.pulse(Axis.LATCH), cannon.view.shots) == (State.ARMED, held_ticks, shots)
    cannon.lever_moves = False
    cannon.run(400)
    assert cannon.pulse(Axis.LATCH) == held_ticks
    assert cannon.happened(Event.FAULT) == []


@pytest.mark.parametrize("state", State)
def test_lamp_is_on_while_a_shot_may_leave(state: State) -> None:
    assert cannon_in(state).view.armed_lamp == (state in {State.ARMED, State.FIRING})


def test_shot_pulled_through_the_gate_by_hand_is_no_shot_that_was_fired() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.seat()
    cannon.shoot()
    assert cannon.happened(Event.SHOT_SEEN) == []


def test_something_in_the_outer_barrier_alone_is_no_shot() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.set(on=Input.GATE_SECOND_BLOCKED)
    cannon.run(1)
    cannon.set(off=Input.GATE_SECOND_BLOCKED)
    cannon.run(5)
    assert cannon.happened(Event.SHOT_SEEN) == []


def test_shot_is_seen_once_and_timed_by_its_first_edges() -> None:
    """A shot that tumbles through the barriers interrupts each again."""
    cannon = cannon_in(State.FIRING)
    cannon.set(off=Input.GATE_FIRST_BLOCKED)
    left_us = cannon.view.now_us
    cannon.run(1)
    for barrier in (Input.GATE_FIRST_BLOCKED, Input.GATE_SECOND_BLOCKED, Input.GATE_SECOND_BLOCKED):
        cannon.set(on=barrier)
        cannon.set(off=barrier)
        cannon.run(1)
    (seen,) = cannon.happened(Event.SHOT_SEEN)
    assert (seen["left_first_us"], seen["transit_ticks"]) == (left_us, 2 * 2000)


def test_outer_barrier_that_was_freed_before_the_inner_one_times_no_shot() -> None:
    """Both within one step of the main loop."""
    cannon = cannon_in(State.FIRING)
    cannon.set(on=Input.GATE_SECOND_BLOCKED)
    cannon.set(off=Input.GATE_SECOND_BLOCKED)
    cannon.hang(1)
    cannon.set(off=Input.GATE_FIRST_BLOCKED)
    cannon.run(5)
    assert cannon.happened(Event.SHOT_SEEN) == []


def test_edge_before_the_release_in_the_same_step_is_not_the_shots() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.set(off=Input.GATE_FIRST_BLOCKED)
    cannon.set(on=Input.GATE_FIRST_BLOCKED)
    cannon.hang(1)
    cannon.receive(fire(cannon))
    assert cannon.view.trigger
    cannon.run(1)
    left_us = cannon.view.now_us
    cannon.shoot()
    (seen,) = cannon.happened(Event.SHOT_SEEN)
    assert seen["left_first_us"] == left_us


def test_shot_that_crawls_out_of_the_muzzle_is_told_as_slower_than_can_be_timed() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.shoot(transit_ms=40)
    (seen,) = cannon.happened(Event.SHOT_SEEN)
    assert seen["transit_ticks"] == 0xFFFF


AGAINST = [
    {"byte": wire.STOP},
    {"off": Input.ESTOP_OK},
    {"off": Input.KEY_ON},
    {"off": Input.LANE_CLEAR},
    {"off": Input.ESTOP_OK, "for_good": False},
    {"off": Input.KEY_ON, "for_good": False},
    {"off": Input.LANE_CLEAR, "for_good": False},
    {"off": Input.LEVER_LATCHED},
    {"off": Input.GATE_FIRST_BLOCKED},
]


@pytest.mark.parametrize("against", AGAINST)
@pytest.mark.parametrize("trigger", ["solenoid", "latch servo"])
def test_fire_on_the_slow_way_is_released_and_says_so_or_refused_and_nothing_moved(
    trigger: str, against: dict[str, Any]
) -> None:
    """S-2, S-3. Whatever speaks against it, wherever in that step it comes."""
    solenoid = trigger == "solenoid"
    armed = cannon_in(State.ARMED) if solenoid else armed_with_the_latch_servo_as_trigger()
    armed.sent()
    held_ticks, shots = armed.pulse(Axis.LATCH), armed.view.shots
    outcomes, reasons = [], set()
    for lock in range(1, 20):
        cannon = armed.copy()
        cannon.lever_moves = False
        status = cannon.request(Command.STATUS) if solenoid else b""
        cannon.receive(status + cannon.request(Command.FIRE, token=cannon.view.token))
        cannon.interrupt_at(lock, **against)
        cannon.think()
        came = cannon.interrupt_at(0)
        stops = not {Input.LEVER_LATCHED, Input.GATE_FIRST_BLOCKED} & set(against.values())
        assert not (came and stops and cannon.view.trigger), (
            "a stop drops the trigger, and it is not pulled behind it"
        )
        turned_ticks = held_ticks - cannon.pulse(Axis.LATCH)
        cannon.act()
        answers = {kind: payload for _, kind, payload in cannon._collect()}
        released = Command.FIRE + wire.ANSWER_OFFSET in answers
        moved = cannon.view.pulls == 1 if solenoid else turned_ticks == FACTORY[Setting.LATCH_SPEED_TICKS]
        assert moved == released
        assert cannon.view.shots - shots == released
        if not released:
            assert (cannon.view.pulls, turned_ticks) == (0, 0)
            refusal = answers.get(wire.REFUSAL_TYPE)
            reasons.add(None if refusal is None else wire.REFUSAL_LAYOUT.unpack(refusal)["reason"])
        if not came:
            break
        outcomes.append(released)
        cannon.run(100)
        assert not cannon.view.trigger
        if stops:
            assert (cannon.state, cannon.pulse(Axis.LATCH)) == (State.SAFE, held_ticks), "turned back in time"
    assert set(outcomes) == {False, True}, "it came before the decision, and behind it"
    assert (Refusal.OVERTAKEN if "byte" in against else Refusal.INPUT_CHANGED) in reasons


@pytest.mark.parametrize("missing", [Input.LEVER_LATCHED, Input.GATE_FIRST_BLOCKED])
def test_fire_that_is_refused_for_what_the_step_saw_moves_nothing_though_the_pin_is_good_again(
    missing: Input,
) -> None:
    """S-2. The pin flickers: missing as the step begins, there again before the decision."""
    armed = cannon_in(State.ARMED)
    armed.sent()
    for lock in range(1, 20):
        cannon = armed.copy()
        cannon.lever_moves = False
        status, request = cannon.request(Command.STATUS), fire(cannon)
        good = cannon.inputs
        cannon.set(off=missing)
        cannon.receive(status + request)
        lib.host_interrupt(cannon._host, lock, int(good), True, 0)
        cannon.think()
        assert (cannon.view.pulls, cannon.view.shots) == (armed.view.pulls, armed.view.shots)


@pytest.mark.parametrize("trigger", ["solenoid", "latch servo"])
def test_safe_behind_fire_in_the_same_step_makes_no_lie_of_the_answer(trigger: str) -> None:
    solenoid = trigger == "solenoid"
    cannon = cannon_in(State.ARMED) if solenoid else armed_with_the_latch_servo_as_trigger()
    cannon.sent()
    held_ticks, shots = cannon.pulse(Axis.LATCH), cannon.view.shots
    requests = cannon.request(Command.STATUS) if solenoid else b""
    requests += cannon.request(Command.FIRE, token=cannon.view.token) + cannon.request(Command.SAFE)
    cannon.receive(requests)
    cannon.step()
    assert (cannon.state, cannon.view.shots, cannon.view.trigger) == (State.SAFE, shots + 1, False)
    moved = cannon.view.pulls == 1 if solenoid else cannon.pulse(Axis.LATCH) < held_ticks
    assert moved
