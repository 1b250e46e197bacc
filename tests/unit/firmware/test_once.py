"""A command has an id and is executed at most once, however often it comes."""

import pytest
from cannon_host import (
    FACTORY,
    PERMITTED,
    SESSIONLESS,
    Cannon,
    Refused,
    cannon_in,
    configured,
    frame,
    lib,
    unstuff,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import Axis, Command, Event, Refusal, ResetCause, Setting, State


def refusal(answer: tuple[int, int, bytes]) -> Refused:
    assert answer[1] == wire.REFUSAL_TYPE
    values = wire.REFUSAL_LAYOUT.unpack(answer[2])
    return Refused(Refusal(values["reason"]), values["detail"])


def test_repeated_command_gets_the_same_answer_and_does_nothing() -> None:
    cannon = cannon_in(State.READY)
    request = cannon.request(Command.MOVE, axis=Axis.AZIMUTH, pulse_ticks=3400)
    (first,) = cannon.exchange(request)
    cannon.run(3, beat=False)
    assert cannon.exchange(request * 3) == [first] * 3
    assert len(cannon.happened(Event.MOVE_DONE)) == 0


def test_repeated_refusal_is_the_same_refusal() -> None:
    cannon = cannon_in(State.SAFE)
    request = cannon.request(Command.COCK)
    (first,) = cannon.exchange(request)
    assert cannon.exchange(request) == [first]


def test_repeated_fire_never_gives_a_second_shot() -> None:
    cannon = cannon_in(State.ARMED)
    request = cannon.request(Command.FIRE, token=cannon.view.token)
    (first,) = cannon.exchange(request)
    cannon.run(100, beat=False)
    assert cannon.exchange(request) == [first]
    assert (cannon.view.pulls, cannon.view.shots) == (1, 1)


@given(st.integers(2, 255))
def test_id_out_of_turn_is_refused_and_executed_not(step: int) -> None:
    cannon = cannon_in(State.SAFE)
    sequence = (cannon.last_id + step) % 256
    (answer,) = cannon.exchange(cannon.frame(sequence, Command.HOME))
    assert refusal(answer) == Refused(Refusal.OUT_OF_SEQUENCE, (cannon.last_id + 1) % 256)
    assert cannon.state == State.SAFE


def test_another_command_under_a_used_id_is_refused() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.ask(Command.STATUS)
    (answer,) = cannon.exchange(cannon.frame(cannon.last_id, Command.HOME))
    assert refusal(answer).reason == Refusal.OUT_OF_SEQUENCE
    assert cannon.state == State.SAFE


def test_refusal_out_of_turn_does_not_replace_the_last_answer() -> None:
    cannon = cannon_in(State.SAFE)
    request = cannon.request(Command.STATUS)
    (first,) = cannon.exchange(request)
    cannon.exchange(cannon.frame((cannon.last_id + 9) % 256, Command.HOME))
    assert cannon.exchange(request) == [first]


def test_nothing_is_done_before_identify() -> None:
    cannon = Cannon()
    cannon.set(on=PERMITTED)
    cannon.run(10, beat=False)
    (answer,) = cannon.exchange(cannon.frame(1, Command.HOME))
    assert refusal(answer).reason == Refusal.NOT_IDENTIFIED
    assert cannon.state == State.SAFE


def test_nothing_is_done_for_a_controller_with_another_wire_version() -> None:
    cannon = cannon_in(State.SAFE)
    answer = cannon.ask(Command.IDENTIFY, wire_version=wire.WIRE_VERSION + 1, session=9)
    assert answer["wire_version"] == wire.WIRE_VERSION
    for command in (Command.STATUS, Command.HOME, Command.HEARTBEAT):
        fields = {"event_ack": 0} if command == Command.HEARTBEAT else {}
        assert cannon.command(command, **fields) == Refused(Refusal.WIRE_VERSION, wire.WIRE_VERSION)
    assert cannon.state == State.SAFE


def test_late_copy_of_identify_does_not_revive_used_ids() -> None:
    cannon = cannon_in(State.SAFE)
    identify = frame(
        50,
        Command.IDENTIFY,
        wire.COMMAND_LAYOUTS[Command.IDENTIFY].payload.pack(
            {"wire_version": wire.WIRE_VERSION, "session": 7}
        ),
    )
    cannon.exchange(identify)
    cannon.session = 7
    home = cannon.frame(51, Command.HOME)
    cannon.exchange(home)
    assert cannon.state == State.HOMING
    cannon.exchange(cannon.frame(52, Command.SAFE))
    assert cannon.exchange(identify) == []
    assert cannon.state == State.SAFE
    cannon.exchange(home)
    assert cannon.state == State.SAFE


def test_identify_sent_again_at_once_is_answered_again() -> None:
    cannon = cannon_in(State.SAFE)
    identify = frame(
        50,
        Command.IDENTIFY,
        wire.COMMAND_LAYOUTS[Command.IDENTIFY].payload.pack(
            {"wire_version": wire.WIRE_VERSION, "session": 7}
        ),
    )
    (first,) = cannon.exchange(identify)
    assert cannon.exchange(identify) == [first]


def test_new_session_makes_safe_and_counts_anew() -> None:
    for state in State:
        cannon = cannon_in(state)
        cannon.identify(session=2, sequence=200)
        assert cannon.state == (State.LETTING_DOWN if state == State.LETTING_DOWN else State.SAFE)
        assert cannon.ask(Command.STATUS)["state"] == cannon.state
        assert not cannon.view.trigger


def test_unknown_command_and_wrong_length_use_up_their_id() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.last_id += 1
    (answer,) = cannon.exchange(cannon.frame(cannon.last_id, 0x33))
    assert refusal(answer) == Refused(Refusal.UNKNOWN_COMMAND, 0x33)
    cannon.last_id += 1
    (answer,) = cannon.exchange(cannon.frame(cannon.last_id, Command.MOVE, b"\0"))
    assert refusal(answer) == Refused(Refusal.BAD_LENGTH, 1)
    cannon.ask(Command.STATUS)


def test_every_type_that_is_no_command_is_refused_as_such() -> None:
    cannon = cannon_in(State.SAFE)
    for kind in set(range(256)) - set(Command) - SESSIONLESS:
        cannon.last_id = (cannon.last_id + 1) % 256
        (answer,) = cannon.exchange(cannon.frame(cannon.last_id, kind))
        assert refusal(answer) == Refused(Refusal.UNKNOWN_COMMAND, kind)


def test_every_command_is_answered_though_the_line_takes_nothing_for_a_while() -> None:
    """One is answered before the next is taken."""
    cannon = cannon_in(State.SAFE)
    requests = [cannon.request(Command.STATUS) for _ in range(7)]
    lib.host_line_takes(cannon._host, 0)
    cannon.receive(b"".join(requests))
    lib.host_run(cannon._host, 10_000)
    lib.host_line_takes(cannon._host, 0xFFFFFFFF)
    lib.host_run(cannon._host, 10_000)
    answered = [sequence for sequence, _, _ in cannon._collect()]
    assert answered == [(cannon.last_id - back) % 256 for back in range(6, -1, -1)]


def test_event_is_sent_again_until_it_is_acknowledged() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.set(off=wire.Input.LANE_CLEAR)
    cannon.run(350, beat=False)
    sequences = [happened.sequence for happened in cannon.events if happened.event == Event.INPUT_CHANGED]
    assert len(sequences) >= 3
    assert len(set(sequences)) == 1
    cannon.ask(Command.HEARTBEAT, event_ack=sequences[0])
    cannon.events.clear()
    cannon.run(350, beat=False)
    assert cannon.events == []


def test_acknowledgement_of_an_event_to_come_is_ignored() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.set(off=wire.Input.LANE_CLEAR)
    cannon.run(10, beat=False)
    sequence = cannon.events[-1].sequence
    cannon.ask(Command.HEARTBEAT, event_ack=(sequence + 5) % 256)
    cannon.events.clear()
    cannon.run(150, beat=False)
    assert [happened.sequence for happened in cannon.events] == [sequence]


@pytest.mark.parametrize("changes", [5, 12, 64, 68, 128, 132, 200])
def test_more_events_than_the_queue_holds_leave_a_gap_in_the_count(changes: int) -> None:
    """One, however many are missing: no number comes round while events wait, and the acknowledgement counts."""
    cannon = cannon_in(State.SAFE)
    for _ in range(changes):
        cannon.set(off=wire.Input.LANE_CLEAR)
        cannon.run(6, beat=False)
        cannon.set(on=wire.Input.LANE_CLEAR)
        cannon.run(6, beat=False)
    cannon.events.clear()
    cannon.run(150, beat=False)
    assert len({happened.sequence for happened in cannon.events}) == 8
    last = cannon.events[-1].sequence
    cannon.ask(Command.HEARTBEAT, event_ack=last)
    cannon.set(off=wire.Input.LANE_CLEAR)
    cannon.run(6, beat=False)
    assert (cannon.events[-1].sequence - last) % 256 == 2
    cannon.events.clear()
    cannon.run(150, beat=False)
    assert len({happened.sequence for happened in cannon.events}) == 1, "the others are not said again"


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["home", "fire", "arm", "repeat", "drop", "late", "stop"]), max_size=25))
def test_any_mixture_of_repeats_and_losses_fires_at_most_once_an_arming(script: list[str]) -> None:
    cannon = cannon_in(State.ARMED)
    arms = 1
    sent = [cannon.request(Command.FIRE, token=cannon.view.token)]
    for act in script:
        match act:
            case "fire":
                cannon.exchange(cannon.request(Command.FIRE, token=cannon.view.token))
            case "home":
                cannon.exchange(cannon.request(Command.HOME))
            case "arm":
                before = cannon.view.token
                cannon.exchange(cannon.request(Command.ARM))
                arms += cannon.view.token != before
            case "repeat":
                cannon.exchange(sent[-1])
            case "drop":
                cannon.receive(sent[-1][:5])
            case "late":
                cannon.exchange(b"".join(sent))
            case "stop":
                cannon.receive(bytes([wire.STOP]))
                cannon.run(30, beat=False)
        assert cannon.view.pulls <= arms


