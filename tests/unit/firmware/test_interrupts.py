"""Interrupts in the middle of the main loop: whatever it is about to do, what they say counts."""

import pytest
from cannon_host import NOTHING, Cannon, armed_with, cannon_in, configured

from rig.link import wire
from rig.link.wire import Axis, Cause, Command, Event, Input, Setting, State

# A step holds interrupts off less often than this.
LOCKS = range(1, 10)


def armed_and_asked() -> tuple[Cannon, bytes]:
    """An armed cannon that has a status to answer, and the fire that comes next."""
    cannon = cannon_in(State.ARMED)
    cannon.receive(cannon.request(Command.STATUS))
    return cannon, cannon.request(Command.FIRE, token=cannon.view.token)


@pytest.mark.parametrize("gone", [None, Input.ESTOP_OK, Input.KEY_ON, Input.LANE_CLEAR])
def test_no_fire_is_obeyed_after_a_stop_in_the_middle_of_a_command(gone: Input | None) -> None:
    """The pins are good again when the fire comes: only what the interrupt has left behind can hold it."""
    stopped = []
    for lock in LOCKS:
        cannon, fire = armed_and_asked()
        cannon.interrupt_at(lock, off=gone or NOTHING, byte=wire.STOP if gone is None else 0)
        cannon.think()
        stopped.append(cannon.interrupt_at(0))
        cannon.set()
        cannon.receive(bytes([wire.FLAG]) + fire)
        cannon.act()
        cannon.run(2, beat=False)
        assert cannon.view.pulls == (0 if stopped[-1] else 1)
    assert any(stopped), "no interrupt came in the middle"
    assert not all(stopped), "and some never came"


@pytest.mark.parametrize("gone", [None, Input.ESTOP_OK, Input.KEY_ON, Input.LANE_CLEAR])
def test_what_the_main_loop_has_fired_is_let_go_by_a_stop_before_it_acts(gone: Input | None) -> None:
    """And not pulled once more."""
    cannon, fire = armed_and_asked()
    cannon.receive(fire)
    cannon.think()
    assert (cannon.state, cannon.view.trigger) == (State.FIRING, True)
    if gone is None:
        cannon.receive(bytes([wire.STOP]))
    else:
        cannon.set(off=gone)
        cannon.set(on=gone)
    assert not cannon.view.trigger
    cannon.act()
    cannon.run(2, beat=False)
    assert (cannon.view.trigger, cannon.view.pulls, cannon.state) == (False, 1, State.SAFE)


def test_main_loop_that_acts_and_no_longer_thinks_keeps_no_output_on() -> None:
    firing = cannon_in(State.FIRING)
    loading = configured({Setting.LOADER_PRESENT: 1})
    loading.ask(Command.HOME)
    loading.run_until(State.READY)
    loading.ask(Command.COCK)
    loading.run_until(State.COCKED)
    loading.ask(Command.LOAD)
    for cannon, longest_ms in ((firing, 140), (loading, 1040)):
        assert cannon.view.trigger or cannon.view.loader
        for _ in range(longest_ms):
            cannon.hang(1)
            cannon.act()
        assert not cannon.view.trigger
        assert not cannon.view.loader
    assert firing.view.pulls == 1


@pytest.mark.parametrize("gone", [None, Input.ESTOP_OK, Input.KEY_ON, Input.LANE_CLEAR])
def test_latch_servo_as_trigger_turns_no_further_once_a_stop_has_come(gone: Input | None) -> None:
    """S-3. In the middle of the step in which it would, in whatever millisecond of a servo's period."""
    firing = armed_with({Setting.TRIGGER_KIND: 1})
    firing.ask(Command.FIRE, token=firing.view.token)
    firing.lever_moves = False
    turned_without = 0
    for _ in range(20):
        firing.run(1, beat=False)
        undisturbed = firing.copy()
        undisturbed.hang(1)
        undisturbed.receive(undisturbed.request(Command.READ_HISTORY, number=0))
        cannon = undisturbed.copy()
        before = cannon.pulse(Axis.LATCH)
        undisturbed.think()
        turned_without += undisturbed.pulse(Axis.LATCH) != before
        cannon.interrupt_at(2, off=gone or NOTHING, byte=wire.STOP if gone is None else 0)
        cannon.think()
        assert cannon.interrupt_at(0)
        assert (cannon.state, cannon.pulse(Axis.LATCH)) == (State.FIRING, before)
    assert turned_without


@pytest.mark.parametrize("lock", [2, 3])
def test_command_that_waits_behind_a_stop_is_taken_after_it(lock: int) -> None:
    """S-13. The stop comes as the command before is being done."""
    cannon, _ = armed_and_asked()
    cannon.last_id -= 1
    cannon.receive(cannon.request(Command.STATUS))
    cannon.interrupt_at(lock, byte=wire.STOP)
    answers = cannon.exchange(b"") + cannon.exchange(b"")
    status = wire.COMMAND_LAYOUTS[Command.STATUS].answer
    assert [status.unpack(payload)["state"] for _, _, payload in answers] == [State.ARMED, State.SAFE]


def test_fire_between_thought_and_act_is_not_taken_back() -> None:
    cannon, fire = armed_and_asked()
    cannon.step()
    cannon.think()
    cannon.receive(fire)
    assert cannon.view.trigger
    cannon.act()
    assert cannon.view.trigger
    cannon.step()
    assert (cannon.state, cannon.view.trigger, cannon.view.pulls) == (State.FIRING, True, 1)


@pytest.mark.parametrize("wait_ms", [0, 1900, 3800])
@pytest.mark.parametrize("loader", [0, 1])
def test_no_output_expires_that_is_not_on(wait_ms: int, loader: int) -> None:
    """Whatever counts periods counts them for nothing here, and three waits see all that 8 bits can count."""
    cannon = configured({Setting.SHOT_TIMEOUT_MS: 2000, Setting.LOADER_PRESENT: loader})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    if loader:
        cannon.ask(Command.LOAD)
    cannon.seat()
    cannon.run(900 if loader else 0)
    assert not cannon.view.loader
    cannon.run(wait_ms)
    cannon.ask(Command.FIRE, token=cannon.ask(Command.ARM)["token"])
    cannon.run_until(State.SAFE)
    assert cannon.happened(Event.STATE_CHANGED)[-1]["cause"] == Cause.SHOT_NOT_SEEN
