"""Frames on the firmware's side: CRC, stuffing, damage, noise, and stop bytes in the middle."""

from cannon_host import Cannon, Refused, cannon_in, crc, lib, read_frames, stuff
from hypothesis import given
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import Command, Refusal, State

NOISE = st.binary(max_size=60).map(lambda data: data.replace(bytes([wire.STOP]), b""))


@given(st.binary(max_size=80))
def test_crc_is_that_of_x25(data: bytes) -> None:
    assert lib.host_crc(data, len(data)) == crc(data)


def test_crc_of_the_check_string() -> None:
    assert crc(b"123456789") == 0x906E


def status_answers(cannon: Cannon, data: bytes) -> int:
    return sum(kind == Command.STATUS + wire.ANSWER_OFFSET for _, kind, _ in cannon.exchange(data))


@given(NOISE)
def test_frame_after_noise_and_a_flag_is_heard(noise: bytes) -> None:
    cannon = cannon_in(State.SAFE)
    assert status_answers(cannon, noise + bytes([wire.FLAG]) + cannon.request(Command.STATUS)) == 1


@given(st.integers(0, 255))
def test_every_id_survives_stuffing(sequence: int) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.identify(session=2, sequence=sequence)
    assert cannon.last_id == sequence


@given(st.integers(0, 0xFFFF))
def test_every_value_survives_stuffing_both_ways(session: int) -> None:
    cannon = cannon_in(State.SAFE)
    if session != 1:
        cannon.identify(session=session)
    answer = cannon.command(Command.CONFIGURE, setting=wire.Setting.DWELL_MS, value=session)
    limits = wire.SETTING_LIMITS[wire.Setting.DWELL_MS]
    if limits.minimum <= session <= limits.maximum:
        assert answer == {"setting": wire.Setting.DWELL_MS, "value": session}
    else:
        assert answer == Refused(Refusal.BAD_VALUE, wire.Setting.DWELL_MS)


@given(st.data())
def test_damaged_frame_is_no_frame(data: st.DataObject) -> None:
    cannon = cannon_in(State.SAFE)
    request = bytearray(cannon.request(Command.HOME))
    position = data.draw(st.integers(0, len(request) - 2))
    flip = data.draw(st.integers(1, 255))
    request[position] ^= flip
    answers = cannon.exchange(bytes(request))
    assert cannon.state == State.SAFE
    assert not any(kind == Command.HOME + wire.ANSWER_OFFSET for _, kind, _ in answers)


@given(st.lists(st.integers(1, 3), max_size=3))
def test_frame_may_come_in_pieces(sizes: list[int]) -> None:
    cannon = cannon_in(State.SAFE)
    request = cannon.request(Command.STATUS)
    for size in sizes[: len(request) // 3 - 1]:
        assert status_answers(cannon, request[:size]) == 0
        request = request[size:]
    assert status_answers(cannon, request) == 1


def test_escape_before_flag_gives_up_the_frame() -> None:
    cannon = cannon_in(State.SAFE)
    request = cannon.request(Command.STATUS)
    assert status_answers(cannon, request[:-1] + bytes([wire.ESCAPE, wire.FLAG])) == 0
    assert status_answers(cannon, request) == 1


def test_frames_without_room_for_a_crc_are_ignored() -> None:
    cannon = cannon_in(State.SAFE)
    assert cannon.exchange(bytes([wire.FLAG, wire.FLAG, 1, wire.FLAG, 1, 2, 3, wire.FLAG])) == []


def test_longest_frame_is_refused_for_its_length_and_harms_nothing() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.last_id += 1
    (answer,) = cannon.exchange(cannon.frame(cannon.last_id, Command.MOVE, bytes(range(200))))
    assert wire.REFUSAL_LAYOUT.unpack(answer[2]) == {"reason": Refusal.BAD_LENGTH, "detail": 200}
    assert status_answers(cannon, cannon.request(Command.STATUS)) == 1


def test_frames_beyond_the_queue_are_lost_and_the_loss_is_told() -> None:
    cannon = cannon_in(State.SAFE)
    requests = [cannon.request(Command.STATUS) for _ in range(12)]
    cannon.receive(b"".join(requests))
    cannon.step()
    assert cannon.view.faults & wire.Fault.RECEIVE_OVERRUN.mask
    cannon.run(50, beat=False)
    answers = cannon.exchange(b"".join(requests))
    assert answers, "what was lost is taken when it is sent again"


def test_everything_sent_is_stuffed() -> None:
    cannon = cannon_in(State.SAFE)
    for _ in range(300):
        cannon.receive(cannon.request(Command.STATUS))
        cannon.step()
    cannon.reset(wire.ResetCause.EXTERNAL)
    lib.host_run(cannon._host, 3000)
    data = cannon.sent()
    assert wire.STOP not in data
    assert len(list(read_frames(data, session=None))) >= 1


def test_frame_too_short_for_a_command_is_no_frame_though_its_crc_is_right() -> None:
    cannon = cannon_in(State.SAFE)
    for body in (b"", bytes([cannon.last_id + 1])):
        unsent = cannon.session.to_bytes(2, "little")
        whole = body + crc(unsent + body).to_bytes(2, "little")
        assert cannon.exchange(stuff(whole) + bytes([wire.FLAG])) == []
    cannon.ask(Command.STATUS)


def test_frame_of_more_than_255_bytes_is_not_taken_for_its_end() -> None:
    cannon = cannon_in(State.SAFE)
    command = bytes([cannon.last_id + 1, Command.HOME])
    cannon.exchange(cannon.frame((cannon.last_id + 9) % 256, 0x7F, bytes(254) + command))
    cannon.run(2, beat=False)
    assert cannon.state == State.SAFE