def test_boot_is_told_with_its_cause() -> None:
    cannon = Cannon()
    cannon.reset(ResetCause.WATCHDOG)
    cannon.run(2, beat=False)
    assert cannon.happened(Event.BOOTED) == [
        {"reset_cause": ResetCause.WATCHDOG, "wire_version": wire.WIRE_VERSION}
    ]
    assert cannon.view.faults & wire.Fault.WATCHDOG.mask


def identify_of(sequence: int, session: int, version: int = wire.WIRE_VERSION) -> bytes:
    fields = {"wire_version": version, "session": session}
    return frame(sequence, Command.IDENTIFY, wire.COMMAND_LAYOUTS[Command.IDENTIFY].payload.pack(fields))


def test_first_session_may_have_any_number() -> None:
    for session in (0, 1, 0xFFFF):
        cannon = Cannon()
        cannon.session = session
        (answer,) = cannon.exchange(identify_of(1, session))
        assert answer[:2] == (1, Command.IDENTIFY + wire.ANSWER_OFFSET)


def test_another_identify_of_the_same_session_is_no_repetition() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.session = 7
    assert len(cannon.exchange(identify_of(50, 7))) == 1
    assert cannon.exchange(identify_of(50, 7, wire.WIRE_VERSION + 1)) == []
    assert cannon.exchange(identify_of(51, 7)) == []
    assert len(cannon.exchange(identify_of(50, 7))) == 1


