"""A frame of one session is no frame in another, either way (S-1)."""

import pytest
from cannon_host import Refused, cannon_in, checksum, frame
from hypothesis import given
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import Command, Refusal, State

SESSIONS = st.integers(0, 0xFFFF)
DOING = {
    Command.HOME: State.SAFE,
    Command.COCK: State.READY,
    Command.SERVICE: State.READY,
    Command.LET_DOWN: State.COCKED,
    Command.ARM: State.COCKED,
}


@given(SESSIONS, SESSIONS, st.integers(0, 255), st.sampled_from(Command), st.binary(max_size=4))
def test_no_two_sessions_share_a_checksum(
    one: int, other: int, sequence: int, command: Command, payload: bytes
) -> None:
    """The number goes through the register like any two bytes, and such a register forgets nothing."""
    body = bytes([sequence, command]) + payload
    same = checksum(body, one) == checksum(body, other)
    assert same == (one == other or command == Command.IDENTIFY)


@given(SESSIONS, SESSIONS, st.integers(0, 255))
def test_copy_from_an_earlier_session_is_nothing_though_its_id_is_next(
    earlier: int, later: int, sequence: int
) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.identify(session=later if later != 1 else 2, sequence=sequence)
    copy = frame((cannon.last_id + 1) % 256, Command.HOME, session=earlier)
    answers = cannon.exchange(copy)
    if earlier == cannon.session:
        assert cannon.state == State.HOMING
    else:
        assert (answers, cannon.state) == ([], State.SAFE)


@pytest.mark.parametrize("command", DOING)
def test_no_command_of_the_session_before_is_done_in_this_one(command: Command) -> None:
    cannon = cannon_in(DOING[command])
    copies = [cannon.frame(sequence, command) for sequence in range(256)]
    cannon.identify(session=500)
    state = cannon.state
    for copy in copies:
        assert cannon.exchange(copy) == []
    assert cannon.state == state
    assert cannon.ask(Command.STATUS)["state"] == state


def test_frames_of_the_session_before_that_wait_behind_identify_are_dropped() -> None:
    cannon = cannon_in(State.READY)
    home = cannon.frame(51, Command.HOME)
    cannon.last_id = 49
    identify = cannon.request(Command.IDENTIFY, wire_version=wire.WIRE_VERSION, session=600)
    assert len(cannon.exchange(identify + home + home)) == 1
    assert cannon.state == State.SAFE


def test_frame_that_had_begun_when_the_session_changed_is_dropped_wherever_it_was() -> None:
    for cut in range(1, 8):
        cannon = cannon_in(State.SAFE)
        cannon.last_id = 49
        home = cannon.frame(51, Command.HOME)
        identify = cannon.request(Command.IDENTIFY, wire_version=wire.WIRE_VERSION, session=600)
        assert len(cannon.exchange(identify + home[:cut])) == 1
        assert cannon.exchange(home[cut:]) == []
        assert cannon.state == State.SAFE
        cannon.ask(Command.STATUS)


@given(SESSIONS)
def test_fire_of_another_session_is_no_fire_though_token_and_id_are_right(session: int) -> None:
    cannon = cannon_in(State.ARMED)
    token = int(cannon.view.token).to_bytes(4, "little")
    copy = frame((cannon.last_id + 1) % 256, Command.FIRE, token, session=session)
    cannon.exchange(copy)
    assert cannon.view.pulls == (session == cannon.session)


def test_shot_in_the_instant_in_which_the_session_changes_answers_no_fire_of_the_new_one() -> None:
    """The last byte of fire comes while the identify before it is being done."""
    pulls = []
    for lock in range(1, 6):
        cannon = cannon_in(State.ARMED)
        token = cannon.view.token
        fire = cannon.request(Command.FIRE, token=token)
        identify = cannon.request(Command.IDENTIFY, wire_version=wire.WIRE_VERSION, session=9)
        cannon.receive(identify + fire[:-1])
        cannon.interrupt_at(lock, byte=fire[-1])
        cannon.step()
        pulls.append(cannon.view.pulls)
        assert cannon.command(Command.FIRE, token=token) == Refused(Refusal.WRONG_STATE, State.SAFE)
        assert (cannon.view.pulls, cannon.view.shots) == (pulls[-1], pulls[-1])
    assert 1 in pulls, "none came in time to fire"


def test_after_a_reset_the_chip_knows_no_session() -> None:
    cannon = cannon_in(State.READY)
    home = cannon.frame(1, Command.HOME)
    cannon.reset(wire.ResetCause.WATCHDOG)
    cannon.run(10, beat=False)
    assert cannon.exchange(home) == []
    ((_, kind, payload),) = cannon.exchange(cannon.frame(1, Command.HOME))
    assert kind == wire.REFUSAL_TYPE
    assert wire.REFUSAL_LAYOUT.unpack(payload)["reason"] == Refusal.NOT_IDENTIFIED
