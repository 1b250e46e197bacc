"""Promise: the lever never snaps forward but by a fire; whatever breaks in between, it is eased or stays latched."""

import pytest
from cannon_host import FACTORY, Cannon, Refused, cannon_in, configured
from hypothesis import given, settings
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import Axis, Cause, Command, Event, Input, Refusal, ResetCause, Setting, State

REST, BREECH = FACTORY[Setting.DRAW_REST_TICKS], FACTORY[Setting.DRAW_BREECH_TICKS]
FREE, HELD = FACTORY[Setting.LATCH_FREE_TICKS], FACTORY[Setting.LATCH_HELD_TICKS]
LUBRICATE = FACTORY[Setting.LATCH_LUBRICATE_TICKS]
EASE = FACTORY[Setting.DRAW_EASE_SPEED_TICKS]


def watch_easing(cannon: Cannon, ms: int, *, beat: bool = True) -> None:
    """Let time pass; while the latch does not have the lever, the draw goes forward slowly or not at all, and the latch
    lets go only while the draw is at the breech."""
    for _ in range(ms // 20):
        before, held = cannon.pulse(Axis.DRAW), cannon.lever_held
        cannon.run(20, beat=beat)
        after = cannon.pulse(Axis.DRAW)
        if before and after and not cannon.lever_held:
            assert before - after <= EASE, "forward faster than eased"
        if held and not cannon.lever_held:
            assert after == BREECH, "the latch let go of a lever that nothing else held"


def run_until_pulse(cannon: Cannon, axis: Axis, ticks: int) -> None:
    """Let time pass until an axis gets that pulse."""
    for _ in range(500):
        if cannon.pulse(axis) == ticks:
            return
        cannon.run(10)
    raise AssertionError(f"{axis.name} gets {cannon.pulse(axis)} and never {ticks}")


def test_cocking_draws_latches_and_lets_the_draw_go_back() -> None:
    cannon = cannon_in(State.COCKING)
    cannon.run_until(State.COCKED)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH), cannon.lever_held) == (REST, HELD, True)


def test_cocking_waits_for_no_axis_of_the_aim() -> None:
    """It takes no longer than its answer says, however long an axis is on its way."""
    least = wire.SETTING_LIMITS[Setting.TRAVERSE_SPEED_TICKS].minimum
    cannon = configured({Setting.TRAVERSE_SPEED_TICKS: least})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.MOVE, axis=Axis.TRAVERSE, pulse_ticks=4000)
    cannon.run_until(State.COCKED, limit_ms=cannon.ask(Command.COCK)["expected_ms"])
    assert cannon.pulse(Axis.TRAVERSE) < 4000


def test_letting_down_takes_the_load_unlatches_and_eases() -> None:
    cannon = cannon_in(State.LETTING_DOWN)
    while cannon.state == State.LETTING_DOWN:
        watch_easing(cannon, 20)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.DONE)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH), cannon.lever_held) == (REST, FREE, False)
    assert cannon.view.pulls == 0


@pytest.mark.parametrize("after_ms", range(0, 2700, 60))
@pytest.mark.parametrize("stop", [Input.ESTOP_OK, Input.KEY_ON])
def test_cocking_broken_off_anywhere_eases_or_stays_latched(after_ms: int, stop: Input) -> None:
    cannon = cannon_in(State.COCKING)
    cannon.run(after_ms)
    cannon.set(off=stop)
    watch_easing(cannon, 6000)
    assert cannon.state == State.SAFE
    assert cannon.pulse(Axis.DRAW) == REST
    assert cannon.pulse(Axis.LATCH) == (HELD if cannon.lever_held else FREE)
    assert cannon.view.pulls == 0


@pytest.mark.parametrize("after_ms", range(0, 4300, 100))
def test_letting_down_broken_off_anywhere_eases_or_stays_latched(after_ms: int) -> None:
    cannon = cannon_in(State.LETTING_DOWN)
    cannon.run(after_ms)
    cannon.receive(bytes([wire.STOP]))
    watch_easing(cannon, 6000)
    assert cannon.state == State.SAFE
    assert cannon.pulse(Axis.DRAW) == REST
    assert cannon.pulse(Axis.LATCH) == (HELD if cannon.lever_held else FREE)


@pytest.mark.parametrize("after_ms", range(0, 2000, 100))
def test_service_broken_off_anywhere_eases_or_stays_latched(after_ms: int) -> None:
    cannon = cannon_in(State.SERVICE)
    cannon.run(after_ms)
    cannon.receive(bytes([wire.STOP]))
    watch_easing(cannon, 6000)
    assert cannon.pulse(Axis.DRAW) == REST


