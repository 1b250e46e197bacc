"""The state table against the one in DESIGN.md, pair by pair, and against what the commands really do."""

from pathlib import Path

import pytest
from cannon_host import Refused, cannon_in, ffi, lib

from rig.link import wire
from rig.link.wire import Axis, Command, Refusal, Setting, State

DESIGN = Path(__file__).resolve().parents[3] / "firmware" / "DESIGN.md"
REFUSED = 0xFF
EVENTS = [ffi.string(lib.host_event_name(i)).decode() for i in range(lib.host_event_count())]


def documented() -> dict[tuple[str, State], State]:
    """Rows `| event | safe | homing | ...` of DESIGN.md; an empty cell is a refusal."""
    lines = DESIGN.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| event |"))
    states = [State[cell.strip().upper()] for cell in lines[start].strip("|").split("|")[1:]]
    table = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        event, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        for state, cell in zip(states, cells, strict=True):
            if cell:
                table[event.upper(), state] = State[cell.upper()]
    return table


TABLE = documented()


def test_every_state_and_event_is_in_the_document() -> None:
    assert lib.host_state_count() == len(State)
    assert {event for event, _ in TABLE} == set(EVENTS)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", EVENTS)
def test_state_and_event(state: State, event: str) -> None:
    expected = TABLE.get((event, state), REFUSED)
    assert lib.state_next(state, EVENTS.index(event)) == expected


def test_states_and_events_that_are_none_are_refused() -> None:
    for state in range(256):
        for event in range(256):
            if state >= len(State) or event >= len(EVENTS):
                assert lib.state_next(state, event) == REFUSED
    for event in range(len(EVENTS), 256):
        assert lib.state_cause(event) == wire.Cause.COMMAND


def test_only_armed_leads_to_firing_and_only_by_fire() -> None:
    ways = {(event, state) for (event, state), after in TABLE.items() if after == State.FIRING}
    assert ways == {("FIRE", State.ARMED)}


def test_only_cocked_leads_to_armed_and_only_by_arm() -> None:
    ways = {(event, state) for (event, state), after in TABLE.items() if after == State.ARMED}
    assert ways == {("ARM", State.COCKED)}


@pytest.mark.parametrize("event", ["MAKE_SAFE", "STOP_BYTE", "EMERGENCY_STOP"])
def test_a_stop_leads_to_safe_from_every_other_state(event: str) -> None:
    assert all(TABLE[event, state] == State.SAFE for state in State if state != State.SAFE)


def test_every_event_that_is_no_command_has_its_cause() -> None:
    for index, event in enumerate(EVENTS):
        cause = wire.Cause(lib.state_cause(index))
        assert cause.name == (event if event in wire.Cause.__members__ else "COMMAND")


FIELDS = {
    Command.MOVE: {"axis": Axis.AZIMUTH, "pulse_ticks": 3100},
    Command.CONFIGURE: {"setting": Setting.DWELL_MS, "value": 20000},
    Command.FIRE: {"token": 0},
}
COMMAND_EVENTS = {
    Command.HOME: "HOME",
    Command.MOVE: "MOVE",
    Command.COCK: "COCK",
    Command.LOAD: "LOAD",
    Command.LET_DOWN: "LET_DOWN",
    Command.ARM: "ARM",
    Command.FIRE: "FIRE",
    Command.SERVICE: "SERVICE",
    Command.CONFIGURE: "CONFIGURE",
    Command.SAVE_SETTINGS: "CONFIGURE",
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("command", COMMAND_EVENTS)
def test_command_the_table_does_not_list_is_refused_and_changes_nothing(
    command: Command, state: State
) -> None:
    if (COMMAND_EVENTS[command], state) in TABLE:
        return
    cannon = cannon_in(state)
    before = cannon.view.trigger, cannon.view.loader, cannon.view.faults, cannon.pulses, cannon.view.token
    events = len(cannon.events)
    assert cannon.command(command, **FIELDS.get(command, {})) == Refused(Refusal.WRONG_STATE, state)
    after = cannon.view.trigger, cannon.view.loader, cannon.view.faults, cannon.pulses, cannon.view.token
    assert (cannon.state, after, len(cannon.events)) == (state, before, events)


@pytest.mark.parametrize("state", State)
def test_make_safe_is_obeyed_in_every_state(state: State) -> None:
    cannon = cannon_in(state)
    assert cannon.ask(Command.SAFE) == {"state": State.SAFE}
    assert cannon.state == State.SAFE
    assert not cannon.view.trigger


@pytest.mark.parametrize("state", State)
def test_status_heartbeat_and_settings_are_told_in_every_state(state: State) -> None:
    cannon = cannon_in(state)
    assert cannon.ask(Command.STATUS)["state"] == state
    assert cannon.ask(Command.HEARTBEAT, event_ack=0)["state"] == state
    assert cannon.ask(Command.READ_SETTING, setting=Setting.DWELL_MS)["value"] == 30000
    assert cannon.state == state