def test_status_tells_of_the_loader_while_it_loads_and_not_else() -> None:
    cannon = configured({Setting.LOADER_PRESENT: 1})
    loader = 1 << len(wire.Axis)
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    assert not cannon.ask(Command.STATUS)["moving"] & loader
    cannon.ask(Command.LOAD)
    assert cannon.ask(Command.STATUS)["moving"] & loader


def test_status_tells_what_is_left_of_an_arming_and_nothing_when_there_is_none() -> None:
    cannon = cannon_in(State.ARMED)
    cannon.run(1000)
    assert 0 <= cannon.ask(Command.STATUS)["arm_left_ms"] - (FACTORY[Setting.ARM_EXPIRES_MS] - 1000) <= 1
    cannon.ask(Command.SAFE)
    assert cannon.ask(Command.STATUS)["arm_left_ms"] == 0


def test_status_tells_for_how_long_the_lever_has_been_held_and_nothing_when_it_is_forward() -> None:
    cannon = cannon_in(State.READY)
    cannon.run(500)
    assert cannon.ask(Command.STATUS)["cocked_ms"] == 0
    cannon = cannon_in(State.COCKED)
    before_ms = cannon.ask(Command.STATUS)["cocked_ms"]
    cannon.run(500)
    assert cannon.ask(Command.STATUS)["cocked_ms"] == before_ms + 500 > 500