@pytest.mark.parametrize("after_ms", range(100, 1100, 100))
def test_reset_while_drawing_eases_from_where_the_draw_was(after_ms: int) -> None:
    cannon = cannon_in(State.COCKING)
    cannon.run(after_ms)
    before = cannon.pulse(Axis.DRAW)
    cannon.reset(ResetCause.WATCHDOG)
    cannon.run(2, beat=False)
    if before == REST:
        assert cannon.pulse(Axis.DRAW) == 0
        return
    assert before - EASE <= cannon.pulse(Axis.DRAW) <= before
    watch_easing(cannon, 6000, beat=False)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH)) == (REST, 0)


def test_power_loss_forgets_where_the_draw_was() -> None:
    cannon = cannon_in(State.COCKING)
    cannon.run(500)
    cannon.reset(ResetCause.POWER_ON)
    cannon.run(100, beat=False)
    assert cannon.pulses == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("state", [State.COCKED, State.SERVICE])
def test_longer_than_the_dwell_is_let_down_slowly_and_never_fired(state: State) -> None:
    cannon = cannon_in(state)
    cannon.run(28000)
    assert cannon.state == state
    cannon.run_until(State.LETTING_DOWN)
    assert cannon.view.cause == Cause.DWELL_EXPIRED
    while cannon.state == State.LETTING_DOWN:
        watch_easing(cannon, 20)
    assert (cannon.state, cannon.view.cause, cannon.lever_held) == (State.SAFE, Cause.DONE, False)
    assert cannon.view.pulls == 0


def test_armed_again_and_again_does_not_stretch_the_dwell() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.seat()
    waited = 0
    while cannon.state in {State.COCKED, State.ARMED}:
        cannon.command(Command.ARM)
        cannon.run(100)
        waited += 100
        assert waited <= 30000
    assert cannon.state == State.LETTING_DOWN


@pytest.mark.parametrize("lost", ["host", "key", "stop pressed", "reset"])
def test_let_down_by_itself_from_safe(lost: str) -> None:
    cannon = cannon_in(State.COCKED)
    match lost:
        case "key":
            cannon.set(off=Input.KEY_ON)
        case "stop pressed":
            cannon.set(off=Input.ESTOP_OK)
        case "reset":
            cannon.reset(ResetCause.BROWN_OUT)
    cannon.run(600, beat=False)
    assert (cannon.state, cannon.lever_held) == (State.SAFE, True)
    cannon.run_until(State.LETTING_DOWN, limit_ms=31000, beat=False)
    while cannon.state == State.LETTING_DOWN:
        watch_easing(cannon, 20, beat=False)
    assert (cannon.state, cannon.view.cause, cannon.lever_held) == (State.SAFE, Cause.DONE, False)


def test_let_down_can_be_asked_for_from_safe_without_the_key() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.set(off=Input.KEY_ON)
    cannon.run(10)
    cannon.ask(Command.LET_DOWN)
    while cannon.state == State.LETTING_DOWN:
        watch_easing(cannon, 20)
    assert not cannon.lever_held


def test_let_down_is_refused_with_the_stop_pressed_and_with_nothing_to_let_down() -> None:
    cannon = cannon_in(State.SAFE)
    assert cannon.command(Command.LET_DOWN) == Refused(Refusal.NOT_LATCHED, 0)
    cannon = cannon_in(State.COCKED)
    cannon.set(off=Input.ESTOP_OK)
    cannon.run(10)
    assert cannon.command(Command.LET_DOWN) == Refused(Refusal.EMERGENCY_STOP, 0)


