"""The firing cycle as a table: state x event -> state, and what to ask of the cannon. No port, no clock, no camera.

The way of a shot is safe -> home -> aim -> cock -> load -> lane clear -> arm -> fire -> shot seen -> safe. Whatever
goes wrong on it is one event, `ABORTED`, and leads to safe: the trigger off first, then the lever eased forward where
it is still drawn. Where even that fails the cannon stays safe with its lever drawn (`SAFE_DRAWN`), and a person must
see to it. Where the cannon is no longer heard nothing is claimed (`UNKNOWN`): the firmware makes itself safe.

Lubrication is a way of its own: home -> service -> let down. Nothing on it arms or fires.

A pair that is not in the table is an error and changes nothing. The firmware keeps the same cycle with guards of its
own and has the last word; this table is what the controller asks for, and in which order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

__all__ = ["DWELLING", "TABLE", "Action", "Event", "NotInSequence", "Sequence", "State", "Step", "diagram"]


class State(StrEnum):
    """Where the cannon is on the way of a shot, as far as the controller knows."""

    UNKNOWN = "unknown"
    """The cannon was not heard yet, or is no longer heard."""
    SAFE = "safe"
    """Trigger off, lever forward."""
    SAFE_DRAWN = "safe, lever drawn"
    """Trigger off, but the lever could not be let down: a person must see to it."""
    HOMING = "homing"
    """The axes go to their homes."""
    HOMED = "homed"
    """Ready to be aimed."""
    AIMING = "aiming"
    """The axes go to where the shot was aimed."""
    AIMED = "aimed"
    """The axes are where the shot was aimed."""
    COCKING = "cocking"
    """The lever is being drawn and latched."""
    COCKED = "cocked"
    """Drawn and latched; the dwell runs."""
    LOADING = "loading"
    """A shot is awaited in the muzzle."""
    LOADED = "loaded"
    """A shot is seated."""
    CHECKING_LANE = "checking the lane"
    """Camera and input are asked whether the lane is clear."""
    LANE_CLEAR = "lane clear"
    """Both said so."""
    ARMING = "arming"
    """A token was asked for."""
    ARMED = "armed"
    """One fire will be obeyed, for a short time."""
    FIRING = "firing"
    """The fire was asked for; the shot is awaited at the muzzle gate."""
    FIRED = "fired"
    """The shot was seen to leave; the cannon is being made safe."""
    SERVICING = "servicing"
    """The lever is being drawn and turned to 180 degrees, for lubrication."""
    SERVICED = "in service"
    """It stands there; the dwell runs."""
    LETTING_DOWN = "letting down"
    """The lever is being eased forward."""
    MAKING_SAFE = "making safe"
    """The trigger is being made safe; whether the lever is drawn is not known yet."""


DWELLING = (
    State.COCKED,
    State.LOADING,
    State.LOADED,
    State.CHECKING_LANE,
    State.LANE_CLEAR,
    State.ARMED,
    State.SERVICED,
)
"""While the lever is drawn and the fire not asked for, the dwell runs, and it can be let down."""


class Event(StrEnum):
    """What happens: asked for by the controller, or reported by the cannon."""

    FOUND = "found"
    """A cannon answered."""
    HOME_ASKED = "home asked"
    HOME_REACHED = "home reached"
    AIM_ASKED = "aim asked"
    AIM_REACHED = "aim reached"
    COCK_ASKED = "cock asked"
    LATCHED = "latched"
    LOAD_ASKED = "load asked"
    SEATED = "seated"
    LANE_ASKED = "lane asked"
    LANE_SEEN_CLEAR = "lane seen clear"
    LANE_BLOCKED = "lane blocked"
    ARM_ASKED = "arm asked"
    TOKEN_GIVEN = "token given"
    FIRE_ASKED = "fire asked"
    SHOT_SEEN = "shot seen"
    SERVICE_ASKED = "service asked"
    TURNED = "turned"
    LET_DOWN_ASKED = "let down asked"
    DWELL_EXPIRED = "dwell expired"
    """The lever has been cocked for as long as it may: the spring fades."""
    LEVER_FORWARD = "lever forward"
    LEVER_DRAWN = "lever drawn"
    ABORTED = "aborted"
    """Anything that ends the shot before its time; its cause goes with it."""
    LINK_LOST = "link lost"


class Action(StrEnum):
    """What the controller asks for on taking a step."""

    NOTHING = "nothing"
    HOME = "home"
    MOVE = "move"
    COCK = "cock"
    LOAD = "load"
    CHECK_LANE = "check lane"
    ARM = "arm"
    FIRE = "fire"
    SERVICE = "service"
    LET_DOWN = "let down"
    SAFE = "safe"
    STOP = "stop"
    """The stop byte, into a line that perhaps nobody hears."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where an event leads, and what to ask for on the way."""

    state: State
    action: Action = Action.NOTHING


class NotInSequence(Exception):
    """An event came in a state that has no entry for it; nothing was changed.

    Attributes
    ----------
    state, event
        The pair that is not in the table.
    """

    def __init__(self, state: State, event: Event) -> None:
        self.state = state
        self.event = event
        super().__init__(f'"{event}" has no place while the cannon is "{state}"; nothing was done')


