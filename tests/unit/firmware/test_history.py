"""The history of refusals, faults, resets and changes of state: what it keeps, and over which resets (S-14)."""

import pytest
from cannon_host import PERMITTED, Cannon, Refused, cannon_in, crc
from hypothesis import given
from hypothesis import strategies as st

from rig.link import wire
from rig.link.wire import (
    Cause,
    Command,
    Fault,
    HistoryKind,
    Input,
    Loss,
    Refusal,
    ResetCause,
    Setting,
    State,
)

SURVIVED = [cause for cause in ResetCause if cause != ResetCause.POWER_ON]
_ENTRY_BYTES = 13
_SIXTEEN_BITS = 1 << 16


def after(cannon: Cannon, cause: ResetCause) -> Cannon:
    cannon.reset(cause)
    cannon.run(10, beat=False)
    cannon.identify(session=77)
    return cannon


def refused_homes(cannon: Cannon, count: int) -> None:
    """So many different refusals."""
    for number in range(count):
        setting = list(Setting)[number % len(Setting)]
        refusal = cannon.command(Command.CONFIGURE, setting=setting, value=0xFFFF)
        assert refusal == Refused(Refusal.BAD_VALUE, setting)


def said(entry: dict[str, int]) -> tuple[int, int, int, int]:
    return entry["kind"], entry["code"], entry["about"], entry["detail"]


def test_first_entry_is_the_power_that_came_on() -> None:
    (entry,) = cannon_in(State.SAFE).history()
    assert said(entry) == (HistoryKind.RESET, ResetCause.POWER_ON, 0, 0)


def test_refusal_is_kept_with_its_command_and_its_time() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.run(50)
    assert cannon.command(Command.ARM) == Refused(Refusal.WRONG_STATE, State.SAFE)
    entry = cannon.history()[0]
    assert said(entry) == (HistoryKind.REFUSED, Refusal.WRONG_STATE, Command.ARM, State.SAFE)
    assert entry["time_us"] == cannon.view.now_us


def test_refusal_of_a_frame_out_of_turn_is_kept_too() -> None:
    cannon = cannon_in(State.SAFE)
    cannon.exchange(cannon.frame((cannon.last_id + 9) % 256, Command.HOME))
    assert said(cannon.history()[0])[:3] == (
        HistoryKind.REFUSED,
        Refusal.OUT_OF_SEQUENCE,
        Command.HOME,
    )


def test_same_refusal_again_takes_no_room_but_another_does() -> None:
    cannon = cannon_in(State.SAFE)
    for _ in range(40):
        cannon.command(Command.ARM)
    assert len(cannon.history()) == 2
    cannon.command(Command.COCK)
    cannon.command(Command.ARM)
    assert len(cannon.history()) == 4


def test_fault_is_kept_with_the_state_it_came_in() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.run(1000)
    entries = [said(entry) for entry in cannon.history()]
    assert (HistoryKind.FAULT, Fault.SHOT_NOT_SEEN, State.FIRING, 0) in entries


@pytest.mark.parametrize(
    ("lost", "cause"),
    [
        (Input.ESTOP_OK, Cause.EMERGENCY_STOP),
        (Input.KEY_ON, Cause.KEY_OFF),
        (Input.LANE_CLEAR, Cause.LANE_NOT_CLEAR),
        (Input.GATE_FIRST_BLOCKED, Cause.LOAD_LOST),
    ],
)
def test_change_that_no_command_asked_for_is_kept(lost: Input, cause: Cause) -> None:
    cannon = cannon_in(State.ARMED)
    cannon.set(off=lost)
    cannon.run(10)
    assert (HistoryKind.CHANGED, cause, State.ARMED, State.SAFE) in map(said, cannon.history())


def test_whole_shot_leaves_nothing_but_the_reset_before_it() -> None:
    cannon = cannon_in(State.FIRING)
    cannon.shoot()
    cannon.run(300)
    assert cannon.state == State.SAFE
    assert [entry["kind"] for entry in cannon.history()] == [HistoryKind.RESET]


def test_ring_keeps_the_newest_and_numbers_go_on() -> None:
    cannon = cannon_in(State.SAFE)
    newest = cannon.history()[0]["number"]
    refused_homes(cannon, 25)
    entries = cannon.history()
    assert [entry["number"] for entry in entries] == [
        newest + 25 - back for back in range(wire.HISTORY_ENTRIES)
    ]
    assert cannon.ask(Command.READ_HISTORY, number=newest)["kind"] == HistoryKind.MISSING


@pytest.mark.parametrize("cause", SURVIVED)
def test_history_outlives_every_reset_but_a_loss_of_supply(cause: ResetCause) -> None:
    cannon = cannon_in(State.SAFE)
    refused_homes(cannon, 5)
    before = [(entry["number"], *said(entry), entry["time_us"]) for entry in cannon.history()]
    after(cannon, cause)
    entries = [(entry["number"], *said(entry), entry["time_us"]) for entry in cannon.history()]
    assert entries[-len(before) :] == before
    assert (HistoryKind.RESET, cause, 0, 0) in [entry[1:5] for entry in entries]


def test_loss_of_supply_empties_it() -> None:
    cannon = cannon_in(State.SAFE)
    refused_homes(cannon, 5)
    after(cannon, ResetCause.POWER_ON)
    assert [said(entry) for entry in cannon.history()] == [(HistoryKind.RESET, ResetCause.POWER_ON, 0, 0)]