def fire_behind_a_full_queue(cannon: Cannon) -> None:
    """The frame is lost, though the interrupt saw it and fired; so its id is still the next."""
    repeated = cannon.request(Command.STATUS)
    cannon.exchange(repeated)
    lost = cannon.request(Command.FIRE, token=cannon.view.token)
    cannon.exchange(repeated * 7 + lost)
    cannon.run(10, beat=False)
    assert cannon.view.pulls == 1
    cannon.last_id = (cannon.last_id - 1) % 256


def test_another_token_than_the_one_that_fired_is_not_answered_by_that_shot() -> None:
    """S-2."""
    cannon = cannon_in(State.ARMED)
    token = cannon.view.token
    fire_behind_a_full_queue(cannon)
    assert cannon.command(Command.FIRE, token=token ^ 1) == Refused(Refusal.WRONG_STATE, State.FIRING)


def test_no_other_command_is_answered_as_the_fire_whose_frame_was_lost() -> None:
    """S-2. Not even one in whose frame the token stands where it does in a fire's."""
    cannon = cannon_in(State.ARMED)
    token = cannon.view.token.to_bytes(4, "little")

    def move_two_ids_on() -> bytes:
        return cannon.frame((cannon.last_id + 2) % 256, Command.MOVE, token[:3])

    while unstuff(move_two_ids_on())[2:6] != token:
        cannon.ask(Command.STATUS)
    move = move_two_ids_on()
    fire_behind_a_full_queue(cannon)
    (answer,) = cannon.exchange(move)
    assert refusal(answer) == Refused(Refusal.WRONG_STATE, State.FIRING)


def test_fire_that_was_stopped_is_not_answered_by_the_one_before_it() -> None:
    """Nobody asks for the answer to the first one."""
    cannon = cannon_in(State.ARMED)
    fire_behind_a_full_queue(cannon)
    cannon.shoot()
    cannon.run_until(State.SAFE)
    cannon.ask(Command.HOME)
    cannon.run_until(State.READY)
    cannon.ask(Command.COCK)
    cannon.run_until(State.COCKED)
    cannon.seat()
    cannon.ask(Command.ARM)
    fire = cannon.request(Command.FIRE, token=cannon.view.token)
    answers = cannon.exchange(fire[:3] + bytes([wire.STOP]) + fire[3:])
    assert [kind for _, kind, _ in answers] == [wire.REFUSAL_TYPE]
    assert cannon.view.pulls == 1
