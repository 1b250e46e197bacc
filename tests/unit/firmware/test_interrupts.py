"""Interrupts in the middle of the main loop: whatever it is about to do, what they say counts."""

import pytest
from cannon_host import NOTHING, Cannon, cannon_in, configured

from rig.link.wire import Cause, Command, Event, Input, Setting, State

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
        cannon.interrupt_at(lock, off=gone or NOTHING, stop=gone is None)
        cannon.think()
        stopped.append(cannon.interrupt_at(0))
        cannon.set()
        cannon.receive(fire)
        cannon.act()
        cannon.run(2, beat=False)
        assert cannon.view.pulls == (0 if stopped[-1] else 1)
    assert any(stopped), "no interrupt came in the middle"
    assert not all(stopped), "and some never came"


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
def test_no_output_expires_that_was_not_on(wait_ms: int) -> None:
    """Whatever counts periods counts them for nothing here, and three waits see all that 8 bits can count."""
    cannon = configured({Setting.SHOT_TIMEOUT_MS: 2000})
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.seat()
    cannon.run(wait_ms)
    cannon.ask(Command.FIRE, token=cannon.ask(Command.ARM)["token"])
    cannon.run_until(State.SAFE)
    assert cannon.happened(Event.STATE_CHANGED)[-1]["cause"] == Cause.SHOT_NOT_SEEN