def test_reset_in_the_middle_of_an_entry_leaves_a_gap_and_spoils_no_other() -> None:
    """At every byte of the entry, in a ring that is full and in one that is not."""
    for earlier in (3, 40):
        cannon = cannon_in(State.SAFE)
        refused_homes(cannon, earlier)
        before = cannon.history()
        ram = bytes(cannon.history_ram)
        newest = before[0]["number"]
        cannon.command(Command.ARM)
        done = bytes(cannon.history_ram)
        at = (newest + 1) % wire.HISTORY_ENTRIES * _ENTRY_BYTES
        for written in range(_ENTRY_BYTES):
            torn = cannon.copy()
            torn.history_ram[:] = ram[:at] + done[at : at + written] + ram[at + written :]
            after(torn, ResetCause.WATCHDOG)
            entries = torn.history()
            kept = [
                entry for entry in before if entry["number"] > entries[0]["number"] - wire.HISTORY_ENTRIES
            ]
            assert [entry for entry in entries if entry["number"] <= newest] == [
                {**entry, "newest": entries[0]["newest"]} for entry in kept
            ]
            gap = newest + 1 not in {entry["number"] for entry in entries}
            begun = done[at : at + written] != ram[at : at + written]
            assert gap == begun, f"{written} bytes of the entry were written"


@given(st.data())
def test_flipped_bit_costs_its_entry_and_no_other(data: st.DataObject) -> None:
    cannon = cannon_in(State.SAFE)
    refused_homes(cannon, 20)
    before = {entry["number"]: said(entry) for entry in cannon.history()}
    entry = data.draw(st.integers(0, wire.HISTORY_ENTRIES - 1))
    byte = entry * _ENTRY_BYTES + data.draw(st.integers(0, _ENTRY_BYTES - 1))
    cannon.history_ram[byte] = bytes([cannon.history_ram[byte][0] ^ (1 << data.draw(st.integers(0, 7)))])
    after(cannon, ResetCause.EXTERNAL)
    refusals = [entry for entry in cannon.history() if entry["kind"] == HistoryKind.REFUSED]
    assert all(before[entry["number"]] == said(entry) for entry in refusals)
    assert len(refusals) >= wire.HISTORY_ENTRIES - 3


def test_numbers_go_on_from_65535_to_0() -> None:
    cannon = cannon_in(State.SAFE)
    entry = bytes([HistoryKind.REFUSED, Refusal.BAD_VALUE, Command.CONFIGURE, 0, 0]) + bytes(4)
    entry += (65533).to_bytes(2, "little")
    at = 65533 % wire.HISTORY_ENTRIES * _ENTRY_BYTES
    cannon.history_ram[:] = bytes(len(cannon.history_ram))
    cannon.history_ram[at : at + _ENTRY_BYTES] = entry + crc(entry).to_bytes(2, "little")
    after(cannon, ResetCause.EXTERNAL)
    refused_homes(cannon, 4)
    assert [entry["number"] for entry in cannon.history()] == [2, 1, 0, 65535, 65534, 65533]


def test_entry_that_is_whole_and_in_another_ones_place_is_not_taken_for_the_newest() -> None:
    cannon = cannon_in(State.SAFE)
    refused_homes(cannon, 3)
    newest = cannon.history()[0]["number"]
    entry = bytes([HistoryKind.REFUSED, Refusal.BAD_VALUE, Command.CONFIGURE, 0, 0]) + bytes(4)
    entry += (newest + 100).to_bytes(2, "little")
    at = (newest + 101) % wire.HISTORY_ENTRIES * _ENTRY_BYTES
    cannon.history_ram[at : at + _ENTRY_BYTES] = entry + crc(entry).to_bytes(2, "little")
    after(cannon, ResetCause.EXTERNAL)
    assert newest < cannon.history()[0]["number"] < newest + 100


def test_only_a_refusal_is_kept_once_where_it_comes_again_and_again() -> None:
    cannon = cannon_in(State.SAFE)
    for _ in range(3):
        after(cannon, ResetCause.EXTERNAL)
    resets = [
        entry for entry in cannon.history() if said(entry)[:2] == (HistoryKind.RESET, ResetCause.EXTERNAL)
    ]
    assert len(resets) == 3
    cannon.command(Command.ARM)
    cannon.command(Command.ARM)
    refusals = [entry for entry in cannon.history() if entry["kind"] == HistoryKind.REFUSED]
    assert len(refusals) == 1


def test_reading_is_no_event_and_works_after_a_stop() -> None:
    cannon = cannon_in(State.SAFE)
    before = bytes(cannon.history_ram)
    request = cannon.request(Command.READ_HISTORY, number=1)
    ((_, kind, _),) = cannon.exchange(request[:2] + bytes([wire.STOP]) + request[2:])
    assert kind == Command.READ_HISTORY + wire.ANSWER_OFFSET
    assert bytes(cannon.history_ram) == before


@pytest.mark.parametrize("loss", Loss)
def test_lost_bytes_are_told_with_how(loss: Loss) -> None:
    cannon = cannon_in(State.SAFE)
    cannon.lose(loss)
    cannon.step()
    assert cannon.view.faults & Fault.RECEIVE_OVERRUN.mask
    assert {"fault": Fault.RECEIVE_OVERRUN, "detail": loss} in cannon.happened(wire.Event.FAULT)


def test_lost_bytes_before_identify_are_nobodys() -> None:
    cannon = Cannon()
    cannon.set(on=PERMITTED)
    cannon.lose(Loss.FRAMING)
    cannon.run(10, beat=False)
    cannon.identify()
    assert not cannon.view.faults