def test_service_can_be_ended_by_let_down_before_the_lever_is_drawn() -> None:
    """S-9. The draw is on its way, and no switch says so yet."""
    cannon = cannon_in(State.SERVICE)
    run_until_pulse(cannon, Axis.DRAW, REST + FACTORY[Setting.DRAW_SPEED_TICKS])
    assert not cannon.view.inputs & (Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.ask(Command.LET_DOWN)
    while cannon.state == State.LETTING_DOWN:
        watch_easing(cannon, 20)
    assert (cannon.view.cause, cannon.pulse(Axis.DRAW)) == (Cause.DONE, REST)


def test_limit_that_is_shorter_than_a_let_down_does_not_leave_the_lever_cocked() -> None:
    least = wire.SETTING_LIMITS[Setting.LET_DOWN_TIMEOUT_MS].minimum
    cannon = configured({Setting.LET_DOWN_TIMEOUT_MS: least})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.run(FACTORY[Setting.DWELL_MS] + 10_000, beat=False)
    assert not cannon.lever_held
    assert cannon.pulse(Axis.DRAW) == REST


def test_limit_that_is_longer_than_a_let_down_takes_is_waited_for() -> None:
    limit_ms = wire.SETTING_LIMITS[Setting.LET_DOWN_TIMEOUT_MS].maximum
    cannon = configured({Setting.LET_DOWN_TIMEOUT_MS: limit_ms})
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.run(10)
    assert cannon.ask(Command.LET_DOWN)["expected_ms"] < limit_ms - 1000
    cannon.run(limit_ms - 500)
    assert cannon.state == State.LETTING_DOWN
    cannon.run_until(State.SAFE, limit_ms=1000)


def test_letting_down_goes_on_without_host_key_and_lane() -> None:
    cannon = cannon_in(State.LETTING_DOWN)
    cannon.set(off=Input.KEY_ON | Input.LANE_CLEAR)
    cannon.run(1000, beat=False)
    assert cannon.state == State.LETTING_DOWN
    cannon.run_until(State.SAFE, beat=False)
    assert cannon.view.cause == Cause.DONE


def test_letting_down_that_is_broken_off_is_tried_again_after_another_dwell() -> None:
    cannon = cannon_in(State.LETTING_DOWN)
    cannon.run(500)
    cannon.set(off=Input.ESTOP_OK)
    cannon.run(29000)
    assert (cannon.state, cannon.lever_held) == (State.SAFE, True)
    cannon.run_until(State.LETTING_DOWN)
    cannon.run_until(State.SAFE)
    assert not cannon.lever_held


def test_controller_that_keeps_stopping_cannot_keep_the_spring_cocked() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.run(28000)
    for _ in range(60):
        cannon.receive(bytes([wire.STOP]))
        watch_easing(cannon, 400)
    assert (cannon.state, cannon.lever_held, cannon.pulse(Axis.DRAW)) == (State.SAFE, False, REST)
    assert cannon.view.pulls == 0


@pytest.mark.parametrize("every_ms", [5, 10, 15, 19, 20, 21, 30, 40, 41, 60, 100])
@pytest.mark.parametrize("word", ["stop byte", "safe"])
@pytest.mark.parametrize("trigger_kind", [0, 1])
def test_no_word_of_a_controller_however_often_keeps_the_spring_cocked(
    every_ms: int, word: str, trigger_kind: int
) -> None:
    """S-8. A let-down whose dwell is over is not begun anew by a stop: it takes as long as without one."""
    cannon = configured({Setting.TRIGGER_KIND: trigger_kind, Setting.DWELL_MS: 3000})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    quiet = cannon.copy()
    quiet.run_until(State.LETTING_DOWN)
    quiet.run_until(State.SAFE)
    while cannon.view.now_us < quiet.view.now_us:
        cannon.receive(bytes([wire.STOP]) if word == "stop byte" else cannon.request(Command.SAFE))
        cannon.run(every_ms, beat=False)
    assert (cannon.state, cannon.lever_held, cannon.pulse(Axis.DRAW)) == (State.SAFE, False, REST)
    assert cannon.view.pulls == 0


def test_stops_in_the_middle_of_every_step_hold_up_no_let_down_whose_dwell_is_over() -> None:
    """S-8. Each comes as a command is done, behind the look at what has come, so that it waits for the next step."""
    cannon = cannon_in(State.COCKED)
    cannon.run_until(State.LETTING_DOWN, limit_ms=31000)
    quiet = cannon.copy()
    quiet.run_until(State.SAFE, beat=False)
    while cannon.state == State.LETTING_DOWN:
        cannon.receive(cannon.request(Command.READ_HISTORY, number=0))
        cannon.interrupt_at(2, byte=wire.STOP)
        cannon.run(1, beat=False)
        assert cannon.view.now_us <= quiet.view.now_us
    assert (cannon.state, cannon.lever_held) == (State.SAFE, False)


def test_stop_before_the_dwell_is_over_breaks_a_let_down_off() -> None:
    cannon = cannon_in(State.LETTING_DOWN)
    cannon.run(500)
    cannon.receive(bytes([wire.STOP]))
    cannon.run(1000)
    assert (cannon.state, cannon.view.cause, cannon.lever_held) == (State.SAFE, Cause.STOP_BYTE, True)


@pytest.mark.parametrize("word", ["stop byte", "safe"])
def test_only_a_let_down_goes_on_once_the_dwell_is_over(word: str) -> None:
    """S-4, S-13. Not the cocking of a lever that has been held for that long."""
    dwell_ms = wire.SETTING_LIMITS[Setting.DWELL_MS].minimum
    cannon = configured({Setting.DWELL_MS: dwell_ms})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN)
    cannon.run(dwell_ms + 100)
    assert cannon.state == State.COCKING
    cannon.events.clear()
    cannon.receive(bytes([wire.STOP]) if word == "stop byte" else cannon.request(Command.SAFE))
    cannon.step()
    change = cannon.happened(Event.STATE_CHANGED)[0]
    assert (change["previous"], change["state"]) == (State.COCKING, State.SAFE)


