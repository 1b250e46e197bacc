"""The firing cycle's table: every state x event pair, the listed ones and the refused ones."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.sequence import TABLE, Action, Event, NotInSequence, Sequence, State, diagram

_WAY_OF_A_SHOT = [
    (State.UNKNOWN, Event.FOUND, Action.SAFE),
    (State.MAKING_SAFE, Event.LEVER_FORWARD, Action.NOTHING),
    (State.SAFE, Event.HOME_ASKED, Action.HOME),
    (State.HOMING, Event.HOME_REACHED, Action.NOTHING),
    (State.HOMED, Event.AIM_ASKED, Action.MOVE),
    (State.AIMING, Event.AIM_REACHED, Action.NOTHING),
    (State.AIMED, Event.COCK_ASKED, Action.COCK),
    (State.COCKING, Event.LATCHED, Action.NOTHING),
    (State.COCKED, Event.LOAD_ASKED, Action.LOAD),
    (State.LOADING, Event.SEATED, Action.NOTHING),
    (State.LOADED, Event.LANE_ASKED, Action.CHECK_LANE),
    (State.CHECKING_LANE, Event.LANE_SEEN_CLEAR, Action.NOTHING),
    (State.LANE_CLEAR, Event.ARM_ASKED, Action.ARM),
    (State.ARMING, Event.TOKEN_GIVEN, Action.NOTHING),
    (State.ARMED, Event.FIRE_ASKED, Action.FIRE),
    (State.FIRING, Event.SHOT_SEEN, Action.SAFE),
    (State.FIRED, Event.LEVER_FORWARD, Action.NOTHING),
]
_LEVER_DRAWN = {
    State.COCKED,
    State.LOADING,
    State.LOADED,
    State.CHECKING_LANE,
    State.LANE_CLEAR,
    State.ARMED,
    State.SERVICED,
}


def test_the_way_of_a_shot_from_first_contact_to_safe():
    sequence = Sequence()
    for state, event, action in _WAY_OF_A_SHOT:
        assert sequence.state is state
        assert sequence.take(event) is action
    assert sequence.state is State.SAFE


def _expected(state: State, event: Event) -> tuple[State, Action] | None:
    """The table again, written as rules."""
    for (here, asked, action), (there, *_) in pairwise([*_WAY_OF_A_SHOT, (State.SAFE, None, None)]):
        if (state, event) == (here, asked):
            return there, action
    match event:
        case Event.LINK_LOST:
            return State.UNKNOWN, Action.STOP
        case Event.ABORTED if state is State.UNKNOWN:
            return State.UNKNOWN, Action.STOP
        case Event.ABORTED if state in {State.LETTING_DOWN, State.SAFE_DRAWN}:
            return State.SAFE_DRAWN, Action.SAFE
        case Event.ABORTED:
            return State.MAKING_SAFE, Action.SAFE
        case Event.LET_DOWN_ASKED | Event.DWELL_EXPIRED if state in _LEVER_DRAWN:
            return State.LETTING_DOWN, Action.LET_DOWN
        case Event.LET_DOWN_ASKED if state is State.SAFE_DRAWN:
            return State.LETTING_DOWN, Action.LET_DOWN
        case Event.LEVER_DRAWN if state in {State.MAKING_SAFE, State.FIRED}:
            return State.LETTING_DOWN, Action.LET_DOWN
        case Event.LEVER_FORWARD if state is State.LETTING_DOWN:
            return State.SAFE, Action.SAFE
        case Event.LANE_BLOCKED if state is State.CHECKING_LANE:
            return State.LOADED, Action.NOTHING
        case Event.AIM_ASKED if state is State.AIMED:
            return State.AIMING, Action.MOVE
        case Event.SERVICE_ASKED if state in {State.HOMED, State.AIMED}:
            return State.SERVICING, Action.SERVICE
        case Event.TURNED if state is State.SERVICING:
            return State.SERVICED, Action.NOTHING
    return None


@pytest.mark.parametrize("event", Event)
@pytest.mark.parametrize("state", State)
def test_every_pair_is_as_listed_or_refused_and_changes_nothing(state, event):
    sequence = Sequence(state)
    expected = _expected(state, event)
    assert sequence.allows(event) == (expected is not None)
    if expected is None:
        with pytest.raises(NotInSequence) as refused:
            sequence.take(event)
        assert (refused.value.state, refused.value.event) == (state, event)
        assert sequence.state is state
    else:
        assert (sequence.state, sequence.take(event)) == (state, expected[1])
        assert sequence.state is expected[0]


def test_fire_is_asked_for_from_armed_alone_and_arm_only_once_the_lane_was_seen_clear():
    assert [pair for pair, step in TABLE.items() if step.action is Action.FIRE] == [
        (State.ARMED, Event.FIRE_ASKED)
    ]
    assert [pair for pair, step in TABLE.items() if step.action is Action.ARM] == [
        (State.LANE_CLEAR, Event.ARM_ASKED)
    ]
    assert [pair for pair, step in TABLE.items() if step.state is State.LANE_CLEAR] == [
        (State.CHECKING_LANE, Event.LANE_SEEN_CLEAR)
    ]


@given(st.lists(st.sampled_from(Event), max_size=60))
def test_whatever_happened_before_an_abort_leads_to_safe(events):
    sequence = Sequence(State.SAFE)
    for event in events:
        if sequence.allows(event):
            sequence.take(event)
    if sequence.state is State.UNKNOWN:
        sequence.take(Event.FOUND)
    sequence.take(Event.ABORTED)
    if sequence.state is State.MAKING_SAFE:
        assert sequence.take(Event.LEVER_DRAWN) is Action.LET_DOWN
        assert sequence.take(Event.LEVER_FORWARD) is Action.SAFE
        assert sequence.state is State.SAFE
    else:
        assert sequence.state is State.SAFE_DRAWN


def test_a_let_down_that_fails_is_not_tried_again_by_itself():
    sequence = Sequence(State.COCKED)
    assert sequence.take(Event.DWELL_EXPIRED) is Action.LET_DOWN
    assert sequence.take(Event.ABORTED) is Action.SAFE
    assert sequence.state is State.SAFE_DRAWN


def test_every_state_can_be_reached_and_none_is_a_trap():
    reached = {State.UNKNOWN}
    while True:
        further = reached | {step.state for (state, _), step in TABLE.items() if state in reached}
        if further == reached:
            break
        reached = further
    assert reached == set(State)
    assert {state for state, _ in TABLE} == set(State)


def test_the_diagram_shows_every_state_and_every_step_that_is_not_an_abort():
    text = diagram()
    assert text.startswith("stateDiagram-v2\n")
    for state in State:
        assert f'state "{state}" as ' in text
    for (state, event), step in TABLE.items():
        if event not in {Event.ABORTED, Event.LINK_LOST}:
            arrow = f"{state.name.lower()} --> {step.state.name.lower()}: "
            assert any(arrow in line and event in line for line in text.splitlines())