def _table() -> Mapping[tuple[State, Event], Step]:
    steps: dict[tuple[State, Event], Step] = {
        (State.UNKNOWN, Event.FOUND): Step(State.MAKING_SAFE, Action.SAFE),
        # The way of a shot.
        (State.SAFE, Event.HOME_ASKED): Step(State.HOMING, Action.HOME),
        (State.HOMING, Event.HOME_REACHED): Step(State.HOMED),
        (State.HOMED, Event.AIM_ASKED): Step(State.AIMING, Action.MOVE),
        (State.AIMING, Event.AIM_REACHED): Step(State.AIMED),
        (State.AIMED, Event.AIM_ASKED): Step(State.AIMING, Action.MOVE),
        (State.AIMED, Event.COCK_ASKED): Step(State.COCKING, Action.COCK),
        (State.COCKING, Event.LATCHED): Step(State.COCKED),
        (State.COCKED, Event.LOAD_ASKED): Step(State.LOADING, Action.LOAD),
        (State.LOADING, Event.SEATED): Step(State.LOADED),
        (State.LOADED, Event.LANE_ASKED): Step(State.CHECKING_LANE, Action.CHECK_LANE),
        (State.CHECKING_LANE, Event.LANE_BLOCKED): Step(State.LOADED),
        (State.CHECKING_LANE, Event.LANE_SEEN_CLEAR): Step(State.LANE_CLEAR),
        (State.LANE_CLEAR, Event.ARM_ASKED): Step(State.ARMING, Action.ARM),
        (State.ARMING, Event.TOKEN_GIVEN): Step(State.ARMED),
        (State.ARMED, Event.FIRE_ASKED): Step(State.FIRING, Action.FIRE),
        (State.FIRING, Event.SHOT_SEEN): Step(State.FIRED, Action.SAFE),
        # The way of lubrication.
        (State.HOMED, Event.SERVICE_ASKED): Step(State.SERVICING, Action.SERVICE),
        (State.AIMED, Event.SERVICE_ASKED): Step(State.SERVICING, Action.SERVICE),
        (State.SERVICING, Event.TURNED): Step(State.SERVICED),
        # The ways back. Easing the lever is tried once; failing that, the cannon is left safe as it stands.
        (State.FIRED, Event.LEVER_FORWARD): Step(State.SAFE),
        (State.FIRED, Event.LEVER_DRAWN): Step(State.LETTING_DOWN, Action.LET_DOWN),
        (State.MAKING_SAFE, Event.LEVER_FORWARD): Step(State.SAFE),
        (State.MAKING_SAFE, Event.LEVER_DRAWN): Step(State.LETTING_DOWN, Action.LET_DOWN),
        (State.LETTING_DOWN, Event.LEVER_FORWARD): Step(State.SAFE, Action.SAFE),
        (State.LETTING_DOWN, Event.ABORTED): Step(State.SAFE_DRAWN, Action.SAFE),
        (State.SAFE_DRAWN, Event.LET_DOWN_ASKED): Step(State.LETTING_DOWN, Action.LET_DOWN),
        (State.SAFE_DRAWN, Event.ABORTED): Step(State.SAFE_DRAWN, Action.SAFE),
        (State.UNKNOWN, Event.ABORTED): Step(State.UNKNOWN, Action.STOP),
    }
    for state in DWELLING:
        for event in (Event.LET_DOWN_ASKED, Event.DWELL_EXPIRED):
            steps[state, event] = Step(State.LETTING_DOWN, Action.LET_DOWN)
    for state in State:
        steps.setdefault((state, Event.ABORTED), Step(State.MAKING_SAFE, Action.SAFE))
        steps[state, Event.LINK_LOST] = Step(State.UNKNOWN, Action.STOP)
    return MappingProxyType(steps)


TABLE = _table()
"""Every step there is. What is not in here is refused."""


class Sequence:
    """Where one cannon is in the table.

    Examples
    --------
    >>> sequence = Sequence(State.SAFE)
    >>> sequence.take(Event.HOME_ASKED)
    <Action.HOME: 'home'>
    >>> sequence.state
    <State.HOMING: 'homing'>
    """

    def __init__(self, state: State = State.UNKNOWN) -> None:
        self._state = state

    @property
    def state(self) -> State:
        """The present state."""
        return self._state

    def allows(self, event: Event) -> bool:
        """Whether the event has an entry in the present state."""
        return (self._state, event) in TABLE

    def take(self, event: Event) -> Action:
        """Change the state and return what is to be asked of the cannon.

        Raises
        ------
        NotInSequence
            Where the pair has no entry; the state stays.
        """
        step = TABLE.get((self._state, event))
        if step is None:
            raise NotInSequence(self._state, event)
        self._state = step.state
        return step.action


def diagram() -> str:
    """Return the table as a Mermaid state diagram.

    What holds in every state, abort and link loss, is left out of the drawing and said in a note.
    """
    names = {state: state.name.lower() for state in State}
    lines = ["stateDiagram-v2", f"    [*] --> {names[State.UNKNOWN]}"]
    lines += [f'    state "{state}" as {names[state]}' for state in State]
    arrows: dict[tuple[State, State], list[str]] = {}
    for (state, event), step in TABLE.items():
        if event is Event.LINK_LOST or (event is Event.ABORTED and step.state is State.MAKING_SAFE):
            continue
        asks = "" if step.action is Action.NOTHING else f" / {step.action}"
        arrows.setdefault((state, step.state), []).append(f"{event}{asks}")
    lines += [f"    {names[a]} --> {names[b]}: {', '.join(texts)}" for (a, b), texts in arrows.items()]
    lines += [
        f"    note right of {names[State.MAKING_SAFE]}",
        f"        {Event.ABORTED} / {Action.SAFE} leads here from every state that shows no other way for it.",
        f"        {Event.LINK_LOST} / {Action.STOP} leads from every state to {State.UNKNOWN}.",
        "    end note",
    ]
    return "\n".join(lines) + "\n"