def test_emergency_stop_breaks_off_a_let_down_whose_dwell_is_over() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.run_until(State.LETTING_DOWN, limit_ms=31000)
    cannon.run(500)
    cannon.set(off=Input.ESTOP_OK)
    cannon.run(1000)
    assert (cannon.state, cannon.view.cause, cannon.lever_held) == (State.SAFE, Cause.EMERGENCY_STOP, True)


def test_lever_that_cannot_be_let_down_is_a_fault_and_tried_again() -> None:
    cannon = cannon_in(State.LETTING_DOWN)
    cannon.lever_moves = False
    cannon.run_until(State.SAFE)
    assert cannon.view.cause == Cause.TIMED_OUT
    assert cannon.view.faults & wire.Fault.LET_DOWN_FAILED.mask
    cannon.run(FACTORY[Setting.DWELL_MS] - 1000)
    assert cannon.state == State.SAFE, "the draw has its rest"
    cannon.run_until(State.LETTING_DOWN, limit_ms=2000)


def test_let_down_that_the_controller_broke_off_is_not_put_off_by_another_dwell() -> None:
    """S-8."""
    cannon = cannon_in(State.COCKED)
    cannon.run(20_000)
    cannon.ask(Command.LET_DOWN)
    cannon.run(500)
    cannon.ask(Command.SAFE)
    assert cannon.state == State.SAFE
    cannon.run_until(State.LETTING_DOWN, limit_ms=FACTORY[Setting.DWELL_MS] - 20_000)


def test_emergency_stop_does_not_put_off_the_dwell_of_a_cocked_lever() -> None:
    """S-8. Only a let-down that it breaks off is."""
    cannon = cannon_in(State.COCKED)
    cannon.run(20_000)
    cannon.set(off=Input.ESTOP_OK)
    cannon.run(10)
    assert cannon.state == State.SAFE
    cannon.run_until(State.LETTING_DOWN, limit_ms=FACTORY[Setting.DWELL_MS] - 20_000)


def test_lever_that_never_comes_is_a_fault_and_the_draw_eases() -> None:
    cannon = cannon_in(State.COCKING)
    cannon.lever_moves = False
    cannon.run_until(State.SAFE)
    assert cannon.view.faults & wire.Fault.DRAW_TIMEOUT.mask
    watch_easing(cannon, 4000)
    assert cannon.pulse(Axis.DRAW) == REST


def test_latch_that_never_holds_is_a_fault_and_the_draw_eases() -> None:
    cannon = cannon_in(State.COCKING)
    cannon.run(1000)
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN, off=Input.LEVER_LATCHED)
    cannon.run_until(State.SAFE)
    assert cannon.view.faults & wire.Fault.LATCH_TIMEOUT.mask
    watch_easing(cannon, 4000)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH)) == (REST, FREE)


def test_latch_switch_that_bounces_while_the_latch_turns_ends_no_cocking() -> None:
    cannon = cannon_in(State.COCKING)
    run_until_pulse(cannon, Axis.DRAW, BREECH)
    cannon.lever_moves = False
    run_until_pulse(cannon, Axis.LATCH, HELD - 200)
    for _ in range(2):
        cannon.set(on=Input.LEVER_LATCHED)
        cannon.run(20)
        cannon.set(off=Input.LEVER_LATCHED)
        cannon.run(20)
    cannon.set(on=Input.LEVER_LATCHED)
    cannon.run_until(State.COCKED)


def test_latch_that_lets_go_while_the_draw_returns_makes_safe_and_eases() -> None:
    cannon = cannon_in(State.COCKING)
    while not (cannon.lever_held and cannon.pulse(Axis.DRAW) < 3500):
        cannon.run(10)
    cannon.lever_moves = False
    cannon.set(off=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(30)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.LATCH_LOST)
    watch_easing(cannon, 5000)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH)) == (REST, FREE)


def test_lever_drawn_by_hand_is_not_homed_nor_cocked_but_let_down() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.run(10)
    assert cannon.command(Command.HOME) == Refused(Refusal.LEVER_DRAWN, 0)
    cannon = cannon_in(State.READY)
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.run(10)
    assert cannon.command(Command.COCK) == Refused(Refusal.LEVER_DRAWN, 0)
    cannon.run_until(State.LETTING_DOWN, limit_ms=31000)


def test_lever_that_is_drawn_and_not_latched_gets_the_draws_first_pulse_at_the_breech() -> None:
    """S-9. After a power failure nothing but the draw's gears has it: a first pulse at rest would let it go at once."""
    cannon = cannon_in(State.SAFE)
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN)
    cannon.run(10)
    cannon.ask(Command.LET_DOWN)
    cannon.run(100)
    assert cannon.pulse(Axis.DRAW) == BREECH


def test_lever_that_the_latch_does_not_give_free_stays_with_the_draw() -> None:
    """S-9. The latch is turned free, and its switch still says that it has the lever."""
    cannon = cannon_in(State.LETTING_DOWN)
    cannon.lever_moves = False
    run_until_pulse(cannon, Axis.LATCH, FREE)
    while cannon.state == State.LETTING_DOWN:
        assert cannon.pulse(Axis.DRAW) == BREECH
        cannon.run(10)
    assert cannon.view.cause == Cause.TIMED_OUT


@pytest.mark.parametrize("latched", [False, True])
def test_draw_stands_still_while_a_half_turned_latch_is_made_one_thing_or_the_other(latched: bool) -> None:
    """S-9. Half turned it could catch the lever on its way forward; and its servo lags its pulses."""
    cannon = cannon_in(State.LETTING_DOWN if latched else State.COCKING)
    run_until_pulse(cannon, Axis.DRAW, BREECH)
    cannon.lever_moves = False
    run_until_pulse(cannon, Axis.LATCH, FREE + 200 if latched else HELD - 100)
    cannon.set(off=Input.ESTOP_OK)
    turned = HELD if latched else FREE
    there_ms = 0
    while there_ms < 140:
        assert cannon.pulse(Axis.DRAW) == BREECH
        cannon.run(10)
        there_ms += 10 if cannon.pulse(Axis.LATCH) == turned else 0
    assert cannon.pulse(Axis.DRAW) == BREECH
    cannon.run(100)
    assert (cannon.state, cannon.pulse(Axis.DRAW) < BREECH) == (State.SAFE, True)


def test_latch_switch_that_closes_while_homing_is_no_lever_at_rest() -> None:
    """Though the other switch says forward."""
    cannon = cannon_in(State.SAFE)
    cannon.lever_moves = False
    cannon.ask(Command.HOME)
    cannon.set(on=Input.LEVER_LATCHED)
    cannon.run(10)
    while cannon.state == State.HOMING:
        cannon.run(10)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.TIMED_OUT)


def test_draw_and_latch_that_turn_the_other_way_round_work_all_the_same() -> None:
    back = {Setting.DRAW_REST_TICKS: BREECH, Setting.DRAW_BREECH_TICKS: REST}
    back |= {
        Setting.LATCH_FREE_TICKS: 4000,
        Setting.LATCH_HELD_TICKS: 3000,
        Setting.LATCH_LUBRICATE_TICKS: 2000,
    }
    cannon = configured(back)
    cannon.lever_moves = False
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH)) == (BREECH, 4000)
    cannon.ask(Command.COCK)
    run_until_pulse(cannon, Axis.DRAW, REST)
    cannon.set(on=Input.LEVER_DRAWN)
    run_until_pulse(cannon, Axis.LATCH, 3000)
    cannon.set(on=Input.LEVER_LATCHED)
    cannon.run_until(State.COCKED)
    assert cannon.pulse(Axis.DRAW) == BREECH


@pytest.mark.parametrize("held", [Input(0), Input.LEVER_DRAWN | Input.LEVER_LATCHED])
def test_nothing_is_said_to_move_that_gets_no_pulses(held: Input) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.lever_moves = False
    cannon.set(on=held)
    cannon.run(500)
    assert cannon.pulses == (0,) * len(Axis)
    assert cannon.ask(Command.STATUS)["moving"] == 0


def test_service_turns_to_lubrication_holds_with_the_draw_and_ends_by_let_down() -> None:
    cannon = cannon_in(State.SERVICE)
    cannon.run(2000)
    assert (cannon.state, cannon.view.cause) == (State.SERVICE, Cause.DONE)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH)) == (BREECH, LUBRICATE)
    cannon.ask(Command.LET_DOWN)
    while cannon.state == State.LETTING_DOWN:
        watch_easing(cannon, 20)
    assert (cannon.pulse(Axis.DRAW), cannon.pulse(Axis.LATCH)) == (REST, FREE)


def test_work_takes_no_longer_than_its_answer_says() -> None:
    for state, command, after in (
        (State.SAFE, Command.HOME, State.READY),
        (State.READY, Command.COCK, State.COCKED),
        (State.COCKED, Command.LET_DOWN, State.SAFE),
    ):
        cannon = cannon_in(state)
        expected_ms = cannon.ask(command)["expected_ms"]
        cannon.run_until(after, limit_ms=expected_ms)


def test_homing_with_the_draw_out_takes_no_longer_than_its_answer_says() -> None:
    cannon = cannon_in(State.COCKING)
    while cannon.pulse(Axis.DRAW) < BREECH - 200:
        cannon.run(10)
    cannon.ask(Command.SAFE)
    expected_ms = cannon.ask(Command.HOME)["expected_ms"]
    cannon.run_until(State.READY, limit_ms=expected_ms)


def test_longest_ways_at_the_least_speeds_take_no_longer_than_announced() -> None:
    """And a let-down's own time limit, as long as the settings allow it to be short, does not cut it off."""
    limits = wire.SETTING_LIMITS
    cannon = configured(
        {
            Setting.DRAW_REST_TICKS: 1000,
            Setting.DRAW_BREECH_TICKS: 5000,
            Setting.LATCH_FREE_TICKS: 1000,
            Setting.LATCH_HELD_TICKS: 5000,
            Setting.LET_DOWN_TIMEOUT_MS: limits[Setting.LET_DOWN_TIMEOUT_MS].minimum,
            Setting.COCK_TIMEOUT_MS: limits[Setting.COCK_TIMEOUT_MS].maximum,
        }
    )
    least = {
        Setting.DRAW_EASE_SPEED_TICKS: limits[Setting.DRAW_EASE_SPEED_TICKS].minimum,
        Setting.DRAW_SPEED_TICKS: limits[Setting.DRAW_SPEED_TICKS].minimum,
        Setting.LATCH_SPEED_TICKS: limits[Setting.LATCH_SPEED_TICKS].minimum,
    }
    for setting, ticks in least.items():
        cannon.ask(Command.CONFIGURE, setting=setting, value=ticks)
    cannon.lever_moves = False
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.SAFE)
    cannon.set(on=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.run(15_000)
    assert cannon.pulse(Axis.LATCH) == 5000, "turned to its hold"
    expected_ms = cannon.ask(Command.LET_DOWN)["expected_ms"]
    taken_ms = 0
    while cannon.state == State.LETTING_DOWN:
        cannon.run(20)
        taken_ms += 20
        if cannon.pulse(Axis.LATCH) == 1000:
            cannon.set(off=Input.LEVER_LATCHED)
            if cannon.pulse(Axis.DRAW) < 5000:
                cannon.set(off=Input.LEVER_DRAWN)
    assert cannon.view.cause == Cause.DONE
    there_ms = 20 * 4000 // least[Setting.DRAW_SPEED_TICKS]
    back_ms = 20 * 4000 // least[Setting.DRAW_EASE_SPEED_TICKS]
    assert there_ms + back_ms <= taken_ms <= expected_ms < 60_000


@pytest.mark.parametrize("draw_speed_ticks", [40, 100, 400])
def test_latch_opens_no_sooner_than_a_servo_that_stood_anywhere_has_arrived(draw_speed_ticks: int) -> None:
    """600 ms from its first pulse, however soon the draw's pulses are at the breech."""
    cannon = configured({Setting.DRAW_SPEED_TICKS: draw_speed_ticks})
    cannon.ask(Command.SAVE_SETTINGS)
    cannon.run(500)
    cannon.lever_moves = False
    cannon.set(on=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.reset(ResetCause.POWER_ON)
    cannon.run(50, beat=False)
    cannon.identify(session=3)
    cannon.ask(Command.LET_DOWN)
    while not cannon.pulse(Axis.LATCH):
        cannon.run(10)
    waited_ms = 0
    while cannon.pulse(Axis.LATCH) == HELD:
        cannon.run(10)
        waited_ms += 10
    assert waited_ms >= max(600, 20 * (BREECH - REST) // draw_speed_ticks + 160)


def test_draw_that_a_reset_left_out_stands_still_until_a_latch_that_stood_anywhere_has_arrived() -> None:
    """S-9. After the reset the draw has its pulses, and the latch gets its first one as the cannon is homed."""
    cannon = cannon_in(State.COCKING)
    run_until_pulse(cannon, Axis.DRAW, BREECH)
    cannon.lever_moves = False
    cannon.set(off=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    cannon.reset(ResetCause.EXTERNAL)
    cannon.run(40, beat=False)
    cannon.identify(session=3)
    cannon.ask(Command.HOME)
    out_ticks = cannon.pulse(Axis.DRAW)
    cannon.run(40)
    assert cannon.pulse(Axis.LATCH) == FREE
    cannon.run(540)
    assert cannon.pulse(Axis.DRAW) == out_ticks > REST
    cannon.run(100)
    assert cannon.pulse(Axis.DRAW) < out_ticks


@pytest.mark.parametrize("held", [Input.LEVER_DRAWN, Input.LEVER_DRAWN | Input.LEVER_LATCHED])
def test_homing_that_fails_has_a_fault_of_its_own(held: Input) -> None:
    """A hand draws the lever, or latches it, while the cannon homes; nobody was drawing or latching anything."""
    cannon = cannon_in(State.HOMING)
    cannon.lever_moves = False
    cannon.run(100)
    cannon.set(on=held)
    cannon.run_until(State.SAFE)
    assert cannon.view.cause == Cause.TIMED_OUT
    assert [fields["fault"] for fields in cannon.happened(Event.FAULT)] == [wire.Fault.HOME_TIMEOUT]


def test_letting_down_stops_an_aim_on_its_way() -> None:
    cannon = cannon_in(State.COCKED)
    cannon.ask(Command.MOVE, axis=Axis.TRAVERSE, pulse_ticks=3900)
    cannon.run(100)
    cannon.ask(Command.LET_DOWN)
    stopped = cannon.pulse(Axis.TRAVERSE)
    assert stopped < 3900
    cannon.run(500)
    assert cannon.state is State.LETTING_DOWN
    assert cannon.pulse(Axis.TRAVERSE) == stopped


def test_home_clears_the_faults_of_before_and_tells_the_same_one_anew() -> None:
    cannon = cannon_in(State.HOMING)
    for times in (1, 2):
        cannon.lever_moves = False
        cannon.set(on=Input.LEVER_LATCHED)
        cannon.run_until(State.SAFE)
        assert len(cannon.happened(Event.FAULT)) == times
        cannon.set(off=Input.LEVER_LATCHED)
        cannon.run(10)
        cannon.ask(Command.HOME)
        assert cannon.ask(Command.STATUS)["faults"] == 0


def test_homing_waits_for_a_lever_that_is_let_go_a_moment_late() -> None:
    cannon = cannon_in(State.HOMING)
    cannon.lever_moves = False
    cannon.run(100)
    cannon.set(on=Input.LEVER_LATCHED)
    cannon.run(2_500)
    assert cannon.state is State.HOMING
    cannon.set(off=Input.LEVER_LATCHED)
    cannon.run_until(State.READY, limit_ms=1_000)


@pytest.mark.parametrize("cause", [ResetCause.EXTERNAL, ResetCause.WATCHDOG, ResetCause.BROWN_OUT])
@pytest.mark.parametrize("every_ms", [130, 7_000, 25_000])
def test_resets_again_and_again_do_not_stretch_the_dwell(cause: ResetCause, every_ms: int) -> None:
    """S-8. The dwell goes on where it was; a cannon that is reset all the time is let down by what is left of it."""
    cannon = cannon_in(State.COCKED)
    passed_ms = 0
    while cannon.lever_held:
        cannon.run(every_ms, beat=False)
        passed_ms += every_ms
        assert passed_ms <= FACTORY[Setting.DWELL_MS] + 30_000
        if cannon.state != State.LETTING_DOWN and cannon.lever_held:
            cannon.reset(cause)


def test_dwell_that_was_kept_counts_only_up_to_what_is_set() -> None:
    """S-8. Before the reset a longer one was set and not saved."""
    cannon = configured({Setting.DWELL_MS: wire.SETTING_LIMITS[Setting.DWELL_MS].maximum})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.reset(ResetCause.EXTERNAL)
    cannon.run_until(State.LETTING_DOWN, limit_ms=FACTORY[Setting.DWELL_MS] + 20, beat=False)


def test_reset_when_the_dwell_is_nearly_over_moves_nothing_at_once() -> None:
    """S-5, S-8. First the switches tell where the lever is; one that came forward meanwhile is not let down."""
    cannon = cannon_in(State.COCKED)
    while cannon.state == State.COCKED:
        before = cannon.copy()
        cannon.run(10)
    assert cannon.state == State.LETTING_DOWN
    held, forward = before.copy(), before
    held.reset(ResetCause.EXTERNAL)
    held.run(90, beat=False)
    assert (held.state, held.pulse(Axis.LATCH)) == (State.SAFE, 0)
    held.run(20, beat=False)
    assert held.state == State.LETTING_DOWN
    forward.lever_moves = False
    forward.set(off=Input.LEVER_DRAWN | Input.LEVER_LATCHED)
    forward.reset(ResetCause.EXTERNAL)
    forward.run(500, beat=False)
    assert forward.state == State.SAFE


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["home", "cock", "let_down", "service", "stop", "safe", "estop", "key", "reset", "fire"]
            ),
            st.integers(0, 1500),
        ),
        max_size=12,
    )
)
def test_no_order_of_commands_and_stops_snaps_the_lever(script: list[tuple[str, int]]) -> None:
    cannon = cannon_in(State.READY)
    session = 10
    commands = {
        "home": Command.HOME,
        "cock": Command.COCK,
        "let_down": Command.LET_DOWN,
        "service": Command.SERVICE,
        "safe": Command.SAFE,
    }
    for act, wait_ms in script:
        if act in commands:
            cannon.command(commands[act])
        match act:
            case "fire":
                cannon.command(Command.FIRE, token=cannon.view.token)
            case "stop":
                cannon.receive(bytes([wire.STOP]))
            case "estop":
                cannon.set(off=Input.ESTOP_OK)
                cannon.run(10)
                cannon.set(on=Input.ESTOP_OK)
            case "key":
                cannon.set(off=Input.KEY_ON)
                cannon.run(10)
                cannon.set(on=Input.KEY_ON)
            case "reset":
                cannon.reset(ResetCause.EXTERNAL)
                cannon.run(10, beat=False)
                session += 1
                cannon.identify(session=session)
        watch_easing(cannon, wait_ms)
    watch_easing(cannon, 40000)
    assert cannon.view.pulls == 0
    assert not cannon.lever_held or cannon.state == State.LETTING_DOWN


def test_lever_latched_by_hand_while_homing_stays_latched() -> None:
    """S-9: nothing but the latch holds that lever, so homing must not open it; it gives up instead."""
    cannon = cannon_in(State.READY)
    cannon.lever_moves = False
    cannon.ask(Command.COCK)
    cannon.run(1000)
    cannon.ask(Command.SAFE)
    cannon.run(2000)
    cannon.set(on=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(1000)
    assert cannon.pulse(Axis.LATCH) == HELD
    cannon.set(off=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(10)
    cannon.ask(Command.HOME)
    cannon.set(on=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(10)
    while cannon.state == State.HOMING:
        assert cannon.pulse(Axis.LATCH) > (FREE + HELD) // 2, (
            "opening under a lever that the draw does not hold"
        )
        cannon.run(20)
    assert (cannon.state, cannon.view.cause) == (State.SAFE, Cause.TIMED_OUT)
    assert cannon.pulse(Axis.LATCH) == HELD


def test_let_down_after_homing_that_was_broken_off_turns_no_latch_before_the_draw_is_there() -> None:
    """S-9: a state owes the latch nothing of what the one before had begun."""
    cannon = cannon_in(State.READY)
    cannon.lever_moves = False
    cannon.ask(Command.COCK)
    cannon.ask(Command.SAFE)
    cannon.set(on=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(1000)
    cannon.set(off=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(10)
    cannon.ask(Command.HOME)
    while cannon.pulse(Axis.LATCH) > (FREE + HELD) // 2:
        cannon.run(1)
    cannon.set(on=Input.LEVER_LATCHED | Input.LEVER_DRAWN)
    cannon.run(4)
    half_turned = cannon.pulse(Axis.LATCH)
    assert FREE < half_turned < HELD
    cannon.ask(Command.SAFE)
    cannon.ask(Command.LET_DOWN)
    while cannon.pulse(Axis.DRAW) != BREECH:
        assert cannon.pulse(Axis.LATCH) >= half_turned, "the latch opens before the draw has the lever"
        cannon.run(20)
